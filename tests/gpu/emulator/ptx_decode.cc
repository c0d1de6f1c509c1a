// From the text of an instruction to its operation.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "tests/gpu/emulator/lane_values.h"
#include "tests/gpu/emulator/ptx_parser.h"

namespace rharness {
namespace {

struct OperandCount {
  std::size_t least = 0, most = 0;
  bool vectors = false;  // operands of several registers
};

const std::map<std::string_view, OperandCount> kOpcodes = {
    {"mov", {2, 2, true}}, {"add", {3, 3}},         {"sub", {3, 3}},      {"addc", {3, 3}},
    {"subc", {3, 3}},      {"mul", {3, 3}},         {"mad", {4, 4}},      {"madc", {4, 4}},
    {"fma", {4, 4}},       {"div", {3, 3}},         {"rem", {3, 3}},      {"and", {3, 3}},
    {"or", {3, 3}},        {"xor", {3, 3}},         {"not", {2, 2}},      {"shl", {3, 3}},
    {"shr", {3, 3}},       {"neg", {2, 2}},         {"abs", {2, 2}},      {"min", {3, 3}},
    {"max", {3, 3}},       {"setp", {3, 4}},        {"selp", {4, 4}},     {"prmt", {4, 4}},
    {"bfi", {5, 5}},       {"clz", {2, 2}},         {"popc", {2, 2}},     {"brev", {2, 2}},
    {"copysign", {3, 3}},  {"sqrt", {2, 2}},        {"rsqrt", {2, 2}},    {"rcp", {2, 2}},
    {"ex2", {2, 2}},       {"lg2", {2, 2}},         {"sin", {2, 2}},      {"cos", {2, 2}},
    {"tanh", {2, 2}},      {"cvt", {2, 3}},         {"cvta", {2, 2}},     {"ld", {2, 2, true}},
    {"st", {2, 2, true}},  {"atom", {3, 4}},        {"red", {2, 2}},      {"shfl", {5, 5}},
    {"vote", {3, 3}},      {"bar", {1, 1}},         {"fence", {0, 0}},    {"membar", {0, 0}},
    {"mma", {4, 4, true}}, {"wgmma", {0, 7, true}}, {"bra", {1, 1}},      {"ret", {0, 0}},
    {"exit", {0, 0}},      {"call", {1, 3, true}},  {"nanosleep", {1, 1}}};

// What an instruction may say beside its types. Those that only bear on caches, on the order of
// memory between blocks, or on how soon a branch meets again change nothing here.
const std::set<std::string_view> kModifiers = {
    "rn",        "rz",       "rm",           "rp",          "rni",   "rzi",   "rmi",
    "rpi",       "rna",      "approx",       "ftz",         "sat",   "relu",  "satfinite",
    "lo",        "hi",       "wide",         "cc",          "uni",   "sync",  "aligned",
    "to",        "global",   "shared",       "shared::cta", "local", "param", "const",
    "v2",        "v4",       "nc",           "ca",          "cg",    "cs",    "lu",
    "cv",        "volatile", "relaxed",      "gpu",         "cta",   "sys",   "gl",
    "add",       "min",      "max",          "exch",        "cas",   "row",   "col",
    "mma_async", "fence",    "commit_group", "wait_group",  "proxy", "async", "up",
    "down",      "bfly",     "idx",          "ballot",      "any",   "all",   "warp",
    "eq",        "ne",       "lt",           "le",          "gt",    "ge",    "ls",
    "hs",        "equ",      "neu",          "ltu",         "leu",   "gtu",   "geu",
    "num",       "nan",      "and",          "or",          "xor"};

bool IsShape(std::string_view modifier) {
  return modifier.size() > 1 && modifier[0] == 'm' &&
         std::isdigit(static_cast<unsigned char>(modifier[1])) != 0;
}

PtxSpace SpaceOf(const PtxInstruction& i) {
  if (i.Has("global") || i.Has("const")) return PtxSpace::kGlobal;
  if (i.Has("shared") || i.Has("shared::cta")) return PtxSpace::kShared;
  if (i.Has("local")) return PtxSpace::kLocal;
  return i.Has("param") ? PtxSpace::kParameter : PtxSpace::kGeneric;
}

PtxRounding RoundingOf(const PtxInstruction& i) {
  if (i.Has("rz") || i.Has("rzi")) return PtxRounding::kZero;
  if (i.Has("rm") || i.Has("rmi")) return PtxRounding::kDown;
  return i.Has("rp") || i.Has("rpi") ? PtxRounding::kUp : PtxRounding::kNearest;
}

PtxFlow FlowOf(const PtxInstruction& i) {
  static const std::map<std::string_view, PtxFlow> kFlows = {
      {"bra", PtxFlow::kBranch}, {"ret", PtxFlow::kReturn}, {"exit", PtxFlow::kExit},
      {"call", PtxFlow::kCall},  {"shfl", PtxFlow::kWarp},  {"vote", PtxFlow::kWarp},
      {"mma", PtxFlow::kWarp}};
  if (i.opcode == "bar") return i.Has("warp") ? PtxFlow::kWarp : PtxFlow::kBarrier;
  if (i.opcode == "wgmma") return i.Has("mma_async") ? PtxFlow::kWarpgroup : PtxFlow::kNext;
  const auto found = kFlows.find(i.opcode);
  return found == kFlows.end() ? PtxFlow::kNext : found->second;
}

// Every operand is a register or a constant, but for labels, functions and parameters.
bool HasOperands(const PtxInstruction& i, const OperandCount& count) {
  if (i.operands.size() < count.least || i.operands.size() > count.most) return false;
  const bool symbols = i.flow == PtxFlow::kBranch || i.flow == PtxFlow::kCall;
  for (std::size_t k = 0; k < i.operands.size(); ++k) {
    const PtxOperand& one = i.operands[k];
    const std::size_t address = i.opcode == "ld" ? 1 : 0;
    const bool parameter = i.space == PtxSpace::kParameter && k == address;
    if (parameter != !one.symbol.empty() && !symbols) return false;
    if (one.slots.empty() && !symbols && !parameter) return false;
    if (one.slots.size() > 1 && !count.vectors) return false;
    const bool may_negate = (i.opcode == "setp" && k == 3) || (i.opcode == "vote" && k == 1);
    if (one.negated && !may_negate) return false;
  }
  return true;
}

// Operand 0 is what most instructions write; an address in it is read.
void FindReadsAndWrites(PtxInstruction* i) {
  static const std::set<std::string_view> kWriteNothing = {
      "st", "red", "bra", "bar", "fence", "membar", "ret", "exit", "call", "nanosleep"};
  for (std::size_t k = 0; k < i->operands.size(); ++k) {
    const PtxOperand& one = i->operands[k];
    const bool written = k == 0 && !kWriteNothing.contains(i->opcode) &&
                         (i->opcode != "wgmma" || i->Has("mma_async"));
    std::vector<int>& to = written ? i->writes : i->reads;
    to.insert(to.end(), one.slots.begin(), one.slots.end());
    if (one.second >= 0) to.push_back(one.second);
  }
}

PtxOperation OperationOf(const PtxInstruction& i) {
  for (const auto find : {BitOperation, IntegerOperation, FloatOperation, CompareOperation,
                          ConversionOperation, MemoryOperation, WarpOperation, TensorOperation}) {
    if (PtxOperation found = find(i)) return found;
  }
  return nullptr;
}

Error NotKnown(const PtxInstruction& i, std::string_view what) {
  std::string text = i.opcode;
  for (const std::string& modifier : i.modifiers) text += "." + modifier;
  return Unsupported(fmt::format("{} of '{}' the emulator does not have", what, text),
                     fmt::format("line {}", i.line));
}

}  // namespace

Status DecodePtx(PtxInstruction* i) {
  const auto known = kOpcodes.find(i->opcode);
  if (known == kOpcodes.end()) return NotKnown(*i, "the instruction");
  for (const std::string& modifier : i->modifiers) {
    const PtxType type = PtxTypeOf(modifier);
    if (type == PtxType::kNone && !kModifiers.contains(modifier) && !IsShape(modifier)) {
      return NotKnown(*i, fmt::format("the modifier '{}'", modifier));
    }
    if (type != PtxType::kNone && i->type == PtxType::kNone) {
      i->type = type;
    } else if (type != PtxType::kNone && i->source == PtxType::kNone) {
      i->source = type;
    }
  }
  if (i->source == PtxType::kNone) i->source = i->type;
  i->space = SpaceOf(*i);
  i->rounding = RoundingOf(*i);
  i->flush = i->Has("ftz");
  i->saturate = i->Has("sat");
  i->flow = FlowOf(*i);
  if (!HasOperands(*i, known->second)) return NotKnown(*i, "the operands");
  FindReadsAndWrites(i);
  i->run = OperationOf(*i);
  if (i->run == nullptr) return NotKnown(*i, "these types or modifiers");
  return {};
}

}  // namespace rharness
