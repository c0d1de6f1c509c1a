#!/usr/bin/env python3
"""Counts what a newcomer meets in the source tree: python3 tests/measure_house.py [TREE]...

Prints one column a tree. Rooms are folders of sources; an arrow is a pair of rooms of which one
includes the other. A noun's structs are those of headers with a member of that name. The longest
sentence is that of README.md and the guides, in words, tables and code left out.
"""
import os
import re
import sys


def files_of(tree):
    for folder, folders, names in os.walk(tree):
        folders[:] = [f for f in folders if not f.startswith((".", "build")) and f != "__pycache__"]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), tree)


def text_of(tree, path):
    with open(os.path.join(tree, path), encoding="utf-8", errors="replace") as stream:
        return stream.read()


def structs_with(headers, member):
    structs = 0
    for text in headers:
        for body in re.findall(r"(?ms)^struct \w+[^;{]*\{(.*?)^\};", text):
            structs += bool(re.search(r"(?m)^\s+[\w:<>, ]+ %s\b[^(]*;" % member, body))
    return structs


def longest_sentence(texts):
    longest = 0
    for text in texts:
        text = re.sub(r"(?ms)^```.*?^```", "", text)
        for paragraph in re.split(r"\n\s*\n", text):
            lines = [line for line in paragraph.split("\n") if not line.startswith(("|", "#", "    "))]
            for sentence in re.split(r"(?<=[.:!?])\s", re.sub(r"(?m)^- ", ". ", " \n".join(lines))):
                longest = max(longest, len(sentence.split()))
    return longest


def measure(tree):
    paths = sorted(files_of(tree))
    code = {p: text_of(tree, p) for p in paths if p.endswith((".h", ".cc", ".cu"))}
    ours = {p: t for p, t in code.items() if not p.startswith("tests/")}
    headers = [t for p, t in ours.items() if p.endswith(".h")]
    rooms = sorted({os.path.dirname(p) for p in ours})
    arrows = {
        (os.path.dirname(p), os.path.dirname(to))
        for p, t in ours.items()
        for to in re.findall(r'(?m)^#include "([^"]+)"', t)
        if os.path.dirname(p) != os.path.dirname(to)
    }
    verbs = "".join(t for p, t in ours.items() if p.startswith("harness/cli/"))
    documents = [p for p in paths if p == "README.md" or p.endswith("GUIDE.md")]
    lines = lambda chosen: sum(t.count("\n") for t in chosen)
    return {
        "files": len(paths),
        "lines of C++ and CUDA": lines(ours.values()),
        "lines of tests": lines(t for p, t in code.items() if p.startswith("tests/")),
        "lines of schema": lines(text_of(tree, p) for p in paths if p.endswith(".schema.json")),
        "folders directly below harness/": len({p.split("/")[1] for p in ours if p.startswith("harness/")}),
        "rooms": len(rooms),
        "arrows": len(arrows),
        "structs with a run id": structs_with(headers, "run_id"),
        "structs with a verdict": structs_with(headers, "verdict"),
        "verbs, with those below them": len(re.findall(r'AddVerb\(\s*"', verbs)),
        "option declarations": len(re.findall(r'(?:Add|AddRepeatable)\((?:[a-z_]+, )?\s*"--?[a-z]', verbs)),
        "words of README.md": len(text_of(tree, "README.md").split()),
        "words of guides": sum(len(text_of(tree, p).split()) for p in documents if p != "README.md"),
        "longest sentence, in words": longest_sentence(text_of(tree, p) for p in documents),
        "longest line of a README": max(
            len(line) for p in paths if p.endswith("README.md") for line in text_of(tree, p).split("\n")
        ),
    }


def main():
    trees = sys.argv[1:] or [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    columns = [measure(tree) for tree in trees]
    for name in columns[0]:
        print("%-36s" % name + "".join("%12d" % column[name] for column in columns))


main()
