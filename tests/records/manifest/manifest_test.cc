// Manifests: what is read, what is refused and where, and that nothing is lost on the way back.
#include "harness/records/manifest/manifest.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

using Limits = std::numeric_limits<double>;

std::string RefusalOf(std::string_view from, std::string_view to) {
  const auto manifest = ParseManifestText(Replaced(kExampleManifest, from, to));
  return manifest.ok() ? "accepted" : manifest.error().ToString();
}

TEST(Manifest, ReadsEveryField) {
  const Manifest m = ExampleManifest();
  EXPECT_EQ(m.run_id, "digits-0007");
  EXPECT_EQ(m.family, "digits-mlp/epyc");
  EXPECT_EQ(m.ended - m.started, std::chrono::milliseconds(90500));
  EXPECT_EQ(m.code.commit, "0123456789abcdef0123456789abcdef01234567");
  EXPECT_TRUE(m.code.dirty);
  ASSERT_EQ(m.code.files.size(), 1u);
  EXPECT_EQ(m.code.files[0].path, "train.py");
  EXPECT_EQ(m.image.kind, ImageKind::kOci);
  EXPECT_EQ(m.image.registry, "registry.example.org:5000");
  ASSERT_EQ(m.data.size(), 1u);
  EXPECT_EQ(m.data[0].size_bytes, 562000u);
  EXPECT_EQ(m.command.size(), 5u);
  EXPECT_EQ(m.working_directory, "src");
  EXPECT_EQ(m.hyperparameters.at("layers").AsArray().size(), 2u);
  EXPECT_EQ(m.seeds.at("shuffle"), 8);
  EXPECT_EQ(m.environment.variables.at("OMP_NUM_THREADS"), "1");
  EXPECT_EQ(m.environment.variables.at("OPENBLAS_CORETYPE"), std::nullopt);
  EXPECT_EQ(m.environment.hardware.cpu.logical_cores, 192);
  EXPECT_EQ(m.environment.hardware.gpus.at(0).memory_bytes, 150754820096u);
  EXPECT_EQ(m.determinism.scope, "architecture");
  EXPECT_EQ(m.metrics.at(0).margin, 0.01);
  EXPECT_EQ(m.metrics.at(1).margin, std::nullopt);
  EXPECT_EQ(m.curves.at(0).steps.back(), 20);
  EXPECT_EQ(m.artifacts.at(0).tensors.at(0).shape, (std::vector<std::uint64_t>{64, 10}));
  EXPECT_EQ(m.resources.timeout_seconds, 600.0);
  EXPECT_EQ(m.notes.at(0), "recorded on the login node");
}

TEST(Manifest, SurvivesWritingAndReadingWithEveryMember) {
  const Manifest manifest = ExampleManifest();
  const std::string once = ToJson(manifest).Dump(2);
  const auto again = ParseManifestText(once);
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(ToJson(*again).Dump(2), once);
  EXPECT_TRUE(once.starts_with("{\n  \"schema\": \"rharness.manifest/v1\""));
  // What the hand-written text says must still be there after a round trip.
  const Json source = *ParseJson(kExampleManifest, "source");
  const Json written = *ParseJson(once, "written");
  for (const auto& [name, value] : source.AsObject()) {
    ASSERT_NE(written.Find(name), nullptr) << name;
  }
}

// A history and signed statements name a record by its bytes. Digests of version 0.1.0, 2026-11-29.
TEST(Records, KeepTheirBytes) {
  EXPECT_EQ(Sha256HexOf(ToJson(ExampleManifest()).Dump()),
            "e2f583e53a59e7e8600b09a566bf361f7a2dff5aac4efa496050f76880747881");
  EXPECT_EQ(Sha256HexOf(ToJson(ExampleEvidence()).Dump()),
            "59af2b78a43f52b7009368addd1992e9d46474fcb6754d1141b4d017a0c39bf9");
}

TEST(Manifest, KeepsTheBitsOfDoublesThroughText) {
  const double values[] = {0.1,
                           1.0 / 3.0,
                           Limits::denorm_min(),
                           Limits::max(),
                           -0.0,
                           std::nextafter(1.0, 2.0),
                           -Limits::infinity(),
                           Limits::infinity(),
                           1e23,
                           123456789012345678.0};
  for (const double value : values) {
    Manifest manifest = ExampleManifest();
    manifest.metrics[0].value = value;
    manifest.curves[0].values[1] = value;
    const auto again = ParseManifestText(ToJson(manifest).Dump());
    ASSERT_TRUE(again.ok()) << again.error().ToString();
    const auto bits = std::bit_cast<std::uint64_t>(value);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(again->metrics[0].value), bits) << value;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(again->curves[0].values[1]), bits) << value;
  }
}

TEST(Manifest, KeepsNotANumber) {
  Manifest manifest = ExampleManifest();
  manifest.metrics[0].value = Limits::quiet_NaN();
  const std::string text = ToJson(manifest).Dump();
  EXPECT_NE(text.find("\"value\":\"nan\""), std::string::npos);
  EXPECT_TRUE(std::isnan(ParseManifestText(text)->metrics[0].value));
}

TEST(Manifest, KeepsTheLargestIntegers) {
  Manifest manifest = ExampleManifest();
  manifest.seeds["init"] = std::numeric_limits<std::int64_t>::min();
  manifest.data[0].size_bytes = std::numeric_limits<std::uint64_t>::max();
  const auto again = ParseManifestText(ToJson(manifest).Dump());
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(again->seeds.at("init"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(again->data[0].size_bytes, std::numeric_limits<std::uint64_t>::max());
}

TEST(Manifest, NeedsOnlySchemaRunIdAndCommand) {
  const auto manifest = ParseManifestText(
      R"({"schema": "rharness.manifest/v1", "run_id": "a", "command": ["true"]})");
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString();
  EXPECT_EQ(manifest->image.kind, ImageKind::kHost);
  EXPECT_EQ(manifest->determinism.declared, "statistical");
  EXPECT_EQ(manifest->resources.cpus, 1);
}

struct Refusal {
  std::string_view from;
  std::string_view to;
  std::string_view path;      // where the error must point
  std::string_view expected;  // and what it must say
};

TEST(Manifest, NamesFileAndJsonPathOfWhatItRefuses) {
  const Refusal refusals[] = {
      {"rharness.manifest/v1", "rharness.manifest/v2", "$.schema", "or older"},
      {"\"run_id\"", "\"x-run_id\"", "$.run_id", "missing"},
      {"\"digits-0007\"", "\"../etc\"", "$.run_id", "letters, digits"},
      {"\"digits-0007\"", "\"-rf\"", "$.run_id", "letters, digits"},
      {"\"family\"", "\"familly\"", "$", "did you mean \"family\"?"},
      {"\"diff_sha256\"", "\"diff_sha265\"", "$.code", "did you mean \"diff_sha256\"?"},
      {"2026-11-20T08:00:00.000Z", "yesterday", "$.started", "RFC 3339"},
      {"2026-11-20T08:00:00.000Z", "1969-12-31T23:59:59Z", "$.started", "1970"},
      {"https://git.example.org/ml/digits.git", "ext::sh -c id", "$.code.repository", "'::'"},
      {"https://git.example.org/ml/digits.git", "--upload-pack=x", "$.code.repository", "'-'"},
      {"https://git.example.org/ml/digits.git", "../other", "$.code.repository", ".."},
      {"0123456789abcdef0123456789abcdef01234567", "HEAD~1; id", "$.code.commit", "hexadecimal"},
      {"\"dirty\": true", "\"dirty\": 1", "$.code.dirty", "true or false"},
      {"[{\"path\": \"train.py\"", "[{\"path\": \"/train.py\"", "$.code.files[0].path", "absolute"},
      {"\"oci\"", "\"qcow\"", "$.image.kind", "\"host\", \"oci\""},
      {"\"ml/train\"", "\"--privileged\"", "$.image.repository", "leading '-'"},
      {"\"2026.11\"", "\"a b\"", "$.image.tag", "blanks"},
      {"\"platform\"", "\"location\": \"../x.sif\", \"platform\"", "$.image.location", ".."},
      {"data/digits.csv", "../digits.csv", "$.data[0].path", ".."},
      {"data/digits.csv", "/data/../etc/passwd", "$.data[0].path", "normal form"},
      {"data/digits.csv", "/data/", "$.data[0].path", "normal form"},
      {"sets/digits.csv", "../../digits.csv", "$.data[0].location", ".."},
      {"\"size_bytes\": 562000", "\"size_bytes\": -1", "$.data[0].size_bytes", "integer from 0"},
      {"[\"python3\", \"train.py\", \"--seed\", \"7\", \"--lr=0.1\"]", "[\"\"]", "$.command",
       "name is empty"},
      {"\"--lr=0.1\"", "3", "$.command[4]", "a string"},
      {"\"--lr=0.1\"", "\"a\\u0000b\"", "$.command[4]", "NUL"},
      {"\"src\"", "\"../src\"", "$.working_directory", ".."},
      {"\"init\": 7", "\"init\": 7.5", "$.seeds.init", "an integer"},
      {"\"OMP_NUM_THREADS\"", "\"A=B\"", "$.environment.variables.A=B", "'='"},
      {"\"logical_cores\": 192", "\"logical_cores\": -2",
       "$.environment.hardware.cpu.logical_cores", "at least 0"},
      {"\"bitwise\"", "\"exact\"", "$.determinism.declared", "\"bitwise\", \"statistical\""},
      {"\"metrics.json\"", "\"/tmp/metrics.json\"", "$.metrics_path", "absolute"},
      {"0.991", "\"high\"", "$.metrics[0].value", "\"nan\""},
      {"\"higher\"", "\"up\"", "$.metrics[0].direction", "\"higher\", \"lower\", \"none\""},
      {"0.0027777777777777778", "-1", "$.metrics[0].quantum", "at least 0"},
      {"[0, 10, 20]", "[0, 10]", "$.curves[0].values", "3 values for 2 steps"},
      {"[0, 10, 20]", "[0, 10, 10]", "$.curves[0].steps", "10 after 10"},
      {"\"weights\"", "\"wieghts\"", "$.artifacts[0].role", "\"weights\""},
      {"out/model.safetensors", "out/../../model", "$.artifacts[0].path", ".."},
      {"[64, 10],\n", "[64, -10],\n", "$.artifacts[0].tensors[0].shape[1]", "integer from 0"},
      {"\"cpus\": 2", "\"cpus\": 2.5", "$.resources.cpus", "an integer"},
      {"\"timeout_seconds\": 600", "\"timeout_seconds\": \"inf\"", "$.resources.timeout_seconds",
       "finite"},
      {"\"notes\": [\"recorded on the login node\"]", "\"notes\": \"text\"", "$.notes", "an array"},
  };
  for (const Refusal& refusal : refusals) {
    const std::string error = RefusalOf(refusal.from, refusal.to);
    const std::string where = "run.json: " + std::string(refusal.path) + ": ";
    EXPECT_TRUE(error.starts_with(where)) << error << "\nexpected at " << where;
    EXPECT_NE(error.find(refusal.expected), std::string::npos) << error;
  }
}

TEST(Manifest, LeavesWrongLengthsAndMissingPartsToAdmission) {
  EXPECT_EQ(RefusalOf("0123456789abcdef0123456789abcdef01234567", "0123abc"), "accepted");
  EXPECT_EQ(RefusalOf("1111111111111111111111111111111111111111111111111111111111111111", "11"),
            "accepted");
  EXPECT_EQ(RefusalOf("\"family\": \"digits-mlp/epyc\",", ""), "accepted");
}

TEST(Manifest, IgnoresMembersThatBeginWithX) {
  EXPECT_EQ(RefusalOf("\"family\":", "\"x-team\": {\"a\": [1]}, \"family\":"), "accepted");
  EXPECT_EQ(RefusalOf("\"commit\":", "\"x-branch\": \"main\", \"commit\":"), "accepted");
}

TEST(Manifest, BringsPathsIntoNormalForm) {
  const auto manifest =
      ParseManifestText(Replaced(kExampleManifest, "data/digits.csv", "./data//digits.csv"));
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString();
  EXPECT_EQ(manifest->data[0].path, "data/digits.csv");
}

TEST(Manifest, AcceptsAbsoluteDataPathsInNormalForm) {
  EXPECT_EQ(RefusalOf("data/digits.csv", "/srv/sets/digits.csv"), "accepted");
}

TEST(Manifest, IsRefusedWhenItIsNoObject) {
  EXPECT_FALSE(ParseManifestText("[]").ok());
  EXPECT_FALSE(ParseManifestText("null").ok());
  EXPECT_FALSE(ParseManifestText("\"rharness.manifest/v1\"").ok());
}

TEST(Manifest, LoadsFromAFileAndNamesItInErrors) {
  const auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  const auto path = folder->path() / "run.json";
  ASSERT_TRUE(WriteFileAtomic(path, kExampleManifest).ok());
  EXPECT_TRUE(LoadManifest(path).ok());
  ASSERT_TRUE(
      WriteFileAtomic(path, Replaced(kExampleManifest, "\"cpus\": 2", "\"cpus\": []")).ok());
  const auto refused = LoadManifest(path);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().where, path.string() + ": $.resources.cpus");
  EXPECT_EQ(LoadManifest(folder->path() / "none.json").error().code, ErrorCode::kNotFound);
}

Result<RunMetrics> ParseMetricsText(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, "metrics.json"));
  return ParseRunMetrics(json, "metrics.json");
}

TEST(RunMetrics, ReadsNumbersAndSpelledOutNonFiniteValues) {
  const auto metrics = ParseMetricsText(
      R"({"metrics": {"a": 1, "b": 0.5, "c": "nan", "d": "inf", "e": "-inf"},
          "curves": {"loss": {"steps": [-1, 5], "values": [2, "nan"]}},
          "software": {"torch": "2.1.0"}, "x-host": "n1"})");
  ASSERT_TRUE(metrics.ok()) << metrics.error().ToString();
  EXPECT_EQ(metrics->metrics.at("a"), 1.0);
  EXPECT_EQ(metrics->metrics.at("b"), 0.5);
  EXPECT_TRUE(std::isnan(metrics->metrics.at("c")));
  EXPECT_EQ(metrics->metrics.at("d"), Limits::infinity());
  EXPECT_EQ(metrics->metrics.at("e"), -Limits::infinity());
  ASSERT_EQ(metrics->curves.size(), 1u);
  EXPECT_EQ(metrics->curves[0].name, "loss");
  EXPECT_EQ(metrics->curves[0].steps, (std::vector<std::int64_t>{-1, 5}));
  EXPECT_TRUE(std::isnan(metrics->curves[0].values[1]));
  EXPECT_EQ(metrics->software.at("torch"), "2.1.0");
}

TEST(RunMetrics, NamesWhatItRefuses) {
  const std::pair<std::string_view, std::string_view> refusals[] = {
      {R"([])", "metrics.json: $: expected an object"},
      {R"({"metric": {}})", "did you mean \"metrics\"?"},
      {R"({"metrics": {"a": null}})", "metrics.json: $.metrics.a: "},
      {R"({"metrics": {"a": "1.5"}})", "metrics.json: $.metrics.a: "},
      {R"({"metrics": {"": 1}})", "expected a name"},
      {R"({"curves": {"l": {"steps": [1]}}})", "metrics.json: $.curves.l.values: missing"},
      {R"({"curves": {"l": {"steps": [1, 2], "values": [1]}}})", "1 values for 2 steps"},
      {R"({"curves": {"l": {"steps": [2, 1], "values": [1, 1]}}})", "1 after 2"},
      {R"({"software": {"torch": 2}})", "metrics.json: $.software.torch: expected a string"},
      {R"({"curves": {"l": [1, 2]}})", "metrics.json: $.curves.l: expected an object"},
  };
  for (const auto& [text, expected] : refusals) {
    const auto metrics = ParseMetricsText(text);
    ASSERT_FALSE(metrics.ok()) << text;
    EXPECT_NE(metrics.error().ToString().find(expected), std::string::npos)
        << metrics.error().ToString();
  }
}

}  // namespace
}  // namespace rharness
