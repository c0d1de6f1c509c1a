// What a probe must have shown to have worked.
#include <gtest/gtest.h>

#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

ProbeResult Listed() {
  ProbeResult result;
  result.choices["rank 0"] = Json().Set("algorithm", 1);
  return result;
}

TEST(Finish, OnADeviceThatDiedWhatWasListedIsNoAnswer) {
  ProbeResult result = Listed();
  RecordFailure("forward algorithm 1", InternalError("cuCtxSynchronize: 700"), &result);
  const ProbeResult done = Finish(result);
  EXPECT_EQ(done.status, ProbeStatus::kFailed);
  EXPECT_NE(done.message.find("cuCtxSynchronize: 700"), std::string::npos) << done.message;
  EXPECT_EQ(Finish(result, Shows::kChoices).status, ProbeStatus::kOk) << "it asks for the list";
}

TEST(Finish, AProbeThatRanNothingHasNotWorked) {
  EXPECT_EQ(Finish(Listed()).status, ProbeStatus::kFailed);
  EXPECT_EQ(Finish(ProbeResult(), Shows::kChoices).status, ProbeStatus::kFailed);
  ProbeResult unsupported;
  NoteUnsupported(Unsupported("no such function"), "ctc", &unsupported);
  EXPECT_EQ(Finish(unsupported).status, ProbeStatus::kAbsent);
}

TEST(Finish, OneCaseThatWasComputedIsAnAnswer) {
  ProbeResult result = Listed();
  result.bits["a"] = "1";
  RecordFailure("b", InternalError("status 13"), &result);
  EXPECT_EQ(Finish(result).status, ProbeStatus::kOk);
}

TEST(Finish, NoCaseIsBegunWithoutTime) {
  ProbeContext context{.device = "cuda:0", .repeats = 1};
  ProbeResult result;
  const MakeBytes make = [] { return std::vector<std::byte>(1); };
  EXPECT_TRUE(RecordBits(context, "a", make, &result).ok());
  context.until = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  const auto late = RecordBits(context, "b", make, &result);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(Finish(Result<ProbeResult>(late.error())).status, ProbeStatus::kTimedOut);
  NoteUnsupported(late.error(), "b", &result);
  EXPECT_EQ(Finish(result).status, ProbeStatus::kOk) << "what it has is kept";
}

}  // namespace
}  // namespace rharness
