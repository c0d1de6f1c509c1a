"""An MLflow server that remembers what is written: fake_registry.py MODE PORT_FILE STATE_FILE

STATE_FILE holds, as JSON, {"runs": {ID: {"deleted": false, "tags": {}, "metrics": []}}, "models":
{NAME: {"versions": {"1": {"run_id": ID, "uri": "...", "model_id": "m-1"}}, "aliases": {}}}, "files": {PATH: TEXT},
"writes": []}; each write is entered there, and the file is written anew.

Modes: good; forbidden (403 to writes); broken (500); slow (every answer after 20 s); redirect; html;
half (500 to writes of the run "bad"); unseen (each first write is done and answered with 500).
"""
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, unquote, urlparse

MODE, PORT_FILE, STATE_FILE = sys.argv[1:4]
with open(STATE_FILE, encoding="utf-8") as source:
    STATE = json.load(source)
seen = set()


class Refusal(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def keep():
    with open(STATE_FILE + ".new", "w", encoding="utf-8") as out:
        json.dump(STATE, out)
    os.rename(STATE_FILE + ".new", STATE_FILE)


def run_of(run_id):
    if run_id not in STATE["runs"]:
        raise Refusal(404, f"Run with id={run_id} not found")
    return STATE["runs"][run_id]


def model_of(name):
    if name not in STATE["models"]:
        raise Refusal(404, f"Registered Model with name={name} not found")
    return STATE["models"][name]


def version_of(name, number):
    versions = model_of(name)["versions"]
    if number not in versions:
        raise Refusal(404, f"Model Version (name={name}, version={number}) not found")
    return {"name": name, "version": number, "run_id": versions[number]["run_id"],
            "model_id": versions[number].get("model_id", "")}


def versions(wanted):
    field, value = wanted.replace("'", "").split("=", 1)
    found = []
    for name, model in STATE["models"].items():
        for number in model["versions"]:
            one = version_of(name, number)
            if one[field] == value:
                found.append(one)
    return {"model_versions": sorted(found, key=lambda one: -int(one["version"]))}


def listed(folder):
    names = {}
    for path in STATE.get("files", {}):
        if path.startswith(folder + "/"):
            rest = path[len(folder) + 1:]
            names[rest.split("/")[0]] = "/" in rest
    return {"files": [{"path": name, "is_dir": is_dir} for name, is_dir in names.items()]}


def read(call, query):
    if call == "runs/get":
        run = run_of(query["run_id"])
        return {"run": {"info": {"run_id": query["run_id"],
                                 "lifecycle_stage": "deleted" if run.get("deleted") else "active"},
                        "data": {"tags": [{"key": k, "value": v} for k, v in run["tags"].items()]}}}
    if call == "metrics/get-history":
        return {"metrics": [one for one in run_of(query["run_id"])["metrics"]
                            if one["key"] == query["metric_key"]]}
    if call == "model-versions/search":
        return versions(query["filter"])
    if call == "model-versions/get":
        return {"model_version": version_of(query["name"], query["version"])}
    if call == "model-versions/get-download-uri":
        version_of(query["name"], query["version"])
        return {"artifact_uri": STATE["models"][query["name"]]["versions"][query["version"]]["uri"]}
    if call == "registered-models/get":
        aliases = model_of(query["name"])["aliases"]
        return {"registered_model": {"name": query["name"], "aliases": [
            {"alias": alias, "version": number} for alias, number in aliases.items()]}}
    raise Refusal(404, "no such call")


def write(method, call, body):
    if call == "runs/set-tag":
        run_of(body["run_id"])["tags"][body["key"]] = body["value"]
    elif call == "runs/log-metric":
        run_of(body["run_id"])["metrics"].append(body)
    elif call == "registered-models/alias" and method == "POST":
        version_of(body["name"], body["version"])
        model_of(body["name"])["aliases"][body["alias"]] = body["version"]
    elif call == "registered-models/alias" and method == "DELETE":
        model_of(body["name"])["aliases"].pop(body["alias"], None)
    else:
        raise Refusal(404, "no such call")
    STATE["writes"].append([method, call, body])
    keep()


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

    def refuse(self, code, message):
        self.send(code, json.dumps({"error_code": "X", "message": message}).encode())

    def answer(self, body):
        url = urlparse(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        files = "/api/2.0/mlflow-artifacts/artifacts"
        if url.path == files:
            return self.send(200, json.dumps(listed(query["path"])).encode())
        if url.path.startswith(files + "/"):
            text = STATE["files"].get(unquote(url.path[len(files) + 1:]))
            if text is None:
                raise Refusal(404, "no such artifact")
            return self.send(200, text.encode(), "application/octet-stream")
        call = url.path.rsplit("/mlflow/", 1)[-1]
        if self.command == "GET":
            return self.send(200, json.dumps(read(call, query)).encode())
        if MODE == "forbidden":
            raise Refusal(403, "Permission denied: " + str(self.headers.get("Authorization")))
        if MODE == "half" and body.get("run_id") == "bad":
            raise Refusal(500, "disk full")
        write(self.command, call, body)
        if MODE == "unseen" and (call, str(body)) not in seen:
            seen.add((call, str(body)))
            raise Refusal(500, "done, and not said")
        return self.send(200, b"{}")

    def do_GET(self):
        length = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(length)
        if MODE == "slow":
            time.sleep(20)
        if MODE == "broken":
            return self.send(500, b"oops")
        if MODE == "html":
            return self.send(200, b"<html>sign in</html>", "text/html")
        if MODE == "redirect":
            return self.send(302, b"", Location="http://127.0.0.1:1/elsewhere")
        try:
            return self.answer(json.loads(text) if text else {})
        except Refusal as refusal:
            return self.refuse(refusal.code, str(refusal))
        except BrokenPipeError:
            return None

    do_POST = do_DELETE = do_GET


server = HTTPServer(("127.0.0.1", 0), Handler)
with open(PORT_FILE + ".new", "w", encoding="utf-8") as out:
    out.write(str(server.server_port))
os.rename(PORT_FILE + ".new", PORT_FILE)
server.serve_forever()
