// rharness audit where what was signed and what the history says are not the same: nothing that is
// contradicted is told as if it held.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

#include "harness/trust/attestation/envelope.h"
#include "tests/cli/audit_world.h"
#include "tests/history/raw_history.h"
#include "tests/trust/approval/people.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kStatement[] = "signed/b.verdict.intoto.jsonl";

// Run b reproduced, by a verdict that Ada and Bob signed; Eve may sign for another family alone.
class AuditShow : public AuditWorld {
 protected:
  void SetUp() override {
    AuditWorld::SetUp();
    Write("bob.pub", PublicPem(std::string(kP256Head) + kBobPublic));
    Write("eve.pub", PublicPem(std::string(kEd25519Head) + kSevensPublic));
    Trust("keys: [ada, bob], threshold: 2");
    Write("value", "0.75");
    Must(Run({kRharness, "--quiet", "drill", "--history", "runs.db", "--out", "again", "--select",
              "run_id = b"}));
    for (const char* key : {"ada.pem", "bob.pem"}) {
      Must(Run({kRharness, "sign", "again", "--key", key, "--out", "signed"}));
    }
    Must(Append({}));
  }
  // `rule`: for verdicts on the family of b.
  void Trust(const std::string& rule) const {
    Write("full.yaml",
          "version: 1\nkeys:\n  - {name: ada, owner: Ada, public_key: ada.pub}\n  - {name: bob, "
          "owner: Bob, public_key: bob.pub}\n  - {name: eve, owner: Eve, public_key: eve.pub}\n"
          "rules:\n  - {predicates: ['urn:rharness:tree-head:v1'], keys: [ada]}\n"
          "  - {predicates: ['urn:rharness:retirement:*', 'urn:rharness:withdrawal:*'], keys: "
          "[ada, bob]}\n"
          "  - {predicates: ['urn:rharness:verdict:*'], families: [tiny], " +
              rule +
              "}\n"
              "  - {predicates: ['urn:rharness:verdict:*'], families: ['toy*'], keys: [eve]}\n");
  }
  ProcessResult Show(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> argv = {kRharness,   "audit",     "show",         "b",
                                     "--history", "runs.db",   "--statements", "signed",
                                     "--trust",   "full.yaml", "--json"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  void Sql(const std::string& statement) const {
    EXPECT_EQ(RawDatabase(At("runs.db")).RunPastTriggers(statement), "");
  }
  // The statement with every `from` in what was signed another text, signed anew by this key alone.
  void SignAnew(const std::string& from, const std::string& to, Signer* signer) const {
    auto envelope = ParseEnvelope(original_, kStatement);
    ASSERT_TRUE(envelope.ok());
    std::size_t changed = 0;
    for (auto at = envelope->payload.find(from); at != std::string::npos;
         at = envelope->payload.find(from, at + to.size())) {
      envelope->payload.replace(at, from.size(), to);
      ++changed;
    }
    ASSERT_GT(changed, 0U) << from << " in " << envelope->payload;
    envelope->signatures.clear();
    ASSERT_TRUE(SignEnvelope(signer, &*envelope).ok());
    Write(kStatement, WriteEnvelope(*envelope) + "\n");
  }
  // Asked for by Ada, approved by Bob.
  void RetireSigned() const {
    Must(Run({kRharness, "history", "retire", "request", "b", "--history", "runs.db", "--reason",
              "its data", "--key", "ada.pem", "--trust", "full.yaml"}));
    Must(Run({kRharness, "history", "retire", "approve", "b", "--history", "runs.db", "--key",
              "bob.pem", "--trust", "full.yaml"}));
  }

  People people_;
  std::unique_ptr<Signer> eve_ = people_.folder.Load(Ed25519Pem(std::string(64, '7')));
  std::string original_;
};

TEST_F(AuditShow, TellsWhoSignedWhereRecordAndHistorySayTheSame) {
  const ProcessResult result = Show();
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, AllOf(HasSubstr("ada (Ada), bob (Bob)"), HasSubstr("identical"),
                                        Not(HasSubstr("signed by nobody"))));
}

TEST_F(AuditShow, RefusesAVerdictThatIsNotOfTheRecordOrTheHistory) {
  original_ = Read(At(kStatement));
  const Json payload = *ParseJson(ParseEnvelope(original_, "s")->payload, "payload");
  const Json& said = *payload.Find("predicate");
  const std::string manifest = said.Find("manifest")->Find("digest")->Find("sha256")->AsString();
  const std::string ended = said.Find("drill")->Find("ended")->AsString();
  const std::string started = said.Find("drill")->Find("started")->AsString();
  const std::string drill = said.Find("drill")->Find("id")->AsString();
  struct Row {
    const char* what;
    std::string from, to;
    Signer* signer;
    std::string told;
  };
  const std::vector<Row> table = {
      {"a family that its signer may sign for", R"("family":"tiny")", R"("family":"toy-x")",
       eve_.get(), "signed for run b of family 'toy-x'; the manifest is of run b of family 'tiny'"},
      {"another manifest", manifest, std::string(64, '0'), people_.ada.get(),
       "signed for a manifest of run b with sha256 0000"},
      {"another verdict", R"("verdict":"identical")", R"("verdict":"drifted")", people_.ada.get(),
       "the history has identical"},
      {"another time", R"("ended":")" + ended, R"("ended":")" + started, people_.ada.get(),
       "decided " + ended},
      {"a drill that the history does not have", R"("id":")" + drill, R"("id":"x)" + drill,
       people_.ada.get(), "the history has no verdict of that drill on it"},
  };
  Trust("keys: [ada]");
  for (const Row& row : table) {
    SCOPED_TRACE(row.what);
    SignAnew(row.from, row.to, row.signer);
    const ProcessResult result = Show();
    EXPECT_EQ(result.outcome.exit_code, 5) << result.stdout_text << result.stderr_text;
    EXPECT_THAT(
        result.stdout_text,
        AllOf(HasSubstr(row.told), HasSubstr("no statement that was given signs the verdict")));
  }
  Write(kStatement, original_);
  Trust("keys: [ada, bob], threshold: 2");
  EXPECT_EQ(Show().outcome.exit_code, 0);
}

TEST_F(AuditShow, RefusesWhatASignedVerdictAndAnEditedHistoryContradict) {
  Sql("UPDATE verdicts SET verdict = 'equivalent' WHERE run_id = 'b'; UPDATE standing SET "
      "last_verdict = 'equivalent' WHERE run_id = 'b'");
  Must(Audit("append", {"--begin", "--log", "anew", "--key", "ada.pem"}));
  const ProcessResult result = Show({"--log", "anew"});
  EXPECT_EQ(result.outcome.exit_code, 5) << result.stdout_text;
  EXPECT_THAT(result.stdout_text,
              AllOf(HasSubstr("found run b identical, decided"),
                    HasSubstr("the history has equivalent, decided"),
                    HasSubstr("what was signed and the history contradict each other")));
}

TEST_F(AuditShow, ChargesNoRunWithARefusedStatementOfOneWhoseNameIsLonger) {
  Write("signed/b.x.verdict.intoto.jsonl", "{}");
  const ProcessResult result = Show();
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("1 statement is refused that is not named after"));
}

TEST_F(AuditShow, NamesNobodyForARetirementThatIsNotWhatWasSigned) {
  RetireSigned();
  Must(Append({"--trust", "full.yaml"}));
  const ProcessResult good = Show();
  EXPECT_EQ(good.outcome.exit_code, 0) << good.stdout_text;
  EXPECT_THAT(good.stdout_text, HasSubstr("\"signed_by\": \"Ada (asked "));
  const auto verify = [&](const std::string& log, const std::string& trust) {
    return Audit("verify", {"--log", log, "--trust", trust});
  };
  EXPECT_EQ(verify("runs.db.audit", "full.yaml").outcome.exit_code, 0);
  // A policy that says nothing of retirements holds them to the history's names alone, and that is
  // said; one by which Bob may not sign them does not take them.
  const ProcessResult heads = verify("runs.db.audit", "trust.yaml");
  EXPECT_EQ(heads.outcome.exit_code, 0) << heads.stderr_text;
  EXPECT_THAT(heads.stdout_text, HasSubstr("whose keys signed for them was not looked at"));
  Write(
      "ada.yaml",
      "version: 1\nkeys: [{name: ada, owner: Ada, public_key: ada.pub}]\nrules: [{keys: [ada]}]\n");
  const ProcessResult alone = verify("runs.db.audit", "ada.yaml");
  EXPECT_EQ(alone.outcome.exit_code, 5) << alone.stdout_text;
  EXPECT_THAT(alone.stderr_text, HasSubstr("run b: its retirement is doubtful"));
  EXPECT_EQ(Append({"--trust", "ada.yaml"}).outcome.exit_code, 5);

  Sql("UPDATE signed_retirements SET approved_by = 'The Board'");
  const ProcessResult sealed = Audit("append", {"--begin", "--log", "anew", "--key", "ada.pem"});
  EXPECT_EQ(sealed.outcome.exit_code, 5) << sealed.stdout_text;
  EXPECT_THAT(sealed.stderr_text, HasSubstr("run b: its retirement is doubtful"));
  EXPECT_FALSE(fs::exists(At("anew/heads.jsonl")));
  const ProcessResult shown = Show();
  EXPECT_EQ(shown.outcome.exit_code, 5) << shown.stdout_text;
  EXPECT_THAT(shown.stdout_text,
              AllOf(HasSubstr("its retirement is doubtful"), HasSubstr("The Board approved at"),
                    Not(HasSubstr("\"signed_by\": \"Ada (asked "))));
}

TEST_F(AuditShow, HasTheEntriesOfWhatTakesARetirementBack) {
  Must(Run({kRharness, "history", "retire", "request", "b", "--history", "runs.db", "--reason",
            "its data", "--key", "ada.pem", "--trust", "full.yaml"}));
  Must(Run({kRharness, "history", "retire", "withdraw", "b", "--history", "runs.db", "--reason",
            "found", "--key", "ada.pem", "--trust", "full.yaml"}));
  EXPECT_THAT(Show().stdout_text, AllOf(HasSubstr("\"kind\": \"withdrawal\""),
                                        HasSubstr("\"state\": \"not_entered\"")));
  Must(Append({}));
  const ProcessResult result = Show();
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text;
  EXPECT_THAT(result.stdout_text, AllOf(HasSubstr("\"kind\": \"withdrawal\""),
                                        Not(HasSubstr("\"state\": \"not_entered\""))));
  const ProcessResult proof = Run({kRharness, "audit", "prove", "b", "--history", "runs.db"});
  Write("b.json", proof.stdout_text);
  const ProcessResult checked =
      Run({kRharness, "audit", "check", "b.json", "--trust", "full.yaml"});
  EXPECT_EQ(checked.outcome.exit_code, 0) << checked.stderr_text;
  EXPECT_THAT(checked.stdout_text, HasSubstr("(withdrawal "));
  Sql("DELETE FROM withdrawals");
  EXPECT_EQ(Show().outcome.exit_code, 5);
}

TEST_F(AuditShow, IsNotContentWithALogOfWhichNobodySignedAHead) {
  const std::vector<std::string> sources = {"--history", "runs.db", "--log", "anew"};
  const auto audit = [&](std::vector<std::string> argv) {
    argv.insert(argv.begin(), {kRharness, "audit"});
    argv.insert(argv.end(), sources.begin(), sources.end());
    return Run(argv);
  };
  Must(audit({"append", "--begin"}));
  EXPECT_EQ(audit({"verify"}).outcome.exit_code, 0);
  const ProcessResult none = audit({"verify", "--trust", "full.yaml"});
  EXPECT_EQ(none.outcome.exit_code, 1) << none.stdout_text << none.stderr_text;
  EXPECT_THAT(none.stderr_text, HasSubstr("nobody has signed a head of this log"));
  const ProcessResult shown = Show({"--log", "anew"});
  EXPECT_EQ(shown.outcome.exit_code, 1) << shown.stdout_text;
  EXPECT_THAT(shown.stdout_text, HasSubstr("nobody signed a head of the log"));
  Must(audit({"append", "--key", "ada.pem", "--out", "kept.json"}));
  EXPECT_EQ(audit({"verify", "--trust", "full.yaml"}).outcome.exit_code, 0);
  fs::remove(At("anew/heads.jsonl"));
  EXPECT_EQ(audit({"verify", "--trust", "full.yaml"}).outcome.exit_code, 1);
  EXPECT_EQ(audit({"verify", "--trust", "full.yaml", "--head", "kept.json"}).outcome.exit_code, 0);
}

TEST_F(AuditShow, WritesNoOutputOverTheLogOrAStatement) {
  const std::string log = LogFile("entries.jsonl"), kept = Read(At(log));
  ASSERT_FALSE(kept.empty());
  std::vector<std::string> outputs = {log};
  for (const auto& file : std::filesystem::directory_iterator(At("signed"))) {
    outputs.push_back(file.path().string());
  }
  ASSERT_GE(outputs.size(), 2U);
  for (const std::string& output : outputs) {
    const ProcessResult result =
        Run({kRharness, "audit", "show", "b", "--history", "runs.db", "--trust", "full.yaml",
             "--statements", "signed", "--markdown", output});
    EXPECT_EQ(result.outcome.exit_code, 2) << output;
    EXPECT_THAT(result.stderr_text, HasSubstr("would take the place of"));
  }
  EXPECT_EQ(Read(At(log)), kept);
}

}  // namespace
}  // namespace rharness
