// Offline sessions of ClearML, laid out as clearml 2.1 lays them out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "tests/compare/weights/safetensors_file.h"
#include "tests/compare/weights/zip_file.h"
#include "tests/records/intake/source_tree.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr char kTaskCommit[] = "9cfa3cc763e4470f4eeecd84fa325e03804a22e2";
constexpr char kArtifacts[] = "data/proj/t.offline-1/artifacts/";

class Clearml : public SourceTree {
 protected:
  static Json Parameter(const char* type, const char* value) {
    return Json::MakeObject({{"type", type}, {"value", value}});
  }
  static Json Stored(const std::string& key, const std::string& file, std::string_view content) {
    return Json::MakeObject({{"key", key},
                             {"mode", "output"},
                             {"hash", Sha256HexOf(content)},
                             {"content_size", content.size()},
                             {"uri", "/gone/offline-1/" + std::string(kArtifacts) + file}});
  }
  // A task of a clean repository; members are replaced.
  static Json Task(const Json::Members& script = {}) {
    Json all = Json::MakeObject({{"binary", "python3.11"},
                                 {"diff", ""},
                                 {"entry_point", "train.py"},
                                 {"repository", "https://ada:pw@example.org/r.git"},
                                 {"version_num", kTaskCommit},
                                 {"working_dir", "sub"}});
    for (const auto& [name, value] : script) all.Set(name, value);
    return Json::MakeObject({{"id", "offline-1"},
                             {"name", "t"},
                             {"project_name", "proj"},
                             {"offline_folder", "/gone/offline-1"},
                             {"script", std::move(all)}});
  }
  static std::string Scalar(const char* metric, const char* variant, const char* iter,
                            const char* value, const char* type = "training_stats_scalar") {
    return R"({"timestamp": 1795440405431, "type": ")" + std::string(type) + R"(", "metric": ")" +
           metric + R"(", "variant": ")" + variant + R"(", "iter": )" + iter + R"(, "value": )" +
           value + "}";
  }
  Manifest ImportTask(const Json& task) {
    Put("task.json", task.Dump());
    const ImportOutcome outcome = Import();
    EXPECT_TRUE(outcome.status.ok());
    return outcome.runs.empty() ? Manifest() : outcome.runs[0];
  }
};

class WholeSession : public Clearml {
 protected:
  Manifest ImportWhole() {
    const std::string weights = FileOf({{"w", "F32", "[1]", BytesOf<float>({1.0F})}});
    Json task =
        Task({{"requirements", Json::MakeObject({{"pip",
                                                  "# Python 3.11.7 (main)\n\nclearml == 2.1.12\n"
                                                  "torch==2.1.0+cu121 ; x\ngit+https://x\n"}})}});
    task.Set(
        "hyperparams",
        Json::MakeObject({{"General", Json::MakeObject({{"lr", Parameter("float", "0.1")},
                                                        {"deep/x", Parameter("int", "3")},
                                                        {"flag", Parameter("bool", "True")},
                                                        {"api_key", Parameter("str", "secret!")},
                                                        {"text", Parameter("str", "7")}})}}));
    task.Set("configuration",
             Json::MakeObject({{"model", Json::MakeObject({{"value", "layers = 2"}})}}));
    task.Set("execution",
             Json::MakeObject(
                 {{"docker_cmd",
                   "reg.example/ml/train:1@sha256:" + std::string(64, 'a') + " --ipc=host"},
                  {"artifacts",
                   Json::MakeArray({Stored("weights", "weights/model.safetensors", weights),
                                    Stored("changed", "changed/c.txt", "before"),
                                    Json::MakeObject({{"key", "far"}, {"uri", "s3://u:p@b/k"}}),
                                    Json::MakeObject({{"key", "in"}, {"mode", "input"}})})}}));
    Put(std::string(kArtifacts) + "weights/model.safetensors", weights);
    Put(std::string(kArtifacts) + "changed/c.txt", "after");
    Put("metrics.jsonl", "[" + Scalar("loss", "train", "1", "0.25") + ", " +
                             Scalar("loss", "train", "0", "0.5") + "]\n[" +
                             Scalar("Summary", "accuracy", "-2147483648", "0.75") + ", " +
                             Scalar(":monitor:gpu", "x", "1", "9") + ", " +
                             Scalar("p", "q", "1", "1", "plot") + "]\n");
    Put("log.jsonl",
        R"([{"timestamp": 1795440409000, "type": "log", "msg": "NaN value encountered. Reporting it as '0.0'."}])"
        "\n");
    return ImportTask(task);
  }
};

TEST_F(WholeSession, BecomesARunWithCodeImageParametersAndPackages) {
  const Manifest run = ImportWhole();
  EXPECT_EQ(run.run_id, "clearml-offline-1");
  EXPECT_EQ(run.family, "proj");
  EXPECT_EQ(run.code.repository, "https://example.org/r.git");
  EXPECT_EQ(run.code.commit, kTaskCommit);
  EXPECT_EQ(WorthOf(run, "code.commit"), "exact script.version_num");
  EXPECT_FALSE(run.code.dirty);
  EXPECT_THAT(WorthOf(run, "code.dirty"), HasSubstr("hint"));
  EXPECT_THAT(run.command, ElementsAre("python3.11", "train.py"));
  EXPECT_THAT(WorthOf(run, "command"), HasSubstr("hint"));
  EXPECT_EQ(run.working_directory, "sub");
  EXPECT_EQ(run.image.repository, "ml/train");
  EXPECT_EQ(WorthOf(run, "image"), "exact execution.docker_cmd");
  EXPECT_TRUE(HasRemark(run, "'--ipc=host' were left out"));
  EXPECT_EQ(run.hyperparameters.at("General/lr").ToDouble(), 0.1);
  EXPECT_EQ(run.hyperparameters.at("General/deep/x").ToInt64(), 3);
  EXPECT_TRUE(run.hyperparameters.at("General/flag").AsBool());
  EXPECT_EQ(run.hyperparameters.at("General/text").AsString(), "7");
  EXPECT_EQ(run.hyperparameters.at("configuration/model").AsString(), "layers = 2");
  EXPECT_EQ(ToJson(run).Dump().find("secret!"), std::string::npos);
  EXPECT_EQ(run.environment.software.at("python"), "3.11.7");
  EXPECT_EQ(run.environment.software.at("clearml"), "2.1.12");
  EXPECT_EQ(run.environment.software.at("torch"), "2.1.0+cu121");
  EXPECT_TRUE(HasRemark(run, "1 lines are no NAME == VERSION"));
}

TEST_F(WholeSession, HasMetricsCurvesAndArtifacts) {
  const Manifest run = ImportWhole();
  EXPECT_EQ(MetricOf(run, "loss/train"), 0.25);
  EXPECT_EQ(MetricOf(run, "accuracy"), 0.75);
  EXPECT_THAT(run.metrics, SizeIs(2));
  ASSERT_NE(CurveOf(run, "loss/train"), nullptr);
  EXPECT_THAT(CurveOf(run, "loss/train")->values, ElementsAre(0.5, 0.25));
  EXPECT_TRUE(HasRemark(run, "1 values of the machine's load"));
  EXPECT_TRUE(HasRemark(run, "1 events that are no scalars"));
  EXPECT_TRUE(HasRemark(run, "not finite"));
  EXPECT_DOUBLE_EQ(run.duration_seconds, 3.569);
  ASSERT_THAT(run.artifacts, SizeIs(2));
  EXPECT_EQ(run.artifacts[0].path, "weights/model.safetensors");
  EXPECT_EQ(run.artifacts[0].tensors.at(0).name, "w");
  EXPECT_THAT(WorthOf(run, "artifacts[0]"), HasSubstr("exact"));
  EXPECT_EQ(run.artifacts[1].sha256, Sha256HexOf("after"));
  EXPECT_THAT(WorthOf(run, "artifacts[1]"), HasSubstr("hint"));
  EXPECT_TRUE(HasRemark(run, "'far' was put to 's3://b/k'"));
}

TEST_F(Clearml, ZeroIsAHintWhereOthersWereLoggedAsIt) {
  Put("metrics.jsonl",
      "[" + Scalar("a", "b", "1", "0.0") + ", " + Scalar("c", "d", "1", "1") + "]\n");
  const char* const log =
      R"([{"type": "log", "msg": "Inf value encountered. Reporting it as '0.0'."}])";
  EXPECT_THAT(WorthOf(ImportTask(Task()), "metrics.a/b"), HasSubstr("exact"));
  Put("log.jsonl", log);
  const Manifest run = ImportTask(Task());
  EXPECT_THAT(WorthOf(run, "metrics.a/b"), HasSubstr("hint"));
  EXPECT_THAT(WorthOf(run, "metrics.c/d"), HasSubstr("exact"));
}

TEST_F(Clearml, UncommittedChangesMakeTheTreeDirty) {
  const Manifest run = ImportTask(Task({{"diff", "diff --git a b\n"}}));
  EXPECT_TRUE(run.code.dirty);
  EXPECT_EQ(run.code.diff_sha256, Sha256HexOf("diff --git a b\n"));
}

TEST_F(Clearml, ProgramWithoutARepositoryIsInItsDiff) {
  const Manifest run =
      ImportTask(Task({{"repository", ""}, {"version_num", ""}, {"diff", "print(1)\n"}}));
  EXPECT_FALSE(run.code.dirty);
  ASSERT_THAT(run.code.files, SizeIs(1));
  EXPECT_EQ(run.code.files[0].path, "train.py");
  EXPECT_EQ(run.code.files[0].sha256, Sha256HexOf("print(1)\n"));
  EXPECT_EQ(WorthOf(run, "code.repository"), "missing");
}

TEST_F(Clearml, CommandWithArgumentsIsNotGuessed) {
  Json task = Task();
  task.Set("hyperparams",
           Json::MakeObject({{"Args", Json::MakeObject({{"lr", Parameter("float", "5")}})}}));
  const Manifest run = ImportTask(task);
  EXPECT_THAT(run.command, SizeIs(0));
  EXPECT_EQ(WorthOf(run, "command"), "missing");
  EXPECT_TRUE(HasRemark(run, "'train.py' had arguments"));
}

TEST_F(Clearml, ImageWithoutADigestIsAHint) {
  Json task = Task();
  task.Set("container", Json::MakeObject({{"image", "nvidia/cuda:12.1"}, {"arguments", ""}}));
  EXPECT_THAT(WorthOf(ImportTask(task), "image"), HasSubstr("hint container.image"));
}

TEST_F(Clearml, MalformedLinesAreNamedWithTheirNumbers) {
  Put("metrics.jsonl", "[" + Scalar("a", "b", "1", "1") + "]\nbroken\n{}\n[" +
                           Scalar("a", "b", "\"x\"", "1") + ", 5, " + Scalar("a", "b", "2", "3"));
  Manifest run = ImportTask(Task());
  EXPECT_TRUE(HasRemark(run, "metrics.jsonl: line 2"));
  EXPECT_TRUE(HasRemark(run, "metrics.jsonl: line 3: expected an array"));
  EXPECT_TRUE(HasRemark(run, "metrics.jsonl: line 4"));
  EXPECT_EQ(MetricOf(run, "a/b"), 1.0);
  Put("metrics.jsonl", "[" + Scalar("a", "b", "\"x\"", "1") + "]\n");
  run = ImportTask(Task());
  EXPECT_TRUE(HasRemark(run, "line 1: a scalar without"));
  EXPECT_THAT(run.metrics, SizeIs(0));
}

TEST_F(Clearml, ArchiveIsTheSameRunAsItsFolder) {
  Json task = Task();
  task.Set("execution",
           Json::MakeObject({{"artifacts", Json::MakeArray({Stored("a", "a/a.txt", "content")})}}));
  const std::string metrics = "[" + Scalar("loss", "train", "1", "0.25") + "]\n";
  const std::string zip =
      ZipOf({{.name = "task.json", .content = task.Dump(), .deflate = true},
             {.name = "metrics.jsonl", .content = metrics},
             {.name = std::string(kArtifacts) + "a/a.txt", .content = "content"}});
  Put("offline-1.zip", zip);
  const ImportOutcome archive = Import("", "offline-1.zip");
  ASSERT_THAT(archive.runs, SizeIs(1));
  EXPECT_EQ(archive.runs[0].artifacts.at(0).sha256, Sha256HexOf("content"));
  EXPECT_THAT(WorthOf(archive.runs[0], "artifacts[0]"), HasSubstr("exact"));
  EXPECT_EQ(archive.runs[0].artifacts.at(0).location, "");
  Put("offline-1/task.json", task.Dump());
  Put("offline-1/metrics.jsonl", metrics);
  Put(std::string("offline-1/") + kArtifacts + "a/a.txt", "content");
  ImportOutcome both = Import();
  ASSERT_THAT(both.runs, SizeIs(1));
  EXPECT_THAT(both.runs[0].artifacts.at(0).location, HasSubstr("/offline-1/data/"));
  both.runs[0].artifacts[0].location.clear();
  both.runs[0].origin->source = archive.runs[0].origin->source;
  EXPECT_EQ(ToJson(both.runs[0]).Dump(2), ToJson(archive.runs[0]).Dump(2));
}

TEST_F(Clearml, HostileSessionsAreRefusedOrRead) {
  WriteFileAtomic(root().parent_path() / "secret", "s").ok();
  Json task = Task();
  task.Set("execution",
           Json::MakeObject(
               {{"artifacts",
                 Json::MakeArray(
                     {Json::MakeObject({{"key", "up"}, {"uri", "/gone/offline-1/../../secret"}}),
                      Json::MakeObject({{"key", "link"}, {"uri", "/gone/offline-1/link"}})})}}));
  Put("offline-1/task.json", task.Dump());
  PutLink("offline-1/link", "../../secret");
  Put("offline-2/task.json", "{");
  Put("offline-3.zip", "no archive");
  PutLink("offline-4", "offline-1");
  Put("offline-5.zip", ZipOf({{.name = "../task.json", .content = task.Dump()}}));
  const ImportOutcome outcome = Import("clearml");
  ASSERT_THAT(outcome.runs, SizeIs(1));
  EXPECT_EQ(ToJson(outcome.runs[0]).Dump().find(Sha256HexOf("s")), std::string::npos);
  EXPECT_TRUE(HasRemark(outcome.runs[0], "'up' was put to"));
  EXPECT_TRUE(HasRemark(outcome.runs[0], "symbolic link"));
  std::string refused;
  for (const auto& [where, why] : outcome.refused) refused += where + " " + why + "\n";
  EXPECT_THAT(outcome.refused, SizeIs(3)) << refused;
  EXPECT_THAT(refused, HasSubstr("offline-2"));
  EXPECT_THAT(refused, HasSubstr("offline-3.zip"));
  EXPECT_THAT(refused, HasSubstr("offline-5.zip"));
}

TEST_F(Clearml, FoldersWithoutATaskAreNone) {
  Put("offline-1/other.json", "{}");
  EXPECT_FALSE(Import().status.ok());
  const ImportOutcome none = Import("clearml");
  ASSERT_FALSE(none.status.ok());
  EXPECT_EQ(none.status.error().code, ErrorCode::kNotFound);
  Put("task.json", R"({"id": "x"})");
  EXPECT_FALSE(Import().status.ok());
}

}  // namespace
}  // namespace rharness
