// A drill's crate: every rerun is in it, every name in it is something, and nothing else gets in.
#include "harness/insight/publish/ro_crate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "tests/records/manifest/example.h"
#include "tests/reports/sample_report.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class RoCrate : public testing::Test {
 protected:
  RoCrate() {
    report_ = LargeReport(2, 0);
    for (ReportRun& run : report_.runs) {
      run.run_id = "mlp-" + std::to_string(&run - report_.runs.data());
      ReportRerun rerun;
      rerun.index = 1;
      rerun.outcome = "exited with 0";
      rerun.state = RerunEnd::State::kCompared;
      rerun.evidence_path = "runs/" + run.run_id + "/1/evidence.json";
      rerun.stdout_path = "runs/" + run.run_id + "/1/stdout.log";
      run.reruns = {rerun};
      Evidence evidence = ExampleEvidence();
      evidence.run_id = run.run_id;
      evidence.artifacts.clear();
      Artifact weights;
      weights.role = "weights";
      weights.path = "a b.bin";
      weights.location = "runs/" + run.run_id + "/1/artifacts/a b.bin";
      evidence.artifacts.push_back(weights);
      Put(rerun.evidence_path, ToJson(evidence).Dump());
      Put(rerun.stdout_path, "epoch 1\n");
      Put(weights.location, "0123456789");
    }
    Put("report.json", ToJson(report_).Dump());
  }
  void Put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(Drill() / name, text).ok());
  }
  fs::path Drill() const { return folder_.path() / "drill"; }
  fs::path Out() const { return folder_.path() / "crate"; }
  WrittenCrate Write(const CrateLimits& limits = {}) {
    const auto written = WriteRoCrate(Drill(), report_, Out(), limits);
    EXPECT_TRUE(written.ok()) << written.error().ToString();
    const auto json = ReadJsonFile(Out() / "ro-crate-metadata.json");
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    entities_.clear();
    for (const Json& entity : json->Find("@graph")->AsArray()) {
      const std::string id = entity.Find("@id")->AsString();
      EXPECT_TRUE(entities_.emplace(id, entity).second) << id << " is there twice";
    }
    return written.ok() ? *written : WrittenCrate();
  }
  std::string Text(const std::string& id, std::string_view member) const {
    const auto entity = entities_.find(id);
    const Json* value = entity == entities_.end() ? nullptr : entity->second.Find(member);
    return value == nullptr                       ? "(none)"
           : value->kind() == Json::Kind::kString ? value->AsString()
                                                  : value->Dump();
  }
  std::size_t CountOf(const std::string& type) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        entities_, [&](const auto& one) { return one.second.Find("@type")->AsString() == type; }));
  }

  ScopedTempDir folder_ = *ScopedTempDir::Make();
  Report report_;
  std::map<std::string, Json> entities_;
};

// Every {"@id": ...} below a value.
void CollectReferences(const Json& value, std::set<std::string>* ids) {
  if (value.IsArray()) {
    for (const Json& element : value.AsArray()) CollectReferences(element, ids);
  } else if (value.IsObject()) {
    for (const auto& [name, member] : value.AsObject()) {
      if (name == "@id" && value.AsObject().size() == 1) ids->insert(member.AsString());
      CollectReferences(member, ids);
    }
  }
}

TEST_F(RoCrate, HasAnActionForEachRerunWithWhatItReadAndMade) {
  const WrittenCrate written = Write();
  EXPECT_THAT(written.left_out, Contains(HasSubstr("report.html"))) << "which nobody made here";
  const std::string run = report_.runs[0].run_id;
  EXPECT_EQ(CountOf("CreateAction"), 2u);
  const std::string action = "#rerun/" + run + "/1";
  EXPECT_EQ(Text(action, "startTime"), "2026-11-20T09:00:00.000+00:00");
  EXPECT_EQ(Text(action, "endTime"), "2026-11-20T09:01:31.250+00:00");
  EXPECT_THAT(Text(action, "actionStatus"), HasSubstr("CompletedActionStatus"));
  EXPECT_THAT(Text(action, "result"), HasSubstr("#verdict/" + run));
  EXPECT_THAT(Text(action, "result"), HasSubstr("runs/" + run + "/1/artifacts/a%20b.bin"));
  EXPECT_THAT(Text(action, "object"),
              HasSubstr("#data/sha256:" + ExampleEvidence().data[0].sha256));
  EXPECT_EQ(Text("#verdict/" + run, "value"), VerdictName(report_.runs[0].verdict));
  EXPECT_EQ(Text("runs/" + run + "/1/artifacts/a%20b.bin", "sha256"), Sha256HexOf("0123456789"));
  EXPECT_EQ(*ReadFile(Out() / "runs" / run / "1/artifacts/a b.bin"), "0123456789");
}

TEST_F(RoCrate, NamesNothingThatIsNotInIt) {
  Write();
  std::set<std::string> references;
  for (const auto& [id, entity] : entities_) CollectReferences(entity, &references);
  const std::set<std::string> elsewhere = {"https://w3id.org/ro/crate/1.1"};
  for (const std::string& id : references) {
    EXPECT_TRUE(entities_.contains(id) || elsewhere.contains(id)) << id;
  }
  for (const auto& [id, entity] : entities_) {
    if (entity.Find("@type")->AsString() != "File") continue;
    std::string path = id;
    for (auto at = path.find("%20"); at != path.npos; at = path.find("%20"))
      path.replace(at, 3, " ");
    EXPECT_TRUE(fs::is_regular_file(Out() / path)) << id;
  }
}

TEST_F(RoCrate, TellsByItsHashWhatIsTooLarge) {
  CrateLimits limits;
  limits.file_bytes = 9;
  const WrittenCrate written = Write(limits);
  const std::string id = "#left-out/runs/" + report_.runs[0].run_id + "/1/artifacts/a%20b.bin";
  EXPECT_EQ(Text(id, "@type"), "CreativeWork");
  EXPECT_EQ(Text(id, "sha256"), Sha256HexOf("0123456789"));
  EXPECT_FALSE(fs::exists(Out() / "runs" / report_.runs[0].run_id / "1/artifacts/a b.bin"));
  EXPECT_THAT(written.left_out, Contains(HasSubstr("10 B, more than the 9 B")));
  fs::remove_all(Out());
  limits = {};
  limits.all_bytes = 20;
  EXPECT_EQ(Write(limits).files, 2u) << "of 8 bytes each";
}

TEST_F(RoCrate, TakesNothingFromOutsideOfTheDrill) {
  ASSERT_TRUE(WriteFileAtomic(folder_.path() / "secret", "s3cret").ok());
  report_.runs[0].reruns[0].stdout_path = "../secret";
  const fs::path log = Drill() / report_.runs[1].reruns[0].stdout_path;
  fs::remove(log);
  fs::create_symlink(folder_.path() / "secret", log);
  Write();
  for (const auto& entry : fs::recursive_directory_iterator(Out())) {
    if (entry.is_regular_file()) {
      EXPECT_THAT(*ReadFile(entry.path()), Not(HasSubstr("s3cret")));
    }
  }
  EXPECT_EQ(CountOf("CreateAction"), 2u);
}

TEST_F(RoCrate, IsMadeInANewFolderOnlyAndWhole) {
  ASSERT_TRUE(WriteFileAtomic(Out() / "mine", "x").ok());
  const auto refused = WriteRoCrate(Drill(), report_, Out());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().ToString(), HasSubstr("expected a new folder"));
  EXPECT_EQ(*ReadFile(Out() / "mine"), "x");
  fs::remove_all(Out());
  const auto none = WriteRoCrate(folder_.path() / "no-drill", report_, Out());
  EXPECT_FALSE(none.ok());
  EXPECT_FALSE(fs::exists(Out()));
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    EXPECT_THAT(entry.path().string(), Not(HasSubstr("partial")));
  }
}

TEST_F(RoCrate, HasARerunWithoutEvidenceToo) {
  report_.runs[0].reruns[0].state = RerunEnd::State::kInfra;
  report_.runs[0].reruns[0].reason = "no space";
  fs::remove(Drill() / report_.runs[0].reruns[0].evidence_path);
  const WrittenCrate written = Write();
  const std::string action = "#rerun/" + report_.runs[0].run_id + "/1";
  EXPECT_THAT(Text(action, "actionStatus"), HasSubstr("FailedActionStatus"));
  EXPECT_EQ(Text(action, "error"), "no space");
  EXPECT_EQ(Text(action, "startTime"), "(none)");
  EXPECT_THAT(written.left_out, Contains(HasSubstr("evidence.json")));
}

}  // namespace
}  // namespace rharness
