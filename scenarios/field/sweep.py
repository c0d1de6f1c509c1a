"""One run of a sweep over learning rates and weight decays: is the ranking of its settings the same again?

SWEEP_HOST=stale is a host whose launcher keeps the setting of the run before it (a configuration file that is
not replaced): a run then trains with its neighbour's learning rate, and says nothing.
"""

import argparse
import os
import random

import digits

RATES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
DECAYS = (0.0, 0.01)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--decay", type=float, default=0.0)
    options = parser.parse_args()
    rate = options.lr
    if os.environ.get("SWEEP_HOST") == "stale":
        rate = RATES[(RATES.index(rate) * 5 + 3) % len(RATES)]
    (images, labels), test = digits.split(*digits.load(options.data))
    rows = random.Random(options.seed).sample(range(len(labels)), 400)
    weights, curve = [0.0] * (digits.CLASSES * digits.FEATURES), []
    for _ in range(2):
        weights, loss = digits.descend(weights, [images[row] for row in rows], [labels[row] for row in rows], rate)
        weights = [w * (1 - options.decay) for w in weights]
        curve.append(loss)
    accuracy, loss = digits.evaluate(weights, *test)
    digits.leave(digits.linear_tensors(weights), {"test_accuracy": accuracy, "test_loss": loss}, curve)


if __name__ == "__main__":
    main()
