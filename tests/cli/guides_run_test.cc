// Every command of README.md and of the guides runs as it is printed, in a copy of
// scenarios/tutorial, and ends with the exit code that the guide states. Blocks that need what a
// test cannot have say so in their fence (```sh needs=slurm): guides_test.cc checks their options,
// and this counts them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/files.h"
#include "tests/cli/guide_commands.h"
#include "tests/history/postgresql_world.h"
#include "tests/probes/endpoint/served_model.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// What a block may need that a test does not have.
const std::set<std::string>& Needs() {
  static const std::set<std::string> needs = {
      "apt",           "cudnn",   "gpu", "kubernetes", "mlflow", "model-server",
      "model-signing", "network", "pip", "postgresql", "s3",     "slurm"};
  return needs;
}

// A model by python3, and the same one after an upgrade of its engine.
struct Served {
  ServedModel now{"steady"};
  ServedModel next{"upgraded"};
};
const Served& Models() {
  static const Served served;
  return served;
}

// Servers of PostgreSQL and of a model are started where they are installed. Their blocks count as
// checked only.
bool IsHere(const std::string& need) {
  if (need == "model-server") return Models().now.started() && Models().next.started();
  return need == "postgresql" && PostgresqlWorld::Shared().problem().empty();
}

// How many commands of rharness run, and how many are checked only.
struct Counts {
  int ran = 0;
  std::map<std::string, int> needs;

  int Checked() const {
    int sum = 0;
    for (const auto& [name, count] : needs) sum += count;
    return sum;
  }
  std::string ToString() const {
    std::string text = fmt::format("{} ran, {} checked only", ran, Checked());
    for (const auto& [name, count] : needs) text += fmt::format("; needs={}: {}", name, count);
    return text;
  }
};

Counts CountsOf(const std::vector<GuideStatement>& statements) {
  Counts counts;
  for (const GuideStatement& one : statements) {
    const int commands = static_cast<int>(VerbsNamedIn(one.line.text).size());
    (one.needs.empty() ? counts.ran : counts.needs[one.needs]) += commands;
  }
  return counts;
}

// Of README.md and all guides. Whoever adds a block that needs something raises the second.
constexpr int kLeastRan = 160;
constexpr int kMostChecked = 30;

struct GuideRun {
  std::vector<RanStatement> ran;
  std::vector<GuideStatement> all;

  double Seconds() const {
    double sum = 0;
    for (const RanStatement& one : ran) sum += one.seconds;
    return sum;
  }
};

GuideRun RunGuide(const std::string& document) {
  const ScopedTempDir folder = *ScopedTempDir::Make("rharness-guide-");
  const fs::path workspace = folder.path() / "tutorial";
  const fs::path source = RHARNESS_SOURCE_DIR;
  fs::copy(source / "scenarios/tutorial", workspace, fs::copy_options::recursive);
  fs::copy(source / "tests/records/intake/wandb_offline", workspace / "records/wandb",
           fs::copy_options::recursive);
  std::map<std::string, std::string> variables;
  if (IsHere("postgresql")) {
    const PostgresqlWorld& world = PostgresqlWorld::Shared();
    variables = {{"PGHOST", world.folder().string()},
                 {"PGPORT", std::to_string(world.port())},
                 {"PGUSER", "rharness"}};
  }
  if (document == "probes/GUIDE.md" && IsHere("model-server")) {
    variables = {{"SERVER", Models().now.url()}, {"CANARY", Models().next.url()}};
  }
  // As if it were installed.
  if (document == "harness/python/GUIDE.md") {
    variables["PYTHONPATH"] = (source / "harness/python").string();
  }
  GuideRun run{.all = StatementsIn(GuideText(document))};
  std::vector<GuideStatement> here;
  std::ranges::copy_if(run.all, std::back_inserter(here), [](const GuideStatement& one) {
    return one.needs.empty() || IsHere(one.needs);
  });
  run.ran = RunStatements(here, workspace, variables);
  return run;
}

// The guides of this suite that are to run, two at a time.
class GuideRuns : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    const testing::TestSuite* suite = testing::UnitTest::GetInstance()->current_test_suite();
    std::vector<std::string> documents;
    for (int i = 0; i < suite->total_test_count(); ++i) {
      if (suite->GetTestInfo(i)->should_run()) documents.push_back(GuideDocuments()[i]);
    }
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    const auto work = [&] {
      for (std::size_t i = next++; i < documents.size(); i = next++) {
        GuideRun run = RunGuide(documents[i]);
        const std::lock_guard lock(mutex);
        runs_[documents[i]] = std::move(run);
      }
    };
    std::thread beside(work);
    work();
    beside.join();
  }

  static inline std::map<std::string, GuideRun> runs_;
};

TEST_P(GuideRuns, AsItIsPrinted) {
  const GuideRun& run = runs_[GetParam()];
  EXPECT_GE(run.ran.size(), 4U);
  for (const RanStatement& one : run.ran) {
    EXPECT_EQ(one.exit_code, one.statement.exit_code)
        << GetParam() << ":" << one.statement.line.number << ": " << one.statement.line.text << "\n"
        << one.output.substr(0, 3000);
  }
  fmt::print("{}: {}; {:.1f} s\n", GetParam(), CountsOf(run.all).ToString(), run.Seconds());
}

TEST(Guides, RunMostOfTheirCommands) {
  Counts all;
  for (const std::string& document : GuideDocuments()) {
    const Counts one = CountsOf(StatementsIn(GuideText(document)));
    all.ran += one.ran;
    for (const auto& [name, count] : one.needs) {
      EXPECT_TRUE(Needs().contains(name)) << document << ": needs=" << name;
      all.needs[name] += count;
    }
  }
  fmt::print("all: {}\n", all.ToString());
  EXPECT_GE(all.ran, kLeastRan);
  EXPECT_LE(all.Checked(), kMostChecked) << "more commands than that do not run";
}

// Commands stand in blocks that run, or that say why they do not.
TEST(Guides, HideNoCommandInABlockOfAnotherKind) {
  for (const std::string& document : GuideDocuments()) {
    for (const GuideLine& line : FencedLines(GuideText(document))) {
      if (line.opening == "sh" || line.opening.starts_with("sh needs=")) continue;
      EXPECT_FALSE(line.text.starts_with("rharness ")) << document << ":" << line.number;
    }
  }
}

std::string NameOf(const testing::TestParamInfo<std::string>& document) {
  const std::string folder = fs::path(document.param).parent_path().filename().string();
  return folder.empty() ? "readme" : folder;
}

INSTANTIATE_TEST_SUITE_P(All, GuideRuns, testing::ValuesIn(GuideDocuments()), NameOf);

}  // namespace
}  // namespace rharness
