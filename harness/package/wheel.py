#!/usr/bin/env python3
"""Makes the wheel of what build-wheel holds: the programs as scripts, their parts as data, the module of harness/python.

Usage: wheel.py BUILD OUT

Formats: PEP 427 (wheel), PEP 600 (the platform's tag), core metadata 2.4 (PEP 566, 639). The tag is the newest glibc
that a program asks for, measured; above 2.28 no wheel is made. Two wheels of one commit are equal, byte for byte.
Standard library alone; needs cmake, readelf and dpkg-query.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

NEWEST_GLIBC = 28  # of RHEL 8; measured is less
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Whose archives or headers are in the programs.
PACKAGES = """libarchive-dev libboost-filesystem1.74-dev libcli11-dev libeigen3-dev libfmt-dev libpugixml-dev
libsnappy-dev libsoci-dev libsqlite3-dev libssl-dev libstdc++-12-dev libyaml-cpp-dev libzstd-dev nlohmann-json3-dev
rapidjson-dev zlib1g-dev libc6-dev""".split()
LICENSE = "Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND BSL-1.0 AND MIT AND MPL-2.0 AND Zlib AND blessing AND " \
    "LGPL-2.1-or-later AND (GPL-3.0-or-later WITH GCC-exception-3.1)"
METADATA = """Metadata-Version: 2.4
Name: rharness
Version: {version}
Summary: Reruns recorded training runs and says whether they reproduce
License-Expression: {license}
{files}Keywords: reproducibility,machine learning,training,testing
Classifier: Development Status :: 4 - Beta
Classifier: Environment :: Console
Classifier: Intended Audience :: Science/Research
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Classifier: Framework :: Pytest
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{description}"""
ENTRY_POINTS = """[pytest11]
rharness = rharness.pytest_plugin

[mlflow.run_context_provider]
rharness = rharness.mlflow:RunContext
"""


def fail(text):
    sys.exit("wheel.py: " + text)


def output(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def newest_glibc(files):
    """The minor number of the newest glibc 2.N that one of these programs asks for."""
    newest = 17  # what pip calls manylinux begins there
    for file in files:
        if file.read_bytes()[:4] != b"\x7fELF":
            continue
        listing = output("readelf", "--version-info", "--wide", str(file))
        for minor in re.findall(r"Name: GLIBC_2\.(\d+)", listing):
            newest = max(newest, int(minor))
        if "GLIBC_ABI_DT_RELR" in listing:
            newest = max(newest, 36)
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", "--wide", str(file)))
        for library in needed:
            if not re.match(r"(lib(c|m|dl|rt|pthread)|ld-linux[-a-z0-9_]*)\.so\.\d+$", library):
                fail("%s needs %s, which a system may not have" % (file.name, library))
    return newest


def installed(build, folder):
    """The component `programs`, below folder."""
    subprocess.run(["cmake", "--install", str(build), "--component", "programs", "--prefix", str(folder), "--strip"],
                   check=True, stdout=subprocess.DEVNULL)
    return sorted(file for file in folder.rglob("*") if file.is_file())


def contents(build, stage, version):
    """Names in the wheel, each with its bytes and whether it is a program."""
    entries, info, data = {}, "rharness-%s.dist-info/" % version, "rharness-%s.data/" % version
    files = installed(build, stage)
    for file in files:
        inside = file.relative_to(stage).as_posix()
        place = "scripts/" + inside[4:] if inside.startswith("bin/") else "data/" + inside
        entries[data + place] = (file.read_bytes(), os.access(file, os.X_OK))
    for file in sorted((ROOT / "harness/python/rharness").glob("*.py")):
        text = file.read_bytes()
        if file.name == "__init__.py" and b'__version__ = "%s"' % version.encode() not in text:
            fail("harness/python/rharness/__init__.py has another version than %s" % version)
        entries["rharness/" + file.name] = (text, False)
    licenses = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    for package in PACKAGES:
        copyright_file = pathlib.Path("/usr/share/doc") / package / "copyright"
        if not copyright_file.exists():
            fail("%s is not there: the licence of what is in the programs" % copyright_file)
        licenses["third-party/%s" % re.sub(r"(1\.74)?-dev$", "", package)] = copyright_file.read_bytes()
    for name, text in licenses.items():
        entries[info + "licenses/" + name] = (text, False)
    description = (ROOT / "README.md").read_text("utf-8")
    entries[info + "METADATA"] = (METADATA.format(
        version=version, license=LICENSE, description=description,
        files="".join("License-File: %s\n" % name for name in sorted(licenses))).encode("utf-8"), False)
    entries[info + "entry_points.txt"] = (ENTRY_POINTS.encode("ascii"), False)
    return entries, files


def write(path, entries, info, when):
    """RECORD comes last, as PEP 427 wants it, and lists itself without a digest."""
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        def add(name, content, program):
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whose modes these are
            archive.writestr(entry, content)

        for name, (content, program) in sorted(entries.items(), key=lambda one: (one[0].startswith(info), one[0])):
            add(name, content, program)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode("ascii")
            record.append("%s,sha256=%s,%d" % (name, digest, len(content)))
        record.append(info + "RECORD,,")
        add(info + "RECORD", ("\n".join(record) + "\n").encode("ascii"), False)


def main():
    if len(sys.argv) != 3:
        fail("expected BUILD OUT")
    build, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    version = output(str(build / "bin/rharness"), "--version").strip()
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", str(ROOT), "log", "-1", "--format=%ct").strip()
    when = time.gmtime(max(int(seconds), 315532800))[:6]  # ZIP begins with 1980
    stage = pathlib.Path(tempfile.mkdtemp())
    try:
        entries, files = contents(build, stage, version)
        glibc = newest_glibc(files)
    finally:
        shutil.rmtree(stage)
    if glibc > NEWEST_GLIBC:
        fail("a program needs glibc 2.%d: expected at most 2.%d" % (glibc, NEWEST_GLIBC))
    platforms = ["manylinux_2_%d_%s" % (glibc, os.uname().machine)]
    if glibc == 17:
        platforms.insert(0, "manylinux2014_%s" % os.uname().machine)  # by its name before PEP 600
    info = "rharness-%s.dist-info/" % version
    wheel = "Wheel-Version: 1.0\nGenerator: rharness (%s)\nRoot-Is-Purelib: false\n" % version
    wheel += "".join("Tag: py3-none-%s\n" % platform for platform in platforms)
    entries[info + "WHEEL"] = (wheel.encode("ascii"), False)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("rharness-*.whl"):
        old.unlink()
    path = out / ("rharness-%s-py3-none-%s.whl" % (version, ".".join(platforms)))
    write(path, entries, info, when)
    print("%s: %d KiB" % (path, path.stat().st_size // 1024))


if __name__ == "__main__":
    main()
