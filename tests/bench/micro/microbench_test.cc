// rharness-microbench starts, and one fast row of each of its files says what it did. No time is
// asserted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/json.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

// The benchmarks that match, as its JSON says.
Json Ran(const std::string& filter) {
  const ProcessResult ran = RunProcess(
      ProcessSpec{.argv = {RHARNESS_BIN_DIR "/rharness-microbench", "--benchmark_filter=" + filter,
                           "--benchmark_min_time=0.001", "--benchmark_format=json"}});
  EXPECT_TRUE(ran.outcome.Succeeded()) << ran.stderr_text;
  const auto json = ParseJson(ran.stdout_text, "rharness-microbench");
  EXPECT_TRUE(json.ok()) << ran.stdout_text;
  return json.ok() && json->Find("benchmarks") != nullptr ? *json->Find("benchmarks") : Json();
}

double NumberOf(const Json& benchmark, std::string_view name) {
  const Json* number = benchmark.Find(name);
  return number == nullptr ? 0.0 : number->ToDouble().value_or(0.0);
}

class Microbench : public ::testing::TestWithParam<const char*> {};

TEST_P(Microbench, RunsOneRowOfEachFileAndCountsItsWork) {
  const std::string name = GetParam();
  const Json benchmarks = Ran("^" + name + "$");
  ASSERT_TRUE(benchmarks.IsArray());
  ASSERT_EQ(benchmarks.AsArray().size(), 1U);
  const Json& one = benchmarks.AsArray()[0];
  EXPECT_EQ(one.Find("name")->AsString(), name);
  EXPECT_EQ(one.Find("error_occurred"), nullptr) << one.Dump(2);
  EXPECT_GT(NumberOf(one, "bytes_per_second") + NumberOf(one, "items_per_second"), 0.0);
}
INSTANTIATE_TEST_SUITE_P(Files, Microbench,
                         ::testing::Values("sha256/two_lanes/4096", "tensors/f32",
                                           "order/test_set/100", "records/validate",
                                           "isolate/one_cause/0", "statistics/sign_flips_plain/16"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '/' ? '_' : c;
                           return name;
                         });

TEST(MicrobenchCounts, AreThoseOfTheSameSearchesEachTime) {
  const Json first = Ran("^isolate/one_cause/0$"), second = Ran("^isolate/one_cause/0$");
  ASSERT_TRUE(first.IsArray() && second.IsArray());
  const double reruns = NumberOf(first.AsArray()[0], "reruns");
  EXPECT_GT(reruns, 0.0);
  EXPECT_EQ(reruns, NumberOf(second.AsArray()[0], "reruns"));
}

}  // namespace
}  // namespace rharness
