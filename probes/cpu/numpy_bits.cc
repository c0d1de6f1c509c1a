// NumPy's own loops: bits of its functions, sums and products, and the variant of each that runs.
//
// Runs the named Python in a process of its own, with the normal environment: variables that
// disable parts of NumPy also apply.
#include "harness/base/json_reader.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/environment.h"
#include "probes/probe.h"

namespace rharness {
namespace {

// One JSON object on stdout. Its argument: the times that each result is made.
constexpr char kScript[] = R"py(
import hashlib
import json
import sys
import warnings

sys.path = [folder for folder in sys.path if folder]
import numpy as np

try:
    import numpy._core._multiarray_umath as umath
except ImportError:
    import numpy.core._multiarray_umath as umath

warnings.simplefilter("ignore")
np.seterr(all="ignore")
REPEATS = int(sys.argv[1])
TYPES = {"fp32": (np.float32, np.uint32), "fp64": (np.float64, np.uint64)}
UNARY = ("exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh arcsin arccos arctan "
         "arcsinh arccosh arctanh sqrt cbrt reciprocal square").split()
BINARY = "power arctan2 hypot add multiply divide maximum".split()
COUNT = 1 << 14
out = {"bits": {}, "unstable": [], "choices": {}}


def every_exponent(real, word):
    """One number out of each of COUNT equal ranges of bit patterns, as the C library's probe has."""
    bits = np.dtype(word).itemsize * 8
    stride = (1 << bits) // COUNT
    inputs = [i * stride + i * 0x9E3779B1 % stride for i in range(COUNT)]
    return np.array(inputs, dtype=word).view(real)


def near_one(real, seed):
    """In [-1, 1), with as many bits as the type has, from whole numbers alone."""
    state, values, bits = seed, [], np.finfo(real).nmant
    for _ in range(COUNT):
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        values.append((state >> (63 - bits)) - (1 << bits))
    return np.array(values, dtype=np.int64).astype(real) * real(2.0**-bits)


def digest(array):
    array = np.array(array, copy=True).reshape(-1)
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return hashlib.sha256(array.tobytes()).hexdigest()


def add(name, make):
    seen = {digest(make()) for _ in range(REPEATS)}
    out["bits"][name] = min(seen)
    if len(seen) > 1:
        out["unstable"].append(name)


for kind, (real, word) in TYPES.items():
    inputs, letter = every_exponent(real, word), np.dtype(real).char
    for name in UNARY:
        add(f"{kind} {name}", lambda: getattr(np, name)(inputs))
    x, y = near_one(real, 1), near_one(real, 2)
    for name in BINARY:
        add(f"{kind} {name}", lambda: getattr(np, name)(abs(x) if name == "power" else x, y))
    add(f"{kind} add.reduce", lambda: np.add.reduce(x))
    add(f"{kind} add.reduce of rows", lambda: np.add.reduce(x.reshape(128, 128), axis=1))
    add(f"{kind} add.reduce of columns", lambda: np.add.reduce(x.reshape(128, 128), axis=0))
    add(f"{kind} var", lambda: np.var(x))
    add(f"{kind} cumsum", lambda: np.cumsum(x))
    a, b = x[:64 * 250].reshape(64, 250), y[:250 * 64].reshape(250, 64)
    add(f"{kind} dot", lambda: np.dot(x, y))
    add(f"{kind} matmul 64x64x250", lambda: np.matmul(a, b))
    add(f"{kind} einsum 64x64x250", lambda: np.einsum("ik,kj->ij", a, b, optimize=False))
    try:
        from numpy.lib.introspect import opt_func_info
    except ImportError:
        continue
    for name in UNARY + BINARY:
        info = opt_func_info(func_name=f"^{name}$", signature=np.dtype(real).name)
        loops = [loop for of in info.values() for loop in of.values()]
        if loops:
            out["choices"][f"{kind} {name}"] = {"target": loops[0]["current"]}


def blas_threads():
    """Of the OpenBLAS that this NumPy brought into the process; 0 where it does not say."""
    import ctypes
    try:
        with open("/proc/self/maps") as maps:
            files = {line.split(None, 5)[5].rstrip() for line in maps if "blas" in line}
        for file in sorted(files):
            library = ctypes.CDLL(file)
            for prefix in ("scipy_", ""):
                for suffix in ("64_", ""):
                    get = getattr(library, f"{prefix}openblas_get_num_threads{suffix}", None)
                    if get is not None:
                        return get()
    except (OSError, IndexError):
        pass
    return 0


threads = blas_threads()
if threads:
    for kind in TYPES:
        for name in ("dot", "matmul 64x64x250"):
            out["choices"][f"{kind} {name}"] = {"threads": threads}

features = getattr(umath, "__cpu_features__", {})
out["choices"]["dispatch"] = {
    "baseline": " ".join(getattr(umath, "__cpu_baseline__", [])),
    "enabled": " ".join(name for name in getattr(umath, "__cpu_dispatch__", []) if features.get(name)),
}
out["version"] = np.__version__
out["file"] = umath.__file__
print(json.dumps(out))
)py";

Result<ProbeResult> ReadAnswer(const std::string& text) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, "NumPy's answer"));
  ProbeResult result;
  JsonReader reader(json, "NumPy's answer");
  std::string version, file;
  reader.Read("version", &version);
  reader.Read("file", &file);
  reader.ForEachMember(
      "bits", [&](const std::string& name, JsonReader& value) { value.Get(&result.bits[name]); });
  reader.ForEachMember("choices", [&](const std::string& name, JsonReader& value) {
    result.choices.emplace(name, value.json());
  });
  reader.ReadArray("unstable", &result.unstable);
  RETURN_IF_ERROR(reader.status());
  result.libraries.emplace("numpy", Json().Set("file", file).Set("version", version));
  return result;
}

ProbeResult RunNumpyBits(const ProbeContext& context) {
  if (context.python.empty()) return AbsentProbe("no Python is named: --python");
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(50);
  const ProcessResult process =
      RunProcess({.argv = {context.python, "-c", kScript, std::to_string(context.repeats)},
                  .environment = ProcessEnvironment()},
                 limits);
  if (!process.outcome.Succeeded()) {
    const std::string why = process.outcome.ToString() + ": " + process.stderr_text;
    const bool absent = why.find("No module named 'numpy'") != why.npos;
    return absent ? AbsentProbe("this Python has no NumPy") : FailedProbe(why);
  }
  Result<ProbeResult> result = ReadAnswer(process.stdout_text);
  return result.ok() ? std::move(*result) : FailedProbe(result.error().ToString());
}

const RegisterProbe kNumpyBitsProbe(
    {.name = "numpy_bits",
     .family = "math",
     .summary = "bits and variants of NumPy's own loops, with --python",
     .run = RunNumpyBits});

}  // namespace
}  // namespace rharness
