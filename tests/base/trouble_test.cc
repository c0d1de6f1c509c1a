// What the machine is to blame for, and what is an answer.
#include "harness/base/trouble.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "harness/base/files.h"

namespace rharness {
namespace {

TEST(Trouble, IsWhatMayPassAndNoAnswer) {
  EXPECT_TRUE(IsTrouble(IoErrorFromErrno("cannot read", EIO, "f")));
  EXPECT_TRUE(IsTrouble(ProcessError("git was killed")));
  EXPECT_TRUE(IsTrouble(TimeoutError("locked")));
  EXPECT_FALSE(IsTrouble(NotFound("no such file")));
  EXPECT_FALSE(IsTrouble(InvalidInput("is a folder")));
  EXPECT_FALSE(IsTrouble(IntegrityError("leads out of its folder")));
}

TEST(Trouble, OfAPathIsToldFromWhatLiesInThePath) {
  for (const int number : {EIO, ENOSPC, EDQUOT, ENOMEM, EMFILE, ESTALE}) {
    const Error error = PathError("cannot open", number, "f");
    EXPECT_TRUE(IsTrouble(error)) << std::strerror(number);
    EXPECT_NE(error.message.find(std::strerror(number)), std::string::npos);
  }
  for (const int number : {EACCES, EPERM, ELOOP, ENAMETOOLONG}) {
    EXPECT_EQ(PathError("cannot open", number, "f").code, ErrorCode::kInvalidInput)
        << std::strerror(number);
  }
  EXPECT_EQ(PathError("cannot open", ENOENT, "f").code, ErrorCode::kNotFound);
  EXPECT_EQ(PathError("cannot open", ENOTDIR, "f").code, ErrorCode::kNotFound);
}

TEST(Trouble, IsAFileThatLeadsToItselfNot) {
  const auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  std::filesystem::create_symlink("loop", folder->path() / "loop");
  const auto text = ReadFile(folder->path() / "loop");
  ASSERT_FALSE(text.ok());
  EXPECT_FALSE(IsTrouble(text.error())) << text.error().ToString();
}

TEST(Answer, IsGivenByAProgramThatEndedByItselfAndNamesNoTrouble) {
  ProcessResult failed;
  failed.outcome.kind = OutcomeKind::kExited;
  failed.outcome.exit_code = 128;
  failed.stderr_text = "fatal: Not a valid object name";
  EXPECT_TRUE(IsAnswer(failed));
  for (const char* words :
       {"error: file write error: No space left on device", "fatal: read error: Input/output error",
        "error: pack-objects died of signal 9", "fatal: Out of memory, malloc"}) {
    failed.stderr_text = words;
    EXPECT_FALSE(IsAnswer(failed)) << words;
  }
  failed.stderr_text.clear();
  for (const OutcomeKind kind : {OutcomeKind::kSignalled, OutcomeKind::kTimedOut,
                                 OutcomeKind::kNotStarted, OutcomeKind::kLost}) {
    failed.outcome.kind = kind;
    EXPECT_FALSE(IsAnswer(failed)) << OutcomeKindName(kind);
  }
}

TEST(FullFileSystem, IsNoneThatHasNoBlocksOrIsNotThere) {
  EXPECT_FALSE(WhyFull("/proc").has_value());
  EXPECT_FALSE(WhyFull("/nowhere").has_value());
}

}  // namespace
}  // namespace rharness
