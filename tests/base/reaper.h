// Servers that a test starts end with it, however it ends: by its last line, by Ctrl-C, by the
// SIGKILL of a ctest that waited long enough.
#ifndef RHARNESS_TESTS_BASE_REAPER_H_
#define RHARNESS_TESTS_BASE_REAPER_H_

#include <filesystem>
#include <string>

#include "harness/base/descriptor.h"

namespace rharness {

// A program of its own (reaper_main.cc), no child of this process and in no group or session of it,
// which waits for this process to end or for the object to go. Then it kills what speaks of
// `folder` in its command line, environment or working directory, where the process has ended also
// what RunProcess started in it, and all that descends from these; takes away what is mounted below
// the folder; and removes the folder.
class Reaper {
 public:
  explicit Reaper(const std::filesystem::path& folder);
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;
  ~Reaper();  // waits until nothing is left, 30 s at most

  // Why there is none; empty: it watches.
  const std::string& problem() const { return problem_; }

 private:
  Descriptor held_;  // the kernel closes it with this process
  Descriptor done_;  // ends when the reaper does
  std::string problem_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_BASE_REAPER_H_
