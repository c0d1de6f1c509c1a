// Words, numbers and signs of PTX, and the names of its types.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tests/gpu/emulator/ptx_text.h"

namespace rharness {
namespace {

bool StartsWord(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
         c == '.';
}

bool ContinuesWord(char c) {
  return StartsWord(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// The length of the word, number or text at the start of `text`; "shared::cta" is one word.
std::size_t LengthOf(std::string_view text, PtxToken::Kind kind) {
  std::size_t at = 1;
  if (kind == PtxToken::Kind::kText) {
    at = text.find('"', 1);
    return at == std::string_view::npos ? at : at + 1;
  }
  while (at < text.size()) {
    if (text.substr(at).starts_with("::") && kind == PtxToken::Kind::kWord) {
      at += 2;
    } else if (ContinuesWord(text[at])) {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

// The length of the white space or the comment at the start of `text`; 0 if there is none.
std::size_t LengthOfSpace(std::string_view text) {
  if (std::isspace(static_cast<unsigned char>(text[0])) != 0) return 1;
  if (text.starts_with("//")) return std::min(text.find('\n'), text.size());
  if (!text.starts_with("/*")) return 0;
  const std::size_t end = text.find("*/");
  return end == std::string_view::npos ? text.size() : end + 2;
}

}  // namespace

Result<std::vector<PtxToken>> TokensOfPtx(std::string_view text) {
  using Kind = PtxToken::Kind;
  std::vector<PtxToken> tokens;
  int line = 1;
  while (!text.empty()) {
    std::size_t length = LengthOfSpace(text);
    if (length == 0) {
      const char c = text[0];
      Kind kind = Kind::kSign;
      if (StartsWord(c)) kind = Kind::kWord;
      if (std::isdigit(static_cast<unsigned char>(c)) != 0) kind = Kind::kNumber;
      if (c == '"') kind = Kind::kText;
      length = kind == Kind::kSign ? 1 : LengthOf(text, kind);
      if (length == std::string_view::npos || static_cast<unsigned char>(c) >= 0x80) {
        return InvalidInput("expected PTX in ASCII, every text closed",
                            fmt::format("line {}", line));
      }
      tokens.push_back({kind, text.substr(0, length), line});
    }
    line +=
        static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(length), '\n'));
    text.remove_prefix(length);
  }
  tokens.push_back({Kind::kEnd, "end of text", line});
  return tokens;
}

PtxType PtxTypeOf(std::string_view name) {
  static const std::map<std::string_view, PtxType> kTypes = {
      {"pred", PtxType::kPredicate}, {"b8", PtxType::kU8},         {"u8", PtxType::kU8},
      {"b16", PtxType::kU16},        {"u16", PtxType::kU16},       {"b32", PtxType::kU32},
      {"u32", PtxType::kU32},        {"b64", PtxType::kU64},       {"u64", PtxType::kU64},
      {"s8", PtxType::kS8},          {"s16", PtxType::kS16},       {"s32", PtxType::kS32},
      {"s64", PtxType::kS64},        {"f16", PtxType::kF16},       {"bf16", PtxType::kBf16},
      {"tf32", PtxType::kTf32},      {"e4m3", PtxType::kE4m3},     {"e5m2", PtxType::kE5m2},
      {"e4m3x2", PtxType::kE4m3x2},  {"e5m2x2", PtxType::kE5m2x2}, {"f32", PtxType::kF32},
      {"f64", PtxType::kF64}};
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? PtxType::kNone : found->second;
}

unsigned PtxBytes(PtxType type) {
  switch (type) {
    case PtxType::kNone:
      return 0;
    case PtxType::kPredicate:
    case PtxType::kU8:
    case PtxType::kS8:
    case PtxType::kE4m3:
    case PtxType::kE5m2:
      return 1;
    case PtxType::kU16:
    case PtxType::kS16:
    case PtxType::kF16:
    case PtxType::kBf16:
    case PtxType::kE4m3x2:
    case PtxType::kE5m2x2:
      return 2;
    case PtxType::kU32:
    case PtxType::kS32:
    case PtxType::kF32:
    case PtxType::kTf32:
      return 4;
    case PtxType::kU64:
    case PtxType::kS64:
    case PtxType::kF64:
      return 8;
  }
  return 0;
}

bool PtxInstruction::Has(std::string_view modifier) const {
  return std::ranges::find(modifiers, modifier) != modifiers.end();
}

const PtxFunction* PtxProgram::Find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(functions, [&](const PtxFunction& one) { return one.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

}  // namespace rharness
