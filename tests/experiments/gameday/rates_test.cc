// Counting, intervals, sentences, and certificates as JSON.
#include "harness/experiments/gameday/rates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/base/version.h"
#include "harness/drill/sensitivity_of.h"

namespace rharness {
namespace {

using testing::HasSubstr;

SensitivityRate RateOf(int found, int trials, double width = 0.3) {
  SensitivityRate rate{.name = "hyperparameter:lr*0.95", .words = "a lr 5 % lower"};
  rate.trials = trials;
  rate.found = found;
  Settle(0.95, width, 1, &rate);
  return rate;
}

TEST(Rates, WhatIsInconclusiveIsNeitherFoundNorPassed) {
  SensitivityRate rate;
  for (const Verdict verdict : kVerdicts) Count(AnswerOf(verdict), &rate);
  EXPECT_EQ(rate.trials, 6);
  EXPECT_EQ(rate.found, 3);  // drifted, not comparable, failed
  EXPECT_EQ(rate.undecided, 1);
  EXPECT_EQ(rate.not_made, 1);  // infra
  EXPECT_EQ(Together(PlantedAnswer::kPassed, PlantedAnswer::kUndecided), PlantedAnswer::kUndecided);
  EXPECT_EQ(Together(PlantedAnswer::kUndecided, PlantedAnswer::kCalled), PlantedAnswer::kCalled);
  EXPECT_EQ(Together(PlantedAnswer::kCalled, PlantedAnswer::kNotMade), PlantedAnswer::kNotMade);
}

// Expected: 1 - 0.025^(1/n) for all of n, and the tables of Clopper and Pearson (1934).
TEST(Rates, HaveTheIntervalOfClopperAndPearson) {
  const SensitivityRate all = RateOf(14, 14);
  EXPECT_NEAR(all.low, 0.768364, 1e-6);
  EXPECT_EQ(all.high, 1.0);
  EXPECT_TRUE(all.enough);
  const SensitivityRate most = RateOf(56, 60);
  EXPECT_NEAR(most.low, 0.8380, 1e-3);
  EXPECT_NEAR(most.high, 0.9815, 1e-3);
  EXPECT_EQ(Sentence(most), "a lr 5 % lower would have been found in 93 % (83-99) of 60 trials");
}

TEST(Rates, TooFewTrialsSayHowManyMore) {
  const SensitivityRate three = RateOf(3, 3);
  EXPECT_FALSE(three.enough);
  // 1 - 0.025^(1/n) <= 0.3 from n = 11.
  EXPECT_EQ(three.more, 8);
  EXPECT_EQ(RateOf(0, 0).more, 11);
  EXPECT_FALSE(RateOf(0, 0).enough);
  EXPECT_TRUE(RateOf(11, 11).enough);
  EXPECT_FALSE(RateOf(10, 10).enough);
  EXPECT_THAT(ThinSentence(three), HasSubstr("8 more runs"));
  SensitivityRate of_two = RateOf(3, 3);
  Settle(0.95, 0.3, 2, &of_two);
  EXPECT_EQ(of_two.more, 16);
}

Sensitivity Certificate(const Manifest& run) {
  Sensitivity certificate{.gameday_id = "day", .version = kVersion};
  certificate.families.push_back({.name = run.family,
                                  .family = run.family,
                                  .configuration = ConfigurationKey(run),
                                  .declared = "statistical",
                                  .tolerances = TolerancesOf(run),
                                  .runs = 14});
  certificate.families.front().faults = {RateOf(0, 14), RateOf(14, 14)};
  certificate.families.front().faults[0].words = "a lr 1 % lower";
  return certificate;
}

Manifest Margins() {
  Manifest run;
  run.run_id = "run";
  run.family = "tiny";
  run.command = {"train"};
  run.metrics = {
      {.name = "loss", .direction = MetricDirection::kLower, .primary = true, .margin = 0.1}};
  return run;
}

TEST(Certificates, AreReadAsTheyWereWrittenAndRefusedWhereTheyContradictThemselves) {
  const Sensitivity certificate = Certificate(Margins());
  const Json json = ToJson(certificate);
  const auto read = ParseSensitivity(json, "certificate.json");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(ToJson(*read).Dump(), json.Dump());
  Sensitivity wrong = certificate;
  wrong.families[0].faults[1].found = 15;
  EXPECT_FALSE(ParseSensitivity(ToJson(wrong), "c").ok());
  wrong = certificate;
  wrong.families[0].faults[1].low = 1.5;
  EXPECT_FALSE(ParseSensitivity(ToJson(wrong), "c").ok());
  EXPECT_FALSE(ParseSensitivity(Json::MakeObject(), "c").ok());
}

TEST(Certificates, SayNoMoreThanTheirTrialsDo) {
  const Sensitivity certificate = Certificate(Margins());
  const auto refusal = [](const Sensitivity& told) {
    const auto read = ParseSensitivity(ToJson(told), "c.json");
    return read.ok() ? "" : read.error().ToString();
  };
  EXPECT_EQ(refusal(certificate), "");
  // 3 of 3: 29.24 to 100 %, by Clopper and Pearson: (0.05 / 2)^(1 / 3).
  Sensitivity few = certificate;
  few.families[0].faults[1].trials = few.families[0].faults[1].found = 3;
  EXPECT_THAT(refusal(few), HasSubstr("3 of 3 trials give 0.2924 to 1; found 0.7684 to 1"));
  EXPECT_THAT(refusal(few), HasSubstr("c.json: $.families[0].faults[1]"));
  few.families[0].faults[1].low = std::cbrt(0.025);
  EXPECT_THAT(refusal(few), HasSubstr("found that it is narrow enough"));
  few.families[0].faults[1].enough = false;
  EXPECT_EQ(refusal(few), "");
  Sensitivity unsure = certificate;
  unsure.confidence = 0.5;
  EXPECT_THAT(refusal(unsure), HasSubstr("0 of 14 trials give 0 to 0.09428; found 0 to 0.2316"));
  unsure.confidence = 0.0;
  EXPECT_THAT(refusal(unsure), HasSubstr("c.json: $.confidence"));
}

Report Drilled(Verdict verdict) {
  Report report;
  ReportRun run;
  run.run_id = "run";
  run.family = "tiny";
  run.verdict = verdict;
  report.runs.push_back(run);
  return report;
}

TEST(Certificates, AreToldBesideWhatIsEquivalentAndNothingElse) {
  const Manifest run = Margins();
  DrillOptions options;
  options.certificates = {Certificate(run)};
  Report report = Drilled(Verdict::kEquivalent);
  AddSensitivity(options, {&run}, &report);
  ASSERT_EQ(report.sensitivity.size(), 1U);
  EXPECT_EQ(report.sensitivity[0].stale, "");
  EXPECT_THAT(report.sensitivity[0].source, HasSubstr("14 runs of tiny"));
  // The smallest that is found more often than not.
  EXPECT_THAT(report.runs[0].sensitivity, HasSubstr(", a lr 1 % lower in 0 %"));
  EXPECT_THAT(report.runs[0].sensitivity,
              HasSubstr("a lr 5 % lower would have been found in 100 %"));
  for (const Verdict verdict : kVerdicts) {
    if (verdict == Verdict::kEquivalent) continue;
    report = Drilled(verdict);
    AddSensitivity(options, {&run}, &report);
    EXPECT_EQ(report.runs[0].sensitivity, "") << VerdictName(verdict);
  }
}

TEST(Certificates, OfAnotherVersionConfigurationToleranceOrWayDoNotHold) {
  const Manifest run = Margins();
  const auto stale = [&](auto change, auto drill) {
    DrillOptions options;
    options.certificates = {Certificate(run)};
    change(&options.certificates.front());
    drill(&options);
    Report report = Drilled(Verdict::kEquivalent);
    AddSensitivity(options, {&run}, &report);
    EXPECT_EQ(report.sensitivity.size(), 1U);
    if (report.sensitivity.empty()) return std::string();
    EXPECT_TRUE(report.sensitivity[0].sentences.empty());
    EXPECT_THAT(report.runs[0].sensitivity, HasSubstr("does not hold"));
    return report.sensitivity[0].stale;
  };
  const auto same = [](auto*) {};
  EXPECT_THAT(stale([](Sensitivity* one) { one->version = "0.0.9"; }, same), HasSubstr("0.0.9"));
  EXPECT_THAT(stale([](Sensitivity* one) { one->families[0].tolerances = "x"; }, same),
              HasSubstr("margins"));
  EXPECT_THAT(stale([](Sensitivity* one) { one->families[0].configuration = "x"; }, same),
              HasSubstr("another configuration"));
  EXPECT_THAT(stale(same, [](DrillOptions* drill) { drill->plan.reruns = 3; }),
              HasSubstr("1 rerun a run"));
  EXPECT_THAT(stale(same, [](DrillOptions* drill) { drill->confirm = false; }),
              HasSubstr("confirm"));
  EXPECT_THAT(stale(same, [](DrillOptions* drill) { drill->plan.replicates = 3; }),
              HasSubstr("replicates"));
}

TEST(Certificates, TolerancesAreMarginsAndPromises) {
  Manifest run = Margins();
  const std::string before = TolerancesOf(run);
  run.metrics[0].value = 3.0;
  EXPECT_EQ(TolerancesOf(run), before);
  run.metrics[0].margin = 0.2;
  EXPECT_NE(TolerancesOf(run), before);
}

}  // namespace
}  // namespace rharness
