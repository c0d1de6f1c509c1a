// Faults of known size in a rerun, as a person names them. Pure.
//
//   seed:lost                       the command gets another seed, and the record is not told
//   hyperparameter:NAME*F[,F...]    as the command passes it, or with @--option behind: appended
//   argument:NAME=VALUE             another argument
//   env:NAME=VALUE                  a variable, such as one that swaps a library's kernel
//   data:NAME=row                   one row is a copy of a different row
//   data:NAME=row-unseen            the same, as if no hash had told
//   data:NAME=order-unseen          all rows shuffled, likewise
//   ... on rank N                   one of those above, for one task of a gang alone
//   tensor:bit|zero|bf16            in the kept checkpoint: one bit of one element, one tensor all
//                                   zero, all values rounded to bfloat16
//   metric:NAME+Fsd                 worse by F standard deviations of the other runs' records
//   curve:NAME*F                    all values times F
#ifndef RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_FAULTS_H_
#define RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_FAULTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

enum class FaultKind {
  kSeedLost,
  kHyperparameter,
  kArgument,
  kVariable,
  kDataRow,
  kDataOrder,
  kTensorBit,
  kTensorZero,
  kTensorBf16,
  kMetric,
  kCurve
};

struct Fault {
  FaultKind kind = FaultKind::kSeedLost;
  std::string name;     // "hyperparameter:learning_rate*0.95"; unique
  std::string subject;  // the hyperparameter, argument, variable, data item, metric or curve
  std::string option;   // of a hyperparameter that the command does not pass: its option
  std::string value;    // of an argument or variable
  double size = 1.0;    // factor, or number of standard deviations
  bool unseen = false;  // of data: as if no hash had detected it
  std::optional<int> rank = {};  // of a gang: planted there alone

  bool IsRerun() const { return kind <= FaultKind::kDataOrder; }
};

inline constexpr std::size_t kMostFaults = 200;

// The texts of --fault; one fault per factor. Errors: invalid_input with the expected form.
Result<std::vector<Fault>> ParseFaults(const std::string& text);

// Default faults for any run like this one: a lost seed, data, learning rates, the checkpoint,
// OpenBLAS's kernel, primary metrics and losses, as far as the record has them.
std::vector<Fault> DefaultFaults(const Manifest& run);

// "a learning rate 5 % lower", "one flipped bit in the weights".
std::string FaultWords(const Fault& fault);

// Whether a recorded name is a learning rate: "lr", "learning_rate", "optimizer.lr".
bool NamesLearningRate(std::string_view name);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_FAULTS_H_
