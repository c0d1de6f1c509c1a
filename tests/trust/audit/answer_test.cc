// What an auditor is told of one run, and what must not be left out or made to look better.
#include "harness/trust/audit/answer.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "harness/drill/surroundings.h"
#include "harness/trust/approval/retirement_approval.h"
#include "harness/trust/attestation/endorsement.h"
#include "tests/trust/audit/answer_world.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr char kPolicy[] =
    "version: 1\nwaivers:\n"
    "  - {probes: 'gemm_*', reason: known, signed_by: The Board, until: 2099-12-31}\n"
    "  - {probes: 'family:scalar', reason: seen, signed_by: Ada, until: 2099-12-31}\n";

class Answer : public AnswerWorld {
 protected:
  static std::vector<std::string> WaiversIn(const AuditReport& report) {
    std::vector<std::string> probes;
    for (const AuditException& one : report.exceptions) {
      if (one.kind == "waiver") probes.push_back(one.about);
    }
    return probes;
  }
  static std::vector<std::string> SignersIn(const AuditReport& report) {
    std::vector<std::string> names;
    for (const AuditException& one : report.exceptions) names.push_back(one.signed_by);
    return names;
  }
};

TEST_F(Answer, TellsThoseWaiversAloneThatTheRunMayDependOn) {
  manifest_.probe_families = {"scalar"};
  AddRun();
  EXPECT_THAT(WaiversIn(Show({Put("policy.yaml", kPolicy)})), ElementsAre("family:scalar"));
}

TEST_F(Answer, TellsEveryWaiverOfARunThatDeclaresNoFamilyOfProbes) {
  AddRun();
  EXPECT_THAT(WaiversIn(Show({Put("policy.yaml", kPolicy)})),
              ElementsAre("gemm_*", "family:scalar"));
}

TEST_F(Answer, SaysThatWhoAnUnsignedPolicyNamesIsPlainText) {
  AddRun();
  const std::string policy = Put("policy.yaml", kPolicy);
  for (const TrustPolicy* trust : {static_cast<const TrustPolicy*>(nullptr), &trust_}) {
    const AuditReport report = Show({policy}, trust);
    EXPECT_THAT(SignersIn(report), ElementsAre("The Board (plain text, not verified)",
                                               "Ada (plain text, not verified)"));
    EXPECT_EQ(report.exit_code, 0);
  }
  EXPECT_THAT(ShowAsItIs({policy}, &trust_).notes,
              Contains(HasSubstr("policy.yaml: nobody has signed it")));
}

TEST_F(Answer, NamesAsVerifiedWhoeverSignedThePolicyAndNobodyElse) {
  AddRun();
  const std::string policy = Put("policy.yaml", kPolicy);
  const auto state =
      EndorseFile(policy, EndorsementPath(policy), "reviewed", At(kDay2), people_.ada.get());
  ASSERT_TRUE(state.ok()) << state.error().ToString();
  EXPECT_THAT(SignersIn(Show({policy}, &trust_)),
              ElementsAre("The Board (plain text, not verified)", "Ada (verified)"));
  Put("policy.yaml", std::string(kPolicy) + "# changed\n");
  const AuditReport changed = ShowAsItIs({policy}, &trust_);
  EXPECT_THAT(SignersIn(changed), ElementsAre("The Board (plain text, not verified)",
                                              "Ada (plain text, not verified)"));
  ASSERT_EQ(changed.statements.size(), 1u);
  EXPECT_THAT(changed.statements[0].refused, HasSubstr("is not what was signed"));
  EXPECT_EQ(changed.exit_code, 5);
}

TEST_F(Answer, TellsWhatARunReadAndNobodyDeclared) {
  AddRun();
  EXPECT_THAT(FactOf(Show(), "also read"), StartsWith("not known"));
  manifest_.run_id = "a";
  store_.reset();
  std::filesystem::remove(Path());
  std::filesystem::remove_all(folder_.path() / "log");
  store_ = OpenStore();
  Observation seen;
  seen.means = {"python"};
  seen.inputs = {{{"kernel.py", std::string(64, '7'), 2048}}};
  seen.libraries = {{"build/fast.so", "fast.so", "ab12", 9, "", "", ""},
                    {"/lib/libm.so.6", "libm.so.6", "cd", 9, "dpkg", "libc6", "2.36"}};
  seen.unseen = {"what ended within a second"};
  manifest_.observation = seen;
  AddRun();
  const AuditReport report = Show();
  EXPECT_THAT(FactOf(report, "also read kernel.py"),
              AllOf(HasSubstr("sha256 " + std::string(64, '7')), HasSubstr("2.0 KiB"),
                    HasSubstr("declared by nobody")));
  EXPECT_THAT(FactOf(report, "also loaded"),
              AllOf(HasSubstr("build/fast.so"), Not(HasSubstr("libm"))));
  EXPECT_EQ(FactOf(report, "not seen"), "what ended within a second");
}

TEST_F(Answer, SaysThatAFolderByItselfIsNoAddressOfCode) {
  AddRun();
  EXPECT_EQ(
      FactOf(Show(), "code"),
      "the repository at the root, whose address is not recorded, commit " + std::string(40, 'a'));
}

TEST_F(Answer, TellsARetirementThatIsAskedFor) {
  AddRun();
  const auto asked = RequestRetirement("a", "its data is gone", At("2026-03-01T00:00:00.000Z"),
                                       By(people_.ada.get()), store_.get());
  ASSERT_TRUE(asked.ok()) << asked.error().ToString();
  const AuditReport report = Show({}, &trust_);
  ASSERT_EQ(report.exceptions.size(), 1u);
  const AuditException& one = report.exceptions[0];
  EXPECT_EQ(one.kind, "retirement_request");
  EXPECT_EQ(one.reason, "its data is gone");
  EXPECT_EQ(one.signed_by, "Ada (asked 2026-01-02), approved by nobody yet");
  EXPECT_EQ(one.until, "can be approved until 2026-03-01T00:00:00.000Z");
  const std::string screen = WriteTerminal(DocumentOf(report), 200, false);
  EXPECT_THAT(screen, AllOf(HasSubstr("to be retired"), HasSubstr("its data is gone")));
  clock_.Advance(std::chrono::hours(60 * 24));
  EXPECT_THAT(ShowAsItIs().exceptions, IsEmpty()) << "nobody approved in time";
}

TEST_F(Answer, SaysThatExceptionsAreNotKnownWithoutAPolicy) {
  AddRun();
  const AuditReport none = Show();
  EXPECT_THAT(WriteTerminal(DocumentOf(none), 200, false),
              HasSubstr("waivers and substitutes are not known: no policy was given"));
  EXPECT_THAT(WriteHtml(DocumentOf(none)), HasSubstr("waivers and substitutes are not known"));
  const AuditReport given = ShowAsItIs({Put("policy.yaml", "version: 1\n")});
  EXPECT_THAT(WriteTerminal(DocumentOf(given), 200, false), HasSubstr("Exceptions\n  none\n"));
  EXPECT_THAT(WriteHtml(DocumentOf(given)), Not(HasSubstr("not known: no policy")));
}

TEST_F(Answer, SaysOnWhatARunWasReproduced) {
  AddRun();
  Evidence evidence;
  evidence.environment.hardware.cpu.model = "AMD EPYC 9654";
  evidence.environment.hardware.cpu.logical_cores = 96;
  evidence.environment.software = {{"python", "3.11.2"}};
  evidence.image_digest = "sha256:" + std::string(64, '1');
  Judge("identical", kDay3, SurroundingsOf(evidence));
  const AuditReport report = Show();
  ASSERT_EQ(report.verdicts.size(), 1u);
  EXPECT_THAT(report.verdicts[0].where,
              AllOf(StartsWith("node node-7; AMD EPYC 9654 (96 cores)"), HasSubstr("python=3.11.2"),
                    HasSubstr("image sha256:1111")));
  EXPECT_THAT(WriteTerminal(DocumentOf(report), 200, false), HasSubstr("node node-7; AMD EPYC"));
  EXPECT_THAT(WriteHtml(DocumentOf(report)), HasSubstr("node node-7; AMD EPYC"));
}

TEST_F(Answer, BeginsWithWhatWasTamperedWith) {
  AddRun();
  Judge("identical", kDay3);
  EXPECT_THAT(Show().headline, StartsWith("a: last reproduced (identical)"));
  Force("UPDATE verdicts SET reasons = '[]'");
  const AuditReport report = ShowAsItIs();
  EXPECT_THAT(
      report.headline,
      StartsWith("a: 1 of its 3 entries in the log is not as entered (verdict "
                 "drill-identical/a, CHANGED); as the history has it now: last reproduced"));
  EXPECT_EQ(report.exit_code, 5);
}

TEST_F(Answer, SaysWhatToDoWithARunThatDoesNotReproduce) {
  AddRun();
  const std::string nothing = "nothing to do";
  const AuditReport never = Show();
  EXPECT_THAT(never.next, AllOf(HasSubstr("no drill has rerun it"), HasSubstr("run_id = a")));
  EXPECT_THAT(WriteHtml(DocumentOf(never)), Not(HasSubstr(nothing)));
  Judge("drifted", kDay2);
  EXPECT_THAT(Show().next, HasSubstr("rharness incident a"));
  Judge("inconclusive", kDay2);
  EXPECT_THAT(Show().next, HasSubstr("which leaves it open"));
  Judge("equivalent", kDay3);
  const AuditReport good = Show();
  EXPECT_EQ(good.next, "");
  EXPECT_THAT(WriteHtml(DocumentOf(good)), HasSubstr(nothing));
}

}  // namespace
}  // namespace rharness
