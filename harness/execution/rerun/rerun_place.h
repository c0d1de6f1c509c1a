// The folder of one rerun, held while an untrusted program works in it.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RERUN_PLACE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RERUN_PLACE_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/held_folder.h"
#include "harness/base/result.h"

namespace rharness {

// Replicates have numbers of their own, above those of all reruns: RUN.replicate-1 is this plus 1.
inline constexpr int kReplicates = 1'000'000;

// The name of a rerun's folder: "1", or "replicate-1".
std::string RerunName(int rerun);

// runs/RUN/N below a folder: "runs/digits-1/1"; a replicate's: "runs/digits-1/replicate-1".
std::filesystem::path RerunFolder(const std::filesystem::path& folder, const std::string& run_id,
                                  int rerun);

// A rerun's own folder, even if the run renames it. Not thread-safe.
class RerunPlace {
 public:
  RerunPlace(std::filesystem::path below, std::filesystem::path here)
      : below_(std::move(below)), here_(std::move(here)) {}

  const std::filesystem::path& here() const { return here_; }  // relative
  std::filesystem::path path() const { return below_ / here_; }

  // Makes the folder anew and holds it. Errors: io.
  Status Take();
  // Errors: integrity if its name now belongs to another folder, or none; else the machine's
  // trouble.
  Status Check() const;
  // Evidence is written only to the rerun's own folder: a missing one is made again, empty.
  Status Keep();
  // Removes everything except the workspace: a host run may have left files in the evidence's
  // place. Errors: those of Check; io.
  Status Clear() const;
  // Errors: a process that still uses it, io.
  Status RemoveWorkspace() const;
  Status WriteFile(const std::string& name, std::string_view text) const;

 private:
  Result<HeldFolder> Open() const;
  Status Hold();

  std::filesystem::path below_;
  std::filesystem::path here_;
  std::optional<HeldFolder> held_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RERUN_PLACE_H_
