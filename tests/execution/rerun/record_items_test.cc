// Evaluations that a run wrote: which one is found, what is kept of it, and the same in a rerun.
#include "harness/execution/rerun/record_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class ItemOutputsOfARun : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(MakeDirectories((root() / path).parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(root() / path, text).ok());
  }
  static std::string Line(int id, double acc) {
    return R"({"doc_id": )" + std::to_string(id) + R"(, "acc": )" + std::to_string(acc) + "}\n";
  }
  fs::path root() const { return folder_.path(); }

  Recording out_;

 private:
  ScopedTempDir folder_ = ScopedTempDir::Make().value();
};

// The names have the date, and with some versions a random folder.
TEST_F(ItemOutputsOfARun, AreTheFolderWhoseNameLasts) {
  Write("notes.jsonl", "{\"step\": 1, \"loss\": 0.5}\n");
  Write("answers.jsonl", Line(0, 1));
  Write("out/qdpv68r5/samples_sums_2026-11-29T10-06-30.8.jsonl", Line(0, 1) + Line(1, 0));
  Write("out/qdpv68r5/results_2026-11-29T10-06-30.8.json", R"({"n-shot": {"sums": 0}})");
  const auto found = FindItems(root(), {}, &out_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, "out");
  EXPECT_EQ(found->role, kItemsRole);
  EXPECT_EQ(out_.found.fields.front().path, "artifacts[0]");
  RecordRequest request;
  request.kept = root() / "kept";
  ASSERT_TRUE(RecordItems(request, root(), {}, *found, &out_).ok());
  EXPECT_EQ(out_.item_means.at("sums/acc"), 0.5);
  const std::string& sha256 = out_.artifacts.front().sha256;
  EXPECT_EQ(Sha256HexOf(out_.to_keep.at(sha256)), sha256);
  EXPECT_THAT(out_.artifacts.front().location, testing::EndsWith(sha256));
  ProposeItemMetrics(request, &out_);
  ASSERT_EQ(out_.found.metrics.size(), 1U);
  EXPECT_EQ(out_.found.metrics.front().margin, 0.01);
  // A rerun has other names, and the same items.
  fs::remove_all(root() / "out");
  Write("out/zzz/samples_sums_2026-12-01T00-00-00.1.jsonl", Line(1, 0) + Line(0, 1));
  Write("out/zzz/results_2026-12-01T00-00-00.1.json", R"({"date": 7, "n-shot": {"sums": 0}})");
  const HeldFolder held = HeldFolder::Open(root()).value();
  Artifact seen{.role = std::string(kItemsRole), .path = "out"};
  const auto all = [](const fs::path&) { return true; };
  ASSERT_TRUE(MeasureItems(held, all, &seen).ok());
  EXPECT_EQ(seen.sha256, sha256);
  EXPECT_FALSE(MeasureItems(
                   held, [](const fs::path&) { return false; }, &seen)
                   .ok());
}

TEST_F(ItemOutputsOfARun, LeaveOutWhatWasThereBeforeTheRun) {
  Write("out/samples_old_2026-11-28T00-00-00.1.jsonl", Line(0, 1));
  RecordRequest request;
  request.find = true;
  const OutputIdentities before = IdentifyOutputs(request, root());
  EXPECT_FALSE(FindItems(root(), before, &out_));
  Write("out/samples_new_2026-11-29T00-00-00.1.jsonl", Line(0, 0));
  const auto found = FindItems(root(), before, &out_);
  ASSERT_TRUE(found);
  ASSERT_TRUE(RecordItems(request, root(), before, *found, &out_).ok());
  EXPECT_THAT(out_.item_means, testing::ElementsAre(testing::Pair("new/acc", 0.0)));
}

TEST_F(ItemOutputsOfARun, AreAFileOfAnyProgram) {
  Write("answers.jsonl", Line(0, 1));
  const auto found = FindItems(root(), {}, &out_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, "answers.jsonl");
  ASSERT_TRUE(RecordItems({}, root(), {}, *found, &out_).ok());
  EXPECT_EQ(out_.item_means.at("acc"), 1.0);
  EXPECT_TRUE(out_.artifacts.front().location.empty());
}

}  // namespace
}  // namespace rharness
