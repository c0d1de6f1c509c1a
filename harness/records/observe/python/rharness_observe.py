"""Notes what a Python run sets and reads, and changes nothing of it.

Seeds that are set, determinism flags in force at the end, warnings of operators without a
deterministic implementation, and the environment variables that are asked for by name. Each process
appends lines of a kind, a name and a value, between tabs, to a file of its own in the folder that
RHARNESS_OBSERVE names; each line is one write. Nothing is imported that the run does not import
itself: modules are patched when they have been imported. Every hook fails in silence.

Not seen: seeds of numpy.random.RandomState, of bit generators and of torch.Generator, whose types
cannot be changed; what runs after os._exit; a Python started with -I, -E or -S.
"""

import os
import sys

import rharness_chance as _chance
import rharness_flags as _flags

_MOST_VALUES = 256  # of one source, in one process
_MOST_TEXT = 120

_file = None  # where this process writes; None: nowhere
_role = ""  # " (worker)" in a process that another Python forked or spawned
_noted = {}  # source: the values that were noted
_warned = {}  # operator: warnings that were shown
_local = None


def _clean(value):
    text = str(value)[:_MOST_TEXT]
    return "".join(c if " " <= c <= "~" else "?" for c in text) or "?"


def _write(*fields):
    global _file
    if _file is None:
        return
    try:
        line = "\t".join(_clean(field) for field in fields) + "\n"
        # Not kept open: the run's own files have the numbers that they would have had.
        fd = os.open(_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        try:
            os.write(fd, line.encode("ascii"))
        finally:
            os.close(fd)
    except Exception:
        _file = None


def _text_of(value):
    """A seed as text, by nothing that is not known to be a plain value."""
    kind = type(value)
    if value is None:
        return _chance.drawn_text()
    if kind in (int, bool, float, str, bytes):
        return str(value) + _chance.time_text(value)
    if kind.__module__ == "numpy" and hasattr(kind, "item") and getattr(value, "ndim", None) == 0:
        return str(value.item())
    if kind in (list, tuple) and len(value) <= 16 and all(type(one) is int for one in value):
        return str(list(value))
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray" and value.size <= 16:
        return str(value.tolist())
    entropy = getattr(value, "entropy", None) if kind.__name__ == "SeedSequence" else None
    return "SeedSequence(%s)" % entropy if type(entropy) is int else "<%s>" % kind.__name__


class _Text(str):
    """What is to be noted as it is."""


def note_seed(source, value):
    """A run may call this itself, for a source of its own: note_seed("shuffle", 7)."""
    try:
        if _flags.is_of_library(_chance.is_of_package) and (_role or source not in _STATES):
            return
        text = value if isinstance(value, _Text) else _text_of(value)
        if not text:
            return
        values = _noted.setdefault(source, set())
        if text in values or len(values) > _MOST_VALUES:
            return
        values.add(text)
        _write("seed", source + _role, text if len(values) <= _MOST_VALUES else "(more)")
    except Exception:
        pass


def note_flag(name, value):
    """A run may call this itself: what a rerun should find as it was, note_flag("loader.workers", 4)."""
    try:
        _write("flag", name, value)
    except Exception:
        pass


def _seed_in(args, kwargs):
    for name in ("seed", "a", "x"):
        if name in kwargs:
            return kwargs[name]
    return args[0] if args else None


_STATES = {"random.seed": "random", "numpy.random.seed": "numpy.random", "torch.manual_seed": "torch"}


def _note_before(source, value):
    state = _STATES.get(source)
    if state is not None:
        _chance.seeded_in_worker(state)
        _chance.seeded(state)
    note_seed(source, value)


def _wrap_state(owner, name, source):
    """A generator whose state is set is as good as seeded."""
    original = getattr(owner, name, None)
    if original is None:
        return

    def wrapper(*args, **kwargs):
        try:
            _chance.seeded_in_worker(source)
            _chance.seeded(source)
        except Exception:
            pass
        return original(*args, **kwargs)

    wrapper.__module__, wrapper.__doc__ = getattr(owner, "__name__", None), original.__doc__
    wrapper.__name__ = wrapper.__qualname__ = name
    wrapper.__wrapped__ = original
    wrapper._torchdynamo_disable = True
    setattr(owner, name, wrapper)


def _wrap(owner, name, source, made=None):
    """Lets owner.name note its seed before it does its work, and what it makes after it."""
    original = getattr(owner, name, None)
    if original is None or getattr(original, "_rharness", False):
        return

    def wrapper(*args, **kwargs):
        outermost = not getattr(_local, "inside", False)
        if outermost:
            try:
                _local.inside = True
                _note_before(source, _seed_in(args, kwargs))
            except Exception:
                pass
        try:
            result = original(*args, **kwargs)
            if made is not None:
                made(source, result)
            return result
        finally:
            if outermost:
                _local.inside = False

    wrapper.__dict__.update(getattr(original, "__dict__", {}))
    wrapper.__wrapped__ = original
    # By these names it is pickled; a compiler of functions leaves it alone.
    wrapper.__module__ = getattr(owner, "__name__", None)
    wrapper.__name__ = wrapper.__qualname__ = name
    wrapper.__doc__ = getattr(original, "__doc__", None)
    wrapper._rharness = True
    wrapper._torchdynamo_disable = True
    setattr(owner, name, wrapper)


def _patch_random(module):
    _wrap(module, "seed", "random.seed")
    _wrap_state(module, "setstate", "random")
    _chance.watch("random", module.getstate)
    # Of the generators that somebody makes with a seed: random.Random(7).
    kind = module.Random
    original = kind.seed

    def seed(self, *args, **kwargs):
        try:
            value = _seed_in(args, kwargs)
            if not getattr(_local, "inside", False):
                note_seed("random.Random", value)
        except Exception:
            pass
        return original(self, *args, **kwargs)

    seed.__doc__ = original.__doc__
    seed.__qualname__ = "Random.seed"
    seed.__module__ = "random"
    seed.__wrapped__ = original
    kind.seed = seed


def _patch_numpy(module):
    _wrap(module, "seed", "numpy.random.seed")
    _wrap_state(module, "set_state", "numpy.random")
    _chance.watch("numpy.random", module.get_state)
    _wrap(module, "default_rng", "numpy.random.default_rng", _chance.made)
    # Every generator without a seed asks here: SeedSequence(), PCG64(), RandomState().
    bits = sys.modules.get("numpy.random.bit_generator")
    original = getattr(bits, "randbits", None)

    def randbits(count):
        try:
            if not getattr(_local, "inside", False):
                _chance.numpy_asks()
        except Exception:
            pass
        try:
            os.urandom.quiet = True
            return original(count)
        finally:
            os.urandom.quiet = False

    if original is not None:
        bits.randbits = randbits


def _patch_torch(module):
    _wrap(module, "manual_seed", "torch.manual_seed")
    if hasattr(module, "random") and hasattr(module.random, "manual_seed"):
        module.random.manual_seed = module.manual_seed
        _wrap(module, "seed", "torch.seed")
        module.random.seed = module.seed
        _wrap_state(module, "set_rng_state", "torch")
        module.random.set_rng_state = module.set_rng_state
        _chance.watch("torch", module.get_rng_state)
    cuda = getattr(module, "cuda", None)
    for name in ("manual_seed", "manual_seed_all"):
        if cuda is not None:
            _wrap(cuda, name, "torch.cuda." + name)


def _patch_jax(module):
    for name in ("PRNGKey", "key"):
        _wrap(module, name, "jax.random." + name)


def _patch_tensorflow(module):
    _wrap(module.random, "set_seed", "tensorflow.random.set_seed")


_PATCHES = {
    "multiprocessing.process": _chance.patch_process,
    "multiprocessing.pool": _chance.patch_pool,
    "random": _patch_random,
    "numpy.random": _patch_numpy,
    "torch": _patch_torch,
    "jax.random": _patch_jax,
    "tensorflow": _patch_tensorflow,
}


class _Finder:
    """Finds nothing itself: lets those after it find, and patches what has been executed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        patch = _PATCHES.get(name)
        if patch is None and not _chance.is_own_import():
            return None
        for finder in sys.meta_path:
            if finder is _Finder or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if patch is not None:
                    _patch_after(spec, patch)
                elif _chance.is_of_package(spec.origin):
                    _patch_after(spec, lambda module, before=_chance.states(): _chance.imported(before))
                return spec
        return None


def _patch_after(spec, patch):
    try:
        loader = spec.loader
        original = loader.exec_module

        def exec_module(module):
            try:
                del loader.exec_module
            except Exception:
                pass
            original(module)
            try:
                patch(module)
            except Exception:
                pass

        loader.exec_module = exec_module
    except Exception:
        pass


def _watch_warnings():
    import warnings

    show = warnings._showwarnmsg

    def _showwarnmsg(message):
        try:
            text = str(message.message)
            mark = " does not have a deterministic implementation"
            if mark in text:
                operator = text[: text.index(mark)]
                _warned[operator] = _warned.get(operator, 0) + 1
                if _warned[operator] == 1:
                    _write("warned", operator, 1)
        except Exception:
            pass
        return show(message)

    warnings._showwarnmsg = _showwarnmsg


def _note_flags():
    if _file is None:
        return
    try:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, get in _flags.flags():
                try:
                    value = get()
                except Exception:
                    continue
                if type(value) in (bool, int, str) or value is None:
                    _write("flag", name, value)
        for operator, count in _warned.items():
            if count > 1:
                _write("warned", operator, count)
        _chance.at_end()
    except Exception:
        pass


def _note_start():
    try:
        program = os.readlink("/proc/self/exe")
    except OSError:
        program = sys.executable
    _write("python", "%d.%d.%d" % sys.version_info[:3], "")
    # Not cut: it is compared.
    if _file is not None and program.isprintable() and program.isascii():
        global _MOST_TEXT
        short, _MOST_TEXT = _MOST_TEXT, 500
        _write("program", program, "")
        _MOST_TEXT = short
    seed = "random" if sys.flags.hash_randomization else "0"
    try:
        seed = str(int(os.environ.get("PYTHONHASHSEED", seed))) if sys.flags.hash_randomization else seed
    except ValueError:
        pass
    _write("flag", "python.hash_seed", seed)


def _begin(folder, role):
    global _file, _role
    _role = role
    _noted.clear()
    _warned.clear()
    if role and _file is not None:
        _chance.forked()
    # Of two processes with one number, one after the other, both write here: each line says all.
    _file = os.path.join(folder, "python-%d%s.txt" % (os.getpid(), "-worker" if role else ""))


def start():
    global _local
    folder = os.environ.get("RHARNESS_OBSERVE")
    if not folder or _file is not None:
        return
    from _thread import _local as thread_local

    _local = thread_local()
    with open(os.path.join(folder, "names"), encoding="ascii") as file:
        lines = file.read(1 << 17).splitlines()
    names = frozenset(line[1:] for line in lines if line.startswith("="))
    prefixes = tuple(line[1:] for line in lines if line.startswith("^"))
    spawned = "--multiprocessing-fork" in getattr(sys, "orig_argv", ())
    _begin(folder, " (worker)" if spawned else "")
    _chance.start(lambda source, text: note_seed(source, _Text(text)), lambda name, value: _write("flag", name, value))
    _note_start()
    os.register_at_fork(after_in_child=lambda: _begin(folder, " (worker)"))
    for name, patch in _PATCHES.items():
        if name in sys.modules:
            patch(sys.modules[name])
    sys.meta_path.insert(0, _Finder)
    import rharness_variables

    rharness_variables.start(names, prefixes, _local, _write)
    _watch_warnings()
    import atexit

    atexit.register(_note_flags)
