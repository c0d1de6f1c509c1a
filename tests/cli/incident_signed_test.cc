// Incidents beside files that somebody put there as if they were signed for the last good run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/cli/incident_program.h"
#include "tests/history/raw_history.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SignedIncident : public IncidentProgram {};

TEST_F(SignedIncident, RefusesWhatWasSignedForSomethingElseOrSaysOtherwiseThanTheHistory) {
  MakeHistory();
  ASSERT_TRUE(WriteFileAtomic(At("ada.pem"), Ed25519Pem(kAdaSeed)).ok());
  fs::permissions(At("ada.pem"), fs::perms::owner_read | fs::perms::owner_write);
  Write("ada.pub", PublicPem(std::string(kEd25519Head) + kAdaPublic));
  Write(
      "trust.yaml",
      "version: 1\nkeys: [{name: ada, owner: Ada, public_key: ada.pub}]\nrules: [{keys: [ada]}]\n");
  Write("policy.yaml", "version: 1\n");
  ASSERT_TRUE(Run({kRharness, "sign", "policy.yaml", "--key", "ada.pem"}).outcome.Succeeded());
  ASSERT_TRUE(
      Run({kRharness, "sign", "first", "--key", "ada.pem", "--out", "signed"}).outcome.Succeeded());
  int times = 0;
  const auto refused = [&](const std::string& name, const std::string& text) {
    Write("kept/a/" + name, text);
    const std::string out = fmt::format("out{}", ++times);
    const ProcessResult result =
        IncidentOf("c", {"--no-rerun", "--trust", "trust.yaml", "--out", out});
    fs::remove(At("kept/a/" + name));
    EXPECT_EQ(result.outcome.exit_code, 5) << result.stdout_text << result.stderr_text;
    return Text(Told(out), "signatures");
  };
  const std::string verdict = "a.verdict.intoto.jsonl";
  EXPECT_THAT(refused(verdict, Read(At("policy.yaml.intoto.jsonl"))),
              HasSubstr("what was signed is no verdict on a run"));
  EXPECT_THAT(refused("w.safetensors.sigstore.json", "{\"mediaType\": "),
              HasSubstr("is no envelope"));
  RawDatabase(At("runs.db"))
      .RunPastTriggers("UPDATE verdicts SET verdict = 'equivalent' WHERE run_id = 'a'");
  EXPECT_THAT(refused(verdict, Read(At("signed/" + verdict))),
              HasSubstr("the history has equivalent"));
}

}  // namespace
}  // namespace rharness
