"""Writes a data set and, with the real mlcroissant, its description: croissant.py FOLDER"""
import hashlib
import json
import sys
from pathlib import Path

import mlcroissant as mlc

folder = Path(sys.argv[1])
(folder / "data").mkdir(parents=True)
text = b"1,2,3\n4,5,6\n"
(folder / "data" / "train.csv").write_bytes(text)
context = mlc.Context()
metadata = mlc.Metadata(
    ctx=context,
    name="digits",
    description="digits of a test",
    license="https://creativecommons.org/licenses/by/4.0/",
    url="https://example.org/digits",
    version="1.2.0",
    distribution=[
        mlc.FileObject(ctx=context, id="train.csv", name="train.csv", content_url="data/train.csv",
                       encoding_formats=["text/csv"], sha256=hashlib.sha256(text).hexdigest()),
        mlc.FileObject(ctx=context, id="archive", name="images.zip", content_url="https://example.org/images.zip",
                       encoding_formats=["application/zip"], sha256="a" * 64, content_size="12 MB"),
        mlc.FileSet(ctx=context, id="images", name="images", contained_in=["archive"],
                    encoding_formats=["image/png"], includes=["*.png"]),
    ],
)
(folder / "croissant.json").write_text(json.dumps(metadata.to_json(), default=str), encoding="utf-8")
print(mlc.Dataset(jsonld=str(folder / "croissant.json")).metadata.name)
