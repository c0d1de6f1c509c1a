// What a program put together is refused where a reader would refuse it, in the reader's words.
#include <gtest/gtest.h>

#include <functional>

#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

// Without what CheckManifest itself writes and reads.
Manifest Plain() {
  Manifest manifest = ExampleManifest();
  manifest.properties.clear();
  manifest.observation.reset();
  manifest.environment.packages.clear();
  manifest.environment.lock_files["uv.lock"] = std::string(64, '1');
  manifest.unread_metrics = UnreadMembers{{"note", "text"}};
  manifest.probe_families = {"gemm"};
  manifest.origin = Origin{"mlflow", "mlruns", "1", {{"code", Grade::kHint, "tag"}}, {"remark"}};
  manifest.kept = "kept";
  return manifest;
}

struct Change {
  std::string where;
  std::function<void(Manifest&)> make;
};

const std::string kControl = "a\nb";

std::vector<Change> RunChanges() {
  return {
      {"$.run_id", [](Manifest& m) { m.run_id = "../a"; }},
      {"$.family", [](Manifest& m) { m.family = kControl; }},
      {"$.started", [](Manifest& m) { m.started = WallTime(std::chrono::milliseconds(-1)); }},
      {"$.ended", [](Manifest& m) { m.ended = WallTime(std::chrono::hours(-1)); }},
      {"$.command[1]", [](Manifest& m) { m.command[1] = std::string(1, '\0'); }},
      {"$.command", [](Manifest& m) { m.command[0].clear(); }},
      {"$.working_directory", [](Manifest& m) { m.working_directory = "../up"; }},
      {"$.seeds.a\nb", [](Manifest& m) { m.seeds[kControl] = 1; }},
      {"$.rng_sources[1]", [](Manifest& m) { m.rng_sources[1].clear(); }},
      {"$.probe_families[0]", [](Manifest& m) { m.probe_families[0] = kControl; }},
      {"$.kept", [](Manifest& m) { m.kept = "/a/../b"; }},
      {"$.resources.cpus", [](Manifest& m) { m.resources.cpus = -1; }},
      {"$.resources.timeout_seconds", [](Manifest& m) { m.resources.timeout_seconds = -1.0; }},
      {"$.determinism.declared", [](Manifest& m) { m.determinism.declared = "perhaps"; }},
      {"$.determinism.scope", [](Manifest& m) { m.determinism.scope.clear(); }},
  };
}

std::vector<Change> SourceChanges() {
  return {
      {"$.code.repository", [](Manifest& m) { m.code.repository = "ext::sh -c true"; }},
      {"$.code.commit", [](Manifest& m) { m.code.commit = "HEAD"; }},
      {"$.code.diff_sha256", [](Manifest& m) { m.code.diff_sha256 = std::string(129, 'a'); }},
      {"$.code.kept_diff_sha256", [](Manifest& m) { m.code.kept_diff_sha256 = "x"; }},
      {"$.code.files[0].path", [](Manifest& m) { m.code.files[0].path = "/etc/passwd"; }},
      {"$.code.files[0].sha256", [](Manifest& m) { m.code.files[0].sha256 = "X"; }},
      {"$.image.registry", [](Manifest& m) { m.image.registry = "--rm"; }},
      {"$.image.location", [](Manifest& m) { m.image.location = "a/../../b"; }},
      {"$.image.base_name", [](Manifest& m) { m.image.base_name = kControl; }},
      {"$.data[0].name", [](Manifest& m) { m.data[0].name.clear(); }},
      {"$.data[0].path", [](Manifest& m) { m.data[0].path.clear(); }},
      {"$.data[0].source", [](Manifest& m) { m.data[0].source = "https://a:b@c/d"; }},
      {"$.data[0].made_by", [](Manifest& m) { m.data[0].made_by = MadeBy(); }},
      {"$.data[0].made_by.commit", [](Manifest& m) { m.data[0].made_by->commit = "abc"; }},
  };
}

std::vector<Change> ResultChanges() {
  return {
      {"$.environment.variables.A=B", [](Manifest& m) { m.environment.variables["A=B"] = "1"; }},
      {"$.environment.variables.A",
       [](Manifest& m) { m.environment.variables["A"] = std::string(1, '\0'); }},
      {"$.environment.software.", [](Manifest& m) { m.environment.software[""] = "1"; }},
      {"$.environment.lock_files.uv.lock",
       [](Manifest& m) { m.environment.lock_files["uv.lock"] = "1"; }},
      {"$.environment.hardware.cpu.model",
       [](Manifest& m) { m.environment.hardware.cpu.model = kControl; }},
      {"$.environment.hardware.gpus[0].numa_node",
       [](Manifest& m) { m.environment.hardware.gpus[0].numa_node = -2; }},
      {"$.metrics_path", [](Manifest& m) { m.metrics_path = "../metrics.json"; }},
      {"$.metrics[1].name", [](Manifest& m) { m.metrics[1].name = kControl; }},
      {"$.metrics[0].quantum", [](Manifest& m) { m.metrics[0].quantum = -1.0; }},
      {"$.metrics[0].evaluated_on", [](Manifest& m) { m.metrics[0].evaluated_on = "none"; }},
      {"$.curves[0].steps", [](Manifest& m) { m.curves[0].steps[1] = 0; }},
      {"$.curves[0].values", [](Manifest& m) { m.curves[0].values.pop_back(); }},
      {"$.unread_metrics.long",
       [](Manifest& m) { (*m.unread_metrics)["long"] = std::string(kUnreadTextBytes + 1, 'x'); }},
      {"$.artifacts[0].role", [](Manifest& m) { m.artifacts[0].role = "cake"; }},
      {"$.artifacts[0].path", [](Manifest& m) { m.artifacts[0].path = "a/../.."; }},
      {"$.artifacts[0].tensors[0].dtype",
       [](Manifest& m) { m.artifacts[0].tensors[0].dtype.clear(); }},
      {"$.artifacts[0].parts[0].sha256",
       [](Manifest& m) {
         m.artifacts[0].parts = {{"p", 1, "X"}};
       }},
      {"$.origin.kind", [](Manifest& m) { m.origin->kind.clear(); }},
      {"$.origin.fields[0].path", [](Manifest& m) { m.origin->fields[0].path = kControl; }},
      {"$.origin.fields[0].from", [](Manifest& m) { m.origin->fields[0].from = kControl; }},
  };
}

TEST(CheckedManifest, IsWhatAReaderTakes) {
  for (Manifest manifest : {Plain(), ExampleManifest(), Manifest()}) {
    const auto read = ParseManifest(ToJson(manifest), "run.json");
    const Status checked = CheckManifest(&manifest, "run.json");
    EXPECT_EQ(checked.ok(), read.ok());
    if (read.ok()) {
      EXPECT_EQ(ToJson(*read).Dump(), ToJson(manifest).Dump());
    }
  }
}

TEST(CheckedManifest, IsRefusedWhereAReaderRefusesItInTheSameWords) {
  for (const auto& changes : {RunChanges(), SourceChanges(), ResultChanges()}) {
    for (const Change& change : changes) {
      Manifest manifest = Plain();
      change.make(manifest);
      const auto read = ParseManifest(ToJson(manifest), "run.json");
      ASSERT_FALSE(read.ok()) << change.where;
      EXPECT_EQ(read.error().where, "run.json: " + change.where);
      const Status checked = CheckManifest(&manifest, "run.json");
      ASSERT_FALSE(checked.ok()) << change.where;
      EXPECT_EQ(checked.error().ToString(), read.error().ToString());
    }
  }
}

TEST(CheckedManifest, IsRefusedForWhatFewHave) {
  Manifest manifest = ExampleManifest();
  manifest.properties.front().label = "../a";
  const Status checked = CheckManifest(&manifest, "run.json");
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().where, "run.json: $.properties[0].label");
  manifest = Plain();
  manifest.environment.python = PythonEnvironment{.prefix = "not/absolute"};
  const Status python = CheckManifest(&manifest, "run.json");
  ASSERT_FALSE(python.ok());
  EXPECT_EQ(python.error().where, "run.json: $.environment.python.prefix");
}

TEST(CheckedManifest, HasItsPathsInNormalForm) {
  Manifest manifest = Plain();
  manifest.artifacts[0].path = "out//./model";
  ASSERT_TRUE(CheckManifest(&manifest, "run.json").ok());
  EXPECT_EQ(manifest.artifacts[0].path, "out/model");
}

}  // namespace
}  // namespace rharness
