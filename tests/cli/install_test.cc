// What `cmake --install` puts below a prefix, and that it runs from there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Install : public testing::Test {
 protected:
  Install() : prefix_(*ScopedTempDir::Make("rharness-install-")) {}

  static ProcessResult Execute(const std::vector<std::string>& argv) {
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(100);
    return RunProcess({argv, PickEnvironment({"PATH", "TMPDIR"}), "/"}, limits);
  }
  void InstallInto(const std::string& folder, const std::vector<std::string>& options = {}) {
    std::vector<std::string> argv = {"cmake", "--install", RHARNESS_BIN_DIR "/..", "--prefix",
                                     At(folder)};
    argv.insert(argv.end(), options.begin(), options.end());
    const ProcessResult result = Execute(argv);
    ASSERT_TRUE(result.outcome.Succeeded()) << result.stdout_text << result.stderr_text;
  }
  std::string At(const std::string& path) const { return (prefix_.path() / path).string(); }

  ScopedTempDir prefix_;
};

TEST_F(Install, PutsProgramsPagesAndCompletionBelowThePrefix) {
  InstallInto("all");
  for (const char* path : {"bin/rharness",
                           "bin/rharness-more",
                           "bin/rharness-probe",
                           "share/man/man1/rharness.1",
                           "share/man/man1/rharness-drill.1",
                           "share/man/man7/rharness-guide-drill.7",
                           "share/doc/rharness/guides/history.md",
                           "share/doc/rharness/scenarios/tutorial/record.sh",
                           "lib/rharness/observe/librharness-observe.so",
                           "lib/rharness/observe/librharness-kernels.so",
                           "lib/rharness/observe/rharness-look",
                           "lib/rharness/observe/python/sitecustomize.py",
                           "lib/rharness/observe/python/rharness_observe.py",
                           "share/doc/rharness/README.md",
                           "share/doc/rharness/LICENSE",
                           "share/doc/rharness/scenarios/mlflow/rerun.py",
                           "share/rharness/schemas/manifest.schema.json",
                           "share/rharness/schemas/report.schema.json",
                           "share/bash-completion/completions/rharness",
                           "share/zsh/site-functions/_rharness",
                           "share/fish/vendor_completions.d/rharness.fish"}) {
    EXPECT_TRUE(fs::is_regular_file(At(std::string("all/") + path))) << path;
  }
  const ProcessResult version = Execute({At("all/bin/rharness"), "--version"});
  EXPECT_EQ(version.stdout_text, "0.1.0\n") << version.stderr_text;
  // It finds the other programs beside it.
  const ProcessResult list = Execute({At("all/bin/rharness"), "probe", "list"});
  EXPECT_TRUE(list.outcome.Succeeded()) << list.stderr_text;
  EXPECT_THAT(list.stdout_text, HasSubstr("cpu"));
}

TEST_F(Install, LooksForLibrariesBesideItselfAndNowhereInTheBuild) {
  InstallInto("p", {"--component", "programs"});
  for (const char* program : {"p/bin/rharness", "p/bin/rharness-more"}) {
    const ProcessResult result = Execute({"readelf", "-d", At(program)});
    ASSERT_TRUE(result.outcome.Succeeded()) << program;
    EXPECT_THAT(result.stdout_text, HasSubstr("[$ORIGIN/../lib]")) << program;
    EXPECT_THAT(result.stdout_text, Not(HasSubstr(RHARNESS_BIN_DIR))) << program;
  }
}

TEST_F(Install, TakesAComponentAlone) {
  InstallInto("d", {"--component", "documentation"});
  EXPECT_FALSE(fs::exists(At("d/bin")));
  EXPECT_FALSE(fs::exists(At("d/share/fish")));
  EXPECT_TRUE(fs::exists(At("d/share/man/man1/rharness.1")));
  InstallInto("c", {"--component", "completion"});
  EXPECT_FALSE(fs::exists(At("c/share/man")));
  EXPECT_TRUE(fs::exists(At("c/share/fish")));
}

// A guide is a page of section 7, which the formatter takes without a warning and which says what
// the guide says.
TEST_F(Install, HasAPageForEveryGuide) {
  InstallInto("d", {"--component", "documentation"});
  int pages = 0;
  for (const auto& guide : fs::directory_iterator(At("d/share/doc/rharness/guides"))) {
    const std::string name = guide.path().stem().string();
    const std::string page = At("d/share/man/man7/rharness-guide-" + name + ".7");
    const ProcessResult lint = Execute({"sh", "-c", "command -v groff"});
    if (!lint.outcome.Succeeded()) GTEST_SKIP() << "groff is not installed";
    const ProcessResult shown = Execute({"groff", "-man", "-Tutf8", "-ww", "-P-cbou", page});
    EXPECT_TRUE(shown.outcome.Succeeded()) << page;
    EXPECT_EQ(shown.stderr_text, "") << page;
    for (const char* text : {"NAME", "DESCRIPTION", "SEE ALSO", "scenarios/tutorial"}) {
      EXPECT_THAT(shown.stdout_text, HasSubstr(text)) << page;
    }
    EXPECT_THAT(shown.stdout_text, Not(HasSubstr("```"))) << page;
    EXPECT_THAT(shown.stdout_text, Not(HasSubstr("**"))) << page;
    ++pages;
  }
  EXPECT_EQ(pages, 11);
  EXPECT_FALSE(fs::exists(At("d/share/man/man1/rharness-guide-drill.7")));
}

// Schemas that are written by hand, and why no list of members makes them.
const std::map<std::string, std::string> kSchemasByHand = {
    {"fingerprint",
     "the probe program writes it, which knows no reader; what is read is flattened"},
    {"trace", "a Python module writes it, line by line"},
    {"calls", "a Python module writes it, line by line, and others do"},
    {"audit_entry", "a line is hashed: its reader accepts one spelling to the byte"},
    {"model", "the form is that of OpenSSF Model Signing"},
    {"verdict", "reasons take the layer that they stand in, and flat members are objects in it"}};

std::set<std::string> SchemasIn(const fs::path& folder) {
  constexpr std::string_view kEnd = ".schema.json";
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kEnd)) names.insert(name.substr(0, name.size() - kEnd.size()));
  }
  return names;
}

TEST_F(Install, HasEachSchemaThatAListMakesAndEachByHandWithItsReason) {
  InstallInto("d", {"--component", "documentation"});
  const std::string written = At("generated");
  ASSERT_EQ(
      Execute({RHARNESS_BIN_DIR "/rharness", "documents", "--schemas", written}).outcome.exit_code,
      0);
  std::set<std::string> expected = SchemasIn(written);
  for (const auto& [name, reason] : kSchemasByHand) {
    EXPECT_TRUE(expected.insert(name).second) << name << " is made by a list: it has no reason";
    EXPECT_NE(reason, "");
  }
  EXPECT_EQ(SchemasIn(At("d/share/rharness/schemas")), expected);
  std::set<std::string> in_tree;
  for (const char* folder : {"compare", "harness", "reports", "probes"}) {
    in_tree.merge(SchemasIn(fs::path(RHARNESS_SOURCE_DIR) / folder));
  }
  std::set<std::string> by_hand;
  for (const auto& [name, reason] : kSchemasByHand) by_hand.insert(name);
  EXPECT_EQ(in_tree, by_hand);
}

}  // namespace
}  // namespace rharness
