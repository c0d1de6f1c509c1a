// The encodings of Parquet, by the examples of its specification and by hand.
#include "harness/execution/tables/parquet_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "harness/execution/tables/decompress.h"
#include "harness/execution/tables/thrift_reader.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Bytes(const std::vector<int>& values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

template <class Reader, class Value>
std::vector<Value> All(Reader reader, std::size_t most) {
  std::vector<Value> values;
  Value value{};
  while (values.size() < most && reader.Next(&value)) values.push_back(value);
  return values;
}

TEST(HybridReader, TheSpecificationsPackedExample) {
  // Encodings.md: the numbers 0 to 7 in three bits each.
  const std::string bytes = Bytes({0x03, 0b10001000, 0b11000110, 0b11111010});
  EXPECT_THAT((All<HybridReader, std::uint32_t>({bytes, 3}, 100)),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(HybridReader, RunsAndTheirEnd) {
  const std::string bytes = Bytes({3 << 1, 5, 2 << 1, 7});
  EXPECT_THAT((All<HybridReader, std::uint32_t>({bytes, 3}, 100)), ElementsAre(5, 5, 5, 7, 7));
  const std::string cut = Bytes({3 << 1});
  EXPECT_THAT((All<HybridReader, std::uint32_t>({cut, 3}, 100)), ElementsAre());
}

TEST(HybridReader, GroupsThatAreNotThereAreNotRead) {
  const std::string bytes = Bytes({0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3});
  EXPECT_THAT((All<HybridReader, std::uint32_t>({bytes, 8}, 100)), ElementsAre());
}

TEST(DeltaReader, TheSpecificationsExamples) {
  // Encodings.md, "Delta Encoding": 1 2 3 4 5, then 7 5 3 1 2 3 4 5; blocks of 128 in 4 miniblocks.
  const std::string first = Bytes({0x80, 0x01, 4, 5, 2, 2, 0, 0, 0, 0});
  EXPECT_THAT((All<DeltaReader, std::int64_t>(DeltaReader(first), 100)),
              ElementsAre(1, 2, 3, 4, 5));
  const std::string second = Bytes({0x80, 0x01, 4, 8, 14, 3, 2, 0, 0, 0,  //
                                    0b11000000, 0b00111111, 0, 0, 0, 0, 0, 0});
  EXPECT_THAT((All<DeltaReader, std::int64_t>(DeltaReader(second), 100)),
              ElementsAre(7, 5, 3, 1, 2, 3, 4, 5));
}

TEST(DeltaReader, OneCutShortIsNotOk) {
  const std::string bytes = Bytes({0x80, 0x01, 4, 8, 14, 3, 2, 0, 0, 0, 1});
  DeltaReader reader(bytes);
  std::int64_t value = 0;
  while (reader.Next(&value)) {
  }
  EXPECT_FALSE(reader.ok());
}

TEST(ThriftReader, NestsNoDeeperThanItSays) {
  std::string deep(1000, '\x1c');  // a struct whose field 1 is a struct whose field 1 is ...
  ThriftReader reader(deep);
  reader.Skip(ThriftType::kStruct);
  EXPECT_FALSE(reader.ok());
}

TEST(ThriftReader, AListIsNoLongerThanItsBytes) {
  const std::string bytes = Bytes({0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f, 2});
  ThriftReader reader(bytes);
  int elements = 0;
  reader.ReadList([&](ThriftType) { ++elements; });
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(elements, 0);
}

TEST(Decompress, WhatIsNotAsLongAsPromisedIsRefused) {
  std::string out;
  EXPECT_FALSE(Decompress(0, "abc", 4, &out).ok());
  EXPECT_FALSE(Decompress(1, Bytes({0xff, 0xff, 0xff, 0xff, 0x0f, 0}), 4, &out).ok());
  EXPECT_FALSE(Decompress(2, "abc", 4, &out).ok());
  EXPECT_FALSE(Decompress(6, "abc", 4, &out).ok());
  EXPECT_THAT(Decompress(5, "abc", 3, &out).error().message, HasSubstr("compressed by LZ4;"));
}

}  // namespace
}  // namespace rharness
