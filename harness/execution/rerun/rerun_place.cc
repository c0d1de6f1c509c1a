// Holding a rerun's folder by a handle, and clearing it below that.
#include "harness/execution/rerun/rerun_place.h"

#include <system_error>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/trouble.h"

namespace rharness {

namespace fs = std::filesystem;

std::string RerunName(int rerun) {
  if (rerun > kReplicates) return "replicate-" + std::to_string(rerun - kReplicates);
  return std::to_string(rerun);
}

fs::path RerunFolder(const fs::path& folder, const std::string& run_id, int rerun) {
  return folder / "runs" / run_id / RerunName(rerun);
}

// By its name now, and by no link.
Result<HeldFolder> RerunPlace::Open() const {
  ASSIGN_OR_RETURN(const HeldFolder below, HeldFolder::Open(below_));
  return below.OpenFolder(here_);
}

Status RerunPlace::Hold() {
  RETURN_IF_ERROR(MakeDirectoriesBelow(below_, here_));
  ASSIGN_OR_RETURN(held_, Open());
  return {};
}

Status RerunPlace::Take() {
  RETURN_IF_ERROR(RemoveTreeBelow(below_, here_));
  return Hold();
}

Status RerunPlace::Check() const {
  const auto named = Open();
  if (!named.ok() && IsTrouble(named.error())) return named.error();
  std::error_code error;
  if (named.ok() && fs::equivalent(named->through(), held_->through(), error)) return {};
  return IntegrityError("the run moved the folder it was given", path().string());
}

Status RerunPlace::Keep() {
  if (!held_) return Hold();
  const Status place = Check();
  if (place.ok() || place.error().code != ErrorCode::kIntegrity) return {};
  return Take();
}

Status RerunPlace::Clear() const {
  RETURN_IF_ERROR(Check());
  std::error_code error;
  std::vector<fs::path> traces;
  fs::directory_iterator entry(held_->through(), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename() != "workspace") traces.push_back(entry->path());
  }
  if (error) return IoErrorFromErrno("cannot list", error.value(), path().string());
  for (const fs::path& trace : traces) RETURN_IF_ERROR(RemoveTree(trace));
  return {};
}

Status RerunPlace::RemoveWorkspace() const { return RemoveTreeBelow(below_, here_ / "workspace"); }

Status RerunPlace::WriteFile(const std::string& name, std::string_view text) const {
  return held_->WriteFile(name, text);
}

}  // namespace rharness
