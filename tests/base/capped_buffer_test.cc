// CappedBuffer against substrings of the whole text.
#include "harness/base/capped_buffer.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

std::string Alphabet(std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text.push_back(static_cast<char>('a' + i % 26));
  return text;
}

TEST(CappedBuffer, KeepsEverythingThatFits) {
  CappedBuffer buffer(10);
  buffer.Append("01234");
  buffer.Append("56789");
  EXPECT_EQ(buffer.Text(), "0123456789");
  EXPECT_EQ(buffer.total_bytes(), 10u);
}

TEST(CappedBuffer, KeepsTheFirstAndTheLastHalfForEveryCapacityAndPieceSize) {
  const std::string text = Alphabet(97);
  for (std::size_t capacity = 0; capacity <= 40; ++capacity) {
    for (std::size_t piece = 1; piece <= 50; ++piece) {
      CappedBuffer buffer(capacity);
      for (std::size_t at = 0; at < text.size(); at += piece) buffer.Append(text.substr(at, piece));
      const std::string head = text.substr(0, capacity / 2);
      const std::string tail = text.substr(text.size() - (capacity - capacity / 2));
      ASSERT_EQ(buffer.Text(), head + tail) << capacity << " " << piece;
      ASSERT_EQ(buffer.total_bytes(), text.size());
    }
  }
}

}  // namespace
}  // namespace rharness
