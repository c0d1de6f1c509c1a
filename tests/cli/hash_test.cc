// rharness hash as a program: its lines, its JSON, and the digests of checkpoints.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/subprocess.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kRharness[] = RHARNESS_BIN_DIR "/rharness";

class HashProgram : public testing::Test {
 protected:
  std::filesystem::path At(const std::string& name) const { return folder_->path() / name; }
  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(At(name), text).ok());
  }
  // In the folder of the files.
  ProcessResult Hash(std::vector<std::string> words) const {
    words.insert(words.begin(), {kRharness, "hash"});
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(60);
    return RunProcess(
        ProcessSpec{std::move(words), PickEnvironment({"PATH", "TMPDIR"}), folder_->path()},
        limits);
  }
  // The digest that the definition in tensor_digest.h gives one U8 tensor of four elements.
  static std::string DigestOf(const std::string& name, const std::string& bytes) {
    const std::string leaf = std::string("rharness.tensor/v1\0", 19) + LittleEndian64(2) + "U8" +
                             LittleEndian64(1) + LittleEndian64(4) + bytes;
    const auto hash = Sha256Of(std::as_bytes(std::span(leaf)));
    return Sha256HexOf(std::string("rharness.checkpoint/v1\0", 23) + LittleEndian64(1) +
                       LittleEndian64(name.size()) + name +
                       std::string(reinterpret_cast<const char*>(hash.data()), hash.size()));
  }
  static TestTensor Tensor(const std::string& name, const std::string& bytes) {
    return {name, "U8", "[4]", bytes};
  }

 private:
  Result<ScopedTempDir> folder_ = ScopedTempDir::Make();
};

TEST_F(HashProgram, PrintsOneLineForAnOrdinaryFile) {
  Write("a.txt", "abc");
  const ProcessResult result = Hash({"a.txt"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  // FIPS 180-4's example.
  EXPECT_EQ(result.stdout_text,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a.txt\n");
}

TEST_F(HashProgram, AddsTheDigestOfTheTensorsOfACheckpoint) {
  const std::string file = FileOf({Tensor("w", "wwww")});
  Write("x.safetensors", file);
  const ProcessResult result = Hash({"x.safetensors"});
  EXPECT_EQ(result.stdout_text,
            fmt::format("{}  x.safetensors\n"
                        "# {}  x.safetensors (rharness.checkpoint/v1 of 1 tensors, 4 bytes)\n",
                        Sha256HexOf(file), DigestOf("w", "wwww")));
}

TEST_F(HashProgram, GivesAFolderAndItsIndexTheDigestOfTheWholeFile) {
  Write("m/1.safetensors", FileOf({Tensor("w", "wwww")}));
  Write("m/model.safetensors.index.json",
        R"({"metadata": {"total_size": 4}, "weight_map": {"w": "1.safetensors"}})");
  for (const char* path : {"m", "m/model.safetensors.index.json"}) {
    EXPECT_THAT(Hash({path}).stdout_text, HasSubstr("\n# " + DigestOf("w", "wwww"))) << path;
  }
}

TEST_F(HashProgram, SaysWhyABrokenCheckpointHasNoDigestAndStillHashesTheFile) {
  Write("x.safetensors", "broken");
  const ProcessResult result = Hash({"x.safetensors"});
  EXPECT_EQ(result.outcome.exit_code, 0);
  EXPECT_THAT(result.stdout_text, StartsWith(Sha256HexOf("broken") + "  x.safetensors\n"));
  EXPECT_THAT(result.stdout_text, HasSubstr("# no digest of tensors: x.safetensors"));
}

TEST_F(HashProgram, TellsWeightsFromTheOptimizersState) {
  Write("x.safetensors",
        FileOf({Tensor("optimizer.state.0.exp_avg", "oooo"), Tensor("w", "wwww")}));
  Write("w.safetensors", FileOf({Tensor("w", "wwww")}));
  const ProcessResult result = Hash({"--weights-only", "x.safetensors"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(result.stdout_text,
              StartsWith(fmt::format("{}  weights    x.safetensors\n{}  optimizer  x.safetensors\n",
                                     DigestOf("w", "wwww"),
                                     DigestOf("optimizer.state.0.exp_avg", "oooo"))));
  EXPECT_THAT(result.stdout_text, HasSubstr("  all        x.safetensors\n"));
  const ProcessResult alone = Hash({"--weights-only", "w.safetensors"});
  EXPECT_EQ(alone.stdout_text, fmt::format("{0}  weights    w.safetensors\n"
                                           "{0}  all        w.safetensors\n",
                                           DigestOf("w", "wwww")));
}

TEST_F(HashProgram, ReadsTheWeightsOfAFolderOfLinks) {
  Write("blobs/1", FileOf({Tensor("w", "wwww")}));
  std::filesystem::create_directory(At("snapshot"));
  std::filesystem::create_symlink("../blobs/1", At("snapshot/model.safetensors"));
  const ProcessResult result = Hash({"--weights-only", "snapshot"});
  EXPECT_EQ(
      result.stdout_text,
      fmt::format("{0}  weights    snapshot/\n{0}  all        snapshot/\n", DigestOf("w", "wwww")))
      << result.stderr_text;
}

TEST_F(HashProgram, FindsNoWeightsAnError) {
  Write("o.safetensors", FileOf({Tensor("optimizer.state.0.exp_avg", "oooo")}));
  Write("a.txt", "abc");
  for (const char* path : {"o.safetensors", "a.txt"}) {
    const ProcessResult result = Hash({"--weights-only", path});
    EXPECT_EQ(result.outcome.exit_code, 2) << path;
    EXPECT_EQ(result.stdout_text, "") << path;
  }
  EXPECT_THAT(Hash({"--weights-only", "o.safetensors"}).stderr_text, HasSubstr("has no weights"));
}

TEST_F(HashProgram, RefusesAFolderWithTwoSetsOfWeights) {
  const char* index = R"({"weight_map": {"a": "1.safetensors"}})";
  Write("two/1.safetensors", FileOf({Tensor("a", "aaaa")}));
  Write("two/model.safetensors.index.json", index);
  Write("two/model.safetensors", FileOf({Tensor("a", "bbbb")}));
  const ProcessResult result = Hash({"--weights-only", "two"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_EQ(result.stdout_text, "");
  EXPECT_THAT(result.stderr_text,
              HasSubstr("two sets of weights lie in one folder, 'model.safetensors', which loaders "
                        "take, and 'model.safetensors.index.json'"));
  EXPECT_THAT(Hash({"two"}).stdout_text,
              HasSubstr("no digest of tensors: two/1.safetensors: two sets of weights"));
  // Saved twice with the same values it is one model.
  Write("two/model.safetensors", FileOf({Tensor("a", "aaaa")}));
  EXPECT_THAT(Hash({"--weights-only", "two"}).stdout_text, StartsWith(DigestOf("a", "aaaa")));
}

TEST_F(HashProgram, WarnsOfValuesThatAreNotFinite) {
  const std::string nan = "\xff\xff\xff\xff";
  Write("a.safetensors", FileOf({{"w", "F32", "[1]", nan}}));
  for (const std::string option : {"--weights-only", "--json"}) {
    const ProcessResult result = Hash({option, "a.safetensors"});
    EXPECT_EQ(result.outcome.exit_code, 0);
    EXPECT_THAT(result.stderr_text,
                HasSubstr("1 of 1 tensors holds values that are not finite, first w (1 of 1)"));
  }
}

TEST_F(HashProgram, SaysWhatItIsThatIsNoCheckpointAndWhatIsRead) {
  Write("x.csv", "step,loss\n1,2.5\n");
  Write("empty.pt", "");
  Write("program", std::string("\x7f") + "ELF" + std::string("\2\1\1\0\0\0\0\0", 8));
  Write("metrics.json", R"({"metrics": {"a": 1}})");
  Write("logs/a.txt", "abc");
  constexpr char kRead[] =
      "expected a safetensors, PyTorch (.pt, .pth, .bin), GGUF, Keras (.keras, .h5), flax";
  const std::vector<std::pair<const char*, std::string>> files = {
      {"x.csv",
       std::string("x.csv: byte 0: text that begins with 'step,loss', and no checkpoint; ") +
           kRead},
      {"empty.pt", std::string("empty.pt: byte 0: the file is empty; ") + kRead},
      {"program",
       std::string(
           "a file that begins with the bytes 7f 45 4c 46 02 01 01 00, and no known kind of "
           "checkpoint; ") +
           kRead},
      {"metrics.json", "is JSON that lists no tensor; expected the index of a sharded checkpoint"},
      {"logs", "logs: is a folder without a checkpoint; expected one *.index.json"},
  };
  for (const auto& [path, expected] : files) {
    const ProcessResult result = Hash({"--weights-only", path});
    EXPECT_EQ(result.outcome.exit_code, 2) << path;
    EXPECT_THAT(result.stderr_text, HasSubstr(expected));
    EXPECT_THAT(result.stderr_text, Not(HasSubstr("header length")));
  }
}

TEST_F(HashProgram, AddsToItsJsonAndTakesNothingAway) {
  Write("x.safetensors", FileOf({Tensor("w", "wwww")}));
  Write("a.txt", "abc");
  const auto json = ParseJson(Hash({"--json", "x.safetensors", "a.txt"}).stdout_text, "stdout");
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  const Json::Array& entries = json->Find("entries")->AsArray();
  for (const Json& entry : entries) {
    for (const char* key : {"path", "kind", "sha256", "size_bytes"}) {
      EXPECT_NE(entry.Find(key), nullptr) << key;
    }
  }
  EXPECT_EQ(entries[0].Find("checkpoint")->Find("sha256")->AsString(), DigestOf("w", "wwww"));
  EXPECT_EQ(entries[0].Find("checkpoint")->Find("tensors")->ToUint64(), 1U);
  EXPECT_EQ(entries[1].Find("checkpoint"), nullptr);
}

TEST_F(HashProgram, PrintsNoCommandsToTerminalsThatNamesHold) {
  Write("a\x1b[31mred.txt", "abc");
  const ProcessResult result = Hash({"a\x1b[31mred.txt", "absent\x1b[31m"});
  EXPECT_THAT(result.stdout_text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(result.stdout_text, HasSubstr("a\\x1b[31mred.txt"));
  EXPECT_THAT(result.stderr_text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace rharness
