"""Where the program rharness lies, and calls of it."""

import os
import shutil
import subprocess
import sysconfig


def _candidates():
    # What RHARNESS_PROGRAM names; beside this package, as `pip install --target` puts it; where this Python's
    # programs go, as in a virtual environment; in the user's own folder.
    named = os.environ.get("RHARNESS_PROGRAM")
    if named:
        yield named
        return
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield os.path.join(here, "bin", "rharness")
    yield os.path.join(sysconfig.get_path("scripts"), "rharness")
    for scheme in sysconfig.get_scheme_names():
        if scheme == os.name + "_user":
            yield os.path.join(sysconfig.get_path("scripts", scheme), "rharness")
    found = shutil.which("rharness")
    if found:
        yield found


def program():
    """The path of the program. Raises FileNotFoundError, with the places."""
    tried = []
    for path in _candidates():
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
        tried.append(path)
    raise FileNotFoundError("the program rharness is not at %s, nor on the PATH" % ", ".join(tried))


def command(*arguments, **options):
    """Runs the program and waits for it: a subprocess.CompletedProcess with its text.

    Its exit code is an answer (1: a finding), so that none raises. `options` are those of subprocess.run.
    """
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    settings.update({"encoding": "utf-8", "errors": "replace"})
    settings.update(options)
    return subprocess.run([program()] + [os.fspath(one) for one in arguments], **settings)
