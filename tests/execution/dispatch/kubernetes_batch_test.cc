// What the server is handed for a batch of attempts.
#include "harness/execution/dispatch/kubernetes_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/base/files.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTemplate = R"({"apiVersion": "v1", "kind": "PodTemplate",
  "metadata": {"name": "site", "labels": {"team": "ml"}},
  "template": {"metadata": {"labels": {"zone": "a"}}, "spec": {
    "volumes": [{"name": "shared", "persistentVolumeClaim": {"claimName": "drills"}}],
    "imagePullSecrets": [{"name": "pull"}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
      "nodeSelectorTerms": [{"matchExpressions": [{"key": "pool", "operator": "Exists"}]},
                            {"matchExpressions": [{"key": "spare", "operator": "Exists"}]}]}}},
    "containers": [{"name": "any", "image": "debian@sha256:aa",
      "resources": {"limits": {"rdma/hca": "1"}},
      "volumeMounts": [{"name": "shared", "mountPath": "/shared"}]}]}}})";

PodTemplate Site(const std::string& text = kTemplate) {
  auto pod = ParsePodTemplate(*ParseJson(text, "site.json"), "site.json");
  EXPECT_TRUE(pod.ok()) << pod.error().ToString();
  return pod.ok() ? *pod : PodTemplate();
}

Ticket TicketFor(int gpus) {
  Ticket ticket{.drill_id = "d", .launcher = "host"};
  ticket.resources = {.cpus = 3, .gpus = gpus, .memory_bytes = (std::uint64_t{1} << 30) + 1};
  ticket.resources.timeout_seconds = 3600;
  ticket.manifest.run_id = "r";
  ticket.manifest.environment.hardware.gpus = {{.model = "NVIDIA H100 80GB HBM3"}};
  return ticket;
}

KubernetesOptions Options() {
  return {.folder = "/shared/tonight", .drill_id = "d-1", .program = "/shared/bin/rharness"};
}

Json Build(bool indexed, const PodTemplate& pod, int gpus = 0, std::set<std::string> avoid = {}) {
  return BuildJobs(Options(), pod,
                   {.number = 2,
                    .folder = "/shared/tonight/dispatch/2",
                    .indexes = {"0", "1"},
                    .needs = *NeedsOf(TicketFor(gpus), pod),
                    .avoid = std::move(avoid),
                    .indexed = indexed});
}

std::string At(const Json& jobs, std::size_t item, std::initializer_list<std::string_view> path) {
  const Json* found = FindAt(jobs.Find("items")->AsArray().at(item), path);
  return found == nullptr ? "" : found->Dump();
}

const Json& ContainerOf(const Json& jobs) {
  return FindAt(jobs.Find("items")->AsArray().at(0), {"spec", "template", "spec", "containers"})
      ->AsArray()
      .at(0);
}

TEST(KubernetesBatch, IsOneJobWithIndexesWhereTheServerHasThem) {
  const Json jobs = Build(true, Site());
  ASSERT_EQ(jobs.Find("items")->AsArray().size(), 1U);
  EXPECT_EQ(At(jobs, 0, {"metadata", "name"}), "\"rharness-d-1-2\"");
  EXPECT_EQ(At(jobs, 0, {"spec", "completions"}), "2");
  EXPECT_EQ(At(jobs, 0, {"spec", "backoffLimitPerIndex"}), "0");
  EXPECT_THAT(At(jobs, 0, {"spec", "podFailurePolicy"}), HasSubstr("DisruptionTarget"));
  EXPECT_EQ(At(jobs, 0, {"spec", "ttlSecondsAfterFinished"}), "") << "its end is to be seen";
  EXPECT_THAT(ContainerOf(jobs).Find("command")->Dump(),
              HasSubstr("\"/shared/tonight/dispatch/2/$(JOB_COMPLETION_INDEX)/ticket.json\""));
}

TEST(KubernetesBatch, IsAJobForEachRerunElsewhere) {
  const Json jobs = Build(false, Site());
  ASSERT_EQ(jobs.Find("items")->AsArray().size(), 2U);
  EXPECT_EQ(At(jobs, 1, {"metadata", "name"}), "\"rharness-d-1-2-1\"");
  EXPECT_EQ(At(jobs, 1, {"metadata", "labels", "rharness-index"}), "\"1\"");
  EXPECT_EQ(At(jobs, 1, {"metadata", "labels", "team"}), "\"ml\"");
  EXPECT_EQ(At(jobs, 1, {"spec", "template", "metadata", "labels", "rharness-drill"}), "\"d-1\"");
  EXPECT_EQ(At(jobs, 1, {"spec", "template", "metadata", "labels", "zone"}), "\"a\"");
  EXPECT_EQ(At(jobs, 0, {"spec", "backoffLimit"}), "0");
  EXPECT_EQ(At(jobs, 0, {"spec", "completionMode"}), "");
  EXPECT_THAT(At(jobs, 0, {"spec", "template", "spec"}), HasSubstr("\"restartPolicy\":\"Never\""));
}

// Kueue admits a Job as a whole: a hundred reruns in one would wait for room for a hundred.
TEST(KubernetesBatch, IsAJobForEachRerunInAQueueOfKueues) {
  PodTemplate pod = Site();
  EXPECT_TRUE(IsIndexed({1, 30}, pod));
  EXPECT_FALSE(IsIndexed({1, 28}, pod));
  pod.job_labels.Set("kueue.x-k8s.io/queue-name", "night");
  EXPECT_FALSE(IsIndexed({1, 30}, pod));
  const Json jobs = Build(false, pod);
  EXPECT_EQ(At(jobs, 0, {"spec", "suspend"}), "true");
  EXPECT_EQ(At(Build(false, Site()), 0, {"spec", "suspend"}), "");
}

Json BuildGang(bool numbered, const PodTemplate& pod = Site()) {
  Ticket ticket = TicketFor(1);
  ticket.manifest.gang = Gang{.nodes = 3,
                              .tasks_per_node = 2,
                              .start = GangStart::kPerTask,
                              .workspace = {},
                              .rendezvous = {},
                              .parts = {}};
  return BuildJobs(Options(), pod,
                   {.number = 2,
                    .folder = "/shared/tonight/dispatch/2",
                    .indexes = {"0"},
                    .needs = *NeedsOf(ticket, pod),
                    .numbered = numbered});
}

TEST(KubernetesBatch, AGangIsAnIndexedJobWhosePodsHaveNamesAndNodesOfTheirOwn) {
  const Json jobs = BuildGang(true);
  ASSERT_EQ(jobs.Find("items")->AsArray().size(), 2U);
  EXPECT_EQ(At(jobs, 0, {"kind"}), R"("Service")");
  EXPECT_EQ(At(jobs, 0, {"metadata", "name"}), R"("rharness-d-1-2-0")");
  EXPECT_EQ(At(jobs, 0, {"spec", "clusterIP"}), R"("None")");
  EXPECT_EQ(At(jobs, 0, {"spec", "publishNotReadyAddresses"}), "true");
  const std::string labels =
      R"({"rharness-drill":"d-1","rharness-batch":"2","rharness-index":"0"})";
  EXPECT_EQ(At(jobs, 0, {"metadata", "labels"}), labels) << "by which it is removed";
  EXPECT_EQ(At(jobs, 0, {"spec", "selector"}), labels);
  EXPECT_EQ(At(jobs, 1, {"spec", "completionMode"}), R"("Indexed")");
  EXPECT_EQ(At(jobs, 1, {"spec", "completions"}), "3");
  EXPECT_EQ(At(jobs, 1, {"spec", "parallelism"}), "3");
  EXPECT_EQ(At(jobs, 1, {"spec", "backoffLimit"}), "0");
  const auto pod = [&](std::string_view member) {
    return At(jobs, 1, {"spec", "template", "spec", member});
  };
  EXPECT_EQ(pod("subdomain"), R"("rharness-d-1-2-0")");
  EXPECT_THAT(pod("affinity"), HasSubstr(R"("matchExpressions":[{"key":"pool")"));
  EXPECT_THAT(pod("affinity"),
              HasSubstr(R"("podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{)"
                        R"("labelSelector":{"matchLabels":)" +
                        labels + R"(},"topologyKey":"kubernetes.io/hostname"}])"));
  EXPECT_THAT(pod("containers"), HasSubstr(R"("--node","step")"));
  EXPECT_THAT(pod("containers"), HasSubstr("dispatch/2/0/ticket.json"));
  EXPECT_THAT(pod("containers"),
              HasSubstr(R"({"name":"RHARNESS_SERVICE","value":"rharness-d-1-2-0"})"));
  EXPECT_THAT(pod("containers"), HasSubstr(R"({"name":"RHARNESS_NODE","valueFrom":{)"
                                           R"("fieldRef":{"fieldPath":"spec.nodeName"}}})"));
}

// The members are those of the published CustomResourceDefinitions (kubernetes_batch.cc names
// them).
TEST(KubernetesBatch, AGangHasAPodGroupWhereTheTemplateSaysWhose) {
  std::string text = kTemplate;
  text.replace(text.find("\"labels\""), 8,
               R"("annotations": {"rharness-pod-groups": "volcano"}, "labels")");
  PodTemplate pod = Site(text);
  pod.pod_annotations = Json::MakeObject({{"scheduling.volcano.sh/queue-name", "night"}});
  const Json volcano = BuildGang(true, pod);
  ASSERT_EQ(volcano.Find("items")->AsArray().size(), 3U);
  EXPECT_EQ(At(volcano, 1, {"apiVersion"}), R"("scheduling.volcano.sh/v1beta1")");
  EXPECT_EQ(At(volcano, 1, {"kind"}), R"("PodGroup")");
  EXPECT_EQ(At(volcano, 1, {"metadata", "name"}), R"("rharness-d-1-2-0")");
  EXPECT_EQ(At(volcano, 1, {"metadata", "labels", "rharness-batch"}), R"("2")") << "to remove it";
  EXPECT_EQ(At(volcano, 1, {"spec"}), R"({"minMember":3,"queue":"night"})");
  const auto of_pods = [](const Json& jobs, std::initializer_list<std::string_view> path) {
    const Json* tmpl = FindAt(jobs.Find("items")->AsArray().back(), {"spec", "template"});
    const Json* found = FindAt(*tmpl, path);
    return found == nullptr ? "" : found->Dump();
  };
  EXPECT_EQ(of_pods(volcano, {"metadata", "annotations", "scheduling.k8s.io/group-name"}),
            R"("rharness-d-1-2-0")");
  EXPECT_EQ(of_pods(volcano, {"spec", "schedulerName"}), R"("volcano")");
  EXPECT_EQ(KindsIn(volcano),
            (std::set<std::string>{"jobs", "podgroups.scheduling.volcano.sh", "services"}));

  pod.groups = PodGroups::kSchedulerPlugins;
  const Json plugins = BuildGang(false, pod);
  ASSERT_EQ(plugins.Find("items")->AsArray().size(), 2U);
  EXPECT_EQ(At(plugins, 0, {"apiVersion"}), R"("scheduling.x-k8s.io/v1alpha1")");
  EXPECT_EQ(At(plugins, 0, {"spec"}), R"({"minMember":3})");
  EXPECT_EQ(of_pods(plugins, {"metadata", "labels", "scheduling.x-k8s.io/pod-group"}),
            R"("rharness-d-1-2-0")");
  EXPECT_EQ(of_pods(plugins, {"spec", "schedulerName"}), "") << "the site's name for it";
  EXPECT_EQ(KindsIn(plugins), (std::set<std::string>{"jobs", "podgroups.scheduling.x-k8s.io"}));
  EXPECT_EQ(KindsIn(Build(false, pod)), std::set<std::string>{"jobs"}) << "one pod is no gang";

  text.replace(text.find("\"volcano\""), 9, "\"yarn\"");
  const auto other = ParsePodTemplate(*ParseJson(text, "site.json"), "site.json");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().ToString(), HasSubstr("'yarn': expected none, volcano or"));
}

// Before 1.24 pods may have no numbers: each takes the next.
TEST(KubernetesBatch, AGangIsAJobWithoutNumbersOnAnOldServer) {
  const Json jobs = BuildGang(false);
  ASSERT_EQ(jobs.Find("items")->AsArray().size(), 1U);
  EXPECT_EQ(At(jobs, 0, {"spec", "completionMode"}), "");
  EXPECT_EQ(At(jobs, 0, {"spec", "parallelism"}), "3");
  EXPECT_EQ(At(jobs, 0, {"spec", "template", "spec", "subdomain"}), "");
  EXPECT_THAT(ContainerOf(jobs).Dump(), HasSubstr(R"("--node","next")"));
  EXPECT_THAT(At(jobs, 0, {"spec", "template", "spec", "affinity"}), HasSubstr("podAntiAffinity"));
}

TEST(KubernetesBatch, AsksForWhatTheRunNeeds) {
  const Json jobs = Build(false, Site(), 2);
  const Json& container = ContainerOf(jobs);
  EXPECT_EQ(container.Find("resources")->Find("limits")->Dump(),
            R"({"rdma/hca":"1","cpu":"3","memory":"1281Mi","nvidia.com/gpu":"2"})");
  EXPECT_EQ(container.Find("resources")->Find("requests")->Dump(),
            R"({"cpu":"3","memory":"1281Mi","nvidia.com/gpu":"2"})");
  EXPECT_EQ(container.Find("image")->AsString(), "debian@sha256:aa");
  EXPECT_EQ(TextAt(container, {"name"}), "rerun");
  EXPECT_EQ(FindAt(container, {"securityContext"})->Dump(),
            R"({"allowPrivilegeEscalation":false})");
  EXPECT_EQ(FindAt(container, {"volumeMounts"})->AsArray().size(), 1U);
  EXPECT_EQ(At(jobs, 0, {"spec", "template", "spec", "automountServiceAccountToken"}), "false");
  EXPECT_EQ(At(jobs, 0, {"spec", "template", "spec", "imagePullSecrets"}), R"([{"name":"pull"}])");
  // An hour and ten minutes, as a power of two.
  EXPECT_EQ(At(jobs, 0, {"spec", "template", "spec", "activeDeadlineSeconds"}), "7680");
}

// Terms are alternatives: what must hold is added to each.
TEST(KubernetesBatch, AsksForTheRecordedGpuAndForNoNodeThatFailed) {
  const Json jobs = Build(false, Site(), 1, {"n1", "n2"});
  const std::string affinity = At(jobs, 0, {"spec", "template", "spec", "affinity"});
  const std::string gpu =
      R"({"key":"nvidia.com/gpu.product","operator":"In","values":["NVIDIA-H100-80GB-HBM3","H100-80GB-HBM3"]})";
  const std::string nodes =
      R"("matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n1"]},{"key":"metadata.name","operator":"NotIn","values":["n2"]}])";
  EXPECT_THAT(affinity, HasSubstr(R"([{"key":"pool","operator":"Exists"},)" + gpu + "]," + nodes));
  EXPECT_THAT(affinity, HasSubstr(R"([{"key":"spare","operator":"Exists"},)" + gpu + "]," + nodes));
  EXPECT_EQ(
      At(Build(false, Site(), 0), 0, {"spec", "template", "spec", "affinity"}).find("gpu.product"),
      std::string::npos);
  std::string own = kTemplate;
  own.insert(own.find("\"volumes\""), R"("nodeSelector": {"nvidia.com/gpu.product": "L4"}, )");
  EXPECT_EQ(At(Build(false, Site(own), 1), 0, {"spec", "template", "spec", "affinity"})
                .find("gpu.product"),
            std::string::npos)
      << "the site has chosen";
}

TEST(KubernetesBatch, AsksForNoGpuByNameWhereOthersMayStandIn) {
  Ticket ticket = TicketFor(1);
  EXPECT_EQ(NeedsOf(ticket, Site())->gpu_model, "NVIDIA H100 80GB HBM3");
  ticket.substitutions = {{.recorded = "NVIDIA A100*", .here = "*", .why = "of others"}};
  EXPECT_EQ(NeedsOf(ticket, Site())->gpu_model, "NVIDIA H100 80GB HBM3");
  ticket.substitutions.push_back(
      {.recorded = "NVIDIA H100*", .here = "NVIDIA H200", .why = "same"});
  EXPECT_EQ(NeedsOf(ticket, Site())->gpu_model, "");
}

// For tests/execution/dispatch/kubernetes_manifests.py, which holds them to the schemas of
// releases.
TEST(KubernetesBatch, IsWrittenDownToBeValidated) {
  const char* out = std::getenv("RHARNESS_JOBS");
  if (out == nullptr) GTEST_SKIP() << "RHARNESS_JOBS names no folder (./dev test-kubernetes)";
  PodTemplate queued = Site();
  queued.job_labels.Set("kueue.x-k8s.io/queue-name", "night");
  const std::filesystem::path folder = out;
  ASSERT_TRUE(WriteJsonFile(folder / "indexed.json", Build(true, Site(), 1, {"n1"})).ok());
  ASSERT_TRUE(WriteJsonFile(folder / "plain.json", Build(false, Site(), 1, {"n1"})).ok());
  ASSERT_TRUE(WriteJsonFile(folder / "queued.json", Build(false, queued)).ok());
  ASSERT_TRUE(WriteJsonFile(folder / "gang.json", BuildGang(true)).ok());
  ASSERT_TRUE(WriteJsonFile(folder / "old_gang.json", BuildGang(false)).ok());
  KubernetesBatch batch{
      .number = 1, .folder = "/d/dispatch/1", .indexes = {"0"}, .tickets = {"{}"}};
  batch.needs = *NeedsOf(TicketFor(1), Site());
  ASSERT_TRUE(
      WriteJsonFile(folder / "by_log.json",
                    BuildJobs({.drill_id = "d", .program = "rharness", .evidence_in_log = true},
                              Site(), batch))
          .ok());
}

TEST(KubernetesBatch, KnowsAGpuByItsOldLabelToo) {
  EXPECT_THAT(GpuProducts("Tesla T4"), ElementsAre("Tesla-T4", "NVIDIA-Tesla-T4"));
  EXPECT_THAT(GpuProducts("NVIDIA A100-SXM4-40GB"),
              ElementsAre("NVIDIA-A100-SXM4-40GB", "A100-SXM4-40GB"));
}

TEST(KubernetesBatch, RunsARecordedImageByItsDigest) {
  Ticket ticket = TicketFor(0);
  ticket.launcher = "pod";
  ticket.manifest.image = {.kind = ImageKind::kOci,
                           .registry = "registry.example.org",
                           .repository = "ml/train",
                           .tag = "v1",
                           .digest = "sha256:" + std::string(64, 'a')};
  const auto needs = NeedsOf(ticket, Site());
  ASSERT_TRUE(needs.ok());
  EXPECT_EQ(needs->image, "registry.example.org/ml/train@sha256:" + std::string(64, 'a'));
  const Json spec = BuildPodSpec(Site(), *needs, {"x"}, {});
  EXPECT_THAT(spec.Dump(), HasSubstr(R"({"name":"RHARNESS_POD_IMAGE","value":"sha256:aaaa)"));
}

TEST(KubernetesBatch, NeedsAnImageForWhatWasRecordedInNone) {
  PodTemplate pod = Site();
  pod.container = Json::MakeObject();
  const auto needs = NeedsOf(TicketFor(0), pod);
  ASSERT_FALSE(needs.ok());
  EXPECT_THAT(needs.error().ToString(), HasSubstr("names none for such runs"));
}

// "$(" in a path is no variable.
TEST(KubernetesBatch, KeepsPathsAsTheyAre) {
  KubernetesOptions options = Options();
  options.program = "/shared/$(HOME)/rharness";
  const Json jobs = BuildJobs(options, Site(),
                              {.number = 1,
                               .folder = "/shared/$(x)/dispatch/1",
                               .indexes = {"0"},
                               .needs = *NeedsOf(TicketFor(0), Site())});
  EXPECT_THAT(ContainerOf(jobs).Find("command")->Dump(),
              HasSubstr("[\"/shared/$$(HOME)/rharness\",\"rerun\",\"/shared/$$(x)/dispatch/1/0/"));
}

TEST(KubernetesBatch, HasNamesThatAServerTakes) {
  EXPECT_EQ(DrillLabel("d-1"), "d-1");
  const std::string label = DrillLabel("20261120T080300Z-1f2e3d4c");
  EXPECT_THAT(label, HasSubstr("20261120t080300z-1f2e3d4c"));
  EXPECT_NE(DrillLabel("a_b"), DrillLabel("a.b"));
  EXPECT_NE(DrillLabel("A"), DrillLabel("a"));
  for (const std::string& id : {std::string(200, 'x'), std::string("-"), std::string("ä/../b")}) {
    const std::string name = JobName({.drill_id = id}, 99999, "999", false);
    EXPECT_LE(name.size(), 63U) << name;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos)
        << name;
  }
}

TEST(PodTemplate, SaysWhatItMayNotHave) {
  const auto error = [](const char* text) {
    const auto pod = ParsePodTemplate(*ParseJson(text, "t"), "t.yaml");
    return pod.ok() ? "" : pod.error().ToString();
  };
  EXPECT_THAT(error(R"({"kind": "Pod"})"), HasSubstr("kind PodTemplate"));
  EXPECT_THAT(error(R"({"kind": "PodTemplate"})"), HasSubstr("$.template.spec"));
  EXPECT_THAT(error(R"({"kind": "PodTemplate", "template": {"spec": {"containers": [{}, {}]}}})"),
              HasSubstr("one container"));
  EXPECT_THAT(
      error(R"({"kind": "PodTemplate", "template": {"spec": {"containers": [{"args": []}]}}})"),
      HasSubstr("containers[0].args: is given by rharness itself"));
}

TEST(PodTemplate, MountsWhatPodsMustSee) {
  EXPECT_TRUE(RequireMounted(Site(), "t", {"/shared/tonight", "/shared"}).ok());
  for (const char* path : {"/sharedness/x", "/", "/home/x"}) {
    const Status status = RequireMounted(Site(), "t", {path});
    ASSERT_FALSE(status.ok()) << path;
    EXPECT_THAT(status.error().ToString(), HasSubstr("mounts no volume at"));
  }
}

TEST(KubectlOptions, SayWhereAndNothingElse) {
  EXPECT_TRUE(CheckKubectlOption("--context=gpu").ok());
  EXPECT_TRUE(CheckKubectlOption("--namespace=ml").ok());
  for (const char* option : {"--token=secret", "--context", "--context=", "-n=ml", "delete",
                             "--raw=/", "--dry-run=client"}) {
    EXPECT_FALSE(CheckKubectlOption(option).ok()) << option;
  }
}

}  // namespace
}  // namespace rharness
