# Found first by a Python that is started under observation (PYTHONPATH): starts the hooks, and then
# runs the sitecustomize that would have been found without this one.
import sys


def _start():
    try:
        import rharness_observe

        rharness_observe.start()
    except Exception:
        pass  # a hook that fails must not fail the run
    try:
        import os

        if os.environ.get("RHARNESS_TRACE"):
            import rharness_trace

            rharness_trace.start()
    except Exception:
        pass


def _run_next():
    import os
    from importlib import util
    from importlib.machinery import PathFinder

    here = os.path.dirname(os.path.abspath(__file__))
    others = [path for path in sys.path if os.path.abspath(path or os.curdir) != here]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_start()
_run_next()
