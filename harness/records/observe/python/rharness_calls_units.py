"""What rharness_calls_torch records as a whole: compiled graphs, Triton's kernels, and collectives.

A collective is awaited before its result is read where the program itself waits at once: in calls with
async_op=False, and in DistributedDataParallel's backward, whose ranks reduce in one order. To wait for
others could stop ranks that wait for one another: their result has no digest, and what reads it has.
"""

import sys

import rharness_modes_torch

_KEY = 16  # characters of a compiled graph's key


def patch(torch, calls):
    """Wraps what runs units, for one step. Returns what undoes it, last first."""
    undo = []
    for module in ("torch._inductor.output_code", "torch._inductor.codecache"):
        graph = getattr(sys.modules.get(module), "CompiledFxGraph", None)
        if graph is not None:
            _replace(undo, graph, "__call__", lambda original: _graph(calls, original))
            break
    kernel = getattr(sys.modules.get("triton.runtime.jit"), "JITFunction", None)
    if kernel is not None:
        _replace(undo, kernel, "run", lambda original: _kernel(calls, original))
    operator = getattr(sys.modules.get("torch._ops"), "HigherOrderOperator", None)
    from torch.utils._python_dispatch import TorchDispatchMode

    if operator is not None and not hasattr(TorchDispatchMode, "supports_higher_order_operators"):
        _replace(undo, operator, "__call__", lambda original: _higher(calls, original))
    return undo[::-1]


def _replace(undo, owner, name, make):
    original = getattr(owner, name)
    ours = make(original)
    setattr(owner, name, ours)
    undo.append(lambda: setattr(owner, name, original) if getattr(owner, name) is ours else None)


def _graph(calls, original):
    def call(graph, *args, **kwargs):
        if not calls.active or calls.inside:
            return original(graph, *args, **kwargs)
        key = str(getattr(graph, "cache_key", None) or getattr(graph, "_fx_graph_cache_key", None) or "")
        words = "key=" + key[:_KEY] if key else ""
        # The graph empties the list that it is given.
        return calls.unit("compiled.graph", words, "compiled", list(args), original, (graph,) + args, kwargs)

    return call


def _kernel(calls, original):
    def run(kernel, *args, **kwargs):
        if not calls.active or calls.inside or kwargs.get("warmup"):
            return original(kernel, *args, **kwargs)
        name = "triton." + str(getattr(kernel, "__name__", "kernel"))
        words = "grid=%r" % (kwargs.get("grid"),) if isinstance(kwargs.get("grid"), tuple) else ""
        return calls.unit(name, words, "triton", list(args) + list(kwargs.values()), original, (kernel,) + args, kwargs)

    return run


def _higher(calls, original):
    """Before PyTorch has rules for modes of others, a higher operator is one that no mode may see."""

    def call(operator, *args, **kwargs):
        if not calls.active or calls.inside or calls.mode is None:
            return original(operator, *args, **kwargs)
        mode = calls.mode
        left = rharness_modes_torch.leave(mode)
        try:
            return original(operator, *args, **kwargs)
        finally:
            if left:
                rharness_modes_torch.enter(mode)

    return call


def begin_collective(calls, op, arguments):
    """The text of its group: ranks, number in this step, reduction."""
    ranks, reduction = None, ""
    for name, value in arguments:
        if name == "process_group":
            ranks = _ranks(calls.torch, value)
        elif name == "ranks":
            ranks = list(value)
        elif name in ("group_name", "tag") and ranks is None:
            ranks = _ranks(calls.torch, value)
        elif name == "reduce_op":
            reduction = _reduction(calls.torch, value)
    text = "ranks %s" % (_spans(ranks) if ranks else "unknown")
    if op.endswith(".wait_tensor.default"):
        return ""
    number = calls.groups.get(text, 0)
    calls.groups[text] = number + 1
    return ("%s #%d %s" % (text, number, reduction)).strip()


def awaited(calls, op, result):
    """Whether the result is there; waits for it where the program would."""
    if op.startswith("c10d."):
        if not _waits(calls.torch):
            return False
        for one in result if isinstance(result, (list, tuple)) else [result]:
            if type(one).__name__ == "ScriptObject":
                one.wait()
        return True
    return ".wait_tensor." in op or "_wrap_tensor" in op


def _waits(torch):
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.endswith("distributed_c10d.py"):
            if frame.f_code.co_name in ("send", "recv"):
                return True
            if "async_op" in frame.f_code.co_varnames:
                return frame.f_locals.get("async_op") is False
        frame = frame.f_back
    return torch._C._current_graph_task_id() != -1


def _ranks(torch, group):
    distributed = torch.distributed
    try:
        if isinstance(group, str):
            group = distributed.distributed_c10d._resolve_process_group(group)
        elif hasattr(distributed.ProcessGroup, "unbox"):
            group = distributed.ProcessGroup.unbox(group)
        elif len(distributed.distributed_c10d._world.pg_map) == 1:
            group = None
        else:
            return None
        return distributed.get_process_group_ranks(group or distributed.group.WORLD)
    except Exception:
        return None


def _reduction(torch, value):
    try:
        if not isinstance(value, str):
            value = str(torch.distributed.ReduceOp.unbox(value).op)
        return value.rpartition(".")[2].upper()
    except Exception:
        return ""


def _spans(ranks):
    """0, 1, 2, 5: "0-2,5"."""
    spans = []
    for rank in sorted(ranks):
        if spans and spans[-1][1] == rank - 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    return ",".join("%d-%d" % (a, b) if a != b else "%d" % a for a, b in spans)
