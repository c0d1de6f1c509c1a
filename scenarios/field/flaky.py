"""A test in CI that fails now and then: it adds up scores in the order of a set of names.

The hash of a string is salted for each process unless PYTHONHASHSEED is set, so that a set of strings has
another order in each, and a sum of floats another last bit. The test compares with ==.
"""

import argparse
import sys

import digits


def mean_by_name(scores):
    """The mean over all names; the set makes its order the hash's."""
    total = 0.0
    for name in set(scores):
        total += scores[name]
    return total / len(scores)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--names", type=int, default=15)
    options = parser.parse_args()
    (images, labels), test = digits.split(*digits.load(options.data))
    weights, loss = [0.0] * (digits.CLASSES * digits.FEATURES), 0.0
    weights, loss = digits.descend(weights, images[:400], labels[:400], 0.5)
    scores = {
        f"shard-{k}": digits.evaluate(weights, test[0][k :: options.names], test[1][k :: options.names])[1]
        for k in range(options.names)
    }
    mean, expected = mean_by_name(scores), sum(scores[name] for name in sorted(scores)) / len(scores)
    print(f"mean {mean!r}, expected {expected!r}")
    if mean != expected:
        print("FAILED test_mean_by_name: the means differ", file=sys.stderr)
        sys.exit(1)
    accuracy, loss = digits.evaluate(weights, *test)
    digits.leave(digits.linear_tensors(weights), {"test_accuracy": accuracy, "test_loss": loss})


if __name__ == "__main__":
    main()
