"""What is planted: changes of files, and edits of the programs that more than one case has.

Role: functions that make a change of (tree, site): the folder that a run is in, and one beside it.
"""

import os
import sys


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def swap(name, old, new):
    """A change of a file in the tree: a text for another, which must be there."""

    def change(tree, _):
        text = (tree / name).read_text(encoding="utf-8")
        if old not in text:
            sys.exit(f"{name}: {old!r} is not there")
        put(tree / name, text.replace(old, new, 1))

    return change


def rows(rule, name="digits.csv"):
    """A change of the lines of a file: what `rule` makes of their list."""
    return lambda tree, _: put(tree / name, "\n".join(rule((tree / name).read_text().splitlines())) + "\n")


def both(*changes):
    def change(tree, site):
        for one in changes:
            one(tree, site)

    return change


def package(name, version, text):
    """What installs a package in site/packages, in place of another version of it."""

    def change(_, site):
        folder = site / "packages"
        for old in folder.glob(f"{name}-*.dist-info/*"):
            old.unlink()
        for old in folder.glob(f"{name}-*.dist-info"):
            old.rmdir()
        put(folder / name / "__init__.py", f'__version__ = "{version}"\n{text}')
        put(folder / f"{name}-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        put(folder / f"{name}-{version}.dist-info/RECORD", f"{name}/__init__.py,,\n")

    return change


def retime(folder):
    """The same files, written in another order."""

    def change(tree, _):
        for age, path in enumerate(sorted((tree / folder).iterdir(), reverse=True)):
            os.utime(path, (1_700_000_000 + age, 1_700_000_000 + age))

    return change


def shard(folder, number=4):
    """Makes a folder of the first 200 lines of the data, in `number` files, whose times are in their order."""

    def prepare(tree, _):
        lines = (tree / "digits.csv").read_text().splitlines()[:200]
        for part in range(number):
            put(tree / folder / f"part-{part}.csv", "\n".join(lines[part::number]) + "\n")
            os.utime(tree / folder / f"part-{part}.csv", (1_600_000_000 + part,) * 2)

    return prepare


def write(name, text):
    """A file beside the tree."""
    return lambda _, site: put(site / name, text)


SHARDS = [("digits.load(options.data)", """(lambda parts: ([x for p in parts for x in p[0]], [y for p in parts for y in p[1]]))(
        [digits.load(path) for path in sorted(pathlib.Path("shards").iterdir(), key=lambda path: path.stat().st_mtime)])""")]
IN_SHARDS = {"edits": SHARDS, "data": ("shards=shards", "digits=digits.csv"), "prepare": shard("shards")}
NOISE = [("batch = pixels[rows]", "batch = pixels[rows] + noise.normal(0, 0.05, (len(rows), digits.FEATURES))"),
         ("    squares = ", "    noise = np.random.default_rng()\n    squares = ")]
SCALED = ("w1 = rng.normal(0, 0.1,", 'w1 = rng.normal(0, 0.1 * float(os.environ.get("INIT_SCALE", "1")),')


def flip_label(lines):
    return [*lines[:2], lines[2].rsplit(",", 1)[0] + ",3", *lines[3:]]
