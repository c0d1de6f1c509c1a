// flax's MessagePack files: tensors at their paths, in one digest with safetensors; every cut and
// every changed byte is an error or another reading, never a crash.
#include "compare/weights/flax_msgpack.h"

#include <gtest/gtest.h>

#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using std::string_literals::operator""s;

// Of under 32, 256 and 65,536 bytes.
std::string Str(const std::string& text) {
  if (text.size() < 32) return static_cast<char>(0xa0 | text.size()) + text;
  return "\xd9" + std::string(1, static_cast<char>(text.size())) + text;
}
std::string Bin(const std::string& bytes) {
  return "\xc5" + std::string(1, static_cast<char>(bytes.size() >> 8)) +
         static_cast<char>(bytes.size()) + bytes;
}
std::string Extension(int type, const std::string& content) {
  return "\xc8" + std::string(1, static_cast<char>(content.size() >> 8)) +
         static_cast<char>(content.size()) + static_cast<char>(type) + content;
}
// Of dimensions under 128.
std::string Array(const std::vector<int>& shape, const std::string& dtype, const std::string& bytes,
                  int type = 1) {
  std::string list(1, static_cast<char>(0x90 | shape.size()));
  for (const int size : shape) list += static_cast<char>(size);
  return Extension(type, "\x93" + list + Str(dtype) + Bin(bytes));
}
std::string Map(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string map(1, static_cast<char>(0x80 | members.size()));
  for (const auto& [key, value] : members) map += Str(key) + value;
  return map;
}

class FlaxFiles : public CheckpointFiles {
 protected:
  std::string DigestOf(std::string_view content, std::string_view name) {
    return DigestCheckpoint(*MustOpen(content, name))->sha256;
  }
};

const std::string kFlaxKernel = BytesOf(std::vector<float>{1, 2, 3, 4, 5, 6});

std::string State() {
  return Map({{"params", Map({{"dense", Map({{"kernel", Array({2, 3}, "float32", kFlaxKernel)},
                                             {"bias", Array({3}, "bfloat16", "abcdef")}})}})},
              {"step", Array({}, "int32", "\x07\0\0\0"s, 3)},
              {"none", "\xc0"},
              {"opt", "\x92" + Array({0, 3}, "uint8", "") + "\x80"}});
}

TEST_F(FlaxFiles, HaveOneDigestWithSafetensorsOfTheSameTensors) {
  const std::string same = FileOf({{"opt/0", "U8", "[0,3]", ""},
                                   {"params/dense/bias", "BF16", "[3]", "abcdef"},
                                   {"params/dense/kernel", "F32", "[2,3]", kFlaxKernel},
                                   {"step", "I32", "[]", "\x07\0\0\0"s}});
  EXPECT_EQ(DigestOf(State(), "x.msgpack"), DigestOf(same, "x.safetensors"));
}

TEST_F(FlaxFiles, HoldNumbersOfPythonAsScalars) {
  const auto checkpoint =
      MustOpen(Map({{"a", "\xcb\x3f\xc0\0\0\0\0\0\0"s},  // 0.125
                    {"b", "\xca\x3e\0\0\0"s},            // 0.125, in 32 bits
                    {"c", "\xff"},                       // -1
                    {"d", "\xd1\xff\x00"s},              // -256
                    {"e", "\xcf\xff\xff\xff\xff\xff\xff\xff\xff"},
                    {"f", "\xc3"},
                    {"g", Extension(2, "\x92\xcb\x3f\xf0\0\0\0\0\0\0\xcb\xc0\0\0\0\0\0\0\0"s)}}),
               "x.msgpack");
  const auto& tensors = checkpoint->tensors();
  ASSERT_EQ(tensors.size(), 7u);
  EXPECT_EQ(ReadAll(*checkpoint, 0), BytesOf(std::vector<double>{0.125}));
  EXPECT_EQ(ReadAll(*checkpoint, 1), BytesOf(std::vector<double>{0.125}));
  EXPECT_EQ(ReadAll(*checkpoint, 2), BytesOf(std::vector<std::int64_t>{-1}));
  EXPECT_EQ(ReadAll(*checkpoint, 3), BytesOf(std::vector<std::int64_t>{-256}));
  EXPECT_EQ(tensors[4].dtype, DType::kU64);
  EXPECT_EQ(tensors[5].dtype, DType::kBool);
  EXPECT_EQ(ReadAll(*checkpoint, 6), BytesOf(std::vector<double>{1, -2}));
}

TEST_F(FlaxFiles, JoinArraysInChunks) {
  const std::string chunks =
      Map({{"__msgpack_chunked_array__", "\xc3"},
           {"shape", Map({{"0", "\x02"}, {"1", "\x03"}})},
           {"chunks", Map({{"0", Array({4}, "float32", kFlaxKernel.substr(0, 16))},
                           {"1", Array({2}, "float32", kFlaxKernel.substr(16))}})}});
  EXPECT_EQ(DigestOf(Map({{"w", chunks}}), "x.msgpack"),
            DigestOf(Map({{"w", Array({2, 3}, "float32", kFlaxKernel)}}), "y.msgpack"));
}

TEST_F(FlaxFiles, HoldTextsThatDecide) {
  const auto checkpoint = MustOpen(Map({{"name", Str("adam")}, {"w", "\x01"}}), "x.msgpack");
  ASSERT_EQ(checkpoint->unread().size(), 1u);
  EXPECT_EQ(checkpoint->unread()[0].kind, PartKind::kModel);
  EXPECT_EQ(checkpoint->unread()[0].content, "text adam");
}

TEST_F(FlaxFiles, AreRefusedWithTheOffsetOfTheFault) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {Map({{"a", Array({2}, "float32", "1234")}}), "4 bytes are stored; expected 8"},
      {Map({{"a", Array({2}, "key<fry>", "1234")}}), "byte 3: an array of the dtype 'key<fry>'"},
      {Map({{"a", Extension(5, "x")}}), "byte 3: an extension of type 5"},
      {Map({{"a", "\xc1"}, {"bcdef", "\x01"}}), "byte 3: the byte c1"},
      {Map({{"abcdefg", "\x01"}}) + "x", "1 bytes after the end"},
      {Map({{"abcdefg", "\x01"}, {"abcdefg", "\x02"}}), "'abcdefg': the name occurs twice"},
      {Map({{"abc", "\xdd\xff\xff\xff\xff"}}), "expected"},  // 2^32 - 1 items, and none there
      {Map({{"abc", "\xc6\xff\xff\xff\xff"}}), "bytes of texts"},
      {Map({{"abc",
             [] {
               std::string deep;
               for (int i = 0; i < 100; ++i) deep += "\x81" + Str("k");
               return deep + "\x01";
             }()}}),
       "more than 64 levels"},
  };
  for (const auto& [content, words] : rows) {
    const auto result = Open(content, "x.msgpack");
    ASSERT_FALSE(result.ok()) << words;
    EXPECT_NE(result.error().ToString().find(words), std::string::npos)
        << result.error().ToString();
  }
}

TEST_F(FlaxFiles, AreNeverReadWhereTheyAreCutOff) {
  const std::string whole = State();
  for (std::size_t size = 8; size < whole.size(); ++size) {
    EXPECT_FALSE(Open(whole.substr(0, size), "x.msgpack").ok()) << size;
  }
}

TEST_F(FlaxFiles, AreAnErrorOrReadableWhateverAByteSays) {
  const std::string whole = State();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {1, 0x20, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const auto checkpoint = Open(changed, "x.msgpack");
      EXPECT_TRUE(!checkpoint.ok() || DigestCheckpoint(**checkpoint).ok()) << at;
    }
  }
}

}  // namespace
}  // namespace rharness
