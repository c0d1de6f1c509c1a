// `rharness check`: are manifests complete? One record of what was found a manifest.
#ifndef RHARNESS_HARNESS_CLI_CHECK_ADMISSION_H_
#define RHARNESS_HARNESS_CLI_CHECK_ADMISSION_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/manifest/admission_notes.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct AdmissionOfOne {
  std::string place;  // its file, or its run in a history
  std::vector<Finding> findings;
  std::string run_id = {};          // empty: it could not be read
  std::string sha256 = {};          // of the manifest, in one spelling
  std::vector<Finding> notes = {};  // what refuses nothing
};

// Manifests that are looked at together: two runs of one name cannot both go into a history, and
// how wide a margin is shows in its family.
class AdmissionCheck {
 public:
  void Add(const std::string& place, const Manifest& manifest);
  // The one finding of what cannot be read names where reading ended.
  void AddUnreadable(const std::string& place, const Error& error);
  // In the order in which they were added. To be called once, after the last.
  std::vector<AdmissionOfOne> Finish();

 private:
  void FindTwins();

  std::vector<AdmissionOfOne> all_;
  std::vector<std::optional<std::size_t>> noted_;  // which of notes_
  std::size_t manifests_ = 0;
  AdmissionNotes notes_;
};

// A line a finding and, unless `quiet`, a note.
std::string LinesOf(const AdmissionOfOne& one, bool quiet);
// "rharness.admission/v1".
Json AdmissionJson(const std::vector<AdmissionOfOne>& all, std::size_t skipped_files);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_CHECK_ADMISSION_H_
