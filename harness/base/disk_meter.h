// How much disk a folder takes, measured in small steps so that watching never stalls.
#ifndef RHARNESS_HARNESS_BASE_DISK_METER_H_
#define RHARNESS_HARNESS_BASE_DISK_METER_H_

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/descriptor.h"

namespace rharness {

// Sums the allocated blocks (st_blocks * 512) of everything below a root, and of deleted files from
// there that are still open or mapped in a process that this one may inspect, in a container or
// not. Symbolic links are not followed, a file with several names counts once, and sparse parts
// count nothing. Folders that vanish or cannot be read count nothing.
class DiskMeter {
 public:
  // A root that cannot be opened measures 0.
  explicit DiskMeter(const std::filesystem::path& root);

  // Continues the current pass, or starts one, for about `entries` directory entries. True when the
  // pass ended with this step.
  bool Step(int entries);
  // Finishes the current pass and makes a complete fresh one. Cost: the size of the tree.
  std::uint64_t MeasureNow();
  // The same for named files, without a look at processes: use it when no process is left that
  // could hold other files.
  std::uint64_t MeasureNamed();
  // The larger of the last complete pass and the current one so far.
  std::uint64_t used_bytes() const;

 private:
  void StartPass(bool with_processes);
  int ScanFolder(const std::string& relative);
  int ScanProcess(const std::string& pid);

  Descriptor root_;
  std::string name_;                    // of the root, as the kernel names it
  std::vector<std::string> processes_;  // of this pass, not yet inspected
  std::vector<std::string> pending_;    // folders of this pass, relative to the root
  std::set<std::pair<std::uint64_t, std::uint64_t>> shared_;  // device and inode already counted
  std::uint64_t current_bytes_ = 0;
  std::uint64_t last_bytes_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_DISK_METER_H_
