// Slips of the pen in a selection, against the values that a history has.
#include "harness/drill/selection_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rharness {
namespace {

std::vector<HistoryEntry> Entries(const std::vector<std::string>& families) {
  std::vector<HistoryEntry> entries;
  for (const std::string& family : families) {
    HistoryEntry& entry = entries.emplace_back();
    entry.run_id = "run-" + std::to_string(entries.size());
    entry.family = family;
    entry.declared = "bitwise";
  }
  return entries;
}

std::string Complaint(const std::string& text, const std::vector<HistoryEntry>& entries) {
  const auto selection = Selection::Parse(text);
  EXPECT_TRUE(selection.ok()) << text;
  const Status status = CheckNamedValues(*selection, entries);
  return status.ok() ? "" : status.error().message;
}

TEST(SelectionCheck, PassesValuesThatTheHistoryHasOrMayHave) {
  const auto entries = Entries({"mlp", "resnet"});
  for (const char* text :
       {"", "family = mlp", "family != resnet and run_id = run-2", "declared = statistical",
        "last_verdict = drifted", "last_verdict = \"\"", "family ~ nope*", "verified = never",
        "duration_seconds > 1e9"}) {
    EXPECT_EQ(Complaint(text, entries), "") << text;
  }
}

TEST(SelectionCheck, NamesTheNearestValuesOfAFieldFirst) {
  const auto entries = Entries({"mlp", "resnet50", "resnet18", "bert", "gpt", "t5", "vit"});
  EXPECT_EQ(Complaint("family = resnet5", entries),
            "no run's family is \"resnet5\"; expected \"resnet50\", \"resnet18\", \"bert\", "
            "\"t5\", \"gpt\" or one of 2 more");
}

TEST(SelectionCheck, FindsASlipBehindAnythingThatMatches) {
  const auto entries = Entries({"mlp"});
  EXPECT_EQ(Complaint("family = mlp or not (run_id != run-1 or family != mpl)", entries),
            "no run's family is \"mpl\"; expected \"mlp\"");
  EXPECT_EQ(Complaint("declared = bitwize", entries),
            "no run's declared is \"bitwize\"; expected \"bitwise\", \"statistical\"");
  EXPECT_EQ(Complaint("last_verdict = drift", entries).substr(0, 52),
            "no run's last_verdict is \"drift\"; expected \"drifted\"");
}

TEST(SelectionCheck, LeavesAnEmptyHistoryToOthers) { EXPECT_EQ(Complaint("family = mlp", {}), ""); }

}  // namespace
}  // namespace rharness
