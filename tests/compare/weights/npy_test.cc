// numpy's files, byte by byte: versions, orders, what is refused, archives.
#include "compare/weights/npy.h"

#include <gtest/gtest.h>

#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/safetensors_file.h"
#include "tests/compare/weights/zip_file.h"

namespace rharness {
namespace {

std::string NpyOf(const std::string& literal, const std::string& data, int version = 1) {
  const std::string text = literal + "\n";
  return "\x93NUMPY" + Little(static_cast<std::uint64_t>(version), 1) + Little(0, 1) +
         Little(text.size(), version == 1 ? 2 : 4) + text + data;
}

std::string LiteralOf(const std::string& descr, const std::string& shape,
                      const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

class Npys : public CheckpointFiles {
 protected:
  void ExpectRefused(const std::string& file, ErrorCode code, std::string_view text,
                     std::size_t offset) {
    const auto checkpoint = Open(file, "x.npy");
    ASSERT_FALSE(checkpoint.ok()) << text;
    EXPECT_EQ(checkpoint.error().code, code) << checkpoint.error().ToString();
    EXPECT_TRUE(checkpoint.error().where.ends_with("x.npy: byte " + std::to_string(offset)))
        << checkpoint.error().ToString();
    EXPECT_NE(checkpoint.error().message.find(text), std::string::npos)
        << checkpoint.error().ToString();
  }
};

const std::string kFloats = BytesOf<float>({0, 1, 2, 3, 4, 5});

TEST_F(Npys, NamesTheArrayArrayInEveryVersionAndSpelling) {
  for (const int version : {1, 2, 3}) {
    for (const std::string& literal :
         {LiteralOf("<f4", "(2, 3)"), LiteralOf("<f4", "(2,3,)"), LiteralOf("<f4", "(2L, 3L)"),
          std::string("{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":False}   ")}) {
      const auto checkpoint = MustOpen(NpyOf(literal, kFloats, version), "x.npy");
      ASSERT_EQ(checkpoint->tensors().size(), 1u);
      EXPECT_EQ(checkpoint->tensors()[0].name, "array");
      EXPECT_EQ(checkpoint->tensors()[0].shape, (std::vector<std::uint64_t>{2, 3}));
      EXPECT_EQ(ReadAll(*checkpoint, 0), kFloats);
    }
  }
  EXPECT_TRUE(MustOpen(NpyOf(LiteralOf("|b1", "()"), "\1"), "x.npy")->tensors()[0].shape.empty());
  EXPECT_EQ(MustOpen(NpyOf(LiteralOf("<c16", "(0,)"), ""), "x.npy")->tensors()[0].dtype,
            DType::kC128);
}

TEST_F(Npys, BringsFortranOrderIntoCOrder) {
  const auto checkpoint = MustOpen(NpyOf(LiteralOf("<f4", "(2, 3)", "True"), kFloats), "x.npy");
  EXPECT_EQ(ReadAll(*checkpoint, 0), BytesOf<float>({0, 2, 4, 1, 3, 5}));
}

TEST_F(Npys, BringsBigEndianNumbersIntoLittleEndian) {
  const auto integers = MustOpen(NpyOf(LiteralOf(">i2", "(2,)"), "\1\2\3\4"), "x.npy");
  EXPECT_EQ(ReadAll(*integers, 0), "\2\1\4\3");
  const auto complex = MustOpen(NpyOf(LiteralOf(">c8", "(1,)"), "abcdefgh"), "x.npy");
  EXPECT_EQ(ReadAll(*complex, 0), "dcbahgfe");
  const auto fortran = MustOpen(NpyOf(LiteralOf(">u2", "(2, 2)", "True"), "abcdefgh"), "x.npy");
  EXPECT_EQ(ReadAll(*fortran, 0), "bafedchg");
  EXPECT_EQ(ReadAll(*MustOpen(NpyOf(LiteralOf(">u1", "(2,)"), "ab"), "x.npy"), 0), "ab");
}

TEST_F(Npys, RefusesDtypesWithoutACounterpart) {
  const auto unsupported = ErrorCode::kUnsupported;
  ExpectRefused(NpyOf(LiteralOf("|O", "(1,)"), "x"), unsupported, "dtype '|O' (pickled objects)",
                20);
  for (const std::string& descr : std::initializer_list<std::string>{
           "<U4", "|S4", "<M8[ns]", "|V2", "<f16", "f4", "=f4", "<i3", ""}) {
    ExpectRefused(NpyOf(LiteralOf(descr, "(1,)"), "x"), unsupported, "dtype '" + descr + "'", 20);
  }
  ExpectRefused(NpyOf("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd"),
                unsupported, "a structured dtype", 20);
}

TEST_F(Npys, RefusesHeadersThatAreNotTheLiteral) {
  const auto invalid = ErrorCode::kInvalidInput;
  const auto refuse = [&](const std::string& literal, std::string_view text, std::size_t at) {
    ExpectRefused(NpyOf(literal, kFloats), invalid, text, 10 + at);
  };
  refuse("", "expected '{'", 0);
  refuse("{}", "expected the members", 2);
  refuse("{'descr': '<f4'}", "expected the members", 16);
  refuse("{'descr': '<f4', 'descr': '<f4'}", "expected every key once", 17);
  refuse("{'other': 1}", "of no other key", 9);
  refuse("{'shape' (2,)}", "expected ':'", 9);
  refuse("{'shape': (2)}", "',' in a tuple of one", 13);
  refuse("{'shape': (2 3)}", "',' or ')'", 13);
  refuse("{'shape': (-1,)}", "an integer from 0", 11);
  refuse("{'shape': (18446744073709551616,)}", "an integer from 0", 11);
  refuse("{'shape': 2}", "'(' of a tuple", 10);
  refuse("{'fortran_order': 1}", "True or False", 18);
  refuse("{'descr': '<f\\x34'}", "without escapes", 10);
  refuse("{'descr': __import__('os')}", "a dtype in quotes", 10);
  refuse("{'descr': '|f4'}", "'<' or '>' before f4", 15);
  refuse(LiteralOf("<f4", "(2, 3)") + "x", "a line break at the end",
         LiteralOf("<f4", "(2, 3)").size());
  std::string deep = "(";
  for (int i = 0; i < 65; ++i) deep += "1,";
  const auto checkpoint = Open(NpyOf(LiteralOf("<f4", deep + ")"), "abcd"), "x.npy");
  EXPECT_EQ(checkpoint.error().code, ErrorCode::kUnsupported);
}

TEST_F(Npys, RefusesSizesThatDoNotFit) {
  const std::string two = LiteralOf("<f4", "(2, 3)");
  ExpectRefused(NpyOf(two, kFloats + "x"), ErrorCode::kInvalidInput,
                "25 bytes of data; expected 24", 10 + two.size() + 1);
  const std::string huge = LiteralOf("<f4", "(4294967296, 4294967296)");
  ExpectRefused(NpyOf(huge, kFloats), ErrorCode::kInvalidInput, "expected more than 2^64",
                10 + huge.size() + 1);
  ExpectRefused("\x93NUMPY\4" + std::string(10, '\0'), ErrorCode::kUnsupported, "version 4.0", 6);
  ExpectRefused("\x93NUMPY\2" + std::string(1, '\0') + "\xff\xff\xff\x7f", ErrorCode::kInvalidInput,
                "end after 12 bytes; expected at least 2147483659", 12);
}

TEST_F(Npys, ReadsArchivesStoredAndDeflatedAlike) {
  const std::string plain = NpyOf(LiteralOf("<f4", "(2, 3)"), kFloats);
  const std::string fortran =
      NpyOf(LiteralOf("<f4", "(2, 3)", "True"), BytesOf<float>({0, 3, 1, 4, 2, 5}));
  const std::string expected =
      DigestCheckpoint(
          *MustOpen(FileOf({{"a", "F32", "[2,3]", kFloats}, {"b/c", "F32", "[2,3]", kFloats}})))
          ->sha256;
  for (const bool deflate : {false, true}) {
    const auto checkpoint =
        MustOpen(ZipOf({{.name = "b/c.npy", .content = fortran, .deflate = deflate},
                        {.name = "a.npy", .content = plain, .deflate = deflate, .zip64 = true}}),
                 "x.npz");
    EXPECT_EQ(DigestCheckpoint(*checkpoint)->sha256, expected);
    std::array<std::byte, 5> part;
    ASSERT_TRUE(checkpoint->Read(0, 10, part).ok());
    ASSERT_TRUE(checkpoint->Read(0, 3, part).ok());  // backwards
    EXPECT_EQ(std::memcmp(part.data(), kFloats.data() + 3, 5), 0);
  }
  const auto checkpoint =
      Open(ZipOf({{.name = "a.npy", .content = plain}, {.name = "b.txt"}}), "x.npz");
  EXPECT_EQ(checkpoint.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(checkpoint.error().message.find("member 'b.txt'"), std::string::npos);
}

TEST_F(Npys, NoticesDeflatedBytesThatAreNotThoseOfTheCrc) {
  const std::string plain = NpyOf(LiteralOf("<f4", "(2, 3)"), kFloats);
  const auto checkpoint = MustOpen(
      ZipOf({{.name = "a.npy", .content = plain, .deflate = true, .crc_change = 1}}), "x.npz");
  std::vector<std::byte> bytes(24);
  EXPECT_EQ(checkpoint->Read(0, 0, bytes).error().code, ErrorCode::kIntegrity);
}

TEST_F(Npys, SurvivesEveryTruncationAndEveryChangedByte) {
  const std::string npy = NpyOf(LiteralOf(">f4", "(2, 3)", "True"), kFloats);
  const std::string npz = ZipOf({{.name = "a.npy", .content = npy, .deflate = true}});
  for (const std::string& whole : {npy, npz}) {
    for (std::size_t size = 1; size < whole.size(); ++size) {
      const auto checkpoint = Open(whole.substr(0, size), "x");
      ASSERT_FALSE(checkpoint.ok()) << size;
      EXPECT_NE(checkpoint.error().where.find(": byte "), std::string::npos);
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const int change : {0x01, 0x04, 0x20, 0x80, 0xff}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ change);
        const auto checkpoint = Open(changed, "x");
        if (!checkpoint.ok()) {
          ASSERT_NE(checkpoint.error().where.find("/x"), std::string::npos);
          continue;
        }
        for (const TensorInfo& info : (*checkpoint)->tensors()) {
          std::vector<std::byte> bytes(info.size_bytes);
          const Status status = (*checkpoint)->Read(0, 0, bytes);
          ASSERT_TRUE(status.ok() || status.error().where.find(": byte ") != std::string::npos);
        }
      }
    }
  }
}

}  // namespace
}  // namespace rharness
