// The runner against a program whose probes misbehave on purpose.
#include "probes/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "probes/failed_cases.h"

namespace rharness {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kProgram[] = RHARNESS_BIN_DIR "/rharness-probe-selftest";

ProcessResult Ask(std::vector<std::string> arguments,
                  std::map<std::string, std::string> environment = {}) {
  arguments.insert(arguments.begin(), kProgram);
  return RunProcess({.argv = std::move(arguments), .environment = std::move(environment)});
}

// The fingerprint that the program prints.
Json Fingerprint(std::vector<std::string> arguments,
                 std::map<std::string, std::string> environment = {}) {
  arguments.insert(arguments.begin(), "run");
  const ProcessResult result = Ask(std::move(arguments), std::move(environment));
  auto json = ParseJson(result.stdout_text, "stdout");
  EXPECT_TRUE(json.ok()) << result.outcome.ToString() << result.stderr_text;
  return json.ok() ? *json : Json();
}

const Json& ProbeOf(const Json& fingerprint, std::size_t index = 0) {
  return fingerprint.Find("probes")->AsArray().at(index);
}

std::string Text(const Json& json, std::string_view key) { return json.Find(key)->AsString(); }

TEST(ProbeRunner, WritesWhatAProbeSaw) {
  const Json json = Fingerprint({"--probe", "steady", "--repeat", "2"});
  EXPECT_EQ(Text(json, "schema"), "rharness.fingerprint/v1");
  EXPECT_EQ(Text(json, "suite"), "ok");
  const Json& probe = ProbeOf(json);
  EXPECT_EQ(probe.Dump(),
            R"j({"name":"steady","family":"selftest","device":"cpu","status":"ok","message":"",)j"
            R"j("parameters":{"seed":1,"repeats":2},"choice":{"case":{"device":"cpu"}},)j"
            // printf '((0 1) 2)' | sha256sum
            R"j("tree":{"case":{"name":"sequential","leaves":3,"sha256":)j"
            R"j("c3f610da8ac533514df600c83104bba1e01de2dc803042cb3466ee9b467c66a2",)j"
            R"j("canonical":"((0 1) 2)"}},"bits":{"case":)j"
            R"j("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},)j"
            R"j("deterministic":true,"unstable":[],"counts":{"launches":7},"notes":["a note"]})j");
}

TEST(ProbeRunner, PrintsACaseThatFailedAndDoesNotEndWellWithIt) {
  const ProcessResult result = Ask({"run", "--probe", "partly"});
  EXPECT_EQ(result.outcome.exit_code, 4);
  EXPECT_THAT(result.stderr_text, HasSubstr("partly: 1 case failed, of 2 (first: bad: status 13)"));
  const auto json = ParseJson(result.stdout_text, "stdout");
  ASSERT_TRUE(json.ok());
  const Json& probe = ProbeOf(*json);
  EXPECT_EQ(Text(probe, "status"), "ok") << "the other case is an answer";
  EXPECT_EQ(probe.Find("bits")->AsObject().size(), 1U) << "a case that failed has no bits";
  EXPECT_EQ(Text(*probe.Find("choice")->Find("bad"), "failed"), "status 13");
  EXPECT_TRUE(probe.Find("deterministic")->AsBool());
}

TEST(ProbeRunner, AProbeKnowsWhenItsTimeIsUp) {
  const Json json = Fingerprint({"--probe", "timed"});
  EXPECT_NE(ProbeOf(json).Find("bits")->Find("late"), nullptr) << "0.9 of its second";
}

TEST(FailedCases, OfOneProcessAreFailedAndNotUnstable) {
  ProbeResult first, next;
  for (ProbeResult* result : {&first, &next}) {
    result->choices["a"] = Json().Set("algorithm", 1);
    result->choices["b"] = Json().Set("algorithm", 2);
    result->bits = {{"a", "1"}, {"a tile 0,0", "2"}, {"b", "3"}};
  }
  RecordFailure("a", InternalError("status 13"), &next);
  UniteFailures(&first, &next);
  EXPECT_EQ(Text(first.choices.at("a"), "failed"), "status 13");
  EXPECT_EQ(first.counts.at(kFailedCases), 1U);
  EXPECT_EQ(first.bits, (std::map<std::string, std::string>{{"b", "3"}}));
  EXPECT_EQ(next.bits, first.bits);
  EXPECT_EQ(next.choices.at("a").Dump(), first.choices.at("a").Dump());
}

TEST(ProbeRunner, NamesTheSignalOfACrash) {
  const Json json = Fingerprint({"--probe", "crash"});
  EXPECT_EQ(Text(ProbeOf(json), "status"), "crashed");
  EXPECT_EQ(Text(ProbeOf(json), "message"), "killed by SIGSEGV: about to crash");
}

TEST(ProbeRunner, KillsWhatHangs) {
  const Json json = Fingerprint({"--probe", "hang"});
  EXPECT_EQ(Text(ProbeOf(json), "status"), "timed_out");
  EXPECT_THAT(Text(ProbeOf(json), "message"), StartsWith("timed out after 1"));
}

TEST(ProbeRunner, SaysOfWhatABudgetLeftOutThatItTimedOutAndKeepsTheRest) {
  // The first takes a second, which is all of it.
  const Json json = Fingerprint({"--probe", "hang", "--probe", "steady", "--budget", "1s"});
  EXPECT_EQ(Text(ProbeOf(json, 0), "status"), "timed_out");
  EXPECT_THAT(Text(ProbeOf(json, 0), "message"), StartsWith("timed out after "));
  EXPECT_EQ(Text(ProbeOf(json, 1), "name"), "steady");
  EXPECT_EQ(Text(ProbeOf(json, 1), "status"), "timed_out");
  EXPECT_EQ(Text(ProbeOf(json, 1), "message"),
            "not run to its end: the time for all probes was up");
  const Json* seconds = json.Find("context")->Find("probe_seconds");
  ASSERT_NE(seconds, nullptr);
  EXPECT_GT(seconds->Find("hang")->ToDouble().value_or(0),
            seconds->Find("steady")->ToDouble().value_or(1e9));
}

TEST(ProbeRunner, RefusesABudgetWithoutAUnit) {
  for (const char* budget : {"90", "1x", "soon", "-1s"}) {
    const ProcessResult result = Ask({"run", "--probe", "steady", "--budget", budget}, {});
    EXPECT_EQ(result.outcome.exit_code, 2) << budget;
    EXPECT_THAT(result.stderr_text, HasSubstr("--budget: ")) << budget;
  }
  EXPECT_THAT(Ask({"run", "--budget", "90"}, {}).stderr_text,
              HasSubstr("'90' is no time; expected a number with its unit (s, m, h), such as 90s"));
  EXPECT_EQ(Ask({"run", "--probe", "steady", "--budget", "1m"}, {}).outcome.exit_code, 0);
}

TEST(ProbeRunner, TakesGarbageSilenceAndAnExitCodeForFailures) {
  const Json json = Fingerprint({"--probe", "garbage", "--probe", "silent", "--probe", "quit"});
  EXPECT_EQ(Text(ProbeOf(json, 0), "status"), "failed");
  EXPECT_THAT(Text(ProbeOf(json, 0), "message"), StartsWith("wrote no result: "));
  EXPECT_EQ(Text(ProbeOf(json, 1), "name"), "quit");
  EXPECT_EQ(Text(ProbeOf(json, 1), "message"), "exited with 3: out of luck");
  EXPECT_EQ(Text(ProbeOf(json, 2), "name"), "silent");
  EXPECT_EQ(Text(ProbeOf(json, 2), "status"), "failed");
}

TEST(ProbeRunner, GoesOnAfterAProbeThatFails) {
  const Json json = Fingerprint({"--probe", "crash", "--probe", "steady"});
  EXPECT_EQ(Text(ProbeOf(json, 0), "status"), "crashed");
  EXPECT_EQ(Text(ProbeOf(json, 1), "status"), "ok");
}

TEST(ProbeRunner, MarksTheCasesThatChangeBetweenProcesses) {
  const Json json = Fingerprint({"--probe", "alternating", "--processes", "3"});
  const Json& probe = ProbeOf(json);
  EXPECT_FALSE(probe.Find("deterministic")->AsBool());
  // "changing", and the name that each of the three processes made up.
  const Json::Array& unstable = probe.Find("unstable")->AsArray();
  ASSERT_EQ(unstable.size(), 4U);
  EXPECT_EQ(unstable[0].AsString(), "changing");
  EXPECT_THAT(unstable[3].AsString(), StartsWith("named by process "));
}

TEST(ProbeRunner, SeesNothingUnstableInOneProcess) {
  const Json json = Fingerprint({"--probe", "alternating", "--processes", "1"});
  EXPECT_TRUE(ProbeOf(json).Find("deterministic")->AsBool());
}

TEST(ProbeRunner, RefusesAProbeThatAsksAnotherQuestionEachTime) {
  const Json json = Fingerprint({"--probe", "asking"});
  EXPECT_EQ(Text(ProbeOf(json), "status"), "failed");
  EXPECT_THAT(Text(ProbeOf(json), "message"), HasSubstr("parameters differ"));
}

TEST(ProbeRunner, ReportsItselfBrokenWhenAControlIsStable) {
  EXPECT_EQ(Text(Fingerprint({"--probe", "control_alive"}), "suite"), "ok");
  EXPECT_THAT(Text(Fingerprint({"--probe", "control_dead"}), "suite"),
              AllOf(StartsWith("control_dead "), HasSubstr("cannot see non-determinism")));
  const ProcessResult result = Ask({"run", "--probe", "control_dead"});
  EXPECT_EQ(result.outcome.exit_code, 4);
  EXPECT_THAT(result.stderr_text, HasSubstr("cannot see non-determinism"));
}

TEST(ProbeRunner, ExitsWithFourOnlyWhenSomethingDidNotWork) {
  EXPECT_EQ(Ask({"run", "--probe", "steady", "--probe", "not_here"}).outcome.exit_code, 0);
  EXPECT_EQ(Ask({"run", "--probe", "not_working"}).outcome.exit_code, 4);
  EXPECT_EQ(Ask({"run", "--probe", "crash"}).outcome.exit_code, 4);
  EXPECT_EQ(Ask({"run", "--probe", "nothing_like_it"}).outcome.exit_code, 2);
  EXPECT_EQ(Ask({"run", "--device", "tpu:0"}).outcome.exit_code, 2);
  EXPECT_EQ(Ask({"run", "--device", "cuda:0"}).outcome.exit_code, 2);  // it has none
  EXPECT_EQ(Ask({"run", "--repeat", "0"}).outcome.exit_code, 2);
  EXPECT_EQ(Ask({}).outcome.exit_code, 2);
}

TEST(ProbeRunner, WritesTheFingerprintToAFile) {
  const ScopedTempDir folder = ScopedTempDir::Make("probe-").value();
  const std::string path = folder.path() / "f.json";
  const ProcessResult result = Ask({"run", "--probe", "steady", "--out", path});
  EXPECT_EQ(result.outcome.exit_code, 0);
  EXPECT_EQ(result.stdout_text, "");
  EXPECT_EQ(Text(ReadJsonFile(path).value(), "suite"), "ok");
}

TEST(ProbeRunner, PutsLibrariesAndVariablesIntoTheStack) {
  const Json json =
      Fingerprint({"--probe", "steady"}, {{"OMP_NUM_THREADS", "3"}, {"HOME", "/somewhere"}});
  const Json& stack = *json.Find("stack");
  EXPECT_EQ(stack.Find("libraries")->Dump(), R"({"libprobed.so.1":{"soname":"libprobed.so.1"}})");
  EXPECT_EQ(stack.Find("environment")->Dump(), R"({"OMP_NUM_THREADS":"3"})");
  EXPECT_EQ(stack.Find("cpu")->Find("architecture")->KindName(), "string");
}

TEST(ProbeRunner, ComparesNothingThatTellsOneTakingFromAnother) {
  const Json first = Fingerprint({"--probe", "steady"});
  const Json second = Fingerprint({"--probe", "steady"});
  EXPECT_EQ(first.Find("stack")->Dump(), second.Find("stack")->Dump());
  EXPECT_EQ(first.Find("probes")->Dump(), second.Find("probes")->Dump());
  const std::string host = Text(*first.Find("context"), "host");
  ASSERT_FALSE(host.empty());
  EXPECT_EQ(first.Find("stack")->Dump().find("\"" + host + "\""), std::string::npos);
}

TEST(ProbeRunner, ListsProbesInOrderOfNames) {
  const ProcessResult result = Ask({"list", "--json"});
  const Json json = ParseJson(result.stdout_text, "stdout").value();
  EXPECT_EQ(Text(json, "schema"), "rharness.probes/v1");
  const Json::Array& probes = json.Find("probes")->AsArray();
  ASSERT_EQ(probes.size(), 16U);
  EXPECT_EQ(Text(probes.front(), "name"), "alternating");
  EXPECT_EQ(Text(probes.back(), "name"), "timed");
  EXPECT_THAT(Ask({"list"}).stdout_text, HasSubstr("\nsteady "));
}

TEST(ProbeRunner, TakesALibraryFromTheFolderThatWasNamed) {
  const Json json = Fingerprint(
      {"--probe", "opening", "--library-path", RHARNESS_PROBED_DIR "/one", "--processes", "1"});
  const Json* library = json.Find("stack")->Find("libraries")->Find("libprobed.so.1");
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(Text(*library, "sha256").size(), 64U);
  EXPECT_EQ(library->Find("file"), nullptr);
}

// The loader would find libm.so.6 anywhere, and nobody would see that it is the system's.
TEST(ProbeRunner, RefusesAFolderThatHasNothingToTake) {
  const ScopedTempDir folder = ScopedTempDir::Make("probe-").value();
  const std::string out = folder.path() / "f.json";
  const ProcessResult empty =
      Ask({"run", "--probe", "opening", "--library-path", RHARNESS_PROBED_DIR "/one",
           "--library-path", folder.path(), "--processes", "1", "--out", out});
  EXPECT_EQ(empty.outcome.exit_code, 2);
  EXPECT_THAT(empty.stderr_text, HasSubstr("--library-path '" + folder.path().string() + "'"));
  EXPECT_FALSE(std::filesystem::exists(out));
  // Of what a Python brings, nothing need be of use.
  EXPECT_EQ(Ask({"run", "--probe", "opening", "--also-search", folder.path()}).outcome.exit_code,
            0);
}

TEST(ProbeRunner, LeavesOutWhatANameMustAskFor) {
  const auto names = [](const Json& fingerprint) {
    std::vector<std::string> all;
    for (const Json& probe : fingerprint.Find("probes")->AsArray()) {
      all.push_back(Text(probe, "name"));
    }
    return all;
  };
  const Json all = Fingerprint({"--processes", "1", "--repeat", "1"});
  EXPECT_THAT(names(all), testing::Not(testing::Contains("slow")));
  EXPECT_EQ(all.Find("context")->Find("by_name")->Dump(), R"(["slow"])");
  EXPECT_THAT(names(Fingerprint({"--probe", "s*"})), ElementsAre("silent", "slow", "steady"));
  EXPECT_THAT(Ask({"list"}).stdout_text, HasSubstr("a self-test (run by name alone)\n"));
}

TEST(ProbeResultJson, ComesBackAsItWas) {
  ProbeResult result;
  result.status = ProbeStatus::kFailed;
  result.message = "why";
  result.trees.emplace("t", SumTree::Build(4, {{2, 3}, {0, 1}, {4, 5}}).value());
  result.tree_details["t"] = Json().Set("outputs", 4);
  result.folders = {"/lib"};
  result.unstable = {"t"};
  result.counts["big"] = ~std::uint64_t{0};
  const ProbeResult back = ParseProbeResult(ToJson(result)).value();
  EXPECT_EQ(back.status, ProbeStatus::kFailed);
  EXPECT_EQ(back.trees.at("t").Canonical(), "((0 1) (2 3))");
  EXPECT_EQ(back.tree_details.at("t").Dump(), R"({"outputs":4})");
  EXPECT_THAT(back.folders, ElementsAre("/lib"));
  EXPECT_THAT(back.unstable, ElementsAre("t"));
  EXPECT_EQ(back.counts.at("big"), ~std::uint64_t{0});
}

// A probe that looks at the clock itself ends with that, too.
TEST(ProbeResultJson, ComesBackWithEveryStatusThatAProbeGives) {
  for (const ProbeStatus status :
       {ProbeStatus::kOk, ProbeStatus::kAbsent, ProbeStatus::kFailed, ProbeStatus::kTimedOut}) {
    ProbeResult result;
    result.status = status;
    const auto back = ParseProbeResult(ToJson(result));
    ASSERT_TRUE(back.ok()) << back.error().ToString();
    EXPECT_EQ(back->status, status);
  }
}

TEST(ProbeResultJson, IsReadStrictly) {
  for (const char* text :
       {R"([])", R"({})", R"({"status": "crashed", "message": ""})",
        R"({"status": "ok", "message": "", "bits": {"a": "12"}})",
        R"({"status": "ok", "message": "", "trees": {"a": {"leaves": 2, "inner": [[0, 7]]}}})",
        R"({"status": "ok", "message": "", "trees": {"a": {"leaves": -5, "inner": []}}})",
        R"({"status": "ok", "message": "", "counts": {"a": -1}})"}) {
    EXPECT_FALSE(ParseProbeResult(ParseJson(text, "text").value()).ok()) << text;
  }
}

}  // namespace
}  // namespace rharness
