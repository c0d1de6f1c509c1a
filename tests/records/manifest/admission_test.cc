// Admission: each rule broken alone gives its finding, at its path, and nothing else.
#include "harness/records/manifest/admission.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

std::vector<std::string> FindingsAfter(const std::function<void(Manifest&)>& change) {
  Manifest manifest = ExampleManifest();
  change(manifest);
  std::vector<std::string> findings;
  for (const Finding& finding : Admit(manifest)) {
    EXPECT_FALSE(finding.message.empty());
    findings.push_back(finding.code + " " + finding.subject);
  }
  return findings;
}

struct Rule {
  std::string expected;  // code and path
  std::function<void(Manifest&)> break_it;
};

void ExpectEachAlone(const std::vector<Rule>& rules) {
  for (const Rule& rule : rules) {
    EXPECT_EQ(FindingsAfter(rule.break_it), std::vector<std::string>{rule.expected});
  }
}

Metric MetricOf(std::string name) {
  Metric metric;
  metric.name = std::move(name);
  metric.unit = "1";
  return metric;
}

TEST(Admission, AdmitsACompleteManifest) {
  EXPECT_EQ(FindingsAfter([](Manifest&) {}), std::vector<std::string>{});
}

TEST(Admission, RefusesARunWhoseInputChangedUnderIt) {
  ExpectEachAlone({{"input_changed $.notes[0]", [](Manifest& m) {
                      m.notes = {"data 'train' changed during the run: sha256 a before, b after"};
                    }}});
}

TEST(Admission, RefusesARunThatFailedOrDidNotLeaveWhatItShould) {
  ExpectEachAlone(
      {{"not_recorded $.notes[0]",
        [](Manifest& m) { m.notes = {"output 'model.npz' was not recorded: no such file"}; }},
       {"failed_run $.notes[0]",
        [](Manifest& m) { m.notes = {"the command failed: exited with 1"}; }}});
  EXPECT_TRUE(FindingsAfter([](Manifest& m) { m.notes = {"no tensor digest: x"}; }).empty());
}

TEST(Admission, WantsRunTimesThatAgree) {
  using std::chrono::milliseconds;
  ExpectEachAlone({
      {"missing_run_id $.run_id", [](Manifest& m) { m.run_id.clear(); }},
      {"missing_family $.family", [](Manifest& m) { m.family.clear(); }},
      {"missing_time $.started", [](Manifest& m) { m.started = {}; }},
      {"missing_time $.ended", [](Manifest& m) { m.ended = {}; }},
      {"bad_time $.ended", [](Manifest& m) { m.ended = m.started - milliseconds(1); }},
      {"bad_duration $.duration_seconds", [](Manifest& m) { m.duration_seconds = 92.0; }},
      {"bad_duration $.duration_seconds", [](Manifest& m) { m.duration_seconds = 89.0; }},
      {"bad_duration $.duration_seconds",
       [](Manifest& m) { m.duration_seconds = std::numeric_limits<double>::quiet_NaN(); }},
  });
}

TEST(Admission, AllowsADurationWithinASecondOrAPercent) {
  EXPECT_TRUE(FindingsAfter([](Manifest& m) { m.duration_seconds = 91.4; }).empty());
  EXPECT_TRUE(FindingsAfter([](Manifest& m) {
                m.ended = m.started + std::chrono::seconds(1000);
                m.duration_seconds = 991.0;
              }).empty());
}

TEST(Admission, WantsCodeThatCanBeFoundAgain) {
  ExpectEachAlone({
      {"missing_repository $.code.repository", [](Manifest& m) { m.code.repository.clear(); }},
      {"missing_commit $.code.commit",
       [](Manifest& m) {
         m.code.commit.clear();
         m.code.files.clear();
       }},
      {"bad_hash $.code.commit", [](Manifest& m) { m.code.commit = "0123abc"; }},
      {"unpinned_code $.code.files", [](Manifest& m) { m.code.files.clear(); }},
      {"missing_diff $.code.diff_sha256", [](Manifest& m) { m.code.diff_sha256.clear(); }},
      {"bad_hash $.code.diff_sha256", [](Manifest& m) { m.code.diff_sha256 = "11"; }},
      {"unpinned_code $.code.files[0].sha256", [](Manifest& m) { m.code.files[0].sha256 = ""; }},
      {"duplicate_path $.code.files[1].path",
       [](Manifest& m) { m.code.files.push_back(m.code.files[0]); }},
  });
  EXPECT_TRUE(FindingsAfter([](Manifest& m) {
                m.code.files.clear();
                m.code.dirty = false;
              }).empty());
  EXPECT_TRUE(FindingsAfter([](Manifest& m) { m.code.commit.clear(); }).empty());
}

TEST(Admission, WantsAPinnedImage) {
  ExpectEachAlone({
      {"unpinned_image $.image.digest", [](Manifest& m) { m.image.digest.clear(); }},
      {"latest_tag $.image.tag", [](Manifest& m) { m.image.tag = "latest"; }},
      {"latest_tag $.image.tag", [](Manifest& m) { m.image.repository += ":latest"; }},
      {"bad_digest $.image.digest", [](Manifest& m) { m.image.digest = "sha256:33"; }},
      {"bad_digest $.image.digest", [](Manifest& m) { m.image.digest.replace(0, 6, "sha512"); }},
      {"missing_repository $.image.repository", [](Manifest& m) { m.image.repository.clear(); }},
      {"missing_location $.image.location", [](Manifest& m) { m.image.kind = ImageKind::kSif; }},
      {"missing_packages $.image.packages_sha256", [](Manifest& m) { m.image = Image{}; }},
      {"bad_hash $.image.packages_sha256",
       [](Manifest& m) {
         m.image = Image{};
         m.image.packages_sha256 = "ab";
       }},
  });
}

TEST(Admission, WantsPinnedData) {
  ExpectEachAlone({
      {"unpinned_data $.data[0].sha256", [](Manifest& m) { m.data[0].sha256.clear(); }},
      {"bad_hash $.data[0].sha256", [](Manifest& m) { m.data[0].sha256.pop_back(); }},
      {"missing_kind $.data[0].kind", [](Manifest& m) { m.data[0].kind = DataKind::kNotStated; }},
      {"duplicate_name $.data[1].name",
       [](Manifest& m) {
         m.data.push_back(m.data[0]);
         m.data[1].path = "other";
       }},
      {"duplicate_path $.data[1].path",
       [](Manifest& m) {
         m.data.push_back(m.data[0]);
         m.data[1].name = "other";
       }},
  });
}

TEST(Admission, NamesEverySeedThatIsMissing) {
  EXPECT_EQ(FindingsAfter([](Manifest& m) {
              m.rng_sources = {"numpy", "init", "cuda"};
            }),
            (std::vector<std::string>{"missing_seed $.seeds.numpy", "missing_seed $.seeds.cuda"}));
  ExpectEachAlone({
      {"missing_rng_sources $.rng_sources",
       [](Manifest& m) {
         m.rng_sources.clear();
         m.seeds.clear();
         m.observation.reset();
       }},
      {"duplicate_name $.rng_sources[2]", [](Manifest& m) { m.rng_sources.push_back("init"); }},
      {"missing_command $.command", [](Manifest& m) { m.command.clear(); }},
  });
  EXPECT_TRUE(FindingsAfter([](Manifest& m) { m.rng_sources.clear(); }).empty());
  // Hooks in each Python that saw no generator say as much.
  EXPECT_TRUE(FindingsAfter([](Manifest& m) {
                m.rng_sources.clear();
                m.seeds.clear();
                m.observation.emplace().means = {std::string(kSeenByPython)};
                m.environment.python.emplace();
              }).empty());
}

TEST(Admission, WantsTheMachineThatRan) {
  ExpectEachAlone({
      {"missing_variables $.environment.variables",
       [](Manifest& m) { m.environment.variables.clear(); }},
      {"missing_hardware $.environment.hardware.cpu.architecture",
       [](Manifest& m) { m.environment.hardware.cpu.architecture.clear(); }},
      {"missing_gpus $.environment.hardware.gpus", [](Manifest& m) { m.resources.gpus = 2; }},
      {"missing_driver $.environment.hardware.gpu_driver",
       [](Manifest& m) { m.environment.hardware.gpu_driver.clear(); }},
  });
  EXPECT_TRUE(FindingsAfter([](Manifest& m) {
                m.resources.gpus = 0;
                m.environment.hardware.gpus.clear();
                m.environment.hardware.gpu_driver.clear();
              }).empty());
}

TEST(Admission, WantsWeightsForAPromiseOfBits) {
  ExpectEachAlone({
      {"missing_weights_digest $.determinism.declared", [](Manifest& m) { m.artifacts.clear(); }},
      {"nothing_to_compare $.metrics",
       [](Manifest& m) {
         m.artifacts[0].role = "log";
         m.metrics.clear();
         m.determinism.declared = "";
       }},
  });
  // A file that no reader opens is held to by its bytes, whatever its role.
  for (const char* role : {"weights", "other"}) {
    EXPECT_EQ(FindingsAfter([&](Manifest& m) {
                m.artifacts[0].role = role;
                m.artifacts[0].tensor_digest.clear();
                m.artifacts[0].tensors.clear();
                m.metrics.clear();
              }),
              std::vector<std::string>())
        << role;
  }
}

TEST(Admission, WantsAPrimaryMetricWithMarginAndDirectionForStatistics) {
  const auto statistical = [](const std::function<void(Manifest&)>& change) {
    return [change](Manifest& m) {
      m.determinism.declared = "statistical";
      change(m);
    };
  };
  ExpectEachAlone({
      {"missing_primary $.metrics", statistical([](Manifest& m) { m.metrics[0].primary = false; })},
      {"missing_margin $.metrics[0].margin",
       statistical([](Manifest& m) { m.metrics[0].margin.reset(); })},
      {"bad_margin $.metrics[0].margin",
       statistical([](Manifest& m) { m.metrics[0].margin = 0.0; })},
      {"bad_margin $.metrics[0].margin", statistical([](Manifest& m) {
         m.metrics[0].margin = std::numeric_limits<double>::infinity();
       })},
      {"missing_unit $.metrics[0].unit",
       statistical([](Manifest& m) { m.metrics[0].unit.clear(); })},
      {"missing_direction $.metrics[0].direction",
       statistical([](Manifest& m) { m.metrics[0].direction = MetricDirection::kNotStated; })},
  });
  EXPECT_TRUE(FindingsAfter(statistical([](Manifest&) {})).empty());
}

TEST(Admission, WantsFiniteNamedMetricsAndTheirFile) {
  ExpectEachAlone({
      {"non_finite_metric $.metrics[1].value",
       [](Manifest& m) { m.metrics[1].value = std::numeric_limits<double>::infinity(); }},
      {"duplicate_name $.metrics[2].name",
       [](Manifest& m) { m.metrics.push_back(MetricOf("loss")); }},
      {"missing_metrics_path $.metrics_path", [](Manifest& m) { m.metrics_path.clear(); }},
  });
}

TEST(Admission, WantsWeightsThatAreFinite) {
  ExpectEachAlone({{"non_finite_weights $.artifacts[0].tensors[0]",
                    [](Manifest& m) { m.artifacts[0].tensors[0].non_finite = 3; }}});
}

TEST(Admission, RefusesACurveThatEndsWithoutANumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  Manifest manifest = ExampleManifest();
  manifest.curves[0].values = {2.3, inf, nan};
  const auto findings = Admit(manifest);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "non_finite_curve");
  EXPECT_EQ(findings[0].message,
            "curve 'loss' ends with nan: 2 of 3 values are not finite, the first at step 10; "
            "expected finite numbers");
  ExpectEachAlone({
      {"non_finite_curve $.curves[0].values",
       [&](Manifest& m) {
         m.curves[0].values = {nan, nan, nan};
       }},
      {"non_finite_curve $.curves[0].values",
       [&](Manifest& m) {
         m.curves[0].values = {0.5, 0.5, -inf};
       }},
      {"duplicate_name $.curves[1].name", [](Manifest& m) { m.curves.push_back(m.curves[0]); }},
  });
}

// A learning rate that never changes is part of an ordinary record.
TEST(Admission, RefusesNoRecordForACurveThatShowsNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::vector<double>& values :
       {std::vector<double>{0.1, 0.1, 0.1}, {}, {0.1}, {nan, 0.5, 0.5}, {0.5, nan, 0.5}}) {
    EXPECT_TRUE(FindingsAfter([&](Manifest& m) {
                  m.curves.push_back({"learning_rate", {}, values});
                }).empty());
  }
}

TEST(Admission, WantsHashesOfWhatWasMade) {
  ExpectEachAlone({
      {"missing_hash $.artifacts[0].sha256", [](Manifest& m) { m.artifacts[0].sha256.clear(); }},
      {"bad_hash $.artifacts[0].sha256", [](Manifest& m) { m.artifacts[0].sha256 += "0"; }},
      {"bad_hash $.artifacts[0].tensor_digest",
       [](Manifest& m) { m.artifacts[0].tensor_digest = "66"; }},
      {"missing_hash $.artifacts[0].tensors[0].sha256",
       [](Manifest& m) { m.artifacts[0].tensors[0].sha256.clear(); }},
      {"duplicate_path $.artifacts[1].path",
       [](Manifest& m) { m.artifacts.push_back(m.artifacts[0]); }},
  });
}

TEST(Admission, ReportsInTheOrderOfTheFields) {
  EXPECT_EQ(FindingsAfter([](Manifest& m) {
              m.artifacts[0].sha256.clear();
              m.image.tag = "latest";
              m.family.clear();
            }),
            (std::vector<std::string>{"missing_family $.family", "latest_tag $.image.tag",
                                      "missing_hash $.artifacts[0].sha256"}));
}

TEST(Admission, FindsAllThatABareManifestLacks) { EXPECT_GE(Admit(Manifest{}).size(), 12u); }

}  // namespace
}  // namespace rharness
