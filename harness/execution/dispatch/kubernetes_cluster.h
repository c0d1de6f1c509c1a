// Identifies the cluster of a drill: noted at the start, and checked again before a missing Job is
// trusted, since a user's configuration may point to another cluster by then.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_CLUSTER_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_CLUSTER_H_

#include <filesystem>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/execution/dispatch/kubernetes_client.h"
#include "harness/execution/dispatch/pod_template.h"

namespace rharness {

// Notes the cluster in dispatch/cluster.json below a drill's folder ("rharness.cluster/v1"), or
// compares it with the note. Retries a server that does not answer for half a minute. Errors:
// invalid_input for another cluster; those of KubernetesClient::Identify; io.
Result<KubernetesCluster> FindCluster(const std::filesystem::path& folder, KubernetesClient* client,
                                      Clock* clock);

// A site's pod template, read by kubectl, which knows YAML and every field. Checks that it mounts a
// volume with `folder` (empty: no check), and that the cluster has Kueue if the template names a
// queue of it. Errors: invalid_input.
Result<PodTemplate> LoadPodTemplate(const std::filesystem::path& file,
                                    const std::filesystem::path& folder, KubernetesClient* client);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_CLUSTER_H_
