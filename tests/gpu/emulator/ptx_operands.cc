// The parser: instructions and their operands.
#include <fmt/format.h>

#include "tests/gpu/emulator/device_memory.h"
#include "tests/gpu/emulator/ptx_parser.h"

namespace rharness {
namespace {

const std::map<std::string_view, PtxSpecial> kSpecials = {
    {"%tid.x", PtxSpecial::kThread},  {"%ntid.x", PtxSpecial::kThreads},
    {"%ctaid.x", PtxSpecial::kBlock}, {"%nctaid.x", PtxSpecial::kBlocks},
    {"%laneid", PtxSpecial::kLane},   {"%tid.y", PtxSpecial::kZero},
    {"%tid.z", PtxSpecial::kZero},    {"%ctaid.y", PtxSpecial::kZero},
    {"%ctaid.z", PtxSpecial::kZero},  {"%ntid.y", PtxSpecial::kOne},
    {"%ntid.z", PtxSpecial::kOne},    {"%nctaid.y", PtxSpecial::kOne},
    {"%nctaid.z", PtxSpecial::kOne}};

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
  const auto special = kSpecials.find(word);
  int slot = SlotOf(word);
  if (slot < 0 && special != kSpecials.end()) {
    slot = scopes_.front().emplace(word, NewSlot()).first->second;
    function_.specials[slot] = special->second;
  }
  if (const auto variable = variables_.find(std::string(word)); variable != variables_.end()) {
    const auto& [place, space] = variable->second;
    const std::uint64_t window = space == PtxSpace::kLocal ? kLocalWindow : 0;
    const PtxBase base = space == PtxSpace::kLocal    ? PtxBase::kLocal
                         : space == PtxSpace::kGlobal ? PtxBase::kGlobal
                                                      : PtxBase::kNone;
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
