// From the state of an array to dtype, shape and bytes.
#include "compare/weights/torch_numpy.h"

#include <span>
#include <string_view>

#include "compare/weights/npy_header.h"

namespace rharness {
namespace {

bool Calls(const Pickle& pickle, PickleId object, std::initializer_list<std::string_view> names) {
  if (pickle.kind(object) != PickleKind::kObject ||
      pickle.kind(pickle.Callable(object)) != PickleKind::kGlobal) {
    return false;
  }
  const std::string callee = pickle.GlobalName(pickle.Callable(object));
  for (const std::string_view name : names) {
    if (callee == name) return true;
  }
  return false;
}

bool ReadShape(const Pickle& pickle, PickleId id, std::vector<std::uint64_t>* shape) {
  if (pickle.kind(id) != PickleKind::kTuple) return false;
  for (const PickleId item : pickle.Items(id)) {
    if (pickle.kind(item) != PickleKind::kInt || pickle.Int(item) < 0) return false;
    shape->push_back(static_cast<std::uint64_t>(pickle.Int(item)));
  }
  return true;
}

// dtype('f8', False, True) with the state (3, '<', ...).
bool ReadDType(const Pickle& pickle, PickleId id, PickledArray* array) {
  if (!Calls(pickle, id, {"numpy.dtype"}) || pickle.Arguments(id).empty()) return false;
  const PickleId format = pickle.Arguments(id)[0];
  if (pickle.kind(format) != PickleKind::kString) return false;
  const auto dtype = DTypeOfNpyFormat(pickle.Text(format));
  const auto state = pickle.State(id);
  if (!dtype || !state || pickle.Items(*state).size() < 2) return false;
  const PickleId order = pickle.Items(*state)[1];
  if (pickle.kind(order) != PickleKind::kString) return false;
  const std::string_view mark = pickle.Text(order);
  array->dtype = *dtype;
  array->swapped = mark == ">";
  return mark == "<" || mark == ">" || mark == "|";
}

// The call of a class or function with a string and this encoding.
bool Encodes(const Pickle& pickle, PickleId id, std::string_view encoding) {
  const auto arguments = pickle.Arguments(id);
  return arguments.size() == 2 && pickle.kind(arguments[0]) == PickleKind::kString &&
         pickle.kind(arguments[1]) == PickleKind::kString && pickle.Text(arguments[1]) == encoding;
}

// What bytes are made of: themselves, or the string of the call that makes them at protocol 2.
std::optional<PickleId> TextOfBytes(const Pickle& pickle, PickleId id) {
  if (Calls(pickle, id, {"builtins.bytearray", "__builtin__.bytearray"})) {
    if (Encodes(pickle, id, "latin-1")) return pickle.Arguments(id)[0];
    if (pickle.Arguments(id).size() != 1) return std::nullopt;
    id = pickle.Arguments(id)[0];
  }
  if (pickle.kind(id) == PickleKind::kBytes) return id;
  if (Calls(pickle, id, {"_codecs.encode"}) && Encodes(pickle, id, "latin1")) {
    return pickle.Arguments(id)[0];
  }
  return std::nullopt;
}

}  // namespace

bool IsNumpyArray(const Pickle& pickle, PickleId object) {
  return Calls(pickle, object,
               {"numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct",
                "numpy.ma.core._mareconstruct"});
}

std::optional<PickledArray> ReadPickledBytes(const Pickle& pickle, PickleId id) {
  const auto text = TextOfBytes(pickle, id);
  if (!text) return std::nullopt;
  return PickledArray{.dtype = DType::kU8, .shape = {}, .data = *text};
}

std::optional<PickledArray> ReadPickledArray(const Pickle& pickle, PickleId object) {
  if (!Calls(pickle, object,
             {"numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct"})) {
    return std::nullopt;
  }
  const auto state = pickle.State(object);
  if (!state || pickle.kind(*state) != PickleKind::kTuple) return std::nullopt;
  const auto items = pickle.Items(*state);  // version, shape, dtype, is_fortran, data
  PickledArray array;
  if (items.size() != 5 || !ReadShape(pickle, items[1], &array.shape) ||
      !ReadDType(pickle, items[2], &array) || pickle.kind(items[3]) != PickleKind::kBool) {
    return std::nullopt;
  }
  array.fortran = pickle.Bool(items[3]);
  const auto data = TextOfBytes(pickle, items[4]);
  if (!data) return std::nullopt;
  array.data = *data;
  return array;
}

std::optional<std::string> BytesOfArray(const Pickle& pickle, const PickledArray& array) {
  const std::string_view text = pickle.Text(array.data);
  if (pickle.kind(array.data) == PickleKind::kBytes) return std::string(text);
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      bytes.push_back(text[i]);
    } else if (lead == 0xc2 || lead == 0xc3) {
      const auto next = static_cast<unsigned char>(text[++i]);  // the text is valid UTF-8
      bytes.push_back(static_cast<char>((lead & 0x03) << 6 | (next & 0x3f)));
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace rharness
