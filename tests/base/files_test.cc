// Files, paths and terminal text against hostile names, links, special files and limits.
#include "harness/base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "harness/base/log.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  ScopedTempDir folder_ = std::move(*ScopedTempDir::Make("rharness-files-"));
  fs::path At(const std::string& name) const { return folder_.path() / name; }
  std::ptrdiff_t Entries() const {
    return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator());
  }
};

TEST_F(Files, ReadWholeContentIncludingZeroBytes) {
  const std::string content = std::string(300000, 'x') + std::string("\0\n", 2);
  std::ofstream(At("a"), std::ios::binary) << content;
  EXPECT_EQ(*ReadFile(At("a")), content);
  std::ofstream(At("empty"), std::ios::binary) << "";
  EXPECT_EQ(*ReadFile(At("empty")), "");
}

TEST_F(Files, ReadUpToTheLimitAndRefuseOneByteMore) {
  std::ofstream(At("a"), std::ios::binary) << "12345";
  EXPECT_EQ(*ReadFile(At("a"), 5), "12345");
  EXPECT_EQ(ReadFile(At("a"), 4).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(ReadFile("/proc/self/status", 4).error().code, ErrorCode::kInvalidInput);
}

TEST_F(Files, RefuseAHugeSparseFileBeforeReadingIt) {
  std::ofstream(At("sparse"), std::ios::binary) << "x";
  fs::resize_file(At("sparse"), std::uintmax_t{1} << 40);
  EXPECT_EQ(ReadFile(At("sparse")).error().code, ErrorCode::kInvalidInput);
}

TEST_F(Files, RefuseFifosFoldersAndDevicesWithoutWaiting) {
  ASSERT_EQ(::mkfifo(At("fifo").c_str(), 0600), 0);
  for (const fs::path& path : {At("fifo"), folder_.path(), fs::path("/dev/zero")}) {
    EXPECT_EQ(ReadFile(path).error().code, ErrorCode::kInvalidInput) << path;
    EXPECT_EQ(ReadFile(path).error().where, path.string());
  }
  EXPECT_EQ(ReadFile(At("missing")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ReadFile(At("missing/below")).error().code, ErrorCode::kNotFound);
}

TEST_F(Files, AreReplacedWholeAndLeaveNothingElseBehind) {
  ASSERT_TRUE(WriteFileAtomic(At("a"), "one").ok());
  ASSERT_TRUE(WriteFileAtomic(At("a"), "two").ok());
  EXPECT_EQ(*ReadFile(At("a")), "two");
  EXPECT_EQ(Entries(), 1);
  ASSERT_TRUE(WriteFileAtomic(At("new/folder/b"), "three").ok());
  EXPECT_EQ(*ReadFile(At("new/folder/b")), "three");
}

TEST_F(Files, LeaveNothingBehindWhenTheyCannotBeWritten) {
  fs::create_directories(At("folder/inner"));
  EXPECT_EQ(WriteFileAtomic(At("folder"), "x").error().code, ErrorCode::kIo);
  EXPECT_TRUE(fs::is_directory(At("folder/inner")));
  EXPECT_EQ(Entries(), 1);
  std::ofstream(At("file")) << "x";
  EXPECT_EQ(WriteFileAtomic(At("file/below"), "x").error().code, ErrorCode::kIo);
  EXPECT_EQ(WriteFileAtomic(At(std::string(300, 'n')), "x").error().code, ErrorCode::kIo);
  EXPECT_EQ(Entries(), 2);
}

TEST_F(Files, MayHaveTheLongestNameThatTheSystemAllows) {
  EXPECT_TRUE(WriteFileAtomic(At(std::string(255, 'n')), "x").ok());
}

TEST_F(Files, ReplaceALinkAndNotWhatItPointsTo) {
  std::ofstream(At("target")) << "precious";
  fs::create_symlink("target", At("link"));
  ASSERT_TRUE(WriteFileAtomic(At("link"), "new").ok());
  EXPECT_EQ(*ReadFile(At("target")), "precious");
  EXPECT_FALSE(fs::is_symlink(At("link")));
}

TEST_F(Files, OfARemovedTreeDoNotIncludeTheTargetsOfItsLinks) {
  std::ofstream(At("kept")) << "x";
  fs::create_directories(At("tree"));
  fs::create_symlink(folder_.path(), At("tree/up"));
  ASSERT_TRUE(RemoveTree(At("tree")).ok());
  EXPECT_TRUE(fs::exists(At("kept")));
  EXPECT_FALSE(fs::exists(At("tree")));
  EXPECT_TRUE(RemoveTree(At("tree")).ok());
}

TEST_F(Files, InATemporaryFolderGoWithIt) {
  fs::path path;
  {
    auto temporary = std::move(*ScopedTempDir::Make());
    path = temporary.path();
    std::ofstream(path / "x") << "x";
    ScopedTempDir other = std::move(temporary);
    EXPECT_EQ(other.path(), path);
    EXPECT_TRUE(fs::exists(path));
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(SafeRelativePath, AcceptsAndNormalisesPathsBelow) {
  EXPECT_EQ(*SafeRelativePath("a/./b//c/", "m"), "a/b/c");
  EXPECT_EQ(*SafeRelativePath("..a/b..", "m"), "..a/b..");
  EXPECT_EQ(*SafeRelativePath("gewichte-größe/重み", "m"), "gewichte-größe/重み");
}

TEST(SafeRelativePath, RefusesEverythingElse) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view text :
       {""sv, "."sv, "./"sv, "/"sv, "/etc/passwd"sv, "//x"sv, ".."sv, "a/../../b"sv, "a/.."sv,
        "a\0b"sv, "a\nb"sv, "a\x1b[2J"sv, "a\x7f"sv, "a\xc2\x9b"sv, "a\xff"sv, "a\xe2\x80\xae"sv}) {
    const auto path = SafeRelativePath(text, "manifest.json: $.path");
    ASSERT_FALSE(path.ok()) << text;
    EXPECT_EQ(path.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(path.error().where, "manifest.json: $.path");
  }
}

TEST_F(Files, BelowARootAreFoundThroughLinksThatStayInside) {
  fs::create_directories(At("root/real"));
  std::ofstream(At("root/real/x")) << "x";
  fs::create_directory_symlink("real", At("root/alias"));
  EXPECT_EQ(*ResolveBelow(At("root"), "alias/x"), fs::canonical(At("root/real/x")));
  EXPECT_EQ(ResolveBelow(At("root"), "nothing").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ResolveBelow(At("no-root"), "x").error().code, ErrorCode::kNotFound);
}

TEST_F(Files, BelowARootCannotEscapeThroughLinksOrDots) {
  fs::create_directories(At("root/sub"));
  fs::create_directories(At("root-sibling"));
  std::ofstream(At("secret")) << "x";
  std::ofstream(At("root-sibling/secret")) << "x";
  fs::create_symlink(At("secret"), At("root/absolute"));
  fs::create_symlink("../secret", At("root/relative"));
  fs::create_directory_symlink("../..", At("root/sub/up"));
  fs::create_symlink("../root-sibling/secret", At("root/sibling"));
  for (const fs::path& path :
       {fs::path("absolute"), fs::path("relative"), fs::path("sub/up/secret"), fs::path("sibling"),
        fs::path("../secret"), At("secret")}) {
    EXPECT_EQ(ResolveBelow(At("root"), path).error().code, ErrorCode::kIntegrity) << path;
  }
  fs::create_symlink("loop", At("root/loop"));
  EXPECT_EQ(ResolveBelow(At("root"), "loop").error().code, ErrorCode::kInvalidInput);
}

TEST(TerminalSafe, KeepsOrdinaryTextOfAnyLanguage) {
  for (const char* text : {"", "plain\ttext\n", "größe 重み 🙂 é", "\xef\xbf\xbd", "a\\b"}) {
    EXPECT_EQ(TerminalSafe(text), text);
  }
}

TEST(TerminalSafe, SpellsOutControlCharactersOfBothSets) {
  EXPECT_EQ(TerminalSafe("\x1b[31m\r\b\x7f"), "\\x1b[31m\\x0d\\x08\\x7f");
  EXPECT_EQ(TerminalSafe(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(TerminalSafe("\xc2\x80 \xc2\x9b \xc2\x9f"), "\\xc2\\x80 \\xc2\\x9b \\xc2\\x9f");
  EXPECT_EQ(TerminalSafe("\xc2\xa0"), "\xc2\xa0");  // U+00A0 is the first beyond the C1 set
}

TEST(TerminalSafe, SpellsOutMarksThatReorderText) {
  EXPECT_EQ(TerminalSafe("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // U+202E, right-to-left override
  EXPECT_EQ(TerminalSafe("\xe2\x81\xa6"), "\\xe2\\x81\\xa6");  // U+2066, isolate
  EXPECT_EQ(TerminalSafe("\xd8\x9c"), "\\xd8\\x9c");           // U+061C, Arabic letter mark
  EXPECT_EQ(TerminalSafe("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");  // U+2028, line separator
}

TEST(TerminalSafe, SpellsOutBytesThatAreNotUtf8) {
  EXPECT_EQ(TerminalSafe("\x9b"
                         "31m"),
            "\\x9b31m");                                                // an 8-bit CSI
  EXPECT_EQ(TerminalSafe("\xc0\x9b"), "\\xc0\\x9b");                    // overlong
  EXPECT_EQ(TerminalSafe("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");           // overlong U+009B
  EXPECT_EQ(TerminalSafe("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(TerminalSafe("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  EXPECT_EQ(TerminalSafe("\xe2\x82"), "\\xe2\\x82");                    // cut short
  EXPECT_EQ(TerminalSafe("\xf0\x9f\x99"), "\\xf0\\x9f\\x99");
}

TEST(Log, WritesOneLineWhateverTheMessageHolds) {
  testing::internal::CaptureStderr();
  LogError("first\nrharness: gate open\x1b[0m");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "rharness: error: first\\x0arharness: gate open\\x1b[0m\n");
}

TEST(Log, IsSilentBelowItsLevel) {
  testing::internal::CaptureStderr();
  SetLogLevel(LogLevel::kError);
  LogWarning("no");
  LogError("yes");
  SetLogLevel(LogLevel::kInfo);
  LogDebug("no");
  LogInfo("yes");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "rharness: error: yes\nrharness: yes\n");
}

TEST(MakeDirectoriesBelow, RefusesALinkOnTheWay) {
  auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(MakeDirectoriesBelow(folder->path(), "a/b").ok());
  EXPECT_TRUE(fs::is_directory(folder->path() / "a/b"));
  fs::create_directory_symlink(folder->path() / "a", folder->path() / "link");
  const Status status = MakeDirectoriesBelow(folder->path(), "link/c");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kIntegrity);
  EXPECT_FALSE(fs::exists(folder->path() / "a/c"));
}

TEST(WriteFileAtomic, ReplacesNoPipeAndNoLinkToOne) {
  auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  const fs::path pipe = folder->path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(WriteFileAtomic(pipe, "x").error().code, ErrorCode::kInvalidInput);
  EXPECT_TRUE(fs::is_fifo(pipe));
  fs::create_symlink(pipe, folder->path() / "link");
  EXPECT_EQ(WriteFileAtomic(folder->path() / "link", "x").error().code, ErrorCode::kInvalidInput);
  EXPECT_TRUE(fs::is_symlink(folder->path() / "link"));
}

}  // namespace
}  // namespace rharness
