// Which lies are told, and which silences are not.
#include "harness/records/observe/observed_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Observation Seen() {
  Observation seen;
  seen.means = {"maps", "preload", "python"};
  seen.variables_read = {"OMP_NUM_THREADS"};
  seen.inputs.emplace();
  return seen;
}

std::vector<std::string> Sentences(const DeclaredOfRun& declared, const Observation& seen) {
  std::vector<std::string> sentences;
  for (const Finding& finding : FindingsOf(declared, seen)) {
    sentences.push_back(finding.message);
  }
  return sentences;
}

TEST(FindingsOf, ASeedThatIsNotAmongThoseThatWereSetIsTold) {
  Observation seen = Seen();
  const DeclaredOfRun declared{.seeds = {{"init", 1}}};
  EXPECT_THAT(Sentences(declared, seen),
              ElementsAre("declared seed init=1, and nothing was seen to set a seed"));
  seen.seeds = {{"numpy.random.seed", {"2", "11"}},
                {"numpy.random.seed (worker)", {"12"}},
                {"torch.manual_seed", {"-1", "1.5"}}};
  EXPECT_THAT(Sentences(declared, seen),
              ElementsAre("declared seed init=1, none of the seeds that were set is 1 "
                          "(numpy.random.seed 2, 11; torch.manual_seed -1, 1.5)"));
  seen.seeds = {{"random.seed", {"2"}}, {"random.seed (worker)", {"none: drawn from the system"}}};
  const std::string drawn =
      "random.seed (worker) is drawn from without a seed: every rerun draws others";
  EXPECT_THAT(Sentences(declared, seen),
              ElementsAre(drawn,
                          "declared seed init=1, none of the seeds that were set is 1 "
                          "(random.seed 2; random.seed (worker) none: drawn from the system)"));
  seen.seeds["random.seed"] = {"[7, 1]"};
  EXPECT_THAT(Sentences(declared, seen), ElementsAre(drawn));
  seen.seeds.clear();
  seen.means.erase("python");
  EXPECT_THAT(Sentences(declared, seen), IsEmpty()) << "nobody looked";
}

TEST(FindingsOf, WhatIsLeftToChanceIsToldWithItsPlace) {
  Observation seen = Seen();
  seen.seeds = {
      {"numpy.random.default_rng",
       {"0", "none: drawn from the system (t.py:2)", "none: drawn from the system (u.py:9)"}},
      {"random.Random", {"none: drawn from the system (package urllib3/retry.py:5)"}},
      {"torch", {"none: drawn from the system"}},
      {"random.seed", {"1764250000 (the time)"}}};
  EXPECT_THAT(
      Sentences({}, seen),
      ElementsAre("numpy.random.default_rng is drawn from without a seed in t.py:2, u.py:9: every "
                  "rerun draws others",
                  "torch is drawn from without a seed: every rerun draws others",
                  "random.seed is given 1764250000 (the time): another seed in every run"));
  // The line of a place is no seed.
  EXPECT_THAT(Sentences({.seeds = {{"s", 2}}}, seen), testing::Contains(testing::HasSubstr("s=2")));
}

TEST(FindingsOf, TheSaltOfHashesIsASeedThatIsSetAndIsToldWhereItIsNot) {
  Observation seen = Seen();
  seen.flags = {{"python.hash_seed", "42"}, {"python.set_order", "t.py:4"}};
  EXPECT_THAT(Sentences({.seeds = {{"hash", 42}}}, seen), IsEmpty());
  seen.flags["python.hash_seed"] = "random";
  EXPECT_THAT(Sentences({}, seen),
              ElementsAre("Python's hashes are salted (PYTHONHASHSEED is not set), and t.py:4 goes "
                          "by the order of a set or by a hash, which differs from run to run where "
                          "that line is reached"));
  seen.flags.erase("python.set_order");
  EXPECT_THAT(Sentences({}, seen), IsEmpty()) << "nothing goes by hashes";
}

TEST(FindingsOf, ASeedForARandomStateIsNotCalledUnset) {
  Observation seen = Seen();
  seen.seeds = {{"numpy.random.default_rng", {"7"}}};
  EXPECT_EQ(Sentences({.seeds = {{"split", 42}}}, seen).size(), 1U);
  seen.flags["python.random_state"] = "t.py:3";
  EXPECT_THAT(Sentences({.seeds = {{"split", 42}}}, seen), IsEmpty());
}

TEST(FindingsOf, AFlagIsHeldToWhatWasInForce) {
  Observation seen = Seen();
  seen.flags = {{"torch.use_deterministic_algorithms", "False"}, {"jax_enable_x64", "True"}};
  EXPECT_THAT(Sentences({.flags = {{"torch.use_deterministic_algorithms", "true"},
                                   {"jax_enable_x64", "1"},
                                   {"of.nobody", "1"}}},
                        seen),
              ElementsAre("declared flag torch.use_deterministic_algorithms=true, in force at the "
                          "end: False"));
}

TEST(FindingsOf, AVariableThatNothingReadIsToldWithTheNameThatItIsNear) {
  Observation seen = Seen();
  const DeclaredOfRun declared{.flags = {{"CUBLAS_WORKSPACE_CONFIG", ":4096:8"}},
                               .variables = {"OMP_NUM_THREDS", "OMP_NUM_THREADS"}};
  EXPECT_THAT(Sentences(declared, seen),
              ElementsAre("CUBLAS_WORKSPACE_CONFIG was declared, and nothing was seen to read it",
                          "OMP_NUM_THREDS was declared, and nothing was seen to read it; "
                          "OMP_NUM_THREADS is near"));
  seen.variables_read.reset();
  EXPECT_THAT(Sentences(declared, seen), IsEmpty()) << "not every program could be looked at";
}

TEST(FindingsOf, ManyOfAKindAreCountedAndNotListed) {
  Observation seen = Seen();
  for (int i = 0; i < 30; ++i) {
    const std::string path = "d" + std::to_string(i) + "/f";
    seen.inputs->push_back({.path = path, .sha256 = "", .size_bytes = 5});
  }
  const auto sentences = Sentences({}, seen);
  ASSERT_EQ(sentences.size(), kMostFindings);
  EXPECT_EQ(sentences[0],
            "undeclared input d0/f, 5 bytes: the run read it, and it is neither data nor code");
  EXPECT_TRUE(sentences.back().ends_with("; and 22 more of this kind")) << sentences.back();
}

TEST(FindingsOf, UndeclaredFilesAreToldAFolderALineAndThoseOfLaunchersLast) {
  Observation seen = Seen();
  for (const char* name :
       {"pyenv", "pyenv-exec", "pyenv-hooks", "pyenv-latest", "pyenv-prefix", "pyenv-root",
        "pyenv-which", "pyenv-version-file", "pyenv-version-name"}) {
    seen.inputs->push_back({std::string("/srv/ada/.pyenv/libexec/") + name, "", 5});
  }
  seen.inputs->push_back({"/opt/vendor/share/table.bin", "", 7});
  seen.inputs->push_back({"/site/lib/kernel.py", std::string(64, 'a'), 9});
  EXPECT_THAT(
      Sentences({}, seen),
      ElementsAre("undeclared input /site/lib/kernel.py, sha256 " + std::string(64, 'a') +
                      ": the run read it, and it is neither data nor code",
                  "undeclared input /opt/vendor/share/table.bin, 7 bytes: the run read it, and it "
                  "is neither data nor code",
                  "undeclared inputs in /srv/ada/.pyenv/libexec: pyenv, pyenv-exec, pyenv-hooks "
                  "and 6 more: the run read them, and they are neither data nor code"));
}

TEST(FindingsOf, SeveralFilesOfTheRunsOwnFolderAreOneLine) {
  Observation seen = Seen();
  seen.inputs->push_back({"a.yaml", "", 5});
  seen.inputs->push_back({"b.yaml", "", 5});
  EXPECT_EQ(Sentences({}, seen).size(), 2U) << "two have a line each, with their digest";
  seen.inputs->push_back({"c.yaml", "", 5});
  EXPECT_THAT(Sentences({}, seen),
              ElementsAre("undeclared inputs in the run's own folder: a.yaml, b.yaml, c.yaml: the "
                          "run read them, and they are neither data nor code"));
}

}  // namespace
}  // namespace rharness
