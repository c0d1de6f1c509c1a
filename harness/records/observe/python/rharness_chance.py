"""Notes what of a Python run is left to chance, and changes nothing of it.

Generators that are drawn from without a seed, workers that draw from the state of their parent,
folders whose files are taken as they are listed. States of generators are looked at when a library has been imported, before it is
seeded and at the end, so that no draw costs anything. At the end the run's own sources are read:
which of them go through a set, take files as they come, or results as workers finish.

Not seen: generators that are made by their type (random.Random is), what ends by os._exit or a
signal, and draws after a generator's state was set.
"""

import os
import sys

DRAWN = "none: drawn from the system"
_MOST_PATH = 60  # with more, a note would lose its end, which is the file
_MOST = 64  # generators, listings, files

_note = None  # rharness_observe.note_seed
_flag = None  # writes a flag
_states = {}  # source: (function that gives the state, the state when nobody had seeded it)
_seeded = set()
_generators = []  # [source, generator, state]
_asked = set()  # places at which NumPy asked the system
_listings = {}  # (file, line): {folder: digest}
_listed = 0
_told = set()  # flags that are written once
_is_worker = False
_is_forked = False
_packages = ("/site-packages/", "/dist-packages/")
_here = os.path.dirname(os.path.abspath(__file__)) + "/"
_library = os.path.dirname(os.path.abspath(os.__file__)) + "/"
_start = ""  # the folder that the run was started in
_main = ""


def _kind_of(file):
    """"own", "package" or "" (of Python itself, or of these hooks)."""
    if file.startswith("<"):
        return "own" if file in ("<string>", "<stdin>") else ""
    for mark in _packages:
        if mark in file:
            return "package"
    return "" if file.startswith((_here, _library)) or "/lib/python3" in file else "own"


def short(file):
    for mark in _packages:
        if mark in file:
            return file[file.index(mark) + len(mark) :]
    path = os.path.abspath(file)
    path = path[len(_start) + 1 :] if path.startswith(_start + "/") else path
    if len(path) > _MOST_PATH and "/" in path[-_MOST_PATH:]:
        path = "..." + path[path.index("/", len(path) - _MOST_PATH) :]
    return path


def caller():
    """The kind, file and line of the nearest frame that is not Python's own."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        kind = _kind_of(file)
        if kind:
            return kind, file, frame.f_lineno
        frame = frame.f_back
    return "", "", 0


def _is_importing():
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def drawn_text():
    """What a generator that is made without a seed is noted with; empty: of no matter."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((_here, _library + "random.py", "<frozen random")):
        frame = frame.f_back
    if frame is None:
        return ""
    file, line = frame.f_code.co_filename, frame.f_lineno
    # Python itself draws names of temporary files, and packages much when they are imported.
    kind = _kind_of(file)
    if not kind or (kind == "package" and _is_importing()):
        return ""
    place = "%s:%d" % (short(file), line)
    return "%s (%s%s)" % (DRAWN, "package " if kind == "package" else "", place)


def numpy_asks():
    """NumPy makes a generator from the system, or a RandomState, which it seeds right after. Which
    of the two is seen at the end, in the source."""
    kind, file, line = caller()
    if kind == "own" and len(_asked) < _MOST:
        _asked.add((file, line))


def _state(get):
    try:
        state = get()
        if type(state) is tuple:
            return tuple(one.tobytes() if hasattr(one, "tobytes") else one for one in state)
        if type(state) is dict:
            return repr(state)
        return bytes(state.numpy().tobytes()) if hasattr(state, "numpy") else state
    except Exception:
        return None


def watch(source, get):
    """A generator of a module, which has just been imported: its state is the system's."""
    state = _state(get)
    if state is not None:
        _states[source] = (get, state)


def seeded(source):
    """Is called before a generator is seeded, or its state set, for the first time."""
    if source in _seeded:
        return
    _end_of(source, "")
    _seeded.add(source)


def is_own_import():
    return caller()[0] == "own"


def is_of_package(file):
    return type(file) is str and _kind_of(file) == "package"


def states():
    return {source: _state(get) for source, (get, before) in _states.items() if source not in _seeded}


def imported(states_before):
    """What a package draws while it is imported is no draw of the run."""
    for source, (get, before) in list(_states.items()):
        if source not in _seeded and states_before.get(source, before) == before:
            _states[source] = (get, _state(get))


def made(source, generator):
    """A generator that the run has made, kept to see whether workers draw from copies of it."""
    if len(_generators) < _MOST:
        _generators.append([source, generator, None])


def _end_of(source, place):
    if source in _seeded or source not in _states:
        return
    get, before = _states[source]
    if _state(get) != before:
        _note(source, "%s (%s)" % (DRAWN, place) if place else DRAWN)
        _seeded.add(source)  # said once


def _crc(state):
    from binascii import crc32

    return "%08x" % (crc32(repr(state).encode("utf-8", "replace")) & 0xFFFFFFFF)


def _worker_begins():
    """After a fork, when Python has given the module random another state of the system's."""
    global _is_worker
    _is_worker = True
    for source in list(_states):
        get = _states[source][0]
        _states[source] = (get, _state(get))
    # What the parent seeded, it seeded for itself.
    _seeded.discard("random")
    for one in _generators:
        one[2] = _state(lambda one=one: one[1].bit_generator.state)


def _worker_ends():
    if "random" in _states and "random" not in _seeded:
        get, before = _states["random"]
        if _state(get) != before:
            _end_of("random", _sources().draw("random"))
    for source in list(_states):
        get, before = _states[source]
        if source == "random" or source + ".in_worker" in _seeded or _state(get) == before:
            continue
        _note(source, "inherited state " + _crc(before))
    for source, generator, before in _generators:
        if before is not None and _state(lambda: generator.bit_generator.state) != before:
            _note(source, "inherited state " + _crc(before))


def seeded_in_worker(source):
    if _is_worker:
        _seeded.add(source + ".in_worker")


def patch_process(module):
    kind = module.BaseProcess
    original = kind._bootstrap

    def _bootstrap(self, *args, **kwargs):
        spawned = "--multiprocessing-fork" in getattr(sys, "orig_argv", ())
        try:
            if not spawned:
                _worker_begins()
        except Exception:
            pass
        try:
            return original(self, *args, **kwargs)
        finally:
            try:
                if _is_worker:
                    _worker_ends()
            except Exception:
                pass

    kind._bootstrap = _bootstrap


def _list_folder(folder, list_names):
    global _listed
    if _listed >= _MOST or type(folder) is int:
        return
    kind, file, line = caller()
    if kind != "own":
        return
    path = os.path.abspath(os.fspath(folder) if folder is not None else ".")
    folders = _listings.setdefault((file, line), {})
    if type(path) is not str or path in folders:
        return
    _listed += 1
    names = [one for one in list_names() if not one.startswith((".", "__pycache__"))]
    folders[path] = "%d names, %s" % (len(names), _crc(names))


def patch_pool(module):
    """Workers of a pool are ended by a signal: they are looked at after their first tasks."""
    left = [3]

    def noting(original):
        def wrapper(*args, **kwargs):
            result = original(*args, **kwargs)
            try:
                if _is_worker and left[0] > 0:
                    left[0] -= 1
                    _worker_ends()
            except Exception:
                pass
            return result

        # By these names it is pickled.
        wrapper.__name__, wrapper.__qualname__ = original.__name__, original.__qualname__
        wrapper.__module__, wrapper.__wrapped__ = original.__module__, original
        return wrapper

    for name in ("mapstar", "starmapstar"):
        setattr(module, name, noting(getattr(module, name)))


class _Listing:
    """Stands for os.listdir or os.scandir. No function: as a member of a class, as older pathlib
    has it, a function would be bound."""

    def __init__(self, original, listdir):
        self.__wrapped__, self._listdir = original, listdir
        self.__name__ = self.__qualname__ = original.__name__
        self.__doc__, self.__module__ = original.__doc__, "os"

    def __call__(self, *args, **kwargs):
        result = self.__wrapped__(*args, **kwargs)
        try:
            path = args[0] if args else kwargs.get("path")
            _list_folder(path, lambda: result if type(result) is list else self._listdir(path))
        except Exception:
            pass
        return result

    def __reduce__(self):
        return self.__name__


_ASKS = ("uuid.py", "secrets.py", "random.py")


class _SystemDraw:
    """Stands for os.urandom. No function, for the reason of _Listing."""

    __name__ = __qualname__ = "urandom"
    __module__ = "os"

    def __init__(self, original):
        self.__wrapped__, self.__doc__ = original, original.__doc__

    def __call__(self, *args, **kwargs):
        try:
            if not self.quiet:
                self._note()
        except Exception:
            pass
        return self.__wrapped__(*args, **kwargs)

    def __reduce__(self):
        return self.__name__

    quiet = False

    @staticmethod
    def _note():
        frame = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename.startswith(tuple(_library + one for one in _ASKS)):
            frame = frame.f_back
        if frame is not None and _kind_of(frame.f_code.co_filename) == "own":
            place = "%s:%d" % (short(frame.f_code.co_filename), frame.f_lineno)
            _note("os.urandom", "%s (%s)" % (DRAWN, place))


def watch_listings():
    listdir = os.listdir
    for original in (listdir, os.scandir):
        noting = _Listing(original, listdir)
        setattr(os, original.__name__, noting)
        # Who asks whether a function can do something asks the original.
        for functions in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
            if original in functions:
                functions.add(noting)


def time_text(value):
    """What is added to a seed that is the time, in whichever unit, or the number of the process."""
    if type(value) not in (int, float):
        return ""
    import time

    nanoseconds = time.time() * 1e9
    for unit in (1e9, 1e6, 1e3, 1.0):
        now = nanoseconds / unit
        # A minute may lie between; of what was cut to 32 bits a hundredth of a second, or of nanoseconds a
        # thousandth, since any constant is near to them once in a while.
        if abs(now - value) < 60e9 / unit:
            return " (the time)"
        if unit < 1e9 and 0 <= now % 2**32 - value < min(1e7 / unit, 1e6) and value > 1000:
            return " (the time)"
    return " (the process's number)" if value == os.getpid() and value > 1 else ""


def _sources():
    from rharness_sources import Sources, module_files

    return Sources(module_files(_main, _start), lambda file: _kind_of(os.path.abspath(file)) == "own", short, _MOST)


def forked():
    """In a child: what its generators hold is its parent's, or the system's by now."""
    global _is_forked
    _is_forked = True


def at_end():
    if _is_worker or _is_forked:
        return
    own = _sources()
    for source in list(_states):
        get, before = _states[source]
        if source not in _seeded and _state(get) != before:
            # Packages draw from this one for names and pauses, and from the others for results.
            _end_of(source, own.draw(source) or ("package" if source == "random" else ""))
    for file, found in own.scan():
        for asked, line in sorted(_asked):
            if os.path.abspath(asked) == os.path.abspath(file) and line not in found.seeded_states:
                _note("numpy.random generator", "%s (%s:%d)" % (DRAWN, short(file), line))
        for name, lines in (("python.set_order", found.sets), ("python.worker_order", found.workers), ("python.file_times", found.times), ("python.random_state", found.states)):
            if lines and name not in _told:
                _told.add(name)
                _flag(name, "%s:%d" % (short(file), lines[0]))
        for (listed, line), folders in _listings.items():
            if os.path.abspath(listed) != os.path.abspath(file):
                continue
            if not any(first <= line <= last for first, last in found.listings):
                continue
            if "python.listing_order" not in _told:
                _told.add("python.listing_order")
                _flag("python.listing_order", "%s:%d" % (short(file), line))
            for folder, digest in folders.items():
                name = os.path.relpath(folder, _start) if (folder + "/").startswith(_start + "/") else folder
                _flag("file_order." + name, digest)


def start(note, flag):
    global _note, _flag, _start, _main
    _note, _flag, _start = note, flag, os.getcwd()
    _main = (getattr(sys, "argv", None) or [""])[0]
    watch_listings()
    os.urandom = _SystemDraw(os.urandom)
    _flag("process.cpus", len(os.sched_getaffinity(0)))
