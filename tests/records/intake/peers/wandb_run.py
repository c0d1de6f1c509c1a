"""Logs one run offline by the real wandb library: wandb_run.py FOLDER EPOCHS [--seed N]

Prints the run's id.
"""
import os
import sys

os.environ["WANDB_MODE"] = "offline"
os.environ["WANDB_SILENT"] = "true"
os.environ.setdefault("WANDB_API_KEY", "x" * 40)

import wandb  # noqa: E402


def main():
    folder, epochs = sys.argv[1], int(sys.argv[2])
    config = {"lr": 0.01, "epochs": epochs, "name": "NO", "seed": 7, "nested": {"depth": [1, 2]}}
    run = wandb.init(project="digits", dir=folder, config=config, group="sweep-1", save_code=False)
    loss = 1.0
    for epoch in range(epochs):
        loss *= 0.9
        run.log({"loss": loss, "val/accuracy": 1.0 - loss, "note": "text"})
    run.log({"odd": float("nan"), "far": float("inf")})
    run.summary["best"] = 1.0 - loss
    print(run.id)
    run.finish()


main()
