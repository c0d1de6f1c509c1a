"""Writes down every operator that a training calls at chosen steps, "rharness.calls/v1".

    rharness_trace.watch(model, optimizer, operators=True)                    # PyTorch
    step = rharness_trace.operators(step_function)                            # JAX

or, for PyTorch programs that know nothing of it, RHARNESS_TRACE_OPERATORS=1 beside RHARNESS_TRACE.
One file a rank, `rank-N.calls` beside the trace of modules: a header, a line a call in the order of
the calls, and a line that says how it ended. A call has its operator, phase, module, call site, the
arguments that are no tensors, and the tensors it read and wrote: the first 64 bits of the SHA-256 of
their content in C order, shape, type, and the Euclidean norm of their finite elements.

    no digest   nothing has written the content yet, or it cannot be read
    from        the call of this step that last wrote this tensor's memory
    unseen      the content is not what was left there: something wrote it that is no call
    view        the call computes nothing, it looks at memory in another way
"""

import hashlib
import json

from rharness_trace import TraceFile

MOST_TENSORS = 64  # of one list of one call; the rest is one digest
_MOST_ARGS = 200
_MOST_WAITING = 1 << 20

quote = json.encoder.encode_basestring_ascii


class CallsFile:
    """The calls of one process. What cannot be written raises OSError."""

    def __init__(self, trace, header):
        line = {name: header[name] for name in ("framework", "framework_version")}
        line.update(digest="sha256/64", flags=header["flags"])
        self.file = TraceFile(line, trace.path[: -len(".jsonl")] + ".calls", "rharness.calls/v1")
        self.step, self.order, self.waiting = 0, 0, 0

    def begin(self, step):
        self.step, self.order = step, 0

    def add(self, phase, module, op, site, args, read, written, more=(), view=False):
        """`read`, `written`: texts of JSON objects; `more`: further members and their texts."""
        parts = ['{"step":%d,"order":%d,"phase":"%s"' % (self.step, self.order, phase)]
        words = (("module", module), ("op", op), ("site", site), ("args", short(args)), *more)
        parts += [',"%s":%s' % (key, quote(value)) for key, value in words if value]
        if view:
            parts.append(',"view":true')
        for key, value in (("in", read), ("out", written)):
            if value:
                parts.append(',"%s":[%s]' % (key, ",".join(value)))
        parts.append("}")
        line = "".join(parts)
        self.file.lines.append(line)
        self.order += 1
        self.waiting += len(line)
        if self.waiting > _MOST_WAITING:
            self.flush()

    def flush(self):
        self.waiting = 0
        self.file.flush()

    def end(self, error=None):
        self.file.end(error)


def tensor_text(digest, shape, dtype, norm, nonfinite):
    """The members of a tensor that follow from its content, without the brackets."""
    size = ",".join(map(str, shape))
    if not digest:
        return '"shape":[%s],"dtype":"%s"' % (size, dtype)
    text = '"digest":"%s","shape":[%s],"dtype":"%s","norm":%s' % (digest, size, dtype, number_text(norm))
    return text + ',"nonfinite":%d' % nonfinite if nonfinite else text


def number_text(value):
    text = "%.9g" % value
    return text if text[-1].isdigit() else '"inf"'


def value_text(value, plain):
    """Of an argument that is no tensor: as it prints, or of what would print an address its type."""
    if value is None or isinstance(value, (bool, int, float, str, complex) + plain):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(value_text(one, plain) for one in value)
    return type(value).__name__


def short(args):
    """A long text by its beginning and what tells it from others that begin so."""
    if len(args) <= _MOST_ARGS:
        return args
    return "%s... (%d, %s)" % (args[: _MOST_ARGS - 30], len(args), hashlib.sha256(args.encode()).hexdigest()[:8])
