"""Runs a training program that logs to MLflow, as it is, so that a drill can rerun it.

rerun.py PROGRAM.py ARGUMENT...: what the program logs goes to a store in the current folder and to no server, also
where the program names one. Afterwards its metrics are in metrics.json (the last value of each, and those of several
steps as curves), and each artifact at the path that it has at MLflow, and each file of a logged model below the model's
name, unless the program left a file there itself.
Ends as the program does. A program that logs several runs, none of them the parent of all others, is refused.

    rharness import --complete runs/mlflow-3f2a.json --data rerun.py --metrics metrics.json ... -- python3 rerun.py train.py --seed 0
"""
import json
import math
import os
import runpy
import shutil
import sys
from pathlib import Path

STORE = Path.cwd() / "mlruns"
os.environ.update(MLFLOW_TRACKING_URI=STORE.as_uri(), MLFLOW_ALLOW_FILE_STORE="true", DO_NOT_TRACK="true")
for name in ("MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_ID", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_REGISTRY_URI"):
    os.environ.pop(name, None)

import mlflow  # noqa: E402  (after its settings)


def keep_here():
    """A program's own server is not asked: a rerun is no run of its experiment."""
    def ignored(uri, *_, **__):
        print(f"rerun.py: logs to {STORE}, not to {uri}", file=sys.stderr)
    for module in (mlflow, mlflow.tracking):
        module.set_tracking_uri = ignored
        module.set_registry_uri = ignored


def run_program(words):
    sys.argv = words
    sys.path[0] = str(Path(words[0]).resolve().parent)
    try:
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    return 0


def only_run(client):
    experiments = [one.experiment_id for one in client.search_experiments()]
    runs = client.search_runs(experiments)
    roots = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    if len(roots) != 1:
        sys.exit(f"rerun.py: the program logged {len(roots)} runs that have no parent; expected one")
    return roots[0]


def number(value):
    if math.isnan(value):
        return "nan"
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def write_metrics(client, run):
    metrics, curves = {}, {}
    for name in run.data.metrics:
        if name.startswith("system/"):
            continue
        points = sorted(client.get_metric_history(run.info.run_id, name), key=lambda one: (one.step, one.timestamp))
        metrics[name] = number(points[-1].value)
        if len(points) > 1:
            curves[name] = {"steps": [one.step for one in points], "values": [number(one.value) for one in points]}
    with open("metrics.json", "w", encoding="utf-8") as out:
        json.dump({"metrics": metrics, "curves": curves}, out)


def lay_out(root, below=Path()):
    for path in sorted(root.rglob("*")):
        place = below / path.relative_to(root)
        if path.is_file() and not path.is_symlink() and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)


def lay_out_models(client, run):
    """MLflow 3 keeps a logged model outside of the run's artifacts. Of several of a name the last one has it."""
    outputs = getattr(getattr(run, "outputs", None), "model_outputs", None) or []
    models = [client.get_logged_model(one.model_id) for one in outputs]
    for model in sorted(models, key=lambda one: one.creation_timestamp, reverse=True):
        lay_out(STORE / run.info.experiment_id / "models" / model.model_id / "artifacts", model.name)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    keep_here()
    code = run_program(sys.argv[1:])
    if code == 0:
        client = mlflow.MlflowClient(STORE.as_uri())
        run = only_run(client)
        write_metrics(client, run)
        lay_out(STORE / run.info.experiment_id / run.info.run_id / "artifacts")
        lay_out_models(client, run)
    sys.exit(code)


main()
