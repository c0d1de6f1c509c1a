"""Logs one run by a real library, as an unchanged program does, and reads it back by that library.

tracker_logs.py mlflow|wandb|inspect, in an empty folder. Prints one JSON object: by the path of a log,
[[step, value], ...] of each metric; {} where the library is not installed. Numbers that are not finite
are texts.
"""
import json
import math
import os
import sys

VALUES = [1.0 / 3.0, 2.5e-7, float("nan"), float("inf"), -4.0, 0.1]


def number(value):
    if abs(value) == sys.float_info.max:  # which MLflow's databases have for an infinity
        value = math.copysign(math.inf, value)
    return float(value) if math.isfinite(value) else repr(float(value))


def history_of(client, run):
    keys = [key for key in client.get_run(run).data.metrics if not key.startswith("system/")]
    return {key: [[point.step, number(point.value)] for point in
                  sorted(client.get_metric_history(run, key), key=lambda one: (one.step, one.timestamp))]
            for key in keys}


def mlflow_logs():
    import mlflow
    logs = {}
    for store in ("", "sqlite:///other/x.db", "file:" + os.path.abspath("files")):
        os.makedirs("other", exist_ok=True)
        os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
        if store:
            mlflow.set_tracking_uri(store)
        with mlflow.start_run() as run:
            for step, value in enumerate(VALUES):
                mlflow.log_metric("train/loss", value, step=step)
                mlflow.log_metric("system/cpu", 5.0, step=step)
            mlflow.log_metric("final", 0.5)
            mlflow.log_metrics({"a": 1e308, "b b": -1.0}, step=3)
        read = history_of(mlflow.tracking.MlflowClient(), run.info.run_id)
        default = "mlflow.db" if os.path.exists("mlflow.db") else "mlruns"
        logs[{"": default, "sqlite:///other/x.db": "other/x.db"}.get(store, "files")] = read
    return logs


def wandb_logs():
    os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true", WANDB_API_KEY="x" * 40)
    import wandb
    run = wandb.init(project="p")
    for step, value in enumerate(VALUES):
        run.log({"train/loss": value, "nested": {"a": step}, "note": "text"}, step=2 * step)
    run.finish()
    # No version has a reader of an offline run's history for its users.
    return {"wandb": {"train/loss": [[2 * step, number(value)] for step, value in enumerate(VALUES)],
                      "nested.a": [[2 * step, float(step)] for step in range(len(VALUES))]}}


def inspect_logs():
    class Encoding:  # the real one is downloaded
        def encode(self, text, **_):
            return text.split()
        encode_ordinary = encode
    try:
        import tiktoken
        tiktoken.get_encoding = tiktoken.encoding_for_model = lambda name: Encoding()
    except ImportError:
        pass
    from inspect_ai import Task, eval as evaluate, task
    from inspect_ai.dataset import Sample
    from inspect_ai.log import read_eval_log
    from inspect_ai.scorer import includes, match
    from inspect_ai.solver import generate

    @task
    def hello():
        samples = [Sample(input="a", target="Default output"), Sample(input="b", target="x"),
                   Sample(input="c", target="output")]
        return Task(dataset=samples, solver=[generate()], scorer=[match(), includes()])
    logs = {}
    for form in ("eval", "json"):
        evaluate(hello(), model="mockllm/model", display="none", log_format=form, log_dir=form)
        log = read_eval_log(os.path.join(form, os.listdir(form)[0]))
        logs[form] = {f"{log.eval.task}/{score.name}/{name}": [[0, number(metric.value)]]
                      for score in log.results.scores for name, metric in score.metrics.items()}
    return logs


def main():
    try:
        logs = {"mlflow": mlflow_logs, "wandb": wandb_logs, "inspect": inspect_logs}[sys.argv[1]]()
    except ModuleNotFoundError:
        logs = {}
    print(json.dumps(logs))


main()
