"""The determinism flags of the libraries that a Python run has imported. Imports nothing itself."""

import sys


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
