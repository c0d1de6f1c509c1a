// The PTX in a fatbin: which one a device gets, and what is refused.
#include "tests/gpu/emulator/fatbin.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace rharness {
namespace {

struct Entry {
  std::uint16_t kind = 1;  // PTX; 2 is machine code
  std::uint32_t architecture = 75;
  std::uint64_t flags = 0x11;
  std::string text;
};

template <class T>
void Put(std::vector<std::byte>* bytes, std::size_t at, T value) {
  if (bytes->size() < at + sizeof(T)) bytes->resize(at + sizeof(T));
  std::memcpy(bytes->data() + at, &value, sizeof(T));
}

// As nvcc 13.0 lays it out.
std::vector<std::byte> Fatbin(const std::vector<Entry>& entries) {
  std::vector<std::byte> bytes(16);
  for (const Entry& entry : entries) {
    const std::size_t at = bytes.size(), length = (entry.text.size() + 8) / 8 * 8;
    bytes.resize(at + 80 + length);
    Put(&bytes, at, entry.kind);
    Put(&bytes, at + 4, std::uint32_t{80});
    Put(&bytes, at + 8, std::uint64_t{length});
    Put(&bytes, at + 28, entry.architecture);
    Put(&bytes, at + 40, entry.flags);
    std::memcpy(bytes.data() + at + 80, entry.text.data(), entry.text.size());
  }
  Put(&bytes, 0, 0xba55ed50U);
  Put(&bytes, 8, std::uint64_t{bytes.size() - 16});
  return bytes;
}

TEST(Fatbin, GivesADeviceThePtxOfTheHighestArchitectureThatItRuns) {
  const auto bytes = Fatbin({{2, 90, 0x11, "machine code"},
                             {1, 80, 0x11, "of 80"},
                             {1, 100, 0x11, "of 100"},
                             {1, 75, 0x11, "of 75"}});
  EXPECT_TRUE(IsFatbin(bytes.data()));
  EXPECT_EQ(FatbinAt(bytes.data()).size(), bytes.size());
  for (const auto& [compute, text] : {std::pair(75, "of 75"), {80, "of 80"}, {90, "of 80"}}) {
    const auto ptx = PtxOfFatbin(bytes, compute);
    ASSERT_TRUE(ptx.ok()) << ptx.error().ToString();
    EXPECT_EQ(*ptx, text);
  }
  const auto none = PtxOfFatbin(bytes, 70);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

TEST(Fatbin, IsRefusedWhereItIsCompressedOrCut) {
  const auto compressed = PtxOfFatbin(Fatbin({{1, 80, 0x8011, "zstd"}}), 90);
  ASSERT_FALSE(compressed.ok());
  EXPECT_EQ(compressed.error().code, ErrorCode::kUnsupported);
  const auto bytes = Fatbin({{1, 75, 0x11, "of 75"}, {1, 80, 0x11, "of 80"}});
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto cut = PtxOfFatbin(std::span(bytes).first(length), 90);
    // Cut between its entries it is a smaller one.
    EXPECT_EQ(cut.ok(), length == 16 + 80 + 8) << length;
  }
  auto hostile = bytes;
  Put(&hostile, 16 + 8, ~std::uint64_t{0} - 40);
  EXPECT_FALSE(PtxOfFatbin(hostile, 90).ok());
  Put(&hostile, 16 + 4, ~std::uint32_t{0});
  EXPECT_FALSE(PtxOfFatbin(hostile, 90).ok());
}

}  // namespace
}  // namespace rharness
