// Strided reads against an element-by-element walk, over boxes that cross bands, spans and gaps.
#include "compare/weights/view_checkpoint.h"

#include <gtest/gtest.h>

#include <random>

#include "compare/weights/gather.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

// The elements of a view one by one, by the definition of strides.
std::string Walk(const std::string& source, const View& view, std::size_t item) {
  std::string out;
  std::vector<std::uint64_t> index(view.shape.size(), 0);
  for (const std::uint64_t size : view.shape) {
    if (size == 0) return out;
  }
  while (true) {
    std::uint64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * view.strides[d];
    out += source.substr(view.offset_bytes + at * item, item);
    std::size_t d = index.size();
    while (d > 0 && ++index[d - 1] == view.shape[d - 1]) index[--d] = 0;
    if (d == 0) return out;
  }
}

class StridedViews : public CheckpointFiles {
 protected:
  std::unique_ptr<Checkpoint> CheckpointOf(const std::string& source, std::vector<View> views) {
    ViewCheckpointParts parts;
    parts.where = "f";
    parts.sources.push_back({.begin = 0, .size_bytes = source.size()});
    parts.views = std::move(views);
    auto checkpoint =
        MakeViewCheckpoint(*InputFile::Open(Write(source, "source")), std::move(parts));
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
    return std::move(checkpoint).value();
  }
};

std::string RandomBytes(std::size_t size) {
  std::mt19937 random(7);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST_F(StridedViews, ReadEveryStrideAsAnElementWiseWalkDoes) {
  const std::string source = RandomBytes(std::size_t{24} << 20);
  struct Row {
    DType dtype;
    std::vector<std::uint64_t> shape, strides;
    std::uint64_t offset_bytes;
  };
  const std::vector<Row> rows = {
      {DType::kF32, {1500, 2000}, {1, 1500}, 4},             // transposed, several bands
      {DType::kU8, {7, 11, 13}, {1, 7, 77}, 3},              // Fortran order
      {DType::kF64, {100, 100}, {5000, 17}, 8},              // gaps
      {DType::kI16, {3, 1, 5}, {1000000, 999999999, 2}, 0},  // a stride that is never taken
      {DType::kC128, {300, 2, 40}, {1, 0, 300}, 16},         // expanded
      {DType::kF16, {3, 4000000}, {4000000, 1}, 2},          // dense
      {DType::kU8, {2, 3000000}, {1, 2}, 0},                 // runs longer than a span
      {DType::kF32, {5, 600}, {1, 2000}, 0},                 // elements that lie far apart
      {DType::kI64, {}, {}, 8},
      {DType::kI64, {4, 0, 2}, {1, 1, 1}, 0},
  };
  std::vector<View> views;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    views.push_back({.name = std::string(1, static_cast<char>('a' + i)),
                     .dtype = rows[i].dtype,
                     .shape = rows[i].shape,
                     .strides = rows[i].strides,
                     .offset_bytes = rows[i].offset_bytes});
  }
  const auto checkpoint = CheckpointOf(source, views);
  for (std::size_t i = 0; i < views.size(); ++i) {
    const std::size_t item = static_cast<std::size_t>(BitsOf(views[i].dtype)) / 8;
    const std::string expected = Walk(source, views[i], item);
    ASSERT_EQ(checkpoint->tensors()[i].size_bytes, expected.size());
    EXPECT_TRUE(ReadAll(*checkpoint, i) == expected) << views[i].name;
    for (std::size_t at = 0; at < expected.size(); at += 999'983) {  // across bands, unaligned
      std::string part(std::min<std::size_t>(77'777, expected.size() - at), '\0');
      ASSERT_TRUE(checkpoint->Read(i, at, std::as_writable_bytes(std::span(part))).ok());
      EXPECT_TRUE(expected.compare(at, part.size(), part) == 0) << views[i].name << " at " << at;
    }
  }
}

TEST(Bands, CoverATensorWithoutOverlap) {
  const std::vector<std::uint64_t> shape = {3, 5, 2, 7};
  const std::vector<std::uint64_t> strides = {1, 3, 15, 30};
  for (std::uint64_t most = 1; most <= 220; ++most) {
    for (std::uint64_t element = 0; element < 210;) {
      const GatherBand band = BandOf(shape, strides, element, most);
      ASSERT_EQ(band.first, element) << most;
      ASSERT_GE(band.count, 1u);
      ASSERT_LE(band.count, most);
      const GatherBand last = BandOf(shape, strides, element + band.count - 1, most);
      ASSERT_EQ(last.first, element);
      ASSERT_EQ(last.source_offset, band.source_offset);
      element += band.count;
    }
  }
}

TEST_F(StridedViews, RefuseTotalsThatMultiplyTheFile) {
  ViewCheckpointParts parts;
  parts.where = "f";
  parts.sources.push_back({.begin = 0, .size_bytes = 4});
  for (const char name : {'a', 'b'}) {
    parts.views.push_back({.name = std::string(1, name),
                           .shape = {std::uint64_t{1} << 27},
                           .strides = {0},
                           .stated_at = 5});
  }
  // 512 MB each: one is within 64 times 16 MB, the floor, and two are just within; three are not.
  EXPECT_TRUE(MakeViewCheckpoint(*InputFile::Open(Write("abcd", "s")), parts).ok());
  parts.views.push_back(parts.views[0]);
  parts.views[2].name = "c";
  const auto checkpoint = MakeViewCheckpoint(*InputFile::Open(Write("abcd", "s")), parts);
  EXPECT_EQ(checkpoint.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(checkpoint.error().where, "f: byte 5");
}

// 4 GiB out of a few bytes would take half a minute without a word.
TEST_F(StridedViews, OfFarMoreDeflatedBytesThanTheFileHasAreRefused) {
  ViewCheckpointParts parts;
  parts.where = "f";
  ViewSource source{.size_bytes = std::uint64_t{4} << 30};
  source.deflated = ZipMember{.name = "a", .size_bytes = source.size_bytes, .deflated = true};
  parts.sources.push_back(source);
  const auto file = *InputFile::Open(Write("a few bytes", "source"));
  const auto checkpoint = MakeViewCheckpoint(file, parts);
  ASSERT_FALSE(checkpoint.ok());
  EXPECT_EQ(checkpoint.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(checkpoint.error().message,
            "11 bytes inflate to 4294967296; expected at most 64 times as many, or 1073741824 "
            "bytes");
  parts.sources[0].size_bytes = kInflatedFloor;
  EXPECT_TRUE(MakeViewCheckpoint(file, parts).ok());
}

}  // namespace
}  // namespace rharness
