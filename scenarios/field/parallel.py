"""Data parallel PyTorch over several processes (gloo), with an ordered or a racing sum of gradients.

Each rank has a part of every batch. With REDUCTION=ordered rank 0 adds gradients by rank, with
REDUCTION=racing in the order in which they come, which is what a parameter server without a barrier does:
the sum's order, and so its last bits, are the scheduler's.
"""

import argparse
import os
import tempfile

import torch
import torch.distributed

import digits


def sum_by_rank(mine, ranks):
    parts = [torch.empty_like(mine) for _ in range(ranks)]
    torch.distributed.all_gather(parts, mine)
    total = parts[0].clone()
    for part in parts[1:]:
        total += part
    return total


def sum_as_they_come(mine, ranks):
    if torch.distributed.get_rank() != 0:
        torch.distributed.send(mine, 0)
        total = torch.empty_like(mine)
    else:
        total = mine.clone()
        part = torch.empty_like(mine)
        for _ in range(1, ranks):
            torch.distributed.recv(part)
            total += part
    torch.distributed.broadcast(total, 0)
    return total


SUMS = {"ordered": sum_by_rank, "racing": sum_as_they_come}


def train(rank, meeting, options):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", f"file://{meeting}", rank=rank, world_size=options.ranks)
    reduce = SUMS[os.environ.get("REDUCTION", "ordered")]
    (images, labels), test = digits.split(*digits.load(options.data))
    pixels = torch.tensor(images, dtype=torch.float32)[:, : digits.PIXELS]
    truth = torch.tensor(labels)
    torch.manual_seed(options.seed)
    model = torch.nn.Sequential(
        torch.nn.Linear(digits.PIXELS, 32), torch.nn.ReLU(), torch.nn.Linear(32, digits.CLASSES)
    )
    shuffle = torch.Generator().manual_seed(options.seed)
    curve = []
    for _ in range(options.epochs):
        losses = torch.zeros(options.ranks, dtype=torch.float64)
        batches = torch.randperm(len(truth), generator=shuffle).split(64)
        for rows in batches:
            part = rows[rank :: options.ranks]
            model.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(pixels[part]), truth[part])
            loss.backward()
            losses[rank] += loss.item() / len(batches)
            gradient = torch.cat([weights.grad.flatten() for weights in model.parameters()])
            digits.step_torch(model, reduce(gradient, options.ranks) / options.ranks, 0.5)
        torch.distributed.all_reduce(losses)  # one number a rank: every sum has one term that is not 0
        curve.append(losses.mean().item())
    if rank == 0:
        digits.leave_torch(model, test, curve)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.start_processes(
            train, (f"{folder}/meeting", options), nprocs=options.ranks, start_method="fork"
        )


if __name__ == "__main__":
    main()
