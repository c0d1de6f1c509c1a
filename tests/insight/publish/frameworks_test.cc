// Trainings of scikit-learn, PyTorch and JAX that log to a real MLflow as users have them: imported
// from its server, completed as the program says, drilled, and told there.
//
// Skipped without RHARNESS_PEERS, and where a framework is not installed there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "harness/base/json.h"
#include "tests/insight/publish/publish_peers.h"

namespace rharness {
namespace {

using testing::HasSubstr;

struct Framework {
  std::string name;
  std::string module;
  std::string weights;  // the artifact's path at MLflow
};

void PrintTo(const Framework& framework, std::ostream* out) { *out << framework.name; }

class Frameworks : public PublishPeers, public testing::WithParamInterface<Framework> {
 protected:
  std::string Script(const std::string& name) const {
    return std::string(kSources) + "/tests/insight/publish/peers/" + name;
  }
  // The last line that it printed.
  std::string Must(std::vector<std::string> argv, const fs::path& where) const {
    const ProcessResult result = Run(std::move(argv), where);
    EXPECT_TRUE(result.outcome.Succeeded())
        << result.outcome.ToString() << result.stdout_text << result.stderr_text;
    std::string text = result.stdout_text;
    while (text.ends_with('\n')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  }
  // A repository with the program and its data, as a user has one.
  void MakeRepository() {
    const fs::path run = At("run");
    fs::create_directories(run);
    fs::copy_file(Script("train_" + GetParam().name + ".py"), run / "train.py");
    fs::copy_file(std::string(kSources) + "/scenarios/data/digits.csv", run / "digits.csv");
    Must({"/usr/bin/env", "git", "init", "-q", "."}, run);
    Must({"/usr/bin/env", "git", "add", "."}, run);
    Must({"/usr/bin/env", "git", "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "a"},
         run);
    fs::copy_file(std::string(kSources) + "/scenarios/mlflow/rerun.py", run / "rerun.py");
    ASSERT_TRUE(WriteFileAtomic(run / "server.txt", url_).ok());
  }
  // The run's id at MLflow.
  std::string ImportOnly() {
    const ProcessResult imported =
        Rharness({"import", "--from", "mlflow", url_, "--out", "../runs"});
    EXPECT_EQ(imported.outcome.exit_code, 0) << imported.stderr_text;
    EXPECT_THAT(imported.stdout_text, HasSubstr("scenarios/mlflow/rerun.py writes it"));
    EXPECT_THAT(imported.stdout_text, HasSubstr("rharness import --complete FILE --weights PATH"));
    std::vector<std::string> ids;
    for (const auto& entry : fs::directory_iterator(At("runs"))) {
      ids.push_back(entry.path().stem().string().substr(std::string("mlflow-").size()));
    }
    EXPECT_EQ(ids.size(), 1u);
    return ids.empty() ? "" : ids[0];
  }
};

TEST_P(Frameworks, ARunIsImportedCompletedDrilledAndTold) {
  if (!Run({"python", "-c", "import " + GetParam().module}, "/").outcome.Succeeded()) {
    GTEST_SKIP() << GetParam().module << " is not installed in " << programs_;
  }
  Serve();
  MakeRepository();
  Must({"python", "train.py", "--seed", "3"}, At("run"));
  const std::string id = ImportOnly();
  const std::string manifest = At("runs/mlflow-" + id + ".json");
  Must({"python", Script("registry.py"), "fetch", id, GetParam().weights, At("run").string()},
       At("run"));
  const ProcessResult completed = Rharness({"import",
                                            "--complete",
                                            manifest,
                                            "--repository",
                                            ".",
                                            "--here",
                                            "--data",
                                            "rerun.py",
                                            "--seed",
                                            "all=3",
                                            "--weights",
                                            GetParam().weights,
                                            "--metrics",
                                            "metrics.json",
                                            "--metric",
                                            "test_accuracy,direction=higher,margin=0.01,primary",
                                            "--determinism",
                                            "bitwise",
                                            "--",
                                            programs_ / "python",
                                            "rerun.py",
                                            "train.py",
                                            "--seed",
                                            "3"});
  ASSERT_THAT(completed.stdout_text, HasSubstr("can be rerun")) << completed.stderr_text;
  ASSERT_EQ(Rharness({"history", "add", "--history", "../h.db", manifest}).outcome.exit_code, 0);
  const ProcessResult drill = Rharness({"drill", "--history", "../h.db", "--out", At("drill"),
                                        "--timeout-floor", "400s", "--rerun-time", "400s"});
  ASSERT_THAT(drill.stdout_text, HasSubstr("1 identical")) << drill.stderr_text;

  Must({"python", Script("registry.py"), "register", id}, At("run"));
  const ProcessResult told =
      Rharness({"report", At("drill"), "--to", "mlflow=" + url_, "--alias", "reproduced"});
  EXPECT_EQ(told.outcome.exit_code, 0) << told.stdout_text << told.stderr_text;
  const auto seen = ParseJson(Must({"python", Script("registry.py"), "show", id}, At("run")), "");
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->Find("tags")->Find("rharness.verdict")->AsString(), "identical");
  EXPECT_EQ(seen->Find("reproduced")->ToDouble(), 1);
  EXPECT_NE(seen->Find("aliases")->Find("reproduced"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Real, Frameworks,
                         testing::Values(Framework{"sklearn", "sklearn", "weights.npz"},
                                         Framework{"torch", "torch", "weights.pt"},
                                         Framework{"jax", "jax", "model/weights.npz"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace rharness
