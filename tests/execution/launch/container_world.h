// A private container world for tests: storage, configuration, a registry on a loopback port with
// two tiny images, and optionally a docker API, all below one temporary folder.
#ifndef RHARNESS_TESTS_EXECUTION_LAUNCH_CONTAINER_WORLD_H_
#define RHARNESS_TESTS_EXECUTION_LAUNCH_CONTAINER_WORLD_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "tests/base/reaper.h"

namespace rharness {

// A program that runs until the object goes.
class Service {
 public:
  explicit Service(std::vector<std::string> argv);
  ~Service();

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class ContainerWorld {
 public:
  struct TestImage {
    std::string digest;    // as `podman push --digestfile` wrote it
    std::string image_id;  // as `buildah commit --iidfile` wrote it
  };

  // Points this process's environment at a new world. On failure ready() is false and problem()
  // says what is missing.
  ContainerWorld();
  ~ContainerWorld();

  bool ready() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }
  const std::filesystem::path& folder() const { return folder_->path(); }
  std::string registry() const;  // "127.0.0.1:PORT"
  static int FreePort();         // nobody listens there
  const TestImage& first() const { return first_; }
  // Pushed later, under the same tag.
  const TestImage& second() const { return second_; }
  // Makes the docker command line speak to podman; false with problem() when it cannot.
  bool StartDocker();

  // Runs a command with this process's environment; its stdout, or empty with problem() set.
  static ProcessResult Run(std::vector<std::string> argv);

 private:
  bool Demand(std::vector<std::string> argv, std::string* out = nullptr);
  void Configure();
  bool StartRegistry();
  bool MakeImage(const std::string& text, TestImage* image);

  std::unique_ptr<ScopedTempDir> folder_;
  std::unique_ptr<Reaper> reaper_;
  int port_ = 0;
  std::unique_ptr<Service> registry_;
  std::unique_ptr<Service> docker_;
  TestImage first_;
  TestImage second_;
  std::string problem_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_EXECUTION_LAUNCH_CONTAINER_WORLD_H_
