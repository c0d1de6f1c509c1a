// Rows H6 and H7: the tensor digest of an HDF5 file and of Orbax's folder, beside that of the same
// tensors in safetensors.
#include <fmt/format.h>

#include <cstdlib>

#include "harness/base/files.h"
#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

namespace fs = std::filesystem;

// 16 tensors of normal numbers, 256 MiB, as ARGV[1]/w.safetensors, and as ARGV[2] in w.h5 or orbax.
constexpr char kWriteTensors[] = R"py(
import json, os, sys
import numpy as np
folder, form = sys.argv[1:]
r = np.random.default_rng(1)
t = {f"layer{i:02}": r.standard_normal((2048, 2048), dtype=np.float32) for i in range(16)}
if form == "safetensors":
    head, at = {}, 0
    for name, a in t.items():
        head[name] = {"dtype": "F32", "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
    head = json.dumps(head).encode()
    head += b" " * (-len(head) % 8)
    with open(os.path.join(folder, "w.safetensors"), "wb") as f:
        f.write(len(head).to_bytes(8, "little") + head)
        for a in t.values():
            f.write(a.tobytes())
elif form == "hdf5":
    import h5py
    with h5py.File(os.path.join(folder, "w.h5"), "w") as f:
        for name, a in t.items():
            f[name] = a
else:
    import orbax.checkpoint
    orbax.checkpoint.PyTreeCheckpointer().save(os.path.join(folder, "orbax"), t)
)py";

std::vector<std::string> DigestCommand(const Context& context, const fs::path& checkpoint) {
  return {context.bin / "rharness", "hash", "--weights-only", "--threads", "1", checkpoint};
}

Status WriteTensors(const Context& context, const std::string& python, const std::string& form) {
  ASSIGN_OR_RETURN([[maybe_unused]] const Usage usage,
                   RunChild({python, "-c", kWriteTensors, context.scratch, form}));
  return {};
}

Result<Measured> Beside(const Context& context, const std::string& python, const std::string& form,
                        const std::string& name) {
  const fs::path plain = context.scratch / "w.safetensors", other = context.scratch / name;
  RETURN_IF_ERROR(WriteTensors(context, python, "safetensors"));
  RETURN_IF_ERROR(WriteTensors(context, python, form));
  ASSIGN_OR_RETURN(
      const auto usages,
      Interleave({DigestCommand(context, other), DigestCommand(context, plain)}, context.rounds));
  std::error_code ignored;
  const double ours = MedianCpu(usages[0]), peer = MedianCpu(usages[1]);
  const Measured measured{peer / ours, fmt::format("{:.0f} MiB/s", 256 / ours),
                          fmt::format("safetensors {:.0f} MiB/s", 256 / peer),
                          form == "orbax" ? "with what zstd takes to unpack it" : ""};
  fs::remove_all(other, ignored);
  return measured;
}

Result<Measured> DigestHdf5(const Context& context) {
  const std::string python = "/usr/bin/python3";
  if (!RunChild({python, "-c", "import h5py"}).ok()) return Unsupported("needs python3-h5py");
  return Beside(context, python, "hdf5", "w.h5");
}

Result<Measured> DigestOrbax(const Context& context) {
  const char* peers = std::getenv("RHARNESS_PEERS");
  if (peers == nullptr) {
    return Unsupported("./dev peers installs orbax; set RHARNESS_PEERS to its folder");
  }
  return Beside(context, fs::path(peers) / "venv/bin/python", "orbax", "orbax");
}

}  // namespace

std::vector<Row> FormatRows() {
  return {{"H6", "tensor digest of HDF5, rate of CPU", Goal::kAtLeast, 0.5, "", DigestHdf5},
          {"H7", "tensor digest of Orbax, rate of CPU", Goal::kAtLeast, 0.5, "", DigestOrbax}};
}

}  // namespace rharness::bench
