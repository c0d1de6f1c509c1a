"""What a run measured, in rharness's own form: metrics.json.

The form is that of harness/records/manifest/run_metrics.h: "metrics", "curves", "software"; notes go into
"x-rharness", which no verdict reads. Where the run is recorded with --python-hooks, notes are handed to the
hooks as well, and a drill compares them.
"""

import json
import math
import operator
import os
import sys

from rharness._states import states as _states

_LIBRARIES = ("numpy", "torch", "jax", "tensorflow", "keras", "transformers", "lightning", "pytorch_lightning", "sklearn")


def _number(value):
    detach = getattr(value, "detach", None)  # of a tensor that a gradient goes through
    number = float(detach() if callable(detach) else value)
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return number


def _is_first():
    # torchrun, accelerate and Lightning name the process so; one writes for all.
    return os.environ.get("RANK", os.environ.get("LOCAL_RANK", "0")) in ("", "0")


class Run:
    """Collects in memory; flush and close write the file, whole or not at all."""

    def __init__(self, path="metrics.json", write=None):
        self.path = os.path.abspath(os.fspath(path))  # a program may change its folder
        self._write = _is_first() if write is None else write
        self._metrics, self._curves, self._software, self._notes = {}, {}, {}, {}

    def metric(self, name, value, step=None):
        """A result of the run; with a step, a point of the curve of that name.

        Of two values at one step, or of one metric, the later one counts. Raises TypeError or ValueError for what is
        no number, and for a step that is no integer.
        """
        number = _number(value)
        if step is None:
            self._metrics[str(name)] = number
        else:
            self._curves.setdefault(str(name), {})[operator.index(step)] = number

    def metrics(self, values, step=None):
        """Several at once, by name."""
        for name, value in values.items():
            self.metric(name, value, step)

    def curve(self, name, values, steps=None):
        """A whole curve; without steps they are 0, 1, 2, ..."""
        values = list(values)
        steps = range(len(values)) if steps is None else list(steps)
        if len(steps) != len(values):
            raise ValueError("curve %s: %d steps, but %d values" % (name, len(steps), len(values)))
        for step, value in zip(steps, values):
            self.metric(name, value, step)

    def software(self, name, version):
        """The version of what the run uses; those of well-known libraries are found."""
        self._software[str(name)] = str(version)

    def note(self, name, value):
        """What explains a difference, such as the number of a loader's workers: context, never a verdict."""
        text = str(value)
        self._notes[str(name)] = text
        hooks = sys.modules.get("rharness_observe")
        if hooks is not None and hasattr(hooks, "note_flag"):
            hooks.note_flag(str(name), text)

    def seed(self, source, value):
        """A seed that was set where nothing else sees it."""
        self._notes["seed." + str(source)] = str(value)
        hooks = sys.modules.get("rharness_observe")
        if hooks is not None:
            hooks.note_seed(str(source), value)

    def states(self, when):
        """Notes the states of the global generators: where two runs have drawn other numbers, they differ."""
        for name, digest in _states().items():
            self.note("state.%s.%s" % (name, when), digest)

    def measured(self):
        """Whether there is a metric or a curve."""
        return bool(self._metrics or self._curves)

    def _document(self):
        software = dict(self._software)
        for name in _LIBRARIES:
            version = getattr(sys.modules.get(name), "__version__", None)
            if version is not None:
                software.setdefault(name, str(version))
        document = {"metrics": self._metrics}
        if self._curves:
            document["curves"] = {
                name: {"steps": sorted(points), "values": [points[step] for step in sorted(points)]}
                for name, points in self._curves.items()
            }
        if software:
            document["software"] = software
        if self._notes:
            document["x-rharness"] = {"notes": self._notes}
        return document

    def flush(self):
        """Writes what there is so far. Raises OSError."""
        if not self._write:
            return
        folder, name = os.path.split(self.path)
        os.makedirs(folder, exist_ok=True)
        temporary = os.path.join(folder, ".%s.%d" % (name, os.getpid()))
        try:
            with open(temporary, "w", encoding="utf-8") as stream:
                json.dump(self._document(), stream, sort_keys=True, allow_nan=False)
                stream.write("\n")
            os.replace(temporary, self.path)
        except BaseException:
            if os.path.exists(temporary):
                os.unlink(temporary)
            raise

    close = flush

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        # Also what a failed run measured; that it failed is its exit code.
        self.flush()
        return False


def run(path="metrics.json", write=None):
    """A run whose results go to `path`. `write`: whether this process writes; None: if it is the first of its group."""
    return Run(path, write)
