// `rharness history retire`: a run leaves drills when two people signed for it, and not before.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cli/signed_program.h"
#include "tests/history/raw_history.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Retire : public SignedProgram {
 protected:
  void SetUp() override {
    SignedProgram::SetUp();
    RecordRuns(2);
  }
  ProcessResult Step(const std::string& step, const std::string& key,
                     const std::vector<std::string>& options = {}) const {
    std::vector<std::string> argv = {kRharness,    "history",   "retire",    step,
                                     "a",          "--history", "runs.db",   "--key",
                                     key + ".pem", "--trust",   "trust.yaml"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  ProcessResult Ask(const std::string& key, const std::vector<std::string>& options = {}) const {
    std::vector<std::string> all = {"--reason", "its data is gone"};
    all.insert(all.end(), options.begin(), options.end());
    return Step("request", key, all);
  }
  ProcessResult List(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> argv = {kRharness, "history",   "retire",
                                     "list",    "--history", "runs.db"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  void ExpectRefused(const ProcessResult& result, int code, const std::string& says) const {
    EXPECT_EQ(result.outcome.exit_code, code) << result.stdout_text << result.stderr_text;
    EXPECT_EQ(result.stdout_text, "");
    EXPECT_THAT(result.stderr_text, HasSubstr(says));
  }
  // Past the triggers, as somebody who can write to the file does.
  void Force(const std::string& statement) const {
    RawHistory raw(At("runs.db").string());
    EXPECT_EQ(raw.RunPastTriggers(statement), "");
  }
};

TEST_F(Retire, TakesEffectInDrillsWithTheSecondSignature) {
  const ProcessResult asked = Ask("ada");
  EXPECT_EQ(asked.outcome.exit_code, 0) << asked.stderr_text;
  EXPECT_THAT(asked.stdout_text, HasSubstr("a: asked: its data is gone (asked for by Ada on "));
  EXPECT_EQ(Drill().outcome.exit_code, 0);
  EXPECT_EQ(Calls(), 2) << "both runs";
  const ProcessResult approved = Step("approve", "bob");
  EXPECT_EQ(approved.outcome.exit_code, 0) << approved.stderr_text;
  EXPECT_THAT(approved.stdout_text, HasSubstr("approved by Bob on "));
  std::filesystem::remove_all(At("out"));
  const ProcessResult drilled = Drill();
  EXPECT_EQ(drilled.outcome.exit_code, 0);
  EXPECT_EQ(Calls(), 3) << "one of two";
  EXPECT_THAT(drilled.stderr_text,
              HasSubstr("1 retired run is not drilled: a: its data is gone (asked for by Ada on "));
  std::filesystem::remove_all(At("out"));
  const ProcessResult none = Drill({"--select", "run_id = a"});
  ExpectRefused(none, 2, "1 retired run is not drilled: a: its data is gone");
  const ProcessResult shown =
      Run({kRharness, "history", "list", "--retired", "--history", "runs.db"});
  EXPECT_THAT(shown.stdout_text, HasSubstr("retired by Ada and Bob"));
}

TEST_F(Retire, IsNotApprovedByWhoAskedOrByWhomThePolicyDoesNotLet) {
  ExpectRefused(Ask("eve"), 5, "no key of the policy");
  ExpectRefused(Step("approve", "bob"), 2, "nobody asked for its retirement");
  EXPECT_EQ(Ask("ada").outcome.exit_code, 0);
  ExpectRefused(Step("approve", "ada"), 2, "Ada has signed it already");
  ExpectRefused(Step("approve", "home"), 2, "somebody else has to approve");
  ExpectRefused(Step("approve", "eve"), 5, "no key of the policy");
  ExpectRefused(Ask("bob"), 2, "was asked for already, by Ada");
  const ProcessResult unverified = List();
  EXPECT_THAT(unverified.stdout_text, HasSubstr("a: asked"));
  EXPECT_THAT(unverified.stderr_text, HasSubstr("signatures were not verified"));
}

TEST_F(Retire, SaysUntilWhenItCanBeApproved) {
  EXPECT_EQ(Ask("ada", {"--valid", "2d"}).outcome.exit_code, 0);
  const ProcessResult told = List({"--json"});
  EXPECT_THAT(told.stdout_text, HasSubstr("\"state\": \"asked\""));
  EXPECT_THAT(told.stdout_text, HasSubstr("\"expires\": \""));
  ExpectRefused(Ask("bob", {"--valid", "0"}), 2, "--valid");
}

TEST_F(Retire, IsTakenBackByEitherAndThenPendingNoMore) {
  EXPECT_EQ(Ask("ada").outcome.exit_code, 0);
  EXPECT_THAT(List({"--pending"}).stdout_text, HasSubstr("a: asked"));
  const ProcessResult back = Step("withdraw", "bob", {"--reason", "the data were found"});
  EXPECT_EQ(back.outcome.exit_code, 0) << back.stderr_text;
  EXPECT_THAT(back.stdout_text,
              AllOf(HasSubstr("; rejected by Bob on 20"), HasSubstr(": the data were found)")));
  const ProcessResult pending = List({"--pending"});
  EXPECT_EQ(pending.stdout_text, "");
  EXPECT_THAT(pending.stderr_text, HasSubstr("no retirement waits for a second person"));
  EXPECT_THAT(List().stdout_text, HasSubstr("a: withdrawn"));
  ExpectRefused(Step("approve", "bob"), 2, "was taken back by Bob");
}

TEST_F(Retire, ThatWasTamperedWithIsNamedWithExitCodeFive) {
  EXPECT_EQ(Ask("ada").outcome.exit_code, 0);
  Force(
      "UPDATE signed_statements SET envelope = replace(envelope, 'payload\":\"ey', "
      "'payload\":\"fy')");
  const ProcessResult list = List({"--trust", "trust.yaml"});
  EXPECT_EQ(list.outcome.exit_code, 5) << list.stderr_text;
  EXPECT_THAT(list.stdout_text, HasSubstr("a: doubtful: "));
  EXPECT_THAT(list.stderr_text, HasSubstr("1 of 1 retirements are not as they were signed"));
  ExpectRefused(Step("approve", "bob"), 5, "retirement statement ");
}

TEST_F(Retire, ThatIsNotAsItWasSignedIsToldByADrillWithoutTheSigners) {
  EXPECT_EQ(Ask("ada").outcome.exit_code, 0);
  EXPECT_EQ(Step("approve", "bob").outcome.exit_code, 0);
  Force("UPDATE retirements SET reason = 'boo'");
  for (const char* form : {"--no-confirm", "--json"}) {
    const ProcessResult planned = Drill({"--dry-run", form});
    EXPECT_EQ(planned.outcome.exit_code, 5) << planned.stderr_text;
    EXPECT_THAT(planned.stderr_text,
                HasSubstr("warning: run a is retired, and not as it was signed: "));
    EXPECT_THAT(planned.stdout_text, HasSubstr("b")) << "the plan";
  }
  EXPECT_EQ(Drill({"--dry-run", "--select", "run_id = b"}).outcome.exit_code, 0);
  const ProcessResult drilled = Drill();
  EXPECT_EQ(drilled.outcome.exit_code, 5) << drilled.stderr_text;
  EXPECT_EQ(Calls(), 1) << "it stays retired";
  EXPECT_THAT(drilled.stderr_text,
              AllOf(HasSubstr("warning: run a is retired, and not as it was signed: "),
                    HasSubstr("1 retired run is not drilled: a: doubtful: retirement statement "),
                    HasSubstr("signed was 'its data is gone'"), Not(HasSubstr("asked for by Ada")),
                    Not(HasSubstr("approved by Bob"))));
  std::filesystem::remove_all(At("out"));
  const ProcessResult other = Drill({"--select", "run_id = b"});
  EXPECT_EQ(other.outcome.exit_code, 0) << other.stderr_text;
  EXPECT_THAT(other.stderr_text, Not(HasSubstr("as it was signed")));
}

TEST_F(Retire, ThatWasMovedToAnotherRunIsNotToldWithTheSigners) {
  EXPECT_EQ(Ask("ada").outcome.exit_code, 0);
  EXPECT_EQ(Step("approve", "bob").outcome.exit_code, 0);
  Force(
      "UPDATE retirements SET run_id = 'b'; UPDATE signed_retirements SET run_id = 'b'; "
      "UPDATE signed_statements SET subject = 'b'; UPDATE standing SET retired = (run_id = 'b')");
  const ProcessResult drilled = Drill();
  EXPECT_EQ(drilled.outcome.exit_code, 5) << drilled.stderr_text;
  EXPECT_THAT(drilled.stderr_text,
              AllOf(HasSubstr("b: doubtful: "), HasSubstr("was signed for run 'a'"),
                    Not(HasSubstr("approved by Bob"))));
}

TEST_F(Retire, ThatIsNotAsItWasSignedIsToldByTheHistoryWithoutTheSigners) {
  EXPECT_EQ(Ask("ada").outcome.exit_code, 0);
  EXPECT_EQ(Step("approve", "bob").outcome.exit_code, 0);
  const std::vector<std::string> family = {kRharness, "history",   "show",   "--family",
                                           "tiny",    "--history", "runs.db"};
  const std::vector<std::string> list = {kRharness,   "history",   "list",
                                         "--retired", "--history", "runs.db"};
  const auto as_json = [&](std::vector<std::string> argv) {
    argv.emplace_back("--json");
    return Run(argv);
  };
  EXPECT_EQ(Run(family).outcome.exit_code, 0);
  EXPECT_THAT(as_json(family).stdout_text, HasSubstr("\"asked_by\": \"Ada\""));
  EXPECT_THAT(Run(list).stdout_text, HasSubstr("retired by Ada and Bob"));
  Force("UPDATE retirements SET reason = 'boo'");
  std::vector<std::string> page = family;
  page.insert(page.end(), {"--html", "-"});
  for (const ProcessResult& told :
       {Run(family), as_json(family), Run(page), Run(list), as_json(list)}) {
    EXPECT_EQ(told.outcome.exit_code, 5) << told.stdout_text;
    EXPECT_THAT(told.stdout_text, AllOf(Not(HasSubstr("Ada")), Not(HasSubstr("Bob"))));
    EXPECT_THAT(told.stderr_text,
                AllOf(HasSubstr("warning: run a is retired, and not as it was signed: "),
                      HasSubstr("signed was 'its data is gone'")));
  }
  for (const ProcessResult& told : {as_json(family), Run(page), Run(list), as_json(list)}) {
    EXPECT_THAT(told.stdout_text, HasSubstr("doubt"));
  }
  EXPECT_THAT(as_json(family).stdout_text, HasSubstr("\"signed\": false"));
  const ProcessResult others =
      Run({kRharness, "history", "list", "--select", "run_id = b", "--history", "runs.db"});
  EXPECT_EQ(others.outcome.exit_code, 0) << others.stderr_text;
  EXPECT_THAT(others.stderr_text, Not(HasSubstr("as it was signed")));
}

TEST_F(Retire, ThatIsNotAsItWasSignedIsToldToAnAuditorWithoutTheSigners) {
  EXPECT_EQ(Ask("ada").outcome.exit_code, 0);
  EXPECT_EQ(Step("approve", "bob").outcome.exit_code, 0);
  const std::vector<std::string> show = {kRharness,   "audit",   "show",   "a",
                                         "--history", "runs.db", "--html", "a.html"};
  const std::vector<std::string> append = {kRharness, "audit",     "append",
                                           "--begin", "--history", "runs.db"};
  Force("UPDATE retirements SET reason = 'boo'");
  EXPECT_EQ(Run(append).outcome.exit_code, 5) << "nothing is entered that is not as it was signed";
  Force("UPDATE retirements SET reason = 'its data is gone'");
  ASSERT_EQ(Run(append).outcome.exit_code, 0);
  Force("UPDATE retirements SET reason = 'boo'");
  const ProcessResult told = Run(show);
  EXPECT_EQ(told.outcome.exit_code, 5) << told.stdout_text;
  EXPECT_THAT(
      told.stdout_text,
      AllOf(HasSubstr("its data is gone\n      doubtful: retirement statement"),
            HasSubstr("(retirement a, CHANGED)"), Not(HasSubstr("Ada")), Not(HasSubstr("Bob"))));
  EXPECT_THAT(Read(At("a.html")), AllOf(HasSubstr("doubtful: "), Not(HasSubstr("Ada"))));
  Force("UPDATE retirements SET reason = 'its data is gone'");
  EXPECT_THAT(Run(show).stdout_text, HasSubstr("Signed by: Ada (asked "));
}

TEST_F(Retire, ThatIsNotAsItWasSignedIsToldByAGamedayWithoutTheSigners) {
  EXPECT_EQ(Ask("ada").outcome.exit_code, 0);
  EXPECT_EQ(Step("approve", "bob").outcome.exit_code, 0);
  // An interval may be as wide as it gets: one run is enough for a certificate.
  const auto gameday = [&](const std::string& out) {
    return Run({kRharness, "gameday", "--history", "runs.db", "--out", out, "--no-default-faults",
                "--fault", "env:JITTER=1", "--width", "100"});
  };
  const ProcessResult before = gameday("before");
  EXPECT_EQ(before.outcome.exit_code, 0) << before.stdout_text << before.stderr_text;
  EXPECT_THAT(before.stderr_text,
              HasSubstr("1 retired run is not drilled: a: its data is gone (asked for by Ada on "));
  Force("UPDATE retirements SET reason = 'boo'");
  const ProcessResult held = gameday("held");
  EXPECT_EQ(held.outcome.exit_code, 5) << held.stdout_text << held.stderr_text;
  EXPECT_THAT(held.stderr_text,
              AllOf(HasSubstr("warning: run a is retired, and not as it was signed: "),
                    HasSubstr("1 retired run is not drilled: a: doubtful: retirement statement "),
                    Not(HasSubstr("asked for by Ada")), Not(HasSubstr("approved by Bob"))));
}

TEST_F(Retire, ByOnePersonNeedsAPolicyWhereTwoHaveSignedOnce) {
  const std::vector<std::string> alone = {kRharness,   "history", "retire",   "b",
                                          "--history", "runs.db", "--reason", "old"};
  EXPECT_EQ(Ask("ada").outcome.exit_code, 0);
  EXPECT_EQ(Step("approve", "bob").outcome.exit_code, 0);
  ExpectRefused(Run(alone), 2, "two people signed for retirements in this history");
  Write("policy.yaml", "version: 1\n");
  std::vector<std::string> allowed = alone;
  allowed.insert(allowed.end(), {"--policy", "policy.yaml"});
  EXPECT_EQ(Run(allowed).outcome.exit_code, 0);
}

TEST_F(Retire, ByOnePersonIsRefusedWhereThePolicyAsksForTwo) {
  Write("policy.yaml", "version: 1\napprovals: {retirement: required}\n");
  const std::vector<std::string> alone = {kRharness,   "history", "retire",   "a",
                                          "--history", "runs.db", "--reason", "old"};
  std::vector<std::string> held = alone;
  held.insert(held.end(), {"--policy", "policy.yaml"});
  ExpectRefused(Run(held), 2, "the policy asks for two people");
  EXPECT_EQ(Run(alone).outcome.exit_code, 0);
  EXPECT_THAT(List().stdout_text, HasSubstr("a: retired, unsigned: old"));
  const ProcessResult list = List({"--policy", "policy.yaml"});
  EXPECT_EQ(list.outcome.exit_code, 5);
  EXPECT_THAT(list.stderr_text, HasSubstr("the policy asks for two people"));
}

}  // namespace
}  // namespace rharness
