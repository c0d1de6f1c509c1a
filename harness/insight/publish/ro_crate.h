// A drill as an RO-Crate: what was rerun, of what, with which result, and the evidence beside it.
//
// Role: for archives and repositories that know no drill. BuildRoCrate is pure; WriteRoCrate reads
// the drill's folder and makes the crate's. Source: RO-Crate 1.1, and the profile Process Run Crate
// 0.5 (w3id.org/ro/wfrun/process).
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

// A file of the drill's folder, by its path there, which is that in the crate.
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
  Evidence evidence;             // as it was read; of one that could not be, without times
  std::vector<CrateFile> files;  // that it made: evidence, logs, artifacts
};

// The content of ro-crate-metadata.json: a CreateAction a rerun, with the program as instrument,
// the data as object, and files and the run's verdict (a PropertyValue) as result. What is not in
// the crate is told by its hash.
Json BuildRoCrate(const Report& report, const std::vector<CrateFile>& files,
                  const std::vector<CrateRerun>& reruns);

struct WrittenCrate {
  std::size_t files = 0;
  std::vector<std::string> left_out;  // a sentence each
};

// Makes `out`, which must not be there or be empty, whole or not at all. Errors: invalid_input
// (something is in `out`), those of reading report.json and of writing.
Result<WrittenCrate> WriteRoCrate(const std::filesystem::path& drill, const Report& report,
                                  const std::filesystem::path& out, const CrateLimits& limits = {});

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_PUBLISH_RO_CRATE_H_
