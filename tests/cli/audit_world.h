// A history with a drill, a retired run, a baseline and a waiver; its audit log with two heads that
// Ada signed and somebody kept.
#ifndef RHARNESS_TESTS_CLI_AUDIT_WORLD_H_
#define RHARNESS_TESTS_CLI_AUDIT_WORLD_H_

#include <string>
#include <vector>

#include "harness/trust/audit/entry.h"
#include "tests/cli/drill_program.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {

class AuditWorld : public DrillProgram {
 protected:
  void SetUp() override {
    RecordRuns(3);
    Write("value", "0.5");
    Drill({"--select", "run_id = a"});
    Secret("ada.pem", Ed25519Pem(kAdaSeed));
    Secret("bob.pem", P256Pem(kBobScalar));
    Write("ada.pub", PublicPem(std::string(kEd25519Head) + kAdaPublic));
    Write("trust.yaml",
          "version: 1\nkeys:\n  - {name: ada, owner: Ada, public_key: ada.pub}\nrules:\n"
          "  - {predicates: ['urn:rharness:tree-head:v1'], keys: [ada]}\n");
    Write("h100/baseline.jsonl", "{\"accepted_by\": \"ada\"}\n{\"accepted_by\": \"bob\"}\n");
    Write("policy.yaml",
          "version: 1\nwaivers:\n  - {probes: 'jit_*', reason: known, signed_by: ada, until: "
          "2099-12-31}\n");
    Must(Append({"--begin", "--out", "kept/1.json"}));
    Retire("c");
    Must(Append({"--out", "kept/2.json"}));
  }
  void Secret(const std::string& name, const std::string& text) const {
    Write(name, text);
    std::filesystem::permissions(At(name), std::filesystem::perms(0600));
  }
  void Retire(const std::string& run_id) const {
    Must(Run({kRharness, "--quiet", "history", "retire", "--history", "runs.db", run_id, "--reason",
              "its data is gone"}));
  }
  static void Must(const ProcessResult& result) {
    ASSERT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  }

  ProcessResult Audit(const char* verb, const std::vector<std::string>& options) const {
    std::vector<std::string> argv = {kRharness,    "audit", verb,       "--history",  "runs.db",
                                     "--baseline", "h100",  "--policy", "policy.yaml"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  ProcessResult Append(const std::vector<std::string>& options, const char* key = "ada.pem") const {
    std::vector<std::string> all = {"--key", key};
    all.insert(all.end(), options.begin(), options.end());
    return Audit("append", all);
  }
  // With both kept heads.
  ProcessResult Verify(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> all = {"--trust",     "trust.yaml", "--head",
                                    "kept/1.json", "--head",     "kept/2.json"};
    all.insert(all.end(), options.begin(), options.end());
    return Audit("verify", all);
  }

  std::string LogFile(const std::string& name) const { return "runs.db.audit/" + name; }
  std::vector<AuditEntry> Entries() const {
    std::vector<AuditEntry> entries;
    const std::string text = Read(At(LogFile("entries.jsonl")));
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const auto entry = ParseEntry(text.substr(at, text.find('\n', at) - at), "entries");
      EXPECT_TRUE(entry.ok()) << entry.error().ToString();
      if (entry.ok()) entries.push_back(*entry);
    }
    return entries;
  }
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_AUDIT_WORLD_H_
