"""register RUN | show RUN | fetch RUN PATH TO: what a test asks of the server in MLFLOW_TRACKING_URI."""
import json
import shutil
import sys
from pathlib import Path

import mlflow

client = mlflow.MlflowClient()
verb, run = sys.argv[1:3]
info = client.get_run(run)
if verb == "register":
    client.create_registered_model(run)
    client.create_model_version(run, info.info.artifact_uri, run_id=run)
elif verb == "fetch":
    place = Path(sys.argv[4]) / sys.argv[3]
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(mlflow.artifacts.download_artifacts(run_id=run, artifact_path=sys.argv[3]), place)
else:
    tags = {name: value for name, value in info.data.tags.items() if name.startswith("rharness.")}
    aliases = client.get_registered_model(run).aliases
    print(json.dumps({"tags": tags, "reproduced": info.data.metrics.get("rharness.reproduced"), "aliases": aliases}))
