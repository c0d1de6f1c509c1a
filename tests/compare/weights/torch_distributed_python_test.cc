// Distributed checkpoints whose pickles and parts Python and PyTorch themselves wrote.
//
// The classes of the format are stand-ins of the same names and members, since PyTorch has them
// from 2.0 on; what is tested is that their pickles, and torch.save's archives, are read.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <numeric>

#include "compare/weights/checkpoint.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

constexpr char kScript[] = R"py(
import dataclasses, enum, os, pathlib, pickle, sys, types
try:
    import torch
except ImportError:
    sys.exit(77)

def module(name):
    sys.modules[name] = types.ModuleType(name)
    return sys.modules[name]

def add(name, cls):
    cls.__module__ = name
    cls.__qualname__ = cls.__name__
    setattr(sys.modules[name], cls.__name__, cls)
    return cls

meta, files = "torch.distributed.checkpoint.metadata", "torch.distributed.checkpoint.filesystem"
module("torch.distributed.checkpoint"); module(meta); module(files)
make = dataclasses.make_dataclass
Chunk = add(meta, make("ChunkStorageMetadata", ["offsets", "sizes"]))
TensorMeta = add(meta, make("TensorStorageMetadata", ["properties", "size", "chunks"]))
BytesMeta = add(meta, make("BytesStorageMetadata", []))
StorageMeta = add(meta, make("StorageMeta", ["checkpoint_id", "save_id", "load_id", "modules"]))
Metadata = add(meta, make("Metadata", ["state_dict_metadata", "planner_data", "storage_data",
                                       "storage_meta"]))
class MetadataIndex:
    offset = index = None  # of the class; set where they are not None, as PyTorch does
    def __init__(self, fqn, offset=None, index=None):
        self.fqn = fqn
        if offset is not None:
            self.offset, self.index = offset, index
Index = add(meta, MetadataIndex)
Info = add(files, make("_StorageInfo", ["relative_path", "offset", "length"]))
class _MEM_FORMAT_ENCODING(enum.Enum):
    TORCH_CONTIGUOUS_FORMAT = 0
add(meta, _MEM_FORMAT_ENCODING)
class TensorProperties:
    def __getstate__(self):
        return (self.dtype, torch.strided, False, _MEM_FORMAT_ENCODING(0), False)
    def __setstate__(self, state):
        pass
add(meta, TensorProperties)

folder = pathlib.Path(sys.argv[1])
entries, storage = {}, {}
def save(name, tensor, cuts):
    properties = TensorProperties()
    properties.dtype = tensor.dtype
    chunks = []
    for rank, (begin, end) in enumerate(cuts):
        part = tensor[begin:end].clone()
        if tensor.dim() == 2:
            part = part.t().contiguous().t()  # not in C order
        offset = torch.Size([begin] + [0] * (tensor.dim() - 1))
        file = "__%d_0.distcp" % rank
        with open(folder / file, "ab") as stream:
            start = stream.tell()
            torch.save(part, stream)
            storage[Index(name, offset, rank)] = Info(file, start, stream.tell() - start)
        chunks.append(Chunk(offset, part.size()))
    entries[name] = TensorMeta(properties, tensor.size(), chunks)

save("model.weight", torch.arange(35, dtype=torch.float64).reshape(7, 5), [(0, 3), (3, 7)])
save("model.half", torch.arange(6, dtype=torch.bfloat16), [(0, 6)])
entries["step"] = BytesMeta()
with open(folder / "__0_0.distcp", "ab") as stream:
    start = stream.tell()
    torch.save(7, stream)
    storage[Index("step")] = Info("__0_0.distcp", start, stream.tell() - start)
metadata = Metadata(entries, {"step": ("step",)}, storage,
                    StorageMeta(folder, "an-id", None, ["a"]))
with open(folder / ".metadata", "wb") as stream:
    pickle.dump(metadata, stream)
)py";

class DistributedFromPython : public CheckpointFiles {};

TEST_F(DistributedFromPython, IsReadAsItWasSaved) {
  constexpr char kPython[] = "/usr/bin/python3";
  if (!std::filesystem::exists(kPython)) GTEST_SKIP() << "no " << kPython;
  const auto folder = Write(kScript, "script").parent_path() / "checkpoint";
  std::filesystem::create_directory(folder);
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(100);
  const ProcessResult made =
      RunProcess(ProcessSpec{{kPython, (folder.parent_path() / "script").string(), folder.string()},
                             PickEnvironment({"PATH"}),
                             folder},
                 limits);
  if (made.outcome.exit_code == 77) GTEST_SKIP() << kPython << " has no torch";
  ASSERT_EQ(made.outcome.exit_code, 0) << made.stderr_text;

  const auto checkpoint = OpenCheckpoint(folder);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  ASSERT_EQ((*checkpoint)->tensors().size(), 2U);
  EXPECT_EQ((*checkpoint)->metadata(),
            (std::vector<std::pair<std::string, std::string>>{{"step", "7"}}));
  EXPECT_EQ((*checkpoint)->tensors()[0].dtype, DType::kBF16);
  std::vector<std::uint16_t> halves;
  for (int i = 0; i < 6; ++i) {
    const auto value = static_cast<float>(i);
    halves.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
  }
  EXPECT_EQ(ReadAll(**checkpoint, 0), BytesOf(halves));
  std::vector<double> numbers(35);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  EXPECT_EQ((*checkpoint)->tensors()[1].shape, (std::vector<std::uint64_t>{7, 5}));
  EXPECT_EQ(ReadAll(**checkpoint, 1), BytesOf(numbers));
}

// torch.distributed.checkpoint itself, of PyTorch 2 or later.
constexpr char kRealScript[] = R"py(
import argparse, sys
try:
    import torch, torch.distributed.checkpoint as checkpoint
    save = checkpoint.save
except (ImportError, AttributeError):
    sys.exit(77)
model = torch.nn.Linear(3, 4, bias=False)
with torch.no_grad():
    model.weight.copy_(torch.arange(12.).reshape(4, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.5)
model(torch.ones(2, 3)).sum().backward()
optimizer.step()
with torch.no_grad():
    model.weight.copy_(torch.arange(12.).reshape(4, 3))
save({"model": model.state_dict(), "optim": optimizer.state_dict(), "step": 7, "none": None,
      "args": argparse.Namespace(rate=3)}, checkpoint_id=sys.argv[1])
)py";

TEST_F(DistributedFromPython, IsReadAsPyTorchItselfSavedModelOptimizerAndValues) {
  const char* named = std::getenv("RHARNESS_TORCH_PYTHON");
  const std::string python = named != nullptr ? named : "/usr/bin/python3";
  if (!std::filesystem::exists(python)) GTEST_SKIP() << "no " << python;
  const auto folder = Write(kRealScript, "script").parent_path() / "checkpoint";
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(100);
  const ProcessResult made =
      RunProcess(ProcessSpec{{python, (folder.parent_path() / "script").string(), folder.string()},
                             PickEnvironment({"PATH", "HOME", "LD_LIBRARY_PATH"}),
                             folder.parent_path()},
                 limits);
  if (made.outcome.exit_code == 77) {
    GTEST_SKIP() << python << " has no torch of version 2 or later; RHARNESS_TORCH_PYTHON names "
                 << "another";
  }
  ASSERT_EQ(made.outcome.exit_code, 0) << made.stderr_text;
  const auto checkpoint = OpenCheckpoint(folder);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  const auto& tensors = (*checkpoint)->tensors();
  ASSERT_EQ(tensors.size(), 4U);  // the weight, and three of the optimizer's state
  EXPECT_EQ(tensors[0].name, "model.weight");
  std::vector<float> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  EXPECT_EQ(ReadAll(**checkpoint, 0), BytesOf(numbers));
  EXPECT_TRUE((*checkpoint)->unread().empty());
  const auto& metadata = (*checkpoint)->metadata();
  for (const auto& entry : std::vector<std::pair<std::string, std::string>>{
           {"step", "7"}, {"none", "None"}, {"args.rate", "3"}}) {
    EXPECT_NE(std::ranges::find(metadata, entry), metadata.end()) << entry.first;
  }
}

}  // namespace
}  // namespace rharness
