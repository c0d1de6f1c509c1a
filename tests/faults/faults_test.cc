// Whatever goes wrong at whichever call: no other verdict, nothing stuck, nothing lost. Prints a
// table; RHARNESS_FAULTS=all tries every call, RHARNESS_FAULTS=100 so many of each kind.
#include <gmock/gmock.h>

#include <cstdio>

#include "tests/faults/fault_trial.h"
#include "tests/sanitized.h"

namespace rharness {
namespace {

struct Kind {
  const char* mode;
  const char* what;
};
constexpr Kind kKinds[] = {
    {"kill_before", "killed before a change"},
    {"kill_after", "killed after a change"},
    {"kill_mid", "killed in the middle of it"},
    {"no_space", "no space for it"},
    {"short", "half of it, then no space"},
    {"io", "it fails (EIO)"},
    {"read_io", "a read fails (EIO)"},
    {"full", "no space from there on"},
    {"dead", "EIO from there on"},
};

class Faults : public FaultTrial {
 protected:
  struct Row {
    int trials = 0, wrong = 0, stuck = 0, lost = 0;
  };

  // How many changes, and how many reads, a drill makes without a fault below `where`, a folder or
  // the beginning of a path; faults are tried there from now on.
  std::pair<long, long> CountCalls(const std::filesystem::path& where) {
    where_ = where.string();
    Reset();
    EXPECT_EQ(RunDrill("none 0 " + where_, false).outcome.exit_code, 1);
    std::pair<long, long> counts;
    const std::string text = Read(where_ + ".count");
    EXPECT_EQ(std::sscanf(text.c_str(), "%ld %ld", &counts.first, &counts.second), 2) << text;
    return counts;
  }

  std::string FaultAt(const char* mode, long n) const {
    return std::string(mode) + " " + std::to_string(n) + " " + where_;
  }
  static void Note(const TrialEnd& end, const std::string& fault, Row* row) {
    ++row->trials;
    row->wrong += end.wrong.empty() ? 0 : 1;
    row->stuck += end.stuck.empty() ? 0 : 1;
    row->lost += end.lost.empty() ? 0 : 1;
    EXPECT_EQ(end.wrong, "") << fault;
    EXPECT_EQ(end.stuck, "") << fault;
    EXPECT_EQ(end.lost, "") << fault;
  }
  Row Try(const Kind& kind, long count) {
    Row row;
    for (const long n : SampleOf(count, 4)) {
      Reset();
      const std::string fault = FaultAt(kind.mode, n);
      Note(Examine(RunDrill(fault, false)), fault, &row);
    }
    return row;
  }
  // Killed, and killed again while it is resumed, elsewhere.
  Row TryTwice(long count) {
    Row row;
    for (const long n : SampleOf(count, 4)) {
      Reset();
      const std::string first = FaultAt("kill_after", n);
      const std::string second = FaultAt("kill_mid", 1 + n * 37 % count);
      RunDrill(first, false);
      Note(Examine(RunDrill(second, std::filesystem::exists(Trial("out/journal.jsonl")))),
           first + ", then " + second, &row);
    }
    return row;
  }
  static void Print(const char* what, const Row& row) {
    std::printf("%-28s %7d %6d %6d %6d\n", what, row.trials, row.wrong, row.stuck, row.lost);
    std::fflush(stdout);
  }
  static void PrintHead(long changes, long reads) {
    std::printf("%ld changes, %ld reads\n%-28s %7s %6s %6s %6s\n", changes, reads, "", "trials",
                "wrong", "stuck", "lost");
  }

  void TryAll() {
    const auto [changes, reads] = CountCalls(At(""));
    ASSERT_GT(changes, 50);
    ASSERT_GT(reads, 50);
    PrintHead(changes, reads);
    for (const Kind& kind : kKinds) {
      const bool reading = std::string_view(kind.mode) == "read_io";
      Print(kind.what, Try(kind, reading ? reads : changes));
    }
    Print("killed, and again resuming", TryTwice(changes));
  }

  std::string where_;
};

TEST_F(Faults, AtAnyCallLeaveNoWrongVerdictAndNothingStuckOrLost) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's library must come before the shim";
  RecordBoth(64);
  TryAll();
}

// The order of calls, and so the one that goes wrong, then differs from trial to trial.
TEST_F(Faults, AtAnyCallOfRerunsSideBySideLeaveNothingOfItEither) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's library must come before the shim";
  jobs_ = 2;
  RecordBoth(64);
  TryAll();
}

// A drill that is finished is entered once, whatever cannot be read while it is looked at again.
TEST_F(Faults, AtAnyReadOfAFinishedDrillEnterItNoSecondTime) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's library must come before the shim";
  RecordBoth(16);
  Reset();
  EXPECT_EQ(RunDrill("", false).outcome.exit_code, 1);
  const std::string where = At("").string();
  EXPECT_EQ(RunDrill("none 0 " + where, true).outcome.exit_code, 1);
  long changes = 0, reads = 0;
  const std::string counts = Read(where + ".count");
  ASSERT_EQ(std::sscanf(counts.c_str(), "%ld %ld", &changes, &reads), 2) << counts;
  int doubled = 0, trials = 0;
  for (const long n : SampleOf(reads, 12)) {
    const ProcessResult resumed = RunDrill("read_io " + std::to_string(n) + " " + where, true);
    EXPECT_THAT(resumed.outcome.exit_code, testing::AnyOf(1, 4)) << resumed.stderr_text;
    ++trials;
    doubled += Drills() > 1 ? 1 : 0;
  }
  std::printf("resumed when finished: %ld reads, %d trials, %d doubled\n", reads, trials, doubled);
  EXPECT_EQ(doubled, 0);
}

TEST_F(Faults, AtAnyLineLeaveTheJournalReadable) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's library must come before the shim";
  RecordBoth(64);
  const auto [changes, reads] = CountCalls(Trial("out/journal.jsonl"));
  ASSERT_GT(changes, 8);
  PrintHead(changes, reads);
  for (const Kind& kind : kKinds) {
    const std::string_view mode = kind.mode;
    if (mode == "short" || mode == "kill_mid" || mode == "io") Print(kind.what, Try(kind, changes));
  }
}

}  // namespace
}  // namespace rharness
