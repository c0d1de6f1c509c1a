// The page of one run: its record, every verdict on it with the history's details, and the signers.
#ifndef RHARNESS_REPORTS_SITE_RUN_H_
#define RHARNESS_REPORTS_SITE_RUN_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/facts.h"
#include "reports/site_rows.h"

namespace rharness {

using SiteLayers = std::array<LayerComparison, 5>;  // in the order of kLayers

// One drill's word on the run.
struct SiteRunVerdict {
  StoredVerdict said;
  std::vector<std::string> outcomes;  // of its reruns: "exited 0 in 3 min, evidence 1f2e3d4c..."
  std::optional<SiteLayers> layers;   // where it reran, held to the record; none: not kept
  std::vector<std::string> measured;  // "weights equal to the bit"
  int signatures = 0;
};

// Two verdicts in a row, one good and one bad.
struct SiteChange {
  StoredVerdict before;
  StoredVerdict after;
  std::optional<SiteLayers> layers;  // what differs between where the two ran; none: not kept
};

struct SiteSignature {
  std::string what;       // "drifted, drill night-3"
  std::string signed_by;  // from the history; empty: it has the key alone
  WallTime entered{};
  std::string key_id;
  std::string statement_sha256;
};

// Something that somebody answers for and that concerns the run, from a file beside the history.
struct SiteAnswer {
  std::string kind;   // "waiver", "substitute", "baseline"
  std::string about;  // probes, "A100 → H100", "h100, fingerprint 1f2e3d4c5b6a"
  std::string reason = {};
  std::string until = {};      // "through 2026-12-31 (UTC)"; empty: no end
  bool holds = true;           // now
  std::string file = {};       // its name
  std::string signed_by = {};  // owners of valid signatures under the file: "Ada and Bob"
  std::string doubt = {};      // why nobody is named
};

struct SiteMetric {
  std::string name;
  std::string value;
  std::string asked;  // "primary, higher is better, margin 0.01"
};

inline constexpr char kCommandFact[] = "Command";  // of `about`
struct SiteRun {
  SiteRunRow run;
  std::vector<std::string> notes = {};                          // problems of the page
  std::vector<std::pair<std::string, std::string>> about = {};  // by name
  std::vector<std::string> record_notes = {};                   // what was said as it was recorded
  std::vector<StoredVerdict> strip = {};                        // newest first, without reasons
  bool strip_whole = true;                                      // whether these are all verdicts
  std::vector<SiteRunVerdict> verdicts = {};                    // this page's, newest first
  SitePager pager = {};
  std::vector<SiteChange> changes = {};  // the last ones, newest first
  std::size_t more_changes = 0;          // in the strip
  std::vector<SiteSignature> signatures = {};
  std::optional<std::vector<SiteAnswer>> answers = {};  // none: no file was given
  std::array<std::vector<Fact>, 5> layers = {};  // content of the manifest, in the order of kLayers
  std::vector<SiteMetric> metrics = {};
  std::vector<std::pair<std::string, std::string>> artifacts = {};   // by role and path
  std::vector<std::pair<std::string, std::string>> properties = {};  // the last result of each
};

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SITE_RUN_H_
