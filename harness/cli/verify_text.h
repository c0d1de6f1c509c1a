// What `rharness verify` found, as text and as JSON.
#ifndef RHARNESS_HARNESS_CLI_VERIFY_TEXT_H_
#define RHARNESS_HARNESS_CLI_VERIFY_TEXT_H_

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/trust/attestation/verification.h"

namespace rharness {

// One file, as far as it held.
struct Looked {
  std::filesystem::path file;
  std::vector<Verified> statements;
  std::vector<Error> not_counted;  // lines by keys that are not in the policy
  std::size_t held = 0;
  std::optional<Error> refused;  // set: nothing of the file is to be believed
};

// Of which run and family a statement is; both empty: of none.
struct SaidOf {
  std::string run_id;
  std::string family;
};
SaidOf RunOf(const Verified& one);

// A line a statement; of those that hold none under --quiet.
std::string VerifyText(const std::vector<Looked>& all);
Json VerifyJson(const std::vector<Looked>& all);  // "rharness.verify/v1"

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_VERIFY_TEXT_H_
