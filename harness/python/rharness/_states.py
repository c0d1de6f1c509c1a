"""The states of random number generators, as digests. Reads them, draws nothing, imports nothing heavy."""

import hashlib
import sys

_DIGITS = 16  # of SHA-256: two states that differ look alike once in 2^64


def _digest(*parts):
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part)
    return sha.hexdigest()[:_DIGITS]


def _random():
    return _digest(repr(sys.modules["random"].getstate()).encode("ascii"))


def _numpy():
    kind, keys, *rest = sys.modules["numpy"].random.get_state()
    return _digest(kind.encode("ascii"), keys.tobytes(), repr([repr(float(one)) for one in rest]).encode("ascii"))


def _tensor(state):
    return _digest(bytes(bytearray(state.tolist())))


def _torch():
    return _tensor(sys.modules["torch"].get_rng_state())


def _torch_cuda():
    cuda = sys.modules["torch"].cuda
    # A state that is asked for would start CUDA.
    if not cuda.is_initialized():
        return None
    return ", ".join(_tensor(state) for state in cuda.get_rng_state_all())


def states():
    """Digests of the global generators of the modules that the run has imported, by name."""
    found = {}
    for name, module, read in (
        ("random", "random", _random),
        ("numpy.random", "numpy", _numpy),
        ("torch", "torch", _torch),
        ("torch.cuda", "torch", _torch_cuda),
    ):
        if module not in sys.modules:
            continue
        try:
            digest = read()
        except Exception:  # another version of the library: the run goes on
            continue
        if digest:
            found[name] = digest
    return found
