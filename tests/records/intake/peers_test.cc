// Runs that the real MLflow and the real wandb log, imported: by every way in, the same manifest.
//
// RHARNESS_PEERS names the folder that `./dev peers` made; without it these tests say so and are
// skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <map>
#include <thread>

#include "harness/base/digest.h"
#include "harness/base/subprocess.h"
#include "tests/records/intake/source_tree.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr char kScripts[] = RHARNESS_SOURCE_DIR "/tests/records/intake/peers/";

// A port that was free a moment ago.
int FreePort() {
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return 0;
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

class Peers : public SourceTree {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("RHARNESS_PEERS");
    if (folder == nullptr) {
      GTEST_SKIP() << "./dev peers installs MLflow and wandb; set RHARNESS_PEERS to their folder";
    }
    programs_ = std::filesystem::path(folder) / "venv/bin";
    std::filesystem::create_directories(root());
  }
  void TearDown() override {
    stop_ = true;
    if (server_.joinable()) server_.join();
  }

  ProcessSpec Spec(std::vector<std::string> argv) const {
    ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.argv[0] = programs_ / spec.argv[0];
    spec.working_directory = root();
    spec.environment = PickEnvironment({"PATH"});
    spec.environment["HOME"] = root();
    spec.environment["MLFLOW_ALLOW_FILE_STORE"] = "true";
    spec.environment["DO_NOT_TRACK"] = "true";
    return spec;
  }
  // Its last line; "" after a failure of the test.
  std::string Execute(std::vector<std::string> argv) const {
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(8);  // its database is made, on a busy machine
    const ProcessResult result = RunProcess(Spec(std::move(argv)), limits);
    EXPECT_TRUE(result.outcome.Succeeded())
        << result.outcome.ToString() << result.stdout_text << result.stderr_text;
    std::string text = result.stdout_text;
    while (text.ends_with('\n')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  }
  // Until the end of the test; waits until it answers.
  std::string Serve() {
    const std::string port = std::to_string(FreePort());
    const ProcessSpec spec =
        Spec({"mlflow", "server", "--backend-store-uri",
              "sqlite:///" + (root() / "mlflow.db").string(), "--artifacts-destination",
              root() / "served", "--host", "127.0.0.1", "--port", port, "--workers", "1"});
    server_ = std::thread([this, spec] {
      ProcessLimits limits;
      limits.timeout = std::chrono::minutes(16);
      RunProcess(spec, limits, {}, [this] { return stop_.load(); });
    });
    const std::string url = "http://127.0.0.1:" + port;
    const std::string script =
        "import sys,time,urllib.request\n"
        "for _ in range(960):\n"
        "  try: urllib.request.urlopen(sys.argv[1] + '/health'); break\n"
        "  except OSError: time.sleep(0.25)\n"
        "else: sys.exit(1)\n";
    Execute({"python", "-c", script, url});
    return url;
  }
  ImportOutcome ImportFrom(const std::string& source) {
    ImportRequest request;
    request.source = source;
    return ImportAll(request);
  }

  std::filesystem::path programs_;
  std::atomic<bool> stop_{false};
  std::thread server_;
};

// All but where it was read.
std::map<std::string, std::string> Contents(const ImportOutcome& outcome) {
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
  EXPECT_THAT(outcome.refused, SizeIs(0));
  std::map<std::string, std::string> contents;
  for (Manifest run : outcome.runs) {
    run.origin->source.clear();
    for (Artifact& artifact : run.artifacts) artifact.location.clear();
    contents[run.run_id] = ToJson(run).Dump(2);
  }
  return contents;
}

TEST_F(Peers, MlflowsRunsAreTheSameFromItsFolderItsDatabaseAndItsServer) {
  const std::string store = "file://" + (root() / "mlruns").string();
  const auto ids = ParseJson(
      Execute({"python", std::string(kScripts) + "mlflow_runs.py", store, root() / "files"}), "");
  ASSERT_TRUE(ids.ok()) << ids.error().ToString();
  Execute({"mlflow", "migrate-filestore", "--source", root(), "--target",
           "sqlite:///" + (root() / "mlflow.db").string()});

  const ImportOutcome folder = ImportFrom(root() / "mlruns");
  const auto expected = Contents(folder);
  EXPECT_THAT(expected, SizeIs(3));
  EXPECT_FALSE(expected.contains("mlflow-" + ids->Find("deleted")->AsString()));
  EXPECT_EQ(Contents(ImportFrom(root() / "mlflow.db")), expected);
  const std::string url = Serve();
  EXPECT_EQ(Contents(ImportFrom(url)), expected);
  EXPECT_EQ(Contents(ImportFrom(url)), expected);

  for (const Manifest& run : folder.runs) {
    if (run.origin->id != ids->Find("good")->AsString()) continue;
    EXPECT_EQ(run.hyperparameters.at("schedule").AsString(), "007");
    ASSERT_NE(CurveOf(run, "val/accuracy"), nullptr);
    EXPECT_THAT(CurveOf(run, "val/accuracy")->steps, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_TRUE(std::isnan(MetricOf(run, "odd")));
    ASSERT_THAT(run.data, SizeIs(1));
    EXPECT_THAT(run.data[0].other_digest, HasSubstr("mlflow:"));
    ASSERT_THAT(run.artifacts, SizeIs(2));
    EXPECT_EQ(run.artifacts[0].path, "model/weights.json");
    EXPECT_EQ(run.artifacts[1].sha256, Sha256HexOf("two\nlines\n"));
  }
}

// With artifacts that it keeps itself, and runs of another client than the migration's.
TEST_F(Peers, MlflowsServerGivesTheArtifactsThatItKeeps) {
  const std::string url = Serve();
  Execute({"python", std::string(kScripts) + "mlflow_runs.py", url, root() / "files"});
  const ImportOutcome server = ImportFrom(url);
  EXPECT_THAT(Contents(server), SizeIs(3));
  std::size_t notes = 0;
  for (const Manifest& run : server.runs) {
    for (const Artifact& artifact : run.artifacts) {
      if (artifact.path != "notes.txt") continue;
      ++notes;
      EXPECT_EQ(artifact.sha256, Sha256HexOf("two\nlines\n"));
    }
  }
  EXPECT_EQ(notes, 2u);
}

// MLflow 3 keeps what log_model(name=...) writes beside the runs.
TEST_F(Peers, MlflowsLoggedModelsAreArtifactsOfTheirRunByEveryWayIn) {
  const std::string script = std::string(kScripts) + "mlflow_model.py";
  const auto check = [&](const ImportOutcome& outcome, const Json& ids) {
    ASSERT_THAT(Contents(outcome), SizeIs(1));
    const Manifest& run = outcome.runs[0];
    EXPECT_EQ(run.origin->id, ids.Find("run")->AsString());
    const std::string first = ids.Find("models")->AsArray()[0].AsString();
    const std::string last = ids.Find("models")->AsArray()[1].AsString();
    std::map<std::string, std::string> found;
    for (std::size_t i = 0; i < run.artifacts.size(); ++i) {
      const Artifact& one = run.artifacts[i];
      EXPECT_THAT(one.sha256, SizeIs(64)) << one.path;
      found[one.path] = WorthOf(run, "artifacts[" + std::to_string(i) + "]");
    }
    EXPECT_THAT(found["clf/model.skops"],
                HasSubstr("exact logged model clf (" + last + "): model.skops"));
    EXPECT_THAT(found["clf@" + first + "/model.skops"], HasSubstr("exact logged model clf"));
    EXPECT_TRUE(found.contains("clf/MLmodel"));
    EXPECT_TRUE(found.contains("notes.txt"));
    for (const Metric& metric : run.metrics) {
      EXPECT_EQ(metric.evaluated_on, metric.name == "score" ? "holdout" : "") << metric.name;
    }
  };
  const auto ids =
      ParseJson(Execute({"python", script, "file://" + (root() / "mlruns").string()}), "");
  ASSERT_TRUE(ids.ok()) << ids.error().ToString();
  const ImportOutcome folder = ImportFrom(root() / "mlruns");
  check(folder, *ids);
  Execute({"mlflow", "migrate-filestore", "--source", root(), "--target",
           "sqlite:///" + (root() / "mlflow.db").string()});
  EXPECT_EQ(Contents(ImportFrom(root() / "mlflow.db")), Contents(folder));
  const std::string url = Serve();
  EXPECT_EQ(Contents(ImportFrom(url)), Contents(folder)) << "files that the server does not keep";

  std::filesystem::rename(root() / "mlruns", root() / "before");
  const auto kept = ParseJson(Execute({"python", script, url}), "");
  ASSERT_TRUE(kept.ok()) << kept.error().ToString();
  ImportRequest request;
  request.source = url;
  request.runs = {kept->Find("run")->AsString()};
  check(ImportAll(request), *kept);
}

TEST_F(Peers, WandbsOfflineRunHasEveryPointOverManyBlocks) {
  const std::string id =
      Execute({"python", std::string(kScripts) + "wandb_run.py", root(), "700", "--seed", "3"});
  const ImportOutcome outcome = ImportFrom(root());
  ASSERT_THAT(Contents(outcome), SizeIs(1));
  const Manifest& run = outcome.runs[0];
  EXPECT_EQ(run.run_id, "wandb-" + id);
  const Curve* loss = CurveOf(run, "loss");
  ASSERT_NE(loss, nullptr);
  ASSERT_THAT(loss->steps, SizeIs(700));
  for (std::size_t i = 0; i < 700; ++i) {
    EXPECT_NEAR(loss->values[i], std::pow(0.9, static_cast<double>(i + 1)), 1e-14);
  }
  EXPECT_FALSE(HasRemark(run, "byte"));
  EXPECT_FALSE(HasRemark(run, "has no end"));
}

}  // namespace
}  // namespace rharness
