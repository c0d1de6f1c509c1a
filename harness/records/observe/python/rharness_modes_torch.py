"""The mode of PyTorch's dispatcher by which rharness_calls_torch sees operators, and its place.

A thread has a stack of modes. Ours is entered and left below all modes of the program.
"""

import os


def mode_of(torch):
    from torch.utils._python_dispatch import TorchDispatchMode

    class OperatorTrace(TorchDispatchMode):
        supports_higher_order_operators = True

        def __init__(self, calls):
            super().__init__()
            self.calls = calls

        @classmethod
        def is_infra_mode(cls):  # torch.compile compiles as without it
            return True

        @classmethod
        def ignore_compile_internals(cls):
            return True

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls = self.calls
            if not calls.active or calls.inside or calls.pid != os.getpid() or not hasattr(func, "_schema"):
                return func(*args, **(kwargs or {}))
            if torch._C._get_tracing_state() is not None:  # of torch.jit.trace
                return func(*args, **(kwargs or {}))
            if any(one not in _PLAIN for one in types):
                return NotImplemented  # a subclass, whose own calls come here
            return calls.call(func, args, kwargs or {})

    _PLAIN = {torch.Tensor, torch.nn.Parameter, torch.nn.parameter.Buffer} if hasattr(
        torch.nn.parameter, "Buffer") else {torch.Tensor, torch.nn.Parameter}
    return OperatorTrace


def enter(mode):
    mode.__enter__()
    _place(mode, 0)


def leave(mode):
    """Whether the mode was on this thread's stack. If not, nothing is done."""
    if not on_stack(mode):
        return False
    _place(mode, None)
    mode.__exit__(None, None, None)
    return True


def on_stack(mode):
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    return any(one is mode for one in _get_current_dispatch_mode_stack())


def _place(mode, place):
    """Moves a mode to this place of the stack of the program's modes, or to its top."""
    from torch._C import _push_on_torch_dispatch_stack
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack, _pop_mode

    stack = list(_get_current_dispatch_mode_stack())
    order = [one for one in stack if one is not mode]
    order.insert(len(order) if place is None else place, mode)
    if order != stack:
        for _ in stack:
            _pop_mode(None)
        for one in order:
            _push_on_torch_dispatch_stack(one)
