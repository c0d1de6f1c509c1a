// A private Slurm for tests: munged, slurmctld and two nodes on loopback ports, below one temporary
// folder, without accounting.
#ifndef RHARNESS_TESTS_DISPATCH_SLURM_WORLD_H_
#define RHARNESS_TESTS_DISPATCH_SLURM_WORLD_H_

#include <chrono>
#include <map>
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
  // Kills a daemon, "slurmctld", "n1" or "n2", with SIGKILL, and starts it again after this time.
  void KillAndRestart(const std::string& daemon, std::chrono::milliseconds down);
  // A command of Slurm's; its stdout.
  static std::string Run(std::vector<std::string> argv);

 private:
  void Configure();
  void Start();
  void Serve(const std::string& daemon);

  std::string problem_;
  std::unique_ptr<ScopedTempDir> folder_;
  std::unique_ptr<Service> munge_;
  std::map<std::string, std::unique_ptr<Service>> daemons_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_DISPATCH_SLURM_WORLD_H_
