"""Writes down what a training computes at chosen steps, so that two runs can be compared.

    import rharness_trace
    rharness_trace.watch(model, optimizer=optimizer, steps="0-2,every=100")     # PyTorch
    x = rharness_trace.tap("block1", x, step)                                   # JAX, also in jit

A trace is JSON Lines, "rharness.trace/v1": a header, then a line a tensor in the order in which the
network makes and uses them, each with the SHA-256 of its bytes, its Euclidean norm, its largest
value and a sketch, of which distances between two runs follow. It goes to the file or into the
folder that RHARNESS_TRACE names; where that is not set nothing is done, at no cost. The variable
RHARNESS_TRACE_STEPS goes before the steps that the program asks for.

Nothing here fails the run or changes what it computes: no random number is drawn, and at the first
trouble the hooks remove themselves, note the trouble as the trace's last line, and the run goes on.

Of the standard library alone; these files may be copied beside a program.
With RHARNESS_TRACE and the folder of these files in PYTHONPATH, PyTorch programs are traced as they
are.
"""

import functools
import hashlib
import json
import math
import os
import sys
import threading

PERIOD = 1 << 16  # of the sketch's signs
BUCKETS = 8
NORM = "Euclidean, of finite elements, summed in fp64"
MOST_TENSORS = 64  # of one call
_MOST_NAME = 400
_MOST_BYTES = 1 << 30  # of one trace


class Steps:
    """"0-2,5,every=100": which steps are written. Source of an error: ValueError."""

    def __init__(self, text):
        self.every, self.ranges = 0, []
        for part in str(text).split(","):
            part = part.strip()
            if part.startswith("every="):
                self.every = int(part[6:])
                if self.every < 1:
                    raise ValueError("every=N: expected 1 or more")
            elif part:
                first, _, last = part.partition("-")
                self.ranges.append((int(first), int(last or first)))

    def has(self, step):
        return (self.every > 0 and step % self.every == 0) or any(a <= step <= b for a, b in self.ranges)


def number(value):
    """As JSON has it: what is not finite is spelled."""
    value = float(value)
    return value if math.isfinite(value) else "nan" if value != value else "inf" if value > 0 else "-inf"


@functools.lru_cache(None)
def signs():
    """+1 and -1, as many as PERIOD, the same everywhere: the bits of SHAKE-256("rharness")."""
    octets = hashlib.shake_256(b"rharness").digest(PERIOD // 8)
    return [1.0 if octet >> bit & 1 else -1.0 for octet in octets for bit in range(8)]


class TraceFile:
    """Lines of one process, written a step at a time."""

    def __init__(self, header, path=None, schema="rharness.trace/v1"):
        path = path or os.environ.get("RHARNESS_TRACE")
        rank, world = _rank()
        self.pid, self.bytes, self.lines, self.fd = os.getpid(), 0, [], -1
        if os.path.isdir(path) or not path.endswith((".jsonl", ".calls")):
            os.makedirs(path, exist_ok=True)
            self.fd, self.path = self._new(path, rank)
        else:
            self.path = path
            self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self.add(dict({"schema": schema, "rank": rank, "world": world}, **header))
        self.flush()

    @staticmethod
    def _new(folder, rank):
        for n in range(1000):
            name = "rank-%d%s.jsonl" % (rank, ".%d" % n if n else "")
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
                return os.open(os.path.join(folder, name), flags, 0o644), os.path.join(folder, name)
            except FileExistsError:
                continue
        raise OSError("too many traces in the folder")

    def add(self, line):
        self.lines.append(json.dumps(line, separators=(",", ":"), allow_nan=False))

    def flush(self):
        if self.pid != os.getpid() or not self.lines:
            return
        data = ("\n".join(self.lines) + "\n").encode()
        self.lines = []
        if self.bytes + len(data) > _MOST_BYTES:
            raise OSError("the trace has reached %d bytes" % _MOST_BYTES)
        self.bytes += len(data)
        while data:
            data = data[os.write(self.fd, data) :]

    def end(self, error=None):
        """The last line. Never raises."""
        try:
            if self.fd < 0 or self.pid != os.getpid():
                return
            self.lines.append(json.dumps({"error": str(error)[:300]} if error else {"end": True}))
            self.bytes = 0  # room for this line
            self.flush()
            os.close(self.fd)
        except Exception:
            pass
        self.fd = -1


def _rank():
    try:
        distributed = sys.modules.get("torch.distributed")
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        jax = sys.modules.get("jax")
        if jax is not None and "torch" not in sys.modules:
            return jax.process_index(), jax.process_count()
        return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    except Exception:
        return 0, 1


def line_of(step, order, kind, name, facts, index=0, call=0, kind_of=""):
    line = {"step": step, "order": order, "kind": kind, "name": str(name)[:_MOST_NAME]}
    for key, value in (("index", index), ("call", call), ("type", kind_of)):
        if value:
            line[key] = value
    line.update(facts)
    return line


def torch_header(torch):
    flags = {"torch.num_threads": torch.get_num_threads(), "torch.version.cuda": str(torch.version.cuda)}
    for name, get in (
        ("torch.use_deterministic_algorithms", torch.are_deterministic_algorithms_enabled),
        ("torch.float32_matmul_precision", getattr(torch, "get_float32_matmul_precision", lambda: "highest")),
        ("torch.default_dtype", torch.get_default_dtype),
    ):
        flags[name] = str(get())
    return {
        "framework": "torch",
        "framework_version": str(torch.__version__),
        "norm": NORM,
        "flags": {name: str(value) for name, value in flags.items()},
    }


class _Nothing:
    """What watch returns where no trace is asked for, or none can be had."""

    def note(self, name, value, kind="batch"):
        pass

    def close(self):
        pass


def complain(error):
    try:
        sys.stderr.write("rharness_trace: no trace: %s: %s\n" % (type(error).__name__, error))
    except Exception:
        pass


_auto = None
DEFAULT_STEPS = "0-2,every=100"


def watch(model, optimizer=None, steps=DEFAULT_STEPS, path=None, operators=False):
    """Traces a PyTorch model. A step ends with the optimizer's; without one, a call of the model in
    training is a step. `operators`: each operator, too (rharness_calls). Returns an object with note(name, tensor, kind), for tensors that no module
    sees, and close()."""
    if not (path or os.environ.get("RHARNESS_TRACE")):
        return _Nothing()
    try:
        import rharness_trace_torch
        import torch

        if _auto is not None:
            _auto.stop()
        return rharness_trace_torch.Watch(torch, model, optimizer, steps, path, operators)
    except Exception as error:
        complain(error)
        return _Nothing()


def start():
    """For programs that know nothing of it: watches the first PyTorch model that is trained, once
    PyTorch is imported. Called by sitecustomize where RHARNESS_TRACE is set."""
    import rharness_observe

    observed = rharness_observe._Finder in sys.meta_path
    before = rharness_observe._PATCHES.get("torch") if observed else None

    def patch(torch):
        global _auto
        try:
            if before is not None:
                before(torch)
        finally:
            try:
                import rharness_trace_torch

                _auto = rharness_trace_torch.Auto(torch, DEFAULT_STEPS)
            except Exception as error:
                complain(error)

    if observed:
        rharness_observe._PATCHES["torch"] = patch
    else:
        rharness_observe._PATCHES = {"torch": patch}
        sys.meta_path.insert(0, rharness_observe._Finder)


# JAX. Taps are numbered when they are traced, in the order of the program; what they see comes when
# the device gets to it, and is written in the order of these numbers.


class _Taps:
    def __init__(self):
        self.steps = Steps(os.environ.get("RHARNESS_TRACE_STEPS") or DEFAULT_STEPS)
        self.orders, self.waiting, self.file, self.failed = 0, {}, None, False
        self.lock = threading.Lock()

    def guard(self, work, *args):
        if self.failed:
            return None
        try:
            return work(*args)
        except Exception as error:
            self.failed = True
            if self.file is not None:
                self.file.end("%s: %s" % (type(error).__name__, error))
            else:
                complain(error)
            return None

    def add(self, step, order, kind, name, value):
        step = int(step)
        if not self.steps.has(step):
            return
        line = line_of(step, order, kind, name, _numpy_facts(value))
        with self.lock:
            if self.file is None:
                self._open()
            self.waiting.setdefault(step, []).append(line)
            for done in sorted(one for one in self.waiting if one < step - 1):
                self._write(done)

    def _open(self):
        import atexit

        import jax

        flags = {name: str(getattr(jax.config, name, None)) for name in ("jax_default_matmul_precision", "jax_enable_x64")}
        flags["jax.backend"] = jax.default_backend()
        self.header = {"framework": "jax", "framework_version": jax.__version__, "norm": NORM, "flags": flags}
        self.file = TraceFile(self.header)
        atexit.register(self.close)

    def _write(self, step):
        calls = {}
        for line in sorted(self.waiting.pop(step), key=lambda line: line["order"]):
            key = (line["kind"], line["name"])
            if calls.setdefault(key, 0):
                line["call"] = calls[key]
            calls[key] += 1
            self.file.add(line)
        self.file.flush()

    def close(self):
        self.guard(self._close)

    def _close(self):
        import jax

        jax.effects_barrier()
        with self.lock:
            for step in sorted(self.waiting):
                self._write(step)
        self.file.end()


_taps = None


def _tracing():
    global _taps
    if _taps is None and os.environ.get("RHARNESS_TRACE"):
        _taps = _Taps()
    return _taps is not None and not _taps.failed


def tap(name, value, step, kind="output"):
    """Returns `value`; at the chosen steps it is written. `step`: a number or an array of none
    dimension, as in a training state; what is not at a chosen step never leaves the device. Where
    RHARNESS_TRACE was not set when the program was traced, nothing is added to it."""
    if _tracing():
        _taps.guard(_tap, name, value, step, kind)
    return value


def _tap(name, value, step, kind):
    import jax
    import jax.numpy as jnp

    order, _taps.orders = _taps.orders, _taps.orders + 1

    def seen(at, array):
        _taps.guard(_taps.add, at, order, kind, name, array)

    def write(at, array):
        jax.debug.callback(seen, at, array)

    at = jnp.asarray(step)
    chosen = jnp.zeros((), bool)
    if _taps.steps.every:
        chosen = at % _taps.steps.every == 0
    for first, last in _taps.steps.ranges:
        chosen = chosen | ((at >= first) & (at <= last))
    jax.lax.cond(chosen, write, lambda *_: None, at, jax.lax.stop_gradient(value))


def operators(function, static_argnums=(), batch=()):
    """Of a step function, the same function: at the chosen steps, counted by its calls, each equation
    of it is written, too (rharness_calls_jax). `batch`: names of parameters that are data."""
    if not _tracing():
        return function
    import rharness_calls_jax

    return rharness_calls_jax.Operators(_taps, function, static_argnums, batch)


def trace_pytree(step, name, tree, kind="parameter"):
    """Each array of a tree, outside of jit: kind "parameter" before a step, "gradient", or "updated"
    after it."""
    if _tracing():
        _taps.guard(_trace_pytree, step, name, tree, kind)


def _trace_pytree(step, name, tree, kind):
    import jax

    if not _taps.steps.has(int(step)):
        return
    jax.effects_barrier()  # what was tapped goes first
    place = _PLACES.get(kind, 0)
    for index, (path, leaf) in enumerate(jax.tree_util.tree_flatten_with_path(tree)[0]):
        parts = [name] + [str(getattr(one, "key", getattr(one, "idx", getattr(one, "name", one)))) for one in path]
        _taps.add(step, place + index, kind, ".".join(part for part in parts if part), leaf)


# Among the numbers of taps: what a step begins with goes before them, what it ends with after.
_PLACES = {"batch": -3 << 40, "parameter": -2 << 40, "gradient": 1 << 40, "updated": 2 << 40}


def _numpy_facts(value):
    import numpy

    array = numpy.ascontiguousarray(numpy.asarray(value))
    facts = {"shape": list(numpy.shape(value)), "dtype": str(array.dtype)}
    facts["digest"] = "sha256:" + hashlib.sha256(array.tobytes()).hexdigest()
    flat = array.reshape(-1)
    if flat.size == 0:
        return facts
    if flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    flat = flat.astype(numpy.float64)
    finite = numpy.isfinite(flat)
    if not finite.all():
        facts["nonfinite"] = int((~finite).sum())
        flat = numpy.where(finite, flat, 0.0)
    facts.update(norm=number(math.sqrt(float((flat * flat).sum()))), max=number(abs(flat).max()))
    sums = numpy.pad(flat, (0, -flat.size % PERIOD)).reshape(-1, PERIOD).sum(0)
    facts["sketch"] = [number(one) for one in (sums * numpy.array(signs())).reshape(-1, BUCKETS).sum(0)]
    return facts
