// A batch of attempts as Jobs: which attempts share a Job, and the objects for the server. Pure.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_BATCH_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_BATCH_H_

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/execution/dispatch/kubernetes_states.h"
#include "harness/execution/dispatch/pod_template.h"
#include "harness/execution/rerun/ticket.h"

namespace rharness {

struct KubernetesOptions {
  std::filesystem::path folder;  // of the drill; absolute, and the same in every pod
  std::string drill_id;
  std::filesystem::path program;       // rharness as the pods see it
  std::vector<std::string> kubectl;    // options of kubectl that say where: "--context=gpu"
  std::filesystem::path pod_template;  // a v1 PodTemplate
  // The pods share no volume with this machine: a ticket reaches its pod as a Secret, and the
  // results come back in the pod's log (framed_log.h).
  bool evidence_in_log = false;
};

// Errors: invalid_input for an option of kubectl that does not select a cluster or a user.
Status CheckKubectlOption(const std::string& option);

// The requirements of an attempt on its pod. Errors: invalid_input if no image is given for it.
Result<PodNeeds> NeedsOf(const Ticket& ticket, const PodTemplate& pod);

// Whether a batch is one Job with an index per task, which needs a server with such indexes, and no
// Kueue, which admits a Job as a whole. Else there is one Job per task.
bool IsIndexed(KubernetesVersion version, const PodTemplate& pod);

// Whether the ticket fits into a Secret. Errors: invalid_input with its size.
Status FitsASecret(const Ticket& ticket);

// A drill's id as the value of a label and as a part of names: lower-case letters, digits and '-',
// at most 40 characters. Different ids stay different.
std::string DrillLabel(const std::string& drill_id);

// The name of the Job of a task: at most 63 characters.
std::string JobName(const KubernetesOptions& options, int batch, const std::string& index,
                    bool indexed);

// The Jobs for all these tasks, by the names of their folders, of one batch: a List. Below `folder`
// each finds INDEX/ticket.json, and writes INDEX/out.
struct KubernetesBatch {
  int number = 0;
  std::filesystem::path folder;
  std::vector<std::string> indexes;  // "0", "1", ...: without a gap for an indexed Job
  PodNeeds needs;
  std::set<std::string> avoid;  // nodes that failed
  bool indexed = false;
  bool numbered = false;             // the server numbers the pods of a gang (HasNodeNumbers);
                                     // then they have names, too: JOB-NODE.JOB, by a Service
  std::vector<std::string> tickets;  // as JSON, beside `indexes`; only for evidence in the log
};
// Beside the Job of a gang are a Service for names, if its pods have numbers, and a PodGroup, if
// the template says whose.
Json BuildJobs(const KubernetesOptions& options, const PodTemplate& pod,
               const KubernetesBatch& batch);
// The kinds in such a List, as kubectl names them: "jobs", "podgroups.scheduling.volcano.sh".
std::set<std::string> KindsIn(const Json& jobs);

// How many tasks one call hands over.
inline constexpr std::size_t kMostIndexes = 1000;
inline constexpr std::size_t kMostJobs = 100;

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_BATCH_H_
