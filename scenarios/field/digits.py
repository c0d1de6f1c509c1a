"""The digits, a softmax regression in plain Python, and the files that a run leaves.

Role: what the scenarios share. Standard library alone: a scenario that needs a framework imports it itself.
Weights are one flat list of CLASSES * FEATURES floats, a row a class; the last feature is the bias's 1.
"""

import array
import csv
import json
import math
import pathlib
import struct

PIXELS = 64
FEATURES = PIXELS + 1
CLASSES = 10


def load(path):
    """Returns images [n][65] in [0, 1] with the bias's 1 behind them, and labels [n]. Raises ValueError."""
    images, labels = [], []
    with open(path, newline="", encoding="ascii") as stream:
        for line, row in enumerate(csv.reader(stream), start=1):
            fields = [int(text) for text in row]
            if len(fields) != PIXELS + 1 or not all(0 <= pixel <= 16 for pixel in fields[:PIXELS]):
                raise ValueError(f"{path}: line {line}: expected {PIXELS} pixels 0..16 and a label")
            images.append([pixel / 16 for pixel in fields[:PIXELS]] + [1.0])
            labels.append(fields[PIXELS])
    return images, labels


def split(images, labels):
    """Training and test set: every fifth image is for the test, as in the other scenarios."""
    rows = range(len(labels))
    train = [row for row in rows if row % 5 != 4]
    test = [row for row in rows if row % 5 == 4]
    return tuple(([images[row] for row in part], [labels[row] for row in part]) for part in (train, test))


def probabilities(weights, image):
    logits = [
        sum(map(float.__mul__, weights[FEATURES * c : FEATURES * (c + 1)], image)) for c in range(CLASSES)
    ]
    most = max(logits)
    powers = [math.exp(logit - most) for logit in logits]
    total = sum(powers)
    return [power / total for power in powers]


def descend(weights, images, labels, rate, batch=16):
    """One epoch in the order given: the new weights, and the mean loss before each step."""
    loss = 0.0
    for first in range(0, len(labels), batch):
        rows = range(first, min(first + batch, len(labels)))
        gradient = [0.0] * len(weights)
        for row in rows:
            chances = probabilities(weights, images[row])
            loss -= math.log(max(chances[labels[row]], 1e-300))
            chances[labels[row]] -= 1.0
            for c, error in enumerate(chances):
                at = FEATURES * c
                for k, pixel in enumerate(images[row]):
                    if pixel:
                        gradient[at + k] += error * pixel
        weights = [w - rate * g / len(rows) for w, g in zip(weights, gradient)]
    return weights, loss / len(labels)


def evaluate(weights, images, labels):
    """Accuracy and mean loss."""
    right, loss = 0, 0.0
    for image, label in zip(images, labels):
        chances = probabilities(weights, image)
        right += max(range(CLASSES), key=chances.__getitem__) == label
        loss -= math.log(max(chances[label], 1e-300))
    return right / len(labels), loss / len(labels)


def tensors_bytes(tensors):
    """A safetensors file of {name: (shape, floats)}, in fp32. Layout: the safetensors README, "Format"."""
    header, data = {}, b""
    for name, (shape, values) in sorted(tensors.items()):
        content = array.array("f", values).tobytes()
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def linear_tensors(weights):
    """The flat weights of this file's regression, as the tensors of a linear layer."""
    rows = [weights[FEATURES * c : FEATURES * (c + 1)] for c in range(CLASSES)]
    return {
        "linear.weight": ((CLASSES, PIXELS), [value for row in rows for value in row[:PIXELS]]),
        "linear.bias": ((CLASSES,), [row[PIXELS] for row in rows]),
    }


def read_tensors(path):
    """{name: floats} of such a file, whole in memory. Raises where it is not whole."""
    content = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    tensors = {}
    for name, entry in json.loads(content[8 : 8 + length]).items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        if end > len(content):
            raise ValueError(f"{path}: ends within {name}")
        tensors[name] = array.array("f", content[begin:end]).tolist()
    return tensors


def rounded(weights):
    """The nearest fp32 numbers."""
    return array.array("f", weights).tolist()


def leave(tensors, metrics, curve=(), software=None, resources=None):
    """metrics.json and, where there are tensors, model.safetensors, in the current folder. JSON spells
    not-a-number "nan"."""
    spell = lambda value: value if math.isfinite(value) else str(value)
    document = {"metrics": {name: spell(value) for name, value in metrics.items()}}
    if curve:
        document["curves"] = {
            "train_loss": {"steps": list(range(1, len(curve) + 1)), "values": [spell(v) for v in curve]}
        }
    if software:
        document["software"] = software
    if resources:
        document["x-resources"] = resources
    if tensors:
        pathlib.Path("model.safetensors").write_bytes(tensors_bytes(tensors))
    pathlib.Path("metrics.json").write_text(json.dumps(document, allow_nan=False) + "\n", encoding="ascii")


def step_torch(model, gradients, rate):
    """A step of plain descent; torch.optim would import a compiler. `gradients`: one for each tensor of the model,
    or one flat tensor of all of them."""
    import torch

    parameters = list(model.parameters())
    if isinstance(gradients, torch.Tensor):
        gradients = gradients.split([weights.numel() for weights in parameters])
    with torch.no_grad():
        for weights, gradient in zip(parameters, gradients):
            weights -= rate * gradient.view_as(weights)


def leave_torch(model, test, curve, resources=None):
    """The same of a PyTorch model over the 64 pixels, and its version."""
    import torch

    pixels = torch.tensor(test[0], dtype=torch.float32)[:, :PIXELS]
    labels = torch.tensor(test[1])
    with torch.no_grad():
        logits = model(pixels).double()
        accuracy = (logits.argmax(1) == labels).double().mean().item()
        loss = torch.nn.functional.cross_entropy(logits, labels).item()
    tensors = {
        name: (tuple(values.shape), values.float().flatten().tolist())
        for name, values in model.state_dict().items()
    }
    leave(tensors, {"test_accuracy": accuracy, "test_loss": loss}, curve, {"torch": torch.__version__}, resources)
