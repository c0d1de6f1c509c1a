// Reruns in images that are files, to the evidence, with stand-ins for Apptainer and enroot: small
// scripts that read the command line as the programs' documentation has it, and isolate nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/execution/rerun/rerun.h"
#include "tests/sanitized.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kApptainer[] = R"(#!/bin/sh
if [ "$1" = --version ]; then echo "apptainer version 1.4.0"; exit 0; fi
[ "$1 $2" = "--quiet exec" ] || exit 255
shift 2
while :; do
  case $1 in
    --pwd=*) folder=${1#--pwd=} ;;
    --home=*) HOME=${1#--home=} ;;
    --*) ;;
    *) break ;;
  esac
  shift
done
grep -q SIF_MAGIC "$1" || { echo "FATAL: image format not recognized" >&2; exit 255; }
shift
cd "$folder" || exit 255
SEED=$APPTAINERENV_SEED
export HOME SEED
exec "$@"
)";

constexpr char kEnroot[] = R"(#!/bin/sh
if [ "$1" = version ]; then echo 3.5.0; exit 0; fi
[ "$1" = start ] || exit 1
shift
while :; do
  case $1 in
    --rc=*) rc=${1#--rc=} ;;
    --env=*) export "${1#--env=}" ;;
    --mount=*) ;;
    --) shift; break ;;
    *) exit 1 ;;
  esac
  shift
done
grep -q hsqs "$1" || { echo "[ERROR] Invalid image format" >&2; exit 1; }
shift
exec sh "$rc" "$@"
)";

struct EngineCase {
  const char* launcher;
  ImageKind kind;
  const char* script;
  const char* magic;
};
constexpr EngineCase kEngines[] = {{"apptainer", ImageKind::kSif, kApptainer, "SIF_MAGIC"},
                                   {"enroot", ImageKind::kSquashfs, kEnroot, "hsqs"}};

class FileImage : public testing::TestWithParam<EngineCase> {
 protected:
  FileImage() : folder_(std::move(ScopedTempDir::Make()).value()) {
    const char* path = std::getenv("PATH");
    path_ = path == nullptr ? "" : path;
    places_.root = folder_.path() / "root";
    image_ = places_.root / "images" / "train.img";
    Write(image_, std::string(GetParam().magic) + " and more");
    manifest_.run_id = "r";
    manifest_.command = {"sh", "-c", "echo $SEED; pwd; echo $HOME"};
    manifest_.code.repository = ".";
    manifest_.environment.variables["SEED"] = "7";
    manifest_.image.kind = GetParam().kind;
    manifest_.image.location = "images/train.img";
    manifest_.image.digest = "sha256:" + HashFile(image_)->sha256;
  }
  ~FileImage() override { ::setenv("PATH", path_.c_str(), 1); }

  static void Write(const fs::path& path, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(path, text).ok());
  }
  void Install() {
    const fs::path program = folder_.path() / "bin" / GetParam().launcher;
    Write(program, GetParam().script);
    fs::permissions(program, fs::perms::owner_all);
    ::setenv("PATH", ((folder_.path() / "bin").string() + ":" + path_).c_str(), 1);
  }
  RerunResult Rerun(std::uint64_t memory_bytes = 0) {
    const fs::path drill = folder_.path() / fmt::format("drill{}", ++drills_);
    fs::create_directories(drill);
    const auto launcher = MakeLauncher(GetParam().launcher);
    const auto executor = MakeLocalExecutor();
    RerunContext context{
        .folder = drill, .executor = executor.get(), .cache = &cache_, .clock = &SystemClock()};
    if (launcher.ok()) context.launchers[GetParam().launcher] = launcher->get();
    Ticket ticket{.launcher = GetParam().launcher, .places = places_, .manifest = manifest_};
    ticket.resources.timeout_seconds = 60;
    ticket.resources.memory_bytes = memory_bytes;
    auto result = CarryOut(ticket, context);
    EXPECT_TRUE(result.ok()) << result.error().ToString();
    const fs::path log = drill / result->evidence.stdout_path;
    stdout_ = result->evidence.stdout_path.empty() ? "" : ReadFile(log).value();
    return std::move(*result);
  }

  ScopedTempDir folder_;
  std::string path_;
  Places places_;
  fs::path image_;
  Manifest manifest_;
  ContentCache cache_;
  std::string stdout_;
  int drills_ = 0;
};

TEST_P(FileImage, RunsAndIsProvedByItsHash) {
  Install();
  const RerunResult result = Rerun();
  EXPECT_EQ(result.evidence.obstacle, "");
  EXPECT_TRUE(result.evidence.outcome.Succeeded()) << result.evidence.outcome.ToString();
  EXPECT_EQ(result.evidence.image_digest, manifest_.image.digest);
  EXPECT_THAT(stdout_, StartsWith("7\n"));
  EXPECT_THAT(stdout_, HasSubstr("/runs/r/1/workspace\n"));
}

TEST_P(FileImage, ThatIsAnotherOneIsNotComparable) {
  Install();
  Write(image_, std::string(GetParam().magic) + " and something else");
  const RerunResult result = Rerun();
  EXPECT_THAT(result.evidence.obstacle, HasSubstr("is not the recorded one"));
  EXPECT_EQ(result.evidence.obstacle_layer, Layer::kEnvironment);
  EXPECT_FALSE(result.infrastructure);
}

TEST_P(FileImage, ThatIsNotThereOrMayNotBeNamedIsSaidSo) {
  Install();
  manifest_.image.location = "images/other.img";
  EXPECT_THAT(Rerun().evidence.obstacle, HasSubstr("other.img: no such file"));
  Write(folder_.path() / "outside.img", GetParam().magic);
  fs::create_symlink(folder_.path() / "outside.img", places_.root / "link.img");
  for (const std::string& location : {std::string("link.img"), std::string("../outside.img"),
                                      (folder_.path() / "outside.img").string()}) {
    manifest_.image.location = location;
    const RerunResult result = Rerun();
    EXPECT_NE(result.evidence.obstacle, "") << location;
    EXPECT_EQ(result.evidence.image_digest, "") << location;
  }
}

TEST_P(FileImage, ThatTheRunChangesIsNoProof) {
  Install();
  manifest_.command = {"sh", "-c", fmt::format("sleep 0.05; echo x >>{}", image_.string())};
  const RerunResult result = Rerun();
  EXPECT_THAT(result.evidence.obstacle, HasSubstr("is not the recorded one"));
  EXPECT_EQ(result.evidence.obstacle_layer, Layer::kEnvironment);
}

TEST_P(FileImage, WithoutItsEngineSaysWhatIsMissing) {
  ::setenv("PATH", "/nowhere", 1);
  EXPECT_THAT(MakeLauncher(GetParam().launcher).error().message,
              HasSubstr(std::string(GetParam().launcher) + " is not installed"));
  EXPECT_THAT(Rerun().evidence.obstacle,
              HasSubstr(std::string("needs ") + GetParam().launcher + ", which is not available"));
}

TEST_P(FileImage, ThatItsEngineRefusesWasNotStarted) {
  Install();
  Write(image_, "neither");
  manifest_.image.digest = "sha256:" + HashFile(image_)->sha256;
  const RerunResult result = Rerun();
  EXPECT_EQ(result.evidence.outcome.kind, OutcomeKind::kNotStarted);
  EXPECT_TRUE(result.infrastructure);
}

TEST_P(FileImage, HoldsARunToItsMemory) {
  if (kVforkIsFork) GTEST_SKIP() << "the thread sanitizer makes vfork a fork";
  Install();
  manifest_.command = {"sh", "-c", "x=$(head -c 300000000 /dev/zero | tr '\\0' x); sleep 30"};
  const RerunResult result = Rerun(std::uint64_t{100} << 20);
  EXPECT_EQ(result.evidence.outcome.kind, OutcomeKind::kMemoryLimit)
      << result.evidence.outcome.ToString();
}

TEST_P(FileImage, WhoseRunFailsFailed) {
  Install();
  manifest_.command = {"sh", "-c", "exit 3"};
  const RerunResult result = Rerun();
  EXPECT_EQ(result.evidence.outcome.kind, OutcomeKind::kExited);
  EXPECT_EQ(result.evidence.outcome.exit_code, 3);
}

// These stand-ins isolate nothing, so that what is lent to a container is not there.
TEST_P(FileImage, ThatCannotBeStartedWithWhatIsLentIsStartedWithout) {
  Install();
  manifest_.observation.emplace().means = {std::string(kSeenByMaps)};
  const RerunResult result = Rerun();
  EXPECT_TRUE(result.evidence.outcome.Succeeded()) << result.evidence.outcome.ToString();
  EXPECT_THAT(stdout_, StartsWith("7\n"));
  ASSERT_TRUE(result.evidence.observation);
  EXPECT_TRUE(result.evidence.observation->means.empty());
  EXPECT_THAT(result.evidence.observation->unseen,
              testing::ElementsAre(HasSubstr("was started without")));
}

INSTANTIATE_TEST_SUITE_P(Engines, FileImage, testing::ValuesIn(kEngines),
                         [](const auto& engine) { return std::string(engine.param.launcher); });

}  // namespace
}  // namespace rharness
