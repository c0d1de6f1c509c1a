// A tensor core's fused addition as a function, and the questions that distinguish variants.
//
// Role: the models of mma_features. Products are exact and not renormalised; C and the products of
// a group are aligned to their largest exponent, cut towards zero to `fraction_bits`, added, and
// the sum is cut towards zero. Groups follow one another, each taking the last one's result as C.
// Sources: Fasi, Higham, Mikaitis, Pranesh, PeerJ CS 7:e330 (2021); Li et al., arXiv:2403.00232;
// the MMA-Sim model, arXiv:2511.10909.
#ifndef RHARNESS_PROBES_GPU_MMA_MODEL_H_
#define RHARNESS_PROBES_GPU_MMA_MODEL_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "probes/gpu/number_type.h"

namespace rharness {

struct FusedAddition {
  int group = 16;                 // products of one addition
  int fraction_bits = 25;         // kept below the largest exponent when aligned
  int result_fraction_bits = 23;  // of the sum; 13 where the accumulator is e8m13
  int least_exponent = -133;      // alignment goes no lower

  bool operator==(const FusedAddition&) const = default;
};

// sum a[i] b[i] + c. All finite; a and b representable in `type`, and of one length.
float FusedDot(NumberType type, std::span<const double> a, std::span<const double> b, float c,
               const FusedAddition& addition);

// One question to an instruction: k values of A's row and B's column, and C.
struct MmaCase {
  std::string name;
  std::vector<double> a, b;
  float c = 0.0F;
  bool finite = true;  // the model answers it
};

// The instructions that mma_features runs.
struct MmaInstruction {
  std::string_view kernel;  // "mma_f16_k16"
  NumberType type;
  int k;
  bool warpgroup = false;  // wgmma: four warps
};

// In a fixed order with unique names. Those that need a group of more than k products are left out.
std::vector<MmaCase> BuildMmaCases(const MmaInstruction& instruction);

// The features shown by the answers (results by the case's name): {"fraction_bits", "group",
// "rounding", "subnormals", "short_accumulator", "permutable"}. A member is absent when its cases
// are.
Json ReadMmaFeatures(const MmaInstruction& instruction,
                     const std::map<std::string, float>& results);

// The published behaviour of an instruction on a device of a compute capability; empty where
// nothing is published.
std::optional<FusedAddition> PublishedAddition(const MmaInstruction& instruction, int compute);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_MMA_MODEL_H_
