"""digits_torch: trains on the handwritten digits with PyTorch.

Same network, data split, options and files as the C++ trainers; its bits are those of the PyTorch
it runs in. Exit status: 0 done, 1 a file could not be written, 2 bad options or data, or a device that
is not there, 77 when PyTorch is not installed.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import platform
import statistics
import struct
import sys

PIXELS = 64
CLASSES = 10
WARM_UP_STEPS = 20  # of a GPU, left out of the time of a step


class DataError(Exception):
    """The data are not what they should be; the text names file, line and expectation."""


def parse_options():
    parser = argparse.ArgumentParser(description="Trains a classifier of handwritten digits.")
    parser.add_argument("--data", required=True, help="a CSV file, or a folder of *.csv shards")
    parser.add_argument("--out", default=".", help="the folder for the files of the run")
    parser.add_argument("--seed", type=int, default=1, help="for both streams")
    parser.add_argument("--init-seed", type=int, help="for the initial weights")
    parser.add_argument("--shuffle-seed", type=int, help="for the order of the images")
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--deterministic",
        choices=("on", "off"),
        default="on",
        help="off: whatever is fastest; on a GPU with TF32 and cuDNN's measured choice",
    )
    options = parser.parse_args()
    for name in ("epochs", "batch", "hidden", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: expected an integer of at least 1")
    for name in ("init_seed", "shuffle_seed"):
        if getattr(options, name) is None:
            setattr(options, name, options.seed)
    return options


# The command line is read before PyTorch is imported: cuBLAS takes its workspaces from the environment.
OPTIONS = parse_options()
if OPTIONS.device == "cuda" and OPTIONS.deterministic == "on":
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

try:
    import numpy
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def set_determinism(deterministic):
    torch.use_deterministic_algorithms(deterministic)
    torch.backends.cudnn.deterministic = deterministic
    torch.backends.cudnn.benchmark = not deterministic
    torch.backends.cudnn.allow_tf32 = not deterministic
    torch.backends.cuda.matmul.allow_tf32 = not deterministic


def parse_row(row):
    if len(row) != PIXELS + 1:
        raise DataError(f"expected {PIXELS + 1} fields, found {len(row)}")
    fields = [int(text) if text.isascii() and text.isdigit() else -1 for text in row]
    if not all(0 <= pixel <= 16 for pixel in fields[:PIXELS]):
        raise DataError("expected pixels that are integers 0..16")
    if not 0 <= fields[PIXELS] < CLASSES:
        raise DataError("expected a label, an integer 0..9")
    return fields


def load_digits(path):
    """Returns pixels [images, 64] in [0, 1] and labels [images]; shards in the order of names."""
    rows = []
    for file in sorted(path.glob("*.csv")) if path.is_dir() else [path]:
        try:
            with open(file, newline="", encoding="ascii") as stream:
                for line, row in enumerate(csv.reader(stream), start=1):
                    try:
                        rows.append(parse_row(row))
                    except DataError as problem:
                        raise DataError(f"{file}: line {line}: {problem}") from None
        except (OSError, ValueError, csv.Error) as problem:
            raise DataError(f"{file}: {problem}") from None
    if len(rows) < 5:
        raise DataError(f"{path}: expected at least 5 images, found {len(rows)}")
    table = numpy.array(rows, dtype=numpy.int64)
    pixels = torch.from_numpy(table[:, :PIXELS].astype(numpy.float32) / 16)
    return pixels, torch.from_numpy(table[:, PIXELS])


class Mlp(torch.nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.fc1 = torch.nn.Linear(PIXELS, hidden)
        self.fc2 = torch.nn.Linear(hidden, CLASSES)

    def forward(self, images):
        return self.fc2(torch.relu(self.fc1(images)))


class StepTimer:
    """The seconds of each step on a GPU after the warm-up; of none on a CPU."""

    def __init__(self, device):
        self.seconds = []
        self.steps = 0
        self.events = None
        if device == "cuda":
            self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def begin(self):
        if self.events:
            self.events[0].record()

    def end(self):
        if not self.events:
            return
        self.events[1].record()
        self.events[1].synchronize()
        self.steps += 1
        if self.steps > WARM_UP_STEPS:
            self.seconds.append(self.events[0].elapsed_time(self.events[1]) / 1000)

    def resources(self):
        if not self.seconds:
            return {}
        return {
            "step_seconds_median": statistics.median(self.seconds),
            "step_seconds_min": min(self.seconds),
            "steps_timed": len(self.seconds),
        }


def train(options, model, pixels, labels, timer):
    """Returns the mean training loss of each epoch. Pixels and labels lie on the model's device."""
    shuffle = torch.Generator().manual_seed(options.shuffle_seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr, momentum=options.momentum)
    curve = []
    for _ in range(options.epochs):
        loss_sum = 0.0
        for rows in torch.randperm(len(pixels), generator=shuffle).split(options.batch):
            timer.begin()
            optimizer.zero_grad()
            rows = rows.to(pixels.device)
            loss = torch.nn.functional.cross_entropy(model(pixels[rows]), labels[rows])
            loss.backward()
            optimizer.step()
            timer.end()
            loss_sum += loss.item() * len(rows)
        curve.append(loss_sum / len(pixels))
    return curve


def evaluate(model, pixels, labels):
    with torch.no_grad():
        logits = model(pixels)
        loss = torch.nn.functional.cross_entropy(logits.double(), labels).item()
        correct = (logits.argmax(1) == labels).sum().item()
    return correct / len(labels), loss


def safetensors_bytes(model):
    header = {}
    data = b""
    for name, tensor in sorted(model.state_dict().items()):
        content = tensor.cpu().contiguous().numpy().astype("<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + len(content)],
        }
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def number(value):
    """JSON has no NaN and no infinity: they are the strings nan, inf and -inf."""
    return value if math.isfinite(value) else str(value)


def software(device):
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    if device == "cuda":
        cudnn = torch.backends.cudnn.version() or 0
        major = 10000 if cudnn >= 90000 else 1000
        versions["cuda_runtime"] = torch.version.cuda or ""
        versions["cudnn"] = f"{cudnn // major}.{cudnn % major // 100}.{cudnn % 100}"
        versions["gpus"] = torch.cuda.get_device_name(0)
    return versions


def write_outputs(out, model, accuracy, loss, curve, versions, resources):
    out.mkdir(parents=True, exist_ok=True)
    (out / "model.safetensors").write_bytes(safetensors_bytes(model))
    values = [number(value) for value in curve]
    document = {
        "metrics": {
            "test_accuracy": number(accuracy),
            "test_loss": number(loss),
            "train_loss": values[-1],
        },
        "curves": {"train_loss": {"steps": list(range(1, len(values) + 1)), "values": values}},
        "software": versions,
    }
    if resources:
        document["x-resources"] = resources
    (out / "metrics.json").write_text(json.dumps(document, allow_nan=False) + "\n")


def main():
    options = OPTIONS
    set_determinism(options.deterministic == "on")
    torch.set_num_threads(options.threads)
    if options.device == "cuda" and not torch.cuda.is_available():
        print("error: --device cuda: PyTorch finds no GPU", file=sys.stderr)
        return 2
    try:
        pixels, labels = load_digits(pathlib.Path(options.data))
    except DataError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    test = torch.arange(len(labels)) % 5 == 4
    torch.manual_seed(options.init_seed)
    model = Mlp(options.hidden).to(options.device)
    pixels, labels, test = (data.to(options.device) for data in (pixels, labels, test))
    timer = StepTimer(options.device)
    curve = train(options, model, pixels[~test], labels[~test], timer)
    accuracy, loss = evaluate(model, pixels[test], labels[test])
    try:
        versions = software(options.device)
        write_outputs(
            pathlib.Path(options.out), model, accuracy, loss, curve, versions, timer.resources()
        )
    except OSError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    print(f"torch {torch.__version__} threads {torch.get_num_threads()}")
    print(f"test_accuracy {accuracy} test_loss {loss} train_loss {curve[-1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
