// The choice of a reader by content, and the dtypes.
#include "compare/weights/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "compare/weights/tensor_diff.h"
#include "tests/compare/weights/pickle_bytes.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using Checkpoints = CheckpointFiles;

TEST_F(Checkpoints, NamesTheFormatsThatItDoesNotRead) {
  struct Row {
    std::string content;
    std::string_view text;
  };
  const std::vector<Row> rows = {
      {std::string("PK\x05\x06\x00\x00\x00\x00\x00\x00", 10), "empty zip archive"},
      {"\x80\x02}.", "a Python pickle without an array"},
      {"\x08\x01\x12\x80\x01\x0a\x02xyz", "a TensorFlow SavedModel"},
      {std::string("\x1c\0\0\0TFL3\x14\0\x20\0", 12), "a TensorFlow Lite model"},
      {"\x0c\xdb\x3a\x2a\x15\x01\x02\x03", "a part of an OCDBT database"},
      {std::string(60, 'k') + "\x57\xfb\x80\x8b\x24\x75\x47\xdb", "of a TensorFlow checkpoint"},
      {"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"},
      {ZipOf({{.name = "m/notes", .content = "x"}}), "a zip archive without data.pkl"},
  };
  for (const Row& row : rows) {
    const auto result = Open(row.content);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kUnsupported) << row.text;
    EXPECT_NE(result.error().message.find(row.text), std::string::npos)
        << result.error().ToString();
    EXPECT_TRUE(result.error().where.ends_with("x.safetensors"));
  }
}

TEST_F(Checkpoints, NamesByItsNameWhatItsContentDoesNotSay) {
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string_view>>{
           {"model.mlmodel", "a Core ML model"},
           {"model.ckpt.data-00000-of-00001", "the data of a TensorFlow checkpoint"},
           {"__0_0.distcp", "nothing but to its .metadata"}}) {
    const auto result = Open(std::string(100, '\0'), name);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kUnsupported) << result.error().ToString();
    EXPECT_NE(result.error().message.find(text), std::string::npos) << result.error().ToString();
    EXPECT_NE(result.error().message.find("expected a safetensors"), std::string::npos);
  }
  // The last of several archives is not the whole of a part of a distributed checkpoint.
  EXPECT_FALSE(Open(TorchFileOf(PickleOf("}"), {}), "__0_0.distcp").ok());
}

TEST_F(Checkpoints, TellsALengthThatSpellsAnotherFormatFromThatFormat) {
  // A header of 0x0280 bytes begins the file with 80 02, the mark of a pickle.
  std::string header = "{}";
  header.resize(0x0280, ' ');
  EXPECT_TRUE(Open(FileOf(header)).ok());
}

TEST_F(Checkpoints, RefusesWhatIsNoRegularFile) {
  const auto folder = Write("", "file").parent_path();
  EXPECT_EQ(OpenCheckpoint(folder / "absent").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(OpenCheckpoint(folder / "file" / "below").error().code, ErrorCode::kNotFound);
  const auto pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(OpenCheckpoint(pipe).error().code, ErrorCode::kInvalidInput);
}

TEST_F(Checkpoints, AreNoSafetensorsFilesWithDtypesOfOtherFormats) {
  EXPECT_EQ(BitsOf(*ParseDType("C128")), 128);
  const auto result = Open(FileOf({{"w", "C128", "[1]", std::string(16, 'x')}}));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(result.error().message.find("dtype C128"), std::string::npos);
}

TEST(DTypes, OfDoubleComplexNumbersCountElementsAndMeasureComponents) {
  const TensorInfo info{
      .name = "z", .dtype = DType::kC128, .shape = {3}, .elements = 3, .size_bytes = 48};
  const std::string a = BytesOf<double>({1, 2, 3, 4, 5, 6});
  const std::string b = BytesOf<double>({1, 2, 3.5, 4.25, 5, 6});
  const TensorDifference difference =
      DiffTensors(info, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
  EXPECT_EQ(difference.differing, 1u);
  EXPECT_EQ(difference.first_index, 1u);
  EXPECT_EQ(difference.max_abs, 0.5);
  EXPECT_EQ(difference.max_ulp, std::uint64_t{1} << 50);  // a quarter of [2, 4), which has 2^52
}

TEST(DTypes, HaveTheirSafetensorsSpelling) {
  EXPECT_EQ(*ParseDType("BF16"), DType::kBF16);
  EXPECT_EQ(ParseDType("bf16").error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(ParseDType("").error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(ParseDType(DTypeName(DType::kBlocks)).error().code, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace rharness
