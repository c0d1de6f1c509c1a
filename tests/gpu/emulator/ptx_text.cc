// The parser: directives, variables and functions.
#include "tests/gpu/emulator/ptx_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tests/gpu/emulator/ptx_parser.h"

namespace rharness {
namespace {

// A hostile text must not make the tests run out of memory.
constexpr unsigned kMostGlobalBytes = 1U << 24;
constexpr unsigned kMostSharedBytes = 227 * 1024;  // of a block of compute capability 9.0
constexpr unsigned kMostLocalBytes = 1U << 16;
constexpr unsigned kMostArgumentBytes = 1U << 15;
constexpr int kMostSlots = 1 << 16;

// Bits of "12", "0x1F", "0f3F800000" or "0d3FF0000000000000".
bool BitsOf(std::string_view text, std::uint64_t* bits) {
  int base = 10;
  if (text.size() > 2 && text[0] == '0' &&
      std::string_view("xXfFdD").find(text[1]) != std::string_view::npos)
    base = 16;
  if (base == 16) text.remove_prefix(2);
  if (text.ends_with('U') && base == 10) text.remove_suffix(1);
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, *bits, base);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

}  // namespace

std::string_view PtxParser::TakeAny() {
  const std::string_view text = Next().text;
  if (Next().kind != PtxToken::Kind::kEnd) ++at_;
  return text;
}

bool PtxParser::Take(std::string_view text) {
  if (Next().kind == PtxToken::Kind::kEnd || Next().text != text) return false;
  ++at_;
  return true;
}

Error PtxParser::Wrong(std::string_view expected) const {
  return InvalidInput(fmt::format("expected {}, found '{}'", expected, Next().text),
                      fmt::format("line {}", Next().line));
}

Status PtxParser::Expect(std::string_view text) {
  if (!Take(text)) return Wrong(fmt::format("'{}'", text));
  return {};
}

Result<std::string> PtxParser::TakeName() {
  if (Next().kind != PtxToken::Kind::kWord) return Wrong("a name");
  return std::string(TakeAny());
}

Result<std::uint64_t> PtxParser::TakeValue() {
  const bool negative = Take("-");
  std::uint64_t bits = 0;
  if (Next().kind != PtxToken::Kind::kNumber || !BitsOf(Next().text, &bits)) {
    return Wrong("a number");
  }
  TakeAny();
  return negative ? ~bits + 1 : bits;
}

Result<unsigned> PtxParser::TakeCount(std::uint64_t highest) {
  const Error wrong = Wrong(fmt::format("a number up to {}", highest));
  ASSIGN_OR_RETURN(const std::uint64_t value, TakeValue());
  if (value > highest) return wrong;
  return static_cast<unsigned>(value);
}

Result<PtxVariable> PtxParser::ReadVariable() {
  PtxVariable variable;
  unsigned alignment = 0;
  if (Take(".align")) {
    ASSIGN_OR_RETURN(alignment, TakeCount(1024));
  }
  const std::string_view type = Next().text;
  if (type.starts_with('.')) variable.type = PtxTypeOf(type.substr(1));
  if (variable.type == PtxType::kNone) return Wrong("a type");
  TakeAny();
  variable.alignment = std::max(alignment, PtxBytes(variable.type));
  if (Take(".ptr")) {
    while (Next().text.starts_with('.')) {
      if (TakeAny() != ".align") continue;
      const auto ignored = TakeCount(1024);
      if (!ignored.ok()) return ignored.error();
    }
  }
  ASSIGN_OR_RETURN(variable.name, TakeName());
  if (!Take("[")) return variable;
  variable.count = 0;
  if (Take("]")) return variable;  // of shared memory whose size the launch says
  ASSIGN_OR_RETURN(variable.count, TakeCount(kMostGlobalBytes));
  RETURN_IF_ERROR(Expect("]"));
  return variable;
}

Result<PtxPlace> PtxParser::Place(const PtxVariable& variable, unsigned* area,
                                  unsigned most) const {
  const std::uint64_t bytes = variable.count * PtxBytes(variable.type);
  const unsigned offset =
      (*area + variable.alignment - 1) / variable.alignment * variable.alignment;
  if (bytes == 0 || offset + bytes > most) {
    return InvalidInput(
        fmt::format("{} has {} bytes; its space has {}", variable.name, bytes, most),
        fmt::format("line {}", Next().line));
  }
  *area = offset + static_cast<unsigned>(bytes);
  return PtxPlace{offset, static_cast<unsigned>(bytes)};
}

Result<PtxProgram> PtxParser::Run() {
  while (Next().kind != PtxToken::Kind::kEnd) RETURN_IF_ERROR(ReadDirective());
  for (PtxFunction& function : program_.functions) RETURN_IF_ERROR(Resolve(&function));
  return std::move(program_);
}

Status PtxParser::ReadDirective() {
  if (Take(".extern")) return Take(".shared") ? ReadDynamicShared() : Status();
  if (Take(".visible") || Take(".weak")) return {};
  if (Take(".entry")) return ReadFunction(true);
  if (Take(".func")) return ReadFunction(false);
  if (Take(".global") || Take(".const")) return ReadGlobal();
  if (Take(".version") || Take(".address_size")) {
    TakeAny();
    return {};
  }
  if (Take(".target")) {
    const std::string_view text = Next().text;
    const std::size_t digits = text.find('_');
    if (!text.starts_with("sm_")) return Wrong("an architecture such as sm_80");
    std::from_chars(text.data() + digits + 1, text.data() + text.size(), program_.target);
    TakeAny();
    return {};
  }
  return Wrong("a directive that the emulator has");
}

Status PtxParser::ReadGlobal() {
  ASSIGN_OR_RETURN(const PtxVariable variable, ReadVariable());
  auto area = static_cast<unsigned>(program_.global_image.size());
  ASSIGN_OR_RETURN(const PtxPlace place, Place(variable, &area, kMostGlobalBytes));
  program_.global_image.resize(area);
  program_.globals[variable.name] = place;
  const unsigned size = PtxBytes(variable.type);
  if (Take("=")) {
    const bool list = Take("{");
    for (std::uint64_t i = 0; i < variable.count; ++i) {
      ASSIGN_OR_RETURN(const std::uint64_t value, TakeValue());
      std::memcpy(program_.global_image.data() + place.offset + i * size, &value, size);
      if (!list || !Take(",")) break;
    }
    if (list) RETURN_IF_ERROR(Expect("}"));
  }
  return Expect(";");
}

// All of them begin at one address.
Status PtxParser::ReadDynamicShared() {
  ASSIGN_OR_RETURN(const PtxVariable variable, ReadVariable());
  if (variable.count != 0) return Wrong("a variable without a size before");
  dynamic_shared_.push_back(variable.name);
  return Expect(";");
}

Status PtxParser::ReadParameters(std::vector<std::string>* names) {
  RETURN_IF_ERROR(Expect("("));
  while (!Take(")")) {
    if (!Take(".param")) return Wrong("'.param'");
    ASSIGN_OR_RETURN(const PtxVariable variable, ReadVariable());
    ASSIGN_OR_RETURN(const PtxPlace place,
                     Place(variable, &function_.argument_bytes, kMostArgumentBytes));
    function_.arguments[variable.name] = place;
    names->push_back(variable.name);
    Take(",");
  }
  return {};
}

Status PtxParser::ReadLimits() {
  for (;;) {
    const bool most = Next().text == ".maxntid" || Next().text == ".reqntid";
    if (Take(".noreturn")) continue;
    if (!most && Next().text != ".minnctapersm" && Next().text != ".maxnreg") return {};
    TakeAny();
    unsigned threads = 1;
    do {
      ASSIGN_OR_RETURN(const unsigned one, TakeCount(1024));
      threads *= one;
    } while (Take(","));
    if (most) function_.most_threads = threads;
  }
}

Status PtxParser::ReadFunction(bool entry) {
  function_ = {};
  function_.entry = entry;
  function_.line = Next().line;
  scopes_.assign(1, {});
  labels_.clear();
  constants_.clear();
  variables_.clear();
  for (const auto& [name, place] : program_.globals) variables_[name] = {place, PtxSpace::kGlobal};
  for (const std::string& name : dynamic_shared_) variables_[name] = {{}, PtxSpace::kShared};
  // Parameters first, so that a kernel's are one piece at the start.
  if (!entry && Next().text == "(") RETURN_IF_ERROR(ReadParameters(&function_.results));
  ASSIGN_OR_RETURN(function_.name, TakeName());
  if (Next().text == "(") RETURN_IF_ERROR(ReadParameters(&function_.parameters));
  function_.parameter_bytes = function_.argument_bytes;
  RETURN_IF_ERROR(ReadLimits());
  if (Take(";")) return {};  // a declaration
  if (program_.Find(function_.name) != nullptr) return Wrong("one function of this name");
  RETURN_IF_ERROR(ReadBody());
  if (function_.code.empty()) return Wrong("instructions before");
  program_.functions.push_back(std::move(function_));
  return {};
}

Status PtxParser::ReadBody() {
  RETURN_IF_ERROR(Expect("{"));
  while (!scopes_.empty()) {
    if (Next().kind == PtxToken::Kind::kEnd) return Wrong("'}'");
    if (Take("{")) {
      scopes_.emplace_back();
    } else if (Take("}")) {
      scopes_.pop_back();
    } else {
      RETURN_IF_ERROR(ReadStatement());
    }
    if (scopes_.size() > 64) return Wrong("blocks within 64 others at most");
  }
  for (PtxInstruction& one : function_.code) {
    if (one.flow != PtxFlow::kBranch) continue;
    const auto label = labels_.find(one.operands[0].symbol);
    if (label == labels_.end()) {
      return InvalidInput(fmt::format("no label {}", one.operands[0].symbol),
                          fmt::format("line {}", one.line));
    }
    one.target = label->second;
  }
  return {};
}

Status PtxParser::ReadStatement() {
  const std::string_view word = Next().text;
  if (Take(".reg")) return ReadRegisters();
  if (Take(".shared") || Take(".local") || Take(".param")) return ReadLocalVariable(word);
  if (Take(".pragma")) {
    TakeAny();
    return Expect(";");
  }
  if (word.starts_with('.')) return Wrong("a directive that the emulator has");
  if (Next().kind == PtxToken::Kind::kWord && tokens_[at_ + 1].text == ":") {
    labels_[std::string(TakeAny())] = static_cast<int>(function_.code.size());
    return Expect(":");
  }
  return ReadInstruction();
}

Status PtxParser::ReadRegisters() {
  const std::string_view type = Next().text;
  if (!type.starts_with('.') || PtxTypeOf(type.substr(1)) == PtxType::kNone) return Wrong("a type");
  TakeAny();
  do {
    ASSIGN_OR_RETURN(const std::string name, TakeName());
    if (!Take("<")) {
      scopes_.back()[name] = NewSlot();
      continue;
    }
    ASSIGN_OR_RETURN(const unsigned count, TakeCount(kMostSlots));
    for (unsigned i = 0; i < count; ++i) scopes_.back()[fmt::format("{}{}", name, i)] = NewSlot();
    RETURN_IF_ERROR(Expect(">"));
  } while (Take(","));
  if (function_.slots > kMostSlots) return Wrong("fewer registers");
  return Expect(";");
}

Status PtxParser::ReadLocalVariable(std::string_view space) {
  ASSIGN_OR_RETURN(const PtxVariable variable, ReadVariable());
  if (space == ".param") {
    ASSIGN_OR_RETURN(function_.arguments[variable.name],
                     Place(variable, &function_.argument_bytes, kMostArgumentBytes));
  } else if (space == ".shared") {
    ASSIGN_OR_RETURN(const PtxPlace place,
                     Place(variable, &function_.shared_bytes, kMostSharedBytes));
    variables_[variable.name] = {place, PtxSpace::kShared};
  } else {
    ASSIGN_OR_RETURN(const PtxPlace place,
                     Place(variable, &function_.local_bytes, kMostLocalBytes));
    variables_[variable.name] = {place, PtxSpace::kLocal};
  }
  return Expect(";");
}

Status PtxParser::Resolve(PtxFunction* function) {
  for (PtxInstruction& one : function->code) {
    if (one.flow != PtxFlow::kCall) continue;
    const auto named =
        std::ranges::find_if(one.operands, [](const PtxOperand& o) { return !o.symbol.empty(); });
    const std::string name = named == one.operands.end() ? "" : named->symbol;
    const PtxFunction* callee = program_.Find(name);
    if (callee == nullptr) {
      return InvalidInput(fmt::format("no function '{}'", name), fmt::format("line {}", one.line));
    }
    one.target = static_cast<int>(callee - program_.functions.data());
    for (const PtxOperand& list : one.operands) {
      for (const std::string& argument : list.symbols) {
        if (function->arguments.contains(argument)) continue;
        return InvalidInput("no parameter " + argument, fmt::format("line {}", one.line));
      }
    }
  }
  return {};
}

Result<PtxProgram> ParsePtx(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<PtxToken> tokens, TokensOfPtx(text));
  return PtxParser(std::move(tokens)).Run();
}

}  // namespace rharness
