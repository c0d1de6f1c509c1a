"""A repository that the real DVC keeps: python dvc_repository.py FOLDER

Data with names and contents that hashes may differ about, a pipeline that ran, two experiments, a
remote that is a folder. Prints what DVC itself says of the old hashes, as JSON.
"""
import json
import os
import subprocess
import sys

from dvc_data.hashfile.hash import file_md5

TRAIN = """import json, sys
params = dict(line.split(": ") for line in open("params.yaml").read().splitlines())
json.dump({"acc": float(params["lr"]) / 4, "deep": {"f1": 0.25}}, open("metrics.json", "w"))
open("model.pkl", "w").write("model " + params["lr"])
open("loss.csv", "w").write("step,loss\\n1,0.5\\n2,%s\\n" % params["lr"])
"""

PIPELINE = """stages:
  train:
    cmd: python3 train.py
    deps: [data, raw.bin, train.py]
    params: [lr, seed]
    outs: [model.pkl]
    metrics: [metrics.json: {cache: false}]
    plots: [loss.csv: {cache: false}]
  copy:
    cmd: cp model.pkl copy.pkl && echo done
    deps: [model.pkl]
    outs: [copy.pkl]
"""

DATA = {
    "data/a-b": b"1",
    "data/a/b": b"2\r\n",
    "data/a.b": b"",
    "data/\u00fcn\u00ef/\u65e5\u672c.txt": b"3\n",
    "data/\U0001f600 \"quoted\" \\ back": b"4",
    "data/.hidden": b"5",
    "data/skipped.tmp": b"ignored",
    "data/keep.tmp": b"6",
    "data/cache/x": b"ignored, too",
    "raw.bin": bytes(range(256)) * 8193,
}

OLD = {
    "crlf.txt": b"a\r\nb\r\n" * 1000,
    "long.txt": b"x" * ((1 << 20) - 1) + b"\r\n" + b"y\r\n" * 9,
    "binary.bin": b"a\r\n\0" * 300,
    "mixed.bin": b"\x01\x01\x01wxyz_\r\n" * 100,
    "empty": b"",
}


def run(*argv):
    environment = dict(os.environ, DVC_NO_ANALYTICS="1", GIT_CONFIG_NOSYSTEM="1")
    for who in ("AUTHOR", "COMMITTER"):
        environment["GIT_%s_NAME" % who] = "n"
        environment["GIT_%s_EMAIL" % who] = "e@x"
    subprocess.run(argv, check=True, env=environment, stdout=sys.stderr)


def dvc(*arguments):
    run(os.path.join(os.path.dirname(sys.executable), "dvc"), *arguments)


def put(files):
    for name, content in files.items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "wb") as file:
            file.write(content)


def main():
    os.chdir(sys.argv[1])
    run("git", "init", "-q")
    dvc("init", "-q")
    dvc("remote", "add", "-q", "-d", "store", os.path.join("..", "store"))
    put({".dvcignore": b"*.tmp\n!keep.tmp\n/data/cache/\n"})
    put(DATA)
    put({"train.py": TRAIN.encode(), "dvc.yaml": PIPELINE.encode(), "params.yaml": b"lr: 1\nseed: 7\n"})
    dvc("add", "-q", "data", "raw.bin")
    dvc("repro", "-q")
    run("git", "add", "-A")
    run("git", "commit", "-q", "-m", "base")
    dvc("exp", "run", "-q", "-n", "two", "-S", "lr=2")
    dvc("exp", "run", "-q", "-n", "three", "-S", "lr=3")
    run("git", "checkout", "-q", ".")
    dvc("checkout", "-q")
    dvc("push", "-q")
    put(OLD)
    lines = ["schema: '2.0'", "stages:", "  old:", "    cmd: 'true'", "    deps:"]
    hashes = {}
    for name in sorted(OLD):
        hashes[name] = file_md5(name, name="md5-dos2unix")
        lines += ["    - path: " + name, "      md5: " + hashes[name], "      size: %d" % len(OLD[name])]
    lines += ["    outs:", "    - path: crlf.copy", "      md5: " + hashes["crlf.txt"]]
    put({"crlf.copy": OLD["crlf.txt"], "old/dvc.lock": "\n".join(lines).replace("path: ", "path: ../").encode()})
    print(json.dumps(hashes))


main()
