// kubectl, called as by a user: argument vectors, time limits, no shell.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_CLIENT_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_CLIENT_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/base/subprocess.h"
#include "harness/execution/dispatch/kubernetes_states.h"

namespace rharness {

// Which cluster answers.
struct KubernetesCluster {
  std::string uid;      // of the namespace kube-system; empty: not readable for this user
  std::string server;   // URL from the user's configuration
  std::string context;  // the configuration's, by name
  KubernetesVersion version;
};

// "https://10.0.0.1:6443 (uid ...)".
std::string NameOf(const KubernetesCluster& cluster);

// Whether they are the same, by the members known of both. Pure.
bool IsSameCluster(const KubernetesCluster& one, const KubernetesCluster& other);

// Counts its calls. Errors: process (the server is in trouble, or no longer knows this user),
// timeout, invalid_input (it refused, with its message, or printed unreadable output), not_found
// (no such program).
class KubernetesClient {
 public:
  using Run = std::function<ProcessResult(const ProcessSpec&)>;
  // `options`: of kubectl, for every call. `run`: RunProcess with a time limit; tests pass others.
  explicit KubernetesClient(std::vector<std::string> options, Run run = {});

  // Identifies the cluster; later calls keep the current context, even if the configuration
  // changes.
  Result<KubernetesCluster> Identify();

  // The objects of "kubectl get KINDS -o json" with these labels ("a=b,c=d"; empty: all).
  Result<KubernetesObjects> Get(const std::string& kinds, const std::string& labels);
  // Creates the objects of a file. Existing ones are no error.
  Status Create(const std::filesystem::path& file, bool dry_run = false);
  // Deletes those of this kind, of Jobs with their pods; returns before they are gone. Missing ones
  // are no error.
  Status DeleteAll(const std::string& kind, const std::string& labels);
  // Output of the container of reruns in this pod; its first 16 MiB.
  Result<std::string> Log(const std::string& pod);
  Status DeleteNamed(const std::string& kind, const std::vector<std::string>& names);
  // An object of a file, in YAML or JSON, as the server would read it.
  Result<Json> Read(const std::filesystem::path& file);

  int calls() const { return calls_; }

 private:
  Result<std::string> Call(std::vector<std::string> arguments);
  Status Delete(std::vector<std::string> what);
  Result<Json> CallForJson(std::vector<std::string> arguments);

  std::vector<std::string> options_;
  Run run_;
  int calls_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_CLIENT_H_
