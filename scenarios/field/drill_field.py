#!/usr/bin/env python3
"""Drills every scenario of the field, and holds rharness to what it must say of each.

    scenarios/field/drill_field.py [--bin FOLDER] [--venvs FOLDER] [--out FOLDER] [--only NAME]... [--list]

Of each case (cases.py): the run is recorded; drilled with nothing changed; drilled with the fault planted
from outside; and the cause is isolated between the two. A scenario whose framework is missing is skipped,
with the reason, and counts as skipped. Exit code 0: rharness said of all that ran what it must; 1: of some
it did not; 2: usage; 4: a case could not be made; 77: all were skipped.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # this folder stays as it is
import cases  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "digits.csv"
LONGEST = 600  # seconds of one command of rharness


class Broken(Exception):
    """A case could not be made; the text says where."""


class Bench:
    """One case's folder: tree/ as the run finds it, bin/ with what stands before its programs on PATH."""

    def __init__(self, case, out, bin_folder, venvs):
        self.case, self.folder = case, out / case.name
        self.tree, self.spoilt = self.folder / "tree", self.folder / "bin"
        self.real = case.python(venvs)
        # Nothing that this shell has set leads a case elsewhere.
        self.environment = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
        path = f"{self.real.parent}:{bin_folder}:/usr/local/bin:/usr/bin:/bin"
        self.environment |= {"PATH": path, "LANG": "C.UTF-8"}
        self.environment["GIT_CEILING_DIRECTORIES"] = str(out)
        self.then, self.now = (case.variables(given, venvs) for given in (case.environment, case.now))
        self.tree.mkdir(parents=True)
        self.spoilt.mkdir()
        for file in (*case.files, "digits.py"):
            shutil.copy(HERE / file, self.tree / file)
        shutil.copy(DATA, self.tree / "digits.csv")
        if case.prepare:
            case.prepare(self.tree)

    def rharness(self, verb, *arguments, codes, environment=None, path=None):
        """Runs it in the tree; returns its exit code and what it said. Raises Broken for other codes."""
        set_here = dict(self.environment) | (environment or {})
        if path:
            set_here["PATH"] = f"{path}:{set_here['PATH']}"
        command = ["rharness", "--quiet", verb, *map(str, arguments)]
        with open(self.folder / "commands.log", "a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(command)}\n")
            try:
                done = subprocess.run(command, cwd=self.tree, env=set_here, text=True, timeout=LONGEST,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            except (OSError, subprocess.TimeoutExpired) as problem:
                raise Broken(f"rharness {verb}: {problem}") from None
            log.write(f"{done.stdout}\n[exit code {done.returncode}]\n\n")
        if done.returncode not in codes:
            last = "\n    ".join(done.stdout.strip().splitlines()[-6:])
            raise Broken(f"rharness {verb} ended with {done.returncode}:\n    {last}")
        return done.returncode, done.stdout

    def record(self, name, environment, arguments, number=1, seed=1):
        case = self.case
        options = ["--out", self.folder / f"{name}.json", "--run-id", f"{case.name}-{number}",
                   "--family", case.scenario, "--seed", f"init={seed}",
                   "--root", ".", "--metrics", "metrics.json",
                   "--determinism", case.determinism, "--scope", "architecture"]
        for option, values in {"--metric": case.metrics, "--data": case.data, "--weights": case.weights,
                               "--artifact": case.artifacts, "--code-file": (*case.files, "digits.py"),
                               "--variable": sorted({*case.environment, *case.now})}.items():
            for value in values:
                options += [option, value]
        self.rharness("record", *options, "--", "python3", case.files[0],
                      "--data", "digits.csv", "--seed", seed, *arguments, codes=(0,), environment=environment)
        for left in self.outputs():
            (self.tree / left).unlink()

    def outputs(self):
        return [*self.case.weights, "metrics.json", *(item.split("=", 1)[1] for item in self.case.artifacts)]

    def same_bytes(self):
        """Whether the program leaves the same weights and numbers both ways; run here, without rharness."""
        case, left = self.case, []
        for changed in (self.then, self.now):
            command = [self.real, case.files[0], "--data", "digits.csv", "--seed", "1", *case.arguments]
            here = {name: value for name, value in (self.environment | changed).items() if value is not None}
            try:
                subprocess.run(command, cwd=self.tree, env=here, stdout=subprocess.DEVNULL, timeout=LONGEST, check=True)
                numbers = json.loads((self.tree / "metrics.json").read_text(encoding="utf-8"))
                left.append([numbers["metrics"], numbers.get("curves"),
                             *((self.tree / name).read_bytes() for name in case.weights)])
            except (OSError, ValueError, KeyError, subprocess.SubprocessError) as problem:
                raise Broken(f"{case.files[0]}, without rharness: {problem}") from None
            for name in self.outputs():
                (self.tree / name).unlink()
        return left[0] == left[1]

    def drill(self, name, more=(), path=None):
        """Of the case's runs, all of them: returns the first one's verdict, the code of its first reason, and the headline."""
        out = self.folder / name
        self.rharness("drill", "--history", self.folder / "history.db", "--out", out,
                      "--root", self.tree, *more, codes=(0, 1, 3, 4), path=path)
        runs = json.loads((out / "report.json").read_text(encoding="utf-8"))["runs"]
        run = next(run for run in runs if run["run_id"] == f"{self.case.name}-1")
        reasons = run.get("reasons") or run.get("findings") or [{}]
        return run["verdict"], reasons[0].get("code", ""), run.get("headline", "")

    def rank(self, drilled):
        """Whether the sweep ranks as recorded, and in words."""
        said = self.rharness("compare", self.folder / "then", self.folder / drilled, "--ranking", "test_loss",
                             "--json", codes=(0, 1, 3))[1]
        answer = json.loads(said)
        return answer["verdict"], answer["headline"]

    def both_states_of(self, name):
        """Puts the recorded data back, beside what they were changed to; returns the latter as an axis."""
        (self.tree / name).rename(self.tree / f"{name}-now")
        self.case.prepare(self.tree)
        said = self.rharness("hash", f"{name}-now", codes=(0,))[1]
        return f"data:{name}={said.split()[0]}@{name}-now"

    def isolate(self, against):
        out = self.folder / "why"
        options = ["--out", out, "--root", self.tree, "--history", self.folder / "history.db", *self.case.isolate]
        if self.case.spoilt_data:
            options += ["--axis", self.both_states_of(self.case.spoilt_data), "--axis", "env:TZ=UTC"]
        else:
            options += ["--against", against]
        if self.case.verdict == "equivalent":
            options += ["--bits"]
        self.rharness("isolate", f"{self.case.name}-1", *options, codes=(0, 2, 3))
        try:
            return json.loads((out / "isolation.json").read_text(encoding="utf-8"))
        except OSError:
            return {"causes": [], "headline": "no isolation.json"}


def plant(bench):
    """Plants the fault; returns the options of the drill and what goes first on its PATH."""
    case = bench.case
    options, path = list(case.drill), None
    for name, value in bench.now.items():
        options += ["--env", name if value is None else f"{name}={value}"]
    if case.now_arguments:
        # The launcher of the site adds arguments: what an argument is given last holds.
        added = " ".join(map(shlex.quote, case.now_arguments))
        program = bench.spoilt / "python3"
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(str(bench.real))} "$@" {added}\n', encoding="utf-8")
        program.chmod(0o755)
        path = bench.spoilt
        # Else a rerun starts the Python of the record, whatever is first on PATH.
        options += ["--env", f"PATH={bench.spoilt}{os.pathsep}{os.environ['PATH']}"]
    if case.spoil:
        case.spoil(bench.tree)
    return options, path


def expect(found, expected, what, wrong):
    if found != expected:
        wrong.append(f"{what} must be {expected or 'none'} and is {found or 'none'}")


def axes_of(causes):
    """The names of the axes of the first cause: 'env:A: x -> y' is env:A."""
    return sorted(part.split(": ", 1)[0] for part in causes[0]) if causes else []


def carry_out(case, out, bin_folder, venvs):
    """Returns what was found: verdict, cause, reruns, headline, and what of it is wrong."""
    bench, wrong = Bench(case, out, bin_folder, venvs), []
    if case.kernels and bench.same_bytes():
        case = dataclasses.replace(case, verdict="identical", code="bit_equal", cause=None)
    runs = [(setting, 1) for setting in case.settings] or [((), seed) for seed in range(1, case.family + 1)]
    for number, (setting, seed) in enumerate(runs, start=1):
        bench.record(f"then/{number}", bench.then, [*case.arguments, *setting], number, seed)
    bench.rharness("history", "add", "--history", bench.folder / "history.db", bench.folder / "then", codes=(0,))
    verdict, _, headline = bench.drill("unchanged")
    expect(verdict, case.clean, "with nothing changed it", wrong)
    found = {"clean": verdict, "clean_headline": headline}
    options, path = plant(bench)
    verdict, code, headline = bench.drill("planted", options, path)
    expect(verdict, case.verdict, "with the fault it", wrong)
    if case.code:
        expect(code, case.code, "the reason", wrong)
    if case.ranking:
        found["ranking"] = [bench.rank(name) for name in ("unchanged", "planted")]
        expect([said[0] for said in found["ranking"]], list(case.ranking), "the rankings", wrong)
    found |= {"verdict": verdict, "code": code, "headline": headline, "cause": [], "reruns": 0, "said": ""}
    if case.cause is not None:
        against = bench.folder / "planted"
        if case.now_arguments:
            bench.record("now", bench.then, case.now_arguments)
            against = bench.folder / "now.json"
        answer = bench.isolate(against)
        found |= {"cause": axes_of(answer["causes"]), "reruns": len(answer.get("trials", ())),
                  "said": answer.get("headline", "")}
        expect(found["cause"], sorted(case.cause), "the cause", wrong)
    return found | {"wrong": wrong}


def show(case, found, seconds):
    mark = "WRONG" if found["wrong"] else "ok"
    print(f"{mark:5}  {case.name}: {case.planted}")
    print(f"       {found['clean']}; with it {found['verdict']}: {found['headline'][:150]}")
    for _, headline in found.get("ranking", ()):
        print(f"       {headline}")
    if found["said"]:
        print(f"       isolate, {found['reruns']} reruns: {found['said'][:150]}")
    for line in found["wrong"]:
        print(f"       {line}")
    print(f"       {seconds:.0f} s", flush=True)


def parse_options():
    parser = argparse.ArgumentParser(description="Drills the scenarios of the field.")
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parents[1] / "build/bin", help="of rharness")
    parser.add_argument("--venvs", type=pathlib.Path, default=HERE.parents[1] / "build/field-venvs",
                        help="private environments, which install.sh makes")
    parser.add_argument("--out", type=pathlib.Path, default=HERE.parents[1] / "build/field",
                        help="to work in: a new folder, or one of an earlier drill of these")
    parser.add_argument("--only", action="append", default=[], help="a case or scenario; may be repeated")
    parser.add_argument("--quick", action="store_true", help="those that the tests have time for")
    parser.add_argument("--list", action="store_true", help="name the cases and what is planted; run nothing")
    options = parser.parse_args()
    names = {case.name for case in cases.CASES} | {case.scenario for case in cases.CASES}
    for name in options.only:
        if name not in names:
            parser.error(f"--only {name}: expected one of {', '.join(sorted(names))}")
    return options


def own_folder(out, name="drill-of-the-field", anew=True):
    """Makes the folder, anew if asked. One that is there already is ours, by the file `name`, or is left alone."""
    mark = out / name
    if out.exists() and any(out.iterdir()) and not mark.exists():
        print(f"{pathlib.Path(sys.argv[0]).stem}: {out} holds other files; expected a new or an empty folder", file=sys.stderr)
        sys.exit(4)
    if anew:
        shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    mark.touch()


def main():
    options = parse_options()
    chosen = [case for case in cases.CASES
              if (not options.only or {case.name, case.scenario} & set(options.only))
              and (case.quick or not options.quick)]
    if options.list:
        for case in chosen:
            print(f"{case.name:20} {case.planted}: {case.verdict}, {', '.join(case.cause or ('no cause',))}")
        return 0
    if not (options.bin / "rharness").exists():
        print(f"drill_field: {options.bin}/rharness is not there; ./dev scenarios builds it", file=sys.stderr)
        return 4
    out, bin_folder = options.out.resolve(), options.bin.resolve()
    venvs = options.venvs.absolute()
    own_folder(out)
    results, began = {}, time.monotonic()
    for case in chosen:
        reason = case.missing(venvs)
        if reason:
            print(f"skip   {case.name}: {reason}", flush=True)
            results[case.name] = {"skipped": reason}
            continue
        start = time.monotonic()
        try:
            found = carry_out(case, out, bin_folder, venvs)
            show(case, found, time.monotonic() - start)
        except Broken as problem:
            found = {"broken": str(problem)}
            print(f"BROKEN {case.name}: {problem}", flush=True)
        results[case.name] = found | {"seconds": round(time.monotonic() - start, 1)}
    (out / "field.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    count = lambda test: sum(1 for found in results.values() if test(found))
    wrong, broken = count(lambda f: f.get("wrong")), count(lambda f: "broken" in f)
    skipped = count(lambda f: "skipped" in f)
    print(f"{len(results) - skipped - wrong - broken} as they must be, {wrong} wrong, {broken} broken, "
          f"{skipped} skipped, in {time.monotonic() - began:.0f} s; {out}/field.json")
    if broken:
        return 4
    return 1 if wrong else 77 if skipped == len(results) else 0


if __name__ == "__main__":
    sys.exit(main())
