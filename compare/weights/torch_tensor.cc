// From the arguments of a call to storage, offset, shape and strides.
#include "compare/weights/torch_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compare/weights/torch_numpy.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

using Kind = TorchGlobalKind;

constexpr int kMaxLayers = 8;  // parameters of parameters

std::size_t ItemBytes(DType dtype) { return static_cast<std::size_t>(BitsOf(dtype)) / 8; }

}  // namespace

std::optional<TorchStorageId> ReadStorageId(const Pickle& pickle, PickleId persistent) {
  const auto items = pickle.Items(pickle.Items(persistent)[0]);
  const auto is = [&](std::size_t i, PickleKind kind) { return pickle.kind(items[i]) == kind; };
  const bool with_view = items.size() == 6 && is(5, PickleKind::kNone);
  if ((items.size() != 5 && !with_view) || !is(0, PickleKind::kString) ||
      pickle.Text(items[0]) != "storage" || !is(1, PickleKind::kGlobal) ||
      !is(2, PickleKind::kString) || !is(3, PickleKind::kString) || !is(4, PickleKind::kInt) ||
      pickle.Int(items[4]) < 0) {
    return std::nullopt;
  }
  return TorchStorageId{.key = pickle.Text(items[2]),
                        .location = pickle.Text(items[3]),
                        .elements = static_cast<std::uint64_t>(pickle.Int(items[4])),
                        .type = items[1]};
}

const TorchGlobal& TorchTensors::CalleeOf(PickleId object) const {
  const PickleId callable = pickle_.Callable(object);
  const bool known = pickle_.kind(callable) == PickleKind::kGlobal;
  return TorchGlobalAt(known ? pickle_.Global(callable) : TorchGlobalNames().size());
}

// "torch._utils._rebuild_tensor_v2"
std::string TorchTensors::NameOf(PickleId callable) const {
  if (pickle_.kind(callable) != PickleKind::kGlobal) return "what another call made";
  return TerminalSafe(pickle_.GlobalName(callable).substr(0, 200));
}

std::string TorchTensors::At(PickleId id) const {
  return fmt::format("{}: byte {}", where_, pickle_.offset(id));
}

Error TorchTensors::Refuse(const Call& call, std::string_view message) const {
  return InvalidInput(
      fmt::format("tensor '{}': {}", TerminalSafe(call.name.substr(0, 200)), message), At(call.id));
}

Error TorchTensors::NotRead(const Call& call, std::string_view message) const {
  return Unsupported(
      fmt::format("tensor '{}': {}", TerminalSafe(call.name.substr(0, 200)), message), At(call.id));
}

Error TorchTensors::NotDense(const Call& call) const {
  return NotRead(call, fmt::format("is made by {}; expected a dense tensor on a storage",
                                   NameOf(call.callable)));
}

bool TorchTensors::IsTensor(PickleId object) const {
  switch (CalleeOf(object).kind) {
    case Kind::kTensor:
    case Kind::kTensorV2:
    case Kind::kTensorV3:
    case Kind::kTensorOfType:
    case Kind::kParameter:
    case Kind::kQuantised:
    case Kind::kComposed:
    case Kind::kUnreadTensor:
    case Kind::kTensorClass:
      return true;
    default:
      return false;
  }
}

// Takes off parameters and types until a call that rebuilds a tensor is left.
Result<TorchTensors::Call> TorchTensors::Unwrap(PickleId object, std::string_view name) const {
  Call call{name, object, pickle_.Callable(object), &CalleeOf(object), pickle_.Arguments(object)};
  for (int layer = 0; layer < kMaxLayers; ++layer) {
    switch (call.callee->kind) {
      case Kind::kTensor:
      case Kind::kTensorV2:
      case Kind::kTensorV3:
      case Kind::kQuantised:
        return call;
      case Kind::kTensorOfType: {
        ASSIGN_OR_RETURN(call, UnwrapType(call));
        break;
      }
      case Kind::kTensorClass:
        if (call.arguments.empty() || pickle_.kind(call.arguments[0]) != PickleKind::kObject) {
          return NotDense(call);
        }
        [[fallthrough]];
      case Kind::kParameter: {
        if (call.arguments.empty() || pickle_.kind(call.arguments[0]) != PickleKind::kObject) {
          return Refuse(call, "a parameter without a tensor; expected one as first argument");
        }
        call.id = call.arguments[0];
        call.callable = pickle_.Callable(call.id);
        call.callee = &CalleeOf(call.id);
        call.arguments = pickle_.Arguments(call.id);
        break;
      }
      default:
        return NotDense(call);
    }
  }
  return NotRead(call, fmt::format("more than {} layers of parameters", kMaxLayers));
}

Result<TorchTensors::Call> TorchTensors::UnwrapType(const Call& call) const {
  const auto arguments = call.arguments;
  if (arguments.size() < 3 || pickle_.kind(arguments[0]) != PickleKind::kGlobal ||
      pickle_.kind(arguments[1]) != PickleKind::kGlobal ||
      pickle_.kind(arguments[2]) != PickleKind::kTuple) {
    return Refuse(call, "expected a function, a type and a tuple of arguments");
  }
  const TorchGlobal& type = TorchGlobalAt(pickle_.Global(arguments[1]));
  if (type.kind != Kind::kTensorClass) {
    return NotRead(
        call, fmt::format("is a {}; expected a torch.Tensor or a Parameter", NameOf(arguments[1])));
  }
  return Call{call.name, call.id, arguments[0], &TorchGlobalAt(pickle_.Global(arguments[0])),
              pickle_.Items(arguments[2])};
}

std::vector<PickleId> TorchTensors::AttributesOf(PickleId object) const {
  constexpr std::size_t kState = 3;  // of _rebuild_from_type_v2 and _rebuild_parameter_with_state
  constexpr std::size_t kParameterHooks = 2, kTensorHooks = 5, kQuantisedHooks = 6;
  std::vector<PickleId> attributes;
  const auto add = [&](std::span<const PickleId> arguments, std::size_t index) {
    if (index < arguments.size() && !IsEmpty(arguments[index])) {
      attributes.push_back(arguments[index]);
    }
  };
  for (int layer = 0; layer < kMaxLayers; ++layer) {
    if (const auto state = pickle_.State(object)) add(std::array{*state}, 0);
    const auto arguments = pickle_.Arguments(object);
    const Kind kind = CalleeOf(object).kind;
    if (kind == Kind::kTensorOfType) {
      add(arguments, kState);
      const bool tuple = arguments.size() > 2 && pickle_.kind(arguments[2]) == PickleKind::kTuple;
      if (tuple) add(pickle_.Items(arguments[2]), kTensorHooks);
    }
    if (kind == Kind::kTensorV2 || kind == Kind::kTensorV3) add(arguments, kTensorHooks);
    if (kind == Kind::kQuantised) add(arguments, kQuantisedHooks);
    if (kind != Kind::kParameter) break;
    add(arguments, kParameterHooks);
    add(arguments, kState);
    if (arguments.empty() || pickle_.kind(arguments[0]) != PickleKind::kObject) break;
    object = arguments[0];
  }
  return attributes;
}

// None, and containers of nothing.
bool TorchTensors::IsEmpty(PickleId id) const {
  switch (pickle_.kind(id)) {
    case PickleKind::kNone:
      return true;
    case PickleKind::kList:
    case PickleKind::kTuple:
      return pickle_.Items(id).empty();
    case PickleKind::kDict:
      return pickle_.Entries(id).empty();
    case PickleKind::kObject: {
      const auto arguments = pickle_.Arguments(id);
      // Python 2 calls the class with a list of pairs.
      const bool none = arguments.empty() ||
                        (arguments.size() == 1 && pickle_.kind(arguments[0]) == PickleKind::kList &&
                         pickle_.Items(arguments[0]).empty());
      return CalleeOf(id).kind == Kind::kOrderedDict && none && pickle_.Entries(id).empty() &&
             !pickle_.State(id);
    }
    default:
      return false;
  }
}

Result<View> TorchTensors::Read(PickleId object, std::string name) {
  const auto arguments = pickle_.Arguments(object);
  if (CalleeOf(object).kind == Kind::kTensorClass && !arguments.empty() &&
      pickle_.kind(arguments[0]) == PickleKind::kPersistent) {
    if (auto outside = ReadOutside(arguments[0], name)) return std::move(*outside);
  }
  ASSIGN_OR_RETURN(const Call call, Unwrap(object, name));
  if (call.arguments.size() < 4) {
    return Refuse(call, fmt::format("{} arguments; expected storage, offset, size and stride",
                                    call.arguments.size()));
  }
  RETURN_IF_ERROR(CheckMetadata(call));
  ASSIGN_OR_RETURN(const Storage storage, ReadStorage(call));
  View view{.source = storage.source, .stated_at = pickle_.offset(call.id)};
  ASSIGN_OR_RETURN(view.dtype, DTypeOf(call, storage));
  ASSIGN_OR_RETURN(view.shape, ReadNumbers(call, call.arguments[2], "size"));
  ASSIGN_OR_RETURN(view.strides, ReadNumbers(call, call.arguments[3], "stride"));
  if (view.shape.size() != view.strides.size()) {
    return Refuse(call, fmt::format("{} strides; expected {}, one a dimension", view.strides.size(),
                                    view.shape.size()));
  }
  const PickleId offset = call.arguments[1];
  if (pickle_.kind(offset) != PickleKind::kInt || pickle_.Int(offset) < 0 ||
      __builtin_mul_overflow(static_cast<std::uint64_t>(pickle_.Int(offset)), ItemBytes(view.dtype),
                             &view.offset_bytes)) {
    return Refuse(call, "expected an offset in elements that is not negative");
  }
  view.name = std::move(name);
  return view;
}

std::optional<View> TorchTensors::ReadOutside(PickleId persistent, std::string name) {
  const PickleId key = pickle_.Items(persistent)[0];
  if (outside_ == nullptr || pickle_.kind(key) != PickleKind::kString) return std::nullopt;
  const auto tensor = outside_->find(pickle_.Text(key));
  if (tensor == outside_->end()) return std::nullopt;
  const TorchOutsideTensor& found = tensor->second;
  const auto [source, is_new] = source_by_key_.try_emplace(found.storage, sources_.size());
  if (is_new) {
    std::optional<ViewSource> bytes = storages_(found.storage);
    sources_.push_back(bytes ? std::move(*bytes) : ViewSource());
  }
  View view{.name = std::move(name), .dtype = found.dtype, .source = source->second};
  view.shape = found.shape;
  view.strides = found.strides;
  view.offset_bytes = found.offset_bytes;
  view.stated_at = pickle_.offset(persistent);
  return view;
}

std::optional<View> TorchTensors::ReadArray(PickleId object, std::string name) {
  auto array = ReadPickledArray(pickle_, object);
  if (!array || array->shape.size() > kMaxViewRank) return std::nullopt;
  const auto source = SourceOf(*array);
  std::uint64_t size_bytes = ItemBytes(array->dtype);
  for (const std::uint64_t size : array->shape) {
    if (__builtin_mul_overflow(size_bytes, size, &size_bytes)) return std::nullopt;
  }
  if (!source || size_bytes != sources_[*source].size_bytes) return std::nullopt;
  View view{.name = std::move(name), .dtype = array->dtype, .source = *source};
  view.strides = DenseStrides(array->shape, array->fortran);
  view.shape = std::move(array->shape);
  view.swapped = array->swapped;
  view.stated_at = pickle_.offset(object);
  return view;
}

std::optional<View> TorchTensors::ReadBytes(PickleId id, std::string name) {
  const auto bytes = ReadPickledBytes(pickle_, id);
  const auto source = bytes ? SourceOf(*bytes) : std::nullopt;
  if (!source) return std::nullopt;
  View view{.name = std::move(name), .dtype = bytes->dtype, .source = *source};
  view.shape = {sources_[*source].size_bytes};
  view.strides = {1};
  view.stated_at = pickle_.offset(id);
  return view;
}

View TorchTensors::Own(std::string name, DType dtype, std::vector<std::uint64_t> shape,
                       std::string bytes, PickleId stated) {
  View view{.name = std::move(name), .dtype = dtype, .source = sources_.size()};
  view.strides = DenseStrides(shape, false);
  view.shape = std::move(shape);
  view.stated_at = pickle_.offset(stated);
  const auto memory = std::make_shared<const std::string>(std::move(bytes));
  sources_.push_back({.size_bytes = memory->size(), .memory = memory});
  return view;
}

// Of the array's data; keeps repeated ones once.
std::optional<std::size_t> TorchTensors::SourceOf(const PickledArray& array) {
  const auto known = source_by_data_.find(array.data);
  if (known != source_by_data_.end()) return known->second;
  auto bytes = BytesOfArray(pickle_, array);
  if (!bytes) return std::nullopt;
  const auto memory = std::make_shared<const std::string>(std::move(*bytes));
  sources_.push_back({.size_bytes = memory->size(), .memory = memory});
  source_by_data_.emplace(array.data, sources_.size() - 1);
  return sources_.size() - 1;
}

// Conjugated and negated views store other values than they represent.
Status TorchTensors::CheckMetadata(const Call& call) const {
  const std::size_t index = call.callee->kind == Kind::kTensorV3 ? 7 : 6;
  const Kind kind = call.callee->kind;
  if (call.arguments.size() <= index || kind == Kind::kTensor || kind == Kind::kQuantised) {
    return {};
  }
  const PickleId metadata = call.arguments[index];
  if (pickle_.kind(metadata) == PickleKind::kNone) return {};
  if (pickle_.kind(metadata) == PickleKind::kDict && pickle_.Entries(metadata).empty()) return {};
  return NotRead(call, "has metadata, such as a conjugated view; expected none");
}

Result<DType> TorchTensors::DTypeOf(const Call& call, const Storage& storage) const {
  if (call.callee->kind != Kind::kTensorV3) {
    if (storage.typed) return storage.dtype;
    return Refuse(call, "an untyped storage without a dtype; expected one of the two");
  }
  if (call.arguments.size() < 7 || pickle_.kind(call.arguments[6]) != PickleKind::kGlobal) {
    return Refuse(call, "expected a dtype as seventh argument");
  }
  const TorchGlobal& global = TorchGlobalAt(pickle_.Global(call.arguments[6]));
  if (global.kind == Kind::kDType) return global.dtype;
  return NotRead(call,
                 fmt::format("dtype {}; expected one that is read", NameOf(call.arguments[6])));
}

Result<TorchTensors::Storage> TorchTensors::ReadStorage(const Call& call) {
  const PickleId reference = call.arguments[0];
  if (pickle_.kind(reference) != PickleKind::kPersistent) {
    return Refuse(call, fmt::format("laid over {}; expected a storage",
                                    PickleKindName(pickle_.kind(reference))));
  }
  const auto id = ReadStorageId(pickle_, reference);
  if (!id) {
    return Refuse(call,
                  "expected a storage as ('storage', class, key, location, number of elements)");
  }
  const TorchGlobal& type = TorchGlobalAt(pickle_.Global(id->type));
  const bool quantised =
      type.kind == Kind::kQuantisedStorage && call.callee->kind == Kind::kQuantised;
  const bool typed = quantised || type.kind == Kind::kStorage;
  if (!typed && type.kind != Kind::kUntypedStorage) {
    return NotRead(call, fmt::format("a storage of class {}; expected a class that is read",
                                     NameOf(id->type)));
  }
  if (id->location == "meta") {
    return NotRead(call, "lies on the device 'meta', without bytes; expected a stored tensor");
  }
  Storage storage{.dtype = type.dtype, .typed = typed};
  ASSIGN_OR_RETURN(storage.source, SourceFor(call, id->key, id->elements,
                                             storage.typed ? ItemBytes(storage.dtype) : 1));
  return storage;
}

Result<std::size_t> TorchTensors::SourceFor(const Call& call, std::string_view key,
                                            std::uint64_t numel, std::size_t item_bytes) {
  const auto known = source_by_key_.find(key);
  std::size_t source = sources_.size();
  if (known != source_by_key_.end()) {
    source = known->second;
  } else {
    std::optional<ViewSource> bytes = storages_(key);
    if (!bytes) {
      return Refuse(call, fmt::format("its storage '{}' is not in the file",
                                      TerminalSafe(key.substr(0, 200))));
    }
    sources_.push_back(std::move(*bytes));
    source_by_key_.emplace(key, source);
  }
  std::uint64_t size_bytes = 0;
  if (!__builtin_mul_overflow(numel, item_bytes, &size_bytes) &&
      size_bytes == sources_[source].size_bytes) {
    return source;
  }
  return Refuse(call, fmt::format("its storage '{}' has {} bytes; expected {} elements of {}",
                                  TerminalSafe(key.substr(0, 200)), sources_[source].size_bytes,
                                  numel, item_bytes));
}

// Dimensions or strides.
Result<std::vector<std::uint64_t>> TorchTensors::ReadNumbers(const Call& call, PickleId id,
                                                             std::string_view what) const {
  const auto refuse = [&] {
    return Refuse(call, fmt::format("{}: expected a tuple of at most {} integers from 0 on", what,
                                    kMaxViewRank));
  };
  // A torch.Size is the call of its class with a tuple.
  if (pickle_.kind(id) == PickleKind::kObject && CalleeOf(id).name == "torch Size" &&
      pickle_.Arguments(id).size() == 1) {
    id = pickle_.Arguments(id)[0];
  }
  if (pickle_.kind(id) != PickleKind::kTuple || pickle_.Items(id).size() > kMaxViewRank) {
    return refuse();
  }
  std::vector<std::uint64_t> numbers;
  for (const PickleId item : pickle_.Items(id)) {
    if (pickle_.kind(item) != PickleKind::kInt || pickle_.Int(item) < 0) return refuse();
    numbers.push_back(static_cast<std::uint64_t>(pickle_.Int(item)));
  }
  return numbers;
}

}  // namespace rharness
