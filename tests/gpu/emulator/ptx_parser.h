// The parser behind ParsePtx: one pass over the tokens. Not for users of the emulator.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_PTX_PARSER_H_
#define RHARNESS_TESTS_GPU_EMULATOR_PTX_PARSER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/emulator/ptx_text.h"

namespace rharness {

// What follows the word of a space: ".align 4 .b8 name[24]".
struct PtxVariable {
  std::string name;
  PtxType type = PtxType::kNone;
  unsigned alignment = 1;
  std::uint64_t count = 1;  // 0 where the text gives none
};

class PtxParser {
 public:
  explicit PtxParser(std::vector<PtxToken> tokens) : tokens_(std::move(tokens)) {}
  Result<PtxProgram> Run();

 private:
  const PtxToken& Next() const { return tokens_[at_]; }
  std::string_view TakeAny();        // the next token's text; the end is never passed
  bool Take(std::string_view text);  // if it is the next
  Status Expect(std::string_view text);
  Error Wrong(std::string_view expected) const;
  Result<std::string> TakeName();
  Result<std::uint64_t> TakeValue();                  // bits of an integer or a 0f, 0d number
  Result<unsigned> TakeCount(std::uint64_t highest);  // a size from the text

  Result<PtxVariable> ReadVariable();
  // Gives the variable its place at the end of an area that may have `most` bytes.
  Result<PtxPlace> Place(const PtxVariable& variable, unsigned* area, unsigned most) const;

  Status ReadDirective();
  Status ReadGlobal();
  Status ReadDynamicShared();
  Status ReadFunction(bool entry);
  Status ReadParameters(std::vector<std::string>* names);
  Status ReadLimits();
  Status ReadBody();
  Status ReadStatement();
  Status ReadRegisters();
  Status ReadLocalVariable(std::string_view space);
  Status ReadInstruction();
  Result<PtxOperand> ReadOperand();
  Result<PtxOperand> ReadList(std::string_view end);
  Status ReadAddress(PtxOperand* operand);
  Status ReadWord(PtxOperand* operand);
  Status Resolve(PtxFunction* function);  // labels and calls

  int SlotOf(std::string_view name) const;  // of a register; -1 if there is none
  int NewSlot() { return function_.slots++; }
  int ConstantSlot(std::uint64_t value, PtxBase base);

  std::vector<PtxToken> tokens_;
  std::size_t at_ = 0;
  PtxProgram program_;
  std::vector<std::string> dynamic_shared_;
  // Of the function that is read.
  PtxFunction function_;
  std::vector<std::map<std::string, int, std::less<>>> scopes_;
  std::map<std::string, int> labels_;
  std::map<std::pair<std::uint64_t, PtxBase>, int> constants_;
  std::map<std::string, std::pair<PtxPlace, PtxSpace>> variables_;
};

// Fills what follows from the opcode, the modifiers and the operands: types, space, flow, the
// operation. Errors: unsupported.
Status DecodePtx(PtxInstruction* instruction);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_PTX_PARSER_H_
