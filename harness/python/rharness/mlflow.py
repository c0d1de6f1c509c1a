"""For MLflow, which finds this by itself: tags of a run that say how it was started.

`rharness import` reads MLflow's runs; MLflow itself records a program without its arguments. These tags help whoever
completes the record. Arguments may hold a secret: they are tagged only where RHARNESS_TAG_COMMAND is 1.
"""

import os
import shlex
import sys

from mlflow.tracking.context.abstract_context import RunContextProvider


class RunContext(RunContextProvider):
    """rharness.python_hash_seed, whether the run was observed, and rharness.command."""

    _MOST = 4000  # bytes of a tag; servers refuse more than 5000

    def in_context(self):
        return True

    def tags(self):
        tags = {
            "rharness.python_hash_seed": os.environ.get("PYTHONHASHSEED", "random"),
            "rharness.observed": "true" if os.environ.get("RHARNESS_OBSERVE") else "false",
        }
        if os.environ.get("RHARNESS_TAG_COMMAND") == "1":
            words = getattr(sys, "orig_argv", None) or [sys.executable] + sys.argv
            line = " ".join(shlex.quote(word) for word in words)
            if len(line.encode("utf-8", "replace")) <= self._MOST:
                tags["rharness.command"] = line
        return tags
