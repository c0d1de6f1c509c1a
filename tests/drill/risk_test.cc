// The three parts of a risk against numbers worked out by hand.
#include "harness/drill/risk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

void SetVersion(const std::string& name, const std::string& version, Environment* environment) {
  PackageList& list = environment->packages["dpkg"];
  PackageMap packages(list.begin(), list.end());
  packages.at(name).version = version;
  list = PackageList(std::move(packages));
}

using std::chrono::days;
using std::chrono::hours;
using testing::ElementsAre;
using testing::IsEmpty;

WallTime Today() { return ParseTime("2026-11-20T12:00:00Z").value(); }

HistoryEntry RunOfLlama() {
  HistoryEntry entry;
  entry.run_id = "run-7";
  entry.family = "llama-8b";
  entry.declared = "bitwise";
  entry.started = Today() - days(400);
  entry.verified = Today() - days(40);
  entry.judged = entry.verified;
  entry.last_verdict = Verdict::kEquivalent;
  return entry;
}

Environment Node() {
  Environment node;
  node.software = {{"os", "Debian 12"}, {"kernel", "6.1"}, {"glibc", "2.36"}};
  node.hardware.cpu = {
      .architecture = "x86_64", .model = "EPYC 9654", .microcode = "0xa1", .isa = {"avx", "avx2"}};
  node.hardware.gpus.resize(2);
  for (Gpu& gpu : node.hardware.gpus) gpu = {.model = "A100", .memory_bytes = 40ull << 30};
  node.hardware.gpu_driver = "535.1";
  node.packages["dpkg"] = {{"libblas:amd64", {"3.11", PackageUse::kUsed}},
                           {"vim:amd64", {"9.0", PackageUse::kNotUsed}}};
  return node;
}

TEST(Risk, IsAgeTimesStakeTimesDoubt) {
  const Stake stake{.runs = "family ~ llama*", .stake = 10, .where = "p.yaml:3"};
  EnvironmentChange change{.changed = {"kernel 6.1 -> 6.8"}, .not_known = {"packages"}};
  const RunRisk risk = RiskOf(RunOfLlama(), &stake, change, Today());
  EXPECT_EQ(risk.age_days, 40.0);
  EXPECT_EQ(risk.doubt, 2.5);
  EXPECT_EQ(risk.risk_days, 1000.0);
  EXPECT_EQ(
      DescribeRisk(risk),
      "run-7: risk 1000 = age 40 days × stakes 10 × doubt 2.5: last verified 2026-10-11; "
      "stakes: family ~ llama* (p.yaml:3); changed since: kernel 6.1 -> 6.8; not known: packages");
}

TEST(Risk, CountsARunThatWasNeverVerifiedFromItsRecording) {
  HistoryEntry entry = RunOfLlama();
  entry.verified.reset();
  entry.judged.reset();
  const RunRisk risk = RiskOf(entry, nullptr, NothingKnown(), Today());
  EXPECT_EQ(risk.age_days, 400.0);
  EXPECT_EQ(risk.stake, 1.0);
  EXPECT_EQ(risk.doubt, 3.5);
  EXPECT_EQ(risk.age_words, "never verified, recorded 2025-10-16");
  entry.started = Today() + hours(1);  // another machine's clock
  EXPECT_EQ(AgeDays(entry, Today()), 0.0);
}

TEST(Risk, LetsARunThatReachesNoDecisionWait) {
  HistoryEntry entry = RunOfLlama();
  entry.judged = Today() - days(1);
  entry.last_verdict = Verdict::kInconclusive;
  EXPECT_EQ(AgeDays(entry, Today()), 10.0);
  EXPECT_EQ(RiskOf(entry, nullptr, {}, Today()).age_words,
            "last verified 2026-10-11, undecided (inconclusive) 2026-11-19");
  entry.judged = Today() - days(39);
  EXPECT_EQ(AgeDays(entry, Today()), 40.0) << "never older than it is";
}

TEST(Risk, IsTheSameAfterWritingAndReading) {
  const Stake stake{.runs = "declared = bitwise", .stake = 2.5, .where = "p.yaml:3"};
  const RunRisk risk =
      RiskOf(RunOfLlama(), &stake, {.changed = {"a"}, .not_known = {"b", "c"}}, Today());
  RunRisk read;
  const Json json = ToJson(risk);
  JsonReader reader(json, "risk");
  ReadRunRisk(reader, &read);
  EXPECT_TRUE(reader.status().ok());
  EXPECT_EQ(ToJson(read).Dump(), ToJson(risk).Dump());
  EXPECT_EQ(DescribeRisk(read), DescribeRisk(risk));
}

TEST(Stakes, TheFirstThatHoldsCounts) {
  const auto stakes = Stakes::Parse({{"declared = statistical", 3, "p.yaml:3"},
                                     {"family ~ llama*", 10, "p.yaml:4"},
                                     {"run_id = run-7", 99, "p.yaml:5"}});
  ASSERT_TRUE(stakes.ok());
  EXPECT_EQ(stakes->Of(RunOfLlama(), Today())->stake, 10);
  HistoryEntry other = RunOfLlama();
  other.family = "resnet";
  other.run_id = "run-8";
  EXPECT_EQ(stakes->Of(other, Today()), nullptr);
}

TEST(Stakes, AMistakeIsNamedByFileAndLine) {
  const auto stakes = Stakes::Parse({{"famly = x", 3, "p.yaml:3"}});
  ASSERT_FALSE(stakes.ok());
  EXPECT_EQ(stakes.error().where, "p.yaml:3");
  EXPECT_THAT(stakes.error().message, testing::HasSubstr("did you mean 'family'"));
}

TEST(CompareEnvironments, FindsNothingWhereNothingChanged) {
  Environment now = Node();
  SetVersion("vim:amd64", "9.1", &now);  // no process of the run used it
  now.hardware.gpus[0].uuid = "GPU-another-of-its-kind";
  now.software["nccl"] = "2.20";  // what a run itself tells
  const EnvironmentChange change = CompareEnvironments(Node(), now, false);
  EXPECT_THAT(change.changed, IsEmpty());
  EXPECT_THAT(change.not_known, IsEmpty());
  EXPECT_EQ(change.Doubt(), 1.0);
}

TEST(CompareEnvironments, CountsEachOfTheFiveKindsOnce) {
  Environment now = Node();
  now.software["kernel"] = "6.8";
  now.software["glibc"] = "2.39";
  now.hardware.cpu.microcode = "0xb2";
  now.hardware.cpu.isa = {"avx", "avx512f"};
  now.hardware.gpus.pop_back();
  now.hardware.gpu_driver = "550.2";
  SetVersion("libblas:amd64", "3.12", &now);
  const EnvironmentChange change = CompareEnvironments(Node(), now, false);
  EXPECT_THAT(
      change.changed,
      ElementsAre("GPUs 2 x A100 (40 GiB) -> 1 x A100 (40 GiB)", "GPU driver 535.1 -> 550.2",
                  "microcode 0xa1 -> 0xb2, instruction sets as recorded -> without avx2, "
                  "with avx512f",
                  "kernel 6.1 -> 6.8, glibc 2.36 -> 2.39",
                  "1 package in use, first libblas:amd64 3.11 -> 3.12"));
  EXPECT_EQ(change.Doubt(), 6.0);
}

TEST(CompareEnvironments, TakesWhatIsAbsentForNotKnown) {
  Environment now = Node();
  now.software.clear();
  now.hardware.cpu = {};
  now.hardware.gpu_driver.clear();
  now.packages.clear();
  const EnvironmentChange change = CompareEnvironments(Node(), now, false);
  EXPECT_THAT(change.changed, IsEmpty());
  EXPECT_THAT(change.not_known, ElementsAre("GPU driver", "CPU", "system", "packages"));
  EXPECT_EQ(change.Doubt(), 3.0);
}

TEST(CompareEnvironments, LeavesOutWhatDoesNotConcernTheRun) {
  Environment then = Node();
  then.hardware.gpus.clear();  // of a node without any
  then.hardware.gpu_driver.clear();
  then.packages.clear();
  then.software = {{"kernel", "6.1"}};  // of a container: the host's own are left out
  Environment now = Node();
  now.software["os"] = "Debian 13";
  EXPECT_EQ(CompareEnvironments(then, now, true).Doubt(), 1.0);
  EXPECT_THAT(CompareEnvironments(then, now, false).not_known, ElementsAre("packages"));
}

TEST(Risk, DoubtsMoreWhatMaySoonNotBeRerun) {
  HistoryEntry entry;
  entry.run_id = "a";
  const auto doubt = [&](std::optional<PartState> rebuild) {
    entry.rebuild = rebuild;
    return RiskOf(entry, nullptr, {}, WallTime{}).doubt;
  };
  EXPECT_EQ(doubt(std::nullopt), 1.0);
  EXPECT_EQ(doubt(PartState::kHad), 1.0);
  EXPECT_EQ(doubt(PartState::kUnknown), 1.5);
  EXPECT_EQ(doubt(PartState::kGone), 2.0);
}

}  // namespace
}  // namespace rharness
