"""Pairs of PyTorch runs of two ranks (gloo), as in planted_torch.py; "rank" is the one that differs first.

    PYTHONPATH=harness/records/observe/python python3 tests/records/observe/planted_ranks.py FOLDER [NAME...]
"""

import json
import os
import shutil
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
import torch.nn.functional as F
from torch import nn


def train(rank, folder, on):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    wrapped = nn.parallel.DistributedDataParallel(net) if "ddp" in on else net
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    if folder:
        import rharness_trace

        watch = rharness_trace.watch(net, optimizer, steps="0-9", path=folder + "/", operators=True)
    flat = torch.zeros(sum(one.numel() for one in net.parameters()))
    for step in range(3):
        last = rank == 1 and step == 1
        draw = torch.Generator().manual_seed(10 * step + rank + (5 if "shard" in on and last else 0))
        x, y = torch.randn(8, 16, generator=draw), torch.randint(0, 4, (8,), generator=draw)
        F.cross_entropy(wrapped(x), y).backward()
        if "ddp" not in on:
            if not ("stale" in on and last):
                flat.copy_(torch.cat([one.grad.flatten() for one in net.parameters()]))
            if "nudged" in on and last:
                flat.numpy()[7] += 0.25
            dist.broadcast(flat[:1], 0, async_op=True).wait()
            dist.all_reduce(flat, op=dist.ReduceOp.MAX if "max" in on and step else dist.ReduceOp.SUM)
            place = 0
            for one in net.parameters():
                one.grad.copy_(flat[place : place + one.numel()].view_as(one) / 2)
                place += one.numel()
        optimizer.step()
        optimizer.zero_grad()
    if folder:
        watch.close()
    return torch.cat([one.detach().flatten() for one in net.parameters()])


REDUCE = ["c10d.allreduce_.default"]
# Name, what A and B have, operators, module, step, how, rank.
PAIRS = [
    ("stale buffer", [], ["stale"], ["aten.cat.default", "aten.copy_.default"], "", 1, "missing", 1),
    ("buffer by NumPy", [], ["nudged"], REDUCE, "", 1, "unseen", 1),
    ("another reduction", [], ["max"], REDUCE, "", 1, "group", 0),
    ("data of a rank", ["ddp"], ["ddp", "shard"], ["aten.t.default", "aten.addmm.default"], "0", 1, "input", 1),
]


def run(rank, folder, names):
    torch.set_num_threads(1)
    meeting = os.path.join(folder, "meeting")
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=2)
    for name, a, b, ops, module, step, how, differs in PAIRS:
        if names and name not in names:
            continue
        of = os.path.join(folder, name.replace(" ", "-"))
        if rank == 0:
            shutil.rmtree(of, ignore_errors=True)
        dist.barrier()
        found = [train(rank, os.path.join(of, side), on) for side, on in (("A", a), ("B", b))]
        assert torch.equal(found[1], train(rank, None, b)), name + ": traced is not untraced"
        line = {"name": name, "folder": os.path.basename(of), "ops": ops, "module": module, "step": step, "how": how}
        line.update(rank=differs, same_weights=torch.equal(*found), debug_mode="not asked")
        if rank == 0:
            with open(os.path.join(folder, "expected.jsonl"), "a") as lines:
                lines.write(json.dumps(line) + "\n")
    dist.destroy_process_group()
    if rank == 0:
        os.remove(meeting)


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    processes.spawn(run, (folder, sys.argv[2:]), nprocs=2)


if __name__ == "__main__":
    main()
