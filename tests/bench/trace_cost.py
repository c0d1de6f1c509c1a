"""What the hooks of rharness_trace cost a PyTorch training: digests of every module each 100 steps.

    PYTHONPATH=harness/records/observe/python python3 tests/bench/trace_cost.py [--model cnn|transformer] [--pairs 8]

Blocks of 100 steps without and with hooks take turns in one process; printed is the median of their ratios of CPU time (on one
thread that is the time of an idle machine), the time of a written step beside that of a bare one, and the ratio where
RHARNESS_TRACE is not set.
"""

import argparse
import os
import statistics
import tempfile
import time

import torch
from torch import nn
import torch.nn.functional as F

import rharness_trace


def convolution(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = convolution(width, width), convolution(width, width)

    def forward(self, x):
        return x + self.second(self.first(x))


def make(name):
    """Model and batch: images of 32 x 32, or sequences of 32 tokens."""
    torch.manual_seed(1)
    if name == "cnn":
        layers = [convolution(3, 16), Residual(16), Residual(16), nn.MaxPool2d(2), convolution(16, 32)]
        layers += [Residual(32), Residual(32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)]
        return nn.Sequential(*layers), torch.randn(16, 3, 32, 32)
    layer = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.1, batch_first=True)
    return nn.Sequential(nn.TransformerEncoder(layer, 4), nn.Linear(64, 10)), torch.randn(16, 32, 64)


class Training:
    def __init__(self, name):
        self.model, self.batch = make(name)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.target = torch.zeros(self.batch.shape[0], dtype=torch.long)

    def step(self):
        out = self.model(self.batch)
        loss = F.cross_entropy(out if out.dim() == 2 else out.mean(1), self.target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def block(self, steps):
        times = []
        for _ in range(steps):
            begin = time.process_time()
            self.step()
            times.append(time.process_time() - begin)
        return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=("cnn", "transformer"), default="cnn")
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    os.environ.pop("RHARNESS_TRACE", None)
    bare, off, traced = (Training(options.model) for _ in range(3))
    rharness_trace.watch(off.model, off.optimizer, steps="every=100")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RHARNESS_TRACE"] = folder + "/"
        watch = rharness_trace.watch(traced.model, traced.optimizer, steps="every=100")
        for training in (bare, off):
            training.block(5)
        ratios, off_ratios, written, usual = [], [], [], []
        for _ in range(options.pairs):
            a, b, c = bare.block(100), traced.block(100), off.block(100)
            ratios.append(sum(b) / sum(a))
            off_ratios.append(sum(c) / sum(a))
            written.append(max(b))
            usual.append(statistics.median(a))
        watch.close()
        size = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
    parameters = sum(p.numel() for p in bare.model.parameters())
    print(
        "%s, %d parameters, %d thread(s), PyTorch %s: traced/bare %.3f (%.3f to %.3f), not enabled %.3f; a written step "
        "%.0f ms, a bare one %.0f ms; %.0f kB a written step"
        % (
            options.model, parameters, options.threads, torch.__version__, statistics.median(ratios), min(ratios), max(ratios),
            statistics.median(off_ratios), 1e3 * statistics.median(written), 1e3 * statistics.median(usual),
            size / 1e3 / options.pairs,
        )
    )  # fmt: skip


main()
