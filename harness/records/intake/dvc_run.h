// Maps a stage that DVC ran to a manifest, with the grade of each field.
//
// Role: private to DVC's importer. dvc.lock has the command of a stage, and the MD5 of everything
// that it read and wrote; unchanged files at hand are hashed, so that data and artifacts get a
// SHA-256. DVC does not record when or in which environment it ran.
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

struct DvcPath {   // a path that DVC tracks, below the root
  std::string by;  // "raw.bin.dvc", "dvc.lock stages.train"
  std::string digest;
  std::string url;         // of an import
  std::size_t owners = 1;  // more than one: its writer is ambiguous
};

// The stage that wrote a path, according to the same dvc.lock.
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
  std::optional<DvcExperiment> experiment;            // empty: the workspace
  std::shared_ptr<const DvcMakers> makers = nullptr;  // of all stages of its dvc.lock; or nullptr

  // DVC's name of the stage: "train", "a/b/dvc.yaml:train".
  std::string Address() const;
  // Address and a prefix of a hash of the entry in dvc.lock: another result is another run.
  std::string Id() const;
};

// The folder that a stage's paths are relative to, below the root: that of dvc.yaml and its `wdir`.
// If that is not known, dvc.yaml's, and `trouble` says so.
std::string DvcStageFolder(const DvcStageRun& run, const std::filesystem::path& root,
                           std::string* trouble);

// The place of a stage's path below the root; empty for a path outside, or a URL.
std::string DvcPathBelow(const std::filesystem::path& root, const std::string& folder,
                         const std::string& path);

// Of the stages of one dvc.lock, with the folder and pipeline of `run`; ignores the stage of `run`.
DvcMakers DvcMakersOf(const std::vector<DvcStage>& stages, DvcStageRun run,
                      const std::filesystem::path& root);

ImportedRun BuildDvcRun(const DvcStageRun& run, const DvcRepository& repository);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_DVC_RUN_H_
