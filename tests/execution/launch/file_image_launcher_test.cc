// The argument vectors for images that are files, word by word.
#include "harness/execution/launch/file_image_launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

Job FileJob(ImageKind kind) {
  Job job;
  job.name = "RUN.1";
  job.command = {"python3", "train.py", "; rm -rf /", "$HOME"};
  job.workspace = "/srv/job-1";
  job.working_directory = "code";
  job.mounts = {{"/data/digits", "/data/digits"}};
  job.environment = {{"A", "1"}, {"HOME", "/srv/job-1"}};
  job.image.kind = kind;
  job.image.location = "images/train";
  job.image.digest = "sha256:" + std::string(64, '7');
  job.image_file = "/images/train.img";
  return job;
}

TEST(ApptainerLauncher, BuildsItsCommandLine) {
  const auto spec = ApptainerLauncher(false).BuildCommand(FileJob(ImageKind::kSif));
  ASSERT_TRUE(spec.ok()) << spec.error().ToString();
  EXPECT_THAT(spec->argv,
              ElementsAre("apptainer", "--quiet", "exec", "--containall", "--cleanenv", "--no-eval",
                          "--no-umask", "--net", "--network=none", "--home=/srv/job-1",
                          "--mount=type=bind,source=/srv/job-1,destination=/srv/job-1",
                          "--mount=type=bind,source=/data/digits,destination=/data/digits,ro",
                          "--pwd=/srv/job-1/code", "/images/train.img", "python3", "train.py",
                          "; rm -rf /", "$HOME"));
  EXPECT_THAT(spec->environment, Contains(Pair("APPTAINERENV_A", "1")));
  EXPECT_FALSE(spec->environment.contains("APPTAINERENV_HOME")) << "refused there; --home sets it";
  EXPECT_TRUE(spec->own_cgroup);
  EXPECT_FALSE(spec->group_only);
}

TEST(ApptainerLauncher, HandsOverGpusAndRootsRightsOnlyWhereAsked) {
  Job job = FileJob(ImageKind::kSif);
  EXPECT_THAT(ApptainerLauncher(true).BuildCommand(job)->argv, Contains("--no-privs"));
  EXPECT_THAT(ApptainerLauncher(true).BuildCommand(job)->argv, Not(Contains("--nv")));
  job.container_root = true;
  job.resources.gpus = 1;
  EXPECT_THAT(ApptainerLauncher(true).BuildCommand(job)->argv, Not(Contains("--no-privs")));
  EXPECT_THAT(ApptainerLauncher(true).BuildCommand(job)->argv, Contains("--nv"));
}

TEST(ApptainerLauncher, TakesAnyValueOfAVariable) {
  Job job = FileJob(ImageKind::kSif);
  job.environment["B"] = "a,b=\"c\"\n$(id)";
  EXPECT_EQ(ApptainerLauncher(false).BuildCommand(job)->environment.at("APPTAINERENV_B"),
            "a,b=\"c\"\n$(id)");
}

TEST(ApptainerLauncher, TakesItsOwnFailureForNoStart) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kExited;
  outcome.exit_code = 3;
  ApptainerLauncher launcher(false);
  const Job job = FileJob(ImageKind::kSif);
  EXPECT_EQ(launcher.Finish(job, &outcome)->digest, job.image.digest);
  EXPECT_EQ(outcome.kind, OutcomeKind::kExited);
  outcome.exit_code = 255;
  ASSERT_TRUE(launcher.Finish(job, &outcome).ok());
  EXPECT_EQ(outcome.kind, OutcomeKind::kNotStarted);
  EXPECT_THAT(outcome.detail, HasSubstr("exited with 255"));
}

TEST(EnrootLauncher, BuildsItsCommandLine) {
  const auto spec = EnrootLauncher().BuildCommand(FileJob(ImageKind::kSquashfs));
  ASSERT_TRUE(spec.ok()) << spec.error().ToString();
  EXPECT_THAT(
      spec->argv,
      ElementsAre("enroot", "start", "--rc=/srv/job-1/.tmp/enroot.rc",
                  "--mount=/srv/job-1:/srv/job-1:none:x-create=dir,rw,bind,nosuid,nodev",
                  "--mount=/data/digits:/data/digits:none:x-create=auto,ro,bind,nosuid,nodev",
                  "--env=NVIDIA_VISIBLE_DEVICES=void", "--env=A=1", "--env=HOME=/srv/job-1", "--",
                  "/images/train.img", "/srv/job-1/code", "/srv/job-1/.tmp/enroot.started",
                  "python3", "train.py", "; rm -rf /", "$HOME"));
  EXPECT_TRUE(spec->own_cgroup);
  Job job = FileJob(ImageKind::kSquashfs);
  job.resources.gpus = 2;
  EXPECT_THAT(EnrootLauncher().BuildCommand(job)->argv,
              Contains("--env=NVIDIA_VISIBLE_DEVICES=all"));
}

TEST(FileImageLaunchers, GiveAFolderInMemory) {
  Job job = FileJob(ImageKind::kSif);
  job.scratch = {.target = "/run/notes", .size_bytes = 4096};
  EXPECT_THAT(ApptainerLauncher(false).BuildCommand(job)->argv, Contains("--scratch=/run/notes"));
  job = FileJob(ImageKind::kSquashfs);
  job.scratch = {.target = "/run/notes", .size_bytes = 4096};
  EXPECT_THAT(EnrootLauncher().BuildCommand(job)->argv,
              Contains("--mount=tmpfs:/run/notes:tmpfs:x-create=dir,rw,nosuid,nodev,noexec,"
                       "mode=1777,size=4096"));
  job.scratch->target = "/run/no:tes";
  EXPECT_FALSE(EnrootLauncher().BuildCommand(job).ok());
}

TEST(FileImageLaunchers, RefuseImagesThatAreNotTheirsOrNotPinned) {
  EXPECT_TRUE(ApptainerLauncher(false).Prepare(FileJob(ImageKind::kSif).image).ok());
  EXPECT_TRUE(EnrootLauncher().Prepare(FileJob(ImageKind::kSquashfs).image).ok());
  EXPECT_THAT(ApptainerLauncher(false).Prepare(FileJob(ImageKind::kOci).image).error().message,
              HasSubstr("expected 'sif'"));
  EXPECT_FALSE(EnrootLauncher().Prepare(FileJob(ImageKind::kSif).image).ok());
  Image image = FileJob(ImageKind::kSif).image;
  image.digest = "sha256:77";
  EXPECT_FALSE(ApptainerLauncher(false).Prepare(image).ok());
  image = FileJob(ImageKind::kSif).image;
  image.location.clear();
  EXPECT_FALSE(ApptainerLauncher(false).Prepare(image).ok());
}

TEST(FileImageLaunchers, RefuseWhatTheCommandLineCannotCarry) {
  for (const ImageKind kind : {ImageKind::kSif, ImageKind::kSquashfs}) {
    std::vector<Job> bad(9, FileJob(kind));
    bad[0].workspace = "/srv/a,type=bind";
    bad[1].workspace = "/srv/a:/etc";
    bad[2].mounts = {{"/data/a\n", "/data/x"}};
    bad[3].mounts = {{"/data/a", "/data/x\""}};
    bad[4].environment = {{"A-B", "1"}};
    bad[5].environment = {{"1A", "1"}};
    bad[6].working_directory = "../other";
    bad[7].image_file = "train.sif";
    bad[8].image_file.clear();
    for (std::size_t i = 0; i < bad.size(); ++i) {
      const auto spec = kind == ImageKind::kSif ? ApptainerLauncher(false).BuildCommand(bad[i])
                                                : EnrootLauncher().BuildCommand(bad[i]);
      ASSERT_FALSE(spec.ok()) << NameIn(kImageKindNames, kind) << " " << i;
      EXPECT_EQ(spec.error().code, ErrorCode::kInvalidInput)
          << NameIn(kImageKindNames, kind) << " " << i;
    }
  }
  Job job = FileJob(ImageKind::kSquashfs);
  job.image_file = "/images/it's mine.sqsh";
  EXPECT_FALSE(EnrootLauncher().BuildCommand(job).ok()) << "enroot's script quotes it itself";
  job = FileJob(ImageKind::kSquashfs);
  job.environment["A"] = "1\nLD_PRELOAD=/x";
  EXPECT_FALSE(EnrootLauncher().BuildCommand(job).ok()) << "a line of its own";
}

TEST(ChooseLauncher, GoesByTheImage) {
  EXPECT_EQ(ChooseLauncher("auto", ImageKind::kHost), "host");
  EXPECT_EQ(ChooseLauncher("auto", ImageKind::kOci), "podman");
  EXPECT_EQ(ChooseLauncher("docker", ImageKind::kOci), "docker");
  EXPECT_EQ(ChooseLauncher("auto", ImageKind::kSif), "apptainer");
  EXPECT_EQ(ChooseLauncher("auto", ImageKind::kSquashfs), "enroot");
  EXPECT_EQ(ChooseLauncher("podman", ImageKind::kSif), "");
  EXPECT_EQ(ChooseLauncher("apptainer", ImageKind::kOci), "");
  EXPECT_EQ(ChooseLauncher("docker", ImageKind::kHost), "");
}

}  // namespace
}  // namespace rharness
