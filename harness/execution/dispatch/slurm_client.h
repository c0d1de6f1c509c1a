// The programs of Slurm, called as a user would: argument vectors, time limits, no shell.
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

// A client counts its calls. Errors: process (Slurm is in trouble), timeout, invalid_input (it
// refused, in its own words, or printed what no one can read), not_found (no such program).
class SlurmClient {
 public:
  using Run = std::function<ProcessResult(const ProcessSpec&)>;
  // `run`: RunProcess with a time limit; tests give others.
  explicit SlurmClient(Run run = {});

  Result<std::uint64_t> Submit(const std::vector<std::string>& arguments);
  // Tasks of these arrays that the queue knows; an array that it has forgotten is no error.
  Result<SlurmTasks> Queue(const std::vector<std::uint64_t>& jobs);
  // The same from the accounting.
  Result<SlurmTasks> Accounting(const std::vector<std::uint64_t>& jobs);
  // The array of this name, in the queue or in the accounting; none: neither knows one.
  Result<std::optional<std::uint64_t>> FindByName(const std::string& name);
  // The nodes that are meant. Errors: process also where sinfo refuses, or prints what no one can
  // read; invalid_input for an expression that is none.
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
