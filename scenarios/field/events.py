"""Preprocessing as a function of an object store's events, which come twice, late and in any order.

The store holds objects of events, {"key", "version", "row"}: a row of the data, or a later correction of it.
DELIVERY=once hands each object over once and in order. Any other value is what a queue that delivers at least
once does: that number seeds which objects come twice, and in which order. With --apply upsert the table keeps
the highest version of each key and is read by key, so that every delivery makes one table; with --apply append
it keeps what comes, as it comes.
"""

import argparse
import json
import os
import pathlib
import random

import digits


def deliver(store):
    """The objects of the store, as its queue hands them over."""
    objects = sorted(pathlib.Path(store).glob("*.jsonl"))
    delivery = os.environ.get("DELIVERY", "once")
    if delivery != "once":
        queue = random.Random(int(delivery))
        objects += queue.sample(objects, len(objects) // 3)
        queue.shuffle(objects)
    for path in objects:
        for line in path.read_text(encoding="ascii").splitlines():
            yield json.loads(line)


def upsert(events):
    table = {}
    for event in events:
        if event["version"] >= table.get(event["key"], event)["version"]:
            table[event["key"]] = event
    return [table[key]["row"] for key in sorted(table)]


def append(events):
    return [event["row"] for event in events]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="of the test")
    parser.add_argument("--store", default="store")
    parser.add_argument("--apply", choices=("upsert", "append"), default="upsert")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows = {"upsert": upsert, "append": append}[options.apply](deliver(options.store))
    images = [[pixel / 16 for pixel in row[: digits.PIXELS]] + [1.0] for row in rows]
    labels = [row[digits.PIXELS] for row in rows]
    weights, loss = digits.descend([0.0] * (digits.CLASSES * digits.FEATURES), images, labels, 0.5)
    _, test = digits.split(*digits.load(options.data))
    accuracy, test_loss = digits.evaluate(weights, *test)
    metrics = {"test_accuracy": accuracy, "test_loss": test_loss, "rows": len(rows)}
    digits.leave(digits.linear_tensors(weights), metrics | {"train_loss": loss})


if __name__ == "__main__":
    main()
