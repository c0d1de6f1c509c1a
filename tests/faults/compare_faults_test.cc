// A disk that fails at any read of a comparison of log-probabilities: an error that names the file,
// never a verdict on a part of it. RHARNESS_FAULTS=all tries every read, a number so many.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>

#include "tests/cli/drill_program.h"
#include "tests/faults/fault_trial.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class CompareFaults : public DrillProgram {
 protected:
  ProcessResult Compare(const std::string& fault) const {
    return RunWithFault(ProcessSpec{{kRharness, "compare", "source/a.jsonl", "source/b.jsonl"},
                                    environment_,
                                    folder_.path()},
                        fault);
  }
  void WriteLines(const std::string& name, int lines) const {
    std::error_code error;
    std::filesystem::create_directories(At("source"), error);
    std::ofstream file(At("source/" + name));
    const std::string text(1 << 20, 'x');
    for (int i = 0; i < lines; ++i) {
      file << fmt::format(R"({{"prompt_id":{},"text":"{}","token_ids":[1],"logprobs":[-1.5]}})", i,
                          text)
           << "\n";
    }
  }
};

TEST_F(CompareFaults, OfReadsEndInAnErrorAndNoVerdict) {
  WriteLines("a.jsonl", 18);  // more than is read at once
  WriteLines("b.jsonl", 18);
  const std::string where = At("source").string();
  const ProcessResult clean = Compare("none 0 " + where);
  ASSERT_EQ(clean.outcome.exit_code, 0) << clean.stderr_text;
  ASSERT_THAT(clean.stdout_text, HasSubstr("identical"));
  long changes = 0, reads = 0;
  const std::string counts = Read(where + ".count");
  ASSERT_EQ(std::sscanf(counts.c_str(), "%ld %ld", &changes, &reads), 2) << counts;
  ASSERT_GT(reads, 20);
  int told = 0;
  for (const long n : SampleOf(reads, 12)) {
    const ProcessResult faulty = Compare("read_io " + std::to_string(n) + " " + where);
    EXPECT_EQ(faulty.outcome.exit_code, 4) << "read " << n << ": " << faulty.stdout_text;
    EXPECT_EQ(faulty.stdout_text, "") << "read " << n;
    EXPECT_THAT(faulty.stderr_text, HasSubstr(".jsonl")) << "read " << n;
    told += faulty.outcome.exit_code == 4 ? 1 : 0;
  }
  std::printf("compare    reads %4ld  exit 4 %4d\n", reads, told);
}

}  // namespace
}  // namespace rharness
