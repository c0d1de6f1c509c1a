"""A classifier of scikit-learn's that logs to MLflow by autologging, as users have it."""
import argparse

import mlflow
import numpy as np
from sklearn.linear_model import LogisticRegression

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
seed = parser.parse_args().seed
mlflow.set_experiment("sklearn")
mlflow.sklearn.autolog(log_models=False, log_datasets=False)
table = np.loadtxt("digits.csv", delimiter=",")
order = np.random.default_rng(seed).permutation(len(table))
pixels, digits = table[order, :-1] / 16, table[order, -1].astype(int)
with mlflow.start_run():
    mlflow.log_param("seed", seed)
    model = LogisticRegression(C=0.1, max_iter=100).fit(pixels[:1400], digits[:1400])
    mlflow.log_metric("test_accuracy", model.score(pixels[1400:], digits[1400:]))
    np.savez("weights.npz", coef=model.coef_, intercept=model.intercept_)
    mlflow.log_artifact("weights.npz")
