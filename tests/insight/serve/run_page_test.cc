// The page of one run: what the history keeps of each verdict, and who signed for what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "harness/base/digest.h"
#include "harness/drill/surroundings.h"
#include "harness/trust/attestation/approval_statements.h"
#include "harness/trust/attestation/envelope.h"
#include "tests/insight/serve/serve_world.h"
#include "tests/reports/html_checker.h"
#include "tests/trust/approval/people.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

class RunPage : public ServeWorld {
 protected:
  void SetUp() override { AddRun("mlp", kDay1); }

  // A drill that reran it with this version of numpy, and measured.
  void Drill(const std::string& drill_id, const std::string& verdict, const std::string& decided,
             const std::string& numpy) {
    Evidence evidence;
    evidence.environment.software = {{"numpy", numpy}};
    evidence.seeds = {{"python", 3}};
    RerunRecord rerun{drill_id, "mlp", 1, "exited with 0", 61.0, std::string(64, 'e')};
    rerun.surroundings = [=] { return SurroundingsOf(evidence); };
    VerdictRecord record = MakeVerdict(drill_id, "mlp", verdict, decided);
    record.measures = VerdictMeasures{.node = "gpu-<17>",
                                      .weights_equal = verdict == "identical",
                                      .margins = 2.5,
                                      .warnings = {},
                                      .data_had = {},
                                      .not_recorded = {}};
    const Status added =
        store_->AddDrill(DrillRecord{drill_id, At(decided), At(decided), 0}, {rerun}, {record});
    ASSERT_TRUE(added.ok()) << added.error().ToString();
  }
  std::string Page() {
    const HttpResponse page = Get("/run/mlp");
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(CheckHtml(page.body).error, "");
    return page.body;
  }
};

TEST_F(RunPage, ShowsTheLayersOfEachDrillAndWhatChangedWhenTheVerdictDid) {
  Drill("night-1", "identical", "2026-01-05T03:00:00Z", "1.26.4");
  Drill("night-2", "identical", "2026-01-06T03:00:00Z", "1.26.4");
  Drill("night-3", "drifted", "2026-01-07T03:00:00Z", "2.4.6");
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("Where drill night-3 reran it, compared with the record"));
  EXPECT_THAT(page, HasSubstr("What changed when the verdict did"));
  const std::string change = page.substr(page.find("id=\"changes\""));
  EXPECT_THAT(change, HasSubstr("drifted on 2026-01-07 03:00 UTC, identical before on 2026-01-06"));
  EXPECT_THAT(change, HasSubstr("numpy went from 1.26.4 to 2.4.6"));
  EXPECT_THAT(change, HasSubstr("≠env"));
  EXPECT_THAT(change, HasSubstr("=rng")) << "the seeds that both saw";
  EXPECT_THAT(page,
              HasSubstr("weights differ in bits; metrics at most 2.5 times their margin apart; "
                        "on node gpu-&lt;17&gt;"));
  EXPECT_THAT(page, HasSubstr("all weights equal to the bit"));
}

TEST_F(RunPage, SaysWhereItIsNotKnownWhatChanged) {
  AddVerdict("night-1", "mlp", "identical", "2026-01-05T03:00:00Z");
  AddVerdict("night-2", "mlp", "drifted", "2026-01-06T03:00:00Z");
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("What changed when the verdict did"));
  EXPECT_THAT(page, HasSubstr("not known"));
  EXPECT_THAT(page, Not(HasSubstr("compared with the record"))) << "nothing was kept";
}

TEST_F(RunPage, SaysThatWhatIsKeptWasChangedAndShowsTheRest) {
  Drill("night-1", "identical", "2026-01-05T03:00:00Z", "1.26.4");
  Drill("night-2", "drifted", "2026-01-06T03:00:00Z", "2.4.6");
  EXPECT_EQ(RawDatabase(Path()).RunPastTriggers("UPDATE surroundings SET body = '{}'"), "");
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("Where a drill reran it cannot be shown"));
  EXPECT_THAT(page, HasSubstr("night-2"));
  EXPECT_THAT(page, Not(HasSubstr(folder_.path().string())));
}

TEST_F(RunPage, DrawsEachVerdictInTimeByAShapeOfItsOwn) {
  AddVerdict("night-1", "mlp", "identical", "2026-01-05T03:00:00Z");
  AddVerdict("night-2", "mlp", "drifted", "2026-01-06T03:00:00Z");
  AddVerdict("night-3", "mlp", "infra", "2026-01-15T03:00:00Z");
  const std::string page = Page();
  const std::size_t from = page.find("<svg viewBox=\"0 0 480 92\"");
  ASSERT_NE(from, std::string::npos);
  const std::string plot = page.substr(from, page.find("</figure>", from) - from);
  // Ten days between 112 and 464: the second is a tenth of the way.
  EXPECT_THAT(plot,
              HasSubstr("<g class=\"identical\"><title>2026-01-05 03:00 UTC: identical, drill "
                        "night-1</title><circle class=\"new\" cx=\"112.0\""));
  EXPECT_THAT(plot, HasSubstr("night-2</title><path class=\"new\" d=\"M147.2 "));
  EXPECT_THAT(plot, HasSubstr("night-3</title><rect class=\"new\" x=\"460.0\""));
  EXPECT_THAT(plot, HasSubstr("2026-01-05</text>"));
  EXPECT_THAT(plot, HasSubstr("2026-01-15</text>"));
}

TEST_F(RunPage, NamesTheKeysThatSignedAVerdictAndTheCommandThatVerifiesIt) {
  AddVerdict("night-1", "mlp", "identical", "2026-01-05T03:00:00Z");
  EXPECT_THAT(Page(), Not(HasSubstr("What was signed")));
  const std::string key(64, '4');
  const std::string statement(64, '7');
  ASSERT_TRUE(
      store_->AddAttestations({{"night-1", "mlp", key, statement, At("2026-01-08T10:00:00Z")}})
          .ok());
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("<a class=\"flag\" href=\"#signed\">signed</a>"));
  const std::string signed_part = page.substr(page.find("id=\"signed\""));
  EXPECT_THAT(signed_part, HasSubstr("identical, drill night-1"));
  EXPECT_THAT(signed_part, HasSubstr(key));
  EXPECT_THAT(signed_part, HasSubstr(statement));
  EXPECT_THAT(signed_part, HasSubstr("2026-01-08 10:00 UTC"));
  EXPECT_THAT(
      signed_part,
      HasSubstr("rharness verify FILE.verdict.intoto.jsonl <span class=\"w\">--trust</span>"));
  EXPECT_THAT(signed_part, Not(HasSubstr("rharness history retire list")))
      << "nobody asked for that";
}

// The run asked for by one person, taken back by another, asked for anew and approved.
class RetiredRunPage : public RunPage {
 protected:
  static SignedRecord Sign(Signer* signer, const SignedStatement& statement,
                           const std::string& subject, const char* who, const char* when) {
    SignedEnvelope envelope{
        .payload_type = kStatementPayload, .payload = ToJson(statement).Dump(), .signatures = {}};
    EXPECT_TRUE(SignEnvelope(signer, &envelope).ok());
    return {Sha256HexOf(envelope.payload),
            signer->public_key().id(),
            statement.predicate_type,
            subject,
            who,
            At(when),
            WriteEnvelope(envelope)};
  }
  void SetUp() override {
    RunPage::SetUp();
    const SignedSubject manifest = ManifestSubject(*store_->Get("mlp"));
    const auto asking = [&](const char* when) {
      return RetirementStatement({.run_id = "mlp",
                                  .family = "digits-mlp/cpu",
                                  .manifest = manifest,
                                  .reason = "data gone",
                                  .requested = At(when),
                                  .expires = At("2026-02-01T00:00:00Z")});
    };
    const SignedStatement first = asking("2026-01-05T03:00:00Z");
    const SignedStatement second = asking("2026-01-07T03:00:00Z");
    const SignedRecord asked =
        Sign(people_.ada.get(), first, "mlp", "Ada <script>", "2026-01-05T03:00:00Z");
    const SignedStatement back =
        WithdrawalStatement({.run_id = "mlp",
                             .family = "digits-mlp/cpu",
                             .statement = {"mlp.retirement", asked.statement_sha256},
                             .reason = "found",
                             .withdrawn = At("2026-01-06T03:00:00Z")});
    const SignedRecord again =
        Sign(people_.ada.get(), second, "mlp", "Ada <script>", "2026-01-07T03:00:00Z");
    const SignedRecord approved =
        Sign(people_.bob.get(), second, "mlp", "Bob", "2026-01-08T03:00:00Z");
    ASSERT_TRUE(store_->AddSigned(asked).ok());
    ASSERT_TRUE(store_
                    ->AddWithdrawal(Sign(people_.mallory.get(), back, asked.statement_sha256, "Eve",
                                         "2026-01-06T03:00:00Z"))
                    .ok());
    ASSERT_TRUE(store_->AddSigned(again).ok());
    const Status retired =
        store_->RetireSigned(approved, "data gone",
                             {again.statement_sha256, "Ada <script>", At("2026-01-07T03:00:00Z"),
                              "Bob", At("2026-01-08T03:00:00Z")});
    ASSERT_TRUE(retired.ok()) << retired.error().ToString();
  }

  const People people_{};
};

TEST_F(RetiredRunPage, NamesWhoSignedForItsRetirementAndWhoTookItBack) {
  const std::string page = Page();
  EXPECT_THAT(page,
              HasSubstr("data gone (asked for by Ada &lt;script&gt; on 2026-01-07, approved by "
                        "Bob on 2026-01-08)"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  const std::string part = page.substr(page.find("id=\"signed\""));
  for (const std::string& said :
       {std::string("retirement, asked for"), std::string("retirement, approved"),
        std::string("retirement, taken back"), people_.ada->public_key().id(),
        people_.bob->public_key().id(), people_.mallory->public_key().id(), std::string("Eve"),
        std::string("rharness history retire list")}) {
    EXPECT_THAT(part, HasSubstr(said));
  }
}

TEST_F(RetiredRunPage, NamesNoSignersWhereTheHistoryDoesNotSayWhatWasSigned) {
  EXPECT_EQ(RawDatabase(Path()).RunPastTriggers("UPDATE retirements SET reason = 'boo'"), "");
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("Doubtful: retirement statement "));
  EXPECT_THAT(page, Not(HasSubstr("approved by Bob on")));
  const std::string part = page.substr(page.find("id=\"signed\""));
  EXPECT_THAT(part, HasSubstr("not shown: it is doubtful"));
  EXPECT_THAT(part, HasSubstr(people_.bob->public_key().id())) << "the keys are what signed";
  for (const char* who : {"Ada", "Bob", "Eve"}) EXPECT_THAT(part, Not(HasSubstr(who)));
}

TEST_F(RunPage, SaysThatARetirementIsUnsigned) {
  ASSERT_TRUE(store_->Retire("mlp", "data gone", At(kDay2)).ok());
  EXPECT_THAT(Page(), HasSubstr("data gone (unsigned)"));
}

}  // namespace
}  // namespace rharness
