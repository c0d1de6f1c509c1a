"""The half of the table that rules may be fitted to: odd numbers."""

from case import HYPERPARAMETER, ORDER, UNSEEDED, Case
from plants import (IN_SHARDS, NOISE, SCALED, both, flip_label, package, put, retime, rows, swap, write)

DATA = [
    Case(1, "label-flipped", "data", "numpy", "one label of the data is another", "digits", change=rows(flip_label)),
    Case(3, "line-ends", "data", "plain", "downloaded again, with other line ends", "digits", quick=True,
         change=lambda tree, _: (tree / "digits.csv").write_bytes(
             (tree / "digits.csv").read_bytes().replace(b"\n", b"\r\n"))),
    Case(5, "files-by-time", "data", "plain", "files are taken by their times, which a copy changed",
         r"data order|order of (the )?files|modification", layers=("randomness",), change=retime("shards"), **IN_SHARDS),
    Case(7, "undeclared-file", "data", "torch", "a file that nothing declares, of class weights, has other content",
         "class_weights", layers=("code", "environment"), prepare=write("class_weights.json", "[1,1,1,1,1,1,1,1,1,1]"),
         edits=[("cross_entropy(model(pixels[rows]), truth[rows])",
                 "cross_entropy(model(pixels[rows]), truth[rows], weight=weight)"),
                ("    curve = []", "    weight = torch.tensor(json.loads(pathlib.Path('{site}/class_weights.json')"
                 ".read_text()), dtype=torch.float32)\n    curve = []")],
         change=write("class_weights.json", "[1,1,1,3,1,1,1,1,1,1]")),
    Case(9, "statistics-file", "data", "jax", "a declared file of the pixels' mean has other content", r"\bmean",
         data=("digits=digits.csv", "mean=mean.json"), prepare=lambda tree, _: put(tree / "mean.json", "0.3"),
         edits=[("np.array(scaling.scale(images)[:400], np.float32)",
                 "np.array(scaling.scale(images)[:400], np.float32) - json.load(open('mean.json'))")],
         change=lambda tree, _: put(tree / "mean.json", "0.35")),
    Case(11, "rows-shuffled", "data", "sklearn", "the same rows in another order", "digits",
         also=("data or schedule", *ORDER),
         change=rows(lambda lines: [line for part in range(7) for line in lines[part::7]])),
    Case(13, "shard-landed", "data", "plain", "a folder of data has one file more", "shards",
         change=lambda tree, _: put(tree / "shards/part-9.csv", (tree / "shards/part-0.csv").read_text()), **IN_SHARDS),
]

CODE = [
    Case(15, "learning-rate", "code", "numpy", "another learning rate, by argument", r"\blr\b", again=True,
         arguments=("--lr", "0.3"), arguments_now=("--lr", "0.1"), also=HYPERPARAMETER, isolate=("argument:--lr",)),
    Case(17, "config-file", "code", "sklearn", "another alpha in a file of settings that is among the code", "config",
         layers=("data",), code=("config.json",), prepare=lambda tree, _: put(tree / "config.json", '{"alpha": 0.001}'),
         edits=[("alpha=options.alpha", 'alpha=json.load(open("config.json"))["alpha"]')],
         also=HYPERPARAMETER, change=lambda tree, _: put(tree / "config.json", '{"alpha": 0.01}')),
    Case(19, "commit", "code", "plain", "a commit changes the default of the rate", r"commit|plain\.py", git=True,
         again=True, edits_now=[('"--lr", type=float, default=0.3', '"--lr", type=float, default=0.2')], also=HYPERPARAMETER, quick=True),
    Case(21, "helper-module", "code", "numpy", "a module that the program imports scales otherwise", "scaling",
         change=swap("scaling.py", "return images", "return [[x * 0.9 for x in image] for image in images]")),
    Case(23, "loss-reduction", "code", "torch", "losses are added up in place of their mean", r"torch_mlp\.py", again=True,
         edits_now=[("truth[rows])", 'truth[rows], reduction="sum") / 32')]),
    Case(25, "adam-epsilon", "code", "numpy", "another epsilon of the optimizer, by argument", r"\beps",
         arguments=("--eps", "1e-8"), arguments_now=("--eps", "1e-3"), again=True, also=HYPERPARAMETER, isolate=("argument:--eps",)),
    Case(27, "penalty", "code", "sklearn", "another penalty, by argument", "penalty",
         arguments=("--penalty", "l2"), arguments_now=("--penalty", "l1"), again=True, also=HYPERPARAMETER, isolate=("argument:--penalty",)),
    Case(29, "epochs", "code", "plain", "one epoch more, by argument", "epochs", arguments=("--epochs", "2"),
         arguments_now=("--epochs", "3"), again=True, also=HYPERPARAMETER, isolate=("argument:--epochs",)),
    Case(31, "activation", "code", "jax", "another activation in the program", r"jax_mlp\.py",
         change=swap("jax_mlp.py", "jax.nn.relu", "jnp.tanh")),
]

ENVIRONMENT = [
    Case(33, "init-scale", "environment", "numpy", "a variable that scales the initial weights", "INIT_SCALE",
         layers=("randomness",), edits=[SCALED], declared=("INIT_SCALE",), environment={"INIT_SCALE": "1"},
         env={"INIT_SCALE": "1.5"}, also=("another initiali[sz]ation",), isolate=("env:INIT_SCALE",)),
    Case(35, "blas-threads", "environment", "numpy", "two threads of BLAS in place of one", "OPENBLAS_NUM_THREADS",
         arguments=("--batch", "400"), environment={"OPENBLAS_NUM_THREADS": "1"}, env={"OPENBLAS_NUM_THREADS": "2"},
         layers=("hardware",), also=("round|another order",), kernels=True),
    Case(37, "blas-kernels", "environment", "numpy", "BLAS takes the kernels of an older CPU", "OPENBLAS_CORETYPE",
         layers=("hardware",), environment={"OPENBLAS_CORETYPE": "Haswell"}, env={"OPENBLAS_CORETYPE": "Nehalem"},
         also=("round|another kernel",), kernels=True, isolate=("env:OPENBLAS_CORETYPE",)),
    Case(39, "package-by-path", "environment", "plain", "another version of a package, by the path",
         "pixeltools|PYTHONPATH", edits=[("import scaling", "import pixeltools\nimport scaling"),
                                         ("scaling.scale(images)", "pixeltools.scale(scaling.scale(images))")],
         prepare=both(package("pixeltools", "1.4.0", "scale = list\n"),
                      lambda _, site: (site / "packages").rename(site / "before"),
                      package("pixeltools", "1.5.0", "scale = lambda rows: [[x * 0.9 for x in row] for row in rows]\n")),
         declared=("PYTHONPATH",), environment={"PYTHONPATH": "{site}/before"}, env={"PYTHONPATH": "{site}/packages"},
         isolate=("env:PYTHONPATH",)),
    Case(41, "time-zone", "environment", "plain", "a step depends on the time zone", r"\bTZ\b", declared=("TZ",),
         edits=[("options.lr\n", "options.lr * (1 + __import__('time').timezone / 1e5)\n")], environment={"TZ": "UTC"},
         env={"TZ": "EST5"}, also=HYPERPARAMETER, isolate=("env:TZ",), quick=True),
    Case(43, "default-dtype", "environment", "torch", "a variable sets the precision", "DTYPE", declared=("DTYPE",),
         edits=[("    torch.set_num_threads(1)", "    torch.set_num_threads(1)\n    torch.set_default_dtype("
                 "getattr(torch, os.environ['DTYPE']))"), ("leave_torch(model,", "leave_torch(model.float(),")],
         environment={"DTYPE": "float32"}, env={"DTYPE": "float64"},
         also=("round|another initiali[sz]ation",),
         isolate=("env:DTYPE",)),
    Case(45, "shadowed-module", "environment", "plain", "a module of the user comes before the installed one",
         "PYTHONPATH|calibration", edits=[("import scaling", "import calibration\nimport scaling"),
                                          ("scaling.scale(images)", "calibration.scale(scaling.scale(images))")],
         prepare=both(package("calibration", "2.0", "scale = list\n"),
                      write("mine/calibration.py", "scale = lambda rows: [[x * 1.1 for x in row] for row in rows]\n")),
         layers=("code",), environment={"PYTHONPATH": "{site}/packages"}, env={"PYTHONPATH": "{site}/mine:{site}/packages"},
         isolate=("env:PYTHONPATH",)),
    Case(47, "user-settings", "environment", "sklearn", "the user's file of settings has another value", "trainrc",
         layers=("data", "code"), declared=("TRAIN_CONFIG",), environment={"TRAIN_CONFIG": "{site}/trainrc"},
         edits=[("alpha=options.alpha", 'alpha=float(open(os.environ["TRAIN_CONFIG"]).read())')],
         prepare=write("trainrc", "0.001\n"), also=HYPERPARAMETER, change=write("trainrc", "0.005\n")),
]

HARDWARE = [
    Case(49, "fewer-cpus", "hardware", "numpy", "one CPU in place of two, which divide a batch",
         r"\bcpus?\b|\bcores?\b|affinity", layers=("environment",), needs=("taskset",), under=("taskset", "-c", "0"),
         also=(*HYPERPARAMETER, *ORDER),
         edits=[("    rng = np", "    options.batch //= len(os.sched_getaffinity(0))\n    rng = np")]),
    Case(51, "older-cpu", "hardware", "numpy", "NumPy's kernels of an older CPU", "NPY_DISABLE_CPU_FEATURES",
         layers=("environment",), env={"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX2 FMA3"}, kernels=True,
         edits=[("np.exp(logits - logits.max(1, keepdims=True))",
                 "np.exp((logits - logits.max(1, keepdims=True)).astype(np.float32))")], also=("round|another kernel",),
         isolate=("env:NPY_DISABLE_CPU_FEATURES",)),
    Case(53, "worker-out-of-memory", "hardware", "plain", "a limit of memory ends a worker, whose part is left out",
         r"memory|worker|exited|killed|ended with", layers=("environment",), needs=("prlimit",),
         under=("prlimit", "--as=1500000000"), prepare=lambda tree, _: put(
             tree / "worker.py", "import sys\nroom = bytearray(1700000000)\nprint(sum(map(float, sys.argv[1:])))\n"),
         code=("worker.py",), edits=[("    curve = []", "    import subprocess, sys\n    got = subprocess.run([sys.executable, 'worker.py', '0.01', '0.02'], "
             "stdout=subprocess.PIPE, text=True).stdout\n    if got:\n        weights[0] += float(got)\n    curve = []")]),
    Case(55, "fewer-jobs", "hardware", "sklearn", "one CPU in place of two, a part of the data for each",
         r"\bcpus?\b|\bcores?\b|affinity", layers=("environment",), needs=("taskset",), under=("taskset", "-c", "0"),
         also=(*HYPERPARAMETER, *ORDER),
         edits=[("        model.partial_fit(pixels, truth,", "        for part in range(jobs):\n"
                 "          model.partial_fit(pixels[part::jobs], truth[part::jobs],"),
                ("    curve = []", "    import joblib\n    jobs = joblib.cpu_count()\n    curve = []")]),
    Case(57, "devices", "hardware", "jax", "two devices in place of one, which divide a batch", "XLA_FLAGS|devices?",
         layers=("environment",), env={"XLA_FLAGS": "--xla_force_host_platform_device_count=2"},
         also=(*HYPERPARAMETER, *ORDER),
         edits=[("    key = jax", "    options.batch //= jax.device_count()\n    key = jax")],
         isolate=("env:XLA_FLAGS",)),
]

RANDOMNESS = [
    Case(59, "seed-argument", "randomness", "numpy", "another seed, by argument", "seed", again=True, also=("--seed 2", *ORDER),
         arguments_now=("--seed", "2"), seeds_now=("init=2",)),
    Case(61, "noise-unseeded", "randomness", "numpy", "a generator of noise has no seed", "default_rng|" + UNSEEDED,
         edits=NOISE,
         isolate=()),
    Case(63, "shuffle-unseeded", "randomness", "plain", "random.shuffle without a seed", r"random\.|" + UNSEEDED,
         also=ORDER, edits=[("draws.shuffle(order)", "random.shuffle(order)")], quick=True,
         isolate=()),
    Case(65, "set-order", "randomness", "plain", "the order of a set of texts, which a salted hash decides", "PYTHONHASHSEED|hash",
         also=ORDER, edits=[("draws.shuffle(order)", "order = [int(text) for text in {str(row) for row in order}]")]),
    Case(67, "workers-unseeded", "randomness", "torch", "the loader's workers draw noise without a seed",
         "worker|default_rng|" + UNSEEDED,
         edits=[("import torch\n", "import numpy\nimport torch\n"), ("def main():", """class Noisy(torch.utils.data.Dataset):
    def __init__(self, pixels, truth):
        self.pixels, self.truth, self.noise = pixels, truth, None

    def __len__(self):
        return len(self.truth)

    def __getitem__(self, row):
        self.noise = self.noise or numpy.random.default_rng()
        return self.pixels[row] + torch.from_numpy(self.noise.normal(0, 0.05, 64).astype("f")), self.truth[row]


def main():"""), ("    curve = []", "    loader = torch.utils.data.DataLoader(Noisy(pixels, truth), options.batch, "
                  "num_workers=2, generator=shuffle)\n    curve = []"),
                ("for rows in torch.randperm(len(truth), generator=shuffle).split(options.batch):", "for some, these in loader:"),
                ("model(pixels[rows]), truth[rows])", "model(some), these)")]),
    Case(69, "order-by-uuid", "randomness", "plain", "rows are sorted by random names", r"uuid|urandom|" + UNSEEDED,
         also=ORDER, edits=[("draws.shuffle(order)", "order.sort(key=lambda row: __import__('uuid').uuid4().hex)")]),
    Case(71, "threads-race", "randomness", "plain", "threads add what they have as they come",
         r"race|thread|another order|non-?determin|concurren|schedul", layers=("environment",), edits=[("            curve.append(loss)", """            import time, concurrent.futures as pools
            def part(first):
                time.sleep(time.perf_counter_ns() % 7 / 2000)
                return [w * (1e-4 + first * 1e-5) for w in weights]
            with pools.ThreadPoolExecutor(4) as pool:
                for add in pools.as_completed([pool.submit(part, first) for first in range(4)]):
                    weights = [w * 0.999 + a for w, a in zip(weights, add.result())]
            curve.append(loss)""")]),
    Case(73, "random-state-none", "randomness", "sklearn", "a classifier shuffles without a random_state",
         r"random_state|numpy\.random|" + UNSEEDED, also=ORDER, edits=[("random_state=rng", "random_state=None")]),
    Case(75, "split-unseeded", "randomness", "sklearn", "train_test_split without a random_state",
         r"random_state|numpy\.random|" + UNSEEDED, also=(*ORDER, "hyperparameter, data or"),
         edits=[("np.array(labels[:400])", "np.array(labels[:400])\n    from sklearn.model_selection import train_test_split\n"
                 "    pixels, _, truth, _ = train_test_split(pixels, truth, train_size=300)")]),
    Case(77, "nothing-seeded", "randomness", "torch", "nothing sets PyTorch's seed", r"torch\.|" + UNSEEDED,
         also=("another (seed|initiali[sz]ation)",), edits=[("    torch.manual_seed(options.seed)\n", "")]),
]

NONE = [
    Case(79, "none-plain", "none", "plain", "nothing", quick=True),
    Case(81, "none-torch", "none", "torch", "nothing"),
    Case(83, "none-sklearn", "none", "sklearn", "nothing"),
    Case(85, "none-time-zone", "none", "plain", "nothing but a variable that decides nothing", declared=("TZ",),
         environment={"TZ": "UTC"}, env={"TZ": "EST5"}, edits=[("    curve = []", "    curve = []\n    __import__('time').localtime()")]),
]

BESIDE = [
    Case(87, "beside-log-level", "environment", "numpy", "the initial scale, and a level of logs that is read", "INIT_SCALE",
         layers=("randomness",), also=("another initiali[sz]ation",), innocent="LOG_LEVEL", declared=("INIT_SCALE", "LOG_LEVEL"),
         edits=[SCALED, ("    curve = []", "    os.environ.get('LOG_LEVEL')\n    curve = []")],
         environment={"INIT_SCALE": "1", "LOG_LEVEL": "info"}, env={"INIT_SCALE": "1.5", "LOG_LEVEL": "debug"},
         isolate=("env:INIT_SCALE",)),
    Case(89, "beside-readme", "code", "plain", "a commit changes the rate and a text that nothing reads", r"plain\.py|commit",
         innocent="NOTES", also=HYPERPARAMETER, git=True, again=True, prepare=lambda tree, _: put(tree / "NOTES.md", "a\n"),
         change=lambda tree, _: put(tree / "NOTES.md", "b\n"),
         edits_now=[('"--lr", type=float, default=0.3', '"--lr", type=float, default=0.2')]),
    Case(91, "beside-variable", "randomness", "numpy", "noise without a seed, and a variable that decides nothing",
         "default_rng|" + UNSEEDED, innocent="LOG_LEVEL", declared=("LOG_LEVEL",),
         edits=[*NOISE, ("    curve = []", "    os.environ.get('LOG_LEVEL')\n    curve = []")],
         environment={"LOG_LEVEL": "info"}, env={"LOG_LEVEL": "debug"}, isolate=()),
]

MARGINS = [
    Case(93, "margins-scale", "environment", "numpy", "a variable that scales the initial weights, where margins decide",
         "INIT_SCALE", layers=("randomness",), also=("another initiali[sz]ation",), determinism="statistical",
         edits=[SCALED], declared=("INIT_SCALE",), environment={"INIT_SCALE": "1"}, env={"INIT_SCALE": "6"},
         isolate=("env:INIT_SCALE",)),
    Case(95, "margins-shuffle", "randomness", "plain", "random.shuffle without a seed, where margins decide",
         r"random\.|" + UNSEEDED, also=ORDER, determinism="statistical", arguments=("--lr", "1.5"),
         edits=[("draws.shuffle(order)", "random.shuffle(order)")]),
]

CASES = [*DATA, *CODE, *ENVIRONMENT, *HARDWARE, *RANDOMNESS, *NONE, *BESIDE, *MARGINS]
