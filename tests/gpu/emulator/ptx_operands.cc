// The parser: instructions and their operands.
#include <fmt/format.h>

#include <optional>

#include "tests/gpu/emulator/device_memory.h"
#include "tests/gpu/emulator/ptx_parser.h"

namespace rharness {
namespace {

const std::map<std::string_view, PtxSpecialKind> kSpecials = {{"%tid", PtxSpecialKind::kThread},
                                                              {"%ntid", PtxSpecialKind::kThreads},
                                                              {"%ctaid", PtxSpecialKind::kBlock},
                                                              {"%nctaid", PtxSpecialKind::kBlocks}};

// Of "%tid.y" and the like.
std::optional<PtxSpecial> SpecialOf(std::string_view word) {
  if (word == "%laneid") return PtxSpecial{};
  constexpr std::string_view kMasks[] = {"%lanemask_eq", "%lanemask_lt", "%lanemask_le",
                                         "%lanemask_gt", "%lanemask_ge"};
  for (std::size_t k = 0; k < std::size(kMasks); ++k) {
    if (word == kMasks[k]) return PtxSpecial{PtxSpecialKind::kLaneMask, k};
  }
  const std::size_t dot = word.find('.');
  const auto kind = kSpecials.find(word.substr(0, dot));
  if (kind == kSpecials.end() || dot == std::string_view::npos) return std::nullopt;
  const std::size_t axis = std::string_view("xyz").find(word.substr(dot + 1));
  if (word.size() != dot + 2 || axis > 2) return std::nullopt;
  return PtxSpecial{kind->second, axis};
}

std::vector<std::string> Parts(std::string_view dotted) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t dot = dotted.find('.');
    parts.emplace_back(dotted.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    dotted.remove_prefix(dot + 1);
  }
}

}  // namespace

int PtxParser::SlotOf(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->find(name);
    if (found != scope->end()) return found->second;
  }
  return -1;
}

int PtxParser::ConstantSlot(std::uint64_t value, PtxBase base) {
  const auto [found, added] = constants_.try_emplace({value, base}, function_.slots);
  if (added) function_.constants.push_back({NewSlot(), value, base});
  return found->second;
}

Status PtxParser::ReadInstruction() {
  PtxInstruction one;
  one.line = Next().line;
  if (Take("@")) {
    one.predicate_negated = Take("!");
    one.predicate = SlotOf(Next().text);
    if (one.predicate < 0) return Wrong("a declared predicate");
    TakeAny();
  }
  if (Next().kind != PtxToken::Kind::kWord) return Wrong("an instruction");
  one.modifiers = Parts(TakeAny());
  one.opcode = one.modifiers.front();
  one.modifiers.erase(one.modifiers.begin());
  while (!Take(";")) {
    ASSIGN_OR_RETURN(PtxOperand operand, ReadOperand());
    one.operands.push_back(std::move(operand));
    if (!Take(",") && Next().text != ";") return Wrong("',' or ';'");
  }
  RETURN_IF_ERROR(DecodePtx(&one));
  function_.code.push_back(std::move(one));
  return {};
}

Result<PtxOperand> PtxParser::ReadOperand() {
  PtxOperand operand;
  if (Take("{")) return ReadList("}");
  if (Take("(")) return ReadList(")");
  if (Take("[")) {
    RETURN_IF_ERROR(ReadAddress(&operand));
    return operand;
  }
  operand.negated = Take("!");
  if (Next().kind == PtxToken::Kind::kNumber || Next().text == "-") {
    ASSIGN_OR_RETURN(const std::uint64_t value, TakeValue());
    operand.slots.push_back(ConstantSlot(value, PtxBase::kNone));
    return operand;
  }
  RETURN_IF_ERROR(ReadWord(&operand));
  if (Take("|")) {
    operand.second = SlotOf(Next().text);
    if (operand.second < 0) return Wrong("a declared predicate");
    TakeAny();
  }
  return operand;
}

Result<PtxOperand> PtxParser::ReadList(std::string_view end) {
  PtxOperand list;
  while (!Take(end)) {
    ASSIGN_OR_RETURN(const PtxOperand one, ReadOperand());
    if (one.slots.size() == 1) list.slots.push_back(one.slots[0]);
    if (!one.symbol.empty()) list.symbols.push_back(one.symbol);
    if (!Take(",") && Next().text != end) return Wrong("',' or the end of the list");
  }
  return list;
}

// "[%rd1+8]", "[name+8]", "[name]": of a parameter the symbol and the offset stay.
Status PtxParser::ReadAddress(PtxOperand* operand) {
  if (Next().kind == PtxToken::Kind::kNumber) {
    ASSIGN_OR_RETURN(const std::uint64_t value, TakeValue());
    operand->slots.push_back(ConstantSlot(value, PtxBase::kNone));
  } else {
    RETURN_IF_ERROR(ReadWord(operand));
  }
  const bool minus = Next().text == "-";
  if (minus || Take("+")) {
    ASSIGN_OR_RETURN(const std::uint64_t value, TakeValue());
    operand->offset = static_cast<std::int64_t>(value);
  }
  if (!operand->symbol.empty()) {
    const auto place = function_.arguments.find(operand->symbol);
    if (place == function_.arguments.end()) return Wrong("a parameter's name before it");
    operand->offset += place->second.offset;
  }
  return Expect("]");
}

Status PtxParser::ReadWord(PtxOperand* operand) {
  if (Next().kind != PtxToken::Kind::kWord) return Wrong("an operand");
  const std::string_view word = Next().text;
  int slot = SlotOf(word);
  if (const auto special = SpecialOf(word); slot < 0 && special) {
    slot = scopes_.front().emplace(word, NewSlot()).first->second;
    function_.specials[slot] = *special;
  }
  if (const auto variable = variables_.find(std::string(word)); variable != variables_.end()) {
    const auto& [place, space] = variable->second;
    const std::uint64_t window = space == PtxSpace::kLocal ? kLocalWindow : 0;
    PtxBase base = PtxBase::kNone;
    if (space == PtxSpace::kLocal) base = PtxBase::kLocal;
    if (space == PtxSpace::kGlobal) base = PtxBase::kGlobal;
    // Of the size that a launch gives it, behind the kernel's own.
    if (space == PtxSpace::kShared && place.bytes == 0) base = PtxBase::kDynamicShared;
    slot = ConstantSlot(window + place.offset, base);
  }
  if (slot < 0 && word.starts_with('%')) return Wrong("a declared or a known special register");
  if (word == "_") slot = NewSlot();  // of a result that nobody reads
  if (slot >= 0) {
    operand->slots.push_back(slot);
  } else {
    operand->symbol = word;
  }
  TakeAny();
  return {};
}

}  // namespace rharness
