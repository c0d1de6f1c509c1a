// Notes on what in a record cannot fail: curves that show nothing, margins that nothing exceeds.
#include "harness/records/manifest/admission_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> NotesAfter(const std::function<void(Manifest&)>& change) {
  Manifest manifest = ExampleManifest();
  change(manifest);
  std::vector<std::string> notes;
  for (const Finding& note : NotesOnAdmission(manifest)) {
    notes.push_back(note.code + " " + note.subject + " " + note.message);
  }
  return notes;
}

// The example with one metric.
std::vector<std::string> NotesOnMetric(const Metric& metric) {
  return NotesAfter([&](Manifest& m) { m.metrics = {metric}; });
}

Metric MetricOf(const std::string& name, double value, const std::string& direction, double margin,
                const std::string& unit = "1") {
  Metric metric;
  metric.name = name;
  metric.value = value;
  metric.direction = *ParseMetricDirection(direction);
  metric.unit = unit;
  metric.margin = margin;
  return metric;
}

TEST(AdmissionNotes, AreNoneOfACompleteManifest) {
  EXPECT_THAT(NotesAfter([](Manifest&) {}), IsEmpty());
}

TEST(AdmissionNotes, NameArgumentsThatLookLikeSecretsWithoutRepeatingThem) {
  const auto notes = [](std::vector<std::string> command) {
    return NotesAfter([&](Manifest& m) { m.command = std::move(command); });
  };
  for (const std::vector<std::string>& passed : {std::vector<std::string>{"--api-key=hunter22"},
                                                 {"--password", "hunter22"},
                                                 {"X_TOKEN=hunter22"},
                                                 {"https://ada:hunter22@example.org/x"}}) {
    std::vector<std::string> command = {"python3", "t.py"};
    command.insert(command.end(), passed.begin(), passed.end());
    ASSERT_THAT(notes(command), ElementsAre(HasSubstr("secret_in_command $.command[")))
        << passed[0];
    EXPECT_EQ(notes(command)[0].find("hunter22"), std::string::npos);
  }
  EXPECT_THAT(notes({"python3", "t.py", "--max_tokens", "256", "--key", "loss", "--token-file=/a",
                     "--api-key", "/run/secrets/key", "--token"}),
              IsEmpty());
}

TEST(AdmissionNotes, SayThatACurveShowsNothing) {
  const auto notes = [](std::vector<double> values) {
    return NotesAfter([&](Manifest& m) { m.curves.push_back({"lr", {0, 1, 2}, values}); });
  };
  EXPECT_THAT(notes({0.1, 0.1, 0.1}),
              ElementsAre("vacuous_curve $.curves[1].values curve 'lr' never changes from 0.1: it "
                          "shows nothing, and counts neither for a rerun nor against it"));
  EXPECT_THAT(notes({0.1}), ElementsAre(HasSubstr("curve 'lr' has one point: it shows nothing")));
  EXPECT_THAT(notes({}), ElementsAre(HasSubstr("curve 'lr' has no point: it shows nothing")));
  EXPECT_THAT(notes({0.1, 0.2, 0.1}), IsEmpty());
}

TEST(AdmissionNotes, NameValuesThatAreNotFiniteWhereACurveGoesOn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(NotesAfter([&](Manifest& m) {
                m.curves[0].values = {2.3, nan, 0.03125};
              }),
              ElementsAre("non_finite_curve $.curves[0].values curve 'loss' has 1 of 3 values that "
                          "are not finite, the first at step 10; such a step shows nothing"));
  EXPECT_THAT(NotesAfter([&](Manifest& m) {
                m.curves[0].values = {2.3, 0.5, nan};
              }),
              IsEmpty())
      << "which is refused";
}

TEST(AdmissionNotes, NameAMarginThatIsLargerThanItsScale) {
  EXPECT_THAT(NotesOnMetric(MetricOf("accuracy", 0.88, "higher", 4.0)),
              ElementsAre("wide_margin $.metrics[0].margin margin 4 of 'accuracy' lets every value "
                          "pass: the metric is 0.88 on a scale from 0 to 1, and no worse value is "
                          "farther than 0.88 from it; expected a margin well below that"));
  const std::string every = "lets every value pass";
  EXPECT_THAT(NotesOnMetric(MetricOf("val_top1-acc", 0.3, "higher", 0.3)),
              ElementsAre(HasSubstr(every)));
  EXPECT_THAT(NotesOnMetric(MetricOf("EvalAccuracy", 0.3, "none", 0.7)),
              ElementsAre(HasSubstr(every)));
  EXPECT_THAT(NotesOnMetric(MetricOf("accuracy", 88.0, "higher", 90.0, "%")),
              ElementsAre(HasSubstr("on a scale from 0 to 100")));
  EXPECT_THAT(NotesOnMetric(MetricOf("missed", 10.0, "lower", 90.0, "percent")),
              ElementsAre(HasSubstr(every)));
  EXPECT_THAT(NotesOnMetric(MetricOf("dice_error", 0.25, "lower", 0.75)),
              ElementsAre(HasSubstr(every)));
}

TEST(AdmissionNotes, AreNoneOfAMarginThatSomeValueExceeds) {
  EXPECT_THAT(NotesOnMetric(MetricOf("accuracy", 0.88, "higher", 0.5)), IsEmpty());
  EXPECT_THAT(NotesOnMetric(MetricOf("accuracy", 88.0, "higher", 4.0)), IsEmpty());
  EXPECT_THAT(NotesOnMetric(MetricOf("accuracy", 0.3, "none", 0.5)), IsEmpty());
  EXPECT_THAT(NotesOnMetric(MetricOf("map_size", -3.0, "higher", 5.0)), IsEmpty());
  EXPECT_THAT(NotesOnMetric(MetricOf("reward", -12.0, "higher", 50.0)), IsEmpty());
  EXPECT_THAT(NotesOnMetric(MetricOf("latency", 10.0, "lower", 20.0, "ms")), IsEmpty());
}

TEST(AdmissionNotes, NameAMarginBesideValuesOfNoKnownScale) {
  EXPECT_THAT(NotesOnMetric(MetricOf("samples_per_second", 1000.0, "higher", 1000.0)),
              ElementsAre(HasSubstr("is no smaller than the value itself, 1000: 0 would pass")));
  EXPECT_THAT(NotesOnMetric(MetricOf("mse", 0.01, "lower", 0.5)),
              ElementsAre(HasSubstr("is 50 times the value itself, 0.01")));
}

TEST(AdmissionNotes, NameAMarginThatNoValueReaches) {
  EXPECT_THAT(
      NotesOnMetric(MetricOf("drift", 0.5, "none", 1e308)),
      ElementsAre(HasSubstr("is 1e+308 beside a value of 0.5: no plausible value is so far")));
  EXPECT_THAT(NotesOnMetric(MetricOf("reward", -12.0, "higher", 12'000.0)),
              ElementsAre(HasSubstr("no plausible value")));
  EXPECT_THAT(NotesOnMetric(MetricOf("gap", 0.0, "lower", 1000.0)),
              ElementsAre(HasSubstr("no plausible value")));
  EXPECT_THAT(NotesOnMetric(MetricOf("drift", 0.5, "none", 900.0)), IsEmpty());
}

TEST(AdmissionNotes, NameAMarginThatIsAsWideAsTheCurve) {
  // The example's loss goes from 2.3 to 0.03125: by its name, or by its end.
  const std::string wide = "is as wide as its whole curve, from 0.03125 to 2.3";
  EXPECT_THAT(NotesOnMetric(MetricOf("loss", 0.04, "lower", 2.3)), ElementsAre(HasSubstr(wide)));
  EXPECT_THAT(NotesOnMetric(MetricOf("final", 0.03125, "lower", 2.3)),
              ElementsAre(HasSubstr(wide)));
  EXPECT_THAT(NotesOnMetric(MetricOf("loss", 0.25, "lower", 2.2)), IsEmpty());
}

TEST(AdmissionNotes, SayWhereNothingCanPass) {
  const auto zero = [](bool primary) {
    return NotesAfter([&](Manifest& m) {
      m.determinism.declared = "statistical";
      m.metrics = {MetricOf("accuracy", 0.5, "higher", 0.0)};
      m.metrics[0].primary = primary;
    });
  };
  EXPECT_THAT(zero(false), ElementsAre("bad_margin $.metrics[0].margin margin 0 of 'accuracy': no "
                                       "rerun whose value differs can pass; expected a number "
                                       "above 0"));
  EXPECT_THAT(zero(true), IsEmpty()) << "which is refused";
}

// Six runs of one configuration, 0.01 apart: their standard deviation is 0.018708...
Manifest Member(int i, double margin) {
  Manifest manifest = ExampleManifest();
  manifest.run_id = "m" + std::to_string(i);
  manifest.seeds = {{"init", i}, {"shuffle", i}};
  manifest.metrics = {MetricOf("accuracy", 0.9 + 0.01 * i, "higher", margin)};
  return manifest;
}

TEST(AdmissionNotes, HoldAMarginToTheSpreadOfItsFamily) {
  AdmissionNotes notes;
  for (int i = 0; i < 6; ++i) notes.Add(Member(i, i == 0 ? 0.131 : 0.1));
  const auto wide = notes.Of(0);
  ASSERT_EQ(wide.size(), 1U);
  EXPECT_EQ(wide[0].code, "wide_margin");
  EXPECT_EQ(wide[0].message,
            "margin 0.131 of 'accuracy' is 7 standard deviations of its family (0.0187 over 6 "
            "runs): shifts that no run of it shows would pass; 3 standard deviations of the 6 runs "
            "of its family are 0.0561");
  EXPECT_THAT(notes.Of(1), IsEmpty()) << "5.3 of them";
}

TEST(AdmissionNotes, NeedThreeRunsThatDifferToKnowASpread) {
  AdmissionNotes two;
  for (int i = 0; i < 2; ++i) two.Add(Member(i, 0.5));
  EXPECT_THAT(two.Of(0), IsEmpty());
  two.Add(Member(1, 0.5));  // the same run once more is no third one
  EXPECT_THAT(two.Of(0), IsEmpty());
  AdmissionNotes equal;
  for (int i = 0; i < 5; ++i) {
    Manifest manifest = Member(i, 0.5);
    manifest.metrics[0].value = 0.9;
    equal.Add(manifest);
  }
  EXPECT_THAT(equal.Of(0), IsEmpty());
}

TEST(AdmissionNotes, TakeRunsOfTheHistoryIntoTheSpread) {
  AdmissionNotes notes;
  notes.Add(Member(0, 0.5));
  for (int i = 1; i < 6; ++i) notes.AddToSpread(Member(i, 0.1));
  ASSERT_EQ(notes.Of(0).size(), 1U);
  EXPECT_THAT(notes.Of(0)[0].message, HasSubstr("over 6 runs"));
}

TEST(AdmissionNotes, KeepConfigurationsApart) {
  AdmissionNotes notes;
  notes.Add(Member(0, 0.5));
  for (int i = 1; i < 6; ++i) {
    Manifest other = Member(i, 0.5);
    other.hyperparameters["lr"] = Json(0.2);
    notes.AddToSpread(other);
  }
  EXPECT_THAT(notes.Of(0), IsEmpty());
}

// One in ten examples more or fewer is what such a metric cannot resolve.
TEST(AdmissionNotes, LeaveAMetricItsSteps) {
  AdmissionNotes notes;
  for (int i = 0; i < 6; ++i) {
    Manifest manifest = Member(i, 0.25);
    manifest.metrics[0].quantum = 0.1;
    notes.Add(manifest);
  }
  EXPECT_THAT(notes.Of(0), IsEmpty());
}

}  // namespace
}  // namespace rharness
