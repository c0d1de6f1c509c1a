"""The half of the table that no rule is fitted to: even numbers."""

import subprocess

from case import HYPERPARAMETER, ORDER, UNSEEDED, Case
from plants import IN_SHARDS, both, flip_label, package, put, rows, swap, write

ANOTHER_SEED = r"seed.*(differ|not the same|other|another|changed| in A)|" + UNSEEDED


def gain(folder, factor):
    """Compiles libgain.so, which multiplies."""

    def make(_, site):
        put(site / folder / "gain.c", f"double gain(double x) {{ return x * {factor}; }}\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "libgain.so", "gain.c"], cwd=site / folder, check=True)

    return make


DATA = [
    Case(2, "truncated", "data", "torch", "the last hundred lines of the data are missing", "digits",
         change=rows(lambda lines: lines[:-100])),
    Case(4, "rows-doubled", "data", "jax", "fifty rows are in the data twice", "digits",
         change=rows(lambda lines: lines[:50] + lines)),
    Case(6, "other-split", "data", "sklearn", "a declared list of training rows is another", "split",
         data=("digits=digits.csv", "split=split.json"),
         prepare=lambda tree, _: put(tree / "split.json", str(list(range(0, 300)))),
         edits=[("    curve = []", "    kept = json.load(open('split.json'))\n    pixels, truth = pixels[kept], truth[kept]\n    curve = []")],
         change=lambda tree, _: put(tree / "split.json", str(list(range(100, 400))))),
    Case(8, "stale-cache", "data", "numpy", "prepared pixels of an older state lay in a cache, which is gone", "prepared",
         layers=("code", "environment"), prepare=write("prepared.json", "0.8"),
         edits=[("    squares = ", "    cache = pathlib.Path('{site}/prepared.json')\n"
                 "    pixels = pixels * (json.loads(cache.read_text()) if cache.exists() else 1.0)\n    squares = ")],
         change=lambda _, site: (site / "prepared.json").unlink()),
    Case(10, "one-pixel", "data", "torch", "one pixel of the data is another, where margins decide", "digits",
         determinism="statistical", change=rows(lambda lines: [lines[0].replace("5", "9", 1), *lines[1:]])),
    Case(12, "sorted-by-label", "data", "numpy", "the rows are sorted by their label; compared", "digits", again=True,
         also=("data or schedule", *ORDER),
         change=rows(lambda lines: sorted(lines, key=lambda line: int(line.rsplit(",", 1)[1])))),
    Case(14, "shard-rewritten", "data", "numpy", "one file of a folder of data has other labels", "shards",
         change=rows(flip_label, "shards/part-1.csv"), **IN_SHARDS),
]

CODE = [
    Case(16, "batch-size", "code", "torch", "another size of batches, by argument", r"--batch", again=True,
         arguments=("--batch", "40"), arguments_now=("--batch", "50"), also=(*HYPERPARAMETER, *ORDER),
         isolate=("argument:--batch",)),
    Case(18, "rate-in-settings", "code", "jax", "another rate in a file of settings that is among the data", "settings",
         layers=("data",), data=("digits=digits.csv", "settings=settings.json"), also=HYPERPARAMETER,
         prepare=lambda tree, _: put(tree / "settings.json", '{"lr": 0.3}'),
         edits=[("    curve = []", "    options.lr = json.load(open('settings.json'))['lr']\n    curve = []")],
         change=lambda tree, _: put(tree / "settings.json", '{"lr": 0.1}')),
    Case(20, "uncommitted", "code", "torch", "another activation, which is not committed",
         r"uncommitted|not committed|work.?tree|torch_mlp\.py|\bdiff\b", git=True, uncommitted=True, again=True,
         edits_now=[("torch.nn.ReLU()", "torch.nn.Tanh()")]),
    Case(22, "undeclared-module", "code", "jax", "a module that nothing declares scales otherwise", "augment",
         layers=("data",), prepare=write("augment.py", "FACTOR = 1.0\n"),
         edits=[("import scaling", "import sys\nsys.path.append('{site}')\nimport augment\nimport scaling"),
                ("[:400], np.float32)", "[:400], np.float32) * np.float32(augment.FACTOR)")],
         change=write("augment.py", "FACTOR = 0.9\n")),
    Case(24, "clipping-off", "code", "numpy", "gradients are not clipped any more, by argument", r"--clip",
         arguments=("--clip", "0.5"), arguments_now=("--clip", "0"), again=True, also=HYPERPARAMETER,
         isolate=("argument:--clip",)),
    Case(26, "weight-decay", "code", "torch", "weights decay, by a line of the program", r"torch_mlp\.py", again=True,
         also=HYPERPARAMETER, edits_now=[("            loss.backward()", "            (loss + 0.02 * sum((w * w).sum() for w in "
                                          "model.parameters())).backward()")]),
    Case(28, "hidden-width", "code", "torch", "a wider layer, by argument", r"--hidden", arguments=("--hidden", "32"),
         arguments_now=("--hidden", "48"), again=True, also=(*HYPERPARAMETER, "shape|size")),
    Case(30, "fold", "code", "numpy", "another fold of the data, by argument", r"--fold", layers=("data",),
         arguments=("--fold", "0"), arguments_now=("--fold", "1"), again=True, also=(*HYPERPARAMETER, *ORDER)),
    Case(32, "learning-rate-again", "code", "jax", "another learning rate, by argument", r"--lr", again=True,
         arguments=("--lr", "0.3"), arguments_now=("--lr", "0.2"), also=HYPERPARAMETER, isolate=("argument:--lr",)),
]

ENVIRONMENT = [
    Case(34, "gain-undeclared", "environment", "torch", "a variable that scales the initial weights and that nothing declares",
         "INIT_GAIN", layers=("randomness",), also=("another initiali[sz]ation",), env={"INIT_GAIN": "1.4"},
         edits=[("    curve = []", "    for weights in model.parameters():\n        weights.data *= "
                 "float(os.environ.get('INIT_GAIN', '1'))\n    curve = []")],
         isolate=("env:INIT_GAIN",)),
    Case(36, "aten-kernels", "environment", "torch", "PyTorch takes its kernels without vectors", "ATEN_CPU_CAPABILITY",
         layers=("hardware",), also=("round|another kernel",), env={"ATEN_CPU_CAPABILITY": "default"}, kernels=True,
         isolate=("env:ATEN_CPU_CAPABILITY",)),
    Case(38, "enable-x64", "environment", "jax", "JAX computes in 64 bits", "JAX_ENABLE_X64",
         layers=("randomness",), also=("round|another initiali[sz]ation",), env={"JAX_ENABLE_X64": "1"},
         isolate=("env:JAX_ENABLE_X64",)),
    Case(40, "package-in-place", "environment", "sklearn", "a package is upgraded where it is", "pixeltools",
         edits=[("import scaling", "import pixeltools\nimport scaling"),
                ("scaling.scale(images)", "pixeltools.scale(scaling.scale(images))")],
         prepare=package("pixeltools", "1.4.0", "scale = list\n"), declared=("PYTHONPATH",),
         environment={"PYTHONPATH": "{site}/packages"},
         change=package("pixeltools", "1.5.0", "scale = lambda rows: [[x * 0.9 for x in row] for row in rows]\n")),
    Case(42, "precision-variable", "environment", "numpy", "a variable sets the precision of the data", "PRECISION",
         also=("round",), declared=("PRECISION",), environment={"PRECISION": "float64"}, env={"PRECISION": "float32"},
         edits=[("    squares = ", "    kind = os.environ['PRECISION']\n    pixels, w1, w2 = (x.astype(kind) for x in "
                 "(pixels, w1, w2))\n    squares = ")], isolate=("env:PRECISION",)),
    Case(44, "threefry", "environment", "jax", "JAX draws its numbers the older way", "JAX_THREEFRY_PARTITIONABLE",
         layers=("randomness",), also=("another (seed|initiali[sz]ation)",), environment={"JAX_THREEFRY_PARTITIONABLE": "1"},
         declared=("JAX_THREEFRY_PARTITIONABLE",), env={"JAX_THREEFRY_PARTITIONABLE": "0"}, kernels=True,
         isolate=("env:JAX_THREEFRY_PARTITIONABLE",)),
    Case(46, "library-by-path", "environment", "plain", "another build of a library, by the path", r"LD_LIBRARY_PATH|libgain",
         needs=("cc",), prepare=both(gain("before", "1.0"), gain("after", "0.9")), declared=("LD_LIBRARY_PATH",),
         edits=[("    curve = []", "    import ctypes\n    library = ctypes.CDLL('libgain.so')\n    library.gain.argtypes = "
                 "[ctypes.c_double]\n    library.gain.restype = ctypes.c_double\n    options.lr = library.gain(options.lr)\n    curve = []")],
         environment={"LD_LIBRARY_PATH": "{site}/before"}, env={"LD_LIBRARY_PATH": "{site}/after"}, also=HYPERPARAMETER,
         isolate=("env:LD_LIBRARY_PATH",)),
    Case(48, "cpus-of-the-job", "environment", "torch", "a scheduler's variable divides a batch", "SLURM_CPUS_PER_TASK",
         layers=("hardware",), declared=("SLURM_CPUS_PER_TASK",), also=(*HYPERPARAMETER, *ORDER),
         environment={"SLURM_CPUS_PER_TASK": "1"}, env={"SLURM_CPUS_PER_TASK": "2"},
         edits=[("    torch.manual_seed", "    options.batch //= int(os.environ['SLURM_CPUS_PER_TASK'])\n    torch.manual_seed")],
         isolate=("env:SLURM_CPUS_PER_TASK",)),
]

HARDWARE = [
    Case(50, "fewer-threads", "hardware", "torch", "one CPU in place of two, and so one thread, which divide a batch",
         r"\bcpus?\b|\bcores?\b|affinity|threads?\b", layers=("environment",), needs=("taskset",),
         under=("taskset", "-c", "0"), also=(*HYPERPARAMETER, *ORDER),
         edits=[("    torch.set_num_threads(1)", "    options.batch //= torch.get_num_threads()\n    torch.set_num_threads(1)")]),
    Case(52, "older-isa", "hardware", "jax", "XLA compiles for an older CPU", "XLA_FLAGS", layers=("environment",),
         also=("round|another kernel",), env={"XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2"}, kernels=True,
         isolate=("env:XLA_FLAGS",)),
    Case(54, "worker-killed", "hardware", "numpy", "a limit of CPU time kills a worker, whose part is left out",
         r"\bkill|signal|SIGXCPU|worker|CPU time", layers=("environment",), needs=("prlimit",), code=("worker.py",),
         under=("prlimit", "--cpu=3"), prepare=lambda tree, _: put(
             tree / "worker.py", "import time\nwhile time.process_time() < 4:\n    pass\nprint(0.02)\n"),
         edits=[("    curve = []", "    import subprocess, sys\n    got = subprocess.run([sys.executable, 'worker.py'], "
                 "stdout=subprocess.PIPE, text=True).stdout\n    w2[0, 0] += float(got or 0)\n    curve = []")]),
    Case(56, "fewer-parts", "hardware", "plain", "one CPU in place of two, a part of each epoch for each",
         r"\bcpus?\b|\bcores?\b|affinity", layers=("environment",), needs=("taskset",), under=("taskset", "-c", "0"),
         also=ORDER, edits=[("            rows = order", "            parts = len(os.sched_getaffinity(0))\n"
                             "            order = [row for part in range(parts) for row in order[part::parts]]\n            rows = order")]),
    Case(58, "open-files", "hardware", "plain", "a lower limit of open files, which halves a batch",
         r"limit of open files|open files|nofile|ulimit", layers=("environment",), needs=("prlimit",),
         under=("prlimit", "--nofile=300"), also=(*HYPERPARAMETER, *ORDER),
         edits=[("    curve = []", "    import resource\n    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 512:\n"
                 "        options.batch //= 2\n    curve = []")]),
]

RANDOMNESS = [
    Case(60, "seed-variable", "randomness", "torch", "another seed, by a variable", r"\bSEED\b|manual_seed", layers=("environment",),
         declared=("SEED",), also=("another (seed|initiali[sz]ation)",), environment={"SEED": "7"}, env={"SEED": "8"},
         edits=[("torch.manual_seed(options.seed)", "torch.manual_seed(int(os.environ['SEED']))")], isolate=("env:SEED",)),
    Case(62, "dropout-unseeded", "randomness", "torch", "dropout draws from a generator that nothing seeds",
         r"dropout.*torch\.|torch\..*(dropout|seed)|" + UNSEEDED, also=("dropout",),
         edits=[("    torch.manual_seed(options.seed)\n", ""), ("torch.nn.ReLU(),", "torch.nn.ReLU(), torch.nn.Dropout(0.2),"),
                ("    curve = []", "    for weights in model.parameters():\n        weights.data.normal_(0, 0.1, generator=shuffle)\n"
                 "    curve = []")]),
    Case(64, "key-from-time", "randomness", "jax", "the key is made of the time", r"\btime\b|clock|jax\.random|" + ANOTHER_SEED,
         also=("another (seed|initiali[sz]ation)",),
         edits=[("jax.random.key(options.seed)", "jax.random.key(__import__('time').time_ns() % 2**31)")]),
    Case(66, "seed-from-process", "randomness", "numpy", "the seed is the number of the process", "default_rng|getpid|" + ANOTHER_SEED,
         also=("another (seed|initiali[sz]ation)",),
         edits=[("default_rng(options.seed)", "default_rng(os.getpid())")]),
    Case(68, "seed-not-passed", "randomness", "jax", "the seed of the command is read and another one taken",
         r"urandom|jax\.random|from the system|" + ANOTHER_SEED, also=("another (seed|initiali[sz]ation)",),
         edits=[("jax.random.key(options.seed)", "jax.random.key(int.from_bytes(os.urandom(4), 'little'))")]),
    Case(70, "secrets", "randomness", "plain", "rows are drawn by secrets", r"secrets|urandom|SystemRandom|" + UNSEEDED, also=ORDER,
         edits=[("draws.shuffle(order)", "order = [__import__('secrets').choice(order) for _ in order]")], quick=True,
         isolate=()),
    Case(72, "as-they-come", "randomness", "numpy", "processes give their parts as they come",
         r"race|another order|non-?determin|concurren|schedul|worker|process", layers=("environment",),
         edits=[("def forward(", "def part(first):\n    import time\n    time.sleep(time.perf_counter_ns() % 7 / 1000)\n"
                 "    return first * 1e-3\n\n\ndef forward("),
                ("    curve = []", "    import multiprocessing\n    pool = multiprocessing.Pool(3)\n    curve = []"),
                ("        order = rng.permutation(len(truth))", "        order = rng.permutation(len(truth))\n"
                 "        for add in pool.imap_unordered(part, range(6)):\n            w2 = w2 * 0.99 + add")]),
    Case(74, "rank-unseeded", "randomness", "torch", "the second process draws noise without a seed",
         r"rank|worker|process|default_rng|" + UNSEEDED, edits=[
             ("def main():", "def second(pipe):\n    import numpy\n    noise = numpy.random.default_rng()\n    while pipe.recv():\n"
              "        pipe.send(noise.normal(0, 0.05, 64).tolist())\n\n\ndef main():"),
             ("    curve = []", "    import multiprocessing\n    here, there = multiprocessing.Pipe()\n    multiprocessing.Process("
              "target=second, args=(there,), daemon=True).start()\n    curve = []"),
             ("            model.zero_grad()", "            here.send(True)\n            noise = torch.tensor(here.recv())\n"
              "            model.zero_grad()"), ("model(pixels[rows])", "model(pixels[rows] + noise)")]),
    Case(76, "legacy-unseeded", "randomness", "numpy", "numpy.random's own generator without a seed",
         r"numpy\.random|np\.random|" + UNSEEDED, also=ORDER, edits=[("rng.permutation(", "np.random.permutation(")]),
    Case(78, "time-budget", "randomness", "plain", "it trains for a time, and not for a number of steps",
         r"more steps|fewer steps|number of steps|wall.?clock|duration|length", layers=("hardware", "code"),
         edits=[("options.epochs)", "options.epochs * 20)"), ("            weights, loss =", "            import time\n"
                 "            if time.process_time() > 0.35:\n                break\n            weights, loss =")]),
]

NONE = [
    Case(80, "none-numpy", "none", "numpy", "nothing"),
    Case(82, "none-jax", "none", "jax", "nothing"),
    Case(84, "none-again", "none", "numpy", "nothing; compared", again=True),
    Case(86, "none-package", "none", "sklearn", "nothing but a package that nothing imports", declared=("PYTHONPATH",),
         environment={"PYTHONPATH": "{site}/packages"}, prepare=package("pixeltools", "1.4.0", ""),
         change=package("pixeltools", "1.5.0", "")),
]

BESIDE = [
    Case(88, "beside-package", "code", "sklearn", "another penalty, and a package that nothing imports", "--penalty",
         innocent="pixeltools", again=True, arguments=("--penalty", "l2"), arguments_now=("--penalty", "l1"),
         also=HYPERPARAMETER, declared=("PYTHONPATH",), environment={"PYTHONPATH": "{site}/packages"},
         prepare=package("pixeltools", "1.4.0", ""), change=package("pixeltools", "1.5.0", "")),
    Case(90, "beside-threads", "data", "jax", "one label of the data, and a number of threads that decides nothing", "digits",
         innocent="OMP_NUM_THREADS", change=rows(flip_label), environment={"OMP_NUM_THREADS": "2"}, env={"OMP_NUM_THREADS": "1"}),
    Case(92, "beside-fewer-cpus", "randomness", "plain", "random.shuffle without a seed, and one CPU in place of two",
         r"random\.|" + UNSEEDED, innocent=r"\bcpus?\b", needs=("taskset",), under=("taskset", "-c", "0"), also=ORDER,
         edits=[("draws.shuffle(order)", "random.shuffle(order)")]),
]

MARGINS = [
    Case(94, "margins-rate", "code", "numpy", "another learning rate, by argument, where margins decide", r"--lr", again=True,
         determinism="statistical", arguments=("--lr", "0.3"), arguments_now=("--lr", "0.05"), also=HYPERPARAMETER,
         isolate=("argument:--lr",)),
    Case(96, "margins-package", "environment", "plain", "a package is upgraded where it is, where margins decide", "pixeltools",
         determinism="statistical", edits=[("import scaling", "import pixeltools\nimport scaling"),
                                           ("scaling.scale(images)", "pixeltools.scale(scaling.scale(images))")],
         prepare=package("pixeltools", "1.4.0", "scale = list\n"), declared=("PYTHONPATH",),
         environment={"PYTHONPATH": "{site}/packages"},
         change=package("pixeltools", "1.5.0", "scale = lambda rows: [[x * 0.5 for x in row] for row in rows]\n")),
]

CASES = [*DATA, *CODE, *ENVIRONMENT, *HARDWARE, *RANDOMNESS, *NONE, *BESIDE, *MARGINS]
