// Distributed checkpoints: chunks put together, and what does not fit refused.
#include "compare/weights/torch_distributed.h"

#include <gtest/gtest.h>

#include <numeric>

#include "compare/weights/chunk_tiling.h"
#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/distributed_files.h"
#include "tests/compare/weights/distributed_part.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

namespace dcp = distributed;

using Sizes = std::vector<std::uint64_t>;

TEST(Tilings, AcceptBoxesThatCoverEachElementOnce) {
  EXPECT_EQ(FindTilingFault({4, 6}, {{{0, 0}, {4, 6}}}), std::nullopt);
  EXPECT_EQ(FindTilingFault({4, 6}, {{{0, 0}, {1, 6}}, {{1, 0}, {3, 6}}}), std::nullopt);
  // A pinwheel, which no straight cut divides.
  EXPECT_EQ(FindTilingFault({3, 3}, {{{0, 0}, {1, 2}},
                                     {{0, 2}, {2, 1}},
                                     {{2, 1}, {1, 2}},
                                     {{1, 0}, {2, 1}},
                                     {{1, 1}, {1, 1}}}),
            std::nullopt);
  EXPECT_EQ(FindTilingFault({}, {{{}, {}}}), std::nullopt);
  EXPECT_EQ(FindTilingFault({0, 5}, {}), std::nullopt);
  EXPECT_EQ(FindTilingFault({2}, {{{0}, {2}}, {{2}, {0}}}), std::nullopt);
}

TEST(Tilings, NameTheFirstElementThatIsNotCoveredOnce) {
  EXPECT_EQ(FindTilingFault({4}, {}), "no chunk covers [0]");
  EXPECT_EQ(FindTilingFault({4}, {{{0}, {2}}, {{3}, {1}}}), "no chunk covers [2]");
  EXPECT_EQ(FindTilingFault({4}, {{{0}, {3}}, {{2}, {2}}}), "several chunks cover [2]");
  EXPECT_EQ(FindTilingFault({2, 2}, {{{0, 0}, {1, 2}}, {{1, 1}, {1, 1}}}),
            "no chunk covers [1, 0]");
  EXPECT_EQ(FindTilingFault({}, {}), "no chunk covers []");
  EXPECT_EQ(FindTilingFault({}, {{{}, {}}, {{}, {}}}), "several chunks cover []");
  // As many elements as the tensor, in the wrong places.
  EXPECT_EQ(FindTilingFault({4}, {{{0}, {2}}, {{0}, {2}}}), "several chunks cover [0]");
  EXPECT_NE(FindTilingFault({4}, {{{3}, {2}}})->find("leaves the tensor's [4]"), std::string::npos);
}

// A 4x6 tensor of bytes 0..23 in four chunks of unequal size over two files, and a scalar.
class Distributed : public CheckpointFiles {
 protected:
  static std::string Whole() {
    std::string bytes(24, '\0');
    std::iota(bytes.begin(), bytes.end(), '\0');
    return bytes;
  }
  static std::string Cut(const dcp::Chunk& chunk) {
    std::string bytes;
    for (std::uint64_t row = 0; row < chunk.sizes[0]; ++row) {
      bytes += Whole().substr((chunk.offsets[0] + row) * 6 + chunk.offsets[1], chunk.sizes[1]);
    }
    return bytes;
  }
  // Writes the parts' files and says where the parts lie.
  void WriteParts() {
    std::string file;
    for (const dcp::Chunk& chunk : chunks_) {
      const std::string part =
          dcp::Saved("ByteStorage", chunk.sizes[0] * chunk.sizes[1], chunk.sizes, Cut(chunk));
      parts_.push_back(
          dcp::Part("w", dcp::Size(chunk.offsets), "__0_0.distcp", file.size(), part.size()));
      file += part;
    }
    Write(file, "__0_0.distcp");
    const std::string scalar = dcp::Saved("FloatStorage", 1, {}, BytesOf(std::vector<float>{2.5}));
    Write("object" + scalar, "__1_0.distcp");
    parts_.push_back(dcp::Part("s", dcp::Size({}), "__1_0.distcp", 6, scalar.size()));
    parts_.push_back(dcp::Part("o", dcp::None(), "__1_0.distcp", 0, 6));
    entries_ = {{"w", dcp::Tensor("uint8", {4, 6}, chunks_)},
                {"s", dcp::Tensor("float32", {}, {{{}, {}}})},
                {"o", dcp::Object()}};
  }
  Result<std::unique_ptr<Checkpoint>> OpenMetadata(const std::string& metadata) {
    return OpenCheckpoint(Write(metadata, ".metadata").parent_path());
  }
  void ExpectError(ErrorCode code, std::string_view text) {
    const auto result = OpenMetadata(dcp::MetadataFile(entries_, parts_));
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.error().code, code) << result.error().ToString();
    EXPECT_NE(result.error().message.find(text), std::string::npos) << result.error().ToString();
  }

  std::vector<dcp::Chunk> chunks_ = {
      {{0, 0}, {3, 2}}, {{0, 2}, {3, 4}}, {{3, 0}, {1, 5}}, {{3, 5}, {1, 1}}};
  dcp::Fields entries_;
  std::vector<std::pair<dcp::Pickled, dcp::Pickled>> parts_;
};

TEST_F(Distributed, IsTheTensorsThatWereSavedWhateverTheChunks) {
  WriteParts();
  const auto checkpoint = OpenMetadata(dcp::MetadataFile(entries_, parts_));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  ASSERT_EQ((*checkpoint)->tensors().size(), 2U);
  EXPECT_EQ(ReadAll(**checkpoint, 0), BytesOf(std::vector<float>{2.5}));
  EXPECT_EQ(ReadAll(**checkpoint, 1), Whole());
  ASSERT_EQ((*checkpoint)->unread().size(), 1U);  // "object" is no archive
  EXPECT_EQ((*checkpoint)->unread()[0].name, "o");
  EXPECT_EQ((*checkpoint)->unread()[0].size_bytes, 6U);
  EXPECT_TRUE((*checkpoint)->CheckUnchanged().ok());
  EXPECT_FALSE(DigestCheckpoint(**checkpoint).ok());  // it would not stand for "object"
  entries_.pop_back();
  parts_.pop_back();
  const auto tensors = OpenMetadata(dcp::MetadataFile(entries_, parts_));
  ASSERT_TRUE(tensors.ok()) << tensors.error().ToString();
  const auto file = MustOpen(FileOf(
      {{"s", "F32", "[]", BytesOf(std::vector<float>{2.5})}, {"w", "U8", "[4,6]", Whole()}}));
  EXPECT_EQ(DigestCheckpoint(**tensors)->sha256, DigestCheckpoint(*file)->sha256);
}

TEST_F(Distributed, ReadsAnyRangeOfATensor) {
  WriteParts();
  const auto checkpoint = OpenMetadata(dcp::MetadataFile(entries_, parts_));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  for (std::size_t begin = 0; begin <= 24; ++begin) {
    for (std::size_t size = 0; begin + size <= 24; ++size) {
      std::string bytes(size, '\xff');
      ASSERT_TRUE((*checkpoint)->Read(1, begin, std::as_writable_bytes(std::span(bytes))).ok());
      EXPECT_EQ(bytes, Whole().substr(begin, size)) << begin << ' ' << size;
    }
  }
}

TEST_F(Distributed, RefusesChunksThatLeaveAHoleOrOverlap) {
  WriteParts();
  std::vector<dcp::Chunk> fewer(chunks_.begin(), chunks_.end() - 1);
  entries_[0].second = dcp::Tensor("uint8", {4, 6}, fewer);
  ExpectError(ErrorCode::kInvalidInput, "tensor 'w': no chunk covers [3, 5]");
  chunks_[2].sizes[1] = 6;
  entries_[0].second = dcp::Tensor("uint8", {4, 6}, chunks_);
  ExpectError(ErrorCode::kInvalidInput, "tensor 'w': several chunks cover [3, 5]");
}

TEST_F(Distributed, RefusesMetadataThatDoesNotFitTheParts) {
  WriteParts();
  const auto entries = entries_;
  const auto parts = parts_;
  entries_[1].second = dcp::Tensor("float64", {}, {{{}, {}}});
  ExpectError(ErrorCode::kInvalidInput, "holds F32 of []; expected one tensor, F64 of []");
  entries_ = entries;
  parts_.erase(parts_.begin());
  ExpectError(ErrorCode::kInvalidInput, "storage_data does not say where its chunk at [0, 0] lies");
  parts_ = parts;
  parts_.push_back(parts[0]);
  ExpectError(ErrorCode::kInvalidInput, "two entries for one chunk of 'w'");
  parts_ = parts;
  parts_.push_back(dcp::Part("x", dcp::Size({}), "__1_0.distcp", 6, 8));
  ExpectError(ErrorCode::kInvalidInput, "a part of 'x' that no tensor's chunks list");
  parts_ = parts;
  entries_.push_back(entries_[2]);
  ExpectError(ErrorCode::kInvalidInput, "the name 'o' occurs twice");
}

TEST_F(Distributed, RefusesPartsOutsideOfTheirFilesAndFolder) {
  WriteParts();
  const auto with_scalar_at = [&](std::string_view file, std::uint64_t begin, std::uint64_t length,
                                  const dcp::Fields& more = {}) {
    parts_[4] = dcp::Part("s", dcp::Size({}), file, begin, length, more);
  };
  with_scalar_at("__1_0.distcp", 6, 1000000);
  ExpectError(ErrorCode::kInvalidInput, "a part of 1000000 bytes; expected one that ends within");
  for (const char* file : {"../__1_0.distcp", "/etc/passwd", "sub/x", ""}) {
    with_scalar_at(file, 6, 10);
    ExpectError(ErrorCode::kInvalidInput, "expected the name of a file in the folder");
  }
  with_scalar_at("__7_0.distcp", 6, 10);
  ExpectError(ErrorCode::kNotFound, "1 of 3 files are missing: '__7_0.distcp'");
  with_scalar_at("__1_0.distcp", 6, 10,
                 {{"transform_descriptors", dcp::List({dcp::Text("zstd")})}});
  ExpectError(ErrorCode::kUnsupported, "transform_descriptors");
}

// PyTorch leaves `offset` out of a MetadataIndex where it is None.
TEST_F(Distributed, TellsTheValuesThatAreNoTensors) {
  WriteParts();
  const std::string step =
      dcp::Archive({{"archive/data.pkl", "\x80\x02K\7."}, {"archive/version", "3\n"}});
  const std::string groups =
      dcp::Archive({{"archive/data.pkl", "\x80\x02}X\2" + std::string(3, '\0') + "lrK\1s."},
                    {"archive/version", "3\n"}});
  Write(step + groups, "__2_0.distcp");
  parts_[5] = dcp::PartWithoutOffset("o", "__2_0.distcp", 0, step.size());
  entries_.emplace_back("groups", dcp::Object());
  parts_.push_back(dcp::PartWithoutOffset("groups", "__2_0.distcp", step.size(), groups.size()));
  const auto checkpoint = OpenMetadata(dcp::MetadataFile(entries_, parts_));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  EXPECT_EQ((*checkpoint)->tensors().size(), 2U);
  EXPECT_TRUE((*checkpoint)->unread().empty());
  EXPECT_EQ((*checkpoint)->metadata(),
            (std::vector<std::pair<std::string, std::string>>{{"groups.lr", "1"}, {"o", "7"}}));
  parts_.pop_back();
  ExpectError(ErrorCode::kInvalidInput, "object 'groups': storage_data does not say where it lies");
}

TEST_F(Distributed, ReadsTensorsBesideItAndNamesPartsThatItDoesNotList) {
  WriteParts();
  const std::string common = dcp::Saved("FloatStorage", 1, {}, BytesOf(std::vector<float>{9}));
  Write(common, "common.pt");
  Write(common, "__9_0.distcp");
  const auto checkpoint = OpenMetadata(dcp::MetadataFile(entries_, parts_));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  ASSERT_EQ((*checkpoint)->tensors().size(), 3U);
  EXPECT_EQ((*checkpoint)->tensors()[0].name, "common.pt/tensor");
  ASSERT_EQ((*checkpoint)->unread().size(), 2U);
  EXPECT_EQ((*checkpoint)->unread()[0].name, "__9_0.distcp");
}

TEST_F(Distributed, TakesNoOtherClassForOneOfTheFormat) {
  WriteParts();
  for (const char* module : {"os", "evil.metadata"}) {
    entries_[2].second = dcp::Global(module, "BytesStorageMetadata") + ")\x81";
    ExpectError(ErrorCode::kInvalidInput, "the entry of 'o' is an object");
  }
  entries_[2].second = dcp::Int(5);
  ExpectError(ErrorCode::kInvalidInput, "the entry of 'o' is an integer");
}

TEST_F(Distributed, SurvivesEveryTruncationAndChangedByteOfItsMetadata) {
  WriteParts();
  const std::string whole = dcp::MetadataFile(entries_, parts_);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ParseDistributedMetadata(whole.substr(0, size), "x").ok()) << size;
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(~changed[i]);
    const auto result = ParseDistributedMetadata(changed, "x");
    if (!result.ok()) {
      EXPECT_TRUE(result.error().where.starts_with("x: byte ")) << result.error().ToString();
    }
  }
}

}  // namespace
}  // namespace rharness
