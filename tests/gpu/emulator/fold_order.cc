// Folds of a warp by shuffles.
#include "tests/gpu/emulator/fold_order.h"

#include <algorithm>
#include <optional>

namespace rharness {
namespace {

constexpr std::size_t kDistance = 2;  // the operand of a shuffle

class FunctionFolds {
 public:
  explicit FunctionFolds(PtxFunction* function) : function_(function) {
    for (const PtxConstant& one : function->constants) {
      if (one.base == PtxBase::kNone) constants_[one.slot] = one.value;
    }
    for (const PtxInstruction& i : function->code) {
      for (const int slot : i.writes) ++writes_[slot];
      if (i.opcode == "mov" && i.operands[0].slots.size() == 1 && i.operands[1].slots.size() == 1) {
        moved_[i.Slot(0)] = i.Slot(1);
      }
    }
  }

  void Mirror() {
    std::vector<PtxInstruction*> fold;
    for (PtxInstruction& i : function_->code) {
      if (i.opcode != "shfl" || !(i.Has("down") || i.Has("bfly"))) continue;
      const auto distance = DistanceOf(i);
      if (!fold.empty() && (!distance || 2 * *distance != *DistanceOf(*fold.back())))
        Reverse(&fold);
      if (distance) fold.push_back(&i);
    }
    Reverse(&fold);
  }

 private:
  // The slot of the constant that a slot always holds.
  std::optional<int> ConstantOf(int slot) const {
    if (constants_.contains(slot)) return slot;
    const auto from = moved_.find(slot);
    if (from == moved_.end() || writes_.at(slot) != 1) return std::nullopt;
    return constants_.contains(from->second) ? std::optional(from->second) : std::nullopt;
  }
  std::optional<std::uint64_t> DistanceOf(const PtxInstruction& i) const {
    const auto slot = ConstantOf(i.Slot(kDistance));
    return slot ? std::optional(constants_.at(*slot)) : std::nullopt;
  }

  void Reverse(std::vector<PtxInstruction*>* fold) const {
    std::vector<int> distances;
    for (const PtxInstruction* i : *fold) distances.push_back(*ConstantOf(i->Slot(kDistance)));
    for (PtxInstruction* i : *fold) {
      std::ranges::replace(i->reads, i->Slot(kDistance), distances.back());
      i->operands[kDistance].slots[0] = distances.back();
      distances.pop_back();
    }
    fold->clear();
  }

  PtxFunction* function_;
  std::map<int, std::uint64_t> constants_;
  std::map<int, int> writes_, moved_;
};

}  // namespace

void MirrorFolds(PtxProgram* program) {
  for (PtxFunction& function : program->functions) FunctionFolds(&function).Mirror();
}

}  // namespace rharness
