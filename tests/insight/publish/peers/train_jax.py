"""A regression in JAX that names its own server, logs a loss by steps, and keeps its weights elsewhere than MLflow."""
import argparse
import os
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import mlflow
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
seed = parser.parse_args().seed
table = np.loadtxt("digits.csv", delimiter=",", dtype=np.float32)
pixels, digits = jnp.asarray(table[:, :-1] / 16), jnp.asarray(table[:, -1].astype(np.int32))
weights = {"w": jax.random.normal(jax.random.key(seed), (64, 10)) * 0.1, "b": jnp.zeros(10)}


def loss(weights):
    chances = jax.nn.log_softmax(pixels[:1400] @ weights["w"] + weights["b"])
    return -jnp.take_along_axis(chances, digits[:1400, None], 1).mean()


step = jax.jit(lambda weights: jax.tree.map(lambda value, slope: value - 0.5 * slope, weights, jax.grad(loss)(weights)))
mlflow.set_tracking_uri(Path("server.txt").read_text(encoding="utf-8") if Path("server.txt").exists() else "http://127.0.0.1:9")
mlflow.set_experiment("jax")
with mlflow.start_run():
    for number in range(100):
        weights = step(weights)
        if number % 10 == 0:
            mlflow.log_metric("train_loss", float(loss(weights)), step=number)
    right = (pixels[1400:] @ weights["w"] + weights["b"]).argmax(1) == digits[1400:]
    mlflow.log_metric("test_accuracy", float(right.mean()))
    with tempfile.TemporaryDirectory() as folder:
        np.savez(os.path.join(folder, "weights.npz"), **{name: np.asarray(one) for name, one in weights.items()})
        mlflow.log_artifact(os.path.join(folder, "weights.npz"), "model")
