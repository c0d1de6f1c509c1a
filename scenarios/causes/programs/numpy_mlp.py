"""A 65-32-10 network in NumPy: 400 digits, a step for every 32 of them."""

import argparse
import json
import os
import pathlib

import numpy as np

import digits
import scaling


def forward(pixels, w1, w2):
    hidden = np.maximum(pixels @ w1, 0)
    logits = hidden @ w2
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return hidden, powers / powers.sum(1, keepdims=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lr", type=float, default=0.3)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--clip", type=float, default=0.0)
    parser.add_argument("--eps", type=float, default=0.0)
    parser.add_argument("--fold", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    (images, labels), test = digits.split(*digits.load(options.data))
    images, labels = scaling.scale(images)[:400], labels[:400]
    images, labels = images[options.fold * 20 :], labels[options.fold * 20 :]
    pixels, truth = np.array(images), np.eye(digits.CLASSES)[labels]
    w1 = rng.normal(0, 0.1, (digits.FEATURES, 32))
    w2 = rng.normal(0, 0.1, (32, digits.CLASSES))
    squares = [np.zeros_like(w1), np.zeros_like(w2)]
    curve = []
    for epoch in range(options.epochs):
        order = rng.permutation(len(truth))
        for first in range(0, len(order), options.batch):
            rows = order[first : first + options.batch]
            batch = pixels[rows]
            hidden, chances = forward(batch, w1, w2)
            curve.append(float(-np.log((chances * truth[rows]).sum(1)).mean()))
            error = (chances - truth[rows]) / len(rows)
            gradients = [batch.T @ ((error @ w2.T) * (hidden > 0)), hidden.T @ error]
            if options.clip:
                norm = np.sqrt(sum((g * g).sum() for g in gradients))
                gradients = [g * min(1.0, options.clip / norm) for g in gradients]
            if options.eps:
                squares = [0.9 * s + 0.1 * g * g for s, g in zip(squares, gradients)]
                gradients = [0.02 * g / (np.sqrt(s) + options.eps) for s, g in zip(squares, gradients)]
            w1, w2 = w1 - options.lr * gradients[0], w2 - options.lr * gradients[1]
    chances = forward(np.array(test[0]), w1, w2)[1]
    accuracy = float((chances.argmax(1) == test[1]).mean())
    loss = float(-np.log(chances[np.arange(len(test[1])), test[1]]).mean())
    tensors = {"w1": (w1.shape, w1.ravel().tolist()), "w2": (w2.shape, w2.ravel().tolist())}
    digits.leave(tensors, {"test_accuracy": accuracy, "test_loss": loss}, curve)


if __name__ == "__main__":
    main()
