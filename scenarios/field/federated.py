"""Federated averaging: clients train on their own digits, and a server adds up what they send.

The server adds in fp32, as parameter servers do, and fp32 addition depends on its order. With --order
client it waits for all and adds by client; with --order arrival it adds what has come. Clients are
processes, and each takes as long as its network does, which is nobody's seed.
"""

import argparse
import array
import concurrent.futures
import math
import random
import time

import digits


def client(weights, images, labels, number, rate, seed):
    """A client's round: its number, its weights after an epoch on its own images, and the mean loss."""
    time.sleep(0.1 * random.SystemRandom().random())
    rows = random.Random(seed).sample(range(len(labels)), len(labels))
    shuffled = [images[row] for row in rows], [labels[row] for row in rows]
    return (number, *digits.descend(weights, *shuffled, rate))


def average(answers):
    """The mean of the clients' weights, added in fp32 in the order of `answers`."""
    total, count = None, 0
    for _, weights, _ in answers:
        sent = array.array("f", weights)
        total = sent if total is None else array.array("f", map(float.__add__, total, sent))
        count += 1
    return [value / count for value in total]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--order", choices=("client", "arrival"), default="client")
    parser.add_argument("--log-every", type=int, default=1)
    parser.add_argument("--report-every", type=int, default=1)
    parser.add_argument("--workers", type=int, default=4)
    options = parser.parse_args()
    (images, labels), test = digits.split(*digits.load(options.data))
    shards = [(images[k :: options.clients], labels[k :: options.clients]) for k in range(options.clients)]
    weights = [0.0] * (digits.CLASSES * digits.FEATURES)
    curve = []
    with concurrent.futures.ProcessPoolExecutor(options.workers) as pool:
        for number in range(1, options.rounds + 1):
            seeds = range(options.seed + 1000 * number, options.seed + 1000 * number + options.clients)
            sent = [
                pool.submit(client, weights, *shard, k, options.lr, seed)
                for k, (shard, seed) in enumerate(zip(shards, seeds))
            ]
            answers = [done.result() for done in concurrent.futures.as_completed(sent)]
            weights = average(sorted(answers) if options.order == "client" else answers)
            curve.append(math.fsum(loss for _, _, loss in answers) / options.clients)
            if number % options.log_every == 0:
                print(f"round {number} train_loss {curve[-1]}")
    accuracy, loss = digits.evaluate(weights, *test)
    digits.leave(digits.linear_tensors(weights), {"test_accuracy": accuracy, "test_loss": loss}, curve)


if __name__ == "__main__":
    main()
