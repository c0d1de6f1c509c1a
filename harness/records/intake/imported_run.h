// A run that another tool recorded, as a manifest with a grade for every field.
//
// Role: every importer of this folder makes one per run. Importers set values through it, so that
// no invalid value of an untrusted record gets into a manifest, and none without its grade.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_IMPORTED_RUN_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_IMPORTED_RUN_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/records/manifest/manifest.h"

namespace rharness {

// The place of a value, and its grade: Exact("params.lr"), Hint("tag ...", "a short commit").
struct Worth {
  Grade grade = Grade::kMissing;
  std::string from;
};
Worth Exact(std::string_view from);
Worth Hint(std::string_view from, std::string_view why);

class ImportedRun {
 public:
  // `kind` and `id` make the run id, the same at every import: "mlflow-3f2a..." (RunIdOf). `source`
  // must hold no credentials. The family is `family`, or the kind if that is empty.
  ImportedRun(std::string_view kind, std::string_view source, std::string_view id);

  // Each of these sets the value and its grade. A value that no manifest can hold (a control
  // character in a commit, a path that leaves its folder, an integer beyond 64 bits for a seed) is
  // left out with a remark that quotes it, and the field stays missing. Control characters are
  // removed from texts. An empty value has no effect.
  void SetFamily(std::string_view family, const Worth& worth);
  void SetTimes(WallTime started, WallTime ended, const Worth& worth);  // {}: not known
  void SetRepository(std::string_view repository, const Worth& worth);
  void SetCommit(std::string_view commit, const Worth& worth);  // short ones become hints
  void SetDirty(bool dirty, std::string_view diff_sha256, const Worth& worth);
  void AddCodeFile(std::string_view path, std::string_view sha256, const Worth& worth);
  // "registry/name:tag@sha256:..." as engines write it; without a digest a hint at most.
  void SetImage(std::string_view reference, const Worth& worth);
  // An image's id or tag that names no image in a registry becomes a remark.
  void AddData(DataItem item, const Worth& worth);
  // Of data and metrics that were added before; no effect for others.
  void SetMadeBy(std::string_view data, MadeBy made_by, const Worth& worth);
  void SetEvalSet(std::string_view metric, std::string_view data, const Worth& worth);
  void SetCommand(std::vector<std::string> command, const Worth& worth);
  void SetWorkingDirectory(std::string_view folder, const Worth& worth);
  void SetHyperparameter(std::string_view name, Json value, const Worth& worth);
  void SetSeed(std::string_view name, std::string_view value, const Worth& worth);
  void SetVariable(std::string_view name, std::string_view value, const Worth& worth);
  void SetSoftware(std::string_view name, std::string_view version, const Worth& worth);
  void SetCpu(std::string_view model, std::string_view architecture, const Worth& worth);
  void AddGpu(std::string_view model, std::uint64_t memory_bytes, const Worth& worth);
  void SetGpuDriver(std::string_view version, const Worth& worth);
  // Of several nodes or tasks; how the command is started stays unknown. `tasks_per_node`: 0: not
  // known. No effect for one process on one node, and for more than a manifest may hold.
  void SetNodes(double nodes, const Worth& worth, double tasks_per_node, const Worth& tasks_worth);
  void SetFlag(std::string_view name, std::string_view value, const Worth& worth);
  void AddMetric(std::string_view name, double value, const Worth& worth);
  // Points in any order; of several at one step the last one counts, with a remark.
  void AddCurve(std::string_view name, std::vector<std::int64_t> steps, std::vector<double> values,
                const Worth& worth);
  void AddArtifact(Artifact artifact, const Worth& worth);
  // One sentence about an unreadable part: "run.log: line 7: no number". Keeps the first 100.
  void Remark(std::string sentence);

  // The manifest with its origin: fields by path, and fields that a rerun needs and nobody set as
  // missing. Hyperparameters with names of seeds ("seed", "random_state", "data_seed") get a remark
  // and do not count as seeds.
  Manifest Take() &&;

 private:
  void Note(std::string path, const Worth& worth);
  void Refuse(std::string_view path, std::string_view value, std::string_view expected);

  Manifest manifest_;
  Origin origin_;
  std::size_t further_remarks_ = 0;
  std::set<std::string> data_names_;
  std::set<std::string> artifact_paths_;
};

// Letters, digits, '.', '_' and '-' of "KIND-ID", others as '-'; if that changed or shortened the
// id, the first 12 digits of its SHA-256 end it, so that two ids never share one.
std::string RunIdOf(std::string_view kind, std::string_view id);

// The part that a manifest may hold; `refused` gets an invalid part.
MadeBy CleanMadeBy(MadeBy made_by, std::string* refused);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_IMPORTED_RUN_H_
