// From the states of arrays and dtypes to fields, shapes and bytes.
#include "compare/weights/pickled_numpy.h"

#include <charconv>
#include <span>

#include "compare/weights/npy_header.h"
#include "compare/weights/torch_numpy.h"
#include "compare/weights/view_checkpoint.h"

namespace rharness {
namespace {

constexpr std::size_t kMaxFields = 256;

bool Is(const Pickle& pickle, PickleId id, PickleKind kind) { return pickle.kind(id) == kind; }

bool ReadNumbers(const Pickle& pickle, PickleId id, std::vector<std::uint64_t>* numbers) {
  if (!Is(pickle, id, PickleKind::kTuple) || pickle.Items(id).size() > kMaxViewRank) return false;
  for (const PickleId item : pickle.Items(id)) {
    if (!Is(pickle, item, PickleKind::kInt) || pickle.Int(item) < 0) return false;
    numbers->push_back(static_cast<std::uint64_t>(pickle.Int(item)));
  }
  return true;
}

// "f8" has 8 bytes an element, "U3" 12.
std::uint64_t ItemBytesOf(std::string_view format) {
  std::uint64_t size = 0;
  if (format.size() < 2) return 0;
  const auto [end, error] = std::from_chars(format.data() + 1, format.data() + format.size(), size);
  if (error != std::errc() || end != format.data() + format.size() || size > 1U << 30) return 0;
  return format[0] == 'U' ? 4 * size : size;
}

// The state of a structured dtype: (version, order, subarray, names, fields, size, alignment, ...).
bool ReadFields(const Pickle& pickle, std::span<const PickleId> state, NumpyType* type) {
  if (state.size() < 6 || !Is(pickle, state[3], PickleKind::kTuple) ||
      !Is(pickle, state[4], PickleKind::kDict) || pickle.Items(state[3]).size() > kMaxFields) {
    return false;
  }
  for (const PickleId name : pickle.Items(state[3])) {
    if (!Is(pickle, name, PickleKind::kString)) return false;
    const auto entry = pickle.Find(state[4], pickle.Text(name));
    if (!entry || !Is(pickle, *entry, PickleKind::kTuple) || pickle.Items(*entry).size() < 2) {
      return false;
    }
    const PickleId inner = pickle.Items(*entry)[0], offset = pickle.Items(*entry)[1];
    const auto of = ReadNumpyType(pickle, inner);
    if (!of || of->fields.size() != 1 || !of->fields[0].name.empty() ||
        !Is(pickle, offset, PickleKind::kInt) || pickle.Int(offset) < 0 ||
        static_cast<std::uint64_t>(pickle.Int(offset)) + of->item_bytes > type->item_bytes) {
      return false;
    }
    NumpyField field = of->fields[0];
    field.name = pickle.Text(name);
    field.offset_bytes = static_cast<std::uint64_t>(pickle.Int(offset));
    type->fields.push_back(std::move(field));
  }
  return true;
}

std::optional<NumpyArray> WithData(const Pickle& pickle, PickleId type, PickleId data,
                                   NumpyArray array) {
  auto read = ReadNumpyType(pickle, type);
  if (!read) return std::nullopt;
  array.type = std::move(*read);
  array.data = data;
  if (array.type.objects) {
    return Is(pickle, data, PickleKind::kList) ? std::optional(std::move(array)) : std::nullopt;
  }
  const auto bytes = ReadPickledBytes(pickle, data);
  if (!bytes) return std::nullopt;
  array.data = bytes->data;
  return array;
}

// (version, shape, dtype, is_fortran, data, ...)
std::optional<NumpyArray> ReadState(const Pickle& pickle, PickleId state) {
  const auto items = pickle.Items(state);
  NumpyArray array;
  if (!Is(pickle, state, PickleKind::kTuple) || items.size() < 5 ||
      !ReadNumbers(pickle, items[1], &array.shape) || !Is(pickle, items[3], PickleKind::kBool)) {
    return std::nullopt;
  }
  array.fortran = pickle.Bool(items[3]);
  return WithData(pickle, items[2], items[4], std::move(array));
}

}  // namespace

bool CallsNumpy(const Pickle& pickle, PickleId object, std::string_view name) {
  if (!Is(pickle, object, PickleKind::kObject) ||
      !Is(pickle, pickle.Callable(object), PickleKind::kGlobal)) {
    return false;
  }
  std::string callee = pickle.GlobalName(pickle.Callable(object));
  if (callee.starts_with("numpy._core.")) callee.erase(6, 1);
  return callee == name;
}

// dtype('f8', False, True) with the state (3, '<', ...).
std::optional<NumpyType> ReadNumpyType(const Pickle& pickle, PickleId id) {
  if (!CallsNumpy(pickle, id, "numpy.dtype") || pickle.Arguments(id).empty()) return std::nullopt;
  const PickleId format = pickle.Arguments(id)[0];
  const auto state = pickle.State(id);
  if (!Is(pickle, format, PickleKind::kString) || !state ||
      !Is(pickle, *state, PickleKind::kTuple) || pickle.Items(*state).size() < 5) {
    return std::nullopt;
  }
  const auto items = pickle.Items(*state);
  if (!Is(pickle, items[1], PickleKind::kString)) return std::nullopt;
  NumpyType type{.format = std::string(pickle.Text(format))};
  type.item_bytes = ItemBytesOf(type.format);
  type.objects = type.format.starts_with('O');
  if (!Is(pickle, items[2], PickleKind::kNone)) return std::nullopt;  // elements that are arrays
  if (const auto dtype = DTypeOfNpyFormat(type.format)) {
    type.fields.push_back({.name = {}, .dtype = *dtype, .swapped = pickle.Text(items[1]) == ">"});
  } else if (!Is(pickle, items[3], PickleKind::kNone) && !ReadFields(pickle, items, &type)) {
    return std::nullopt;
  }
  return type;
}

std::optional<NumpyArray> ReadNumpyArray(const Pickle& pickle, PickleId object) {
  NumpyArray array;
  PickleId type = 0, data = 0;
  if (CallsNumpy(pickle, object, "numpy.core.multiarray.scalar")) {
    const auto arguments = pickle.Arguments(object);
    if (arguments.size() != 2) return std::nullopt;
    type = arguments[0], data = arguments[1];
  } else if (CallsNumpy(pickle, object, "numpy.core.numeric._frombuffer")) {
    const auto arguments = pickle.Arguments(object);  // buffer, dtype, shape, order
    if (arguments.size() < 4 || !Is(pickle, arguments[3], PickleKind::kString) ||
        !ReadNumbers(pickle, arguments[2], &array.shape)) {
      return std::nullopt;
    }
    array.fortran = pickle.Text(arguments[3]) == "F";
    type = arguments[1], data = arguments[0];
  } else if (CallsNumpy(pickle, object, "numpy.core.multiarray._reconstruct")) {
    const auto state = pickle.State(object);
    if (!state || pickle.Items(*state).size() != 5) return std::nullopt;
    return ReadState(pickle, *state);
  } else {
    return std::nullopt;
  }
  return WithData(pickle, type, data, std::move(array));
}

std::optional<NumpyMasked> ReadMaskedArray(const Pickle& pickle, PickleId object) {
  if (!CallsNumpy(pickle, object, "numpy.ma.core._mareconstruct")) return std::nullopt;
  const auto state = pickle.State(object);
  if (!state || pickle.Items(*state).size() != 7) return std::nullopt;
  const auto items = pickle.Items(*state);  // those of an array, the mask's bytes, the fill value
  auto data = ReadState(pickle, *state);
  const auto mask = ReadPickledBytes(pickle, items[5]);
  const bool plain = data && (data->type.fields.empty() || data->type.fields[0].name.empty());
  if (!plain || !mask) return std::nullopt;
  NumpyMasked masked{.data = std::move(*data), .mask = {}, .fill = items[6]};
  masked.mask = {.type = {.format = "b1", .item_bytes = 1, .fields = {{.dtype = DType::kBool}}},
                 .fortran = masked.data.fortran,
                 .shape = masked.data.shape,
                 .data = mask->data};
  return masked;
}

std::optional<NumpyArray> ReadArrayWrapper(const Pickle& pickle, PickleId object, bool* aligned) {
  if (!CallsNumpy(pickle, object, "joblib.numpy_pickle.NumpyArrayWrapper")) return std::nullopt;
  const auto state = pickle.State(object);
  if (!state || !Is(pickle, *state, PickleKind::kDict)) return std::nullopt;
  const auto shape = pickle.Find(*state, "shape"), order = pickle.Find(*state, "order");
  const auto type = pickle.Find(*state, "dtype");
  const auto alignment = pickle.Find(*state, "numpy_array_alignment_bytes");
  NumpyArray array;
  if (!shape || !order || !type || !Is(pickle, *order, PickleKind::kString) ||
      !ReadNumbers(pickle, *shape, &array.shape)) {
    return std::nullopt;
  }
  auto read = ReadNumpyType(pickle, *type);
  if (!read) return std::nullopt;
  array.type = std::move(*read);
  array.fortran = pickle.Text(*order) == "F";
  *aligned = alignment && !Is(pickle, *alignment, PickleKind::kNone);
  return array;
}

std::optional<std::uint64_t> BytesOf(const NumpyArray& array) {
  std::uint64_t bytes = array.type.item_bytes;
  for (const std::uint64_t size : array.shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  }
  return bytes;
}

}  // namespace rharness
