// The calls that rebuild a tensor, read as views over storages.
//
// Role: private to this folder; between torch_zip's tree and view_checkpoint. Executes none of
// them.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_TENSOR_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_TENSOR_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compare/weights/pickle.h"
#include "compare/weights/torch_globals.h"
#include "compare/weights/view_checkpoint.h"
#include "compare/weights/zip_archive.h"

namespace rharness {

class TorchTensors {
 public:
  // All must outlive this object. `root` is what record names begin with: "archive/"; `where`
  // begins the `where` of errors.
  TorchTensors(const Pickle& pickle, const ZipDirectory& directory, std::string_view root,
               std::string_view where)
      : pickle_(pickle), directory_(directory), root_(root), where_(where) {}

  // What the object calls.
  const TorchGlobal& CalleeOf(PickleId object) const {
    return TorchGlobalAt(pickle_.Global(pickle_.Callable(object)));
  }
  // Whether the object is a tensor, one that is not read included.
  bool IsTensor(PickleId object) const;
  // The object, which IsTensor, as a view. Errors: invalid_input, unsupported (a kind of tensor or
  // dtype that is not read); the message names the tensor.
  Result<View> Read(PickleId object, std::string name);
  std::vector<ViewSource> TakeSources() { return std::move(sources_); }

 private:
  struct Storage {
    std::size_t source = 0;
    DType dtype = DType::kU8;
    bool typed = true;
  };
  // A tensor's call while its layers are taken off.
  struct Call {
    std::string_view name;  // of the tensor
    PickleId id = 0;
    const TorchGlobal* callee = nullptr;
    std::span<const PickleId> arguments;
  };

  std::string At(PickleId id) const;
  Error Refuse(const Call& call, std::string_view message) const;
  Error NotRead(const Call& call, std::string_view message) const;
  Result<Call> Unwrap(PickleId object, std::string_view name) const;
  Result<Call> UnwrapType(const Call& call) const;
  Result<Storage> ReadStorage(const Call& call);
  Result<std::size_t> SourceFor(const Call& call, std::string_view key, std::uint64_t numel,
                                std::size_t item_bytes);
  Result<DType> DTypeOf(const Call& call, const Storage& storage) const;
  Result<std::vector<std::uint64_t>> ReadNumbers(const Call& call, PickleId id,
                                                 std::string_view what) const;
  Status CheckMetadata(const Call& call) const;

  const Pickle& pickle_;
  const ZipDirectory& directory_;
  std::string_view root_;
  std::string_view where_;
  std::vector<ViewSource> sources_;
  std::unordered_map<std::string_view, std::size_t> source_by_key_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_TENSOR_H_
