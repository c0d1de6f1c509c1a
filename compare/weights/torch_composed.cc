// The parts of composed tensors by the arguments of the calls that rebuild them.
#include "compare/weights/torch_composed.h"

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <string_view>

#include "compare/weights/names.h"

namespace rharness {
namespace {

using Kind = TorchGlobalKind;

template <class T>
std::string BytesOfNumber(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

class Composer {
 public:
  Composer(const Pickle& pickle, TorchTensors* tensors, PickleId object, const std::string& name)
      : pickle_(pickle), tensors_(*tensors), object_(object), name_(name) {}

  Result<std::vector<View>> Read() {
    switch (tensors_.CalleeOf(object_).kind) {
      case Kind::kQuantised:
        RETURN_IF_ERROR(AddQuantised());
        break;
      case Kind::kComposed:
        RETURN_IF_ERROR(tensors_.CalleeOf(object_).name.ends_with("nested_tensor") ? AddNested()
                                                                                   : AddSparse());
        break;
      default: {
        ASSIGN_OR_RETURN(View view, tensors_.Read(object_, name_));
        views_.push_back(std::move(view));
      }
    }
    return std::move(views_);
  }

 private:
  // A form that this version does not know: the tensor stays an unread part.
  Error NotRead(std::string_view what) const {
    const PickleId callable = pickle_.Callable(object_);
    return Unsupported(fmt::format("tensor {}: is made by {} with {}", Quoted(name_),
                                   TerminalSafe(pickle_.GlobalName(callable)), what),
                       fmt::format("byte {}", pickle_.offset(object_)));
  }
  bool IsObject(PickleId id) const { return pickle_.kind(id) == PickleKind::kObject; }

  Status AddPart(PickleId part, std::string_view what) {
    if (!IsObject(part) || !tensors_.IsTensor(part)) return NotRead("parts that are no tensors");
    ASSIGN_OR_RETURN(View view, tensors_.Read(part, fmt::format("{}/{}", name_, what)));
    views_.push_back(std::move(view));
    return {};
  }
  template <class T>
  void AddScalar(std::string_view what, DType dtype, T value) {
    views_.push_back(
        tensors_.Own(fmt::format("{}/{}", name_, what), dtype, {}, BytesOfNumber(value), object_));
  }

  // (scheme, scale, zero_point) or (scheme, scales, zero_points, axis).
  Status AddQuantised() {
    const auto arguments = pickle_.Arguments(object_);
    if (arguments.size() < 5 || pickle_.kind(arguments[4]) != PickleKind::kTuple) {
      return NotRead("arguments of an unknown form");
    }
    const auto how = pickle_.Items(arguments[4]);
    if (how.size() < 3 || pickle_.kind(how[0]) != PickleKind::kGlobal) {
      return NotRead("an unknown way to quantise");
    }
    ASSIGN_OR_RETURN(View integers, tensors_.Read(object_, name_));
    views_.push_back(std::move(integers));
    const std::string scheme = pickle_.GlobalName(how[0]);
    if (scheme == "torch.per_tensor_affine" && how.size() == 3 &&
        pickle_.kind(how[1]) == PickleKind::kFloat && pickle_.kind(how[2]) == PickleKind::kInt) {
      AddScalar("scale", DType::kF64, pickle_.Float(how[1]));
      AddScalar("zero_point", DType::kI64, pickle_.Int(how[2]));
      return {};
    }
    if (!scheme.starts_with("torch.per_channel_affine") || how.size() != 4 ||
        pickle_.kind(how[3]) != PickleKind::kInt) {
      return NotRead("an unknown way to quantise");
    }
    RETURN_IF_ERROR(AddPart(how[1], "scale"));
    RETURN_IF_ERROR(AddPart(how[2], "zero_point"));
    AddScalar("axis", DType::kI64, pickle_.Int(how[3]));
    return {};
  }

  // The name of a layout in the call of _get_layout, or of the global that stands for it.
  std::string LayoutOf(PickleId id) const {
    if (pickle_.kind(id) == PickleKind::kGlobal) return pickle_.GlobalName(id);
    if (!IsObject(id) || pickle_.Arguments(id).size() != 1) return {};
    const PickleId text = pickle_.Arguments(id)[0];
    return pickle_.kind(text) == PickleKind::kString ? std::string(pickle_.Text(text))
                                                     : std::string();
  }

  // (layout, (indices, values, size, is_coalesced)) or (layout, (outer, inner, values, size)).
  Status AddSparse() {
    const auto arguments = pickle_.Arguments(object_);
    if (arguments.size() != 2 || pickle_.kind(arguments[1]) != PickleKind::kTuple) {
      return NotRead("arguments of an unknown form");
    }
    const std::string layout = LayoutOf(arguments[0]);
    const auto parts = pickle_.Items(arguments[1]);
    if (layout == "torch.sparse_coo" && (parts.size() == 3 || parts.size() == 4)) {
      RETURN_IF_ERROR(AddPart(parts[0], "indices"));
      RETURN_IF_ERROR(AddPart(parts[1], "values"));
      return AddShape(parts[2]);
    }
    const bool by_row = layout == "torch.sparse_csr" || layout == "torch.sparse_bsr";
    const bool by_column = layout == "torch.sparse_csc" || layout == "torch.sparse_bsc";
    if (parts.size() != 4 || (!by_row && !by_column)) return NotRead("an unknown layout");
    RETURN_IF_ERROR(AddPart(parts[0], by_row ? "crow_indices" : "ccol_indices"));
    RETURN_IF_ERROR(AddPart(parts[1], by_row ? "col_indices" : "row_indices"));
    RETURN_IF_ERROR(AddPart(parts[2], "values"));
    return AddShape(parts[3]);
  }

  Status AddShape(PickleId size) {
    if (IsObject(size) && tensors_.CalleeOf(size).name == "torch Size" &&
        pickle_.Arguments(size).size() == 1) {
      size = pickle_.Arguments(size)[0];
    }
    if (pickle_.kind(size) != PickleKind::kTuple) return NotRead("a shape that is no tuple");
    std::string bytes;
    for (const PickleId item : pickle_.Items(size)) {
      if (pickle_.kind(item) != PickleKind::kInt) return NotRead("a shape of other than integers");
      bytes += BytesOfNumber(pickle_.Int(item));
    }
    views_.push_back(tensors_.Own(name_ + "/shape", DType::kI64, {pickle_.Items(size).size()},
                                  std::move(bytes), object_));
    return {};
  }

  // (buffer, sizes, strides, offsets)
  Status AddNested() {
    const auto arguments = pickle_.Arguments(object_);
    if (arguments.size() != 4) return NotRead("arguments of an unknown form");
    RETURN_IF_ERROR(AddPart(arguments[0], "values"));
    RETURN_IF_ERROR(AddPart(arguments[1], "sizes"));
    RETURN_IF_ERROR(AddPart(arguments[2], "strides"));
    return AddPart(arguments[3], "offsets");
  }

  const Pickle& pickle_;
  TorchTensors& tensors_;
  const PickleId object_;
  const std::string& name_;
  std::vector<View> views_;
};

}  // namespace

Result<std::vector<View>> ReadTorchTensor(const Pickle& pickle, TorchTensors* tensors,
                                          PickleId object, const std::string& name) {
  return Composer(pickle, tensors, object, name).Read();
}

}  // namespace rharness
