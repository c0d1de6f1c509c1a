// The registry of methods: what it refuses, how it says so, and that nothing makes it crash or
// hang.
#include "compare/methods/methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "tests/compare/metrics/simulation.h"

namespace rharness {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Json Parse(const std::string& text) { return ParseJson(text, "inputs").value(); }

std::string ErrorOf(const std::string& method, const std::string& inputs) {
  const Result<Json> result = RunMethod(method, Parse(inputs));
  return result.ok() ? "computed " + result->Dump() : result.error().ToString();
}

TEST(Methods, AreSortedAndNamedOnce) {
  std::set<std::string> names;
  for (const Method& method : Methods()) {
    EXPECT_TRUE(names.insert(method.name).second) << method.name;
    EXPECT_FALSE(method.description.empty()) << method.name;
    EXPECT_FALSE(method.inputs.empty()) << method.name;
    EXPECT_EQ(FindMethod(method.name), &method);
  }
  EXPECT_GE(names.size(), 60u);
}

TEST(Methods, SuggestTheNearestNames) {
  EXPECT_THAT(NearestMethods("welch"), Contains("welch_t"));
  EXPECT_THAT(NearestMethods("mcnemra"), Contains("mcnemar"));
  EXPECT_EQ(RunMethod("welch", Parse("{}")).error().code, ErrorCode::kNotFound);
  EXPECT_THAT(ErrorOf("burnrate", "{}"), HasSubstr("burn_rate"));
  EXPECT_EQ(NearestMethods(std::string(100000, 'x')).size(), 3u);
}

TEST(Methods, SayWhichInputIsWrongAndWhatWasExpected) {
  EXPECT_THAT(ErrorOf("mcnemar", "{\"b\": 1}"), HasSubstr("$.c: missing; expected a whole number"));
  EXPECT_THAT(ErrorOf("mcnemar", "{\"b\": 1, \"c\": -2}"), HasSubstr("$.c: found -2; expected"));
  EXPECT_THAT(ErrorOf("mcnemar", "{\"b\": 1, \"c\": 1.5}"), HasSubstr("whole"));
  EXPECT_THAT(ErrorOf("mcnemar", "{\"b\": \"1\", \"c\": 1}"), HasSubstr("found \"1\""));
  EXPECT_THAT(ErrorOf("mcnemar", "{\"b\": 1, \"c\": 1, \"d\": 1}"), HasSubstr("$.d: no input"));
  EXPECT_THAT(ErrorOf("mcnemar", "[1, 2]"), HasSubstr("expected an object"));
  EXPECT_THAT(ErrorOf("welch_t", "{\"x\": [1, 2], \"y\": [1]}"), HasSubstr("$.y: found 1 numbers"));
  EXPECT_THAT(ErrorOf("welch_t", "{\"x\": [1, \"nan\"], \"y\": [1, 2]}"), HasSubstr("$.x[1]"));
  EXPECT_THAT(ErrorOf("multiple_testing", R"({"p": [0.1], "alpha": 0.05, "method": "best"})"),
              HasSubstr("\"bonferroni\", \"holm\", \"fdr_bh\""));
  EXPECT_THAT(ErrorOf("binomial_ci", R"({"x": 3, "n": 2, "alpha": 0.05})"), HasSubstr("$.x"));
  EXPECT_THAT(
      ErrorOf("look_schedule",
              R"({"n_hist": 3, "looks": [1, 1], "alpha_drift": 0.01, "alpha_equiv": 0.05})"),
      HasSubstr("increase"));
}

TEST(Methods, RefuseInputsThatHaveNoAnswerInsteadOfPrintingNan) {
  EXPECT_THAT(ErrorOf("welch_t", "{\"x\": [1, 1], \"y\": [1, 1]}"), HasSubstr("no finite answer"));
  EXPECT_THAT(ErrorOf("mean_sd_lag1", "{\"values\": [2, 2]}"), HasSubstr("lag1_autocorr"));
  EXPECT_THAT(ErrorOf("welch_t", "{\"x\": [1e308, -1e308], \"y\": [1, 2]}"),
              HasSubstr("no finite answer"));
  EXPECT_THAT(ErrorOf("random_effects_dl", R"({"effects": [1, 1, 1], "variances": [1, 1, 1]})"),
              HasSubstr("no finite answer"));
}

TEST(Methods, KeepTheTruncatedRandomEffectsBesideTheUntruncated) {
  const Json inputs = Parse(R"({"effects": [0.02, -0.01, 0.03, 0.0, 0.01],
                               "variances": [4e-4, 4e-4, 4e-4, 4e-4, 4e-4]})");
  EXPECT_NEAR(*RunMethod("random_effects_dl", inputs)->Find("tau2")->ToDouble(), -0.00015, 1e-12);
  const Json truncated = RunMethod("random_effects_dl_truncated", inputs).value();
  EXPECT_EQ(truncated.Find("tau2")->ToDouble(), 0.0);
  EXPECT_NEAR(*truncated.Find("se_re")->ToDouble(), std::sqrt(4e-4 / 5.0), 1e-12);
  EXPECT_NEAR(*truncated.Find("se_re_hksj")->ToDouble(), std::sqrt(0.001 / 4.0 / 5.0), 1e-12);
}

// A value of any sort for this input: often one that fits, at the ends of its range.
Json Hostile(const InputSpec& spec, NormalSource* source) {
  const auto pick = [&](std::size_t size) {
    return static_cast<std::size_t>(source->Uniform() * static_cast<double>(size));
  };
  const std::vector<double> numbers = {
      spec.range.low, spec.range.high, 0.0,     -0.0,   1.0,   -1.0,   2.0,  3.0, 0.5, 0.05,
      0.95,           0.999,           1e-300,  5e-324, 1e308, -1e308, 1e15, 1e9, 1e6, 100.0,
      10.0,           std::nan(""),    HUGE_VAL};
  const auto number = [&] {  // mostly one in range
    double value = numbers[pick(numbers.size())];
    for (int i = 0; i < 20 && source->Uniform() < 0.9 && !spec.range.Holds(value); ++i) {
      value = numbers[pick(numbers.size())];
    }
    return value;
  };
  const std::vector<Json> others = {
      Json(), "", "nan", "x", true, Json::MakeArray(), Json::MakeObject(), std::string(5000, 'y')};
  const bool fitting = source->Uniform() < 0.97;
  if (!fitting) return others[pick(others.size())];
  if (spec.kind == InputSpec::Kind::kFlag) return source->Uniform() < 0.5;
  if (spec.kind == InputSpec::Kind::kText) {
    return spec.words.empty() ? Json("label") : Json(spec.words[pick(spec.words.size())]);
  }
  if (spec.kind == InputSpec::Kind::kNumber || spec.kind == InputSpec::Kind::kCount) {
    return number();
  }
  Json list = Json::MakeArray();
  const std::size_t most = std::min<std::size_t>(spec.most, 300);
  const std::vector<std::size_t> sizes = {0, spec.fewest, spec.fewest + 1, 5, most};
  const std::size_t size = sizes[pick(sizes.size())];
  const bool tame = source->Uniform() < 0.6;
  for (std::size_t i = 0; i < size; ++i) {
    list.Append(tame ? std::min(spec.range.high, std::fabs(source->Next())) : number());
  }
  return list;
}

TEST(Methods, SurviveHostileInputsAndEndQuickly) {
  NormalSource source(401);
  int computed = 0;
  int refused = 0;
  for (const Method& method : Methods()) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 250; ++i) {
      Json inputs = Json::MakeObject();
      for (const InputSpec& spec : method.inputs) {
        if (source.Uniform() < 0.97) inputs.Set(spec.name, Hostile(spec, &source));
      }
      const Result<Json> result = RunMethod(method.name, inputs);
      ++(result.ok() ? computed : refused);
      if (result.ok()) {
        EXPECT_THAT(result->Dump(), ::testing::Not(HasSubstr("nan"))) << method.name;
        EXPECT_THAT(result->Dump(), ::testing::Not(HasSubstr("null"))) << method.name;
      } else {
        EXPECT_FALSE(result.error().message.empty());
      }
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds > 0.5) std::printf("%s took %.1f s for 250 inputs\n", method.name.c_str(), seconds);
  }
  std::printf("%d computed, %d refused\n", computed, refused);
  EXPECT_GT(computed, 2000);
  EXPECT_GT(refused, 3000);
}

TEST(Methods, RefuseListsThatArePastTheirLimitBeforeUsingThem) {
  EXPECT_THAT(
      ErrorOf("mean_sd_lag1", R"({"values": {"first": 1, "pairs": [1, 2], "npairs": 1e300}})"),
      HasSubstr("$.values"));
  Json many = Json::MakeArray();
  for (int i = 0; i < 101; ++i) many.Append(i);
  Json inputs = Json::MakeObject({{"x", many}, {"y", many}});
  EXPECT_FALSE(RunMethod("mann_whitney_exact", inputs).ok());
}

}  // namespace
}  // namespace rharness
