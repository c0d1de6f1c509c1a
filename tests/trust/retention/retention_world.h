// A folder with what runs made, and a history that knows of it.
#ifndef RHARNESS_TESTS_TRUST_RETENTION_RETENTION_WORLD_H_
#define RHARNESS_TESTS_TRUST_RETENTION_RETENTION_WORLD_H_

#include <string>
#include <utility>
#include <vector>

#include "harness/base/digest.h"
#include "harness/trust/retention/retention_plan.h"
#include "tests/history/store_fixture.h"

namespace rharness {

class RetentionWorld : public HistoryFileTest {
 protected:
  RetentionWorld() : store_(OpenStore()) {
    Put("policy.yaml", "version: 1\nretention:\n  - {families: \"*\", keep_last: 1}\n");
    std::filesystem::create_directories(Root());
  }

  std::filesystem::path Root() const { return folder_.path() / "root"; }
  void Put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / name, text).ok());
  }
  void Policy(const std::string& rest) const { Put("policy.yaml", "version: 1\n" + rest); }
  bool IsThere(const std::string& name) const {
    return std::filesystem::symlink_status(Root() / name).type() !=
           std::filesystem::file_type::not_found;
  }
  // A run that made a file of this content, at this place below the root.
  static Manifest Made(const std::string& run, const std::string& day, const std::string& place,
                       const std::string& content, const std::string& role = "weights") {
    Manifest manifest = MakeManifest(run, day, "mlp");
    manifest.artifacts.push_back({.role = role,
                                  .path = "model.bin",
                                  .location = place,
                                  .size_bytes = content.size(),
                                  .sha256 = Sha256HexOf(content),
                                  .tensor_digest = std::string(64, 'd'),
                                  .tensors = {},
                                  .parts = {}});
    return manifest;
  }
  void Add(const Manifest& manifest) const {
    const auto added = store_->Add(manifest, At(kDay3));
    ASSERT_TRUE(added.ok()) << added.error().ToString();
  }
  // The run, and its file "RUN.bin".
  void AddRun(const std::string& run, const std::string& day) const {
    Put("root/" + run + ".bin", "weights of " + run);
    Add(Made(run, day, run + ".bin", "weights of " + run));
  }
  RetentionReport Plan(const std::string& now = "2026-02-01T00:00:00.000Z") const {
    const RetentionInputs inputs{.root = Root(),
                                 .history = Path().string(),
                                 .policy = (folder_.path() / "policy.yaml").string(),
                                 .never = {Path(), folder_.path() / "policy.yaml"}};
    auto report = PlanRetention(inputs, At(now), store_.get());
    EXPECT_TRUE(report.ok()) << report.error().ToString();
    return report.ok() ? std::move(*report) : RetentionReport();
  }
  static std::vector<std::string> PathsOf(const RetentionReport& report) {
    std::vector<std::string> paths;
    for (const DeletionItem& item : report.list.items) paths.push_back(item.path);
    return paths;
  }
  static std::string WhyKept(const RetentionReport& report, const std::string& run) {
    for (const KeptRun& kept : report.kept_runs) {
      if (kept.run_id == run) return kept.why;
    }
    for (const KeptFile& kept : report.kept_files) {
      if (kept.run_id == run) return kept.why;
    }
    return "";
  }
  void Judge(const std::string& run, const std::string& verdict, const std::string& day) const {
    DrillResults results;
    results.verdicts = {MakeVerdict("drill-" + run, run, verdict, day)};
    ASSERT_TRUE(store_->AddDrill({"drill-" + run, At(day), At(day), 0}, results).ok());
  }

  std::unique_ptr<HistoryStore> store_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_TRUST_RETENTION_RETENTION_WORLD_H_
