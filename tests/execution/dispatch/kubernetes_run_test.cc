// A real Kubernetes of two nodes carries reruns out, loses them, and is found again.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "harness/execution/dispatch/kubernetes_dispatcher.h"
#include "tests/execution/dispatch/kubernetes_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Kind = AttemptEnd::Kind;

class Kubernetes : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = new KubernetesWorld; }
  static void TearDownTestSuite() { delete world_; }
  void SetUp() override {
    if (!world_->problem().empty()) GTEST_SKIP() << "no Kubernetes here: " << world_->problem();
    auto made = ScopedTempDir::Make("rharness-kubernetes-drill-");
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*made));
    fs::create_directories(folder() / "drill");
    Site("");
  }
  void TearDown() override {
    if (world_->problem().empty()) {
      KubernetesWorld::Run({"delete", "jobs", "--all", "--cascade=background", "--wait=false"});
      KubernetesWorld::Run({"delete", "pods", "--all", "--grace-period=0", "--force"});
    }
  }
  fs::path folder() const { return folder_->path(); }
  void Site(const std::string& more, const std::string& image = "localhost/base:1") const {
    ASSERT_TRUE(
        WriteFileAtomic(folder() / "site.json", KubernetesWorld::Template(folder(), more, image))
            .ok());
  }
  // Another process of the same drill.
  std::unique_ptr<KubernetesDispatcher> Make(std::vector<std::string> kubectl = {},
                                             bool by_log = false) {
    client_ = std::make_unique<KubernetesClient>(kubectl);
    auto dispatcher = std::make_unique<KubernetesDispatcher>(
        KubernetesOptions{.folder = folder() / "drill",
                          .drill_id = "test-" + folder().filename().string(),
                          .program = fs::path(RHARNESS_BIN_DIR) / "rharness",
                          .kubectl = kubectl,
                          .pod_template = folder() / "site.json",
                          .evidence_in_log = by_log},
        client_.get(), &SystemClock(),
        [this](const RerunStep& step) {
          steps_.push_back(step);
          return Status();
        },
        [this] { return stop_; });
    const Status adopted = dispatcher->Adopt();
    EXPECT_TRUE(adopted.ok()) << adopted.error().ToString();
    return dispatcher;
  }
  // Reruns "r0", "r1", ... of a shell command.
  std::vector<Attempt> Attempts(int count, const std::string& script, int cpus = 1) const {
    std::vector<Attempt> attempts;
    for (int i = 0; i < count; ++i) {
      Ticket ticket{.drill_id = "test", .launcher = "host", .places = {.root = folder()}};
      ticket.resources.cpus = cpus;
      ticket.resources.timeout_seconds = 120;
      ticket.manifest.run_id = "r" + std::to_string(i);
      ticket.manifest.image.kind = ImageKind::kHost;
      ticket.manifest.command = {"sh", "-c", script, "sh", std::to_string(i), folder().string()};
      attempts.push_back({static_cast<std::size_t>(i), std::move(ticket)});
    }
    return attempts;
  }
  static std::map<std::size_t, AttemptEnd> Ends(KubernetesDispatcher* dispatcher, std::size_t count,
                                                int seconds = 90) {
    std::map<std::size_t, AttemptEnd> ends;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (ends.size() < count && std::chrono::steady_clock::now() < until) {
      auto some = dispatcher->Wait(std::chrono::milliseconds(100));
      EXPECT_TRUE(some.ok()) << some.error().ToString();
      if (!some.ok()) break;
      for (AttemptEnd& end : *some) {
        const std::size_t index = end.index;
        EXPECT_TRUE(ends.emplace(index, std::move(end)).second) << "twice: " << index;
      }
    }
    EXPECT_EQ(ends.size(), count);
    return ends;
  }
  // How often runs wrote a line into the file "started".
  std::size_t Starts() const {
    const auto text = ReadFile(folder() / "started");
    return text.ok() ? static_cast<std::size_t>(std::ranges::count(*text, '\n')) : 0;
  }
  bool AwaitStarts(std::size_t count) const {
    for (int i = 0; i < 600 && Starts() < count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return Starts() == count;
  }

  static KubernetesWorld* world_;
  std::unique_ptr<ScopedTempDir> folder_;
  std::unique_ptr<KubernetesClient> client_;
  std::vector<RerunStep> steps_;
  bool stop_ = false;
};
KubernetesWorld* Kubernetes::world_ = nullptr;

TEST_F(Kubernetes, CarriesRerunsOutAndBringsTheirEvidenceHome) {
  auto dispatcher = Make();
  auto attempts = Attempts(6, "echo run $1; test $1 != 3");
  ASSERT_TRUE(dispatcher->Submit(attempts).ok());
  for (const auto& [index, end] : Ends(dispatcher.get(), 6)) {
    const Ticket& ticket = attempts[index].ticket;
    EXPECT_EQ(end.kind, index == 3 ? Kind::kCutShort : Kind::kFinal) << end.evidence.obstacle;
    EXPECT_EQ(end.evidence.ticket_sha256, TicketSha256(ticket));
    const fs::path home = folder() / "drill/runs" / ticket.run_id() / "1";
    EXPECT_EQ(*ReadFile(home / "stdout.log"), "run " + std::to_string(index) + "\n");
  }
  EXPECT_EQ(steps_.size(), 6U) << "a run that fails is an answer, too";
  EXPECT_EQ(KubernetesWorld::Run({"get", "jobs", "-o", "name"}), "") << "nothing is left behind";
}

// The pods see nothing of this folder; what the runs print is longer than a line of a log may be.
TEST_F(Kubernetes, BringsEvidenceHomeInTheLogsOfPodsThatShareNoVolume) {
  fs::create_directories(folder() / "site");
  ASSERT_TRUE(WriteFileAtomic(folder() / "site.json",
                              KubernetesWorld::Template(folder() / "site", "", "localhost/base:1"))
                  .ok());
  auto dispatcher = Make({}, true);
  auto attempts = Attempts(
      3, "i=0; while [ $i -lt 3000 ]; do echo \"run $1 line $i\"; i=$((i+1)); done; test $1 != 2");
  for (Attempt& attempt : attempts) attempt.ticket.places.root = "/";
  ASSERT_TRUE(dispatcher->Submit(attempts).ok());
  for (const auto& [index, end] : Ends(dispatcher.get(), 3)) {
    EXPECT_EQ(end.kind, index == 2 ? Kind::kCutShort : Kind::kFinal) << end.evidence.obstacle;
    EXPECT_EQ(end.evidence.ticket_sha256, TicketSha256(attempts[index].ticket));
    const fs::path home = folder() / "drill/runs" / attempts[index].ticket.run_id() / "1";
    const auto text = ReadFile(home / "stdout.log");
    const std::string printed = text.ok() ? *text : "";
    EXPECT_EQ(std::ranges::count(printed, '\n'), 3000);
    EXPECT_THAT(printed, testing::EndsWith(fmt::format("run {} line 2999\n", index)));
  }
  EXPECT_EQ(steps_.size(), 3U);
  EXPECT_EQ(KubernetesWorld::Run({"get", "jobs", "-o", "name"}), "");
  EXPECT_THAT(KubernetesWorld::Run({"get", "secrets", "-o", "name"}),
              testing::Not(HasSubstr("rharness")));
}

TEST_F(Kubernetes, FindsWhatAnEarlierProcessSubmitted) {
  const auto attempts = Attempts(3, "echo >> $2/started; sleep 3; echo $1");
  ASSERT_TRUE(Make()->Submit(attempts).ok());
  // As if it had been killed before the server's word was on disk.
  fs::remove(folder() / "drill/dispatch/1/submitted");
  ASSERT_TRUE(AwaitStarts(3));
  auto dispatcher = Make();
  ASSERT_TRUE(dispatcher->Submit(attempts).ok());
  for (const auto& [index, end] : Ends(dispatcher.get(), 3)) EXPECT_EQ(end.kind, Kind::kFinal);
  EXPECT_EQ(Starts(), 3U) << "none was started again";
}

TEST_F(Kubernetes, TellsWithinAMinuteWhatWillNeverRun) {
  struct Case {
    const char* name;
    std::string more;
    std::string image;
    int cpus;
    const char* why;
  };
  for (const Case& one : std::vector<Case>{
           {"image", "", "127.0.0.1:1/nope:1", 1, "127.0.0.1:1/nope:1 is not available on"},
           {"selector", R"("nodeSelector": {"no": "such"})", "localhost/base:1", 1, "didn't match"},
           {"cpus", "", "localhost/base:1", 4000, "Insufficient cpu"}}) {
    Site(one.more, one.image);
    auto dispatcher = Make();
    ASSERT_TRUE(dispatcher->Submit(Attempts(1, "true", one.cpus)).ok());
    const auto ends = Ends(dispatcher.get(), 1, 60);
    ASSERT_EQ(ends.size(), 1U) << one.name;
    EXPECT_THAT(ends.at(0).evidence.obstacle, HasSubstr(one.why)) << one.name;
    fs::remove_all(folder() / "drill");
  }
}

TEST_F(Kubernetes, TellsWithinAMinuteThatANodeDoesNotSeeAVolume) {
  std::string site = KubernetesWorld::Template(folder());
  const std::string path = R"("hostPath": {"path": ")" + folder().string() + "\"";
  site.replace(site.find(path), path.size(),
               R"("hostPath": {"type": "Directory", "path": "/no/such/folder")");
  ASSERT_TRUE(WriteFileAtomic(folder() / "site.json", site).ok());
  auto dispatcher = Make();
  ASSERT_TRUE(dispatcher->Submit(Attempts(1, "true")).ok());
  const auto ends = Ends(dispatcher.get(), 1, 60);
  EXPECT_EQ(ends.at(0).kind, Kind::kInfrastructure);
  EXPECT_THAT(ends.at(0).evidence.obstacle, HasSubstr("/no/such/folder is not a directory"));
}

// The pods see another folder under that name.
TEST_F(Kubernetes, TellsAtOnceThatPodsSeeAnotherFolder) {
  std::string site = KubernetesWorld::Template(folder());
  const std::string path = R"("hostPath": {"path": ")" + folder().string() + "\"}";
  site.replace(site.find(path), path.size(), R"("emptyDir": {})");
  ASSERT_TRUE(WriteFileAtomic(folder() / "site.json", site).ok());
  auto dispatcher = Make();
  ASSERT_TRUE(dispatcher->Submit(Attempts(1, "true")).ok());
  const auto ends = Ends(dispatcher.get(), 1, 60);
  EXPECT_EQ(ends.at(0).kind, Kind::kCutShort);
  EXPECT_THAT(ends.at(0).evidence.obstacle, HasSubstr("does not see the folder of the drill"));
}

TEST_F(Kubernetes, TellsAtOnceThatANamespaceIsNotThere) {
  auto dispatcher = Make({"--namespace=nope"});
  ASSERT_TRUE(dispatcher->Submit(Attempts(1, "true")).ok());
  const auto ends = Ends(dispatcher.get(), 1, 10);
  EXPECT_EQ(ends.at(0).kind, Kind::kCutShort);
  EXPECT_THAT(ends.at(0).evidence.obstacle, HasSubstr("namespaces \"nope\" not found"));
}

TEST_F(Kubernetes, WaitsForAServerThatIsDown) {
  auto dispatcher = Make();
  ASSERT_TRUE(dispatcher->Submit(Attempts(2, "echo >> $2/started; sleep 4")).ok());
  ASSERT_TRUE(AwaitStarts(2));
  world_->Do("end", "apiserver");
  EXPECT_TRUE(Ends(dispatcher.get(), 0, 1).empty());
  for (int i = 0; i < 100; ++i) {
    const auto some = dispatcher->Wait(std::chrono::milliseconds(100));
    ASSERT_TRUE(some.ok());
    ASSERT_TRUE(some->empty());
  }
  world_->Do("serve", "apiserver");
  for (const auto& [index, end] : Ends(dispatcher.get(), 2)) EXPECT_EQ(end.kind, Kind::kFinal);
  EXPECT_EQ(Starts(), 2U);
}

TEST_F(Kubernetes, TriesAgainWhatSomebodyElseDeleted) {
  auto dispatcher = Make();
  ASSERT_TRUE(dispatcher->Submit(Attempts(1, "echo >> $2/started; sleep 100")).ok());
  ASSERT_TRUE(AwaitStarts(1));
  KubernetesWorld::Run({"delete", "pods", "--all", "--wait=false"});
  const auto ends = Ends(dispatcher.get(), 1);
  EXPECT_EQ(ends.at(0).kind, Kind::kInfrastructure);
  // By what it left, or by the pod that came in its place, whichever is seen first; or by a minute
  // in which a busy node did not end it.
  EXPECT_THAT(ends.at(0).evidence.obstacle,
              testing::AnyOf(HasSubstr("not by this drill"), HasSubstr("which somebody deleted"),
                             HasSubstr("its pod was told to end, and its node does not say")));
  EXPECT_EQ(Starts(), 1U) << "the pod that came in its place found it claimed";
  EXPECT_TRUE(steps_.empty());
}

TEST_F(Kubernetes, CancelsWhatRuns) {
  auto dispatcher = Make();
  ASSERT_TRUE(dispatcher->Submit(Attempts(1, "echo >> $2/started; sleep 100")).ok());
  ASSERT_TRUE(AwaitStarts(1));
  stop_ = true;
  const auto ends = Ends(dispatcher.get(), 1);
  EXPECT_EQ(ends.at(0).kind, Kind::kCutShort);
  EXPECT_EQ(ends.at(0).evidence.outcome.kind, OutcomeKind::kCancelled);
  EXPECT_TRUE(steps_.empty()) << "a drill that goes on does it again";
}

// Last: it takes a node away for good.
TEST_F(Kubernetes, ZTriesOnAnotherNodeWhatLostItsPower) {
  auto dispatcher = Make();
  auto attempts = Attempts(1, "echo >> $2/started; test $(wc -l < $2/started) = 2 || sleep 300");
  ASSERT_TRUE(dispatcher->Submit(attempts).ok());
  ASSERT_TRUE(AwaitStarts(1));
  const std::string node =
      KubernetesWorld::Run({"get", "pods", "-o", "jsonpath={.items[0].spec.nodeName}"});
  world_->Do("lose", node);
  const auto ends = Ends(dispatcher.get(), 1, 240);
  EXPECT_EQ(ends.at(0).kind, Kind::kInfrastructure);
  EXPECT_THAT(ends.at(0).evidence.obstacle, HasSubstr(node));
  attempts[0].ticket.attempt = 2;
  ASSERT_TRUE(dispatcher->Submit(attempts).ok());
  EXPECT_THAT(*ReadFile(folder() / "drill/dispatch/2/jobs.json"), HasSubstr("\"NotIn\""));
  EXPECT_EQ(Ends(dispatcher.get(), 1).at(0).kind, Kind::kFinal);
}

}  // namespace
}  // namespace rharness
