// The plugin of pytest: a test passes if rharness says that its training reproduces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/python/module_program.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

class PytestPlugin : public PythonModule {
 protected:
  void SetUp() override {
    python_ = PythonWith("pytest");
    if (python_.empty()) GTEST_SKIP() << "no python3 with pytest is installed";
  }
  // pytest over one file; its report on stdout.
  ProcessResult Test(const std::string& text, const std::string& folder = ".") const {
    Write(folder + "/test_it.py", "import os, random, unittest\nimport pytest\n\n" + text);
    auto variables = Variables();
    variables["PYTHONPATH"] = RHARNESS_SOURCE_DIR "/harness/python";
    return Execute(
        {python_, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "-p",
         "rharness.pytest_plugin", "--basetemp", (base_ / "runs").string(), "test_it.py"},
        base_ / folder, variables);
  }
};

TEST_F(PytestPlugin, PassesATrainingThatIsEqualBitForBit) {
  const ProcessResult done = Test(R"(
@pytest.mark.reproducible
def test_training(reproducible_run):
    random.seed(1)
    reproducible_run.curve("loss", [1 / (k + 1) + random.random() / 100 for k in range(20)])
    reproducible_run.metric("accuracy", random.random())
)");
  EXPECT_EQ(done.outcome.exit_code, 0) << done.stdout_text;
  EXPECT_THAT(done.stdout_text, HasSubstr("1 passed"));
  EXPECT_THAT(done.stdout_text, HasSubstr("identical"));
}

TEST_F(PytestPlugin, FailsATrainingThatDrawsWithoutASeedAndNamesTheLine) {
  // Not below the folder of the run, and longer than a line of a screen has room for.
  const std::string deep = "a_folder_with_a_long_name/and_one_below_it_with_a_longer_one/tests";
  const ProcessResult done = Test(R"(
@pytest.mark.reproducible
def test_training():
    return {"accuracy": random.random()}
)",
                                  deep);
  EXPECT_EQ(done.outcome.exit_code, 1) << done.stdout_text;
  EXPECT_THAT(done.stdout_text, HasSubstr("rharness compare ends with 1"));
  EXPECT_THAT(done.stdout_text, HasSubstr("drifted"));
  EXPECT_THAT(done.stdout_text, HasSubstr("A generator without a seed is drawn from: random"));
  EXPECT_THAT(done.stdout_text, HasSubstr("test_it.py:7"));
}

TEST_F(PytestPlugin, JudgesByAMarginAndFailsWhatIsNotShown) {
  const ProcessResult done = Test(R"(
@pytest.mark.reproducible(margin={"accuracy": 0.01})
@pytest.mark.parametrize("spread", [1e-4, 0.5])
def test_training(spread):
    return {"accuracy": 0.5 + spread * int.from_bytes(os.urandom(4), "little") / 2**32}
)");
  EXPECT_EQ(done.outcome.exit_code, 1) << done.stdout_text;
  EXPECT_THAT(done.stdout_text, HasSubstr("1 failed, 1 passed"));
  EXPECT_THAT(done.stdout_text, HasSubstr("accuracy within its margin"));
}

TEST_F(PytestPlugin, RunsFixturesInEachRunAndNeverInItsOwnProcess) {
  const ProcessResult done = Test(R"(
@pytest.fixture
def data(tmp_path):
    with open(os.path.join(os.path.dirname(__file__), "log.txt"), "a") as log:
        log.write("%d\n" % os.getpid())
    return 3

class TestTraining:
    @pytest.mark.reproducible(runs=3)
    def test_sum(self, data):
        return {"sum": data}
)");
  EXPECT_EQ(done.outcome.exit_code, 0) << done.stdout_text;
  const std::string log = *ReadFile(base_ / "log.txt");
  EXPECT_EQ(std::ranges::count(log, '\n'), 3) << log;
}

TEST_F(PytestPlugin, GivesItsRunsTheOptionsOfTheIniFile) {
  Write("pytest.ini", "[pytest]\nreproducible_options = --rate 3\n");
  Write("conftest.py",
        "def pytest_addoption(parser):\n    parser.addoption('--rate', type=int, default=0)\n");
  const ProcessResult done = Test(R"(
@pytest.mark.reproducible
def test_training(request):
    assert request.config.getoption("rate") == 3
    return {"rate": 3}
)");
  EXPECT_EQ(done.outcome.exit_code, 0) << done.stdout_text;
}

TEST_F(PytestPlugin, FailsATestThatMeasuresNothingAndOneThatFails) {
  const ProcessResult done = Test(R"(
@pytest.mark.reproducible
def test_nothing():
    pass

@pytest.mark.reproducible
def test_wrong():
    assert 1 == 2

def test_unmarked(reproducible_run):
    pass

@pytest.mark.reproducible(bound=1)
def test_misspelt():
    return {"a": 1}

class TestCase(unittest.TestCase):
    @pytest.mark.reproducible
    def test_method(self):
        pass
)");
  EXPECT_EQ(done.outcome.exit_code, 1);
  EXPECT_THAT(done.stdout_text, HasSubstr("the test measured nothing"));
  EXPECT_THAT(done.stdout_text, HasSubstr("assert 1 == 2"));
  EXPECT_THAT(done.stdout_text, HasSubstr("needs @pytest.mark.reproducible"));
  EXPECT_THAT(done.stdout_text, HasSubstr("needs a plain test function"));
  EXPECT_THAT(done.stdout_text, HasSubstr("reproducible takes margin, runs, timeout, weights"));
  EXPECT_THAT(done.stdout_text, Not(HasSubstr("passed")));
}

TEST_F(PytestPlugin, ComparesWeightsThatTheTestWrites) {
  const ProcessResult done = Test(R"(
def save(path, values):
    import struct
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    header += b" " * (117 - len(header)) + b"\n"
    with open(path, "wb") as stream:
        stream.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        stream.write(struct.pack("<%dd" % len(values), *values))

@pytest.mark.reproducible(weights="model.npy")
@pytest.mark.parametrize("seeded", [True, False])
def test_weights(reproducible_run, seeded):
    random.seed(3 if seeded else None)
    save(os.path.join(reproducible_run.folder, "model.npy"), [random.random() for _ in range(4)])
)");
  EXPECT_EQ(done.outcome.exit_code, 1) << done.stdout_text;
  EXPECT_THAT(done.stdout_text, HasSubstr("1 failed, 1 passed"));
  EXPECT_THAT(done.stdout_text, HasSubstr("PASSED test_it.py::test_weights[True]"));
}

}  // namespace
}  // namespace rharness
