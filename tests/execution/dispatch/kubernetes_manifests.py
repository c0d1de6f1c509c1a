"""Holds manifests to the schemas of Kubernetes' releases (kubernetes-validate has them) and of Argo Workflows (hera's
models are made of them). Prints a line a manifest; an unknown member is an error. Usage: kubernetes_manifests.py JOBS"""

import json
import pathlib
import sys

import hera.workflows.models as argo
import kubernetes_validate
import yaml

HERE = pathlib.Path("scenarios/ci/kubernetes")
NEWEST = kubernetes_validate.latest_version()
failed = 0


def told(what, check):
    global failed
    try:
        check()
        print(f"ok      {what}")
    except Exception as error:  # each of the libraries has its own
        failed += 1
        print(f"FAILED  {what}: {error}")


def valid(thing, release):
    kubernetes_validate.validate(thing, release, strict=True)


def round_trip(thing):
    model = argo.WorkflowTemplate.model_validate(thing)
    back = model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)
    if back != thing:
        raise ValueError(f"is read as {back}")


def must_fail(check):
    try:
        check()
    except Exception:
        return
    raise ValueError("was taken, and should not have been")


for name in ["pod-template", "rights", "cronjob"]:
    for number, thing in enumerate(yaml.safe_load_all((HERE / f"{name}.yaml").read_text())):
        for release in ["1.25", "1.30", NEWEST]:
            told(f"{name}.yaml {thing['kind']} {release}", lambda: valid(thing, release))
workflow = yaml.safe_load((HERE / "workflow-template.yaml").read_text())
told("workflow-template.yaml", lambda: round_trip(workflow))
for name, releases in {"indexed": ["1.29", "1.30", NEWEST], "plain": ["1.25", "1.28"], "queued": ["1.27", "1.30", NEWEST],
                       "by_log": ["1.25", "1.30", NEWEST], "gang": ["1.25", "1.30", NEWEST],
                       "old_gang": ["1.25"]}.items():
    for job in json.loads((pathlib.Path(sys.argv[1]) / f"{name}.json").read_text())["items"]:
        for release in releases:
            told(f"{job['kind']} {job['metadata']['name']} ({name}) {release}", lambda: valid(job, release))
# That this can fail: a member that nobody knows, in each.
wrong = json.loads((pathlib.Path(sys.argv[1]) / "plain.json").read_text())["items"][0]
wrong["spec"]["completionMood"] = "Indexed"
told("a Job with a member that nobody knows is refused", lambda: must_fail(lambda: valid(wrong, "1.30")))
secret = json.loads((pathlib.Path(sys.argv[1]) / "by_log.json").read_text())["items"][0]
secret["stringDatum"] = {}
told("so is a Secret", lambda: must_fail(lambda: valid(secret, "1.30")))
workflow["spec"]["entrypont"] = "drill"
told("so is a WorkflowTemplate", lambda: must_fail(lambda: round_trip(workflow)))
sys.exit(1 if failed else 0)
