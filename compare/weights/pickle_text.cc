// Nodes of a pickle spelled out, within bounds.
#include "compare/weights/pickle_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "compare/weights/torch_numpy.h"
#include "harness/base/digest.h"

namespace rharness {
namespace {

constexpr int kMaxDepth = 24;
constexpr std::size_t kLongestLeaf = 80;

// As Python spells it: 1.0 is no 1.
std::string RealText(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_not_of("-0123456789") == text.npos) text += ".0";
  return text;
}

std::string HexOf(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

// Of an integer in little-endian two's complement.
std::string DecimalOf(std::string_view bytes) {
  const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80) != 0;
  std::vector<std::uint32_t> digits;  // to the base of 10^9, the lowest first
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
    // Of a negative number: of ~x, which is |x| - 1.
    std::uint64_t carry = static_cast<unsigned char>(negative ? ~*byte : *byte);
    for (std::uint32_t& digit : digits) {
      carry += std::uint64_t{digit} << 8;
      digit = static_cast<std::uint32_t>(carry % 1'000'000'000);
      carry /= 1'000'000'000;
    }
    if (carry != 0) digits.push_back(static_cast<std::uint32_t>(carry));
  }
  for (std::size_t i = 0; negative; ++i) {
    if (i == digits.size()) digits.push_back(0);
    if (++digits[i] < 1'000'000'000) break;
    digits[i] = 0;
  }
  if (digits.empty()) return "0";
  std::string text = fmt::format("{}{}", negative ? "-" : "", digits.back());
  for (auto digit = digits.rbegin() + 1; digit != digits.rend(); ++digit) {
    text += fmt::format("{:09}", *digit);
  }
  return text;
}

// At most `size` bytes, no character cut in two.
std::string_view Front(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return text.substr(0, size);
}

// At protocol 2 a set is the call of its class with a list.
std::optional<PickleId> SetItems(const Pickle& pickle, PickleId object) {
  if (pickle.kind(pickle.Callable(object)) != PickleKind::kGlobal) return std::nullopt;
  const std::string name = pickle.GlobalName(pickle.Callable(object));
  const auto arguments = pickle.Arguments(object);
  const bool is_set = name == "builtins.set" || name == "builtins.frozenset" ||
                      name == "__builtin__.set" || name == "__builtin__.frozenset";
  if (!is_set || arguments.size() != 1 || pickle.kind(arguments[0]) != PickleKind::kList) {
    return std::nullopt;
  }
  return arguments[0];
}

// Dates, numbers and types: a line of text covers the meaning of their bytes.
bool IsToldByItsBytes(const Pickle& pickle, PickleId object) {
  if (pickle.kind(pickle.Callable(object)) != PickleKind::kGlobal) return false;
  const std::string name = pickle.GlobalName(pickle.Callable(object));
  return name == "datetime.datetime" || name == "datetime.date" || name == "datetime.time" ||
         name == "numpy.dtype" || name == "numpy.core.multiarray.scalar" ||
         name == "numpy._core.multiarray.scalar";
}

}  // namespace

std::string DigestText(std::string_view what, std::string_view bytes) {
  return fmt::format("<{} of {} bytes, sha256 {}>", what, bytes.size(),
                     Sha256HexOf(bytes).substr(0, 16));
}

PickleText PickleTexts::Of(PickleId id) {
  result_ = {};
  if (pickle_.kind(id) == PickleKind::kString && pickle_.Text(id).size() <= kMaxPickleTextBytes) {
    result_.text = pickle_.Text(id);
    return std::move(result_);
  }
  Append(id, 0);
  if (result_.text.size() > kMaxPickleTextBytes) {
    result_.text = fmt::format("{}... {}", Front(result_.text, kMaxPickleTextBytes / 2),
                               DigestText("a text", result_.text));
  }
  return std::move(result_);
}

void PickleTexts::Append(PickleId id, int depth) {
  std::string& out = result_.text;
  if (depth > kMaxDepth || ++steps_ > kMaxPickleTextSteps) {
    result_.complete = false;
    out += "...";
    return;
  }
  switch (pickle_.kind(id)) {
    case PickleKind::kNone:
      out += "None";
      break;
    case PickleKind::kBool:
      out += pickle_.Bool(id) ? "True" : "False";
      break;
    case PickleKind::kInt:
      out += fmt::to_string(pickle_.Int(id));
      break;
    case PickleKind::kFloat:
      out += RealText(pickle_.Float(id));
      break;
    case PickleKind::kLong:
    case PickleKind::kBytes:
    case PickleKind::kString:
      AppendText(id);
      break;
    case PickleKind::kTuple:
      AppendAll(pickle_.Items(id), "()", depth);
      break;
    case PickleKind::kList:
      AppendAll(pickle_.Items(id), "[]", depth);
      break;
    case PickleKind::kSet:
      AppendSet(id, depth);
      break;
    case PickleKind::kDict:
      AppendAll(pickle_.Entries(id), "{}", depth);
      break;
    case PickleKind::kGlobal:
      out += pickle_.GlobalName(id);
      break;
    case PickleKind::kObject:
      AppendObject(id, depth);
      break;
    case PickleKind::kPersistent:
      result_.holds_storage = true;
      AppendAll(pickle_.Items(id), "<>", depth);
      break;
  }
}

void PickleTexts::AppendText(PickleId id) {
  constexpr std::size_t kBytesPerStep = 64;
  const std::string_view text = pickle_.Text(id);
  const PickleKind kind = pickle_.kind(id);
  steps_ += text.size() / kBytesPerStep;
  if (kind == PickleKind::kBytes) NoteBytes(text.size());
  if (text.size() > kLongestLeaf) {
    result_.text += DigestText(PickleKindName(kind), text);
  } else if (kind == PickleKind::kString) {
    result_.text += fmt::format("'{}'", text);
  } else if (kind == PickleKind::kLong) {
    result_.text += DecimalOf(text);
  } else {
    result_.text += fmt::format("b'{}'", HexOf(text));
  }
}

// `brackets` are "()", "[]" or, of keys and values in turn, "{}".
void PickleTexts::AppendAll(std::span<const PickleId> items, std::string_view brackets, int depth) {
  result_.text += brackets[0];
  for (std::size_t i = 0; i < items.size() && result_.complete; ++i) {
    if (i > 0) result_.text += brackets[0] == '{' && i % 2 == 1 ? ": " : ", ";
    Append(items[i], depth + 1);
  }
  result_.text += brackets[1];
}

// Python walks over a set in the order of hashes, which differ from run to run.
void PickleTexts::AppendSet(PickleId id, int depth) {
  std::string before = std::move(result_.text);
  std::vector<std::string> texts;
  for (const PickleId item : pickle_.Items(id)) {
    result_.text.clear();
    Append(item, depth + 1);
    texts.push_back(std::move(result_.text));
  }
  std::ranges::sort(texts);
  result_.text = std::move(before);
  result_.text += fmt::format("set({})", fmt::join(texts, ", "));
}

void PickleTexts::AppendObject(PickleId id, int depth) {
  if (const auto list = SetItems(pickle_, id)) return AppendSet(*list, depth);
  const bool array = IsNumpyArray(pickle_, id);  // called with b'b', without information
  const bool told = IsToldByItsBytes(pickle_, id);
  const auto bytes = ReadPickledBytes(pickle_, id);
  if (bytes) NoteBytes(pickle_.Text(bytes->data).size());
  if (told || array) ++told_;
  Append(pickle_.Callable(id), depth + 1);
  AppendAll(pickle_.Arguments(id), "()", depth);
  if (array) --told_;
  if (!pickle_.Items(id).empty()) AppendAll(pickle_.Items(id), "[]", depth);
  if (!pickle_.Entries(id).empty()) AppendAll(pickle_.Entries(id), "{}", depth);
  if (const auto state = pickle_.State(id)) {
    result_.text += " with ";
    Append(*state, depth + 1);
  }
  if (told) --told_;
}

void PickleTexts::NoteBytes(std::size_t size) {
  if (told_ == 0 || size > kLongestLeaf) result_.holds_bytes = true;
}

}  // namespace rharness
