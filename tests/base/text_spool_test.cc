// Texts put aside come back as they were, in memory or not.
#include "harness/base/text_spool.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace rharness {
namespace {

std::string TextOf(std::size_t i) { return std::string(i * 7 % 23, static_cast<char>('a' + i)); }

TEST(TextSpool, GivesEachTextBackHoweverLittleIsKeptInMemory) {
  for (const std::size_t most : {std::size_t{0}, std::size_t{10}, std::size_t{1000}}) {
    TextSpool spool(most);
    for (std::size_t i = 0; i < 20; ++i) ASSERT_TRUE(spool.Append(TextOf(i)).ok());
    ASSERT_EQ(spool.size(), 20U);
    for (std::size_t i = 20; i-- > 0;) {
      const auto text = spool.Read(i);
      ASSERT_TRUE(text.ok()) << text.error().ToString();
      EXPECT_EQ(*text, TextOf(i)) << most;
    }
  }
}

TEST(TextSpool, SaysThatItCannotWrite) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/nowhere", 1);
  TextSpool spool(1);
  EXPECT_TRUE(spool.Append("a").ok());
  const Status status = spool.Append("b");
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace rharness
