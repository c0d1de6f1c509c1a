// A private Kubernetes for tests: a control plane and two nodes on loopback ports, below one
// temporary folder, from the programs that `./dev test-kubernetes` builds once.
#ifndef RHARNESS_TESTS_EXECUTION_DISPATCH_KUBERNETES_WORLD_H_
#define RHARNESS_TESTS_EXECUTION_DISPATCH_KUBERNETES_WORLD_H_

#include <memory>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "tests/base/reaper.h"

namespace rharness {

class KubernetesWorld {
 public:
  // Points this process's KUBECONFIG at it. On failure problem() says what is missing. The
  // programs are where RHARNESS_KUBERNETES says.
  KubernetesWorld();
  ~KubernetesWorld();

  const std::string& problem() const { return problem_; }
  // kubernetes_cluster.sh VERB with its place: "end" "apiserver", "lose" "n1", ...
  void Do(const std::string& verb, const std::string& name = "") const;
  // kubectl; its stdout.
  static std::string Run(std::vector<std::string> arguments);
  // A PodTemplate for pods that see `shared`, and this machine's programs and libraries, under
  // their paths, and `also`; `more` are further members of the pod's spec. On their PATH,
  // shared/bin is first.
  static std::string Template(const std::filesystem::path& shared, const std::string& more = "",
                              const std::string& image = "localhost/base:1",
                              const std::vector<std::string>& also = {});

 private:
  std::string problem_;
  std::unique_ptr<ScopedTempDir> folder_;
  std::unique_ptr<Reaper> reaper_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_EXECUTION_DISPATCH_KUBERNETES_WORLD_H_
