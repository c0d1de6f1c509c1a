// What is to go, by its name.
#include <gtest/gtest.h>

#include "harness/insight/trends/stack.h"

namespace rharness {
namespace {

TEST(Gone, NamesAPackageWithAndWithoutItsArchitecture) {
  Stack stack;
  stack.packages =
      R"({"dpkg": {"used": {"libc6:amd64": "2.36-9"}, "not_used": {"libm:amd64": "1"}}})";
  const auto has = [&](const char* text) { return Gone::Parse(text)->Has(stack); };
  for (const char* text : {"package=libc6", "package=libc6:amd64", "package=libc?",
                           "package=libc6=2.36*", "package=libc6:amd64=2.36-9"}) {
    EXPECT_TRUE(has(text)) << text;
  }
  for (const char* text : {"package=libc6:i386", "package=libc", "package=libc6=2.37*",
                           "package=libm", "package=dpkg libc6"}) {
    EXPECT_FALSE(has(text)) << text;
  }
}

TEST(Gone, RefusesWhatNamesNothing) {
  for (const char* text : {"", "image", "image=", "disk=3", "packages=x", "=x"}) {
    const auto gone = Gone::Parse(text);
    ASSERT_FALSE(gone.ok()) << text;
    EXPECT_EQ(gone.error().where, "--if-gone");
  }
}

}  // namespace
}  // namespace rharness
