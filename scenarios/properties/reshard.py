"""Saves a checkpoint again: model.pt as safetensors shards behind an index, or shards as one model.pt.

Usage: reshard.py split model.pt FOLDER, reshard.py join FOLDER joined.pt. With --through-bf16 the values
lose half of their bits on the way, as they do where a tool casts silently. Exit status: 77 without PyTorch.
"""

import argparse
import json
import pathlib
import struct
import sys

PARSER = argparse.ArgumentParser()
PARSER.add_argument("way", choices=("split", "join"))
PARSER.add_argument("source", type=pathlib.Path)
PARSER.add_argument("target", type=pathlib.Path)
PARSER.add_argument("--through-bf16", action="store_true")
OPTIONS = PARSER.parse_args()
try:
    import numpy
    import torch
except ImportError as error:
    print(f"cannot be done here: {error}", file=sys.stderr)
    sys.exit(77)


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        content = tensor.contiguous().numpy().astype("<f4").tobytes()
        offsets = [len(data), len(data) + len(content)]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": offsets}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    data = content[8 + length :]
    tensors = {}
    for name, entry in json.loads(content[8 : 8 + length]).items():
        begin, end = entry["data_offsets"]
        values = numpy.frombuffer(data[begin:end], dtype="<f4").reshape(entry["shape"])
        tensors[name] = torch.from_numpy(values.copy())
    return tensors


if OPTIONS.way == "split":
    OPTIONS.target.mkdir(parents=True, exist_ok=True)
    places = {}
    for number, (name, tensor) in enumerate(sorted(torch.load(OPTIONS.source).items()), start=1):
        shard = f"model-{number:05d}.safetensors"
        places[name] = shard
        write_safetensors(OPTIONS.target / shard, {name: tensor})
    index = {"metadata": {}, "weight_map": places}
    (OPTIONS.target / "model.safetensors.index.json").write_text(json.dumps(index))
else:
    weight_map = json.loads((OPTIONS.source / "model.safetensors.index.json").read_text())["weight_map"]
    joined = {}
    for shard in sorted(set(weight_map.values())):
        joined.update(read_safetensors(OPTIONS.source / shard))
    if OPTIONS.through_bf16:
        joined = {name: tensor.bfloat16().float() for name, tensor in joined.items()}
    torch.save(joined, OPTIONS.target)
