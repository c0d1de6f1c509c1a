// rharness audit as people use it: a log beside a history, heads that others keep, proofs.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

#include "harness/base/digest.h"
#include "tests/cli/audit_world.h"
#include "tests/history/raw_history.h"
#include "tests/records/manifest/schema_check.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class AuditVerb : public AuditWorld {
 protected:
  void ExpectSchema(const std::string& text, const std::string& name) {
    const auto json = ParseJson(text, name);
    ASSERT_TRUE(json.ok()) << json.error().ToString() << text;
    ASSERT_EQ(Run({kRharness, "documents", "--schemas", "schemas"}).outcome.exit_code, 0);
    const std::string path = At("schemas/" + name + ".schema.json").string();
    ExpectDescribed(LoadSchemaFile(path), *json);
    EXPECT_NE(Validate(path, *json), 1) << text;
  }
};

TEST_F(AuditVerb, HoldsWhereNothingWasChangedAndSaysWhoSigned) {
  const ProcessResult result = Verify({"--complete"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("holds: "));
  EXPECT_THAT(result.stdout_text, HasSubstr("signed by ada (Ada)"));
  EXPECT_THAT(result.stdout_text, HasSubstr("kept/1.json: head is over"));
  const ProcessResult json = Verify({"--json"});
  ExpectSchema(json.stdout_text, "audit");
}

TEST_F(AuditVerb, HasAnEntryOfEverything) {
  std::vector<std::string> seen;
  for (const AuditEntry& entry : Entries()) {
    if (entry.kind != "surroundings" && entry.kind != "drill" && entry.kind != "verdict") {
      seen.push_back(entry.kind + " " + entry.name);
    } else if (entry.kind == "verdict") {
      EXPECT_THAT(entry.name, testing::EndsWith("/a"));
    }
    if (entry.kind == "manifest" && entry.name == "a") {
      RawDatabase database(At("runs.db"));
      EXPECT_EQ(entry.sha256,
                Sha256HexOf(database.Rows("SELECT body FROM manifests WHERE run_id = 'a'")[0]));
    }
  }
  EXPECT_THAT(
      seen, testing::ElementsAre("run a", "run b", "run c", "manifest a", "manifest b",
                                 "manifest c", "baseline h100/1", "baseline h100/2",
                                 "policy policy.yaml", "waiver policy.yaml/jit_*", "retirement c"));
}

TEST_F(AuditVerb, TellsWhatIsNotEnteredYetAndThatIsNoFault) {
  Retire("b");
  const ProcessResult result = Verify();
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("1 record is not in the log yet: retirement b"));
  const ProcessResult incomplete = Verify({"--complete"});
  EXPECT_EQ(incomplete.outcome.exit_code, 1);
  EXPECT_THAT(incomplete.stderr_text, HasSubstr("1 record is not in the log yet: retirement b; "
                                                "`rharness audit append` enters new records"));
  Retire("a");
  EXPECT_THAT(
      Verify({"--complete"}).stderr_text,
      testing::ContainsRegex("2 records are not in the log yet, the first: retirement [ab]; "
                             "`rharness audit append`"));
  const ProcessResult appended = Append({"--json"});
  EXPECT_EQ(appended.outcome.exit_code, 0) << appended.stderr_text;
  ExpectSchema(appended.stdout_text, "audit_appended");
  EXPECT_EQ(Verify({"--complete"}).outcome.exit_code, 0);
  EXPECT_EQ(Entries().back().kind, "retirement");
}

TEST_F(AuditVerb, TellsAPolicyThatWasChangedSince) {
  Write("policy.yaml", "version: 1\n");
  const ProcessResult result = Verify();
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("not in the log yet: policy policy.yaml"));
}

TEST_F(AuditVerb, FindsAWaiverThatSaysSomethingElseAndTellsOneThatIsGone) {
  Write("policy.yaml",
        "version: 1\nwaivers:\n  - {probes: 'jit_*', reason: known, signed_by: ada, until: "
        "2199-12-31}\n");
  const ProcessResult changed = Verify();
  EXPECT_EQ(changed.outcome.exit_code, 1) << changed.stdout_text;
  EXPECT_THAT(changed.stderr_text,
              HasSubstr("(waiver policy.yaml/jit_*) was changed in its policy"));
  const ProcessResult json = Verify({"--json"});
  EXPECT_EQ(json.outcome.exit_code, 1);
  ExpectSchema(json.stdout_text, "audit");
  EXPECT_THAT(json.stdout_text, HasSubstr("\"state\": \"changed\""));
  Must(Append({}));
  Must(Verify({"--complete"}));
  Write("policy.yaml", "version: 1\n");
  const ProcessResult gone = Verify();
  EXPECT_EQ(gone.outcome.exit_code, 0) << gone.stderr_text;
  EXPECT_THAT(gone.stdout_text,
              HasSubstr("(waiver policy.yaml/jit_*) is about what is in its policy no more"));
}

TEST_F(AuditVerb, EntersADrillAtItsEndAndSignsIt) {
  const auto drill = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> argv = {kRharness,      "--quiet", "drill",    "--history",  "runs.db",
                                     "--out",        out,       "--select", "run_id = b", "--audit",
                                     "runs.db.audit"};
    argv.insert(argv.end(), more.begin(), more.end());
    return Run(argv);
  };
  Write("value", "0.75");
  const ProcessResult drilled = drill("sealed", {"--key", "ada.pem", "--policy", "policy.yaml"});
  EXPECT_EQ(drilled.outcome.exit_code, 0) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_THAT(Entries().back().name, testing::EndsWith("/b"));
  const ProcessResult whole = Verify({"--complete", "--json"});
  EXPECT_EQ(whole.outcome.exit_code, 0) << whole.stderr_text;
  const Json json = ParseJson(whole.stdout_text, "audit").value();
  EXPECT_EQ(json.Find("signed_entries")->Dump(), json.Find("tree_size")->Dump());
  // Told before anything is rerun.
  EXPECT_EQ(drill("none", {"--key", "no.pem"}).outcome.exit_code, 2);
  EXPECT_FALSE(fs::exists(At("none")));
  // The drill is fine, and its log is not.
  RawDatabase(At("runs.db")).RunPastTriggers("UPDATE retirements SET reason = 'another'");
  const ProcessResult changed = drill("changed", {"--key", "ada.pem"});
  EXPECT_EQ(changed.outcome.exit_code, 5) << changed.stdout_text << changed.stderr_text;
  EXPECT_THAT(changed.stderr_text, HasSubstr("(retirement c) was changed"));
  EXPECT_TRUE(fs::exists(At("changed/report.json")));
}

TEST_F(AuditVerb, FindsADeletionThatNobodySignedFor) {
  const std::string list(64, 'e');
  RawDatabase(At("runs.db"))
      .RunPastTriggers(
          "INSERT INTO deletions (list_sha256, begun_ms, asked_by, approved_by, "
          "sequence, body) VALUES ('" +
          list + "', 1, 'Ada', 'Bob', 1, '{}')");
  const ProcessResult result = Verify();
  EXPECT_EQ(result.outcome.exit_code, 5) << result.stdout_text;
  EXPECT_THAT(result.stderr_text, HasSubstr("what was signed for it is not in the history"));
}

TEST_F(AuditVerb, SaysWhatItWasNotGivenAndThatNobodyWasAskedWhoSigned) {
  const ProcessResult result = Run({kRharness, "audit", "verify", "--history", "runs.db"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("2 entries are about what was not given here"));
  EXPECT_THAT(result.stdout_text, HasSubstr("the signers of the heads were not checked"));
}

TEST_F(AuditVerb, OfNoLogIsAUsageError) {
  fs::remove_all(At("runs.db.audit"));
  EXPECT_EQ(Verify().outcome.exit_code, 2);
  fs::create_directory(At("runs.db.audit"));
  EXPECT_EQ(Run({kRharness, "audit", "verify", "--history", "runs.db"}).outcome.exit_code, 2);
}

TEST_F(AuditVerb, ProvesARunToSomebodyWhoHasAHeadAlone) {
  const ProcessResult proof = Run({kRharness, "audit", "prove", "a", "--history", "runs.db"});
  ASSERT_EQ(proof.outcome.exit_code, 0) << proof.stderr_text;
  ExpectSchema(proof.stdout_text, "audit_proof");
  Write("away/a.json", proof.stdout_text);
  const auto check = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {kRharness, "audit", "check", "away/a.json"});
    return Run(options);
  };
  const ProcessResult good = check({"--head", "kept/2.json", "--trust", "trust.yaml"});
  EXPECT_EQ(good.outcome.exit_code, 0) << good.stderr_text;
  EXPECT_THAT(good.stdout_text, HasSubstr("(manifest a) with sha256 "));
  EXPECT_THAT(good.stdout_text, HasSubstr("/a) with sha256 "));
  EXPECT_EQ(check({"--trust", "trust.yaml"}).outcome.exit_code, 0);
  ExpectSchema(check({"--trust", "trust.yaml", "--json"}).stdout_text, "audit_check");
  EXPECT_EQ(check({}).outcome.exit_code, 2);
  const ProcessResult missing = check({"--head", "kept/1.json"});
  EXPECT_EQ(missing.outcome.exit_code, 2);
  EXPECT_THAT(missing.stderr_text, HasSubstr("needs the head over "));
  EXPECT_THAT(missing.stderr_text, HasSubstr("`rharness audit prove --head OLDER` proves it"));
  std::string changed = proof.stdout_text;
  const auto digest = changed.find("\\\"sha256\\\":\\\"") + 14;
  changed[digest] = changed[digest] == '0' ? '1' : '0';
  Write("away/a.json", changed);
  const ProcessResult bad = check({"--head", "kept/2.json", "--trust", "trust.yaml"});
  EXPECT_EQ(bad.outcome.exit_code, 5);
  EXPECT_THAT(bad.stderr_text, HasSubstr("do not come to the root"));
  // For the older head, too.
  const ProcessResult older =
      Run({kRharness, "audit", "prove", "a", "--history", "runs.db", "--head", "kept/1.json"});
  Write("away/a.json", older.stdout_text);
  EXPECT_EQ(check({"--head", "kept/1.json", "--trust", "trust.yaml"}).outcome.exit_code, 0);
  EXPECT_EQ(Run({kRharness, "audit", "prove", "z", "--history", "runs.db"}).outcome.exit_code, 2);
}

TEST_F(AuditVerb, ProvesThatOneHeadIsTheBeginningOfAnother) {
  const ProcessResult proof =
      Run({kRharness, "audit", "consistency", "kept/1.json", "--history", "runs.db"});
  ASSERT_EQ(proof.outcome.exit_code, 0) << proof.stderr_text;
  ExpectSchema(proof.stdout_text, "audit_consistency");
  Write("c.json", proof.stdout_text);
  const std::vector<std::string> check = {kRharness, "audit",       "check",  "c.json",
                                          "--head",  "kept/1.json", "--head", "kept/2.json",
                                          "--trust", "trust.yaml"};
  EXPECT_EQ(Run(check).outcome.exit_code, 0) << Run(check).stderr_text;
  // One of the two heads alone says nothing of the other.
  const auto alone = [&](const std::string& head) {
    return Run({kRharness, "audit", "check", "c.json", "--head", head});
  };
  const std::size_t all = Entries().size();
  const ProcessResult older = alone("kept/1.json");
  EXPECT_EQ(older.outcome.exit_code, 2);
  EXPECT_THAT(older.stderr_text,
              HasSubstr(fmt::format("needs the heads over {} and over {} entries; missing: the one "
                                    "over {}",
                                    all - 1, all, all)));
  const ProcessResult newer = alone("kept/2.json");
  EXPECT_EQ(newer.outcome.exit_code, 2);
  EXPECT_THAT(newer.stderr_text, HasSubstr(fmt::format("missing: the one over {}", all - 1)));
  // A head of as many entries with another root is a fault.
  Must(Audit("append",
             {"--begin", "--log", "other.audit", "--key", "bob.pem", "--out", "other.json"}));
  const ProcessResult forged =
      Run({kRharness, "audit", "check", "c.json", "--head", "kept/1.json", "--head", "other.json"});
  EXPECT_EQ(forged.outcome.exit_code, 5);
  EXPECT_THAT(forged.stderr_text, HasSubstr(fmt::format("over {} entries, which is that of", all)));
}

TEST_F(AuditVerb, TakesSeveralAppendsAtOnceOneAfterAnother) {
  Retire("b");
  std::vector<std::thread> threads;
  std::vector<ProcessResult> results(4);
  for (ProcessResult& result : results) {
    threads.emplace_back([&] { result = Append({}); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const ProcessResult& result : results) {
    EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  }
  const ProcessResult verified = Audit("verify", {"--trust", "trust.yaml", "--complete", "--json"});
  EXPECT_EQ(verified.outcome.exit_code, 0) << verified.stderr_text;
  const auto heads = Read(At(LogFile("heads.jsonl")));
  EXPECT_EQ(std::count(heads.begin(), heads.end(), '\n'), 3);
}

// A volume that is not mounted is a folder that is missing or empty, and its log is not lost.
TEST_F(AuditVerb, BeginsALogOnlyWhereThatIsSaid) {
  fs::rename(At("runs.db.audit"), At("elsewhere"));
  const std::string at = At("runs.db.audit").string();
  for (const bool empty : {false, true}) {
    if (empty) fs::create_directory(at);
    for (const char* verb : {"append", "verify"}) {
      const ProcessResult result = Audit(verb, {});
      EXPECT_EQ(result.outcome.exit_code, 2) << verb << result.stdout_text;
      EXPECT_THAT(result.stderr_text,
                  HasSubstr("runs.db.audit: holds no audit log; is its volume mounted? `rharness "
                            "audit append --begin` begins one"));
    }
    const ProcessResult shown = Run({kRharness, "audit", "show", "b", "--history", "runs.db"});
    EXPECT_EQ(shown.outcome.exit_code, 2) << shown.stdout_text;
    EXPECT_EQ(fs::exists(at), empty);
    EXPECT_TRUE(!empty || fs::is_empty(at)) << "nothing is made there";
  }
  Must(Append({"--begin"}));
  EXPECT_FALSE(Entries().empty());
  const std::string entries = Read(At(LogFile("entries.jsonl")));
  const ProcessResult again = Append({"--begin"});
  EXPECT_EQ(again.outcome.exit_code, 2);
  EXPECT_THAT(again.stderr_text,
              HasSubstr(fmt::format("holds an audit log already, of {} entries; it is added to "
                                    "without --begin",
                                    Entries().size())));
  EXPECT_EQ(Read(At(LogFile("entries.jsonl"))), entries);
  Must(Append({}));
}

TEST_F(AuditVerb, AppendsNothingBehindWhatWasChanged) {
  RawDatabase(At("runs.db")).RunPastTriggers("UPDATE verdicts SET reasons = '[]'");
  const std::string before = HashTree(At("runs.db.audit"))->sha256;
  const ProcessResult result = Append({});
  EXPECT_EQ(result.outcome.exit_code, 5);
  EXPECT_THAT(result.stderr_text, HasSubstr("(verdict "));
  EXPECT_EQ(HashTree(At("runs.db.audit"))->sha256, before);
}

TEST_F(AuditVerb, AnswersHowARunWasMadeAndWhetherThatIsWhatWasEntered) {
  const auto show = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {kRharness, "audit", "show", "a", "--history", "runs.db",
                                     "--policy", "policy.yaml"});
    return Run(options);
  };
  const ProcessResult text = show({"--trust", "trust.yaml"});
  EXPECT_EQ(text.outcome.exit_code, 0) << text.stderr_text;
  for (const char* told : {"a: never shown to reproduce, and last not_comparable on",
                           "are as entered", "sh train.sh", "data value", "init=1", "waiver  jit_*",
                           "Signed by: ada (plain text, not verified)", "manifest a ", "(Ada)"}) {
    EXPECT_THAT(text.stdout_text, HasSubstr(told));
  }
  const ProcessResult json =
      show({"--json", "--html", "a.html", "--junit", "a.xml", "--markdown", "a.md"});
  EXPECT_THAT(Read(At("a.xml")), HasSubstr("classname=\"audit.In the log\""));
  EXPECT_THAT(Read(At("a.md")), HasSubstr("## a: never shown to reproduce"));
  EXPECT_EQ(json.outcome.exit_code, 0) << json.stderr_text;
  Must(Run({kRharness, "documents", "--schemas", At("schemas").string()}));
  const std::string schema = At("schemas/audit_report.schema.json").string();
  const auto document = ParseJson(json.stdout_text, "audit_report");
  ASSERT_TRUE(document.ok());
  ExpectDescribed(LoadSchemaFile(schema), *document);
  EXPECT_NE(Validate(schema, *document), 1);
  const std::string page = Read(At("a.html"));
  EXPECT_THAT(page, HasSubstr("How it was made, and from what"));
  EXPECT_THAT(page, HasSubstr("as entered"));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  RawDatabase(At("runs.db")).RunPastTriggers("UPDATE verdicts SET reasons = '[]'");
  const ProcessResult changed = show({});
  EXPECT_EQ(changed.outcome.exit_code, 5) << changed.stdout_text;
  EXPECT_THAT(changed.stdout_text, HasSubstr("1 of its 3 entries in"));
  EXPECT_THAT(changed.stdout_text, HasSubstr("CHANGED"));
}

TEST_F(AuditVerb, SignsNoHeadThatItsPolicyRefuses) {
  Retire("b");
  const std::string heads = Read(At(LogFile("heads.jsonl")));
  const std::size_t entries = Entries().size();
  const ProcessResult refused = Append({"--trust", "trust.yaml"}, "bob.pem");
  EXPECT_EQ(refused.outcome.exit_code, 2) << refused.stdout_text;
  EXPECT_THAT(refused.stderr_text, HasSubstr("may not sign heads of this log"));
  EXPECT_EQ(Read(At(LogFile("heads.jsonl"))), heads);
  EXPECT_EQ(Entries().size(), entries);
  Must(Append({"--trust", "trust.yaml"}));
  EXPECT_GT(Entries().size(), entries);
  Must(Verify({"--complete"}));
}

TEST_F(AuditVerb, AnswersWithWhoSignedTheVerdicts) {
  Write("value", "0.75");
  Must(Run({kRharness, "--quiet", "drill", "--history", "runs.db", "--out", "again", "--select",
            "run_id = b"}));
  Must(Run({kRharness, "sign", "again", "--key", "ada.pem", "--out", "signed"}));
  Write("trust.yaml",
        "version: 1\nkeys:\n  - {name: ada, owner: Ada, public_key: ada.pub}\n"
        "rules:\n  - {keys: [ada]}\n");
  const std::vector<std::string> show = {kRharness,      "audit",   "show",    "b",
                                         "--history",    "runs.db", "--trust", "trust.yaml",
                                         "--statements", "signed"};
  const ProcessResult before = Run(show);
  EXPECT_EQ(before.outcome.exit_code, 0) << before.stderr_text;
  EXPECT_THAT(before.stdout_text, HasSubstr("not entered yet"));
  EXPECT_THAT(before.stdout_text, HasSubstr("b: last reproduced ("));
  Must(Append({}));
  EXPECT_THAT(Run(show).stdout_text, Not(HasSubstr("not entered yet")));
  EXPECT_THAT(Run(show).stdout_text, HasSubstr("signed by ada (Ada)"));
  EXPECT_THAT(Run(show).stdout_text, Not(HasSubstr("no statement that was given")));
  Must(Run({kRharness, "--quiet", "drill", "--history", "runs.db", "--out", "later", "--select",
            "run_id = b"}));
  Must(Append({}));
  std::vector<std::string> json = show;
  json.push_back("--json");
  EXPECT_THAT(Run(json).stdout_text,
              testing::AllOf(
                  testing::ContainsRegex("no statement that was given signs the verdict of drill "
                                         "[^;]*; an older one is signed; all "),
                  HasSubstr("have that drill signed: `rharness sign ")));
  // A line by a key that the policy does not know counts for nothing, beside one that does.
  Must(Run({kRharness, "sign", "again", "--key", "bob.pem", "--out", "by-bob"}));
  Write("signed/b.verdict.intoto.jsonl",
        Read(At("by-bob/b.verdict.intoto.jsonl")) + Read(At("signed/b.verdict.intoto.jsonl")));
  const ProcessResult stranger = Run(show);
  EXPECT_EQ(stranger.outcome.exit_code, 0) << stranger.stdout_text;
  EXPECT_THAT(stranger.stdout_text, HasSubstr("not counted: line 1: no key of the policy"));
  EXPECT_THAT(stranger.stdout_text, HasSubstr("signed by ada (Ada)"));
  Write("signed/b.verdict.intoto.jsonl", "{}");
  const ProcessResult refused = Run(show);
  EXPECT_EQ(refused.outcome.exit_code, 5);
  EXPECT_THAT(refused.stdout_text, HasSubstr("signed/b.verdict.intoto.jsonl  REFUSED:"));
  EXPECT_THAT(refused.stdout_text, HasSubstr("the statement does not hold; the log does"));
  // By another name it may be another run's, and is told all the same.
  fs::rename(At("signed/b.verdict.intoto.jsonl"), At("signed/other.intoto.jsonl"));
  const ProcessResult renamed = Run(show);
  EXPECT_EQ(renamed.outcome.exit_code, 0) << renamed.stdout_text;
  EXPECT_THAT(renamed.stdout_text, HasSubstr("1 statement is refused that is not named after"));
  std::vector<std::string> alone = show;
  alone.back() = "signed/other.intoto.jsonl";
  EXPECT_EQ(Run(alone).outcome.exit_code, 5);
}

}  // namespace
}  // namespace rharness
