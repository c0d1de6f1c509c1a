"""A 64-32-10 network in PyTorch: 800 digits, a step for every 40 of them."""

import argparse
import json
import os
import pathlib

import torch

import digits
import scaling


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lr", type=float, default=0.3)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("--hidden", type=int, default=32)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    (images, labels), test = digits.split(*digits.load(options.data))
    pixels = torch.tensor(scaling.scale(images)[:800])[:, : digits.PIXELS]
    truth = torch.tensor(labels[:800])
    model = torch.nn.Sequential(
        torch.nn.Linear(digits.PIXELS, options.hidden), torch.nn.ReLU(),
        torch.nn.Linear(options.hidden, digits.CLASSES),
    )
    shuffle = torch.Generator().manual_seed(options.seed)
    curve = []
    for epoch in range(options.epochs):
        for rows in torch.randperm(len(truth), generator=shuffle).split(options.batch):
            model.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(pixels[rows]), truth[rows])
            loss.backward()
            digits.step_torch(model, [weights.grad for weights in model.parameters()], options.lr)
            curve.append(loss.item())
    digits.leave_torch(model, test, curve)


if __name__ == "__main__":
    main()
