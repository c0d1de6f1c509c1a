"""The equations of a JAX function at chosen steps, each with what it read and made.

At a chosen step the function is traced (jax.make_jaxpr) and evaluated equation by equation; then it
runs as it is, and that result alone is returned and recorded as the last call, "compiled.NAME". What
the equations give is thrown away: XLA fuses and reorders them, so that their bits are not always those
of the compiled function. Two runs' equations compare nevertheless, and where they are all equal and
the last call is not, the compiler or the machine differs.

Bodies of jit, remat, custom_jvp, custom_vjp, cond, while and scan are followed, iterations by number in
"module", of loops up to MOST_ITERATIONS; longer ones, pmap, shard_map and kernels are units. "name" is the
parameter of the function and the path in its tree. Keys of random numbers are inputs like others.
Printing and taps are left out of the evaluation; a function with ordered effects is not evaluated.
"""

import atexit
import contextlib
import functools
import hashlib
import inspect
import math
import os
import re

from rharness_calls import MOST_TENSORS, CallsFile, quote, tensor_text

MOST_ITERATIONS = 256
_CALLS = {"pjit": "jaxpr", "jit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr", "remat2": "jaxpr",
          "checkpoint": "jaxpr", "remat": "jaxpr", "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr",
          "custom_vjp_call_jaxpr": "fun_jaxpr"}  # fmt: skip
_UNITS = {"xla_pmap", "shard_map", "pallas_call", "custom_call", "ffi_call", "while", "scan", "cond"}
_SILENT = {"debug_callback", "debug_print"}
_HIDDEN = re.compile(r"(?:[a-z_]+\()+|\)")


class _Value:
    """An array, the text of its content, the call that made it, and its name; a constant of the
    program is an argument."""

    __slots__ = ("array", "text", "order", "name", "constant")

    def __init__(self, array, order=None, name=None, constant=False):
        self.array, self.text, self.order, self.name, self.constant = array, None, order, name, constant

    def json(self, made=False):
        if self.text is None:
            self.text = _text(self.array)
        text = self.text
        if not made and self.order is not None:
            text += ',"from":%d' % self.order
        if not made and self.name:
            text += ',"name":' + quote(self.name)
        return "{%s}" % text


def _text(array):
    import jax
    import numpy

    kind = str(array.dtype) if hasattr(array, "dtype") else ""
    if kind.startswith("key<"):
        array = jax.random.key_data(array)
    values = numpy.ascontiguousarray(numpy.asarray(array))
    digest = hashlib.sha256(values.tobytes()).hexdigest()[:16]
    flat = values.reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    flat = flat.astype(numpy.float64)
    finite = numpy.isfinite(flat)
    lost = int(flat.size - finite.sum())
    if lost:
        flat = numpy.where(finite, flat, 0.0)
    return tensor_text(digest, numpy.shape(array), kind or str(values.dtype), math.sqrt(float(flat @ flat)), lost)


class Evaluation:
    """One step's equations."""

    def __init__(self, file):
        self.file, self.sites = file, {}

    def run(self, jaxpr, consts, values, scope, prefix=()):
        """The values of a jaxpr's outputs. `scope`: modules outside of it; `prefix`: numbers of iterations."""
        known = dict(zip(jaxpr.constvars, consts))
        known.update(zip(jaxpr.invars, values))
        kept = {one for one in jaxpr.outvars if not hasattr(one, "val")}
        last = {}
        for place, equation in enumerate(jaxpr.eqns):
            last.update((one, place) for one in equation.invars if not hasattr(one, "val"))
        for place, equation in enumerate(jaxpr.eqns):
            read = [self.value(one, known) for one in equation.invars]
            if equation.primitive.name in _SILENT:
                continue
            for variable, value in zip(equation.outvars, self.evaluate(equation, read, scope)):
                known[variable] = value
            for one in equation.invars:
                if last.get(None if hasattr(one, "val") else one) == place and one not in kept:
                    known.pop(one, None)  # what nothing reads any more
        return [self.value(one, known) for one in jaxpr.outvars]

    @staticmethod
    def value(variable, known):
        return _Value(variable.val, constant=True) if hasattr(variable, "val") else known[variable]

    def inside(self, inner, values, scope):
        if hasattr(inner, "consts"):
            return self.run(inner.jaxpr, [_Value(one) for one in inner.consts], values, scope)
        return self.run(inner, [], values, scope)

    def evaluate(self, equation, read, scope):
        name, params = equation.primitive.name, equation.params
        stack = str(equation.source_info.name_stack)
        if stack:
            scope = scope + [stack]
        if name in _CALLS and _CALLS[name] in params:
            inner = scope + [str(params["name"])] if params.get("name") and scope else scope
            return self.inside(params[_CALLS[name]], read, inner or [""])
        if name == "cond":
            index = int(read[0].array)
            return self.inside(params["branches"][index], read[1:], scope)
        if name == "while":
            return self.loop(params, read, scope)
        if name == "scan" and params["length"] <= MOST_ITERATIONS:
            return self.scan(params, read, scope)
        return self.call(equation, read, scope)

    def loop(self, params, read, scope):
        of_cond, of_body = params["cond_nconsts"], params["body_nconsts"]
        head, body, carry = read[:of_cond], read[of_cond : of_cond + of_body], read[of_cond + of_body :]
        turn = 0
        while True:
            inner = scope + ["while.%d" % turn]
            if turn >= MOST_ITERATIONS:
                raise OverflowError("a while of more than %d iterations is not evaluated" % MOST_ITERATIONS)
            if not bool(self.inside(params["cond_jaxpr"], head + carry, inner)[0].array):
                return carry
            carry = self.inside(params["body_jaxpr"], body + carry, inner)
            turn += 1

    def scan(self, params, read, scope):
        import jax.numpy as jnp

        consts, carries = params["num_consts"], params["num_carry"]
        fixed, carry, rows = read[:consts], read[consts : consts + carries], read[consts + carries :]
        turns = range(params["length"])
        made = []
        for turn in reversed(turns) if params["reverse"] else turns:
            row = [_Value(one.array[turn], one.order, one.name and "%s[%d]" % (one.name, turn)) for one in rows]
            results = self.inside(params["jaxpr"], fixed + carry + row, scope + ["scan.%d" % turn])
            carry, out = results[:carries], results[carries:]
            made.append(out)
        if params["reverse"]:
            made.reverse()
        shapes = params["jaxpr"].out_avals[carries:]
        for place, shape in enumerate(shapes):
            if made:
                rows = jnp.stack([out[place].array for out in made])
                carry = carry + [_Value(rows, made[-1][place].order)]
            else:
                carry = carry + [_Value(jnp.zeros((0,) + shape.shape, shape.dtype))]
        return carry

    def call(self, equation, read, scope):
        primitive, words = equation.primitive, []
        if primitive.name == "io_callback":
            raise ValueError("a function with io_callback is not evaluated a second time")
        bound = primitive.get_bind_params(equation.params)
        functions, params = bound if isinstance(bound, tuple) else ((), bound)  # a pair before JAX 0.6
        with getattr(getattr(equation, "ctx", None), "manager", contextlib.nullcontext()):
            results = primitive.bind(*functions, *[one.array for one in read], **params)
        results = list(results) if primitive.multiple_results else [results]
        inputs = []
        for place, value in enumerate(read):
            if value.constant:
                words.append("operand%d=%s" % (place, value.array))
            else:
                inputs.append(value.json())
        for key in sorted(equation.params):
            text = _word(equation.params[key])
            if text:
                words.append("%s=%s" % (key, text))
        made = [_Value(one, self.file.order) for one in results]
        stack = "/".join(scope)
        phase = "backward" if "transpose(" in stack else "forward" if "jvp(" in stack else "other"
        module = ".".join(part for part in _HIDDEN.sub("", stack).split("/") if part)
        unit = [("unit", "compiled")] if primitive.name in _UNITS else []
        self.file.add(phase, module, primitive.name, self.site(equation), ", ".join(words), bounded(inputs),
                      bounded([one.json(True) for one in made]), unit)  # fmt: skip
        return made

    def site(self, equation):
        try:
            from jax._src import source_info_util

            try:
                frame = source_info_util.user_frame(equation.source_info)
            except (AttributeError, TypeError):
                frame = source_info_util.user_frame(equation.source_info.traceback)
            return "%s:%d" % (os.path.basename(frame.file_name), frame.start_line) if frame else ""
        except Exception:
            return ""


def _word(value):
    """Of a parameter of an equation; "" of what prints an address or a program."""
    if value is None or hasattr(value, "eqns") or hasattr(value, "jaxpr"):
        return ""
    if callable(value) and not isinstance(value, type):
        return ""
    text = " ".join(str(getattr(value, "__name__", value) if isinstance(value, type) else value).split())
    return "" if " at 0x" in text or "{ lambda" in text else text


def bounded(texts):
    if len(texts) <= MOST_TENSORS:
        return texts
    rest = texts[MOST_TENSORS - 1 :]
    digest = hashlib.sha256("".join(one.partition(',"from"')[0] for one in rest).encode()).hexdigest()[:16]
    return texts[: MOST_TENSORS - 1] + ['{"digest":"%s","count":%d}' % (digest, len(rest))]


def _named(function, args, kwargs, static, batch):
    """Each array that a function is given, by its parameter and the path in its tree."""
    import jax

    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
        names = list(bound)[: len(args)]
    except (TypeError, ValueError):
        names = []
    names += ["args.%d" % place for place in range(len(names), len(args))]
    found = []
    given = [one for place, one in enumerate(zip(names, args)) if place not in static]
    for name, value in given + sorted(kwargs.items()):
        for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
            parts = [str(getattr(one, "key", getattr(one, "idx", getattr(one, "name", one)))) for one in path]
            path = ".".join([name] + parts)
            found.append(_Value(leaf, name="batch[%s]" % path if name in batch else path))
    return found


class Operators:
    """What rharness_trace.operators returns."""

    def __init__(self, taps, function, static_argnums, batch):
        self.taps, self.function, self.static, self.batch = taps, function, static_argnums, batch
        self.step, self.file = 0, None
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args, **kwargs):
        step, self.step = self.step, self.step + 1
        chosen = not self.taps.failed and self.taps.steps.has(step) and not _traced(args, kwargs)
        inputs = self.taps.guard(self._evaluate, step, args, kwargs) if chosen else None
        result = self.function(*args, **kwargs)
        if inputs is not None:
            self.taps.guard(self._finish, inputs, result)
        return result

    def _evaluate(self, step, args, kwargs):
        import jax

        if self.file is None:
            self._open()
        self.file.begin(step)
        closed = jax.make_jaxpr(self.function, static_argnums=self.static)(*args, **kwargs)
        values = _named(self.function, args, kwargs, self.static, self.batch)
        # The arrays, in the form that the equations expect.
        for value, shape in zip(values, closed.in_avals):
            if not hasattr(value.array, "dtype"):
                value.array = jax.numpy.asarray(value.array, shape.dtype)
        try:
            Evaluation(self.file).run(closed.jaxpr, [_Value(one) for one in closed.consts], values, [])
        except Exception as error:
            self._fail(error)
            return None
        return bounded([one.json() for one in values])

    def _finish(self, inputs, result):
        import jax

        made = [_Value(one).json(True) for one in jax.tree_util.tree_leaves(result)]
        name = getattr(self.function, "__name__", "function")
        self.file.add("other", "", "compiled." + name, "", "", inputs, bounded(made), [("unit", "compiled")])
        self.file.flush()

    def _open(self):
        if self.taps.file is None:
            with self.taps.lock:
                self.taps._open()
        self.file = CallsFile(self.taps.file, self.taps.header)
        atexit.register(self.file.end)

    def _fail(self, error):
        """The rest of the step is missing; no further step is evaluated."""
        self.file.end("%s: %s" % (type(error).__name__, error))
        self.taps = type("Ended", (), {"failed": True, "steps": self.taps.steps})()


def _traced(args, kwargs):
    import jax

    return any(isinstance(one, jax.core.Tracer) for one in jax.tree_util.tree_leaves((args, kwargs)))
