// The script `dev`, in the parts of it that choose.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// apt with these sources and no lists of packages yet, as in a fresh image.
class DebianMirrors : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists("/usr/bin/apt-get")) GTEST_SKIP() << "no apt here; dev needs it";
    fs::create_directories(At("lists/partial"));
    fs::create_directories(At("parts"));
    Write("apt.conf", "Dir::Etc::SourceList \"" + At("sources.list").string() +
                          "\";\nDir::Etc::SourceParts \"" + At("parts").string() +
                          "\";\nDir::State::Lists \"" + At("lists").string() + "\";\n");
    Write("sources.list", "");
  }
  fs::path At(const std::string& name) const { return folder_.path() / name; }
  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(At(name), text).ok());
  }
  // What the script's own function prints.
  std::string Mirrors(const std::string& named = "") const {
    ProcessSpec spec;
    spec.argv = {"bash",
                 "-euo",
                 "pipefail",
                 "-c",
                 "eval \"$(sed -n '/^debian_mirrors() {/,/^}/p' \"$1\")\"; debian_mirrors",
                 "bash",
                 RHARNESS_SOURCE_DIR "/probes/sysroot.sh"};
    spec.environment = PickEnvironment({"PATH", "TMPDIR"});
    spec.environment["APT_CONFIG"] = At("apt.conf").string();
    if (!named.empty()) spec.environment["DEBIAN_MIRROR"] = named;
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(60);
    const ProcessResult result = RunProcess(spec, limits);
    EXPECT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
    return result.stdout_text;
  }

 private:
  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();
};

TEST_F(DebianMirrors, AreThoseOfOneLineSources) {
  Write("sources.list",
        "# deb http://commented.example/debian bookworm main\n"
        "deb http://one.example/debian-security bookworm-security main\n"
        "deb [arch=amd64 signed-by=/a/b.gpg] https://two.example/debian/ bookworm main contrib\n"
        "deb http://archive.example/ubuntu jammy main\n");
  EXPECT_EQ(Mirrors(), "https://two.example/debian\nhttp://one.example/debian-security\n");
}

TEST_F(DebianMirrors, AreThoseOfSourcesInParagraphs) {
  Write("parts/debian.sources",
        "Types: deb deb-src\nURIs: http://one.example/debian\nSuites: bookworm bookworm-updates\n"
        "Components: main\n\n"
        "Types: deb\nEnabled: no\nURIs: http://off.example/debian\nSuites: bookworm\n"
        "Components: main\n");
  EXPECT_EQ(Mirrors(), "http://one.example/debian\n");
}

TEST_F(DebianMirrors, MayBeAListOfMirrorsInAFile) {
  Write("mirrors.txt", "http://one.example/debian\n");
  const std::string uri = "mirror+file:" + At("mirrors.txt").string();
  Write("sources.list", "deb " + uri + " bookworm main\n");
  EXPECT_EQ(Mirrors(), uri + "\n");
}

TEST_F(DebianMirrors, AreTheOneThatIsNamed) {
  Write("sources.list", "deb http://one.example/debian bookworm main\n");
  EXPECT_EQ(Mirrors("http://mine.example/d"), "http://mine.example/d\n");
}

TEST_F(DebianMirrors, AreNoneOnAnUbuntuAndInTheScript) {
  Write("sources.list", "deb http://archive.example/ubuntu jammy main\n");
  EXPECT_EQ(Mirrors(), "");
  const auto script = ReadFile(RHARNESS_SOURCE_DIR "/dev");
  ASSERT_TRUE(script.ok());
  EXPECT_EQ(script->find("://"), std::string::npos) << "the script names a host";
}

}  // namespace
}  // namespace rharness
