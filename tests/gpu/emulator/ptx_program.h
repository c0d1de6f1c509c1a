// A PTX text as data: functions, their instructions, and variables.
//
// Role: between the text (ptx_text.h) and its execution (launch.h). Every operand is a slot of a
// register file, constants and special registers too, so that an operation reads slots and nothing
// else. Source of the language: NVIDIA, "Parallel Thread Execution ISA".
#ifndef RHARNESS_TESTS_GPU_EMULATOR_PTX_PROGRAM_H_
#define RHARNESS_TESTS_GPU_EMULATOR_PTX_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// Untyped bits (.b32) count as unsigned.
enum class PtxType {
  kNone,
  kPredicate,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kBf16,
  kTf32,
  kE4m3,
  kE5m2,
  kE4m3x2,
  kE5m2x2,
  kF32,
  kF64,
};
PtxType PtxTypeOf(std::string_view name);  // of "u32"; kNone if it is none
unsigned PtxBytes(PtxType type);           // 1 for a predicate, 0 for kNone

enum class PtxSpace { kGeneric, kGlobal, kShared, kLocal, kParameter };
enum class PtxRounding { kNearest, kZero, kDown, kUp };
// What an instruction does to the order of execution.
enum class PtxFlow { kNext, kBranch, kReturn, kExit, kCall, kBarrier, kWarp, kWarpgroup };

struct PtxOperand {
  std::vector<int> slots;  // of a vector: all its elements; empty for a symbol
  int second = -1;         // the predicate of "%r1|%p1"
  std::int64_t offset = 0;
  bool negated = false;              // "!%p1"
  std::string symbol;                // a label, a function, a parameter
  std::vector<std::string> symbols;  // of a call's lists
};

struct WarpState;
struct PtxInstruction;
using PtxOperation = void (*)(WarpState& warp, const PtxInstruction& instruction);

struct PtxInstruction {
  int line = 0;
  std::string opcode;                  // "ld"
  std::vector<std::string> modifiers;  // "global", "v2", "f32"
  std::vector<PtxOperand> operands;
  int predicate = -1;
  bool predicate_negated = false;
  PtxType type = PtxType::kNone;    // the first type among the modifiers
  PtxType source = PtxType::kNone;  // the second; the first if there is one alone
  PtxSpace space = PtxSpace::kGeneric;
  PtxRounding rounding = PtxRounding::kNearest;
  // Registers by what happens to them; an accumulator of wgmma is written alone.
  std::vector<int> reads, writes;
  bool flush = false;     // .ftz
  bool saturate = false;  // .sat
  PtxFlow flow = PtxFlow::kNext;
  int target = -1;  // of a branch: an instruction; of a call: a function
  PtxOperation run = nullptr;

  bool Has(std::string_view modifier) const;
  int Slot(std::size_t operand) const { return operands[operand].slots[0]; }
};

// What is added to a constant when a warp starts: where the space's variables begin.
enum class PtxBase { kNone, kGlobal, kLocal, kDynamicShared };
struct PtxConstant {
  int slot = 0;
  std::uint64_t value = 0;
  PtxBase base = PtxBase::kNone;
};
enum class PtxSpecialKind { kThread, kThreads, kBlock, kBlocks, kLane, kLaneMask };
struct PtxSpecial {
  PtxSpecialKind kind = PtxSpecialKind::kLane;
  std::size_t axis = 0;  // x, y, z; of kLaneMask: eq, lt, le, gt, ge
};

// A variable, in bytes from the start of its space.
struct PtxPlace {
  unsigned offset = 0;
  unsigned bytes = 0;
};

struct PtxFunction {
  std::string name;
  bool entry = false;
  int line = 0;
  std::vector<PtxInstruction> code;
  int slots = 0;
  std::vector<PtxConstant> constants;
  std::map<int, PtxSpecial> specials;  // by slot
  // Parameters, results and the arguments of calls share one area of each thread.
  std::map<std::string, PtxPlace> arguments;
  std::vector<std::string> parameters, results;
  unsigned argument_bytes = 0, parameter_bytes = 0, shared_bytes = 0, local_bytes = 0;
  unsigned most_threads = 1024;  // .maxntid
};

struct PtxProgram {
  int target = 0;  // 75 for sm_75
  std::vector<PtxFunction> functions;
  std::map<std::string, PtxPlace> globals;
  std::vector<std::byte> global_image;

  const PtxFunction* Find(std::string_view name) const;  // null if there is none
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_PTX_PROGRAM_H_
