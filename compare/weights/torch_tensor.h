// The calls that rebuild a tensor, read as views over storages.
//
// Role: private to this folder; between torch_zip's tree and view_checkpoint. Executes none of
// them.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_TENSOR_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_TENSOR_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compare/weights/pickle.h"
#include "compare/weights/torch_globals.h"
#include "compare/weights/torch_numpy.h"
#include "compare/weights/view_checkpoint.h"

namespace rharness {

// The bytes of a storage by its key; empty: there is no such storage.
using TorchStorages = std::function<std::optional<ViewSource>(std::string_view key)>;

// Contents of a storage's persistent id: its fourth argument and its class.
struct TorchStorageId {
  std::string_view key;
  std::string_view location;
  std::uint64_t elements = 0;
  PickleId type = 0;  // a kGlobal
};
// ('storage', class, key, location, number of elements); in files from before 1.6 with a sixth
// item, None. Empty: not of this form.
std::optional<TorchStorageId> ReadStorageId(const Pickle& pickle, PickleId persistent);

// A tensor described outside of the pickle, which has its key as persistent id.
struct TorchOutsideTensor {
  std::string storage;  // key
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> strides;
  std::uint64_t offset_bytes = 0;
};
using TorchOutsideTensors = std::map<std::string, TorchOutsideTensor, std::less<>>;  // by key

class TorchTensors {
 public:
  // All must outlive this object. `where` starts the `where` of errors; `outside` may be null.
  TorchTensors(const Pickle& pickle, TorchStorages storages, std::string_view where,
               const TorchOutsideTensors* outside = nullptr)
      : pickle_(pickle), storages_(std::move(storages)), where_(where), outside_(outside) {}

  // What the object calls.
  const TorchGlobal& CalleeOf(PickleId object) const;
  // Whether the object is a tensor, readable or not.
  bool IsTensor(PickleId object) const;
  // The object, which IsTensor, as a view. Errors: invalid_input, unsupported (a kind of tensor or
  // dtype that is not read); the message names the tensor.
  Result<View> Read(PickleId object, std::string name);
  // Further data of the object, which IsTensor: attributes and hooks of the tensor or of the
  // parameter around it; neither None nor empty.
  std::vector<PickleId> AttributesOf(PickleId object) const;
  // A persistent id that is the key of an outside tensor; empty: it is none.
  std::optional<View> ReadOutside(PickleId persistent, std::string name);
  // The object as a view if it is a numpy array of numbers; empty: it is none.
  std::optional<View> ReadArray(PickleId object, std::string name);
  // Bytes or a bytearray as a view; empty: it is none.
  std::optional<View> ReadBytes(PickleId id, std::string name);
  // A view of bytes that the pickle states otherwise, at `stated`.
  View Own(std::string name, DType dtype, std::vector<std::uint64_t> shape, std::string bytes,
           PickleId stated);
  std::vector<ViewSource> TakeSources() { return std::move(sources_); }

 private:
  struct Storage {
    std::size_t source = 0;
    DType dtype = DType::kU8;
    bool typed = true;
  };
  // A tensor's call while its wrappers are removed.
  struct Call {
    std::string_view name;  // of the tensor
    PickleId id = 0;
    PickleId callable = 0;
    const TorchGlobal* callee = nullptr;
    std::span<const PickleId> arguments;
  };

  bool IsEmpty(PickleId id) const;
  std::optional<std::size_t> SourceOf(const PickledArray& array);
  std::string At(PickleId id) const;
  std::string NameOf(PickleId callable) const;
  Error Refuse(const Call& call, std::string_view message) const;
  Error NotRead(const Call& call, std::string_view message) const;
  Error NotDense(const Call& call) const;
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
  TorchStorages storages_;
  std::string_view where_;
  const TorchOutsideTensors* outside_;
  std::vector<ViewSource> sources_;
  std::unordered_map<std::string_view, std::size_t> source_by_key_;
  std::unordered_map<PickleId, std::size_t> source_by_data_;  // of arrays
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_TENSOR_H_
