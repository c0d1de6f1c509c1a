// The rules of the safetensors format one by one, what is legal though odd, and hostile files.
#include "compare/weights/safetensors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <limits>

#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using Safetensors = CheckpointFiles;

const std::string kTwo = R"("w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";

// Expects `result` to be an error of `code` at byte `offset` whose message contains `text`.
void ExpectRefused(const Result<std::unique_ptr<Checkpoint>>& result, ErrorCode code,
                   std::uint64_t offset, std::string_view text) {
  ASSERT_FALSE(result.ok());
  const Error& error = result.error();
  EXPECT_EQ(error.code, code) << error.ToString();
  EXPECT_TRUE(error.where.ends_with("x.safetensors: byte " + std::to_string(offset)))
      << error.ToString();
  EXPECT_NE(error.message.find(text), std::string::npos) << error.ToString();
}

TEST_F(Safetensors, ReadsTensorsSortedByNameWithTheirBytes) {
  const std::string w = BytesOf<float>({1.0f, -2.5f});
  const std::string b = BytesOf<std::int64_t>({-7});
  const auto checkpoint = MustOpen(FileOf({{"w", "F32", "[2,1]", w}, {"b", "I64", "[]", b}},
                                          R"("__metadata__":{"format":"pt","a":"b"},)"));
  ASSERT_EQ(checkpoint->tensors().size(), 2u);
  const TensorInfo& first = checkpoint->tensors()[0];
  EXPECT_EQ(first.name, "b");
  EXPECT_EQ(first.dtype, DType::kI64);
  EXPECT_TRUE(first.shape.empty());
  EXPECT_EQ(first.elements, 1u);
  EXPECT_EQ(first.size_bytes, 8u);
  EXPECT_EQ(ReadAll(*checkpoint, 0), b);
  EXPECT_EQ(checkpoint->tensors()[1].shape, (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(ReadAll(*checkpoint, 1), w);
  std::array<std::byte, 3> part;
  ASSERT_TRUE(checkpoint->Read(1, 4, part).ok());
  EXPECT_EQ(std::memcmp(part.data(), w.data() + 4, 3), 0);
  const std::vector<std::pair<std::string, std::string>> metadata = {{"format", "pt"}, {"a", "b"}};
  EXPECT_EQ(checkpoint->metadata(), metadata);
  EXPECT_TRUE(checkpoint->CheckUnchanged().ok());
}

TEST_F(Safetensors, ReadsEveryDtypeAtItsBitSize) {
  struct Row {
    const char* name;
    const char* shape;
    std::size_t size_bytes;
  };
  // Sizes from the names; 24 elements of 6 bits are 18 bytes, of 4 bits 12.
  constexpr std::array<Row, 22> kRows = {{
      {"BOOL", "[24]", 24},        {"F4", "[24]", 12},          {"F6_E2M3", "[24]", 18},
      {"F6_E3M2", "[24]", 18},     {"U8", "[24]", 24},          {"I8", "[24]", 24},
      {"F8_E5M2", "[24]", 24},     {"F8_E4M3", "[24]", 24},     {"F8_E8M0", "[24]", 24},
      {"F8_E4M3FNUZ", "[24]", 24}, {"F8_E5M2FNUZ", "[24]", 24}, {"I16", "[24]", 48},
      {"U16", "[24]", 48},         {"F16", "[24]", 48},         {"BF16", "[24]", 48},
      {"I32", "[24]", 96},         {"U32", "[24]", 96},         {"F32", "[24]", 96},
      {"C64", "[24]", 192},        {"F64", "[24]", 192},        {"I64", "[24]", 192},
      {"U64", "[24]", 192},
  }};
  for (const Row& row : kRows) {
    const auto checkpoint =
        Open(FileOf({{"t", row.name, row.shape, std::string(row.size_bytes, 'x')}}));
    ASSERT_TRUE(checkpoint.ok()) << row.name << ": " << checkpoint.error().ToString();
    const TensorInfo& info = (*checkpoint)->tensors().at(0);
    EXPECT_EQ(DTypeName(info.dtype), row.name);
    EXPECT_EQ(info.size_bytes, row.size_bytes) << row.name;
    EXPECT_EQ(static_cast<std::size_t>(BitsOf(info.dtype)) * 24, row.size_bytes * 8);
  }
}

TEST_F(Safetensors, AcceptsTheLegalOddities) {
  const std::string nan = BytesOf<float>({std::nanf(""), std::numeric_limits<float>::infinity()});
  const auto checkpoint = MustOpen(FileOf({{"scalar", "U8", "[]", "x"},
                                           {"empty", "F64", "[3,0,5]", ""},
                                           {"unaligned", "F32", "[2]", nan},
                                           {"empty at the end", "F4", "[0]", ""}},
                                          "", 7));
  ASSERT_EQ(checkpoint->tensors().size(), 4u);
  EXPECT_EQ(checkpoint->tensors()[0].name, "empty");
  EXPECT_EQ(checkpoint->tensors()[0].elements, 0u);
  EXPECT_EQ(checkpoint->tensors()[3].name, "unaligned");
  EXPECT_EQ(ReadAll(*checkpoint, 3), nan);
  EXPECT_EQ(MustOpen(FileOf("{}"))->tensors().size(), 0u);
  EXPECT_EQ(MustOpen(FileOf("{ \"a\\u00e9\\\"\" :\n{\"shape\":[ 1 ],\"dtype\":\"U8\","
                            "\"data_offsets\":[0,1]} }",
                            "x"))
                ->tensors()[0]
                .name,
            "a\xc3\xa9\"");
}

TEST_F(Safetensors, AcceptsOffsetsInAnyOrderOfEntries) {
  const auto checkpoint = MustOpen(FileOf(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[2,3]},)"
                                          R"("b":{"dtype":"U8","shape":[0],"data_offsets":[2,2]},)"
                                          R"("c":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                                          "xyz"));
  EXPECT_EQ(ReadAll(*checkpoint, 0), "z");
  EXPECT_EQ(ReadAll(*checkpoint, 2), "xy");
}

TEST_F(Safetensors, RefusesFilesTooShortForTheirHeader) {
  ExpectRefused(Open(""), ErrorCode::kInvalidInput, 0, "the file has 0 bytes");
  ExpectRefused(Open("1234567"), ErrorCode::kInvalidInput, 0, "expected at least 8");
  ExpectRefused(Open(LittleEndian64(3) + "{}"), ErrorCode::kInvalidInput, 0,
                "header length 3; expected at most 2");
  ExpectRefused(Open(LittleEndian64(0)), ErrorCode::kInvalidInput, 8, "expected '{'");
}

TEST_F(Safetensors, RefusesHugeHeaderLengthsBeforeAllocating) {
  for (const std::uint64_t length : {std::uint64_t{100'000'001}, std::uint64_t{1} << 63,
                                     std::numeric_limits<std::uint64_t>::max()}) {
    ExpectRefused(Open(LittleEndian64(length) + "{}"), ErrorCode::kInvalidInput, 0,
                  "header length " + std::to_string(length) + "; expected at most 100000000");
  }
}

TEST_F(Safetensors, RefusesHeadersThatAreNotOneJsonObject) {
  ExpectRefused(Open(FileOf(" {}")), ErrorCode::kInvalidInput, 8, "expected '{'");
  ExpectRefused(Open(FileOf("[]")), ErrorCode::kInvalidInput, 8, "expected '{'");
  ExpectRefused(Open(FileOf("{")), ErrorCode::kInvalidInput, 9, "expected a string");
  ExpectRefused(Open(FileOf("{\"w")), ErrorCode::kInvalidInput, 11, "expected the end of a string");
  ExpectRefused(Open(FileOf("{\"w\"}")), ErrorCode::kInvalidInput, 12, "expected ':'");
  ExpectRefused(Open(FileOf("{\"w\":}")), ErrorCode::kInvalidInput, 13, "expected a value");
  ExpectRefused(Open(FileOf("{" + kTwo + ",}", "12345678")), ErrorCode::kInvalidInput,
                8 + 2 + kTwo.size(), "expected a string");
  ExpectRefused(Open(FileOf("{" + kTwo + kTwo + "}", "12345678")), ErrorCode::kInvalidInput,
                8 + 1 + kTwo.size(), "expected ',' or '}'");
  ExpectRefused(Open(FileOf("{}x")), ErrorCode::kInvalidInput, 10, "expected only spaces");
  ExpectRefused(Open(FileOf("{}\n")), ErrorCode::kInvalidInput, 10, "expected only spaces");
  ExpectRefused(Open(FileOf("{\"w\":{\"dtype\":]}")), ErrorCode::kInvalidInput, 13, "tensor 'w'");
  ExpectRefused(Open(FileOf("{\"w\":{\"dtype\":tru}}")), ErrorCode::kInvalidInput, 13,
                "not valid JSON");
}

TEST_F(Safetensors, RefusesInvalidUtf8) {
  ExpectRefused(Open(FileOf("{\"\xff\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}")),
                ErrorCode::kInvalidInput, 9, "not valid JSON");
}

TEST_F(Safetensors, RefusesDuplicateNamesAlsoWhenSpelledDifferently) {
  const std::string empty = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  ExpectRefused(Open(FileOf("{\"w\":" + empty + ",\"\\u0077\":" + empty + "}")),
                ErrorCode::kInvalidInput, 8 + 1 + 4 + empty.size() + 1 + 9,
                "tensor 'w': the name occurs twice");
  ExpectRefused(Open(FileOf(R"({"__metadata__":{},"__metadata__":{}})")), ErrorCode::kInvalidInput,
                8 + 19, "duplicate key '__metadata__'");
  ExpectRefused(Open(FileOf(R"({"__metadata__":{"a":"1","b":"2","a":"1"}})")),
                ErrorCode::kInvalidInput, 8 + 33, "duplicate key 'a'");
  ExpectRefused(Open(FileOf(R"({"w":{"dtype":"U8","dtype":"U8","shape":[0],)"
                            R"("data_offsets":[0,0]}})")),
                ErrorCode::kInvalidInput, 13, "duplicate key 'dtype'");
}

TEST_F(Safetensors, RefusesMetadataThatIsNotStrings) {
  ExpectRefused(Open(FileOf(R"({"__metadata__":[]})")), ErrorCode::kInvalidInput, 24,
                "expected an object of strings");
  ExpectRefused(Open(FileOf(R"({"__metadata__":{"a":1}})")), ErrorCode::kInvalidInput, 29,
                "metadata value 'a' is number; expected a string");
  ExpectRefused(Open(FileOf(R"({"__metadata__":{"a":"b",}})")), ErrorCode::kInvalidInput, 33,
                "expected a string");
}

// Files with one entry, which is at byte 13, after the length and {"w":
class SafetensorsEntry : public CheckpointFiles {
 protected:
  void ExpectEntryRefused(const std::string& entry, std::string_view data, std::string_view text) {
    const auto result = Open(FileOf("{\"w\":" + entry + "}", data));
    ExpectRefused(result, ErrorCode::kInvalidInput, 13, text);
    ASSERT_FALSE(result.ok());
    EXPECT_TRUE(result.error().message.starts_with("tensor 'w': ")) << result.error().ToString();
  }
};

TEST_F(SafetensorsEntry, MustHaveItsThreeMembersAndNoOther) {
  ExpectEntryRefused("7", "", "is number; expected an object");
  ExpectEntryRefused("{}", "", "expected exactly the members");
  ExpectEntryRefused(R"({"dtype":"U8","shape":[0]})", "", "expected exactly the members");
  ExpectEntryRefused(R"({"dtype":"U8","shape":[0],"data_offsets":[0,0],"stride":[1]})", "",
                     "expected exactly the members");
}

TEST_F(SafetensorsEntry, MustHaveAKnownDtype) {
  ExpectEntryRefused(R"({"dtype":"f32","shape":[0],"data_offsets":[0,0]})", "",
                     "unknown dtype 'f32'");
  ExpectEntryRefused(R"({"dtype":5,"shape":[0],"data_offsets":[0,0]})", "",
                     "dtype is number; expected a string");
}

TEST_F(SafetensorsEntry, MustHaveAShapeOfNonNegativeIntegers) {
  for (const char* shape : {"[-1]", "[1.0]", "[\"1\"]", "[18446744073709551616]", "[[1]]"}) {
    ExpectEntryRefused(
        std::string(R"({"dtype":"U8","shape":)") + shape + R"(,"data_offsets":[0,1]})", "x",
        "shape: expected integers");
  }
  ExpectEntryRefused(R"({"dtype":"U8","shape":1,"data_offsets":[0,1]})", "x",
                     "shape is number; expected an array");
}

TEST_F(SafetensorsEntry, MustHaveASizeThatFits64Bits) {
  ExpectEntryRefused(R"({"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]})", "",
                     "the product of shape is above 2^64 - 1");
  ExpectEntryRefused(R"({"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,0]})", "",
                     "size in bits is above 2^64 - 1");
  ExpectEntryRefused(R"({"dtype":"F64","shape":[288230376151711744],"data_offsets":[0,0]})", "",
                     "size in bits is above 2^64 - 1");
}

TEST_F(SafetensorsEntry, MustTakeWholeBytes) {
  ExpectEntryRefused(R"({"dtype":"F4","shape":[3],"data_offsets":[0,2]})", "xx",
                     "3 elements of F4 take 12 bits; expected whole bytes");
  ExpectEntryRefused(R"({"dtype":"F6_E3M2","shape":[2],"data_offsets":[0,2]})", "xx",
                     "take 12 bits");
}

TEST_F(SafetensorsEntry, MustHaveOffsetsThatSpanItsSize) {
  ExpectEntryRefused(R"({"dtype":"U8","shape":[2],"data_offsets":[0,3]})", "xxx",
                     "span 3 bytes; expected 2");
  ExpectEntryRefused(R"({"dtype":"U8","shape":[2],"data_offsets":[2,0]})", "xx",
                     "expected the end not before the begin");
  for (const char* offsets : {"[0]", "[0,2,2]", "[-1,1]", "[0,2.0]", "{}", "\"0,2\""}) {
    ExpectEntryRefused(std::string(R"({"dtype":"U8","shape":[2],"data_offsets":)") + offsets + "}",
                       "xx", "data_offsets: expected two integers");
  }
}

TEST_F(SafetensorsEntry, MustCoverTheDataFromItsBeginToItsEnd) {
  ExpectEntryRefused(R"({"dtype":"U8","shape":[2],"data_offsets":[1,3]})", "xxx",
                     "[1, 3] leave a hole; expected to begin at 0");
  ExpectEntryRefused(R"({"dtype":"U8","shape":[2],"data_offsets":[0,2]})", "x",
                     "end after the file's 1 bytes of data");
  const std::string entry = R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  ExpectRefused(Open(FileOf(entry, "xxy")), ErrorCode::kInvalidInput, 8 + entry.size() + 2,
                "1 bytes after the last tensor");
  ExpectRefused(Open(FileOf("{}", "x")), ErrorCode::kInvalidInput, 10, "1 bytes after");
}

TEST_F(Safetensors, RefusesHolesAndOverlapsBetweenTensorsByName) {
  const std::string first = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":)";
  const auto open = [&](const std::string& offsets) {
    return Open(
        FileOf(first + R"({"dtype":"U8","shape":[2],"data_offsets":)" + offsets + "}}", "xxxxx"));
  };
  ExpectRefused(open("[3,5]"), ErrorCode::kInvalidInput, 8 + first.size(),
                "tensor 'b': data_offsets [3, 5] leave a hole; expected to begin at 2");
  ExpectRefused(open("[1,3]"), ErrorCode::kInvalidInput, 8 + first.size(),
                "tensor 'b': data_offsets [1, 3] overlap; expected to begin at 2");
  // Two tensors over the same bytes: the one that the sort puts second is named.
  const auto twins = open("[0,2]");
  ASSERT_FALSE(twins.ok());
  EXPECT_NE(twins.error().message.find("overlap; expected to begin at 2"), std::string::npos);
}

TEST_F(Safetensors, RefusesWhatItsOwnLimitsExcludeAsUnsupported) {
  std::string shape = "[1";
  for (std::size_t i = 0; i < kMaxSafetensorsRank; ++i) shape += ",1";
  ExpectRefused(Open(FileOf({{"w", "U8", shape + "]", "x"}})), ErrorCode::kUnsupported, 13,
                "tensor 'w': 65 dimensions; expected at most 64");
  const std::string name(kMaxSafetensorsEntryBytes, 'n');
  ExpectRefused(Open(FileOf({{name, "U8", "[]", "x"}})), ErrorCode::kUnsupported, 9,
                "a header item of 65538 bytes; expected at most 65536");
}

TEST_F(Safetensors, BoundsTheNumberOfTensorsAndMetadata) {
  std::string tensors = "{", metadata = "{\"__metadata__\":{";
  for (std::size_t i = 0; i <= kMaxSafetensorsTensors; ++i) {
    tensors += "\"" + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)";
  }
  tensors.back() = '}';
  const auto many = ParseSafetensorsHeader(tensors, 0, "x");
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(many.error().message, "more than 500000 tensors in one file");
  for (std::size_t i = 0; i <= kMaxSafetensorsMetadata; ++i) {
    metadata += "\"" + std::to_string(i) + "\":\"\",";
  }
  metadata.back() = '}';
  const auto members = ParseSafetensorsHeader(metadata + "}", 0, "x");
  ASSERT_FALSE(members.ok());
  EXPECT_EQ(members.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(members.error().message, "__metadata__ has more than 100000 members");
}

// The largest resident size of this process so far.
std::int64_t PeakMemoryBytes() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

TEST_F(Safetensors, RefusesAHundredMegabytesOfNestingInBoundedMemory) {
  constexpr std::int64_t kSize = 100'000'000;
  std::string header = "{\"w\":" + std::string(kSize - 5, '[');
  const std::int64_t before = PeakMemoryBytes();
  const auto nested = ParseSafetensorsHeader(header, 0, "x.safetensors");
  ASSERT_FALSE(nested.ok());
  EXPECT_EQ(nested.error().where, "x.safetensors: byte 21");
  EXPECT_NE(nested.error().message.find("at most 8 levels"), std::string::npos);

  header = "{\"w\":{\"dtype\":\"U8\",\"shape\":[";
  while (header.size() < kSize - 2) header += "0,";
  header += "0]}}";
  EXPECT_EQ(ParseSafetensorsHeader(header, 0, "x.safetensors").error().code,
            ErrorCode::kUnsupported);
  // Room for the second header while it grew, none for a tree of fifty million numbers.
  EXPECT_LT(PeakMemoryBytes() - before, 3 * kSize);
}

TEST_F(Safetensors, NeverCrashesOnATruncatedFile) {
  const std::string whole =
      FileOf({{"w", "F32", "[2,2]", BytesOf<float>({1, 2, 3, 4})}, {"b", "F6_E2M3", "[4]", "xyz"}},
             R"("__metadata__":{"k":"v\"\u00e9"},)", 3);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto checkpoint = Open(whole.substr(0, size));
    ASSERT_FALSE(checkpoint.ok()) << size;
    EXPECT_NE(checkpoint.error().where.find("x.safetensors: byte "), std::string::npos) << size;
  }
  EXPECT_TRUE(Open(whole).ok());
}

TEST_F(Safetensors, NeverCrashesOnOneChangedByte) {
  const std::string whole =
      FileOf({{"w", "F32", "[2]", BytesOf<float>({1, 2})}}, R"("__metadata__":{"k":"v"},)");
  int accepted = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '"', '[', '{', '}', '9', '\\', '\x80', '\xff'}) {
      std::string broken = whole;
      broken[at] = byte;
      const auto checkpoint = Open(broken);
      if (checkpoint.ok()) ++accepted;
      if (checkpoint.ok() && !(*checkpoint)->tensors().empty()) ReadAll(**checkpoint, 0);
    }
  }
  EXPECT_GT(accepted, 0);  // changed tensor bytes and names are legal
}

TEST_F(Safetensors, ReportsAFileThatShrinksWhileItIsOpen) {
  const std::string content = FileOf({{"w", "U8", "[100000]", std::string(100000, 'x')}});
  const auto path = Write(content);
  const auto checkpoint = OpenCheckpoint(path);
  ASSERT_TRUE(checkpoint.ok());
  ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(content.size()) - 1000), 0);
  std::string bytes(100000, '\0');
  const Status read = (*checkpoint)->Read(0, 0, std::as_writable_bytes(std::span(bytes)));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kIntegrity);
  EXPECT_TRUE(read.error().where.ends_with("byte " + std::to_string(content.size() - 1000)));
  EXPECT_EQ((*checkpoint)->CheckUnchanged().error().code, ErrorCode::kIntegrity);
}

TEST_F(Safetensors, ReportsAFileThatIsWrittenToWhileItIsOpen) {
  const auto path = Write(FileOf({{"w", "U8", "[2]", "xy"}}));
  const auto checkpoint = OpenCheckpoint(path);
  ASSERT_TRUE(checkpoint.ok());
  const auto time = std::filesystem::last_write_time(path);
  std::filesystem::last_write_time(path, time + std::chrono::seconds(1));
  const Status status = (*checkpoint)->CheckUnchanged();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().where, path.string());
  EXPECT_NE(status.error().message.find("changed while it was read"), std::string::npos);
}

TEST_F(Safetensors, PrintsHostileNamesSafely) {
  const auto result = Open(FileOf("{\"\\u001b[2J" + std::string(1000, 'n') + "\":7}"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message.find('\x1b'), std::string::npos);
  EXPECT_NE(result.error().message.find("\\x1b[2Jnnn"), std::string::npos);
  EXPECT_LT(result.error().message.size(), 300u);
}

}  // namespace
}  // namespace rharness
