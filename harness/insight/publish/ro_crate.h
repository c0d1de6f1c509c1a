// A drill as an RO-Crate: the reruns, their runs and results, with the evidence.
//
// Role: for archives and repositories that do not know drills. BuildRoCrate is pure; WriteRoCrate
// reads the drill's folder and makes the crate's. Source: RO-Crate 1.1, and the profile Process Run
// Crate 0.5 (w3id.org/ro/wfrun/process).
#ifndef RHARNESS_HARNESS_INSIGHT_PUBLISH_RO_CRATE_H_
#define RHARNESS_HARNESS_INSIGHT_PUBLISH_RO_CRATE_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/records/manifest/evidence.h"
#include "reports/model.h"

namespace rharness {

struct CrateLimits {
  std::uint64_t file_bytes = std::uint64_t{64} << 20;
  std::uint64_t all_bytes = std::uint64_t{1} << 30;
};

// A file of the drill's folder, by its path there, which is also that in the crate.
struct CrateFile {
  std::string path;
  std::string name;   // for people: "evidence of rerun 1 of mlp-1"
  std::string media;  // "application/json"
  std::uint64_t size_bytes = 0;
  std::string sha256;
  std::string left_out;  // why it is not in the crate; empty: it is
};

struct CrateRerun {
  const ReportRun* run = nullptr;
  const ReportRerun* rerun = nullptr;
  Evidence evidence;             // as read; without times if unreadable
  std::vector<CrateFile> files;  // its output: evidence, logs, artifacts
};

// The content of ro-crate-metadata.json: a CreateAction per rerun, with the program as instrument,
// the data as object, and files and the run's verdict (a PropertyValue) as result. Files outside of
// the crate appear by their hash.
Json BuildRoCrate(const Report& report, const std::vector<CrateFile>& files,
                  const std::vector<CrateRerun>& reruns);

struct WrittenCrate {
  std::size_t files = 0;
  std::vector<std::string> left_out;  // a sentence each
};

// Makes `out`, which must be missing or empty, completely or not at all. Errors: invalid_input
// (`out` is not empty), those of reading report.json and of writing.
Result<WrittenCrate> WriteRoCrate(const std::filesystem::path& drill, const Report& report,
                                  const std::filesystem::path& out, const CrateLimits& limits = {});

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_PUBLISH_RO_CRATE_H_
