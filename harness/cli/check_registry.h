// `rharness check --registry`: may this model be registered or promoted?
#ifndef RHARNESS_HARNESS_CLI_CHECK_REGISTRY_H_
#define RHARNESS_HARNESS_CLI_CHECK_REGISTRY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/command.h"

namespace rharness {

struct RegistryArguments {
  std::string server;  // empty: not asked for
  std::string model;
  std::optional<std::uint64_t> version;
  std::string run;
  std::string history;         // that of the verb
  double max_age_days = -1.0;  // negative: any
};

void AddRegistryOptions(Command* verb, RegistryArguments* arguments);

// `manifests`: files, or folders of them, that may hold the run's, beside the history. Prints one
// line a finding, or that it is admitted; returns the exit code.
int CheckForRegistry(const RegistryArguments& arguments, const std::vector<std::string>& manifests,
                     bool json);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_CHECK_REGISTRY_H_
