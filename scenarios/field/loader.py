"""A PyTorch loader whose workers augment their images, with seeds that are set or are not.

Each worker draws noise from a generator of its own. LOADER_SEED gives it its seed, with the worker's number
and the epoch; where the variable is not set, as in a job script that lost a line, NumPy takes the system's
entropy, and nothing says so.
"""

import argparse
import os

import numpy
import torch

import digits


class Augmented(torch.utils.data.Dataset):
    """Digits with noise on their pixels, drawn in the worker that loads them."""

    def __init__(self, images, labels):
        self.images = torch.tensor(images, dtype=torch.float32)[:, : digits.PIXELS]
        self.labels = torch.tensor(labels)
        self.noise = None

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, row):
        drawn = self.noise.normal(0, 0.05, digits.PIXELS).astype(numpy.float32)
        return self.images[row] + torch.from_numpy(drawn), self.labels[row]


def seed_worker(number):
    given = os.environ.get("LOADER_SEED")
    data = torch.utils.data.get_worker_info().dataset
    data.noise = numpy.random.default_rng(None if given is None else [int(given), number])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    (images, labels), test = digits.split(*digits.load(options.data))
    model = torch.nn.Linear(digits.PIXELS, digits.CLASSES)
    shuffle = torch.Generator().manual_seed(options.seed)
    loader = torch.utils.data.DataLoader(
        Augmented(images, labels), 64, shuffle=True, num_workers=options.workers, generator=shuffle,
        worker_init_fn=seed_worker, persistent_workers=True,
    )
    curve = []
    for _ in range(options.epochs):
        total = 0.0
        for pixels, truth in loader:
            model.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(pixels), truth)
            loss.backward()
            digits.step_torch(model, [weights.grad for weights in model.parameters()], 0.5)
            total += loss.item() * len(truth)
        curve.append(total / len(labels))
    digits.leave_torch(model, test, curve)


if __name__ == "__main__":
    main()
