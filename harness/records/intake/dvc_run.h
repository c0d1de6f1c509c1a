// A stage that DVC ran, as a manifest: which field is which, and what it is worth.
//
// Role: private to the files of DVC's importer. Of a stage dvc.lock has the command, and of
// everything that it read and wrote the MD5; what lies where today, and is the same, is hashed, so
// that data and artifacts get a SHA-256. Nothing there says when or in which environment it ran.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_DVC_RUN_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_DVC_RUN_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/records/intake/dvc_contents.h"
#include "harness/records/intake/dvc_files.h"
#include "harness/records/intake/dvc_git.h"
#include "harness/records/intake/intake.h"

namespace rharness {

struct DvcPath {   // what DVC keeps, by its path below the root
  std::string by;  // "raw.bin.dvc", "dvc.lock stages.train"
  std::string digest;
  std::string url;         // of an import
  std::size_t owners = 1;  // more than one: which of them wrote it is not clear
};

// The stage that wrote a path, by what the same dvc.lock says.
struct DvcMaker {
  std::string id;                                          // DvcStageRun::Id
  std::string digest;                                      // that it wrote
  std::vector<std::pair<std::string, std::string>> reads;  // path below the root and digest
  std::size_t owners = 1;
};
using DvcMakers = std::map<std::string, DvcMaker>;  // by path below the root

// What all runs of a repository share.
struct DvcRepository {
  const ImportRequest& request;
  const HeldFolder& root;
  DvcContents& contents;
  DvcGit* git = nullptr;  // nullptr: it lies in none
  DvcConfig config;
  std::map<std::string, DvcPath> paths;
};

struct DvcStageRun {
  std::string folder;  // of dvc.lock and dvc.yaml, below the root: "" or "a/b"
  DvcStage stage;
  std::shared_ptr<const DvcPipeline> pipeline;        // nullptr: there is no dvc.yaml
  std::optional<DvcExperiment> experiment;            // empty: it is that of the workspace
  std::shared_ptr<const DvcMakers> makers = nullptr;  // of all stages of its dvc.lock; or nullptr

  // As DVC names stages: "train", "a/b/dvc.yaml:train".
  std::string Address() const;
  // Address and the beginning of a hash of what dvc.lock says: another result is another run.
  std::string Id() const;
};

// The folder that a stage's paths are written relative to, below the root: that of dvc.yaml and its
// `wdir`. Where that cannot be told, dvc.yaml's, and `trouble` says so.
std::string DvcStageFolder(const DvcStageRun& run, const std::filesystem::path& root,
                           std::string* trouble);

// Where a path of a stage lies below the root; empty where it does not, or is a URL.
std::string DvcPathBelow(const std::filesystem::path& root, const std::string& folder,
                         const std::string& path);

// Of the stages of one dvc.lock, whose folder and pipeline `run` has; its own stage says nothing.
DvcMakers DvcMakersOf(const std::vector<DvcStage>& stages, DvcStageRun run,
                      const std::filesystem::path& root);

ImportedRun BuildDvcRun(const DvcStageRun& run, const DvcRepository& repository);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_DVC_RUN_H_
