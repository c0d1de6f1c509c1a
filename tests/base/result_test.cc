// Errors as values: what they say, what the macros return, and what aborts.
#include "harness/base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace rharness {
namespace {

Result<int> Half(int value) {
  if (value % 2 != 0) return InvalidInput("is odd; expected an even number", "value");
  return value / 2;
}

Result<int> Quarter(int value) {
  ASSIGN_OR_RETURN(const int half, Half(value));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

Status CheckQuarter(int value) {
  RETURN_IF_ERROR(Quarter(value));
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(*Half(4), 2);
  EXPECT_TRUE(Half(4));
  ASSERT_FALSE(Half(3).ok());
  EXPECT_EQ(Half(3).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(Half(3).error().ToString(), "value: is odd; expected an even number");
}

TEST(Result, MacrosReturnTheFirstError) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_FALSE(Quarter(6).ok());
  EXPECT_TRUE(CheckQuarter(8).ok());
  EXPECT_EQ(CheckQuarter(5).error().where, "value");
}

TEST(Result, MovesValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> value = std::move(*result);
  EXPECT_EQ(*value, 7);
}

TEST(Result, AbortsWhenTheWrongSideIsRead) {
  EXPECT_DEATH((void)*Half(3), "is odd");
  EXPECT_DEATH((void)Half(4).error(), "holds a value");
  EXPECT_DEATH((void)Status().error(), "holds success");
}

TEST(Error, SaysTheSystemsReason) {
  const Error error = IoErrorFromErrno("cannot open", ENOSPC, "/x");
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_EQ(error.ToString(), "/x: cannot open: No space left on device");
}

TEST(Error, CodesHaveTheirPublishedNames) {
  EXPECT_EQ(ErrorCodeName(InvalidInput("").code), "invalid_input");
  EXPECT_EQ(ErrorCodeName(NotFound("").code), "not_found");
  EXPECT_EQ(ErrorCodeName(IoError("").code), "io");
  EXPECT_EQ(ErrorCodeName(ProcessError("").code), "process");
  EXPECT_EQ(ErrorCodeName(TimeoutError("").code), "timeout");
  EXPECT_EQ(ErrorCodeName(Unsupported("").code), "unsupported");
  EXPECT_EQ(ErrorCodeName(IntegrityError("").code), "integrity");
  EXPECT_EQ(ErrorCodeName(InternalError("").code), "internal");
}

}  // namespace
}  // namespace rharness
