"""A softmax regression in plain Python: 160 digits, a step for every 16 of them."""

import argparse
import json
import os
import pathlib
import random

import digits
import scaling


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lr", type=float, default=0.3)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=16)
    options = parser.parse_args()
    draws = random.Random(options.seed)
    (images, labels), test = digits.split(*digits.load(options.data))
    images, labels = scaling.scale(images)[:160], labels[:160]
    weights = [draws.gauss(0, 0.01) for _ in range(digits.CLASSES * digits.FEATURES)]
    curve = []
    for epoch in range(options.epochs):
        order = list(range(len(labels)))
        draws.shuffle(order)
        for first in range(0, len(order), options.batch):
            rows = order[first : first + options.batch]
            weights, loss = digits.descend(
                weights, [images[row] for row in rows], [labels[row] for row in rows], options.lr
            )
            curve.append(loss)
    accuracy, loss = digits.evaluate(weights, test[0][:80], test[1][:80])
    digits.leave(digits.linear_tensors(weights), {"test_accuracy": accuracy, "test_loss": loss}, curve)


if __name__ == "__main__":
    main()
