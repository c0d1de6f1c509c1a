// Verdicts written to servers that keep them, forget runs, refuse, fail and are slow.
#include "harness/insight/publish/mlflow_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/insight/publish/registry_world.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

WallTime Day(int day) { return WallTime(std::chrono::days(20'000 + day)); }

MlflowVerdict VerdictAt(const std::string& id, Verdict verdict, int day) {
  MlflowVerdict one;
  one.run_id = "mlflow-" + id;
  one.mlflow_id = id;
  one.verdict = verdict;
  one.decided = Day(day);
  one.timestamp_ms = one.decided.time_since_epoch().count();
  one.reproduced = verdict == Verdict::kDrifted ? 0.0 : 1.0;
  one.tags = {{kVerdictTag, std::string(VerdictName(verdict))},
              {kDrillTag, "drill-" + std::to_string(day)},
              {kDecidedTag, FormatTime(one.decided)}};
  return one;
}

class MlflowWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!FakeRegistry::CanRun()) GTEST_SKIP() << "no python3 here";
    options_.clock = &clock_;
  }
  std::vector<Published> Write(const std::vector<MlflowVerdict>& verdicts,
                               HttpLimits limits = PublishLimits(),
                               HttpCredentials credentials = {}) {
    auto client = HttpClient::Make(server_.url(), std::move(credentials), limits);
    EXPECT_TRUE(client.ok()) << client.error().ToString();
    return PublishToMlflow(&*client, verdicts, options_);
  }
  std::size_t Points(std::string_view id) const {
    return server_.At({"runs", id, "metrics"}).AsArray().size();
  }
  std::string Tag(std::string_view id, std::string_view name) const {
    const Json value = server_.At({"runs", id, "tags", name});
    return value.IsNull() ? "(none)" : value.AsString();
  }

  FakeRegistry server_;
  FakeClock clock_;
  PublishOptions options_;
};

TEST_F(MlflowWriterTest, WritesTagsAndAPointOnceHoweverOftenItIsTold) {
  server_.Start("good", RunsOfRegistry({"a"}));
  const auto verdicts = {VerdictAt("a", Verdict::kIdentical, 1)};
  const auto first = Write(verdicts);
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].state, PublishState::kWritten) << first[0].message;
  EXPECT_EQ(Tag("a", "rharness.verdict"), "identical");
  EXPECT_EQ(Points("a"), 1u);
  EXPECT_EQ(server_.At({"runs", "a", "metrics"}).AsArray()[0].Find("value")->ToDouble(), 1.0);
  const std::size_t writes = server_.Writes();
  EXPECT_EQ(Write(verdicts)[0].state, PublishState::kUnchanged);
  EXPECT_EQ(server_.Writes(), writes);
}

TEST_F(MlflowWriterTest, AddsAPointADrillAndSaysWhatATagWas) {
  server_.Start("good", RunsOfRegistry({"a"}));
  Write({VerdictAt("a", Verdict::kIdentical, 1)});
  const auto second = Write({VerdictAt("a", Verdict::kDrifted, 2)});
  EXPECT_THAT(second[0].changes, testing::Contains("rharness.verdict: drifted (was identical)"));
  EXPECT_EQ(Points("a"), 2u);
}

TEST_F(MlflowWriterTest, LeavesTheTagsOfALaterDrill) {
  server_.Start("good", RunsOfRegistry({"a"}));
  Write({VerdictAt("a", Verdict::kDrifted, 2)});
  const auto earlier = Write({VerdictAt("a", Verdict::kIdentical, 1)});
  EXPECT_THAT(earlier[0].message, HasSubstr("'drill-2' is later"));
  EXPECT_EQ(Tag("a", "rharness.verdict"), "drifted");
  EXPECT_EQ(Points("a"), 2u);
}

TEST_F(MlflowWriterTest, ChangesNothingInADryRunAndSaysWhatItWould) {
  server_.Start("good", RunsOfRegistry({"a"}));
  options_.dry_run = true;
  const auto plan = Write({VerdictAt("a", Verdict::kIdentical, 1)});
  EXPECT_EQ(plan[0].state, PublishState::kWouldWrite);
  EXPECT_THAT(plan[0].changes, testing::Contains("rharness.verdict: identical"));
  EXPECT_EQ(server_.Writes(), 0u);
}

TEST_F(MlflowWriterTest, NamesRunsThatAreGoneAndWritesTheOthers) {
  Json state = RunsOfRegistry({"a", "trash", "b"});
  Json runs = *state.Find("runs");
  Json trash = *runs.Find("trash");
  trash.Set("deleted", true);
  runs.Set("trash", trash);
  state.Set("runs", runs);
  server_.Start("good", state);
  const auto all =
      Write({VerdictAt("none", Verdict::kIdentical, 1), VerdictAt("trash", Verdict::kIdentical, 1),
             VerdictAt("a", Verdict::kIdentical, 1)});
  EXPECT_EQ(all[0].state, PublishState::kFailed);
  EXPECT_THAT(all[0].message, HasSubstr("404"));
  EXPECT_THAT(all[1].message, HasSubstr("the run was deleted there"));
  EXPECT_EQ(all[2].state, PublishState::kWritten);
  EXPECT_EQ(Tag("trash", "rharness.verdict"), "(none)");
}

TEST_F(MlflowWriterTest, TellsRunByRunWhatAFailingServerTook) {
  server_.Start("half", RunsOfRegistry({"a", "bad", "b"}));
  const auto all =
      Write({VerdictAt("a", Verdict::kIdentical, 1), VerdictAt("bad", Verdict::kIdentical, 1),
             VerdictAt("b", Verdict::kIdentical, 1)});
  EXPECT_EQ(all[0].state, PublishState::kWritten);
  EXPECT_EQ(all[1].state, PublishState::kFailed);
  EXPECT_THAT(all[1].message, HasSubstr("the server fails (500): disk full"));
  EXPECT_EQ(all[2].state, PublishState::kWritten);
}

TEST_F(MlflowWriterTest, MakesNoPointTwiceWhereTheFirstWasNotConfirmed) {
  server_.Start("unseen", RunsOfRegistry({"a"}));
  options_.attempts = 9;  // one for each request
  const auto all = Write({VerdictAt("a", Verdict::kIdentical, 1)});
  EXPECT_EQ(all[0].state, PublishState::kWritten) << all[0].message;
  EXPECT_EQ(Points("a"), 1u);
  EXPECT_EQ(Tag("a", "rharness.verdict"), "identical");
}

TEST_F(MlflowWriterTest, EndsAfterThreeRunsThatTheServerRefuses) {
  server_.Start("forbidden", RunsOfRegistry({"a", "b", "c", "d", "e"}));
  HttpCredentials credentials;
  credentials.token = "s3cret-t0ken";
  std::vector<MlflowVerdict> verdicts;
  for (const char* id : {"a", "b", "c", "d", "e"}) {
    verdicts.push_back(VerdictAt(id, Verdict::kIdentical, 1));
  }
  const auto all = Write(verdicts, PublishLimits(), credentials);
  EXPECT_THAT(all[2].message, HasSubstr("the server refuses these credentials (403)"));
  EXPECT_EQ(all[3].state, PublishState::kNotTried);
  EXPECT_EQ(all[4].state, PublishState::kNotTried);
  for (const Published& one : all) EXPECT_THAT(one.message, Not(HasSubstr("s3cret")));
}

TEST_F(MlflowWriterTest, GivesUpOnServersThatAreSlowElsewhereOrNone) {
  const auto verdicts = {VerdictAt("a", Verdict::kIdentical, 1)};
  const std::pair<const char*, const char*> cases[] = {
      {"slow", "the server did not answer in time"},
      {"redirect", "http://127.0.0.1:1/elsewhere"},
      {"html", "which is no JSON"},
      {"broken", "the server fails (500)"}};
  for (const auto& [mode, words] : cases) {
    server_.Start(mode, RunsOfRegistry({"a"}));
    HttpLimits limits = PublishLimits();
    limits.request = std::chrono::milliseconds(500);
    options_.attempts = 2;
    const auto all = Write(verdicts, limits);
    EXPECT_EQ(all[0].state, PublishState::kFailed) << mode;
    EXPECT_THAT(all[0].message, HasSubstr(words));
  }
}

Json WithVersions(Json state) {
  const Json versions = Json::MakeObject(
      {{"1", Json::MakeObject({{"run_id", "a"}})}, {"2", Json::MakeObject({{"run_id", "b"}})}});
  state.Set("models",
            Json::MakeObject({{"digits", Json::MakeObject({{"versions", versions},
                                                           {"aliases", Json::MakeObject()}})}}));
  return state;
}

TEST_F(MlflowWriterTest, SetsTheAliasOfTheNewestVersionThatReproducedAndTakesItOffOneThatDrifted) {
  server_.Start("good", WithVersions(RunsOfRegistry({"a", "b"})));
  options_.alias = "reproduced";
  const auto first =
      Write({VerdictAt("a", Verdict::kIdentical, 1), VerdictAt("b", Verdict::kEquivalent, 1)});
  ASSERT_THAT(first, SizeIs(3));
  EXPECT_THAT(first[2].changes, ElementsAre("alias reproduced: version 2"));
  EXPECT_EQ(server_.At({"models", "digits", "aliases", "reproduced"}).AsString(), "2");

  const auto older = Write({VerdictAt("a", Verdict::kIdentical, 2)});
  EXPECT_EQ(older[1].state, PublishState::kUnchanged);

  const auto drifted = Write({VerdictAt("b", Verdict::kDrifted, 3)});
  EXPECT_THAT(drifted[1].changes,
              ElementsAre("alias reproduced: taken from version 2, which drifted"));
  EXPECT_TRUE(server_.At({"models", "digits", "aliases", "reproduced"}).IsNull());

  // A drill that came before it does not bring it back.
  Write({VerdictAt("b", Verdict::kIdentical, 2)});
  EXPECT_TRUE(server_.At({"models", "digits", "aliases", "reproduced"}).IsNull());
}

}  // namespace
}  // namespace rharness
