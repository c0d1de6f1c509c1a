"""Reads the tree of a source: where it leaves an order open, and where it draws.

Nothing is imported: the tree is that of compile(..., 0x400). A value is taken for a set where the
source says so: a set that comes out of a function of another file is not seen.
"""

import os
import sys


class Found:
    def __init__(self):
        self.sets = []  # lines that go through a set, or use hash()
        self.workers = []  # lines that take results as workers finish
        self.seeded_states = set()  # lines that make a RandomState with a seed
        self.states = []  # lines that hand on a seed for one: random_state=42
        self.times = []  # lines that sort by the times of files
        self.listings = []  # first and last lines of what lists a folder and is not sorted
        self.draws = {}  # "random", "numpy.random": the first line that draws


_TAKES_IN_ORDER = ("list", "tuple", "enumerate", "iter", "zip", "map", "filter", "array", "asarray", "join", "choice", "sample", "shuffle", "tensor")
_AS_FINISHED = ("imap_unordered", "as_completed")
_LISTS = ("listdir", "scandir", "glob", "iglob", "iterdir", "rglob", "walk")
_TIMES = ("getmtime", "getctime", "st_mtime", "st_ctime", "st_mtime_ns", "st_ctime_ns")
_NO_DRAW = ("seed", "setstate", "getstate", "set_state", "get_state", "default_rng", "Random", "RandomState", "Generator", "SeedSequence", "PCG64", "MT19937", "Philox", "SFC64", "SystemRandom")


def _name(node):
    return type(node).__name__


def _children(node):
    for field in node._fields:
        value = getattr(node, field, None)
        for one in value if type(value) is list else (value,):
            if hasattr(one, "_fields"):
                yield one


def _walk(node, parent=None):
    stack = [(node, parent)]
    while stack:
        one, above = stack.pop()
        yield one, above
        stack.extend((child, one) for child in reversed(list(_children(one))))


def _called(node):
    """The last name of what is called: "listdir" of os.listdir(...)."""
    if _name(node) != "Call":
        return ""
    return getattr(node.func, "attr", None) or getattr(node.func, "id", "")


def _is_number(node):
    return _name(node) in ("Constant", "Num") and type(getattr(node, "value", getattr(node, "n", None))) in (int, bool)


def _is_set(node, names):
    kind = _name(node)
    if kind == "Set":
        return not all(_is_number(one) for one in node.elts)
    if kind == "SetComp":
        return not _is_number(node.elt)
    if kind == "Name":
        return node.id in names
    if kind == "BinOp":
        return _is_set(node.left, names) or _is_set(node.right, names)
    if kind == "Call" and getattr(node.func, "id", "") in ("set", "frozenset"):
        return bool(node.args) and _called(node.args[0]) != "range"
    return kind == "Call" and _called(node) in ("union", "intersection", "difference") and _is_set(node.func.value, names)


def _set_names(pairs):
    names = set()
    for node, _ in pairs:
        if _name(node) == "Assign" and _is_set(node.value, names):
            names.update(one.id for one in node.targets if _name(one) == "Name")
    for node, _ in pairs:
        if _name(node) == "Assign" and not _is_set(node.value, names):
            names.difference_update(one.id for one in node.targets if _name(one) == "Name")
    return names


def _sorted_names(pairs):
    """Names that are sorted somewhere: x.sort(), sorted(x)."""
    names = set()
    for node, _ in pairs:
        called = _called(node)
        if called == "sort" and _name(getattr(node.func, "value", None)) == "Name":
            names.add(node.func.value.id)
        if called == "sorted" and node.args and _name(node.args[0]) == "Name":
            names.add(node.args[0].id)
    return names


def _is_sorted(node, parents, names):
    while node is not None:
        if _called(node) in ("sorted", "len", "set", "sum", "max", "min", "any", "all"):
            return True
        if _name(node) == "Assign":
            return any(_name(one) == "Name" and one.id in names for one in node.targets)
        if _name(node) in ("For", "AsyncFor", "Expr", "FunctionDef", "Return"):
            return False
        node = parents.get(id(node))
    return False


def _modules(pairs):
    """The names by which random and numpy.random, and what is in them, are known."""
    modules, functions = {}, {}
    for node, _ in pairs:
        if _name(node) == "Import":
            for one in node.names:
                if one.name in ("random", "numpy.random"):
                    modules[one.asname or one.name] = one.name
                if one.name == "numpy":
                    modules[(one.asname or "numpy") + ".random"] = "numpy.random"
        if _name(node) == "ImportFrom" and node.module in ("random", "numpy.random", "numpy"):
            for one in node.names:
                if node.module == "numpy":
                    if one.name == "random":
                        modules[one.asname or "random"] = "numpy.random"
                else:
                    functions[one.asname or one.name] = (node.module, one.name)
    return modules, functions


def _dotted(node):
    if _name(node) == "Name":
        return node.id
    if _name(node) == "Attribute":
        above = _dotted(node.value)
        return above + "." + node.attr if above else ""
    return ""


def _find_draws(pairs, found):
    modules, functions = _modules(pairs)
    for node, _ in pairs:
        if _name(node) != "Call":
            continue
        whole = _dotted(node.func)
        module, _, last = whole.rpartition(".")
        source, function = (modules.get(module), last) if module else functions.get(last, (None, last))
        if source and function not in _NO_DRAW:
            found.draws.setdefault(source, node.lineno)


def scan(tree):
    found = Found()
    pairs = list(_walk(tree))
    parents = {id(node): parent for node, parent in pairs}
    sets, sorted_names = _set_names(pairs), _sorted_names(pairs)
    _find_draws(pairs, found)
    for node, parent in pairs:
        kind, called = _name(node), _called(node)
        if kind in ("For", "comprehension") and _is_set(node.iter, sets):
            inside = parents.get(id(node))
            in_set = kind == "comprehension" and _name(inside) in ("SetComp",)
            if not in_set and not _is_sorted(inside if kind == "comprehension" else None, parents, sorted_names):
                found.sets.append(node.iter.lineno)
        if called in _TAKES_IN_ORDER and any(_is_set(one, sets) for one in node.args):
            if not _is_sorted(parent, parents, sorted_names):
                found.sets.append(node.lineno)
        if called == "pop" and not node.args and _is_set(getattr(node.func, "value", None), sets):
            found.sets.append(node.lineno)
        if called == "hash" and hasattr(node.func, "id") and node.args:
            found.sets.append(node.lineno)
        if called in ("RandomState", "check_random_state") and (node.args or node.keywords):
            value = node.args[0] if node.args else node.keywords[0].value
            if getattr(value, "value", 0) is not None:
                found.states.append(node.lineno)
                found.seeded_states.update(range(node.lineno, (getattr(node, "end_lineno", None) or node.lineno) + 1))
        if called and any(one.arg == "random_state" and getattr(one.value, "value", 0) is not None for one in node.keywords):
            found.states.append(node.lineno)
        if called in ("sorted", "sort", "min", "max"):
            keys = [one.value for one in node.keywords if one.arg == "key"]
            if any(getattr(one, "attr", getattr(one, "id", "")) in _TIMES for key in keys for one, _ in _walk(key)):
                found.times.append(node.lineno)
        if called in _AS_FINISHED:
            found.workers.append(node.lineno)
        if called in _LISTS and not _is_sorted(parent, parents, sorted_names):
            # A loop lists when it begins, and goes on at the line of its head.
            above = parent if _name(parent) in ("For", "comprehension") else node
            found.listings.append((node.lineno, getattr(node, "end_lineno", None) or node.lineno))
            if above is not node and hasattr(above, "lineno"):
                found.listings.append((above.lineno, above.lineno))
    return found


def module_files(main, start):
    """Of the modules; of the main one, whose file has no name any more when it has ended, as given."""
    files = [main] + sys.argv[:1]
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    files.append(getattr(spec, "origin", None))
    files += [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return dict.fromkeys(os.path.join(start, one) for one in files if type(one) is str and one.endswith(".py"))


class Sources:
    """The run's own modules, as far as they were read from files: `files` of those that `is_own`.
    `short` shortens the name of a file; at most `most` are read."""

    def __init__(self, files, is_own, short, most):
        self._files, self._is_own, self._short, self._most = files, is_own, short, most
        self._trees = None

    def _all(self):
        if self._trees is None:
            self._trees = []
            size = 0
            for file in self._files:
                if type(file) is not str or not file.endswith(".py") or not self._is_own(file):
                    continue
                try:
                    with open(file, "rb") as opened:
                        text = opened.read(1 << 20)
                    size += len(text)
                    # Half a second of reading at most, and the main module comes first.
                    if size > 1 << 18 or len(self._trees) >= self._most:
                        break
                    self._trees.append((file, compile(text, file, "exec", 0x400, True)))
                except Exception:
                    continue
        return self._trees

    def scan(self):
        return [(file, scan(tree)) for file, tree in self._all()]

    def draw(self, source):
        """Where the run's own code calls the generator of a module; empty: nowhere."""
        for file, found in self.scan():
            if source in found.draws:
                return "%s:%d" % (self._short(file), found.draws[source])
        return ""
