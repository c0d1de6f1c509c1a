"""A model gets into MLflow's registry only if its training can be repeated.

pipeline.py MODEL FOLDER, with MLFLOW_TRACKING_URI set and `rharness` on PATH (or RHARNESS set): trains in FOLDER
and logs the run; imports it, says what MLflow does not record, drills it, writes the verdict back; and registers
it if `rharness check --registry` admits it. Ends with rharness's exit code where it does not.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import mlflow

HERE = Path(__file__).resolve().parent
SEED = "7"


def rharness(*words):
    print("$ rharness", *words, flush=True)
    return subprocess.run([os.environ.get("RHARNESS", "rharness"), *words], check=False).returncode


def must(*words):
    if code := rharness(*words):
        sys.exit(code)


def train(train_command):
    mlflow.set_experiment("digits")
    with mlflow.start_run() as run:
        mlflow.log_param("max_iter", 30)
        subprocess.run(train_command, check=True)
        mlflow.log_metrics(json.loads(Path("metrics.json").read_text(encoding="utf-8"))["metrics"])
        mlflow.log_artifact("model.safetensors")
    return run.info


def main():
    model, folder = sys.argv[1], Path(sys.argv[2])
    server = os.environ["MLFLOW_TRACKING_URI"]
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "train.py", folder)
    shutil.copy(HERE.parent / "data" / "digits.csv", folder)
    os.chdir(folder)
    command = [sys.executable, "train.py", "digits.csv", SEED]
    info = train(command)
    manifest = f"runs/mlflow-{info.run_id}.json"
    must("import", server, "--run", info.run_id, "--out", "runs")
    must("import", "--complete", manifest, "--root", ".", "--repository", ".", "--code-file", "train.py", "--data", "digits.csv",
         "--seed", "init=" + SEED, "--weights", "model.safetensors", "--metrics", "metrics.json",
         "--metric", "test_accuracy,direction=higher,margin=0.01,primary", "--determinism", "bitwise",
         "--here", "--", *command)
    must("history", "add", "--history", "runs.db", "runs")
    rharness("drill", "--history", "runs.db", "--out", "drill-" + info.run_id)
    must("report", "drill-" + info.run_id, "--to", "mlflow=" + server)
    must("check", "--registry", server, "--run", info.run_id, "--history", "runs.db", "--max-age", "1d")
    client = mlflow.MlflowClient()
    if not client.search_registered_models(f"name = '{model}'"):
        client.create_registered_model(model)
    version = client.create_model_version(model, info.artifact_uri, run_id=info.run_id)
    must("check", "--registry", server, "--model", model, "--version", str(version.version), "--history", "runs.db")
    print(f"registered {model} version {version.version}")


main()
