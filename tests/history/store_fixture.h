// A history in a temporary folder or in a database of a server of the tests' own, and manifests to
// put in it.
#ifndef RHARNESS_TESTS_HISTORY_STORE_FIXTURE_H_
#define RHARNESS_TESTS_HISTORY_STORE_FIXTURE_H_

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/history/store.h"
#include "tests/history/postgresql_world.h"
#include "tests/history/raw_history.h"

namespace rharness {

inline constexpr char kDay1[] = "2026-01-01T00:00:00.000Z";
inline constexpr char kDay2[] = "2026-01-02T00:00:00.000Z";
inline constexpr char kDay3[] = "2026-01-03T00:00:00.000Z";
inline constexpr char kDay4[] = "2026-01-04T00:00:00.000Z";

inline WallTime At(const std::string& text) { return ParseTime(text).value(); }

inline Manifest MakeManifest(const std::string& run_id, const std::string& started,
                             const std::string& family = "digits-mlp/cpu") {
  Manifest manifest;
  manifest.run_id = run_id;
  manifest.family = family;
  manifest.started = At(started);
  manifest.ended = manifest.started + std::chrono::seconds(90);
  manifest.duration_seconds = 90.125;
  manifest.code.repository = ".";
  manifest.code.commit = std::string(40, 'a');
  manifest.command = {"python3", "train.py", "--seed=3"};
  manifest.seeds = {{"python", 3}};
  manifest.rng_sources = {"python"};
  manifest.determinism.declared = "bitwise";
  manifest.metrics_path = "metrics.json";
  Metric metric;
  metric.name = "accuracy";
  metric.value = 0.1 + 0.2;
  metric.unit = "1";
  metric.direction = MetricDirection::kHigher;
  metric.primary = true;
  metric.margin = 0.005;
  manifest.metrics = {metric};
  return manifest;
}

// Empty where there is none.
inline std::string NameOf(const std::optional<Verdict>& verdict) {
  return verdict ? std::string(VerdictName(*verdict)) : std::string();
}

inline VerdictRecord MakeVerdict(const std::string& drill_id, const std::string& run_id,
                                 const std::string& verdict, const std::string& decided) {
  return {drill_id,    run_id, ParseVerdict(verdict).value(),
          At(decided), 2,      R"([{"message": "because"}])"};
}

inline FamilyRecord MakeFamilyRecord(const std::string& drill_id, const std::string& configuration,
                                     const std::string& verdict, const std::string& decided,
                                     const std::string& family = "digits-mlp/cpu") {
  return {drill_id,
          family,
          configuration,
          family + " as " + configuration,
          ParseVerdict(verdict).value(),
          At(decided),
          3,
          R"(["because"])"};
}

inline std::unique_ptr<HistoryStore> OpenStoreAt(const std::filesystem::path& path) {
  return std::move(HistoryStore::Open(path.string())).value();
}

// A history that is a file, for what is about files.
class HistoryFileTest : public testing::Test {
 protected:
  std::filesystem::path Path() const { return folder_.path() / "history.db"; }
  std::unique_ptr<HistoryStore> OpenStore() const {
    return std::move(HistoryStore::Open(Path().string())).value();
  }
  Result<std::unique_ptr<HistoryStore>> TryOpen() const {
    return HistoryStore::Open(Path().string());
  }

  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();
};

// A history in an SQLite file and, where a server can be started, in PostgreSQL. What overrides
// SetUp calls this one first and returns where IsSkipped().
class HistoryTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    url_ = (folder_.path() / "history.db").string();
    if (!OnServer()) return;
    PostgresqlWorld& world = PostgresqlWorld::Shared();
    if (!world.problem().empty()) GTEST_SKIP() << world.problem();
    url_ = world.MakeDatabase();
  }
  bool OnServer() const { return std::string(GetParam()) == "postgresql"; }
  const std::string& Url() const { return url_; }
  RawHistory Raw() const { return RawHistory(url_); }
  std::unique_ptr<HistoryStore> OpenStore() const {
    return std::move(HistoryStore::Open(url_)).value();
  }
  Result<std::unique_ptr<HistoryStore>> TryOpen() const { return HistoryStore::Open(url_); }

  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();

 private:
  std::string url_;
};

// For a suite of tests over both.
inline auto BothDatabases() { return testing::Values("sqlite", "postgresql"); }
inline std::string DatabaseName(const testing::TestParamInfo<const char*>& info) {
  return info.param;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_HISTORY_STORE_FIXTURE_H_
