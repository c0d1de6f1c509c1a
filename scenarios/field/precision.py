"""Mixed precision in PyTorch, and what it costs: bf16 on a CPU, fp16 and TF32 on a GPU.

Weights stay in fp32; with --precision bf16 or fp16 products are taken in it (autocast), with tf32 in the
GPU's own format. fp16 scales the loss, since gradients would vanish without. The seconds of a step are told
as resources, which decide nothing.
"""

import argparse
import statistics
import time

import torch

import digits


def step(model, pixels, truth, options):
    """The loss, and gradients in fp32."""
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(options.precision)
    scale = 128.0 if kind == torch.float16 else 1.0
    model.zero_grad()
    with torch.autocast(options.device, dtype=kind, enabled=kind is not None):
        loss = torch.nn.functional.cross_entropy(model(pixels).float(), truth)
    (loss * scale).backward()
    digits.step_torch(model, [weights.grad / scale for weights in model.parameters()], options.lr)
    return loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=0.3)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--precision", choices=("fp32", "bf16", "fp16", "tf32"), default="fp32")
    parser.add_argument("--log-every", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
    torch.manual_seed(options.seed)
    (images, labels), test = digits.split(*digits.load(options.data))
    pixels = torch.tensor(images, dtype=torch.float32)[:, : digits.PIXELS].to(options.device)
    truth = torch.tensor(labels).to(options.device)
    model = torch.nn.Sequential(
        torch.nn.Linear(digits.PIXELS, 64), torch.nn.ReLU(), torch.nn.Linear(64, digits.CLASSES)
    ).to(options.device)
    shuffle = torch.Generator().manual_seed(options.seed)
    curve, seconds = [], []
    for _ in range(options.epochs):
        total = 0.0
        for rows in torch.randperm(len(truth), generator=shuffle).split(32):
            began = time.perf_counter()
            total += step(model, pixels[rows], truth[rows], options) * len(rows)
            seconds.append(time.perf_counter() - began)
        curve.append(total / len(truth))
    resources = {
        "step_seconds_median": statistics.median(seconds),
        "step_seconds_min": min(seconds),
        "steps_timed": len(seconds),
    }
    digits.leave_torch(model.cpu(), test, curve, resources)


if __name__ == "__main__":
    main()
