// TensorFlow's checkpoints: the table of names, the places of tensors, and every kind of damage.
#include "compare/weights/tf_checkpoint.h"

#include <gtest/gtest.h>

#include "compare/weights/tensor_digest.h"
#include "compare/weights/tf_table.h"
#include "harness/base/crc32c.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using std::string_literals::operator""s;

std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string Little32(std::uint32_t value) { return LittleEndian64(value).substr(0, 4); }
std::string Field(int number, std::uint64_t value) { return Varint(number << 3) + Varint(value); }
std::string Field(int number, const std::string& content) {
  return Varint(number << 3 | 2) + Varint(content.size()) + content;
}

struct Row {
  std::string key;
  std::string value;
};

// A block with the keys' common beginnings left out, and its trailer.
std::string Block(const std::vector<Row>& rows, char compression = 0) {
  std::string block, last;
  for (const Row& row : rows) {
    std::size_t shared = 0;
    while (shared < std::min(last.size(), row.key.size()) && last[shared] == row.key[shared]) {
      ++shared;
    }
    block += Varint(shared) + Varint(row.key.size() - shared) + Varint(row.value.size()) +
             row.key.substr(shared) + row.value;
    last = row.key;
  }
  block += Little32(0) + Little32(1) + compression;
  return block + Little32(MaskCrc32c(Crc32c(block)));
}

std::string HandleOf(std::size_t begin, const std::string& block) {
  return Varint(begin) + Varint(block.size() - 5);
}

// A table with one block for each list of rows.
std::string Table(const std::vector<std::vector<Row>>& blocks, char compression = 0) {
  std::string file;
  std::vector<Row> index;
  for (const auto& rows : blocks) {
    const std::string block = Block(rows, compression);
    index.push_back({rows.back().key, HandleOf(file.size(), block)});
    file += block;
  }
  const std::string meta = Block({}), top = Block(index);
  std::string footer = HandleOf(file.size(), meta) + HandleOf(file.size() + meta.size(), top);
  footer.resize(40);
  return file + meta + top + footer + std::string(kTableMagic);
}

std::string Entry(int type, const std::vector<std::uint64_t>& shape, std::uint64_t offset,
                  const std::string& bytes, std::uint64_t shard = 0) {
  std::string dims;
  for (const std::uint64_t size : shape) dims += Field(2, Field(1, size));
  return Field(1, type) + Field(2, dims) + Field(3, shard) + Field(4, offset) +
         Field(5, bytes.size()) + Varint(6 << 3 | 5) + Little32(MaskCrc32c(Crc32c(bytes)));
}

const std::string kKernel = BytesOf(std::vector<float>{1, 2, 3, 4, 5, 6});
const std::string kStep = BytesOf(std::vector<std::int64_t>{7});
const std::string kHeader = Field(1, 2) + Field(3, Field(1, 1));

std::vector<std::vector<Row>> Rows() {
  return {{{"", kHeader}, {"_CHECKPOINTABLE_OBJECT_GRAPH", Entry(7, {}, 0, "graph")}},
          {{"model/kernel/.ATTRIBUTES/VARIABLE_VALUE", Entry(1, {2, 3}, 5, kKernel)},
           {"model/step/.ATTRIBUTES/VARIABLE_VALUE", Entry(9, {}, 0, kStep, 1)}}};
}

class TfFiles : public CheckpointFiles {
 protected:
  Result<std::unique_ptr<Checkpoint>> OpenIndex(const std::string& index) {
    Write("graph" + kKernel, "ck.data-00000-of-00002");
    Write(kStep, "ck.data-00001-of-00002");
    return Open(index, "ck.index");
  }
};

TEST_F(TfFiles, HaveOneDigestWithSafetensorsOfTheSameTensors) {
  const auto checkpoint = OpenIndex(Table(Rows()));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  const std::string same =
      FileOf({{"model/kernel", "F32", "[2,3]", kKernel}, {"model/step", "I64", "[]", kStep}});
  EXPECT_EQ(DigestCheckpoint(**checkpoint)->sha256, DigestCheckpoint(*MustOpen(same))->sha256);
  ASSERT_EQ((*checkpoint)->unread().size(), 1u);
  EXPECT_EQ((*checkpoint)->unread()[0].kind, PartKind::kAside);
  EXPECT_EQ(*PartsOfCheckpoint(folder() / "ck.index"),
            (std::vector<std::string>{"ck.data-00000-of-00002", "ck.data-00001-of-00002"}));
}

TEST_F(TfFiles, AreCheckedWithTheChecksumsThatTheyState) {
  ASSERT_TRUE(OpenIndex(Table(Rows())).ok());
  std::string data = "graph" + kKernel;
  data[7] ^= 1;
  Write(data, "ck.data-00000-of-00002");
  const auto checkpoint = OpenCheckpoint(folder() / "ck.index");
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_EQ((*checkpoint)->CheckStored(0).error().code, ErrorCode::kIntegrity);
  EXPECT_TRUE((*checkpoint)->CheckStored(1).ok());
}

TEST_F(TfFiles, OfAFolderAreTheLatestThatItsStateNames) {
  Write("graph" + kKernel, "ck.data-00000-of-00002");
  Write(kStep, "ck.data-00001-of-00002");
  Write(Table(Rows()), "ck.index");
  Write("graph" + std::string(24, 'k'), "old.data-00000-of-00002");
  Write(kStep, "old.data-00001-of-00002");
  std::vector<std::vector<Row>> old = Rows();
  old[1][0].value = Entry(1, {2, 3}, 5, std::string(24, 'k'));
  Write(Table(old), "old.index");
  Write("model_checkpoint_path: \"ck\"\nall_model_checkpoint_paths: \"old\"\n", "checkpoint");
  const auto checkpoint = OpenCheckpoint(folder());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  EXPECT_EQ(ReadAll(**checkpoint, 0), kKernel);
  EXPECT_TRUE(DigestCheckpoint(**checkpoint).ok());
  EXPECT_EQ(LatestTfIndex("all_model_checkpoint_paths: \"old\"\n"), std::nullopt);
  EXPECT_EQ(LatestTfIndex("model_checkpoint_path: \"/tmp/a/b-1\"\n"), "b-1.index");
  EXPECT_EQ(LatestTfIndex("model_checkpoint_path: \"/tmp/a/..\"\n"), "...index");
}

// A partition as a key of the index: its extents as numbers whose bytes ascend (TensorFlow 2.12).
std::string Extents(const std::vector<std::vector<std::int64_t>>& extents) {
  std::string slice;
  for (const auto& extent : extents) {
    std::string one = extent[0] == 0 ? "" : Field(1, extent[0]);
    if (extent.size() > 1) one += Field(2, extent[1]);
    slice += Field(1, one);
  }
  return Field(7, slice);
}

TEST_F(TfFiles, OfVariablesInPartitionsAreWholeTensors) {
  const auto entry = [](const std::vector<std::uint64_t>& shape, const std::string& slices) {
    std::string dims;
    for (const std::uint64_t size : shape) dims += Field(2, Field(1, size));
    return Field(1, 1) + Field(2, dims) + slices;
  };
  // The extent of all is 0 and -1: 0x80 and 0x7f. 600 is 0xc258, of two bytes.
  const std::string first = "\0w\0\1\1\2\x80\x82\x80\x7f"s, second = "\0w\0\1\1\2\x82\x81\x80\x7f"s;
  const std::string left = "\0x\0\1\1\2\x80\x7f\x80\x81"s, right = "\0x\0\1\1\2\x80\x7f\x81\x81"s;
  const std::string far = "\0y\0\1\1\1\x80\xc2\x58"s, rest = "\0y\0\1\1\1\xc2\x58\x81"s;
  const std::string rows = Extents({{0, 2}, {0}}) + Extents({{2, 1}, {0}});
  const std::string columns = Extents({{0}, {1, 1}}) + Extents({{0}, {0, 1}});
  const std::string data = BytesOf<float>({1, 2, 3, 4, 5, 6});  // w: 3 x 2; x: 3 x 2
  const std::string long_data(2400, 'y');
  const auto table = [&](const std::string& of_w) {
    return Table({{{"", Field(1, 1) + Field(3, Field(1, 1))},
                   {first, Entry(1, {2, 2}, 0, data.substr(0, 16))},
                   {second, Entry(1, {1, 2}, 16, data.substr(16))},
                   {left, Entry(1, {3, 1}, 0, data.substr(0, 12))},
                   {right, Entry(1, {3, 1}, 12, data.substr(12))},
                   {far, Entry(1, {600}, 24, long_data)},
                   {rest, Entry(1, {1}, 0, data.substr(0, 4))},
                   {"w", entry({3, 2}, of_w)},
                   {"x", entry({3, 2}, columns)},
                   {"y", entry({601}, Extents({{0, 600}}) + Extents({{600, 1}}))}}});
  };
  Write(data + long_data, "p.data-00000-of-00001");
  const auto checkpoint = Open(table(rows), "p.index");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  ASSERT_EQ((*checkpoint)->tensors().size(), 3u);
  EXPECT_EQ(ReadAll(**checkpoint, 0), data);
  EXPECT_EQ(ReadAll(**checkpoint, 1), BytesOf<float>({1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(ReadAll(**checkpoint, 2), long_data + data.substr(0, 4));
  const std::vector<std::pair<std::string, std::string>> faults = {
      {table(Extents({{0, 2}, {0}})), "do not cover the shape"},
      {table(Extents({{0, 2}, {0}}) + Extents({{1, 1}, {0}})), "a partition is missing"},
      {table(Extents({{2, 1}, {0}})), "do not follow one another"},
      {table(Extents({{0, 2}, {0}}) + Extents({{2, 1}, {0, 1}})), "along several axes"},
      {table(Extents({{0, 2}})), "of another rank"},
      {Table({{{"", kHeader}, {first, Entry(1, {2, 2}, 0, data.substr(0, 16))}}}), "data file"},
  };
  for (const auto& [index, words] : faults) {
    const auto result = Open(index, "p.index");
    ASSERT_FALSE(result.ok()) << words;
    EXPECT_NE(result.error().ToString().find(words), std::string::npos)
        << result.error().ToString();
  }
  EXPECT_FALSE(OpenIndex(Table({{{"", kHeader}, {first, Entry(1, {2, 2}, 0, "")}}})).ok());
}

// Names are cheap: what they stand for is bounded by the files.
TEST_F(TfFiles, MayNotStandForManyTimesTheirBytes) {
  std::vector<Row> rows = {{"", Field(1, 1) + Field(3, Field(1, 1))}};
  const std::string data(std::size_t{1} << 20, 'x');
  for (int i = 100; i < 200; ++i) {
    rows.push_back({"w" + std::to_string(i), Entry(1, {1U << 18}, 0, data)});
  }
  Write(data, "m.data-00000-of-00001");
  const auto many = Open(Table({rows}), "m.index");
  ASSERT_FALSE(many.ok());
  EXPECT_NE(many.error().ToString().find("64 times as many"), std::string::npos);
}

TEST_F(TfFiles, AreRefusedWithTheFaultNamed) {
  const auto with = [](const std::string& entry) {
    std::vector<std::vector<Row>> rows = Rows();
    rows[1][0].value = entry;
    return Table(rows);
  };
  std::string wrong_block = Table(Rows());
  wrong_block[3] ^= 1;
  const std::vector<std::pair<std::string, std::string>> rows = {
      {with(Entry(1, {2, 3}, 6, kKernel)), "expected them within its"},
      {with(Entry(1, {2, 4}, 5, kKernel)), "24 bytes are stored; expected 32"},
      {with(Entry(1, {1ULL << 40, 1ULL << 40}, 5, kKernel)), "above 2^64 - 1"},
      {with(Entry(11, {2, 3}, 5, kKernel)), "elements of DataType 11"},
      {with(Entry(1, {2, 3}, 5, kKernel, 9)), "a malformed entry"},
      {with(Entry(1, {2, 3}, 5, kKernel) + Field(7, ""s)), "partitions of another rank"},
      {with("\x0a"), "a malformed entry"},
      {wrong_block, "the CRC-32C of a block does not match"},
      {Table(Rows(), 1), "a block of compression 1"},
      {Table({{{"", Field(1, 2) + Field(2, 1)}}}), "the other byte order"},
      {Table({{{"", Field(1, 1ULL << 40)}}}), "data files; expected 1 to"},
      {Table({{{"a", kHeader}}}), "without the header"},
      {Table({{{"", kHeader}, {"b", ""}, {"a", ""}}}), "keys that do not ascend"},
  };
  for (const auto& [index, words] : rows) {
    const auto result = OpenIndex(index);
    ASSERT_FALSE(result.ok()) << words;
    EXPECT_NE(result.error().ToString().find(words), std::string::npos)
        << result.error().ToString();
  }
  std::filesystem::remove(folder() / "ck.data-00001-of-00002");
  const auto missing = Open(Table(Rows()), "ck.index");
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

TEST_F(TfFiles, AreNeverReadWhereTheirTableIsCutOffOrChanged) {
  const std::string whole = Table(Rows());
  ASSERT_TRUE(OpenIndex(whole).ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(Open(whole.substr(0, size), "ck.index").ok()) << size;
  }
  // Every byte is under a checksum or decides what is read, but for the block of metadata, its
  // handle and the padding of the footer.
  std::size_t read = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    if (Open(changed, "ck.index").ok()) ++read;
  }
  EXPECT_LE(read, Block({}).size() + 40u);
}

TEST_F(TfFiles, OfASavedModelLieBesideTheGraphThatDecides) {
  std::filesystem::create_directories(folder() / "sm/variables");
  Write("graph" + kKernel, "sm/variables/variables.data-00000-of-00002");
  Write(kStep, "sm/variables/variables.data-00001-of-00002");
  Write(Table(Rows()), "sm/variables/variables.index");
  Write("\x08\x01\x12 a graph", "sm/saved_model.pb");
  Write("\x08\x01", "sm/fingerprint.pb");
  const auto checkpoint = OpenCheckpoint(folder() / "sm");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  EXPECT_EQ((*checkpoint)->tensors().size(), 2u);
  std::vector<std::string> deciding;
  for (const UnreadPart& part : (*checkpoint)->unread()) {
    if (part.kind != PartKind::kAside) deciding.push_back(part.name);
  }
  EXPECT_EQ(deciding, std::vector<std::string>{"saved_model.pb"});
}

}  // namespace
}  // namespace rharness
