// Folders as checkpoints: which of their files are meant.
#include "compare/weights/checkpoint_folder.h"

#include <gtest/gtest.h>

#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

class Folders : public CheckpointFiles {
 protected:
  std::filesystem::path folder() { return Write("{}", "config.json").parent_path(); }
  void ExpectError(ErrorCode code, std::string_view text) {
    const auto result = OpenCheckpoint(folder());
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, code) << result.error().ToString();
    EXPECT_NE(result.error().message.find(text), std::string::npos) << result.error().ToString();
  }
  // What is not read as tensors though it holds some, or may.
  static std::vector<UnreadPart> Deciding(const Checkpoint& checkpoint) {
    std::vector<UnreadPart> parts = checkpoint.unread();
    std::erase_if(parts, [](const UnreadPart& part) { return part.kind != PartKind::kPart; });
    return parts;
  }
  std::string A() { return FileOf({{"a", "U8", "[4]", "aaaa"}}); }
  std::string B() { return FileOf({{"b", "U8", "[4]", "bbbb"}}); }
};

TEST_F(Folders, MeanTheirOneCheckpointFile) {
  Write(A(), "model.safetensors");
  const auto checkpoint = OpenCheckpoint(folder());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  EXPECT_EQ(ReadAll(**checkpoint, 0), "aaaa");
}

TEST_F(Folders, MeanTheirOneIndex) {
  Write(A(), "1.safetensors");
  Write(R"({"weight_map": {"a": "1.safetensors"}})", "model.safetensors.index.json");
  const auto checkpoint = OpenCheckpoint(folder());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  EXPECT_EQ((*checkpoint)->tensors().size(), 1U);
  EXPECT_TRUE(Deciding(**checkpoint).empty());
}

TEST_F(Folders, OfTwoIndexesThatNoLoaderPrefersAreNotClear) {
  Write(A(), "1.safetensors");
  Write(R"({"weight_map": {"a": "1.safetensors"}})", "x.index.json");
  Write("{}", "y.index.json");
  ExpectError(ErrorCode::kInvalidInput, "'y.index.json'");
}

TEST_F(Folders, ReadWhatLiesBesideTheirIndex) {
  Write(A(), "1.safetensors");
  Write(R"({"weight_map": {"a": "1.safetensors"}})", "model.safetensors.index.json");
  Write(B(), "adapter.safetensors");
  Write("\x80\x05N.", "notes.bin");
  Write("anything", "flax_model.msgpack");
  const auto checkpoint = OpenCheckpoint(folder());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  ASSERT_EQ((*checkpoint)->tensors().size(), 2U);
  EXPECT_EQ((*checkpoint)->tensors()[1].name, "adapter.safetensors/b");
  EXPECT_EQ(ReadAll(**checkpoint, 1), "bbbb");
  const auto unread = Deciding(**checkpoint);
  ASSERT_EQ(unread.size(), 2U);
  EXPECT_EQ(unread[0].name, "flax_model.msgpack");
  EXPECT_NE(unread[0].why.find("text that begins with"), std::string::npos);
  EXPECT_EQ(unread[1].name, "notes.bin");
  EXPECT_NE(unread[1].why.find("a Python pickle"), std::string::npos);
}

TEST_F(Folders, NameFilesOfOtherFormatsBesideTheirOneFile) {
  Write(A(), "model.safetensors");
  Write("weights of Keras", "tf_model.h5");
  const auto checkpoint = OpenCheckpoint(folder());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  ASSERT_EQ(Deciding(**checkpoint).size(), 1U);
  EXPECT_EQ(Deciding(**checkpoint)[0].size_bytes, 16U);
}

TEST_F(Folders, JoinSafetensorsFilesWhoseNamesDoNotCollide) {
  Write(A(), "1.safetensors");
  Write(B(), "2.safetensors");
  const auto checkpoint = OpenCheckpoint(folder());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  const auto whole =
      MustOpen(FileOf({{"a", "U8", "[4]", "aaaa"}, {"b", "U8", "[4]", "bbbb"}}), "not_listed");
  EXPECT_EQ(DigestCheckpoint(**checkpoint)->sha256, DigestCheckpoint(*whole)->sha256);
  Write(A(), "3.safetensors");
  ExpectError(ErrorCode::kInvalidInput,
              "tensor 'a' lies in '1.safetensors' and in '3.safetensors'");
}

TEST_F(Folders, SayWhatTheyHoldWhenItIsNotClearWhatIsMeant) {
  Write(A(), "first.safetensors");
  Write(B(), "second.pt");
  ExpectError(ErrorCode::kInvalidInput, "is a folder with 'first.safetensors', 'second.pt'");
  ExpectError(ErrorCode::kInvalidInput, "expected one *.index.json");
}

TEST_F(Folders, SayWhatTheyLack) {
  ExpectError(ErrorCode::kNotFound, "without a checkpoint; expected one *.index.json");
}

TEST_F(Folders, NameWhatLiesInTheirSubfolders) {
  const auto path = folder();
  std::filesystem::create_directory(path / "old.safetensors");
  Write(A(), "model.safetensors");
  ASSERT_TRUE(OpenCheckpoint(path).ok());
  for (const char* name : {"2_Dense", "logs", ".git/objects"}) {
    std::filesystem::create_directories(path / name);
  }
  Write(B(), "2_Dense/model.safetensors");
  Write("epoch 1\n", "logs/train.log");
  Write(std::string("\0\1\2\3", 4), "logs/events.out.tfevents.1");
  Write(std::string("\0\1\2\3", 4), ".git/objects/ab");
  Write(std::string("\0\1\2\3", 4), "logs/0.0");
  std::filesystem::create_directory_symlink("/etc", path / "outside");
  std::filesystem::create_directory_symlink("logs", path / "latest");
  const auto checkpoint = OpenCheckpoint(path);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  EXPECT_EQ((*checkpoint)->tensors().size(), 1U);
  const auto unread = Deciding(**checkpoint);
  ASSERT_EQ(unread.size(), 3U);
  EXPECT_EQ(unread[0].name, "2_Dense/model.safetensors");
  EXPECT_NE(unread[0].why.find("lies in a subfolder"), std::string::npos);
  EXPECT_EQ(unread[1].name, "logs/0.0");
  EXPECT_EQ(unread[2].name, "outside");
  EXPECT_EQ(unread[2].file, nullptr);
  EXPECT_EQ((*checkpoint)->unread().size(), 7U);
  const auto digest = DigestCheckpoint(**checkpoint);
  ASSERT_FALSE(digest.ok());
  EXPECT_NE(digest.error().message.find("'2_Dense/model.safetensors' is not read"),
            std::string::npos);
}

TEST_F(Folders, ReadWhateverItsNameWhatLiesBesideThem) {
  Write(A(), "model.safetensors");
  Write(B(), "adapter");
  Write("I1\n.", "rng.pkl");  // protocol 0 is text
  Write("vocabulary\n", "vocab.txt");
  Write(std::string("\0\1", 2), ".DS_Store");
  const auto checkpoint = OpenCheckpoint(folder());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  ASSERT_EQ((*checkpoint)->tensors().size(), 2U);
  EXPECT_EQ((*checkpoint)->tensors()[1].name, "adapter/b");
  const auto unread = Deciding(**checkpoint);
  ASSERT_EQ(unread.size(), 1U);
  EXPECT_EQ(unread[0].name, "rng.pkl");
}

}  // namespace
}  // namespace rharness
