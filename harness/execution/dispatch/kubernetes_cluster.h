// Which cluster a drill is on: noted when it starts, and asked again before its absence of Jobs is
// believed, since a user's configuration may lead somewhere else by then.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_CLUSTER_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_CLUSTER_H_

#include <filesystem>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/execution/dispatch/kubernetes_client.h"
#include "harness/execution/dispatch/pod_template.h"

namespace rharness {

// Notes the cluster in dispatch/cluster.json below a drill's folder ("rharness.cluster/v1"), or
// holds it to what is noted there. A server that does not answer is asked again for half a minute.
// Errors: invalid_input for another cluster; those of KubernetesClient::Identify; io.
Result<KubernetesCluster> FindCluster(const std::filesystem::path& folder, KubernetesClient* client,
                                      Clock* clock);

// A site's pod template, read by kubectl, which knows YAML and every field; it mounts what holds
// `folder` (empty: nothing is asked of its volumes), and if it names a queue of Kueue's, the
// cluster has Kueue. Errors: invalid_input.
Result<PodTemplate> LoadPodTemplate(const std::filesystem::path& file,
                                    const std::filesystem::path& folder, KubernetesClient* client);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_CLUSTER_H_
