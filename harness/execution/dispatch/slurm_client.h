// The programs of Slurm, called as by a user: argument vectors, time limits, no shell.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_CLIENT_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_CLIENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/subprocess.h"
#include "harness/execution/dispatch/slurm_nodes.h"
#include "harness/execution/dispatch/slurm_states.h"

namespace rharness {

// Counts its calls. Errors: process (Slurm is in trouble), timeout, invalid_input (it refused, with
// its message, or printed unreadable output), not_found (no such program).
class SlurmClient {
 public:
  using Run = std::function<ProcessResult(const ProcessSpec&)>;
  // `run`: RunProcess with a time limit; tests pass others.
  explicit SlurmClient(Run run = {});

  // Errors: process also for an unreadable number: the array may be there.
  Result<std::uint64_t> Submit(const std::vector<std::string>& arguments);
  // Queued tasks of these arrays; an array that Slurm has forgotten is no error.
  Result<SlurmTasks> Queue(const std::vector<std::uint64_t>& jobs);
  // The same from the accounting.
  Result<SlurmTasks> Accounting(const std::vector<std::uint64_t>& jobs);
  // The array of this name, in the queue or in the accounting; none: in neither.
  Result<std::optional<std::uint64_t>> FindByName(const std::string& name);
  // The chosen nodes. Errors: process also if sinfo refuses, or prints unreadable output;
  // invalid_input for an invalid expression.
  Result<std::vector<SlurmNode>> Nodes(const NodeChoice& choice);
  Status Cancel(const std::vector<std::string>& tasks);
  int MaxArray();

  int calls() const { return calls_; }

 private:
  Result<std::string> Call(std::vector<std::string> argv);

  Run run_;
  int calls_ = 0;
  std::optional<int> max_array_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_CLIENT_H_
