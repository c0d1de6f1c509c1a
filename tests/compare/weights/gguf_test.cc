// The GGUF reader: layout, metadata, quantised types, and every kind of broken file.
#include "compare/weights/gguf.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <map>

#include "compare/weights/tensor_diff.h"
#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/gguf_file.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

class Gguf : public CheckpointFiles {
 protected:
  void ExpectError(const GgufFile& file, ErrorCode code, std::string_view text) {
    ExpectError(file.Bytes(), code, text);
  }
  void ExpectError(const std::string& bytes, ErrorCode code, std::string_view text) {
    const auto result = Open(bytes, "x.gguf");
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.error().code, code) << result.error().ToString();
    EXPECT_NE(result.error().message.find(text), std::string::npos) << result.error().ToString();
    EXPECT_NE(result.error().where.find("x.gguf: byte "), std::string::npos)
        << result.error().where;
  }
};

// Two fp32 rows of three, and a bf16 scalar after them at the next multiple of 32.
GgufFile Plain() {
  GgufFile file;
  file.tensors = {{"blk.0.up", {3, 2}, 0, 0}, {"a.scale", {}, 30, 32}};
  file.data = BytesOf(std::vector<float>{1, 2, 3, 4, 5, 6});
  file.data.resize(32);
  file.data += GgufNumber(0x3f80, 2);
  return file;
}

TEST_F(Gguf, TurnsDimensionsAroundAndSortsByName) {
  const auto checkpoint = MustOpen(Plain().Bytes(), "x.gguf");
  ASSERT_EQ(checkpoint->tensors().size(), 2U);
  const TensorInfo& scale = checkpoint->tensors()[0];
  EXPECT_EQ(scale.name, "a.scale");
  EXPECT_EQ(scale.dtype, DType::kBF16);
  EXPECT_TRUE(scale.shape.empty());
  EXPECT_EQ(ReadAll(*checkpoint, 0), GgufNumber(0x3f80, 2));
  const TensorInfo& up = checkpoint->tensors()[1];
  EXPECT_EQ(up.shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(up.size_bytes, 24U);
  EXPECT_EQ(ReadAll(*checkpoint, 1), BytesOf(std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(checkpoint->CheckUnchanged().ok());
}

// Context lengths, rope, tokenizers: another model from the same tensors.
TEST_F(Gguf, HoldsWhatIsLoadedWithItsTensors) {
  const auto file = [&](float rope, const char* token, const char* author, const char* name) {
    GgufFile gguf = Plain();
    gguf.pairs = {GgufPair("general.author", 8, GgufString(author)),
                  GgufPair("llama.rope.freq_base", 6, BytesOf<float>({rope})),
                  GgufPair("tokenizer.ggml.tokens", 9,
                           GgufNumber(8, 4) + GgufNumber(1, 8) + GgufString(token))};
    return MustOpen(gguf.Bytes(), name);
  };
  const auto one = file(1e4f, "cat", "a", "1.gguf");
  ASSERT_EQ(one->unread().size(), 2U);
  EXPECT_EQ(one->unread()[0].name, "metadata llama.rope.freq_base");
  const auto same = [&](const Checkpoint& other) {
    return std::pair(*SameBytes(one->unread()[0], other.unread()[0]),
                     *SameBytes(one->unread()[1], other.unread()[1]));
  };
  EXPECT_EQ(same(*file(1e4f, "cat", "b", "2.gguf")), std::pair(true, true));
  EXPECT_EQ(same(*file(5e5f, "cat", "a", "3.gguf")), std::pair(false, true));
  EXPECT_EQ(same(*file(1e4f, "dog", "a", "4.gguf")), std::pair(true, false));
  EXPECT_TRUE(DigestCheckpoint(*one).ok());
}

TEST_F(Gguf, HasTheDigestOfTheSameTensorsInASafetensorsFile) {
  const auto gguf = MustOpen(Plain().Bytes(), "x.gguf");
  const auto safetensors =
      MustOpen(FileOf({{"blk.0.up", "F32", "[2,3]", Plain().data.substr(0, 24)},
                       {"a.scale", "BF16", "[]", Plain().data.substr(32)}}));
  EXPECT_EQ(DigestCheckpoint(*gguf)->sha256, DigestCheckpoint(*safetensors)->sha256);
}

TEST_F(Gguf, ReadsVersion2AndAStatedAlignment) {
  GgufFile file = Plain();
  file.version = 2;
  file.alignment = 64;
  file.pairs = {GgufPair("general.alignment", 4, GgufNumber(64, 4))};
  file.tensors = {{"x", {6}, 0, 64}};
  file.data = std::string(64, '\0') + BytesOf(std::vector<float>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(ReadAll(*MustOpen(file.Bytes(), "x.gguf"), 0), file.data.substr(64));
  file.tensors[0].offset = 32;
  ExpectError(file, ErrorCode::kInvalidInput, "offset 32; expected a multiple of 64");
}

TEST_F(Gguf, RecordsMetadataOfEveryType) {
  GgufFile file;
  file.pairs = {
      GgufPair("u8", 0, GgufNumber(200, 1)),
      GgufPair("i8", 1, GgufNumber(0xfe, 1)),
      GgufPair("u16", 2, GgufNumber(65535, 2)),
      GgufPair("i16", 3, GgufNumber(0xffff, 2)),
      GgufPair("u32", 4, GgufNumber(4294967295, 4)),
      GgufPair("i32", 5, GgufNumber(0xffffffff, 4)),
      GgufPair("f32", 6, GgufNumber(std::bit_cast<std::uint32_t>(0.5F), 4)),
      GgufPair("bool", 7, GgufNumber(1, 1)),
      GgufPair("text", 8, GgufString("llama")),
      GgufPair("u64", 10, GgufNumber(std::numeric_limits<std::uint64_t>::max(), 8)),
      GgufPair("i64", 11, GgufNumber(std::numeric_limits<std::uint64_t>::max(), 8)),
      GgufPair("f64", 12, GgufNumber(std::bit_cast<std::uint64_t>(-2.25), 8)),
      GgufPair("numbers", 9, GgufNumber(5, 4) + GgufNumber(2, 8) + GgufNumber(0, 8)),
      GgufPair("words", 9, GgufNumber(8, 4) + GgufNumber(2, 8) + GgufString("a") + GgufString("b")),
      GgufPair("nested", 9,
               GgufNumber(9, 4) + GgufNumber(1, 8) + GgufNumber(0, 4) + GgufNumber(1, 8) + "x"),
      GgufPair("long", 8, GgufString(std::string(5000, 'x')))};
  const auto checkpoint = MustOpen(file.Bytes(), "x.gguf");
  const std::map<std::string, std::string> metadata(checkpoint->metadata().begin(),
                                                    checkpoint->metadata().end());
  const std::map<std::string, std::string> expected = {{"u8", "200"},
                                                       {"i8", "-2"},
                                                       {"u16", "65535"},
                                                       {"i16", "-1"},
                                                       {"u32", "4294967295"},
                                                       {"i32", "-1"},
                                                       {"f32", "0.5"},
                                                       {"bool", "true"},
                                                       {"text", "llama"},
                                                       {"i64", "-1"},
                                                       {"f64", "-2.25"},
                                                       {"u64", "18446744073709551615"},
                                                       {"numbers", "[2 x i32]"},
                                                       {"words", "[2 x string]"},
                                                       {"nested", "[1 x array]"},
                                                       {"long", "[5000 bytes of text]"}};
  EXPECT_EQ(metadata, expected);
}

// Block and type sizes as GGML_QUANT_SIZES of the gguf package and ggml-common.h state them.
TEST(GgufTypes, HaveThePublishedBlockSizes) {
  struct Row {
    std::uint32_t number;
    std::string_view name;
    std::uint64_t elements;
    std::uint64_t bytes;
  };
  constexpr std::uint64_t kSuper = 256;
  const std::vector<Row> rows = {
      {2, "Q4_0", 32, 2 + 16},
      {3, "Q4_1", 32, 2 + 2 + 16},
      {6, "Q5_0", 32, 2 + 4 + 16},
      {7, "Q5_1", 32, 2 + 2 + 4 + 16},
      {8, "Q8_0", 32, 2 + 32},
      {9, "Q8_1", 32, 2 + 2 + 32},
      {10, "Q2_K", kSuper, 2 + 2 + kSuper / 16 + kSuper / 4},
      {11, "Q3_K", kSuper, 2 + kSuper / 4 + kSuper / 8 + 12},
      {12, "Q4_K", kSuper, 2 + 2 + kSuper / 2 + 12},
      {13, "Q5_K", kSuper, 2 + 2 + kSuper / 2 + kSuper / 8 + 12},
      {14, "Q6_K", kSuper, 2 + kSuper / 2 + kSuper / 4 + kSuper / 16},
      {15, "Q8_K", kSuper, 4 + kSuper + kSuper / 8},
      {16, "IQ2_XXS", kSuper, 2 + kSuper / 4},
      {17, "IQ2_XS", kSuper, 2 + kSuper / 4 + kSuper / 32},
      {18, "IQ3_XXS", kSuper, 2 + kSuper / 4 + kSuper / 8},
      {19, "IQ1_S", kSuper, 2 + kSuper / 8 + kSuper / 16},
      {20, "IQ4_NL", 32, 2 + 16},
      {21, "IQ3_S", kSuper, 2 + kSuper / 4 + kSuper / 8 + kSuper / 32 + 4},
      {22, "IQ2_S", kSuper, 2 + kSuper / 4 + kSuper / 16},
      {23, "IQ4_XS", kSuper, 2 + 2 + kSuper / 2 + kSuper / 64},
      {29, "IQ1_M", kSuper, kSuper / 8 + kSuper / 16 + kSuper / 32},
      {34, "TQ1_0", kSuper, 2 + 4 * 13},
      {35, "TQ2_0", kSuper, 2 + 64},
      {39, "MXFP4", 32, 1 + 16},
  };
  for (const Row& row : rows) {
    const GgufType* type = FindGgufType(row.number);
    ASSERT_NE(type, nullptr) << row.name;
    EXPECT_EQ(type->name, row.name);
    EXPECT_EQ(type->block_elements, row.elements) << row.name;
    EXPECT_EQ(type->block_bytes, row.bytes) << row.name;
    EXPECT_FALSE(type->dtype.has_value());
  }
  for (const std::uint32_t removed : {4U, 5U, 31U, 32U, 33U, 36U, 37U, 38U}) {
    EXPECT_EQ(FindGgufType(removed), nullptr) << removed;
  }
}

GgufFile Quantised(std::uint32_t type, std::size_t bytes) {
  GgufFile file;
  file.tensors = {{"w", {256, 2}, type, 0}};
  file.data.resize(bytes);
  return file;
}

TEST_F(Gguf, ComparesBlocksByteByByte) {
  GgufFile file = Quantised(12, 288);
  const auto a = MustOpen(file.Bytes(), "a.gguf");
  file.data[100] = 1;
  file.data[287] = 2;
  const auto b = MustOpen(file.Bytes(), "b.gguf");
  const TensorInfo& info = a->tensors()[0];
  EXPECT_EQ(info.dtype, DType::kBlocks);
  EXPECT_EQ(info.block_format, "Q4_K");
  EXPECT_EQ(FormatName(info), "Q4_K");
  EXPECT_EQ(info.elements, 512U);
  EXPECT_EQ(info.size_bytes, 288U);
  const auto difference = DiffCheckpoints(*a, *b);
  ASSERT_TRUE(difference.ok());
  ASSERT_EQ(difference->differing.size(), 1U);
  EXPECT_EQ(difference->differing[0].elements, 288U);
  EXPECT_EQ(difference->differing[0].differing, 2U);
  EXPECT_EQ(difference->differing[0].first_index, 100U);
  EXPECT_EQ(difference->differing[0].max_ulp, 0U);
}

// block_q8_1 of ggml-common.h: d and s as half floats, then 32 quants of a byte, 36 bytes. (The
// gguf package's own table says 40, from when d and s were floats; ggml refuses such files.)
TEST_F(Gguf, ReadsBlocksOfQ8_1AsGgmlLaysThemOut) {
  GgufFile file;
  file.tensors = {{"w", {32, 2}, 9, 0}, {"x", {4}, 0, 96}};
  std::string block;
  for (int i = 0; i < 2; ++i) {
    block += GgufNumber(0x3c00, 2) + GgufNumber(0x5000, 2);  // d = 1, s = 32: the sum of the quants
    block += std::string(32, '\1');
  }
  ASSERT_EQ(block.size(), 72U);
  file.data = block + std::string(24, '\0') + std::string(16, '\7');
  const auto a = MustOpen(file.Bytes(), "a.gguf");
  ASSERT_EQ(a->tensors().size(), 2U);
  EXPECT_EQ(FormatName(a->tensors()[0]), "Q8_1");
  EXPECT_EQ(a->tensors()[0].elements, 64U);
  EXPECT_EQ(a->tensors()[0].size_bytes, 72U);
  EXPECT_EQ(ReadAll(*a, 0), block);
  EXPECT_EQ(ReadAll(*a, 1), std::string(16, '\7'));
  file.data[71] = 2;  // the last quant of the last block
  const auto b = MustOpen(file.Bytes(), "b.gguf");
  const auto difference = DiffCheckpoints(*a, *b);
  ASSERT_TRUE(difference.ok());
  ASSERT_EQ(difference->differing.size(), 1U);
  EXPECT_EQ(difference->differing[0].name, "w");
  EXPECT_EQ(difference->differing[0].first_index, 71U);
}

TEST_F(Gguf, TellsBlocksOfDifferentFormatsApartThoughTheirBytesAgree) {
  // 110 bytes a block, both of them.
  const auto a = MustOpen(Quantised(11, 220).Bytes(), "a.gguf");
  const auto b = MustOpen(Quantised(21, 220).Bytes(), "b.gguf");
  EXPECT_EQ(DiffCheckpoints(*a, *b)->shape_or_dtype, std::vector<std::string>{"w"});
  const auto digest_a = DigestCheckpoint(*a), digest_b = DigestCheckpoint(*b);
  EXPECT_NE(digest_a->sha256, digest_b->sha256);
  EXPECT_EQ(digest_a->tensors[0].block_format, "Q3_K");
  EXPECT_EQ(DiffDigests(digest_a->tensors, digest_b->tensors).shape_or_dtype.size(), 1U);
}

TEST_F(Gguf, RefusesWhatBreaksTheFormat) {
  const auto with = [](auto change) {
    GgufFile file = Plain();
    change(&file);
    return file;
  };
  constexpr auto kInvalid = ErrorCode::kInvalidInput;
  ExpectError(with([](GgufFile* f) { f->tensors[1].offset = 24; }), kInvalid, "multiple of 32");
  ExpectError(with([](GgufFile* f) { f->tensors[1].offset = 0; }), kInvalid, "in another tensor");
  ExpectError(with([](GgufFile* f) { f->tensors[1].offset = 64; }), kInvalid, "end after");
  ExpectError(with([](GgufFile* f) { f->tensors[1].name = "blk.0.up"; }), kInvalid, "occurs twice");
  ExpectError(with([](GgufFile* f) { f->tensors[1].dims.assign(5, 1); }), kInvalid, "at most 4");
  ExpectError(with([](GgufFile* f) {
                f->tensors[0].dims = {1ULL << 32, 1ULL << 32};
              }),
              kInvalid, "above 2^64 - 1");
  ExpectError(with([](GgufFile* f) { f->tensors[0].dims = {1ULL << 63}; }), kInvalid,
              "above 2^64 - 1 bytes");
  ExpectError(with([](GgufFile* f) { f->tensors[0].type = 12; }), kInvalid, "multiple of 256");
  ExpectError(with([](GgufFile* f) { f->tensors[0].type = 4; }), ErrorCode::kUnsupported, "type 4");
  ExpectError(with([](GgufFile* f) { f->tensors[0].name.assign(300, 'x'); }),
              ErrorCode::kUnsupported, "300 bytes");
  ExpectError(with([](GgufFile* f) { f->data.pop_back(); }), kInvalid, "end after");
}

TEST_F(Gguf, RefusesBrokenMetadata) {
  const auto with = [](std::vector<std::string> pairs) {
    GgufFile file;
    file.pairs = std::move(pairs);
    return file;
  };
  constexpr auto kInvalid = ErrorCode::kInvalidInput;
  ExpectError(with({GgufPair("a", 13, "")}), kInvalid, "type 13");
  ExpectError(with({GgufPair("a", 7, GgufNumber(2, 1))}), kInvalid, "a bool of 2");
  ExpectError(with({GgufPair("a", 0, "x"), GgufPair("a", 0, "x")}), kInvalid, "occurs twice");
  ExpectError(with({GgufPair("general.alignment", 4, GgufNumber(12, 4))}), kInvalid,
              "multiple of 8");
  ExpectError(with({GgufPair("general.alignment", 4, GgufNumber(0, 4))}), kInvalid,
              "multiple of 8");
  ExpectError(with({GgufPair("general.alignment", 10, GgufNumber(32, 8))}), kInvalid,
              "of type u64");
  ExpectError(with({GgufPair("a", 9, GgufNumber(12, 4) + GgufNumber(1ULL << 62, 8))}), kInvalid,
              "expected fewer");
  ExpectError(with({GgufPair("a", 9, GgufNumber(0, 4) + GgufNumber(1ULL << 62, 8))}), kInvalid,
              "left of the file");
  std::string nested;
  for (int i = 0; i < 6; ++i) nested += GgufNumber(9, 4) + GgufNumber(1, 8);
  ExpectError(with({GgufPair("a", 9, nested)}), ErrorCode::kUnsupported, "at most 4 levels");
}

TEST_F(Gguf, ExplainsVersionsThatItDoesNotRead) {
  GgufFile file = Plain();
  file.version = 1;
  ExpectError(file, ErrorCode::kUnsupported, "version 1; expected 2 or 3");
  file.version = 0x03000000;
  ExpectError(file, ErrorCode::kUnsupported, "big-endian");
  file.version = 0;
  ExpectError(file, ErrorCode::kUnsupported, "version 0");
  std::string many = Plain().Bytes();
  many[15] = '\x7f';
  ExpectError(many, ErrorCode::kUnsupported, "tensors; expected at most");
}

TEST_F(Gguf, RefusesEveryTruncation) {
  GgufFile file = Plain();
  file.pairs = {
      GgufPair("words", 9, GgufNumber(8, 4) + GgufNumber(2, 8) + GgufString("a") + GgufString("b")),
      GgufPair("text", 8, GgufString("llama"))};
  const std::string whole = file.Bytes();
  ASSERT_TRUE(Open(whole, "x.gguf").ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(Open(whole.substr(0, size), "x.gguf").ok()) << size;
  }
}

TEST_F(Gguf, SurvivesEveryChangedByte) {
  const std::string whole = Plain().Bytes();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char value : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[i] = value;
      const auto result = Open(changed, "x.gguf");
      if (!result.ok()) continue;
      for (std::size_t tensor = 0; tensor < (*result)->tensors().size(); ++tensor) {
        EXPECT_EQ(ReadAll(**result, tensor).size(), (*result)->tensors()[tensor].size_bytes);
      }
    }
  }
}

}  // namespace
}  // namespace rharness
