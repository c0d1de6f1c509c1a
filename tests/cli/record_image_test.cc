// rharness record of a run in an image that is a file, as a program.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {
namespace {

class RecordImageProgram : public testing::Test {
 protected:
  std::filesystem::path At(const std::string& name) const { return folder_.path() / name; }
  void Write(const std::string& name, const std::string& content) const {
    ASSERT_TRUE(WriteFileAtomic(At(name), content).ok());
  }
  // rharness record OPTIONS --out run.json -- sh -c SCRIPT
  ProcessResult Record(const std::vector<std::string>& options, const std::string& script) const {
    ProcessSpec spec{.argv = {RHARNESS_BIN_DIR "/rharness", "record"},
                     .environment = PickEnvironment({"PATH", "HOME", "TMPDIR"}),
                     .working_directory = folder_.path()};
    spec.argv.insert(spec.argv.end(), options.begin(), options.end());
    spec.argv.insert(spec.argv.end(), {"--out", "run.json", "--", "sh", "-c", script});
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(60);
    return RunProcess(spec, limits);
  }

 private:
  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();
};

TEST_F(RecordImageProgram, HashesAnImageThatIsAFile) {
  const std::string sif = "#!/usr/bin/env run-singularity\n" + std::string(1, '\0') + "SIF_MAGIC" +
                          std::string(100, '\0');
  Write("train.sif", sif);
  Write("train.img", "hsqs" + std::string(100, '\0'));
  Write("other.sif", "no image");
  const auto image = [&](const std::string& what) {
    const ProcessResult result = Record({"--image", what, "--root", ".", "--overwrite"}, "true");
    EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
    const auto manifest = LoadManifest(At("run.json"));
    EXPECT_TRUE(manifest.ok()) << manifest.error().ToString();
    return manifest.ok() ? manifest->image : Image();
  };
  const std::string digest = "sha256:" + Sha256HexOf(sif);
  const Image first = image("train.sif");
  EXPECT_EQ(first.kind, ImageKind::kSif);
  EXPECT_EQ(first.location, "train.sif");
  EXPECT_EQ(first.digest, digest);
  EXPECT_EQ(image(At("train.sif").string() + "@" + digest).digest, digest);
  EXPECT_EQ(image("./train.img").kind, ImageKind::kSquashfs);
  const std::string stated = "sha256:" + std::string(64, 'a');
  const Image elsewhere = image("/not/here/train.sqsh@" + stated);
  EXPECT_EQ(elsewhere.kind, ImageKind::kSquashfs);
  EXPECT_EQ(elsewhere.location, "/not/here/train.sqsh");
  EXPECT_EQ(elsewhere.digest, stated);
  for (const std::string& bad :
       {"train.sif@" + stated, std::string("other.sif"), std::string("missing.sif"),
        "./missing@" + stated, std::string("./missing.sif@sha256:12")}) {
    EXPECT_EQ(Record({"--image", bad, "--overwrite"}, "touch ran").outcome.exit_code, 2) << bad;
  }
  EXPECT_FALSE(std::filesystem::exists(At("ran")));
  const ProcessResult changed =
      Record({"--image", "train.sif", "--overwrite"}, "echo >> train.sif");
  EXPECT_NE(changed.stderr_text.find("image changed during the run"), std::string::npos)
      << changed.stderr_text;
  const ProcessResult gone = Record({"--image", "train.sif", "--overwrite"}, "rm train.sif");
  EXPECT_EQ(gone.outcome.exit_code, changed.outcome.exit_code);
  EXPECT_NE(gone.stderr_text.find("image changed during the run"), std::string::npos)
      << gone.stderr_text;
  EXPECT_EQ(Record({"--image", ""}, "true").outcome.exit_code, 2) << "an unset variable's";
}

}  // namespace
}  // namespace rharness
