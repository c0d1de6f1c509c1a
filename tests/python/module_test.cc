// The Python module: what a run writes with it, and what the programs make of that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/python/module_program.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;

TEST_F(PythonModule, WritesEachNumberToItsLastBit) {
  const ProcessResult ran = Run(R"(import rharness
with rharness.run() as run:
    run.metric("sum", 0.1 + 0.2)
    run.metric("least", 5e-324)
    run.metric("none", float("nan"))
    run.metric("most", float("-inf"))
    run.metric("loss", 2, step=10)
    run.metric("loss", 3, step=5)
    run.metric("loss", 1, step=10)
    run.curve("by index", [1.5, 2.5])
    run.curve("by step", [4, 3], steps=[7, 9])
    run.software("engine", "1.2")
)");
  ASSERT_TRUE(ran.outcome.Succeeded()) << ran.stderr_text;
  const RunMetrics read = Written();
  EXPECT_EQ(read.metrics.at("sum"), 0.1 + 0.2);
  EXPECT_EQ(read.metrics.at("least"), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::isnan(read.metrics.at("none")));
  EXPECT_EQ(read.metrics.at("most"), -std::numeric_limits<double>::infinity());
  ASSERT_EQ(read.curves.size(), 3U);
  std::map<std::string, Curve> curves;
  for (const Curve& curve : read.curves) curves[curve.name] = curve;
  EXPECT_THAT(curves["loss"].steps, ElementsAre(5, 10));
  EXPECT_THAT(curves["loss"].values, ElementsAre(3, 1)) << "the later value at one step counts";
  EXPECT_THAT(curves["by index"].steps, ElementsAre(0, 1));
  EXPECT_THAT(curves["by step"].steps, ElementsAre(7, 9));
  EXPECT_THAT(read.software, Contains(Pair("engine", "1.2")));
  EXPECT_TRUE(fs::exists(base_ / "metrics.json"));
  EXPECT_EQ(std::distance(fs::directory_iterator(base_), fs::directory_iterator()), 2)
      << "train.py and metrics.json, and nothing of how it was written";
}

TEST_F(PythonModule, RefusesWhatIsNoNumberAndNoStep) {
  const ProcessResult ran = Run(R"(import rharness
run = rharness.Run()
for call in (lambda: run.metric("a", "high"), lambda: run.metric("a", None),
             lambda: run.metric("a", 1, step=0.5), lambda: run.curve("a", [1, 2], steps=[1])):
    try:
        call()
    except (TypeError, ValueError):
        print("refused")
)");
  EXPECT_EQ(ran.stdout_text, "refused\nrefused\nrefused\nrefused\n") << ran.stderr_text;
}

TEST_F(PythonModule, KeepsWhatAFailedRunMeasuredAndItsFailure) {
  const ProcessResult ran = Run(R"(import rharness
with rharness.run("out/metrics.json") as run:
    run.metric("loss", 1, step=1)
    raise SystemExit(7)
)");
  EXPECT_EQ(ran.outcome.exit_code, 7);
  EXPECT_EQ(Written("out/metrics.json").curves.size(), 1U);
}

TEST_F(PythonModule, WritesInTheFirstProcessOfAGroupAlone) {
  const std::string program = R"(import rharness
with rharness.run() as run:
    run.metric("loss", 1)
)";
  ASSERT_TRUE(Run(program, {{"RANK", "1"}}).outcome.Succeeded());
  EXPECT_FALSE(fs::exists(base_ / "metrics.json"));
  ASSERT_TRUE(Run(program, {{"RANK", "0"}}).outcome.Succeeded());
  EXPECT_TRUE(fs::exists(base_ / "metrics.json"));
}

TEST_F(PythonModule, ImportsTheStandardLibraryAlone) {
  const ProcessResult ran = Run(R"(import sys
before = set(sys.modules)
import rharness
known = getattr(sys, "stdlib_module_names", set())
print([name for name in set(sys.modules) - before
       if known and name.split(".")[0] not in known | {"rharness"} and not name.startswith("_")])
)");
  EXPECT_EQ(ran.stdout_text, "[]\n") << ran.stderr_text;
}

TEST_F(PythonModule, TellsStatesThatHaveDrawnApartAndDrawsNothing) {
  const ProcessResult ran = Run(R"(import random, rharness
random.seed(1)
first = rharness.states()["random"]
again = rharness.states()["random"]
drawn = random.random()
after = rharness.states()["random"]
random.seed(1)
assert random.random() == drawn
print(first == again, first == after, len(first))
)");
  EXPECT_EQ(ran.stdout_text, "True False 16\n") << ran.stderr_text;
}

TEST_F(PythonModule, BecomesTheProgramAndCallsIt) {
  auto variables = Variables();
  const ProcessResult became =
      Execute({python_, "-m", "rharness", "compare", "no", "files"}, base_, variables);
  EXPECT_EQ(became.outcome.exit_code, 2) << "as the program ends";
  const ProcessResult called = Run(R"(import rharness
done = rharness.command("--version")
print(done.returncode, done.stdout.strip() == rharness.__version__, rharness.program())
)");
  EXPECT_EQ(called.stdout_text, "0 True " RHARNESS_BIN_DIR "/rharness\n") << called.stderr_text;
  variables["RHARNESS_PROGRAM"] = (base_ / "nothing").string();
  const ProcessResult missing = Execute({python_, "-m", "rharness"}, base_, variables);
  EXPECT_EQ(missing.outcome.exit_code, 4);
  EXPECT_THAT(missing.stderr_text, HasSubstr((base_ / "nothing").string()));
}

constexpr char kNoted[] = R"(import random, sys, rharness
random.seed(1)
with rharness.run() as run:
    run.note("loader.workers", 4)
    run.seed("shuffle", 7)
    run.metric("accuracy", random.random())
    if len(sys.argv) > 1:
        random.random()
    run.states("end")
)";

TEST_F(PythonModule, HandsSeedsAndStatesToARecordWithHooks) {
  Write("train.py", kNoted);
  for (const std::string name : {"a", "b"}) {
    std::vector<std::string> argv = {RHARNESS_BIN_DIR "/rharness",
                                     "--quiet",
                                     "record",
                                     "--out",
                                     name + ".json",
                                     "--family",
                                     "noted",
                                     "--code-file",
                                     "train.py",
                                     "--python-hooks",
                                     "--metrics",
                                     "auto",
                                     "--metric",
                                     "accuracy,direction=higher,margin=0.01,primary",
                                     "--seed",
                                     "init=1",
                                     "--",
                                     python_,
                                     "train.py"};
    if (name == "b") argv.emplace_back("more");
    const ProcessResult result = Execute(argv, base_, Variables());
    ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  }
  const auto manifest = LoadManifest(base_ / "a.json");
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString();
  ASSERT_TRUE(manifest->observation);
  EXPECT_THAT(manifest->observation->seeds, Contains(Pair("shuffle", ElementsAre("7"))));
  EXPECT_THAT(manifest->observation->flags, Contains(Pair("loader.workers", "4")));
  EXPECT_THAT(manifest->observation->flags, Contains(Key("state.random.end")));
  // The second run drew once more: the records say so.
  const ProcessResult compared =
      Execute({RHARNESS_BIN_DIR "/rharness", "compare", "a.json", "b.json", "--json"}, base_);
  EXPECT_THAT(compared.stdout_text, HasSubstr("\"flag.state.random.end\"")) << compared.stderr_text;
}

}  // namespace
}  // namespace rharness
