// A small world for planted faults: a repository with code and data, recorded runs, and a PATH on
// which a wrapper may stand before the trainer, as a stack does that changed below its manifests.
#ifndef RHARNESS_TESTS_SCENARIOS_FAULT_WORLD_H_
#define RHARNESS_TESTS_SCENARIOS_FAULT_WORLD_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/evidence.h"
#include "reports/model.h"

namespace rharness {

// What to record. The defaults are a bitwise run of digits_portable with its code pinned by hash.
struct Recipe {
  std::string name = "run-1";
  std::string family = "digits";
  std::string trainer = "digits_portable";
  std::string data = "data/digits.csv";  // relative to the repository
  std::string determinism = "bitwise";
  int seed = 1;
  int epochs = 3;                    // enough for bits; a trainer's own number makes a model
  bool pin_code = true;              // else the commit alone says which code it was
  std::vector<std::string> options;  // more options of `rharness record`
};

struct DrillResult {
  int exit_code = -1;
  Report report;
  std::string stderr_text;
};

class FaultWorld {
 public:
  FaultWorld();

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path repository() const { return folder() / "repository"; }

  // Records a run in the repository and returns its manifest; empty after a failed expectation.
  std::filesystem::path Record(const Recipe& recipe);
  // Puts a shell script named like the trainer first on the PATH of later drills and recordings;
  // "$REAL" in the script is the trainer itself.
  void Wrap(const std::string& trainer, const std::string& script);
  void Unwrap();
  // Stores the manifests in a new history and drills it with more `options`.
  DrillResult Drill(const std::vector<std::filesystem::path>& manifests,
                    std::vector<std::string> options = {});
  // One rerun's evidence of the latest drill.
  Evidence EvidenceOf(const std::string& run_id, int rerun = 1) const;
  std::filesystem::path drill_folder() const { return drill_; }

  // `rharness VERB...` or any other program, in the repository with the world's PATH.
  ProcessResult Run(std::vector<std::string> argv) const;
  // Environment variables that programs get besides PATH, HOME and LANG.
  std::map<std::string, std::string> environment;
  // The whole PATH of programs to come; empty: wrapper, trainers and the system's folders.
  std::string only_path;

 private:
  void Demand(std::vector<std::string> argv) const;

  ScopedTempDir folder_;
  std::filesystem::path drill_;
  std::string wrapper_;  // folder of the wrapper, or empty
  int count_ = 0;        // of drills and wrappers
};

// Commits everything in `folder`, which becomes a repository if it is none.
void CommitAll(const std::filesystem::path& folder, const std::string& message);

// The digits with the first pixel of one line changed.
std::string DigitsWithOneRowChanged();

// 16 shards of the digits below `folder`, made in no order of their names, so that no file system
// lists them sorted.
void WriteShards(const std::filesystem::path& folder);

}  // namespace rharness

#endif  // RHARNESS_TESTS_SCENARIOS_FAULT_WORLD_H_
