"""Notes which environment variables a Python run asks for by name, and changes nothing of it.

Of those that a record keeps, each that is asked for; of others those that the run was started with
and that its own code reads: a rerun goes without them.
"""

import os

import rharness_chance as _chance

_MOST = 64
_ORDINARY = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "PWD", "OLDPWD", "TMPDIR", "TEMP", "TMP",
    "LANG", "COLUMNS", "LINES", "HOSTNAME", "DISPLAY", "PYTHONPATH", "LD_PRELOAD", "VIRTUAL_ENV", "_",
)
_SECRET = ("KEY", "TOKEN", "SECRET", "PASS")


def start(names, prefixes, local, write):
    """`names`, `prefixes`: of the variables that a record keeps. `local`: of each thread."""
    kind = type(os.environ)
    get, all_of = kind.__getitem__, kind.__iter__
    given = dict(os.environ)
    noted = set()

    def is_copied(key):
        """One that is taken because all are, in their order, is not asked for."""
        order = getattr(local, "order", None)
        if not order:
            return False
        if order[-1] == key:
            order.pop()
            return True
        local.order = None
        return False

    def note(key, value):
        if key in noted:
            return
        if key in names or (bool(prefixes) and key.startswith(prefixes)):
            noted.add(key)
            write("variable", key, "")
        elif value is not None and given.get(key) == value and key not in _ORDINARY and len(noted) < _MOST:
            if key.startswith("RHARNESS") or any(word in key for word in _SECRET):
                return
            kind_of, file, line = _chance.caller()
            if kind_of == "own":
                noted.add(key)
                write("flag", "unrecorded." + key, "%s:%d" % (_chance.short(file), line))

    def __getitem__(self, key):
        is_asked_for = False
        try:
            is_asked_for = type(key) is str and not is_copied(key)
        except Exception:
            pass
        value = None
        try:
            value = get(self, key)
            return value
        finally:
            try:
                if is_asked_for:
                    note(key, value)
            except Exception:
                pass

    def __iter__(self):
        try:
            keys = list(all_of(self))
            local.order = keys[::-1]
        except Exception:
            return all_of(self)
        return iter(keys)

    __getitem__.__qualname__, __iter__.__qualname__ = "_Environ.__getitem__", "_Environ.__iter__"
    kind.__getitem__, kind.__iter__ = __getitem__, __iter__
    os.register_at_fork(after_in_child=noted.clear)
