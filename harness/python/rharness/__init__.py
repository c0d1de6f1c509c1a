"""rharness for Python programs: metrics and curves of a run, and the program that judges them.

    with rharness.run() as run:
        run.metric("loss", 0.3, step=10)
        run.metric("test_accuracy", 0.97)

Writes metrics.json, which `rharness record --metrics auto` finds and `rharness compare` reads. This
package imports the standard library alone and decides nothing: verdicts are the program's.
"""

from rharness._program import command, program
from rharness._run import Run, run
from rharness._states import states

__all__ = ["Run", "command", "program", "run", "states"]
__version__ = "0.1.0"
