// Evidence: the results of one rerun, "rharness.evidence/v1" (evidence_members.h).
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_EVIDENCE_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_EVIDENCE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/subprocess.h"
#include "harness/records/manifest/manifest.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// The remark on a variable that the drill sets or unsets (--env); its subject is "variable NAME".
inline constexpr std::string_view kEnvironmentOverridden = "environment_overridden";
// Of a gang: the first failure of the run, with its rank, node and last line.
inline constexpr std::string_view kRankFailed = "rank_failed";
// Of a rerun on GPUs that the drill accepted in place of the recorded ones.
inline constexpr std::string_view kHardwareSubstituted = "hardware_substituted";

// Observations and outputs of one rerun. Written by the drill, read by compare, report and resume.
struct Evidence {
  std::string run_id;
  int rerun = 0;                // 1, 2, ...
  int attempt = 1;              // > 1 after infrastructure failures
  std::string ticket_sha256;    // of its ticket; empty in evidence of older versions
  std::string manifest_sha256;  // ManifestSha256 of what was rerun; empty in older evidence
  Machine machine;
  WallTime started{};
  WallTime ended{};
  Outcome outcome;
  // Set when the rerun could not be done as recorded or at all.
  std::string obstacle;                 // one sentence; empty: it was carried out
  std::optional<Layer> obstacle_layer;  // not comparable for it; empty: infrastructure
  std::string image_digest;             // as proven by the engine; empty for host runs
  std::string image_id;                 // configuration digest of the image that ran
  std::string code_commit;              // as checked out, may be empty
  std::string code_diff_sha256;         // of the kept diff that was applied; empty: none
  std::vector<CodeFile> code_files;     // as hashed before the run
  std::vector<DataItem> data;           // as hashed before the run
  // What a verdict may need beside: an input changed during the run, an output is missing. No rule.
  std::vector<Finding> remarks;
  Environment environment;
  std::map<std::string, std::int64_t> seeds;  // as passed
  RunMetrics metrics;
  std::optional<UnreadMembers> unread_metrics;  // empty: not known
  std::vector<Artifact> artifacts;              // with locations below the drill folder
  std::optional<Observation> observation;       // empty: not looked at; of a gang: of rank 0
  std::optional<GangParts> gang;                // empty: no gang
  std::string stdout_path;                      // relative to the drill folder
  std::string stderr_path;
};

inline constexpr int kEvidenceVersion = 1;
Result<Evidence> ParseEvidence(const Json& json, std::string_view file);
Json ToJson(const Evidence& evidence);
Result<Evidence> LoadEvidence(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_EVIDENCE_H_
