"""A 65-32-10 network in JAX: 400 digits, a step for every 32 of them."""

import argparse
import json
import os
import pathlib

import jax
import jax.numpy as jnp
import numpy as np

import digits
import scaling


def loss_of(weights, pixels, truth):
    chances = jax.nn.log_softmax(jax.nn.relu(pixels @ weights[0]) @ weights[1])
    return -jnp.mean(chances[np.arange(len(truth)), truth])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lr", type=float, default=0.3)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=40)
    options = parser.parse_args()
    key = jax.random.key(options.seed)
    (images, labels), test = digits.split(*digits.load(options.data))
    pixels, truth = np.array(scaling.scale(images)[:400], np.float32), np.array(labels[:400])
    initial, shuffle = jax.random.split(key)
    drawn = 0.1 * np.asarray(jax.random.normal(initial, (digits.FEATURES + digits.CLASSES, 32)))
    weights = [drawn[: digits.FEATURES], drawn[digits.FEATURES :].T]
    step = jax.jit(jax.value_and_grad(loss_of))
    curve = []
    for epoch in range(options.epochs):
        order = np.asarray(jax.random.permutation(jax.random.fold_in(shuffle, epoch), len(truth)))
        for begin in range(0, len(truth), options.batch):
            rows = order[begin : begin + options.batch]
            loss, gradients = step(weights, pixels[rows], truth[rows])
            weights = [w - options.lr * g for w, g in zip(weights, gradients)]
            curve.append(float(loss))
    final = [np.asarray(w, np.float64) for w in weights]
    logits = np.maximum(np.array(test[0]) @ final[0], 0) @ final[1]
    powers = np.exp(logits - logits.max(1, keepdims=True))
    chances = (powers / powers.sum(1, keepdims=True))[np.arange(len(test[1])), test[1]]
    metrics = {"test_accuracy": float((logits.argmax(1) == test[1]).mean()),
               "test_loss": float(-np.log(chances).mean())}
    tensors = {f"w{k}": (w.shape, w.ravel().tolist()) for k, w in enumerate(final, start=1)}
    digits.leave(tensors, metrics, curve, {"jax": jax.__version__})


if __name__ == "__main__":
    main()
