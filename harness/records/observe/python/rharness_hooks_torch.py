"""Hooks of a PyTorch module that copies and pickles of it do not have, and torch.jit.script does not see.

A module keeps its hooks in dictionaries, which torch.save(model) and copy.deepcopy take along. Ours
are functions of a running trace: nobody could load them, and a copy would count as another model.
So we put a dictionary in place of an empty one that calls hooks like it, and is saved, copied and
listed without ours. Of a module that has hooks of the program already nothing is replaced.
"""

from collections import OrderedDict

_BEFORE = ("_forward_pre_hooks", "_forward_pre_hooks_with_kwargs")
_AFTER = ("_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called")


class _Hooks(OrderedDict):
    def __init__(self, *args):
        super().__init__(*args)
        self.ours = set()  # keys

    def seen(self):
        return OrderedDict((key, hook) for key, hook in self.items() if key not in self.ours)

    def __reduce_ex__(self, protocol):
        return self.seen().__reduce_ex__(protocol)

    def copy(self):
        return self.seen()

    __copy__ = copy

    # torch.nn.Module calls what items() lists; torch.jit.script compiles what values() lists.
    def values(self):
        return self.seen().values()


def _prepare(module, names):
    for name in names:
        table = module.__dict__.get(name)
        if type(table) is OrderedDict and not table:
            module.__dict__[name] = _Hooks()


def _hide(module, names, handle):
    for name in names:
        table = module.__dict__.get(name)
        if isinstance(table, _Hooks):
            table.ours.add(handle.id)
    return handle


def before(module, work):
    """Calls work(module, args, kwargs) before each call of the module."""
    _prepare(module, _BEFORE)

    def hook(one, args, kwargs=None):  # without, if it is removed while the hooks of a call run
        work(one, args, kwargs or {})

    try:
        handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    except TypeError:  # before PyTorch 2.0
        handle = module.register_forward_pre_hook(hook)
    return _hide(module, _BEFORE, handle)


def after(module, work):
    """Calls work(module, args, result) after each call of the module."""
    _prepare(module, _AFTER)
    return _hide(module, _AFTER, module.register_forward_hook(work))
