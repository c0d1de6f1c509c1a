// Baselines: accepted by somebody, for a reason, for a while, in a record that only grows.
#include "harness/gate/baseline.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "tests/compare/fingerprints/build_fingerprint.h"

namespace rharness {
namespace {

const WallTime kNow = *ParseTime("2026-11-20T12:00:00Z");
const WallTime kLater = *ParseTime("2027-01-01T00:00:00Z");

class BaselineFolder : public testing::Test {
 protected:
  std::filesystem::path At(const std::string& name) const { return dir_.path() / name; }
  std::filesystem::path Write(const std::string& name, const FingerprintBuilder& build) const {
    EXPECT_TRUE(WriteJsonFile(At(name), build.ToJson()).ok());
    return At(name);
  }
  Result<BaselineRecord> Accept(const std::filesystem::path& file, const std::string& by = "ada",
                                const std::string& reason = "measured twice") const {
    return AcceptBaseline(file, At("base"), by, reason, kNow, kLater);
  }
  std::string Records() const { return *ReadFile(At("base/baseline.jsonl")); }
  ScopedTempDir dir_ = *ScopedTempDir::Make("rharness-baseline-");
};

TEST_F(BaselineFolder, GivesBackWhatWasAcceptedAndByWhom) {
  ASSERT_TRUE(Accept(Write("f.json", SampleStack())).ok());
  const auto baseline = LoadBaseline(At("base"));
  ASSERT_TRUE(baseline.ok()) << baseline.error().ToString();
  EXPECT_EQ(baseline->fingerprint.probes.size(), 5U);
  EXPECT_EQ(baseline->record.accepted_by, "ada");
  EXPECT_EQ(baseline->record.reason, "measured twice");
  EXPECT_EQ(baseline->record.accepted, kNow);
  EXPECT_EQ(baseline->record.expires, kLater);
  EXPECT_EQ(baseline->record.replaces_sha256, "");
  EXPECT_EQ(baseline->records_sha256, Sha256HexOf(Records()));
}

TEST_F(BaselineFolder, AppendsARecordThatNamesTheOneBefore) {
  const auto first = Accept(Write("f.json", SampleStack()));
  const std::string before = Records();
  const auto second = Accept(Write("g.json", SampleStack().Stack("driver", "590")));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(second->replaces_sha256, first->fingerprint_sha256);
  EXPECT_TRUE(Records().starts_with(before));
  EXPECT_EQ(std::ranges::count(Records(), '\n'), 2);
  EXPECT_EQ(LoadBaseline(At("base"))->fingerprint.stack.at("driver"), "590");
}

TEST_F(BaselineFolder, RefusesWithoutReasonNameOrTimeAhead) {
  const auto file = Write("f.json", SampleStack());
  EXPECT_EQ(Accept(file, "ada", " ").error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(Accept(file, "", "why").error().code, ErrorCode::kInvalidInput);
  for (const WallTime expires : {kNow, *ParseTime("2026-11-19T00:00:00Z")}) {
    const auto record = AcceptBaseline(file, At("base"), "ada", "why", kNow, expires);
    ASSERT_FALSE(record.ok());
    EXPECT_EQ(record.error().code, ErrorCode::kInvalidInput);
  }
  EXPECT_FALSE(std::filesystem::exists(At("base/baseline.json")));
}

TEST_F(BaselineFolder, RefusesAFingerprintThatShowsNothing) {
  FingerprintBuilder failed, control;
  failed.Probe("a", "gemm", "failed");
  control.Probe("a", "gemm").Bits("c", "x").Unstable("c");
  for (const FingerprintBuilder& build :
       {FingerprintBuilder(), failed, control, SampleStack().Suite("broken")}) {
    const auto record = Accept(Write("f.json", build));
    ASSERT_FALSE(record.ok());
    EXPECT_EQ(record.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(record.error().message.find("shows nothing"), std::string::npos);
  }
  EXPECT_EQ(Accept(At("none.json")).error().code, ErrorCode::kNotFound);
}

TEST_F(BaselineFolder, FindsAFingerprintOrARecordThatWasChanged) {
  ASSERT_TRUE(Accept(Write("f.json", SampleStack())).ok());
  ASSERT_TRUE(Accept(Write("g.json", SampleStack().Stack("driver", "590"))).ok());
  const std::string records = Records();
  const std::string last = records.substr(records.find('\n') + 1);
  ASSERT_TRUE(WriteFileAtomic(At("base/baseline.jsonl"), last).ok());
  EXPECT_EQ(LoadBaseline(At("base")).error().code, ErrorCode::kIntegrity) << "a line was removed";
  ASSERT_TRUE(WriteFileAtomic(At("base/baseline.jsonl"), records).ok());
  ASSERT_TRUE(LoadBaseline(At("base")).ok());
  Write("base/baseline.json", SampleStack().Stack("driver", "600"));
  EXPECT_EQ(LoadBaseline(At("base")).error().code, ErrorCode::kIntegrity);
}

// As a kill leaves the folder before the record is written, and after it.
TEST_F(BaselineFolder, HoldsTheOldOrTheNewOneWhereverAcceptingIsInterrupted) {
  ASSERT_TRUE(Accept(Write("f.json", SampleStack())).ok());
  const std::string old_records = Records(), old_file = *ReadFile(At("base/baseline.json"));
  ASSERT_TRUE(Accept(Write("g.json", SampleStack().Stack("driver", "590"))).ok());
  const std::string new_records = Records(), new_file = *ReadFile(At("base/baseline.json"));
  EXPECT_FALSE(std::filesystem::exists(At("base/baseline.next.json")));

  ASSERT_TRUE(WriteFileAtomic(At("base/baseline.json"), old_file).ok());
  ASSERT_TRUE(WriteFileAtomic(At("base/baseline.next.json"), new_file).ok());
  ASSERT_TRUE(WriteFileAtomic(At("base/baseline.jsonl"), old_records).ok());
  const auto old_one = LoadBaseline(At("base"));
  ASSERT_TRUE(old_one.ok()) << old_one.error().ToString();
  EXPECT_NE(old_one->fingerprint.stack.at("driver"), "590");

  ASSERT_TRUE(WriteFileAtomic(At("base/baseline.jsonl"), new_records).ok());
  const auto new_one = LoadBaseline(At("base"));
  ASSERT_TRUE(new_one.ok()) << new_one.error().ToString();
  EXPECT_EQ(new_one->fingerprint.stack.at("driver"), "590");
  // A further acceptance whose record cannot be written must not lose it.
  const auto later = Write("h.json", SampleStack().Stack("driver", "595"));
  struct rlimit limit {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  struct rlimit small = limit;
  small.rlim_cur = std::filesystem::file_size(later) + 1;
  std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto failed = Accept(later, "ada", std::string(2 * small.rlim_cur, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ASSERT_FALSE(failed.ok());
  ASSERT_TRUE(LoadBaseline(At("base")).ok()) << LoadBaseline(At("base")).error().ToString();
  EXPECT_EQ(LoadBaseline(At("base"))->fingerprint.stack.at("driver"), "590");
  // Somebody's file under the name is no baseline.
  ASSERT_TRUE(Accept(later).ok());
  Write("base/baseline.json", SampleStack().Stack("driver", "600"));
  Write("base/baseline.next.json", SampleStack().Stack("driver", "600"));
  EXPECT_EQ(LoadBaseline(At("base")).error().code, ErrorCode::kIntegrity);
}

TEST_F(BaselineFolder, SaysThatThereIsNone) {
  EXPECT_EQ(LoadBaseline(At("base")).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace rharness
