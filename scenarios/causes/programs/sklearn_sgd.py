"""scikit-learn's linear classifier on 400 digits, by stochastic descent."""

import argparse
import json
import os
import pathlib

import numpy as np
from sklearn.linear_model import SGDClassifier

import digits
import scaling


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--alpha", type=float, default=0.001)
    parser.add_argument("--penalty", default="l2")
    parser.add_argument("--epochs", type=int, default=12)
    options = parser.parse_args()
    rng = np.random.RandomState(options.seed)
    (images, labels), test = digits.split(*digits.load(options.data))
    pixels, truth = np.array(scaling.scale(images)[:400]), np.array(labels[:400])
    model = SGDClassifier(loss="log_loss", alpha=options.alpha, penalty=options.penalty, random_state=rng)
    curve = []
    for epoch in range(options.epochs):
        model.partial_fit(pixels, truth, classes=range(digits.CLASSES))
        chances = model.predict_proba(pixels)[np.arange(len(truth)), truth]
        curve.append(float(-np.log(np.maximum(chances, 1e-12)).mean()))
    chances = model.predict_proba(np.array(test[0]))
    accuracy = float((chances.argmax(1) == test[1]).mean())
    loss = float(-np.log(np.maximum(chances[np.arange(len(test[1])), test[1]], 1e-12)).mean())
    tensors = {"coef": (model.coef_.shape, model.coef_.ravel().tolist()),
               "intercept": (model.intercept_.shape, model.intercept_.ravel().tolist())}
    digits.leave(tensors, {"test_accuracy": accuracy, "test_loss": loss}, curve)


if __name__ == "__main__":
    main()
