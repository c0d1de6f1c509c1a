"""Logs a run with models of MLflow 3, which lie outside of its artifacts: mlflow_model.py TRACKING_URI

Prints one JSON object: the run's id, and those of its models. Two share a name.
"""
import json
import sys

import mlflow
import numpy
from sklearn.linear_model import LogisticRegression

mlflow.set_tracking_uri(sys.argv[1])
mlflow.set_experiment("digits")
x, y = numpy.array([[0.0], [1.0], [2.0], [3.0]]), numpy.array([0, 0, 1, 1])
with mlflow.start_run() as run:
    train = mlflow.data.from_numpy(x, targets=y, name="train")
    test = mlflow.data.from_numpy(x + 1, targets=y, name="holdout")
    mlflow.log_input(train, context="training")
    mlflow.log_input(test, context="testing")
    mlflow.log_text("two\nlines\n", "notes.txt")
    models = []
    for c in (1.0, 2.0):
        model = LogisticRegression(C=c).fit(x, y)
        models.append(mlflow.sklearn.log_model(model, name="clf", pip_requirements=["scikit-learn"]).model_id)
    mlflow.log_metric("score", 0.75, dataset=test, model_id=models[-1])
    mlflow.log_metric("loss", 0.5)
print(json.dumps({"run": run.info.run_id, "models": models}))
