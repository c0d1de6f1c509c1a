"""The determinism flags of the libraries that a Python run has imported, and which seeds are a
library's own. Imports nothing itself."""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LOADER = os.path.join("torch", "utils", "data", "_utils", "worker.py")
_BETWEEN = tuple(os.path.join(os.sep + "torch", *one) for one in (["random.py"], ["_compile.py"], ["_dynamo", "eval_frame.py"]))


def is_of_library(is_package):
    """Whether a library sets a seed of its own: what PyTorch's loader derives for a worker from the
    run's seed, or a constant of a package that is being imported."""
    frame = sys._getframe(1)
    while frame is not None and (frame.f_code.co_filename.startswith(_here) or frame.f_code.co_filename.endswith(_BETWEEN)):
        frame = frame.f_back
    if frame is not None and frame.f_code.co_filename.endswith(_LOADER):
        return True
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    by = frame.f_back if frame is not None else None
    # A package that is run, by python -m, is the run itself.
    return by is not None and by.f_code.co_filename.startswith("<frozen importlib") and is_package(frame.f_code.co_filename)


def flags():
    """Name and getter, of the libraries that the run has imported."""
    loaded = sys.modules.get
    torch, jax = loaded("torch"), loaded("jax")
    if torch is not None:
        cudnn = loaded("torch.backends.cudnn")
        matmul = getattr(getattr(getattr(torch, "backends", None), "cuda", None), "matmul", None)
        yield "torch.use_deterministic_algorithms", lambda: torch.are_deterministic_algorithms_enabled()
        yield "torch.deterministic_warn_only", lambda: torch.is_deterministic_algorithms_warn_only_enabled()
        yield "torch.float32_matmul_precision", lambda: torch.get_float32_matmul_precision()
        yield "torch.num_threads", lambda: torch.get_num_threads()
        for name in ("deterministic", "benchmark", "allow_tf32"):
            yield "torch.backends.cudnn." + name, lambda name=name: getattr(cudnn, name)
        yield "torch.backends.cuda.matmul.allow_tf32", lambda: matmul.allow_tf32
    if jax is not None:
        for name in ("jax_default_matmul_precision", "jax_enable_x64"):
            yield name, lambda name=name: getattr(jax.config, name)
    config = loaded("tensorflow.python.framework.config")
    if config is not None:
        yield "tensorflow.op_determinism", lambda: config.is_op_determinism_enabled()
