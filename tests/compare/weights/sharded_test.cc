// Sharded checkpoints: the index against its files, many shards, other splits.
#include "compare/weights/sharded.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "compare/weights/tensor_diff.h"
#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class Sharded : public CheckpointFiles {
 protected:
  // Writes an index and opens it.
  Result<std::unique_ptr<Checkpoint>> OpenIndex(std::string_view json) {
    return OpenCheckpoint(Write(json, "model.safetensors.index.json"));
  }
  void ExpectError(std::string_view json, ErrorCode code, std::string_view text) {
    const auto result = OpenIndex(json);
    ASSERT_FALSE(result.ok()) << json;
    EXPECT_EQ(result.error().code, code) << result.error().ToString();
    EXPECT_NE(result.error().message.find(text), std::string::npos) << result.error().ToString();
    EXPECT_NE(result.error().where.find("model.safetensors.index.json"), std::string::npos);
  }
  // a and b in the first file, c in the second: 12 bytes.
  void WriteTwoShards() {
    Write(FileOf({{"a", "U8", "[4]", "aaaa"}, {"b", "U8", "[4]", "bbbb"}}), "1.safetensors");
    Write(FileOf({{"c", "F16", "[2]", "cccc"}}, "\"__metadata__\":{\"format\":\"pt\"},"),
          "2.safetensors");
  }
  static constexpr std::string_view kMap =
      R"({"a": "1.safetensors", "b": "1.safetensors", "c": "2.safetensors"})";
  std::string Index(std::string_view total, std::string_view map = kMap) {
    return fmt::format(R"({{"metadata": {{"total_size": {}}}, "weight_map": {}}})", total, map);
  }
};

TEST_F(Sharded, IsOneCheckpointWhateverTheSplit) {
  WriteTwoShards();
  const auto sharded = OpenIndex(Index("12"));
  ASSERT_TRUE(sharded.ok()) << sharded.error().ToString();
  ASSERT_EQ((*sharded)->tensors().size(), 3U);
  EXPECT_EQ((*sharded)->tensors()[2].name, "c");
  EXPECT_EQ(ReadAll(**sharded, 0), "aaaa");
  EXPECT_EQ(ReadAll(**sharded, 2), "cccc");
  EXPECT_EQ((*sharded)->metadata(),
            (std::vector<std::pair<std::string, std::string>>{{"format", "pt"}}));

  const auto whole = MustOpen(
      FileOf({{"c", "F16", "[2]", "cccc"}, {"b", "U8", "[4]", "bbbb"}, {"a", "U8", "[4]", "aaaa"}}),
      "whole.safetensors");
  EXPECT_EQ(DigestCheckpoint(**sharded)->sha256, DigestCheckpoint(*whole)->sha256);
  EXPECT_TRUE(DiffCheckpoints(**sharded, *whole)->bit_equal);
}

TEST_F(Sharded, DoesWithoutATotalSize) {
  WriteTwoShards();
  EXPECT_TRUE(OpenIndex(fmt::format(R"({{"weight_map": {}}})", kMap)).ok());
  EXPECT_TRUE(OpenIndex(fmt::format(R"({{"metadata": {{}}, "weight_map": {}}})", kMap)).ok());
  EXPECT_TRUE(OpenIndex(Index("12.0")).ok());
}

TEST_F(Sharded, RefusesATotalSizeThatIsNotTheSum) {
  WriteTwoShards();
  ExpectError(Index("13"), ErrorCode::kInvalidInput, "total_size is 13, but the tensors have 12");
  ExpectError(Index("11"), ErrorCode::kInvalidInput, "total_size is 11, but the tensors have 12");
  ExpectError(Index("\"12\""), ErrorCode::kInvalidInput, "total_size is string");
  ExpectError(Index("1.5"), ErrorCode::kInvalidInput, "expected a whole number");
}

TEST_F(Sharded, RefusesAMapThatIsNotWhatTheFilesHold) {
  WriteTwoShards();
  constexpr auto kInvalid = ErrorCode::kInvalidInput;
  ExpectError(Index("12", R"({"a": "1.safetensors", "c": "2.safetensors"})"), kInvalid,
              "'1.safetensors' holds tensor 'b', which the index does not list");
  ExpectError(Index("12", R"({"a": "1.safetensors", "b": "1.safetensors", "c": "2.safetensors",
                              "d": "2.safetensors"})"),
              kInvalid, "expects tensor 'd' in '2.safetensors', which does not hold it");
  ExpectError(Index("12", R"({"a": "1.safetensors", "b": "2.safetensors", "c": "2.safetensors"})"),
              kInvalid, "'b' in '2.safetensors', but it lies in '1.safetensors'");
}

TEST_F(Sharded, RefusesATensorThatLiesInTwoFiles) {
  WriteTwoShards();
  Write(FileOf({{"b", "U8", "[4]", "bbbb"}, {"c", "F16", "[2]", "cccc"}}), "2.safetensors");
  ExpectError(Index("12"), ErrorCode::kInvalidInput,
              "tensor 'b' lies in '1.safetensors' and in '2.safetensors'");
}

TEST_F(Sharded, NamesEveryMissingFile) {
  WriteTwoShards();
  ExpectError(Index("12", R"({"a": "1.safetensors", "x": "8.safetensors", "y": "9.safetensors"})"),
              ErrorCode::kNotFound, "2 of 3 files are missing: '8.safetensors', '9.safetensors'");
}

TEST_F(Sharded, RefusesFilesOutsideOfItsFolder) {
  WriteTwoShards();
  for (const char* name : {"../1.safetensors", "/etc/passwd", "sub/1.safetensors", "..", ".", "",
                           "a\\u0000b", "a\\u001b[31m"}) {
    ExpectError(Index("12", fmt::format(R"({{"a": "{}"}})", name)), ErrorCode::kInvalidInput,
                "expected the name of a file in the index's folder");
  }
}

TEST_F(Sharded, RefusesWhatIsNoIndex) {
  WriteTwoShards();
  constexpr auto kInvalid = ErrorCode::kInvalidInput;
  ExpectError("{}", kInvalid, "lists no tensor");
  ExpectError(R"({"model_type": "llama"})", kInvalid, "lists no tensor");
  ExpectError(R"({"weight_map": ["a"]})", kInvalid, "weight_map is no object");
  ExpectError(R"({"weight_map": {"a": 1}})", kInvalid, "the file of tensor 'a' is number");
  ExpectError(R"({"weight_map": {}, "weight_map": {}})", kInvalid, "duplicate key 'weight_map'");
  ExpectError(R"({"weight_map": {"a": "1.safetensors", "a": "1.safetensors"}})", kInvalid,
              "tensor 'a' is listed twice");
  ExpectError(R"({"weight_map": {"a": "1.safetensors"}} x)", kInvalid, "text after the index");
  ExpectError(R"({"metadata": 5, "weight_map": {"a": "1.safetensors"}})", kInvalid, "metadata is");
}

TEST_F(Sharded, RefusesAnIndexAsAShard) {
  WriteTwoShards();
  const auto result = OpenIndex(Index("12", R"({"a": "model.safetensors.index.json"})"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
}

TEST_F(Sharded, RefusesEveryTruncationOfAnIndex) {
  const std::string whole = Index("12");
  ASSERT_TRUE(ParseShardIndex(whole, "x").ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto result = ParseShardIndex(whole.substr(0, size), "x");
    ASSERT_FALSE(result.ok()) << size;
    EXPECT_TRUE(result.error().where.starts_with("x: byte ")) << result.error().where;
  }
}

TEST_F(Sharded, ReadsAThousandShardsWithinABoundOnOpenFiles) {
  constexpr int kShards = 1000;
  std::string map;
  for (int i = 0; i < kShards; ++i) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, kShards);
    const std::string bytes(4, static_cast<char>(i % 251));
    Write(FileOf({{fmt::format("t{:04}", i), "U8", "[4]", bytes}}), name);
    map += fmt::format("{}\"t{:04}\": \"{}\"", i == 0 ? "" : ", ", i, name);
  }
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 128;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto sharded = OpenIndex(Index("4000", "{" + map + "}"));
  EXPECT_TRUE(sharded.ok()) << sharded.error().ToString();
  if (sharded.ok()) {
    const auto digest = DigestCheckpoint(**sharded, 4);
    EXPECT_TRUE(digest.ok()) << digest.error().ToString();
    EXPECT_EQ(digest->tensors.size(), 1000U);
    EXPECT_EQ(ReadAll(**sharded, 250), std::string(4, static_cast<char>(250)));
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(Sharded, NoticesAFileThatAnotherOneReplaced) {
  const auto pool = std::make_shared<DescriptorPool>(1);
  const fs::path first = Write("first", "first"), second = Write("second", "second");
  const auto a = InputFile::Open(first, pool);
  const auto b = InputFile::Open(second, pool);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(pool->size(), 1U);
  std::string bytes(5, '\0');
  EXPECT_TRUE(a->ReadAt(0, std::as_writable_bytes(std::span(bytes))).ok());
  EXPECT_EQ(bytes, "first");
  EXPECT_TRUE(b->CheckUnchanged().ok());
  fs::rename(Write("other", "other"), first);
  const Status status = a->ReadAt(0, std::as_writable_bytes(std::span(bytes)));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kIntegrity);
}

}  // namespace
}  // namespace rharness
