"""Makes the tables that this folder's tests read: make_tables.py FOLDER (deltalake 1.6, pyarrow 26)

FOLDER/table: written by delta-rs: appends, a checkpoint, a delete that rewrites files, an overwrite.
FOLDER/forms: the log of its version 2 alone, with the checkpoint in every form that a writer may give it.
FOLDER/files.txt: of each version the files that delta-rs sees, one a line: VERSION SIZE PATH.
"""
import json
import os
import shutil
import sys
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable, write_deltalake

folder = sys.argv[1]
shutil.rmtree(folder, ignore_errors=True)
table = os.path.join(folder, "table")
log = os.path.join(table, "_delta_log")


def rows(start):
    return pa.table({"a": list(range(start, start + 6)), "p": ["x y", "50%", "plain"] * 2})


for start in (0, 6, 12):  # three partitions each: nine files
    write_deltalake(table, rows(start), mode="append", partition_by=["p"])
DeltaTable(table).create_checkpoint()
DeltaTable(table).delete("a = 3")
write_deltalake(table, rows(18), mode="append", partition_by=["p"])
write_deltalake(table, rows(24), mode="overwrite", partition_by=["p"])

with open(os.path.join(folder, "files.txt"), "w") as out:
    for version in range(6):
        adds = pa.table(DeltaTable(table, version=version).get_add_actions())
        # delta-rs says paths as they stand in the log: URLs.
        paths = [unquote(path) for path in adds["path"].to_pylist()]
        for path, size in sorted(zip(paths, adds["size_bytes"].to_pylist())):
            assert os.path.getsize(os.path.join(table, path)) == size
            out.write(f"{version} {size} {path}\n")

NAME = "00000000000000000002.checkpoint"
checkpoint = pq.read_table(os.path.join(log, NAME + ".parquet"), columns=["protocol", "metaData", "add", "remove"])


def put(form, files, rest=()):
    place = os.path.join(folder, "forms", form, "_delta_log")
    os.makedirs(place)
    for name, content, options in files:
        os.makedirs(os.path.dirname(os.path.join(place, name)), exist_ok=True)
        pq.write_table(content, os.path.join(place, name), **options)
    for name, text in rest:
        with open(os.path.join(place, name), "w") as out:
            out.write(text)


plain = {"use_dictionary": False}
leaves = pq.ParquetFile(os.path.join(log, NAME + ".parquet")).schema
kinds = {leaves.column(i).path: leaves.column(i).physical_type for i in range(len(leaves.names))}
delta = {path: "DELTA_BINARY_PACKED" for path, kind in kinds.items() if kind.startswith("INT")}
lengths = {p: "DELTA_LENGTH_BYTE_ARRAY" for p, kind in kinds.items() if kind == "BYTE_ARRAY"}
prefixes = {p: "DELTA_BYTE_ARRAY" for p, kind in kinds.items() if kind == "BYTE_ARRAY"}
for form, options in {
    "uncompressed": {"compression": "none"},
    "snappy": {"compression": "snappy"},
    "zstd": {"compression": "zstd"},
    "gzip": {"compression": "gzip"},
    "brotli": {"compression": "brotli"},
    "plain": {"compression": "none", **plain},
    "pages_2": {"compression": "snappy", "data_page_version": "2.0"},
    "small_pages": {"compression": "zstd", "data_page_size": 64, "write_batch_size": 2},
    "row_groups": {"compression": "snappy", "row_group_size": 3},
    "delta_lengths": {"compression": "none", **plain, "column_encoding": {**delta, **lengths}},
    "delta_prefixes": {"compression": "snappy", **plain, "data_page_version": "2.0",
                       "column_encoding": {**delta, **prefixes}},
}.items():
    put(form, [(NAME + ".parquet", checkpoint, options)])

third = checkpoint.num_rows // 3 + 1
put("parts", [(f"{NAME}.{i + 1:010}.0000000003.parquet", checkpoint.slice(i * third, third), {}) for i in range(3)])

is_file = pc.or_(pc.is_valid(checkpoint["add"]), pc.is_valid(checkpoint["remove"]))
sidecars = ["part-1.parquet", "part-2.parquet"]
files = checkpoint.filter(is_file).select(["add", "remove"])
half = files.num_rows // 2
beside = [("_sidecars/" + sidecars[0], files.slice(0, half), {}), ("_sidecars/" + sidecars[1], files.slice(half), {})]
others = checkpoint.filter(pc.invert(is_file))
UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"
said = [{"sidecar": {"path": name, "sizeInBytes": 1, "modificationTime": 1, "tags": None}} for name in sidecars]

# Its own schema: one that says "never null" of what is below a null is refused by the writer.
loose = [("protocol", pa.struct([("minReaderVersion", pa.int32()), ("readerFeatures", pa.list_(pa.string()))])),
         ("metaData", pa.struct([("id", pa.string())])),
         ("add", pa.struct([("path", pa.string()), ("size", pa.int64())])),
         ("sidecar", pa.struct([("path", pa.string()), ("sizeInBytes", pa.int64())]))]
top = pa.Table.from_pylist(
    [{"protocol": {"minReaderVersion": 3, "readerFeatures": ["deletionVectors", "v2Checkpoint"]}},
     {"metaData": {"id": DeltaTable(table).metadata().id}}, *said], schema=pa.schema(loose))
put("v2_parquet", [(f"{NAME}.{UUID}.parquet", top, {}), *beside])
lines = [{"checkpointMetadata": {"version": 2}},
         {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["v2Checkpoint"],
                       "writerFeatures": ["v2Checkpoint"]}},
         {"metaData": [m for m in others["metaData"].to_pylist() if m][0]}, *said]
lines[2]["metaData"].update(configuration={}, format={"provider": "parquet", "options": {}})
put("v2_json", beside, [(f"{NAME}.{UUID}.json", "".join(json.dumps(line) + "\n" for line in lines))])
