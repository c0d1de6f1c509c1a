// Everything here goes through the real programs, with an environment of its own.
#include "tests/scenarios/fault_world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kRharness[] = RHARNESS_BIN_DIR "/rharness";
constexpr char kDigits[] = RHARNESS_SOURCE_DIR "/scenarios/data/digits.csv";
constexpr char kCode[] = RHARNESS_SOURCE_DIR "/scenarios/digits_portable/portable_mlp.cc";

void Write(const fs::path& path, const std::string& text) {
  const Status written = WriteFileAtomic(path, text);
  EXPECT_TRUE(written.ok()) << written.error().ToString();
}

std::string Read(const fs::path& path) {
  auto text = ReadFile(path);
  EXPECT_TRUE(text.ok()) << text.error().ToString();
  return text.ok() ? *text : std::string();
}

ScopedTempDir MakeFolder() {
  auto folder = ScopedTempDir::Make("rharness-faults-");
  if (!folder.ok()) Abort("no temporary folder");
  return std::move(*folder);
}

}  // namespace

FaultWorld::FaultWorld() : folder_(MakeFolder()) {
  Write(repository() / "data" / "digits.csv", Read(kDigits));
  Write(repository() / "src" / "portable_mlp.cc", Read(kCode));
  CommitAll(repository(), "Train on digits");
}

ProcessResult FaultWorld::Run(std::vector<std::string> argv) const {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.environment = environment;
  spec.environment["HOME"] = folder().string();
  spec.environment["LANG"] = "C.UTF-8";
  spec.environment["PATH"] = !only_path.empty()
                                 ? only_path
                                 : fmt::format("{}{}{}:/usr/local/bin:/usr/bin:/bin", wrapper_,
                                               wrapper_.empty() ? "" : ":", RHARNESS_BIN_DIR);
  spec.working_directory = repository();
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(100);
  return RunProcess(spec, limits);
}

void FaultWorld::Demand(std::vector<std::string> argv) const {
  const std::string line = fmt::format("{}", fmt::join(argv, " "));
  const ProcessResult result = Run(std::move(argv));
  EXPECT_TRUE(result.outcome.Succeeded()) << line << ": " << result.outcome.ToString() << '\n'
                                          << result.stderr_text;
}

fs::path FaultWorld::Record(const Recipe& recipe) {
  const fs::path manifest = folder() / "manifests" / (recipe.name + ".json");
  const std::string seed = std::to_string(recipe.seed);
  std::vector<std::string> argv = {
      kRharness,
      "--quiet",
      "record",
      "--out",
      manifest,
      "--family",
      recipe.family,
      "--root",
      ".",
      "--data",
      "digits=" + recipe.data,
      "--weights",
      "model.safetensors",
      "--metrics",
      "metrics.json",
      "--metric",
      "test_accuracy,direction=higher,margin=0.03,primary,quantum=0.002785515320334262",
      "--metric",
      "test_loss,direction=lower,unit=nat,margin=0.1,primary",
      "--seed",
      "init=" + seed,
      "--seed",
      "shuffle=" + seed,
      "--determinism",
      recipe.determinism};
  if (recipe.pin_code) argv.insert(argv.end(), {"--code-file", "src/portable_mlp.cc"});
  argv.insert(argv.end(), recipe.options.begin(), recipe.options.end());
  argv.insert(argv.end(), {"--", recipe.trainer, "--data", recipe.data, "--seed", seed, "--epochs",
                           std::to_string(recipe.epochs)});
  Demand(std::move(argv));
  return manifest;
}

void FaultWorld::Wrap(const std::string& trainer, const std::string& script) {
  wrapper_ = folder() / fmt::format("wrapper-{}", ++count_);
  const fs::path path = fs::path(wrapper_) / trainer;
  Write(path, fmt::format("#!/bin/sh\nREAL={}/{}\n{}\n", RHARNESS_BIN_DIR, trainer, script));
  fs::permissions(path, fs::perms::owner_all);
}

void FaultWorld::Unwrap() { wrapper_.clear(); }

DrillResult FaultWorld::Drill(const std::vector<fs::path>& manifests,
                              std::vector<std::string> options) {
  const std::string history = folder() / fmt::format("history-{}.db", ++count_);
  drill_ = folder() / fmt::format("drill-{}", count_);
  std::vector<std::string> add = {kRharness, "--quiet", "history", "add", "--history", history};
  add.insert(add.end(), manifests.begin(), manifests.end());
  Demand(std::move(add));
  std::vector<std::string> argv = {kRharness, "--quiet", "drill",  "--history", history,
                                   "--out",   drill_,    "--json", "--root",    "."};
  argv.insert(argv.end(), options.begin(), options.end());
  const ProcessResult result = Run(std::move(argv));
  DrillResult drilled{.exit_code = result.outcome.exit_code, .stderr_text = result.stderr_text};
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kExited) << result.outcome.ToString();
  const auto json = ParseJson(result.stdout_text, "stdout");
  EXPECT_TRUE(json.ok()) << result.stdout_text << result.stderr_text;
  if (!json.ok()) return drilled;
  auto report = ParseReport(*json, "stdout");
  EXPECT_TRUE(report.ok()) << report.error().ToString();
  if (report.ok()) drilled.report = std::move(*report);
  return drilled;
}

Evidence FaultWorld::EvidenceOf(const std::string& run_id, int rerun) const {
  auto evidence = LoadEvidence(drill_ / "runs" / run_id / std::to_string(rerun) / "evidence.json");
  EXPECT_TRUE(evidence.ok()) << evidence.error().ToString();
  return evidence.ok() ? std::move(*evidence) : Evidence();
}

void CommitAll(const fs::path& folder, const std::string& message) {
  const std::vector<std::vector<std::string>> steps = {
      {"init", "--quiet"},
      {"add", "--all"},
      {"-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false",
       "commit", "--quiet", "--allow-empty", "-m", message}};
  for (const std::vector<std::string>& step : steps) {
    ProcessSpec spec;
    spec.argv = {"git"};
    spec.argv.insert(spec.argv.end(), step.begin(), step.end());
    spec.environment = PickEnvironment({"PATH"});
    spec.environment["HOME"] = folder.string();
    spec.working_directory = folder;
    const ProcessResult result = RunProcess(spec);
    EXPECT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
  }
}

std::string DigitsWithOneRowChanged() {
  std::string digits = Read(kDigits);
  const std::size_t row = digits.find('\n', digits.size() / 2) + 1;
  const std::size_t pixel = digits.find(',', row);
  return digits.replace(row, pixel - row, digits.substr(row, pixel - row) == "7" ? "8" : "7");
}

void WriteShards(const fs::path& folder) {
  constexpr int kShards = 16;
  std::vector<std::string> shards(kShards);
  std::istringstream lines(Read(kDigits));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) shards[count % kShards] += line + "\n";
  for (int i = 0; i < kShards; ++i) {
    const int shard = i * 7 % kShards;
    Write(folder / fmt::format("shard-{:02}.csv", shard), shards[static_cast<std::size_t>(shard)]);
  }
}

}  // namespace rharness
