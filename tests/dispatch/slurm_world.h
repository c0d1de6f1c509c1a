// A private Slurm for tests: munged, slurmctld and two nodes on loopback ports, below one temporary
// folder, without accounting.
#ifndef RHARNESS_TESTS_DISPATCH_SLURM_WORLD_H_
#define RHARNESS_TESTS_DISPATCH_SLURM_WORLD_H_

#include <memory>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "tests/launch/container_world.h"

namespace rharness {

class SlurmWorld {
 public:
  // Points this process's environment at it. On failure problem() says what is missing.
  SlurmWorld();
  ~SlurmWorld();

  const std::string& problem() const { return problem_; }
  // A command of Slurm's; its stdout.
  static std::string Run(std::vector<std::string> argv);

 private:
  void Configure();
  void Start();

  std::string problem_;
  std::unique_ptr<ScopedTempDir> folder_;
  std::vector<std::unique_ptr<Service>> services_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_DISPATCH_SLURM_WORLD_H_
