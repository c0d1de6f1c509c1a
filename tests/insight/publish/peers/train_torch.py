"""A network of PyTorch's that logs a loss by steps and its state dict to MLflow."""
import argparse

import mlflow
import numpy as np
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--epochs", type=int, default=5)
arguments = parser.parse_args()
torch.manual_seed(arguments.seed)
table = np.loadtxt("digits.csv", delimiter=",", dtype=np.float32)
pixels, digits = torch.from_numpy(table[:, :-1] / 16), torch.from_numpy(table[:, -1].astype(np.int64))
network = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
mlflow.set_experiment("torch")
with mlflow.start_run():
    mlflow.log_params(vars(arguments))
    for epoch in range(arguments.epochs):
        for batch in torch.randperm(1400).split(64):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(network(pixels[batch]), digits[batch])
            loss.backward()
            optimizer.step()
        mlflow.log_metric("train_loss", loss.item(), step=epoch)
    right = network(pixels[1400:]).argmax(1) == digits[1400:]
    mlflow.log_metric("test_accuracy", right.float().mean().item())
    torch.save(network.state_dict(), "weights.pt")
    mlflow.log_artifact("weights.pt")
