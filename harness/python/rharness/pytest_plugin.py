"""@pytest.mark.reproducible: the test trains, and passes if rharness says that the training reproduces.

Role: each marked test is run several times, each time in a pytest of its own that `rharness record` starts, so that
nothing carries over from one run to the next. `rharness compare` judges the records; its exit code is the test's
result, and its text is what a failure says.

    @pytest.mark.reproducible                                  # equal bit for bit
    def test_training(reproducible_run):
        reproducible_run.metric("accuracy", train())

    @pytest.mark.reproducible(margin={"accuracy": 0.01})       # shown to be within the margin
    def test_training(): return {"accuracy": train()}
"""

import inspect
import json
import os
import re
import sys

import pytest

from rharness._program import command, program
from rharness._run import Run

_CHILD = "RHARNESS_PYTEST_FOLDER"  # where the run of a child goes
_RUNS_BITWISE, _RUNS_MARGIN = 2, 4  # with a margin two runs of the four say how much runs differ
_DOC = """reproducible(margin=None, runs=None, weights=None, timeout=None): trains several times, and asks rharness \
whether the results agree: bit for bit, or, with margin={"metric": value}, within it. `weights` names a checkpoint \
that the test writes below reproducible_run.folder."""


class _RecordedRun(Run):
    def __init__(self, folder):
        super().__init__(os.path.join(folder, "metrics.json"), write=True)
        self.folder = folder


def pytest_addoption(parser):
    parser.addini("reproducible_options", "options of pytest for the runs of reproducible tests", type="args", default=[])


def pytest_configure(config):
    config.addinivalue_line("markers", _DOC)
    folder = os.environ.get(_CHILD)
    config._rharness_run = _RecordedRun(folder) if folder else None


@pytest.fixture
def reproducible_run(request):
    """The run of a reproducible test: metric, curve, ... of rharness.Run, and `folder` for its files."""
    run = request.config._rharness_run
    if run is None:
        pytest.fail("reproducible_run needs @pytest.mark.reproducible on the test", pytrace=False)
    return run


def _mark(item):
    return item.get_closest_marker("reproducible")


def pytest_collection_modifyitems(config, items):
    if config._rharness_run is not None:
        return
    for item in items:
        # The child sets the fixtures up.
        if _mark(item) is not None and hasattr(item, "fixturenames"):
            item.fixturenames = []


def pytest_runtest_setup(item):
    # Methods of unittest.TestCase and coroutines are called by others: the mark would do nothing.
    if _mark(item) is not None and (type(item) is not pytest.Function or inspect.iscoroutinefunction(item.obj)):
        pytest.fail("reproducible needs a plain test function", pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    mark = _mark(pyfuncitem)
    if mark is None:
        return None
    run = pyfuncitem.config._rharness_run
    if run is None:
        _judge(pyfuncitem, _settings(mark))
    else:
        wanted = pyfuncitem._fixtureinfo.argnames
        answer = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted})
        if answer is not None:
            run.metrics(answer)
        run.close()
        if not run.measured() and "weights" not in mark.kwargs:
            pytest.fail("the test measured nothing: it returns no metrics, and reproducible_run has none", pytrace=False)
    return True


def _settings(mark):
    settings = {"margin": None, "runs": None, "weights": None, "timeout": None}
    unknown = sorted(set(mark.kwargs) - set(settings))
    if unknown or mark.args:
        pytest.fail("reproducible takes %s by name" % ", ".join(sorted(settings)), pytrace=False)
    settings.update(mark.kwargs)
    if settings["margin"] is not None and not isinstance(settings["margin"], dict):
        pytest.fail('reproducible: expected margin={"metric": value}', pytrace=False)
    if settings["runs"] is None:
        settings["runs"] = _RUNS_BITWISE if settings["margin"] is None else _RUNS_MARGIN
    if settings["runs"] < 2:
        pytest.fail("reproducible: expected runs of 2 or more", pytrace=False)
    return settings


def _pytest_command(item):
    # "-p" where this file is no installed plugin.
    config = item.config
    # By these names from pytest 6.1 on.
    root = str(getattr(config, "rootpath", None) or config.rootdir)
    settings = getattr(config, "inipath", None) or getattr(config, "inifile", None)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", root]
    if settings:
        words += ["-c", str(settings)]
    if config.pluginmanager.get_name(sys.modules[__name__]) == __name__:
        words += ["-p", __name__]
    if config.pluginmanager.hasplugin("xdist"):
        words += ["-n", "0"]
    if config.pluginmanager.hasplugin("_cov") or config.pluginmanager.hasplugin("pytest_cov"):
        words += ["--no-cov"]
    return words + config.getini("reproducible_options") + [os.path.join(root, item.nodeid)]


def _record(item, settings, folder):
    os.makedirs(folder)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", item.nodeid).strip("-")[-100:]
    words = ["--quiet", "record", "--out", "manifest.json", "--run-id", os.path.basename(folder), "--family", name]
    words += ["--metrics", "metrics.json", "--python-hooks", "--no-diff", "--rng", "test"]
    if settings["margin"] is None:
        words += ["--determinism", "bitwise"]
    for metric, margin in sorted((settings["margin"] or {}).items()):
        words += ["--metric", "%s,direction=none,margin=%r,primary" % (metric, float(margin))]
    if settings["weights"] is not None:
        words += ["--weights", str(settings["weights"]), "--keep", "kept"]  # kept: a drift has a size
    if settings["timeout"] is not None:
        words += ["--timeout", "%ds" % settings["timeout"]]
    environment = dict(os.environ)
    environment[_CHILD] = folder
    environment.pop("PYTEST_CURRENT_TEST", None)
    for variable in [name for name in environment if name.startswith(("PYTEST_XDIST_", "COV_CORE_"))]:
        del environment[variable]
    return command(*(words + ["--"] + _pytest_command(item)), cwd=folder, env=environment)


def _declare(folder):
    """Every metric of the run decides. Their names are known once it has ended: they are added to its record."""
    with open(os.path.join(folder, "metrics.json"), encoding="utf-8") as stream:
        names = sorted(json.load(stream)["metrics"])
    if not names:
        return None
    words = ["--quiet", "import", "--complete", "manifest.json", "--metrics", "metrics.json"]
    for name in names:
        words += ["--metric", name + ",direction=none,primary"]
    return command(*words, cwd=folder)


def _fail_unless_ended(done, what):
    if done.returncode != 0:
        text = (done.stdout + done.stderr).strip()
        pytest.fail("%s ended with %d:\n%s" % (what, done.returncode, text), pytrace=False)


def _compare(manifests, bitwise, base):
    environment = dict(os.environ, COLUMNS=os.environ.get("COLUMNS", "120"))
    if bitwise:
        pairs = [[manifests[0], other, "--expect", "bitwise"] for other in manifests[1:]]
    else:
        pairs = [manifests[:2] + ["--expect", "statistical"]]
        for further in manifests[2:]:
            pairs[0] += ["--replicate", further]
    answers = [command("compare", *words, cwd=base, env=environment) for words in pairs]
    # One that differs is what to read, before one that cannot be told.
    return min(answers, key=lambda one: {0: 9, 1: 0}.get(one.returncode, 1))


def _judge(item, settings):
    try:
        program()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)
    base = str(item.config._tmp_path_factory.mktemp("reproducible"))
    bitwise = settings["margin"] is None
    names = ["run-%d" % number for number in range(1, settings["runs"] + 1)]
    for name in names:
        folder = os.path.join(base, name)
        _fail_unless_ended(_record(item, settings, folder), "%s of %d" % (name, settings["runs"]))
        declared = _declare(folder) if bitwise else None
        if declared is not None:
            _fail_unless_ended(declared, "naming the metrics of %s" % name)
    answer = _compare([name + "/manifest.json" for name in names], bitwise, base)
    text = (answer.stdout + answer.stderr).strip()
    if answer.returncode != 0:
        pytest.fail("rharness compare ends with %d; the records are in %s\n%s" % (answer.returncode, base, text), pytrace=False)
    item.add_report_section("call", "rharness", text)
