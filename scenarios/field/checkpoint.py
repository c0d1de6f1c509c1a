"""A training whose checkpoint is written in parts, and that is killed while it writes.

The checkpoint is a folder: four shards, a tensor or more each, and their index, which names the epoch. With
WRITER=whole each is written beside the last one and renamed over it; with WRITER=in-place the parts of the last
one are written over. KILL_AT=EPOCH:PART[:half] kills the training (SIGKILL) in that epoch, once: when it has
written that part, or half of it. What started it, as a cluster does, then starts it again from its
checkpoint, or with AFTER_KILL=leave takes the job for done.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import sys

import digits

CHECKPOINT = pathlib.Path("checkpoint")
INDEX = "model.safetensors.index.json"
PARTS = 4
IMAGES = 400  # what is at stake here is no accuracy


def parts_of(weights):
    """The shards by name: rows of classes, each a tensor."""
    parts = {f"model-{k + 1:05}-of-{PARTS:05}.safetensors": {} for k in range(PARTS)}
    for c in range(digits.CLASSES):
        row = weights[digits.FEATURES * c : digits.FEATURES * (c + 1)]
        parts[list(parts)[c % PARTS]][f"class.{c}"] = ((digits.FEATURES,), row)
    return parts


def write_parts(folder, weights, epoch, kill):
    """`kill`: a part's number and whether in its middle, or None."""
    folder.mkdir(exist_ok=True)
    parts = parts_of(weights)
    index = {name: file for file, tensors in parts.items() for name in tensors}
    for number, (file, tensors) in enumerate(parts.items(), start=1):
        content = digits.tensors_bytes(tensors)
        with open(folder / file, "wb") as stream:
            if kill and kill[0] == number:
                stream.write(content[: len(content) // 2] if kill[1] else content)
                stream.flush()
                os.kill(os.getpid(), signal.SIGKILL)
            stream.write(content)
    text = json.dumps({"metadata": {"epoch": epoch}, "weight_map": index})
    (folder / INDEX).write_text(text, encoding="ascii")


def save(weights, epoch, kill):
    if os.environ.get("WRITER", "whole") == "in-place":
        write_parts(CHECKPOINT, weights, epoch, kill)
        return
    beside = pathlib.Path("checkpoint.new")
    write_parts(beside, weights, epoch, kill)
    shutil.rmtree(CHECKPOINT, ignore_errors=True)
    beside.rename(CHECKPOINT)


def resume():
    """The weights and epoch of the checkpoint, in the precision in which it is kept; or where all begins."""
    if not (CHECKPOINT / INDEX).exists():
        return [0.0] * (digits.CLASSES * digits.FEATURES), 0
    index = json.loads((CHECKPOINT / INDEX).read_text(encoding="ascii"))
    rows = {}
    for file in sorted(set(index["weight_map"].values())):
        rows |= digits.read_tensors(CHECKPOINT / file)
    weights = [value for c in range(digits.CLASSES) for value in rows[f"class.{c}"]]
    return weights, index["metadata"]["epoch"]


def train(options, kill):
    """`kill`: epoch, part, and whether in its middle; or None."""
    (images, labels), test = digits.split(*digits.load(options.data))
    images, labels = images[:IMAGES], labels[:IMAGES]
    weights, done = resume()
    for epoch in range(done + 1, options.epochs + 1):
        rows = random.Random(options.seed * 1000 + epoch).sample(range(len(labels)), len(labels))
        weights, loss = digits.descend(weights, [images[row] for row in rows], [labels[row] for row in rows], 0.3)
        weights = digits.rounded(weights)  # as the checkpoint keeps them: a run that is resumed goes on alike
        accuracy, test_loss = digits.evaluate(weights, *test)
        digits.leave(None, {"test_accuracy": accuracy, "test_loss": test_loss, "train_loss": loss})
        save(weights, epoch, kill[1:] if kill and kill[0] == epoch else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    kill = os.environ.get("KILL_AT", "").split(":")
    kill = (int(kill[0]), int(kill[1]), len(kill) > 2) if kill[0] else None
    while True:
        child = os.fork()
        if child == 0:
            train(options, kill)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != -signal.SIGKILL:
            sys.exit(status)
        if os.environ.get("AFTER_KILL") == "leave":
            return
        kill = None


if __name__ == "__main__":
    main()
