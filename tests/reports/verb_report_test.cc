// The verb as its users meet it: the built program, run on files.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "harness/base/files.h"
#include "reports/model.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"
#include "tests/reports/sample_report.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class ReportVerb : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(WriteJsonFile(dir_ / "report.json", ToJson(SampleReport())).ok());
  }
  // Runs `rharness report ARGUMENTS` in the folder; stdout and stderr go to files there.
  int Run(const std::string& arguments) {
    const std::string command = "cd '" + dir_.string() +
                                "' && '" RHARNESS_BIN_DIR "/rharness' report " + arguments +
                                " > out.txt 2> err.txt";
    return WEXITSTATUS(std::system(command.c_str()));
  }
  std::string Read(const std::string& name) {
    const Result<std::string> text = ReadFile(dir_ / name);
    return text.ok() ? *text : "";
  }

  ScopedTempDir temp_ = *ScopedTempDir::Make();
  fs::path dir_ = temp_.path();
};

TEST_F(ReportVerb, RendersEveryFormatAndExitsWithZeroWhateverTheVerdicts) {
  EXPECT_EQ(
      Run(". --html a/r.html --junit j.xml --json-file r.json --markdown s.md --metrics m.prom"),
      0);
  EXPECT_EQ(Read("a/r.html"), WriteHtml(DocumentOf(SampleReport())));
  EXPECT_EQ(Read("j.xml"), WriteJunit(DocumentOf(SampleReport())));
  EXPECT_EQ(Read("r.json"), Read("report.json"));
  EXPECT_EQ(Read("s.md"), WriteMarkdown(DocumentOf(SampleReport())));
  EXPECT_EQ(Read("m.prom"), WriteMetrics(SampleReport()));
  EXPECT_EQ(Read("out.txt"), "");
}

TEST_F(ReportVerb, PrintsItsJsonLikeAnyVerbAndRefusesTheFormerSpelling) {
  EXPECT_EQ(Run(". --json"), 0);
  EXPECT_EQ(Read("out.txt"), Read("report.json"));
  EXPECT_EQ(Run(". --json --terminal"), 2);
  EXPECT_EQ(Run(". --json --junit -"), 2);
  for (const char* former :
       {". --json r.json", "--json r.json .", ". --json=r.json", ". --json -"}) {
    EXPECT_EQ(Run(former), 2) << former;
    EXPECT_NE(Read("err.txt").find("--json prints to stdout, and --json-file "), std::string::npos)
        << former << ": " << Read("err.txt");
    EXPECT_EQ(Read("out.txt"), "") << former;
  }
}

TEST_F(ReportVerb, FoldsToTheColumnsOfTheEnvironmentInAFile) {
  const auto widest = [&] {
    int most = 0;
    for (const std::string& line : SplitLines(Read("out.txt"))) {
      most = std::max(most, DisplayWidth(line));
    }
    return most;
  };
  EXPECT_EQ(Run("."), 0);
  EXPECT_GT(widest(), 60);
  ASSERT_EQ(::setenv("COLUMNS", "60", 1), 0);
  EXPECT_EQ(Run("."), 0);
  ::unsetenv("COLUMNS");
  EXPECT_LE(widest(), 60) << Read("out.txt");
}

TEST_F(ReportVerb, NamesFilesAsTheyAreFromTheWorkingDirectory) {
  Report report = LargeReport(1, 0);
  report.runs[0].run_id = "np-1";
  report.runs[0].verdict = Verdict::kFailed;
  report.runs[0].reruns = {{.index = 1,
                            .state = RerunEnd::State::kFailed,
                            .stderr_path = "runs/np-1/1/stderr.log",
                            .stderr_tail = "ModuleNotFoundError: numpy\n"}};
  Tally(&report);
  ASSERT_TRUE(WriteJsonFile(dir_ / "nights/one/report.json", ToJson(report)).ok());
  EXPECT_EQ(Run("nights/one --terminal --markdown s.md --html r.html"), 0);
  const std::string file = "ModuleNotFoundError: numpy (nights/one/runs/np-1/1/stderr.log)";
  for (const char* output : {"out.txt", "s.md", "r.html"}) {
    std::string text = Read(output);
    std::erase(text, '\\');  // Markdown's
    EXPECT_NE(text.find(file), std::string::npos) << output << text;
  }
}

TEST_F(ReportVerb, PrintsTheSummaryWhenNothingElseIsAskedFor) {
  EXPECT_EQ(Run("report.json"), 0);
  EXPECT_EQ(Read("out.txt"), WriteTerminal(DocumentOf(SampleReport()), 100, false));
}

TEST_F(ReportVerb, DashIsStdoutOnceOnly) {
  EXPECT_EQ(Run(". --junit -"), 0);
  EXPECT_EQ(Read("out.txt"), WriteJunit(DocumentOf(SampleReport())));
  EXPECT_EQ(Run(". --junit - --html -"), 2);
  EXPECT_EQ(Run(". --junit - --terminal"), 2);
}

TEST_F(ReportVerb, RefusesWhatIsNoReport) {
  EXPECT_EQ(Run("nowhere"), 2);
  ASSERT_TRUE(WriteFileAtomic(dir_ / "bad.json", "{\"schema\": \"rharness.report/v9\"}").ok());
  EXPECT_EQ(Run("bad.json"), 2);
  EXPECT_NE(Read("err.txt").find("rharness.report/v9"), std::string::npos);
}

TEST_F(ReportVerb, RefusesAPlaceBelowAFileBeforeAnyWork) {
  EXPECT_EQ(Run(". --html report.json/below.html"), 2);
  EXPECT_NE(Read("err.txt").find("report.json"), std::string::npos) << Read("err.txt");
}

TEST_F(ReportVerb, CarriesTheLastSuccessOverToTheNewMetrics) {
  Report fine = LargeReport(2, 0);
  fine.history = SampleReport().history;
  ASSERT_TRUE(WriteFileAtomic(dir_ / "m.prom", WriteMetrics(fine)).ok());
  EXPECT_EQ(Run(". --metrics m.prom"), 0);
  EXPECT_NE(Read("m.prom").find("rharness_last_success_timestamp_seconds{history=\"postgresql://"
                                "ci-db.example.com/rharness\"} 1795158000\n"),
            std::string::npos);
}

TEST_F(ReportVerb, WritesXmlThatXmllintAccepts) {
  if (std::system("command -v xmllint > /dev/null") != 0) GTEST_SKIP() << "xmllint is not here";
  EXPECT_EQ(Run(". --junit j.xml"), 0);
  EXPECT_EQ(std::system(("xmllint --noout '" + (dir_ / "j.xml").string() + "'").c_str()), 0);
}

}  // namespace
}  // namespace rharness
