#!/usr/bin/env python3
"""Measures how often rharness' first causes are right, over a table of planted causes.

    scenarios/causes/measure_causes.py [--bin FOLDER] [--venvs FOLDER] [--out FOLDER] [--half HALF] [--only NAME]... [--jobs N]

Of each case (case.py) the run is recorded, one thing is changed, and it is drilled, or recorded once more and compared;
of some the cause is isolated. What the same rharness was asked before, below --out, stays, but for cases that are named. A case whose
framework is missing is skipped, with the reason, and is never right. Exit code 0: all cases were measured or skipped; 2:
usage; 4: some could not be made; 77: all were skipped.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # this folder stays as it is
HERE = pathlib.Path(__file__).resolve().parent
FIELD = HERE.parent / "field"
sys.path[:0] = [str(HERE), str(FIELD)]
import case as table  # noqa: E402
import cases_development  # noqa: E402
import cases_held_out  # noqa: E402
import drill_field  # noqa: E402
import plants  # noqa: E402
import totals  # noqa: E402

HALVES = {"development": cases_development.CASES, "held-out": cases_held_out.CASES}
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "init.defaultBranch=main")


class Planted(drill_field.Bench):
    """One case's folder: tree/ as the run finds it, site/ beside it, which reruns see as it is."""

    def __init__(self, case, out, bin_folder, venvs):  # pylint: disable=super-init-not-called
        self.case, self.folder = case, out / case.name
        self.tree, self.site = self.folder / "tree", self.folder / "site"
        self.program = self.tree / table.PROGRAMS[case.framework]
        self.environment = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
        path = f"{case.python(venvs).parent}:{bin_folder}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        self.environment |= {"PATH": path, "LANG": "C.UTF-8", "GIT_CEILING_DIRECTORIES": str(out)}
        self.tree.mkdir(parents=True)
        self.site.mkdir()
        shutil.copy(drill_field.DATA, self.tree / "digits.csv")
        for source in (FIELD / "digits.py", HERE / "programs/scaling.py", HERE / "programs" / self.program.name):
            shutil.copy(source, self.tree / source.name)
        self.edit(case.edits)
        if case.prepare:
            case.prepare(self.tree, self.site)
        if case.git:
            self.git("init", "-q")
            self.commit()

    def edit(self, edits):
        for old, new in edits:
            plants.swap(self.program.name, old, self.filled(new))(self.tree, self.site)

    def filled(self, text):
        return text.replace("{tree}", str(self.tree)).replace("{site}", str(self.site))

    def git(self, *arguments):
        done = subprocess.run([*GIT, *arguments], cwd=self.tree, env=self.environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise drill_field.Broken(f"git {arguments[0]}: {done.stdout.strip()}")

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "state")

    def record(self, name, arguments, seeds, environment):  # pylint: disable=arguments-differ
        case = self.case
        options = ["--python-hooks", "--out", self.folder / f"{name}.json", "--run-id", f"{case.name}-{name}",
                   "--family", case.name, "--root", ".", "--metrics", "metrics.json", "--weights", "model.safetensors",
                   "--metric", "test_accuracy,direction=higher,margin=0.03,primary",
                   "--metric", "test_loss,direction=lower,margin=0.1,primary",
                   "--determinism", case.determinism, "--scope", "architecture", *case.options]
        for option, values in {"--data": case.data, "--seed": seeds, "--variable": case.declared,
                               "--code-file": (self.program.name, "digits.py", "scaling.py", *case.code)}.items():
            for value in values:
                options += [option, self.filled(value)]
        values = {key: self.filled(value) for key, value in environment.items() if value is not None}
        self.rharness("record", *options, "--", "python3", self.program.name, "--data", "digits.csv",
                      *map(self.filled, arguments), codes=(0,), environment=values)
        for left in ("metrics.json", "model.safetensors"):
            (self.tree / left).unlink()

    def under(self, command):
        """Puts a program named rharness before the real one, which `command` starts."""
        real = shutil.which("rharness", path=self.environment["PATH"])
        wrapper = self.folder / "under/rharness"
        plants.put(wrapper, f'#!/bin/sh\nexec {" ".join(command)} {real} "$@"\n')
        wrapper.chmod(0o755)
        return wrapper.parent

    def drill(self):  # pylint: disable=arguments-differ
        case, out = self.case, self.folder / "planted"
        self.rharness("history", "add", "--history", self.folder / "history.db", self.folder / "then.json", codes=(0,))
        self.change()
        options = []
        for name, value in case.env.items():
            options += ["--env", name if value is None else f"{name}={self.filled(value)}"]
        self.rharness("drill", "--history", self.folder / "history.db", "--out", out, "--root", self.tree, *options,
                      codes=(0, 1, 3, 4), path=self.under(case.under) if case.under else None)
        return json.loads((out / "report.json").read_text(encoding="utf-8"))["runs"][0], out

    def compare(self):
        case = self.case
        self.change()
        arguments = case.arguments if case.arguments_now is None else case.arguments_now
        seeds = case.seeds if case.seeds_now is None else case.seeds_now
        self.record("now", arguments, seeds, case.environment | case.env)
        self.rharness("compare", self.folder / "then.json", self.folder / "now.json", "--root", self.tree,
                             "--json-file", self.folder / "compared.json", codes=(0, 1, 3))
        return json.loads((self.folder / "compared.json").read_text(encoding="utf-8")), self.folder / "now.json"

    def change(self):
        self.edit(self.case.edits_now)
        if self.case.change:
            self.case.change(self.tree, self.site)
        if self.case.git and not self.case.uncommitted:
            self.commit()

    def isolate(self, against):
        out = self.folder / "why"
        self.rharness("isolate", self.folder / "then.json", "--out", out, "--root", self.tree, "--against", against,
                      codes=(0, 2, 3))
        try:
            return json.loads((out / "isolation.json").read_text(encoding="utf-8"))["causes"]
        except OSError:
            return []


def causes_of(answer):
    """What is said first. Where a run was refused it is the reason that decides, which names a layer, unless a cause of
    that layer says it again."""
    causes = answer.get("causes", [])
    shown = {cause["layer"] for cause in causes if cause.get("strength") == "shown"}
    refused = [{"code": reason["code"], "layer": reason["layer"], "strength": "shown", "statement": reason["message"],
                "evidence": [], "by_reason": True}
               for reason in answer.get("reasons", ())
               if answer["verdict"] == "not_comparable" and reason.get("decisive") and reason.get("layer", "") not in ("", *shown)]
    return [*refused, *causes]


def carry_out(case, out, bin_folder, venvs):
    """Returns what rharness said of the case: verdict, headline, causes, and the axes that isolate names."""
    shutil.rmtree(out / case.name, ignore_errors=True)
    bench = Planted(case, out, bin_folder, venvs)
    bench.record("then", case.arguments, case.seeds, case.environment)
    answer, against = bench.compare() if case.again else bench.drill()
    found = {"verdict": answer["verdict"], "headline": answer.get("headline", ""), "causes": causes_of(answer)}
    if case.isolate is not None:
        found["isolated"] = drill_field.axes_of(bench.isolate(against))
    return found


def measured(case, options):
    """What was found of a case now or, where it is not named, before."""
    kept = options.out / case.name / "found.json"
    if kept.exists() and case.name not in options.only:
        found = json.loads(kept.read_text(encoding="utf-8"))
        if found["program"] == options.program and (case.isolate is None or "isolated" in found):
            return found
    reason = case.missing(options.venvs)
    if reason:
        return {"skipped": reason}
    began = time.monotonic()
    try:
        found = carry_out(case, options.out, options.bin, options.venvs)
    except (drill_field.Broken, OSError, ValueError, KeyError, SystemExit) as problem:
        return {"broken": str(problem)}
    found |= {"seconds": round(time.monotonic() - began, 1), "program": options.program}
    plants.put(kept, json.dumps(found, indent=1) + "\n")
    return found


def parse_options():
    build = HERE.parents[1] / "build"
    parser = argparse.ArgumentParser(description="Measures rharness' first causes over a table of planted ones.")
    parser.add_argument("--bin", type=pathlib.Path, default=build / "bin", help="of rharness")
    parser.add_argument("--venvs", type=pathlib.Path, default=build / "field-venvs",
                        help="private environments, which ../field/install.sh makes")
    parser.add_argument("--out", type=pathlib.Path, default=build / "causes",
                        help="to work in: a new folder, or one of an earlier measurement, which goes on")
    parser.add_argument("--half", choices=(*HALVES, "all"), default="all",
                        help="cases with odd numbers, which rules may be fitted to, or with even ones")
    parser.add_argument("--only", action="append", default=[], help="a case, measured anew; may be repeated")
    parser.add_argument("--quick", action="store_true", help="those that the tests have time for")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time")
    parser.add_argument("--list", action="store_true", help="name the cases and what is planted; run nothing")
    options = parser.parse_args()
    everything = [case for half in HALVES.values() for case in half]
    names = [case.name for case in everything]
    if len(set(names)) < len(names) or len({case.number for case in everything}) < len(names) or any(
            (case.number % 2 == 1) != (half == "development") for half in HALVES for case in HALVES[half]):
        parser.error("two cases with one name or number, or a case in the other half")
    for name in options.only:
        if name not in names:
            parser.error(f"--only {name}: expected one of {', '.join(sorted(names))}")
    options.chosen = sorted((case for case in everything
                             if (options.half == "all" or case in HALVES[options.half])
                             and (not options.only or case.name in options.only)
                             and (case.quick or not options.quick)), key=lambda case: case.number)
    return options


def main():
    options = parse_options()
    if options.list:
        for case in options.chosen:
            print(f"{case.number:3} {case.name:24} {case.layer:12} {case.framework:8} {case.planted}")
        return 0
    options.bin, options.out, options.venvs = (path.absolute() for path in (options.bin, options.out, options.venvs))
    if not (options.bin / "rharness").exists():
        print(f"measure_causes: {options.bin}/rharness is not there; ./dev build makes it", file=sys.stderr)
        return 4
    options.program = hashlib.sha256((options.bin / "rharness").read_bytes()).hexdigest()
    drill_field.own_folder(options.out, "measurement-of-causes", anew=False)
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, found in zip(options.chosen, pool.map(lambda case: measured(case, options), options.chosen)):
            rows.append(totals.judged(case, found))
            print(totals.lines_of(rows[-1]), flush=True)
    document, text = totals.summary(rows)
    plants.put(options.out / "causes.json", json.dumps(document, indent=1) + "\n")
    plants.put(options.out / "causes.txt", "\n".join(map(totals.lines_of, rows)) + "\n" + text + "\n")
    print(text)
    if any(row["state"] == "broken" for row in rows):
        return 4
    return 77 if rows and all(row["state"] == "skipped" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
