// A site's pod for reruns: volumes, tolerations, secrets, an image, a queue.
//
// Role: settings of Kubernetes that rharness cannot know; a v1 PodTemplate in a file. Pure: the
// caller reads files and calls kubectl.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_POD_TEMPLATE_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_POD_TEMPLATE_H_

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/member_facts.h"
#include "harness/base/result.h"
#include "harness/execution/dispatch/kubernetes_objects.h"
#include "harness/execution/dispatch/kubernetes_trouble.h"

namespace rharness {

// Who starts all pods of a gang or none, by an object that says how many they are.
enum class PodGroups { kNone, kVolcano, kSchedulerPlugins };
inline constexpr NameTable<PodGroups, 3> kPodGroupNames = {
    {{PodGroups::kNone, "none"},
     {PodGroups::kVolcano, "volcano"},
     {PodGroups::kSchedulerPlugins, "scheduler-plugins"}}};
// The annotation of a template that says so.
inline constexpr std::string_view kPodGroupsAnnotation = "rharness-pod-groups";

struct PodTemplate {
  Json job_labels;       // objects, or null
  Json job_annotations;  // as above
  Json pod_labels;       // as above
  Json pod_annotations;  // as above
  Json spec;             // a pod's, with at most one container
  Json container;        // that one, or an empty object

  std::string Image() const;  // of the container; empty: none
  // Kueue's queue: "kueue.x-k8s.io/queue-name" among the labels of the template; empty: none.
  std::string Queue() const;
  PodGroups groups = PodGroups::kNone;
};

// From a PodTemplate object: its labels and annotations go to the Job; those of its template, and
// its spec, to the pods. Errors: invalid_input, which names a forbidden member.
Result<PodTemplate> ParsePodTemplate(const Json& json, std::string_view file);

// Each of these paths must lie in a volume that the container mounts. Errors: invalid_input.
Status RequireMounted(const PodTemplate& pod, std::string_view file,
                      const std::vector<std::filesystem::path>& paths);

// What a rerun adds to the site's template.
struct PodNeeds {
  PodResources resources;
  std::uint64_t minutes = 0;  // it may take
  std::string image;
  std::string image_digest;  // recorded image of the run; empty: it had none
  std::string gpu_model;     // as recorded: "NVIDIA H100 80GB HBM3"; empty: any
  int nodes = 1;             // pods that start together: a gang
  auto operator<=>(const PodNeeds&) const = default;
};

// The spec of a pod that runs `command`: on none of the nodes to avoid, with requests equal to
// limits, no service account's token and no privilege escalation; the template overrides these,
// except the command, resources and the restart policy.
Json BuildPodSpec(const PodTemplate& pod, const PodNeeds& needs,
                  const std::vector<std::string>& command, const std::set<std::string>& avoid);

// The values of GPU Feature Discovery's label nvidia.com/gpu.product that mean this model: with and
// without the vendor's name, which drivers before 470 omit.
std::vector<std::string> GpuProducts(const std::string& model);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_POD_TEMPLATE_H_
