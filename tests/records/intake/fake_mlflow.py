"""A server that answers as MLflow's, or as it should not: fake_mlflow.py MODE PORT_FILE LOG_FILE

Modes: good, flaky (every first request of a path fails with 503), broken (500), html, redirect,
endless (a next page for ever), overlong (an artifact that goes on behind its stated size),
crowded (a run with 100,003 artifacts), denied (401 unless "Bearer s3cret"), models (the run has logged models,
as servers of MLflow 3 tell them), modelless (their list fails).
"""
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlparse

MODE, PORT_FILE, LOG_FILE = sys.argv[1:4]
RUN = {
    "info": {
        "run_id": "abc",
        "experiment_id": "1",
        "status": "FINISHED",
        "start_time": "1700000000000",
        "end_time": 1700000060000,
        "lifecycle_stage": "active",
        "artifact_uri": "mlflow-artifacts:/1/abc/artifacts",
    },
    "data": {
        "params": [{"key": "lr", "value": "0.1"}],
        "tags": [{"key": "mlflow.source.git.commit", "value": "8f1d0c2b6a7e4d3c9b5a1f0e2d4c6b8a7f9e1d3c"}],
        "metrics": [{"key": "acc", "value": 0.5, "timestamp": 1, "step": 1}],
    },
}
DELETED = {"info": {"run_id": "gone", "experiment_id": "1", "lifecycle_stage": "deleted"}, "data": {}}


def model(model_id, name, run_id, status="LOGGED_MODEL_READY"):
    return {"info": {"model_id": model_id, "experiment_id": "1", "name": name, "source_run_id": run_id,
                     "creation_timestamp_ms": "17", "status": status,
                     "artifact_uri": f"mlflow-artifacts:/1/models/{model_id}/artifacts"},
            "data": {"metrics": [{"key": "acc", "value": 0.5, "run_id": run_id, "dataset_name": "test",
                                  "dataset_digest": "d1"}]}}


# "hinted" names the run, whose outputs do not name it; "far" is of another experiment; "lost" was deleted.
MODELS = [model("m-one", "clf", "abc"), model("m-hinted", "hinted", "abc"), model("m-other", "clf", "another"),
          model("m-failed", "failed", "abc", "LOGGED_MODEL_UPLOAD_FAILED"), model("m-evil", "../evil", "abc")]
if MODE in ("models", "modelless"):
    RUN["outputs"] = {"model_outputs": [{"model_id": name, "step": 0} for name in
                                        ("m-one", "m-failed", "m-far", "m-lost", "m-evil")]}
    RUN["inputs"] = {"dataset_inputs": [{"dataset": {"name": "test", "digest": "d1"}}]}
seen = set()


def answer(path, query):
    name = path.rsplit("/mlflow/", 1)[-1]
    if name == "experiments/search":
        return {"experiments": [{"experiment_id": "1", "name": "digits"}]}
    if name == "runs/search":
        page = {"runs": [RUN, DELETED]}
        if MODE == "endless":
            page["next_page_token"] = "again"
        return page
    if name == "metrics/get-history":
        if "page_token" in query:
            return {"metrics": [{"key": "acc", "value": "NaN", "timestamp": 2, "step": "2"}]}
        return {"metrics": [{"key": "acc", "value": 0.5, "timestamp": 1, "step": 1}], "next_page_token": "2"}
    if name == "artifacts/list" and MODE == "crowded":
        return {"files": [{"path": f"f{i}"} for i in range(100_003)]}
    if name == "artifacts/list":
        return {"root_uri": "x", "files": [{"path": "w.bin", "is_dir": False, "file_size": "3"},
                                           {"path": "../evil", "is_dir": False}]}
    if name == "logged-models/search" and MODE == "models":
        return {"models": MODELS}
    if name == "logged-models/m-far" and MODE == "models":
        return {"model": model("m-far", "clf", "elsewhere")}
    if name.endswith("/artifacts/directories") and MODE == "models":
        if "artifact_directory_path" in query:
            return {"files": [{"path": "data/w.bin", "is_dir": False, "file_size": 3}]}
        return {"files": [{"path": "MLmodel", "is_dir": False}, {"path": "data", "is_dir": True}]}
    return None


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def send(self, code, body, kind="application/json", **headers):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        with open(LOG_FILE, "a", encoding="utf-8") as log:
            log.write(f"{self.command} {self.path} {self.headers.get('Authorization')}\n")
        url = urlparse(self.path)
        if MODE == "denied" and self.headers.get("Authorization") != "Bearer s3cret":
            return self.send(401, b'{"error_code": "UNAUTHENTICATED", "message": "who are you"}')
        if MODE == "broken":
            return self.send(500, b"oops")
        if MODE == "html":
            return self.send(200, b"<html>sign in</html>", "text/html")
        if MODE == "redirect":
            return self.send(302, b"", Location="http://127.0.0.1:1/elsewhere")
        if MODE == "modelless" and "logged-models" in url.path:
            return self.send(403, b"no")
        if MODE == "flaky" and url.path not in seen:
            seen.add(url.path)
            return self.send(503, b"busy")
        if MODE == "overlong" and "/mlflow-artifacts/" in url.path:
            return self.send(200, b"x" * 100_000, "application/octet-stream")
        if url.path.startswith("/api/2.0/mlflow-artifacts/artifacts/"):
            return self.send(200, b"abc", "application/octet-stream")
        body = answer(url.path, parse_qs(url.query))
        if body is None:
            return self.send(404, b'{"error_code": "ENDPOINT_NOT_FOUND"}')
        return self.send(200, json.dumps(body).encode())

    do_POST = do_GET


server = HTTPServer(("127.0.0.1", 0), Handler)
with open(PORT_FILE + ".new", "w", encoding="utf-8") as out:
    out.write(str(server.server_port))
os.rename(PORT_FILE + ".new", PORT_FILE)
server.serve_forever()
