"""Trains a classifier of digits and knows nothing of MLflow: a rerun needs this file and the data.

train.py DATA.csv SEED: writes model.safetensors and metrics.json to the current folder.
"""
import json
import struct
import sys

import numpy as np
from sklearn.linear_model import SGDClassifier


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, values in sorted(tensors.items()):
        raw = np.ascontiguousarray(values, dtype="<f8").tobytes()
        header[name] = {"dtype": "F64", "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


def main():
    table = np.loadtxt(sys.argv[1], delimiter=",")
    pixels, digits = table[:, :-1] / 16.0, table[:, -1].astype(int)
    split = len(table) * 4 // 5
    model = SGDClassifier(loss="log_loss", max_iter=30, tol=None, random_state=int(sys.argv[2]))
    model.fit(pixels[:split], digits[:split])
    accuracy = model.score(pixels[split:], digits[split:])
    write_safetensors("model.safetensors", {"coef": model.coef_, "intercept": model.intercept_})
    with open("metrics.json", "w", encoding="utf-8") as out:
        json.dump({"metrics": {"test_accuracy": accuracy}}, out)


main()
