"""Logs runs by the real MLflow client: mlflow_runs.py TRACKING_URI FOLDER

Prints one JSON object: the ids of the runs by what they are for. FOLDER takes what is uploaded.
"""
import json
import os
import sys

import mlflow
import pandas
from mlflow.tracking import MlflowClient
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier


def train(folder, lr, seed):
    """A classifier on 300 digits, with one point of each curve an epoch."""
    images, labels = load_digits(return_X_y=True)
    frame = pandas.DataFrame(images[:300])
    frame.columns = [f"p{i}" for i in range(frame.shape[1])]
    frame["label"] = labels[:300]
    csv = os.path.join(folder, "digits.csv")
    frame.to_csv(csv, index=False)
    mlflow.log_input(mlflow.data.from_pandas(frame, source=csv, name="digits", targets="label"), context="training")
    mlflow.log_params({"lr": lr, "seed": seed, "epochs": 5, "schedule": "007"})
    model = SGDClassifier(learning_rate="constant", eta0=lr, random_state=seed)
    x, y = frame.drop(columns="label") / 16, frame["label"]
    for epoch in range(5):
        model.partial_fit(x, y, classes=list(range(10)))
        mlflow.log_metric("val/accuracy", model.score(x, y), step=epoch)
        mlflow.log_metric("norm", float((model.coef_ ** 2).sum()), step=epoch)
    mlflow.log_metric("odd", float("nan"))
    mlflow.log_metric("system/gpu_0_utilization_percentage", 50.0, step=1)
    with open(os.path.join(folder, "weights.json"), "w", encoding="utf-8") as out:
        json.dump(model.coef_.tolist(), out)
    mlflow.log_artifact(os.path.join(folder, "weights.json"), "model")
    mlflow.log_text("two\nlines\n", "notes.txt")


def main():
    uri, folder = sys.argv[1:3]
    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment("digits")
    os.makedirs(folder, exist_ok=True)
    ids = {}
    for name, lr in (("good", 0.01), ("child", 0.1), ("deleted", 0.5)):
        nested = {"parent_run_id": ids["good"]} if name == "child" else {}
        with mlflow.start_run(run_name=name, **nested) as run:
            ids[name] = run.info.run_id
            mlflow.set_tag("mlflow.source.git.commit", "8f1d0c2b6a7e4d3c9b5a1f0e2d4c6b8a7f9e1d3c")
            mlflow.set_tag("mlflow.source.git.repoURL", "https://git.example/digits.git")
            train(folder, lr, 7)
    MlflowClient().delete_run(ids["deleted"])
    # The smallest run there is.
    with mlflow.start_run(run_name="empty") as run:
        ids["empty"] = run.info.run_id
    print(json.dumps(ids))


main()
