// Runs the attacks, and tells at the end how many of each class were held off.
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace {

class CountsByClass : public testing::EmptyTestEventListener {
  void OnTestProgramEnd(const testing::UnitTest& program) override {
    fmt::print("\n{:<24} {:>5} {:>7} {:>8}\n", "CLASS OF ATTACK", "HELD", "BROKEN", "SKIPPED");
    for (int i = 0; i < program.total_test_suite_count(); ++i) {
      const testing::TestSuite& suite = *program.GetTestSuite(i);
      if (!suite.should_run()) continue;
      fmt::print("{:<24} {:>5} {:>7} {:>8}\n", suite.name(), suite.successful_test_count(),
                 suite.failed_test_count(), suite.skipped_test_count());
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new CountsByClass);
  return RUN_ALL_TESTS();
}
