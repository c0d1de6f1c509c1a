// The tables of names in a distributed checkpoint's pickle.
#include "compare/weights/torch_distributed_globals.h"

#include <algorithm>
#include <array>

namespace rharness {
namespace {

struct TorchDType {
  std::string_view global;
  DType dtype;
};
constexpr auto kTorchDTypes =
    std::to_array<TorchDType>({{"torch bool", DType::kBool},
                               {"torch uint8", DType::kU8},
                               {"torch int8", DType::kI8},
                               {"torch uint16", DType::kU16},
                               {"torch int16", DType::kI16},
                               {"torch uint32", DType::kU32},
                               {"torch int32", DType::kI32},
                               {"torch uint64", DType::kU64},
                               {"torch int64", DType::kI64},
                               {"torch float16", DType::kF16},
                               {"torch bfloat16", DType::kBF16},
                               {"torch float32", DType::kF32},
                               {"torch float64", DType::kF64},
                               {"torch complex64", DType::kC64},
                               {"torch complex128", DType::kC128},
                               {"torch float8_e4m3fn", DType::kF8E4M3},
                               {"torch float8_e5m2", DType::kF8E5M2},
                               {"torch float8_e4m3fnuz", DType::kF8E4M3Fnuz},
                               {"torch float8_e5m2fnuz", DType::kF8E5M2Fnuz},
                               {"torch float8_e8m0fnu", DType::kF8E8M0}});

// The classes that are read; kInert's are accepted as values that nothing reads.
constexpr auto kClasses = std::to_array<std::string_view>(
    {"torch.distributed.checkpoint.metadata Metadata",
     "megatron.core.dist_checkpointing.strategies.torch MCoreMetadata",
     "torch.distributed.checkpoint.metadata TensorStorageMetadata",
     "torch.distributed.checkpoint.metadata BytesStorageMetadata",
     "torch.distributed.checkpoint.metadata ChunkStorageMetadata",
     "torch.distributed.checkpoint.metadata MetadataIndex",
     "torch.distributed.checkpoint.metadata TensorProperties",
     "torch.distributed._shard.sharded_tensor.metadata TensorProperties",
     "torch.distributed.checkpoint.filesystem _StorageInfo", "torch Size",
     // PyTorch 1.13
     "torch.distributed._shard.checkpoint.metadata Metadata",
     "torch.distributed._shard.checkpoint.metadata TensorStorageMetadata",
     "torch.distributed._shard.checkpoint.metadata BytesStorageMetadata",
     "torch.distributed._shard.checkpoint.metadata ChunkStorageMetadata",
     "torch.distributed._shard.checkpoint.metadata MetadataIndex",
     "torch.distributed._shard.checkpoint.filesystem _StorageInfo"});
constexpr auto kInert = std::to_array<std::string_view>(
    {"torch.distributed.checkpoint.metadata StorageMeta",
     "torch.distributed.checkpoint.metadata _MEM_FORMAT_ENCODING",
     "torch.distributed._shard.sharded_tensor.metadata MEM_FORMAT_ENCODING",
     "torch.serialization _get_layout", "torch device", "collections OrderedDict",
     "builtins getattr", "__builtin__ getattr", "builtins set", "__builtin__ set",
     "pathlib PosixPath", "pathlib PurePosixPath", "pathlib WindowsPath", "pathlib PureWindowsPath",
     "pathlib._local PosixPath", "pathlib._local PurePosixPath", "pathlib._local WindowsPath",
     "pathlib._local PureWindowsPath"});

}  // namespace

std::vector<std::string_view> DistributedGlobals() {
  std::vector<std::string_view> globals(kClasses.begin(), kClasses.end());
  globals.insert(globals.end(), kInert.begin(), kInert.end());
  for (const TorchDType& row : kTorchDTypes) globals.push_back(row.global);
  return globals;
}

std::optional<DType> DTypeOfTorchGlobal(std::string_view global) {
  const auto row = std::ranges::find(kTorchDTypes, global, &TorchDType::global);
  if (row == kTorchDTypes.end()) return std::nullopt;
  return row->dtype;
}

}  // namespace rharness
