// A private Slurm for tests: munged, slurmctld and two nodes on loopback ports, below one temporary
// folder; with accounting (slurmdbd over a MariaDB) where that is asked for.
#ifndef RHARNESS_TESTS_EXECUTION_DISPATCH_SLURM_WORLD_H_
#define RHARNESS_TESTS_EXECUTION_DISPATCH_SLURM_WORLD_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "tests/base/reaper.h"
#include "tests/execution/launch/container_world.h"

namespace rharness {

class SlurmWorld {
 public:
  enum class Accounting { kNone, kDatabase };
  // Points this process's environment at it. On failure problem() says what is missing.
  // Arrays of four tasks at most, so that a small drill takes several; `max_array` allows others.
  explicit SlurmWorld(Accounting accounting = Accounting::kNone, int max_array = 5);
  ~SlurmWorld();

  const std::string& problem() const { return problem_; }
  // Kills a daemon, "slurmctld", "slurmdbd", "n1" or "n2", with SIGKILL.
  void Kill(const std::string& daemon);
  // And starts it again after this time.
  void KillAndRestart(const std::string& daemon, std::chrono::milliseconds down);
  // The same of the controller, which then knows no job any more.
  void ForgetJobs();
  // What the queue, the nodes and the ends of the daemons' logs say, for a test that fails.
  std::string Describe() const;
  // A command of Slurm's; its stdout.
  static std::string Run(std::vector<std::string> argv);

 private:
  void Configure();
  void Start();
  // A database and slurmdbd in front of it; problem() where they do not come up.
  void StartAccounting();
  void Serve(const std::string& daemon);

  std::string problem_;
  std::unique_ptr<ScopedTempDir> folder_;
  std::unique_ptr<Reaper> reaper_;
  const Accounting accounting_;
  const int max_array_;
  std::unique_ptr<Service> munge_;
  std::unique_ptr<Service> database_;
  int accounting_port_ = 0;
  std::map<std::string, std::unique_ptr<Service>> daemons_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_EXECUTION_DISPATCH_SLURM_WORLD_H_
