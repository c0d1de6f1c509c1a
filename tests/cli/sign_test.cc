// sign and verify: from a drill's folder to what somebody else believes of it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <future>

#include "harness/base/digest.h"
#include "tests/cli/drill_program.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr char kTrain[] =
    "printf '{\"metrics\": {\"accuracy\": 0.75}}' > metrics.json\n"
    "cp \"$1/weights\" model.safetensors\n";

// One tensor "w" of one F32.
std::string Safetensors(std::string_view four_bytes) {
  const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} )";
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  return text + header + std::string(four_bytes);
}

// Runs "same" and "other", of which the second comes out otherwise when it is drilled; keys of Ada
// and Bob, and a policy that trusts both.
class Sign : public DrillProgram {
 protected:
  void SetUp() override {
    Write("train.sh", kTrain);
    Write("weights", Safetensors("abcd"));
    Record("same", {"--weights", "model.safetensors", "--determinism", "bitwise"});
    Write("weights", Safetensors("abce"));
    Record("other", {"--weights", "model.safetensors", "--determinism", "bitwise"});
    Add();
    Write("weights", Safetensors("abcd"));
    EXPECT_EQ(Drill().outcome.exit_code, 1);
    Secret("ada.pem", Ed25519Pem(kAdaSeed));
    Secret("bob.pem", P256Pem(kBobScalar));
    Write("ada.pub", PublicPem(std::string(kEd25519Head) + kAdaPublic));
    Write("bob.pub", PublicPem(std::string(kP256Head) + kBobPublic));
    Trust("keys: [ada]");
  }
  void Secret(const std::string& name, const std::string& text) const {
    Write(name, text);
    fs::permissions(At(name), fs::perms(0600));
  }
  void Trust(const std::string& rule) const {
    Write("trust.yaml",
          "version: 1\nkeys:\n  - {name: ada, owner: Ada, public_key: ada.pub}\n"
          "  - {name: bob, owner: Bob, public_key: bob.pub}\nrules:\n  - " +
              rule + "\n");
  }
  ProcessResult AttestDrill(std::vector<std::string> options = {}) const {
    std::vector<std::string> argv = {kRharness, "sign", "out", "--key", "ada.pem"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  ProcessResult Verify(std::vector<std::string> options = {}) const {
    std::vector<std::string> argv = {kRharness, "verify", "out/attestations", "--trust",
                                     "trust.yaml"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  std::string Same() const { return "out/attestations/same.verdict.intoto.jsonl"; }
};

TEST_F(Sign, SignsEveryVerdictGoodOrBadAndOthersVerifyIt) {
  const ProcessResult signed_all = AttestDrill();
  EXPECT_EQ(signed_all.outcome.exit_code, 0) << signed_all.stderr_text;
  EXPECT_THAT(signed_all.stdout_text,
              HasSubstr("same.verdict.intoto.jsonl: same identical: written"));
  EXPECT_THAT(signed_all.stdout_text,
              HasSubstr("other.verdict.intoto.jsonl: other drifted: written"));
  const auto told =
      ParseJson(Run({kRharness, "slo", "--history", "runs.db", "--json"}).stdout_text, "stdout");
  ASSERT_TRUE(told.ok());
  const Json* attested = told->Find("families")->AsArray().front().Find("attested");
  EXPECT_EQ(attested->Find("part")->ToDouble(), 2.0) << "the history was told";
  EXPECT_EQ(attested->Find("all")->ToDouble(), 2.0);
  const ProcessResult good = Verify();
  EXPECT_EQ(good.outcome.exit_code, 0) << good.stderr_text;
  EXPECT_THAT(good.stdout_text, HasSubstr("same.verdict.intoto.jsonl: same identical, decided "));
  EXPECT_THAT(good.stdout_text, HasSubstr("signed by ada (Ada)"));
  EXPECT_EQ(Verify({"--reproduced"}).outcome.exit_code, 1);
  EXPECT_EQ(
      Run({kRharness, "verify", Same(), "--trust", "trust.yaml", "--reproduced"}).outcome.exit_code,
      0);
  // What the statement says is what is there.
  const auto envelope = ParseEnvelope(Read(At(Same())), "e");
  ASSERT_TRUE(envelope.ok());
  const auto statement = ParseStatement(envelope->payload, "s");
  ASSERT_TRUE(statement.ok());
  EXPECT_THAT(
      statement->subjects,
      testing::ElementsAre(SignedSubject{"model.safetensors", Sha256HexOf(Safetensors("abcd"))},
                           SignedSubject{"same.json", Sha256HexOf(Read(At("runs/same.json")))}));
  const auto verdict = ReadVerdictStatement(*statement, "s");
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->report_sha256, Sha256HexOf(Read(At("out/report.json"))));
  ASSERT_EQ(verdict->reruns.size(), 1U);
  EXPECT_EQ(verdict->reruns[0].evidence_sha256,
            Sha256HexOf(Read(At("out/runs/same/1/evidence.json"))));
  EXPECT_EQ(verdict->reruns[0].artifacts[0].sha256, Sha256HexOf(Safetensors("abcd")));
}

TEST_F(Sign, SignsThatARunFailedAsWell) {
  fs::remove(At("weights"));
  fs::remove_all(At("out"));
  EXPECT_EQ(Drill({"--select", "run_id = same"}).outcome.exit_code, 4);
  const ProcessResult signed_one = AttestDrill();
  EXPECT_EQ(signed_one.outcome.exit_code, 0) << signed_one.stderr_text;
  EXPECT_THAT(signed_one.stdout_text, HasSubstr("same failed: written"));
  EXPECT_EQ(Verify().outcome.exit_code, 0);
  EXPECT_EQ(Verify({"--reproduced"}).outcome.exit_code, 4);
}

TEST_F(Sign, DoneAgainChangesNothingAndAnotherKeyAddsItsSignature) {
  EXPECT_EQ(AttestDrill().outcome.exit_code, 0);
  const std::string before = HashTree(At("out/attestations"))->sha256;
  EXPECT_THAT(AttestDrill().stdout_text, HasSubstr("same identical: unchanged"));
  EXPECT_EQ(HashTree(At("out/attestations"))->sha256, before);
  Trust("{keys: [ada, bob], threshold: 2}");
  const ProcessResult one = Verify();
  EXPECT_EQ(one.outcome.exit_code, 5);
  EXPECT_THAT(one.stderr_text, HasSubstr("2 of 2 files are refused; the first: "));
  EXPECT_THAT(one.stderr_text, HasSubstr("other.verdict.intoto.jsonl:1: 1 of the 2 keys"));
  const ProcessResult second = Run({kRharness, "sign", "out", "--key", "bob.pem", "--json"});
  EXPECT_EQ(second.outcome.exit_code, 0) << second.stderr_text;
  EXPECT_THAT(second.stdout_text, HasSubstr("\"state\": \"signature_added\""));
  EXPECT_THAT(second.stdout_text, HasSubstr("\"algorithm\": \"ECDSA P-256\""));
  const ProcessResult both = Verify({"--json"});
  EXPECT_EQ(both.outcome.exit_code, 0) << both.stderr_text;
  EXPECT_THAT(both.stdout_text, HasSubstr("\"owner\": \"Bob\""));
  EXPECT_THAT(both.stdout_text, HasSubstr("\"refused\": []"));
}

TEST_F(Sign, FilesAreHeldToWhatWasSigned) {
  EXPECT_EQ(AttestDrill().outcome.exit_code, 0);
  const std::vector<std::string> verify = {kRharness, "verify",     Same(),
                                           "--trust", "trust.yaml", "--artifacts"};
  const auto held = [&](const std::string& path) {
    std::vector<std::string> argv = verify;
    argv.push_back(path);
    return Run(argv);
  };
  Write("registry/model.safetensors", Safetensors("abcd"));
  fs::copy_file(At("runs/same.json"), At("registry/same.json"));
  EXPECT_THAT(held("registry").stdout_text, HasSubstr("2 of its files looked at, as signed"));
  EXPECT_EQ(held("registry/model.safetensors").outcome.exit_code, 0);
  Write("registry/model.safetensors", Safetensors("abcf"));
  for (const char* path : {"registry", "registry/model.safetensors"}) {
    const ProcessResult other = held(path);
    EXPECT_EQ(other.outcome.exit_code, 5) << path;
    EXPECT_THAT(other.stderr_text, HasSubstr("registry/model.safetensors"));
    EXPECT_THAT(other.stdout_text, HasSubstr("refused: "));
  }
}

TEST_F(Sign, SignsNoReportThatWasChangedAndNamesTheRunAndTheMember) {
  const Report good = StoredReport();
  using Change = std::function<void(Report*, ReportRun*)>;
  const std::vector<std::pair<Change, std::string>> changes = {
      {[](Report*, ReportRun* run) { run->headline = "all is well"; },
       "of run other the report has the headline 'all is well'; the history has 'declared bit"},
      {[](Report*, ReportRun* run) { run->findings[0].message = "nothing to see"; },
       "of run other the report has the decisive reason 'determinism_violation: nothing to see'"},
      {[](Report*, ReportRun* run) { run->findings.clear(); },
       "of run other the report has the decisive reason 'none further'"},
      {[](Report*, ReportRun* run) {
         run->findings.push_back({.code = "note", .message = "reviewed"});
       },
       "what the report says of run other has sha256 "},
      {[](Report*, ReportRun* run) { run->layers[0].state = LayerState::kUnknown; },
       "what the report says of run other has sha256 "},
      {[](Report*, ReportRun* run) { run->reruns[0].outcome = "exited with 7"; },
       "of rerun 1 of run other the report has the outcome 'exited with 7'; the history has "
       "'exited with 0'"},
      {[](Report*, ReportRun* run) { run->reruns.clear(); },
       "rerun 1 of run other is not in the report; the history has that it exited with 0"},
      {[](Report*, ReportRun* run) {
         run->reruns.push_back(run->reruns[0]);
         run->reruns[1].index = 2;
       },
       "rerun 2 of run other is in the report; the history has none such"},
      {[](Report* report, ReportRun*) {
         std::erase_if(report->runs, [](const ReportRun& one) { return one.run_id == "other"; });
       },
       "run other is not in the report; the history has that this drill found it drifted"},
      {[](Report* report, ReportRun* run) {
         ReportRun more = *run;
         more.run_id = "third";
         report->runs.push_back(std::move(more));
       },
       "run third is in the report; the history has no verdict on it of this drill"},
      {[](Report* report, ReportRun*) { report->version = "9.9"; },
       "has the version '9.9'; the history has '"},
      {[](Report* report, ReportRun*) { report->started -= std::chrono::hours(1); },
       "of the drill the report has the started '"}};
  for (const auto& [change, says] : changes) {
    Report changed = good;
    change(&changed, &*std::ranges::find(changed.runs, "other", &ReportRun::run_id));
    Tally(&changed);
    ASSERT_TRUE(WriteJsonFile(At("out/report.json"), ToJson(changed)).ok());
    const ProcessResult refused = AttestDrill();
    EXPECT_EQ(refused.outcome.exit_code, 5) << says << refused.stdout_text;
    EXPECT_THAT(refused.stderr_text, HasSubstr(says));
    EXPECT_FALSE(fs::exists(At("out/attestations"))) << says;
  }
  ASSERT_TRUE(WriteJsonFile(At("out/report.json"), ToJson(good)).ok());
  EXPECT_EQ(AttestDrill().outcome.exit_code, 0) << "what is written again says the same";
}

TEST_F(Sign, ADrillThatIsResumedWithoutNewsIsEnteredOnce) {
  const Report before = StoredReport();
  const std::string drill_id = before.drill_id;
  EXPECT_EQ(Run({kRharness, "drill", "--resume", "--out", "out"}).outcome.exit_code, 1);
  // It ended when it ended first, as the history has it, and can be signed.
  EXPECT_EQ(StoredReport().ended, before.ended);
  EXPECT_EQ(AttestDrill().outcome.exit_code, 0);
  const ProcessResult shown =
      Run({kRharness, "history", "show", "other", "--history", "runs.db", "--json"});
  EXPECT_THAT(shown.stdout_text, HasSubstr("\"" + drill_id + "\""));
  EXPECT_THAT(shown.stdout_text, Not(HasSubstr(drill_id + ".2")));
}

TEST_F(Sign, AFamilyIsTheSignersWordUntilItIsHeldToTheManifestOrAskedFor) {
  EXPECT_EQ(AttestDrill().outcome.exit_code, 0);
  const auto envelope = ParseEnvelope(Read(At(Same())), "e");
  ASSERT_TRUE(envelope.ok());
  auto verdict = ReadVerdictStatement(*ParseStatement(envelope->payload, "s"), "s");
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->family, "tiny");
  verdict->family = "other";
  SignedEnvelope forged{.payload_type = kStatementPayload,
                        .payload = ToJson(VerdictStatement(*verdict)).Dump(),
                        .signatures = {}};
  const auto ada = LoadPemSigner(At("ada.pem"));
  ASSERT_TRUE(SignEnvelope(ada->get(), &forged).ok());
  Trust("{families: [\"tiny*\"], keys: [ada, bob], threshold: 2}\n  - {keys: [ada]}");
  const auto verify = [&](std::vector<std::string> options) {
    std::vector<std::string> argv = {kRharness, "verify", Same(), "--trust", "trust.yaml"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  };
  EXPECT_EQ(verify({}).outcome.exit_code, 5) << "one of the two keys of its family";
  Write(Same(), WriteEnvelope(forged) + "\n");
  const ProcessResult taken = verify({});
  EXPECT_EQ(taken.outcome.exit_code, 0) << taken.stderr_text;
  EXPECT_THAT(taken.stdout_text,
              HasSubstr(", of family 'other', signed by ada (Ada), under rule 2"));
  EXPECT_THAT(taken.stderr_text,
              HasSubstr("only its signer states the family 'other'; rule 2, which is for every "
                        "family, accepted it, and rule 1"));
  const ProcessResult asked = verify({"--family", "tiny*"});
  EXPECT_EQ(asked.outcome.exit_code, 5);
  EXPECT_THAT(asked.stderr_text, HasSubstr("is about family 'other'; --family asks for 'tiny*'"));
  Write("registry/model.safetensors", Safetensors("abcd"));
  fs::copy_file(At("runs/same.json"), At("registry/same.json"));
  const ProcessResult held = verify({"--artifacts", "registry"});
  EXPECT_EQ(held.outcome.exit_code, 5);
  EXPECT_THAT(held.stderr_text,
              HasSubstr("same.json: the verdict was signed for run same of family 'other'; "
                        "the manifest is of run same of family 'tiny'"));
  const ProcessResult other = verify({"--run", "other"});
  EXPECT_EQ(other.outcome.exit_code, 5);
  EXPECT_THAT(other.stderr_text, HasSubstr("is about run 'same'; --run asks for 'other'"));
  EXPECT_EQ(verify({"--run", "same", "--family", "o*"}).outcome.exit_code, 0);
}

TEST_F(Sign, TwoWhoSignAtOnceBothHaveSigned) {
  Trust("{keys: [ada, bob], threshold: 2}");
  for (int i = 0; i < 20; ++i) {
    const std::string out = fmt::format("signed-{}", i);
    const auto sign = [&](const char* key) {
      return Run({kRharness, "sign", "out", "--key", key, "--out", out}).outcome.exit_code;
    };
    auto first = std::async(std::launch::async, sign, "ada.pem");
    EXPECT_EQ(sign("bob.pem"), 0);
    EXPECT_EQ(first.get(), 0);
    const ProcessResult both = Run({kRharness, "verify", out, "--trust", "trust.yaml"});
    ASSERT_EQ(both.outcome.exit_code, 0) << i << both.stderr_text;
  }
}

TEST_F(Sign, SignsNothingWhereTheDrillsOwnRecordsDoNotAgree) {
  const std::string report = Read(At("out/report.json"));
  const std::string evidence = Read(At("out/runs/other/1/evidence.json"));
  Json json = *ParseJson(report, "report.json");
  Report better = *ParseReport(json, "report.json");
  for (ReportRun& run : better.runs) run.verdict = Verdict::kIdentical;
  Tally(&better);
  ASSERT_TRUE(WriteJsonFile(At("out/report.json"), ToJson(better)).ok());
  const ProcessResult verdict = AttestDrill();
  EXPECT_EQ(verdict.outcome.exit_code, 5);
  EXPECT_THAT(verdict.stderr_text, HasSubstr("the report says identical of run other"));
  Write("out/report.json", report);
  Write("out/runs/other/1/evidence.json", evidence + " ");
  const ProcessResult changed = AttestDrill();
  EXPECT_EQ(changed.outcome.exit_code, 5);
  EXPECT_THAT(changed.stderr_text, HasSubstr("is not the evidence that was journalled"));
  EXPECT_FALSE(fs::exists(At("out/attestations")));
  Write("out/runs/other/1/evidence.json", evidence);
  EXPECT_EQ(AttestDrill().outcome.exit_code, 0);
  // Another statement in its place is not written over.
  Write(Same(), Read(At("out/attestations/other.verdict.intoto.jsonl")));
  const ProcessResult taken = AttestDrill();
  EXPECT_EQ(taken.outcome.exit_code, 2);
  EXPECT_THAT(taken.stderr_text, HasSubstr("holds another statement than this drill's"));
}

TEST_F(Sign, RefusesTamperedFilesKeysThatLieOpenAndPoliciesWithMistakes) {
  EXPECT_EQ(AttestDrill().outcome.exit_code, 0);
  const std::string good = Read(At(Same()));
  std::string bad = good;
  bad[30] = bad[30] == 'A' ? 'B' : 'A';
  Write(Same(), bad);
  const ProcessResult tampered = Verify();
  EXPECT_EQ(tampered.outcome.exit_code, 5);
  EXPECT_THAT(tampered.stderr_text, HasSubstr("1 of 2 files is refused; the first: "));
  EXPECT_THAT(tampered.stderr_text, HasSubstr("same.verdict.intoto.jsonl:1"));
  EXPECT_THAT(tampered.stdout_text, HasSubstr("other drifted, decided"));
  EXPECT_THAT(tampered.stdout_text, Not(HasSubstr("same identical")));
  Write(Same(), good);
  Trust("{keys: [bob]}");
  EXPECT_EQ(Verify().outcome.exit_code, 5);
  Trust("{keys: [carol]}");
  const ProcessResult unknown = Verify();
  EXPECT_EQ(unknown.outcome.exit_code, 2);
  EXPECT_THAT(unknown.stderr_text, HasSubstr("$.rules[0].keys: 'carol' is none of the keys"));
  EXPECT_EQ(unknown.stdout_text, "");
  fs::permissions(At("ada.pem"), fs::perms(0644));
  const ProcessResult open = AttestDrill();
  EXPECT_EQ(open.outcome.exit_code, 2);
  EXPECT_THAT(open.stderr_text, HasSubstr("ada.pem: others may read it; chmod 600"));
  EXPECT_EQ(Run({kRharness, "verify", "runs", "--trust", "trust.yaml"}).outcome.exit_code, 2);
  EXPECT_EQ(Run({kRharness, "sign", "runs", "--key", "bob.pem"}).outcome.exit_code, 2);
  const ProcessResult nothing = Run({kRharness, "sign", "none.yaml", "--key", "bob.pem"});
  EXPECT_EQ(nothing.outcome.exit_code, 2);
  EXPECT_THAT(nothing.stderr_text, HasSubstr("none.yaml: is not there; expected a drill's folder"));
  const ProcessResult history =
      Run({kRharness, "sign", "trust.yaml", "--key", "bob.pem", "--history", "none.db"});
  EXPECT_EQ(history.outcome.exit_code, 2);
  EXPECT_THAT(history.stderr_text, HasSubstr("--history: is that of a drill; a file is signed"));
  EXPECT_FALSE(fs::exists(At("trust.yaml.intoto.jsonl")));
  const ProcessResult report = Run({kRharness, "sign", "out/report.json", "--key", "bob.pem"});
  EXPECT_EQ(report.outcome.exit_code, 2);
  EXPECT_THAT(report.stderr_text, HasSubstr("a file of a drill; expected the drill's folder"));
}

}  // namespace
}  // namespace rharness
