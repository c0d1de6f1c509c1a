"""properties: a PyTorch trainer that may be cut, split and spread without a change of its result.

Handwritten digits, a small network with dropout, Adam, noise on the pixels. What it draws is drawn for
the whole batch of a step, so that neither micro-batches, workers nor processes see other numbers; what
it needs to go on is in state.pt: weights, optimizer, random numbers, place in the data. --forget and
--fault plant what real trainers get wrong. Exit status: 0 done, 2 bad options, 77 cannot be done here.
"""

import argparse
import csv
import json
import os
import pathlib
import sys
import tempfile

PIXELS, CLASSES, HIDDEN, TRAINED, TESTED = 64, 10, 32, 200, 300
DROPOUT, NOISE = 0.25, 0.05


def cannot(reason):
    print(f"cannot be done here: {reason}", file=sys.stderr)
    sys.exit(77)


def parse_options():
    parser = argparse.ArgumentParser(description="Trains, goes on with, or evaluates a classifier.")
    parser.add_argument("--data", required=True, type=pathlib.Path, help="digits.csv")
    parser.add_argument("--out", default=".", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--stop-after", type=int, default=0, help="write state.pt after this step and end")
    parser.add_argument("--resume", type=pathlib.Path, help="a state.pt to go on from")
    parser.add_argument("--accumulate", type=int, default=1, help="micro-batches of a step")
    parser.add_argument("--workers", type=int, default=0, help="that load data")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--evaluate", type=pathlib.Path, help="a model.pt: measure it, train nothing")
    parser.add_argument("--forget", choices=("optimizer", "rng", "loader"), help="on resuming")
    parser.add_argument(
        "--fault",
        choices=("accumulate-sum", "worker-seeds", "drop-last", "rank-data", "dropout-on", "unseeded"),
    )
    return parser.parse_args()


OPTIONS = parse_options()
if OPTIONS.device == "cuda":
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
try:
    import numpy
    import torch
    import torch.distributed
    import torch.multiprocessing
    import torch.utils.data
except ImportError as error:
    cannot(error)


class Digits(torch.utils.data.Dataset):
    """Asked for (epoch, row): the noise on a row depends on these alone, whoever loads it."""

    def __init__(self, pixels, labels, options):
        self.pixels, self.labels, self.options = pixels, labels, options

    def __getitem__(self, place):
        epoch, row = place
        if self.options.fault == "worker-seeds":
            noise = torch.randn(PIXELS)
        else:
            own = torch.Generator().manual_seed(self.options.seed * 1000003 + epoch * 10007 + row)
            noise = torch.randn(PIXELS, generator=own)
        return self.pixels[row] + NOISE * noise, self.labels[row]


class Place:
    """Where training is in the data: batches of (epoch, row), from an epoch and a batch of it on."""

    def __init__(self, options, epoch, batch):
        self.options, self.epoch, self.batch = options, epoch, batch

    def __iter__(self):
        epoch, first = self.epoch, self.batch
        while True:
            order = torch.Generator().manual_seed(self.options.seed * 7919 + epoch)
            rows = torch.randperm(TRAINED, generator=order).tolist()
            batches = [rows[i : i + self.options.batch] for i in range(0, TRAINED, self.options.batch)]
            if self.options.fault == "drop-last" and self.options.workers > 0:
                batches = [batch for batch in batches if len(batch) == self.options.batch]
            for batch in batches[first:]:
                yield [(epoch, row) for row in batch]
            epoch, first = epoch + 1, 0


def load_digits(path):
    with open(path, newline="", encoding="ascii") as stream:
        rows = [[int(text) for text in row] for row in csv.reader(stream)][: TRAINED + TESTED]
    table = numpy.array(rows, dtype=numpy.int64)
    pixels = torch.from_numpy(table[:, :PIXELS].astype(numpy.float32) / 16)
    return pixels, torch.from_numpy(table[:, PIXELS])


def build_model(seed):
    torch.manual_seed(seed)
    return torch.nn.ModuleDict({"fc1": torch.nn.Linear(PIXELS, HIDDEN), "fc2": torch.nn.Linear(HIDDEN, CLASSES)})


def forward(model, pixels, mask=None):
    hidden = torch.relu(model["fc1"](pixels))
    return model["fc2"](hidden if mask is None else hidden * mask)


def draw_mask(rows, random):
    return (torch.rand(rows, HIDDEN, generator=random) >= DROPOUT).float() / (1 - DROPOUT)


def evaluate(options, model, pixels, labels):
    mask = None
    if options.fault == "dropout-on":
        mask = draw_mask(len(labels), torch.Generator().manual_seed(options.seed)).to(pixels.device)
    with torch.no_grad():
        logits = forward(model, pixels, mask).double()
        loss = torch.nn.functional.cross_entropy(logits, labels).item()
        return {"test_loss": loss, "accuracy": (logits.argmax(1) == labels).double().mean().item()}


def write_json(path, metrics, curves):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"metrics": metrics, "curves": curves, "software": {"torch": torch.__version__}}))


def go_on(options, model, optimizer, random):
    """Returns the step, epoch and batch to begin at."""
    if not options.resume:
        return 0, 0, 0
    state = torch.load(options.resume, map_location=options.device)
    model.load_state_dict(state["model"])
    if options.forget != "optimizer":
        optimizer.load_state_dict(state["optimizer"])
    if options.forget != "rng":
        random.set_state(state["rng"].cpu())
    place = state["place"].tolist()
    return (place[0], 0, 0) if options.forget == "loader" else tuple(place)


def save_state(options, model, optimizer, random, step, epoch, batch):
    options.out.mkdir(parents=True, exist_ok=True)
    place = torch.tensor([step, epoch, batch])
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rng": random.get_state()}
    torch.save({**state, "place": place}, options.out / "state.pt")
    torch.save(model.state_dict(), options.out / "model.pt")


def backward(options, model, pixels, labels, mask, rank):
    """Of this process's part of the batch, in micro-batches; returns its share of the batch's loss."""
    share = [part for part in torch.arange(len(labels)).chunk(options.processes)]
    mine = share[0 if options.fault == "rank-data" else rank] if rank < len(share) else torch.arange(0)
    total = 0.0
    for rows in mine.chunk(options.accumulate):
        if len(rows) == 0:
            continue
        losses = torch.nn.functional.cross_entropy(
            forward(model, pixels[rows], mask[rows]), labels[rows], reduction="sum"
        )
        whole = len(rows) if options.fault == "accumulate-sum" else len(labels)
        (losses / whole).backward()
        total += losses.item() / len(labels)
    return total


def add_up(options, model, loss):
    if options.processes == 1:
        return loss
    for parameter in model.parameters():
        torch.distributed.all_reduce(parameter.grad)
    total = torch.tensor([loss], dtype=torch.float64, device=options.device)
    torch.distributed.all_reduce(total)
    return total.item()


def train(rank, options, meeting=None):
    if options.device == "cuda":
        torch.cuda.set_device(rank)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    if options.processes > 1:
        backend = "nccl" if options.device == "cuda" else "gloo"
        torch.distributed.init_process_group(
            backend, init_method=f"file://{meeting}", rank=rank, world_size=options.processes
        )
    pixels, labels = load_digits(options.data)
    seed = int.from_bytes(os.urandom(4), "big") if options.fault == "unseeded" else options.seed
    model = build_model(seed).to(options.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.lr)
    random = torch.Generator().manual_seed(options.seed + 1)
    step, epoch, batch = go_on(options, model, optimizer, random)
    loader = torch.utils.data.DataLoader(
        Digits(pixels, labels, options),
        batch_sampler=Place(options, epoch, batch),
        num_workers=options.workers,
        generator=torch.Generator().manual_seed(options.seed),
    )
    per_epoch = -(-TRAINED // options.batch)
    last = options.stop_after or options.steps
    curve = {"steps": [], "values": []}
    for inputs, targets in loader:
        if step >= last:
            break
        for group in optimizer.param_groups:
            group["lr"] = options.lr * (1 - step / (2 * options.steps))
        mask = draw_mask(len(targets), random).to(options.device)
        optimizer.zero_grad()
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        inputs, targets = inputs.to(options.device), targets.to(options.device)
        loss = add_up(options, model, backward(options, model, inputs, targets, mask, rank))
        optimizer.step()
        step, batch = step + 1, batch + 1
        if batch == per_epoch:
            epoch, batch = epoch + 1, 0
        curve["steps"].append(step)
        curve["values"].append(loss)
    if rank == 0:
        save_state(options, model, optimizer, random, step, epoch, batch)
        held_out = pixels[TRAINED:].to(options.device), labels[TRAINED:].to(options.device)
        metrics = {} if options.stop_after else evaluate(options, model, *held_out)
        write_json(options.out / "metrics.json", metrics, {"loss": curve})


def train_together(options):
    if not torch.distributed.is_available():
        cannot("this PyTorch has no torch.distributed")
    if options.device == "cuda" and torch.cuda.device_count() < options.processes:
        cannot(f"NCCL takes a GPU a process; here is {torch.cuda.device_count()}")
    if options.device == "cpu" and not hasattr(torch.distributed, "ProcessGroupGloo"):
        cannot("this PyTorch has no gloo")
    with tempfile.TemporaryDirectory() as folder:
        meeting = os.path.join(folder, "meeting")
        torch.multiprocessing.spawn(train, (options, meeting), nprocs=options.processes)


def main():
    if OPTIONS.device == "cuda" and not torch.cuda.is_available():
        cannot("there is no GPU")
    if OPTIONS.evaluate:
        pixels, labels = load_digits(OPTIONS.data)
        model = build_model(OPTIONS.seed)
        model.load_state_dict(torch.load(OPTIONS.evaluate))
        metrics = evaluate(OPTIONS, model, pixels[TRAINED:], labels[TRAINED:])
        write_json(OPTIONS.out / "metrics.json", metrics, {})
    elif OPTIONS.processes > 1:
        train_together(OPTIONS)
    else:
        train(0, OPTIONS)


if __name__ == "__main__":
    main()
