"""One planted cause: the run, the one thing that changes, and what a right answer names.

Role: the words of the table, in cases_development.py and cases_held_out.py. What is right is in terms that a
person who knows what was changed would accept: the layer, and a word of the statement or its evidence.
"""

import dataclasses
import pathlib
import subprocess
from collections.abc import Callable, Mapping, Sequence

LAYERS = ("data", "code", "environment", "hardware", "randomness", "none")
FRAMEWORKS = {  # of the programs: the folders of environments that have it, and the module
    "plain": ((), "json"),
    "numpy": (("tables-before", "skl"), "numpy"),
    "sklearn": (("tables-before", "skl"), "sklearn"),
    "torch": (("torch",), "torch"),
    "jax": (("jax-before", "jax"), "jax"),
}
PROGRAMS = {"plain": "plain.py", "numpy": "numpy_mlp.py", "sklearn": "sklearn_sgd.py", "torch": "torch_mlp.py",
            "jax": "jax_mlp.py"}
UNSEEDED = (r"unseeded|without (a|any) seed|(not|never) seeded|no seed|seeds? (is|was|are|were) not set|from the system|"
            r"system's entropy|nothing was seen to set a seed")
# What a curve's shape can truly say of them: one of the alternatives of its sentence is what was planted.
HYPERPARAMETER = ("hyperparameter|learning rate|optimizer settings",)
ORDER = ("data order|other batches",)


@dataclasses.dataclass(frozen=True)
class Case:
    """A run of a program below programs/, and one change. {tree} in a text is the folder that the run is in, {site} a
    folder beside it that a rerun sees as it is."""

    number: int  # odd: development, even: held out
    name: str
    layer: str  # of what was planted
    framework: str
    planted: str
    right: str = ""  # a pattern, in the statement or the evidence of a right cause
    layers: Sequence[str] = ()  # other layers in which a right cause may stand
    also: Sequence[str] = ()  # patterns of further causes that are true
    innocent: str = ""  # a pattern of what changed besides and moved nothing
    # The run.
    edits: Sequence[tuple[str, str]] = ()  # of the program: a text for another
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    declared: Sequence[str] = ()  # variables that are declared; others are there all the same
    data: Sequence[str] = ("digits=digits.csv",)
    code: Sequence[str] = ()  # code files besides the program, digits.py and scaling.py
    options: Sequence[str] = ()  # of record
    seeds: Sequence[str] = ("init=1",)
    git: bool = False  # the tree is a repository
    determinism: str = "bitwise"
    prepare: Callable[[pathlib.Path, pathlib.Path], None] | None = None  # tree, site: before the run is recorded
    # The change.
    change: Callable[[pathlib.Path, pathlib.Path], None] | None = None  # tree, site
    env: Mapping[str, str | None] = dataclasses.field(default_factory=dict)
    under: Sequence[str] = ()  # a command that starts rharness then
    # Recorded once more and compared, in place of a drill.
    again: bool = False
    arguments_now: Sequence[str] | None = None
    seeds_now: Sequence[str] | None = None
    edits_now: Sequence[tuple[str, str]] = ()
    uncommitted: bool = False  # of a repository: the change stays in the work tree
    isolate: Sequence[str] | None = None  # the axes that isolate must name; None: not asked
    kernels: bool = False  # the machine decides whether it moves anything
    needs: Sequence[str] = ()  # programs
    quick: bool = False  # in the tests, which have seconds

    def python(self, venvs):
        """The interpreter that it runs in: that of the first environment that is there."""
        places = [venvs / name / "bin/python3" for name in FRAMEWORKS[self.framework][0]]
        places = places or [pathlib.Path("/usr/bin/python3")]
        return next((place for place in places if place.exists()), places[0])

    def missing(self, venvs):
        """Why this case cannot run here; empty: it can."""
        lines = [f"import {FRAMEWORKS[self.framework][1]}, shutil"]
        lines += [f"assert shutil.which({name!r}), 'no {name}'" for name in self.needs]
        try:
            done = subprocess.run([self.python(venvs), "-c", "\n".join(lines)], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=240, check=False)
        except (OSError, subprocess.TimeoutExpired) as problem:
            return f"no {self.framework}: {problem}"
        return done.stdout.strip().splitlines()[-1] if done.returncode else ""
