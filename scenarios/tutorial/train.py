"""tutorial: the program that README.md and the guides rerun. Standard library alone.

Logistic regression on two columns, by stochastic gradient descent: a tenth of a second. It writes
model.safetensors, metrics.json and, at the end, its settings to train.log. TRAIN_ORDER=reversed adds
the gradients of a batch, in fp32, from the last to the first: another order of addition, as a new
library may have. RHARNESS_REPLICATE and RHARNESS_TRACE are what the guides of drills and experiments explain.
"""

import argparse
import csv
import hashlib
import json
import math
import os
import random
import struct

parser = argparse.ArgumentParser(description="Trains a classifier, or goes on with one.")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--lr", type=float, default=0.5)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--stop-after", type=int, default=0, help="write state.json after this epoch, and end")
parser.add_argument("--resume", help="a state.json to go on from")
options = parser.parse_args()


def read(path):
    with open(path, newline="", encoding="ascii") as stream:
        rows = list(csv.reader(stream))[1:]
    return [([1.0, float(x), float(y)], int(label)) for x, y, label in rows]


def probability(weights, features):
    return 1 / (1 + math.exp(-sum(w * x for w, x in zip(weights, features))))


def loss_of(weights, rows):
    return -sum(math.log(abs(1 - label - probability(weights, x))) for x, label in rows) / len(rows)


def single(value):  # as fp32 keeps it
    return struct.unpack("<f", struct.pack("<f", value))[0]


def gradient_of(weights, batch):
    total = [0.0, 0.0, 0.0]
    for x, label in reversed(batch) if os.environ.get("TRAIN_ORDER") == "reversed" else batch:
        error = probability(weights, x) - label
        total = [single(t + error * value / len(batch)) for t, value in zip(total, x)]
    return total


class Trace:
    """rharness.trace/v1 of the first steps, where RHARNESS_TRACE names a file or a folder."""

    def __init__(self, path):
        self.order, self.stream = 0, None
        if path:
            if not path.endswith(".jsonl"):
                os.makedirs(path, exist_ok=True)
                path = os.path.join(path, "rank-0.jsonl")
            self.stream = open(path, "w", encoding="ascii")
            self.line({"schema": "rharness.trace/v1", "rank": 0, "world": 1, "framework": "python"})

    def line(self, value):
        self.stream.write(json.dumps(value) + "\n")

    def add(self, step, kind, name, values):
        if self.stream is None or step > 2:
            return
        digest = hashlib.sha256(struct.pack(f"<{len(values)}d", *values)).hexdigest()
        facts = {"shape": [len(values)], "dtype": "float64", "digest": "sha256:" + digest}
        facts.update(norm=math.sqrt(sum(v * v for v in values)), max=max(abs(v) for v in values))
        self.line({"step": step, "order": self.order, "kind": kind, "name": name, **facts})
        self.order += 1

    def close(self):
        if self.stream is not None:
            self.line({"end": True})


random.seed(options.seed)
weights = [single(random.gauss(0, 0.1)) for _ in range(3)]
replicate = int(os.environ.get("RHARNESS_REPLICATE") or 0)
if replicate:  # to neighbouring numbers of fp32
    draw = random.Random(replicate)
    weights = [single(w * (1 + draw.choice((-1, 1)) * 2**-23)) for w in weights]
train, test = read("data/train.csv"), read("data/test.csv")
curve, first = [], 0
if options.resume:
    with open(options.resume, encoding="ascii") as stream:
        state = json.load(stream)
    weights, first = state["weights"], state["epoch"]
    random.setstate((state["random"][0], tuple(state["random"][1]), state["random"][2]))
last = options.stop_after or options.epochs
trace, step = Trace(os.environ.get("RHARNESS_TRACE")), 0
for epoch in range(first, last):
    order = random.sample(train, len(train))
    for at in range(0, len(order), options.batch):
        batch = order[at : at + options.batch]
        trace.add(step, "batch", "x", [value for x, _ in batch for value in x])
        trace.add(step, "parameter", "w", weights)
        gradient = gradient_of(weights, batch)
        trace.add(step, "gradient", "w", gradient)
        weights = [w - options.lr * g for w, g in zip(weights, gradient)]
        trace.add(step, "updated", "w", weights)
        step += 1
    curve.append(loss_of(weights, train))
trace.close()
if options.stop_after:
    with open("state.json", "w", encoding="ascii") as stream:
        json.dump({"weights": weights, "epoch": last, "random": random.getstate()}, stream)
right = sum((probability(weights, x) > 0.5) == (label == 1) for x, label in test)
metrics = {"test_accuracy": right / len(test), "test_loss": loss_of(weights, test)}
steps = list(range(first + 1, last + 1))
with open("metrics.json", "w", encoding="ascii") as stream:
    json.dump({"metrics": metrics, "curves": {"train_loss": {"steps": steps, "values": curve}}}, stream)
head = json.dumps({"w": {"dtype": "F64", "shape": [3], "data_offsets": [0, 24]}}).encode()
with open("model.safetensors", "wb") as stream:
    stream.write(struct.pack("<Q", len(head)) + head + struct.pack("<3d", *weights))
with open("train.log", "w", encoding="ascii") as stream:
    stream.write(f"seed={options.seed} lr={options.lr} batch_size={options.batch} epochs={options.epochs}\n")
print("test_accuracy", metrics["test_accuracy"])
