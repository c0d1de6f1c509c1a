// ELF files against readelf, and files that lie about themselves.
#include "harness/records/observe/elf.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/observe/programs.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

const fs::path kLibrary = fs::path(RHARNESS_BIN_DIR) / "observe/librharness-observe.so";

std::string Readelf(const std::string& option, const fs::path& file) {
  ProcessSpec spec;
  spec.argv = {"readelf", option, file.string()};
  spec.environment = PickEnvironment({"PATH"});
  const ProcessResult result = RunProcess(spec);
  return result.outcome.Succeeded() ? result.stdout_text : "";
}

// What follows a mark on its line.
std::string After(const std::string& text, const std::string& mark) {
  const auto at = text.find(mark);
  if (at == text.npos) return "";
  const auto begin = at + mark.size();
  return text.substr(begin, text.find_first_of("\n]", begin) - begin);
}

TEST(ReadElf, SaysOfThisSystemsLibrariesWhatReadelfSays) {
  int compared = 0;
  for (const char* name : {"libc.so.6", "libz.so.1", "libstdc++.so.6", "libsqlite3.so.0"}) {
    for (const char* folder : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64"}) {
      const fs::path file = fs::path(folder) / name;
      std::error_code error;
      if (!fs::exists(file, error)) continue;
      const std::string notes = Readelf("-nW", file);
      if (notes.empty()) GTEST_SKIP() << "readelf is not installed";
      const auto elf = ReadElf(file);
      ASSERT_TRUE(elf.ok()) << elf.error().ToString();
      EXPECT_EQ(elf->build_id, After(notes, "Build ID: "));
      EXPECT_EQ(elf->soname, After(Readelf("-dW", file), "Library soname: ["));
      EXPECT_EQ(elf->size_bytes, fs::file_size(file));
      ++compared;
    }
  }
  if (compared == 0) GTEST_SKIP() << "no library in the folders that are looked at";
}

TEST(ReadElf, OfAProgramNamesItsLoader) {
  const auto elf = ReadElf("/proc/self/exe");
  ASSERT_TRUE(elf.ok()) << elf.error().ToString();
  EXPECT_NE(elf->interpreter.find("ld-linux"), std::string::npos) << elf->interpreter;
  EXPECT_TRUE(elf->is_dynamic);
  EXPECT_EQ(KindOf(fs::read_symlink("/proc/self/exe")), ProgramKind::kSeen);
}

TEST(ReadElf, RefusesWhatIsNone) {
  const ScopedTempDir folder = *ScopedTempDir::Make();
  const fs::path file = folder.path() / "x";
  ASSERT_TRUE(WriteFileAtomic(file, "#!/bin/sh\n").ok());
  EXPECT_FALSE(ReadElf(file).ok());
  EXPECT_EQ(ReadElf(folder.path() / "absent").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(ReadElf(folder.path()).ok());
  EXPECT_EQ(KindOf(file), ProgramKind::kUnlinked);
}

TEST(ReadElf, SurvivesEveryCutAndManyWrongBytes) {
  const auto whole = ReadFile(kLibrary);
  ASSERT_TRUE(whole.ok()) << whole.error().ToString();
  const ScopedTempDir folder = *ScopedTempDir::Make();
  const fs::path file = folder.path() / "x";
  const auto read = [&](const std::string& bytes) {
    ASSERT_TRUE(WriteFileAtomic(file, bytes).ok());
    const auto elf = ReadElf(file);
    if (!elf.ok()) return;
    EXPECT_LE(elf->build_id.size(), 128U);
    EXPECT_LE(elf->soname.size(), 512U);
  };
  for (std::size_t size = 0; size < 2048; size += 7) read(whole->substr(0, size));
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = *whole;
    for (int k = 0; k < 4; ++k) bytes[random() % 2048] = static_cast<char>(random());
    read(bytes);
  }
}

TEST(ProgramOf, FollowsLinksAndTheInterpretersOfScripts) {
  const ScopedTempDir folder = *ScopedTempDir::Make();
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "train", "#! /bin/sh -e\n").ok());
  fs::permissions(folder.path() / "train", fs::perms::owner_all);
  const fs::path shell = fs::canonical("/bin/sh");
  const std::map<std::string, std::string> environment = {
      {"PATH", "/none:" + folder.path().string()}};
  EXPECT_EQ(ProgramOf("train", environment, "/"), shell);
  EXPECT_EQ(ProgramOf("./train", environment, folder.path()), shell);
  EXPECT_EQ(ProgramOf("absent", environment, "/"), fs::path());
  EXPECT_EQ(KindOf(shell), ProgramKind::kShell);
}

}  // namespace
}  // namespace rharness
