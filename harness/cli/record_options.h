// The words of `rharness record` as a request: pure parsing of NAME=VALUE, metrics and images.
#ifndef RHARNESS_HARNESS_CLI_RECORD_OPTIONS_H_
#define RHARNESS_HARNESS_CLI_RECORD_OPTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/execution/rerun/record.h"

namespace rharness {

// As given on the command line.
struct RecordArguments {
  std::string out;
  std::string run_id;  // empty: the stem of `out`
  std::string family;
  std::string image;
  std::vector<std::string> data;
  std::vector<std::string> sources;  // of data: "NAME=URL"; asked about by whoever runs the verb
  std::vector<std::string> made_by;  // of data: "NAME=REPOSITORY@COMMIT"
  std::vector<std::string> weights;
  std::vector<std::string> artifacts;
  std::string metrics_path;
  std::vector<std::string> seeds;
  std::vector<std::string> rng_sources;
  std::vector<std::string> hyperparameters;
  std::vector<std::string> metrics;
  std::string determinism = "statistical";
  std::string scope = "hardware_class";
  std::vector<std::string> flags;
  std::vector<std::string> code_files;
  std::vector<std::string> variables;
  std::vector<std::string> probe_families;
  std::string kernel_list;
  std::string properties;  // a file of declarations; read by whoever runs the verb
  double timeout_seconds = 0.0;
  int cpus = 1;
  int gpus = 0;
  std::string keep;
  std::string root;
  bool no_diff = false;
  bool untracked = false;
  bool no_observe = false;
  bool python_hooks = false;
  std::string observe;  // "kernels", or nothing
  bool find = false;
  std::vector<std::string> command;
};

// "[REGISTRY/]REPOSITORY[:TAG]@sha256:DIGEST"; the first part is a registry when it has a '.' or a
// ':' or is "localhost". Errors: invalid_input, also for a reference without a digest.
Result<Image> ParseImage(std::string_view text);

// "NAME[,direction=higher|lower|none][,unit=U][,margin=X][,quantum=X][,primary][,on=DATA]"; the
// unit is "1" unless given. Errors: invalid_input.
Result<Metric> ParseMetric(std::string_view text);

// Whether what the run reads and writes is found: on demand, and where nothing of it is stated.
bool FindsFacts(const RecordArguments& arguments);

// Errors: invalid_input with the option and what was expected.
Result<RecordRequest> BuildRequest(const RecordArguments& arguments);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_RECORD_OPTIONS_H_
