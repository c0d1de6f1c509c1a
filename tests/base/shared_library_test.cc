// What a library that is loaded late has, lacks, and that it is not there.
#include "harness/base/shared_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace rharness {
namespace {

using testing::HasSubstr;

TEST(SharedLibrary, GivesFunctionsOfTheFirstNameThatIsThere) {
  auto library = SharedLibrary::Load("a test", "libc6", {"libnowhere.so.7", "libm.so.6"});
  ASSERT_TRUE(library.ok()) << library.error().ToString();
  double (*root)(double) = nullptr;
  library->Find("sqrt", &root);
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root(81.0), 9.0);
  EXPECT_TRUE(library->status().ok());
}

TEST(SharedLibrary, SaysWhichFunctionItLacks) {
  auto library = SharedLibrary::Load("a test", "libc6", {"libm.so.6"});
  ASSERT_TRUE(library.ok());
  void (*first)() = nullptr;
  void (*second)() = nullptr;
  library->Find("no_such_function", &first);
  library->Find("nor_this_one", &second);
  EXPECT_EQ(first, nullptr);
  const Status status = library->status();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(status.error().message, HasSubstr("libm.so.6 has no function no_such_function"));
}

TEST(SharedLibrary, SaysWhatNeedsItAndWhichPackageHasIt) {
  const auto library =
      SharedLibrary::Load("drawing pages", "libnowhere7", {"libnowhere.so.7", "libnowhere.so.6"});
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(library.error().message,
              HasSubstr("drawing pages needs libnowhere.so.7 (of Debian's package libnowhere7): "
                        "libnowhere.so.7: cannot open"));
}

}  // namespace
}  // namespace rharness
