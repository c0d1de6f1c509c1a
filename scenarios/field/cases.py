"""What is drilled: of each case the run, the fault that is planted, and what rharness must say.

Role: a table. README.md says the same for people; drill_field.py carries it out.
"""

import dataclasses
import json
import pathlib
import subprocess
from collections.abc import Callable, Mapping, Sequence

BITWISE, STATISTICAL = "bitwise", "statistical"
ACCURACY = "test_accuracy,direction=higher,margin=0.03,primary"
LOSS = "test_loss,direction=lower,margin=0.1,primary"


@dataclasses.dataclass(frozen=True)
class Case:
    """One run with one fault. Arguments are those of the program behind --data digits.csv --seed N."""

    name: str
    scenario: str
    planted: str  # in words, for the table
    files: Sequence[str]  # the program first, then what it imports, but digits.py
    arguments: Sequence[str]
    verdict: str  # with the fault
    code: str  # of the first reason
    cause: Sequence[str] | None  # the axes that isolate must name, together; () none; None: not asked
    clean: str = "identical"  # verdict with nothing changed
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    now: Mapping[str, str | None] = dataclasses.field(default_factory=dict)  # what is otherwise now
    now_arguments: Sequence[str] = ()  # given behind the others; an argument for an argument
    spoil: Callable | None = None  # tree: changes files
    prepare: Callable | None = None  # tree: makes files before the run is recorded
    determinism: str = BITWISE
    family: int = 1  # seeds that are recorded and drilled; the first is asked for, the others tell its noise
    settings: Sequence[Sequence[str]] = ()  # of a sweep: further arguments, a run each
    ranking: Sequence[str] = ()  # of a sweep by its test loss: unchanged, and with the fault
    weights: Sequence[str] = ("model.safetensors",)
    artifacts: Sequence[str] = ()  # ROLE=PATH
    metrics: Sequence[str] = (ACCURACY, LOSS)
    data: Sequence[str] = ("digits=digits.csv",)
    drill: Sequence[str] = ()  # options of the drill of the fault
    isolate: Sequence[str] = ()
    spoilt_data: str = ""  # the item of data that `spoil` changes, which isolate then gets in both states
    venv: str = ""  # in which it runs; empty: the system's python3
    needs: Sequence[str] = ()  # modules that its Python must import
    needs_gpu: bool = False
    kernels: bool = False  # the CPU's kernels decide: where the bytes of both ways are equal, it must be identical
    quick: bool = False  # in the tests, which have seconds

    def python(self, venvs):
        """The interpreter that it runs in."""
        return venvs / self.venv / "bin/python3" if self.venv else pathlib.Path("/usr/bin/python3")

    def variables(self, given, venvs):
        """`given` with the packages of an environment where its name stands in braces."""
        filled = {}
        for name, value in given.items():
            if value and value.startswith("{"):
                value = ":".join(str(path) for path in sorted(venvs.glob(f"{value[1:-1]}/lib/python3*/site-packages")))
            filled[name] = value
        return filled

    def missing(self, venvs):
        """Why this case cannot run here; empty: it can."""
        try:
            lines = [f"import {name}" for name in self.needs]
            if self.needs_gpu:
                lines.append("assert torch.cuda.is_available(), 'PyTorch finds no GPU'")
            done = subprocess.run(
                [self.python(venvs), "-c", "\n".join(lines)],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            return f"no {self.venv or 'Python'}: {problem}"
        if done.returncode == 0:
            return ""
        return f"{self.python(venvs)}: {done.stdout.strip().splitlines()[-1]}"


ROWS_IN_STORE = 400
SETTINGS = [("--lr", rate, "--decay", decay) for rate in ("0.003", "0.01", "0.03", "0.1", "0.3", "1.0")
            for decay in ("0.0", "0.01")]
SHARDS = tuple(f"checkpoint/model-{k:05}-of-00004.safetensors" for k in range(1, 5))
INDEX = ("other=checkpoint/model.safetensors.index.json",)
CHECKPOINTS = {"WRITER": "whole"}


def make_store(tree):
    """A store of 40 objects: the first rows of the training set, and a correction of every tenth in the last ones."""
    rows = [[int(text) for text in line.split(",")] for line in (tree / "digits.csv").read_text().splitlines()]
    rows = [row for number, row in enumerate(rows) if number % 5 != 4][:ROWS_IN_STORE]
    events = [
        {"key": key, "version": 1, "row": row if key % 10 else [0] * 64 + [row[64]]} for key, row in enumerate(rows)
    ]
    events += [{"key": key, "version": 2, "row": rows[key]} for key in range(0, len(rows), 10)]
    (tree / "store").mkdir()
    for first in range(0, len(events), 11):
        text = "".join(json.dumps(event) + "\n" for event in events[first : first + 11])
        (tree / f"store/{first // 11:03}.jsonl").write_text(text, encoding="ascii")


def land_late(tree):
    """One object more: a correction that the recorded run had not."""
    event = {"key": 7, "version": 2, "row": [16] * 64 + [3]}
    (tree / "store/zzz.jsonl").write_text(json.dumps(event) + "\n", encoding="ascii")


FEDERATED = ("--order", "client", "--log-every", "1", "--report-every", "1")
RACING_CLIENTS = ("--order", "arrival", "--log-every", "2", "--report-every", "3")

CASES = [
    Case("federated", "federated", "the server adds what has come", ("federated.py",), FEDERATED,
         "drifted", "determinism_violation", ("argument:--order",), now_arguments=RACING_CLIENTS, quick=True),
    Case("federated-margin", "federated", "the same, where margins decide", ("federated.py",), FEDERATED,
         "equivalent", "metric_within", ("argument:--order",), now_arguments=RACING_CLIENTS,
         determinism=STATISTICAL),
    Case("loader", "loader", "the workers' seed is not set", ("loader.py",), (),
         "drifted", "determinism_violation", ("env:LOADER_SEED",), environment={"LOADER_SEED": "7"},
         now={"LOADER_SEED": None, "OMP_NUM_THREADS": "2", "TZ": "UTC"}, venv="torch", needs=("torch",)),
    Case("loader-margin", "loader", "the same, where margins decide", ("loader.py",), (),
         "equivalent", "metric_within", ("env:LOADER_SEED",), environment={"LOADER_SEED": "7"},
         now={"LOADER_SEED": None, "OMP_NUM_THREADS": "2", "TZ": "UTC"}, venv="torch", needs=("torch",),
         determinism=STATISTICAL, family=5),
    Case("parallel", "parallel", "gradients are added as they come", ("parallel.py",), (),
         "drifted", "determinism_violation", ("env:REDUCTION",), environment={"REDUCTION": "ordered"},
         now={"REDUCTION": "racing", "OMP_NUM_THREADS": "2", "TZ": "UTC"}, venv="torch", needs=("torch",)),
    Case("parallel-margin", "parallel", "the same, where margins decide", ("parallel.py",), (),
         "equivalent", "metric_within", ("env:REDUCTION",), environment={"REDUCTION": "ordered"},
         now={"REDUCTION": "racing", "OMP_NUM_THREADS": "2", "TZ": "UTC"}, venv="torch", needs=("torch",),
         determinism=STATISTICAL),
    Case("flaky", "flaky", "the hash seed is not set", ("flaky.py",), (),
         "failed", "run_failed", ("env:PYTHONHASHSEED",), environment={"PYTHONHASHSEED": "4"},
         now={"PYTHONHASHSEED": None, "OMP_NUM_THREADS": "2", "TZ": "UTC"}, drill=("--reruns", "8"),
         isolate=("--end-reruns", "12"), determinism=STATISTICAL),
    Case("events", "events", "events come twice, late and in another order", ("events.py",), (),
         "identical", "bit_equal", None, environment={"DELIVERY": "once"}, now={"DELIVERY": "3"},
         prepare=make_store, data=("digits=digits.csv", "store=store")),
    Case("events-append", "events", "the same, and the table takes what comes", ("events.py",),
         ("--apply", "append"), "drifted", "determinism_violation", ("env:DELIVERY",),
         environment={"DELIVERY": "once"}, now={"DELIVERY": "3", "OMP_NUM_THREADS": "2", "TZ": "UTC"},
         prepare=make_store, data=("digits=digits.csv", "store=store"), quick=True),
    Case("events-late", "events", "an object landed in the store since", ("events.py",), (),
         "not_comparable", "data_not_recorded", ("data:store",), environment={"DELIVERY": "once"},
         prepare=make_store, spoil=land_late, spoilt_data="store",
         data=("digits=digits.csv", "store=store"), quick=True),
    Case("checkpoint", "checkpoint", "killed while it writes, and goes on", ("checkpoint.py",), (),
         "identical", "bit_equal", None, environment=CHECKPOINTS, now={"KILL_AT": "2:2"},
         weights=SHARDS, artifacts=INDEX),
    Case("checkpoint-mixed", "checkpoint", "killed between parts that are written in place, and goes on",
         ("checkpoint.py",), (), "drifted", "determinism_violation", ("env:KILL_AT", "env:WRITER"),
         environment=CHECKPOINTS, now={"KILL_AT": "2:2", "WRITER": "in-place", "TZ": "UTC"},
         weights=SHARDS, artifacts=INDEX, quick=True),
    Case("checkpoint-half", "checkpoint", "killed in the middle of a part, and taken for done",
         ("checkpoint.py",), (), "failed", "", ("env:AFTER_KILL", "env:KILL_AT", "env:WRITER"),
         environment=CHECKPOINTS, weights=SHARDS, artifacts=INDEX, quick=True,
         now={"KILL_AT": "3:2:half", "WRITER": "in-place", "AFTER_KILL": "leave", "TZ": "UTC"}),
    Case("checkpoint-old-parts", "checkpoint", "killed between parts, taken for done, where margins decide",
         ("checkpoint.py",), (), "inconclusive", "weights_contradict_losses", None, environment=CHECKPOINTS,
         weights=SHARDS, artifacts=INDEX, determinism=STATISTICAL,
         now={"KILL_AT": "3:2", "WRITER": "in-place", "AFTER_KILL": "leave"}),
    Case("precision", "precision", "bf16 in place of fp32", ("precision.py",),
         ("--precision", "fp32", "--log-every", "1"), "drifted", "determinism_violation",
         ("argument:--precision",), now_arguments=("--precision", "bf16", "--log-every", "2"),
         venv="torch", needs=("torch",)),
    Case("precision-margin", "precision", "the same, where margins decide", ("precision.py",),
         ("--precision", "fp32", "--log-every", "1"), "equivalent", "metric_within",
         ("argument:--precision",), now_arguments=("--precision", "bf16", "--log-every", "2"),
         venv="torch", needs=("torch",), determinism=STATISTICAL, family=5),
    Case("precision-fp16", "precision", "fp16 on a GPU in place of fp32", ("precision.py",),
         ("--device", "cuda", "--precision", "fp32"), "drifted", "determinism_violation",
         ("argument:--precision",), now_arguments=("--device", "cuda", "--precision", "fp16"),
         venv="torch", needs=("torch",), needs_gpu=True),
    Case("precision-tf32", "precision", "TF32 on a GPU in place of fp32", ("precision.py",),
         ("--device", "cuda", "--precision", "fp32"), "drifted", "determinism_violation",
         ("argument:--precision",), now_arguments=("--device", "cuda", "--precision", "tf32"),
         venv="torch", needs=("torch",), needs_gpu=True),
    Case("jax", "jax", "jaxlib 0.6.2 to 0.10.2", ("upgrade_jax.py",), (), "drifted", "determinism_violation", ("env:PYTHONPATH",),
         environment={"PYTHONPATH": "{jax-before}"},
         now={"PYTHONPATH": "{jax-after}", "OMP_NUM_THREADS": "2", "TZ": "UTC"},
         venv="jax-before", needs=("jax",), kernels=True),
    Case("jax-norm", "jax", "the same, and hidden values are normalized", ("upgrade_jax.py",), ("--norm", "layer"),
         "drifted", "determinism_violation", ("env:PYTHONPATH",),
         environment={"PYTHONPATH": "{jax-before}"},
         now={"PYTHONPATH": "{jax-after}", "OMP_NUM_THREADS": "2", "TZ": "UTC"}, venv="jax-before", needs=("jax",),
         kernels=True),
    Case("sklearn-numpy", "tables", "NumPy 1.26.4 to 2.4.6, below scikit-learn", ("upgrade_tables.py",), (),
         "drifted", "determinism_violation", ("env:PYTHONPATH",),
         environment={"PYTHONPATH": "{tables-before}"},
         now={"PYTHONPATH": "{tables-after}", "OMP_PROC_BIND": "true", "TZ": "UTC"},
         venv="tables-before", needs=("sklearn",), kernels=True),
    Case("sklearn-numpy-margin", "tables", "the same, where margins decide", ("upgrade_tables.py",), (),
         "equivalent", "metric_within", ("env:PYTHONPATH",),
         environment={"PYTHONPATH": "{tables-before}"},
         now={"PYTHONPATH": "{tables-after}", "OMP_PROC_BIND": "true", "TZ": "UTC"},
         venv="tables-before", needs=("sklearn",), determinism=STATISTICAL),
    Case("sklearn-openmp", "tables", "one thread in place of two", ("upgrade_tables.py",), (),
         "drifted", "determinism_violation", ("env:OMP_NUM_THREADS",), environment={"OMP_NUM_THREADS": "2"},
         now={"OMP_NUM_THREADS": "1", "OMP_SCHEDULE": "static", "TZ": "UTC"},
         venv="tables-before", needs=("sklearn",), kernels=True),
    Case("xgboost", "tables", "NumPy 1.26.4 to 2.4.6 and one thread in place of two, below XGBoost",
         ("upgrade_tables.py",), ("--model", "xgboost"), "drifted", "determinism_violation", None,
         environment={"PYTHONPATH": "{tables-before}", "OMP_NUM_THREADS": "2"},
         now={"PYTHONPATH": "{tables-after}", "OMP_NUM_THREADS": "1"}, venv="tables-before",
         needs=("xgboost",), kernels=True),
    Case("sweep", "sweep", "twelve settings, drilled on another day", ("sweep.py",), (), "identical", "bit_equal", None,
         settings=SETTINGS, ranking=("kept", "kept")),
    Case("sweep-stale", "sweep", "a host where some runs get another run's setting", ("sweep.py",), (),
         "drifted", "determinism_violation", ("env:SWEEP_HOST",), environment={"SWEEP_HOST": "fresh"},
         now={"SWEEP_HOST": "stale", "OMP_NUM_THREADS": "2", "TZ": "UTC"}, settings=SETTINGS,
         ranking=("kept", "lost")),
]
