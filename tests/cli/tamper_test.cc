// Everything that is signed, tampered with: the exit code, and the first bad entry by its name.
//
// RHARNESS_TAMPER_TABLE=1 prints the table with what the program said of each row.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "harness/trust/attestation/attest_model.h"
#include "harness/trust/attestation/model_bundle.h"
#include "harness/trust/attestation/model_files.h"
#include "tests/cli/drill_program.h"
#include "tests/cli/tamper_table.h"
#include "tests/compare/fingerprints/build_fingerprint.h"
#include "tests/trust/attestation/attested.h"
#include "tests/trust/attestation/model_bundles.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kTrain[] =
    "printf '{\"metrics\": {\"accuracy\": 0.75}}' > metrics.json\n"
    "cp \"$1/weights\" model.safetensors\n";

constexpr char kTrustFile[] =
    "version: 1\n"
    "keys:\n"
    "  - {name: ada, owner: Ada, public_key: ada.pub}\n"
    "  - {name: bob, owner: Bob, public_key: bob.pub}\n"
    "rules:\n"
    "  - {predicates: [\"urn:rharness:verdict:*\"], keys: [ada, bob], threshold: 2}\n"
    "  - {predicates: [\"urn:rharness:endorsement:*\", \"https://model_signing/*\"], "
    "keys: [ada, bob]}\n";

// Two must sign for the family of the runs, and Eve alone may for another one.
constexpr char kWeakTrustFile[] =
    "version: 1\n"
    "keys:\n"
    "  - {name: ada, owner: Ada, public_key: ada.pub}\n"
    "  - {name: bob, owner: Bob, public_key: bob.pub}\n"
    "  - {name: eve, owner: Eve, public_key: eve.pub}\n"
    "rules:\n"
    "  - {predicates: [\"urn:rharness:tree-head:*\"], keys: [ada]}\n"
    "  - {predicates: [\"urn:rharness:verdict:*\"], families: [tiny], keys: [ada, bob], "
    "threshold: 2}\n"
    "  - {families: [\"toy*\"], keys: [eve]}\n";

std::string OneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

// A drill of two runs whose verdicts Ada and Bob signed; a policy and a baseline that Ada answers
// for; a model that Bob signed, by files and by shards.
class TamperTable : public DrillProgram {
 protected:
  void SetUp() override {
    MakeKeys();
    MakeDrill();
    MakeGate();
    MakeModel();
    Write("blank", "\n");
  }
  void Secret(const std::string& name, const std::string& text) const {
    Write(name, text);
    fs::permissions(At(name), fs::perms(0600));
  }
  void Do(const std::string& words) const {
    const ProcessResult result = RunWords(At(""), words);
    EXPECT_EQ(result.outcome.exit_code, 0) << words << "\n" << result.stderr_text;
  }
  ProcessResult RunWords(const fs::path& folder, const std::string& words) const {
    std::vector<std::string> argv = {kRharness};
    std::istringstream stream(words);
    for (std::string word; stream >> word;) argv.push_back(word);
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(3);
    return RunProcess(ProcessSpec{std::move(argv), environment_, folder}, limits);
  }
  void MakeKeys() const {
    Secret("ada.pem", Ed25519Pem(kAdaSeed));
    Secret("bob.pem", P256Pem(kBobScalar));
    Write("ada.pub", world_.ada->public_key().Pem());
    Write("bob.pub", world_.bob->public_key().Pem());
    Write("eve.pub", world_.eve->public_key().Pem());
    Write("trust.yaml", kTrustFile);
  }
  void MakeDrill() {
    Write("train.sh", kTrain);
    Write("weights", OneTensorFile("abcd"));
    Record("same", {"--weights", "model.safetensors", "--determinism", "bitwise"});
    Write("weights", OneTensorFile("abce"));
    Record("other", {"--weights", "model.safetensors", "--determinism", "bitwise"});
    Add();
    Write("weights", OneTensorFile("abcd"));
    EXPECT_EQ(Drill().outcome.exit_code, 1);
    Do("sign out --key ada.pem");
    Do("sign out --key bob.pem");
    Write("weak.yaml", kWeakTrustFile);
    Do("audit append --begin --history runs.db --log log --key ada.pem");
    Write("registry/model.safetensors", OneTensorFile("abcd"));
    Write("registry/same.json", Read(At("runs/same.json")));
  }
  void MakeGate() const {
    ASSERT_TRUE(WriteJsonFile(At("a.json"), SampleStack().ToJson()).ok());
    const FingerprintBuilder rounded =
        SampleStack().Stack("driver", "590").Probe("math_bits", "math").Bits("expf", "other");
    ASSERT_TRUE(WriteJsonFile(At("b.json"), FingerprintBuilder(rounded).ToJson()).ok());
    Write("policy.yaml", "version: 1\nrules:\n  - {probes: \"math_*\", allow: [bits]}\n");
    Do("gate baseline accept a.json --folder base --by ada --reason measured --expires 2090-12-31");
    Do("sign policy.yaml --key ada.pem --reason reviewed");
    Do("sign base/baseline.jsonl --key ada.pem");
  }
  void MakeModel() const {
    WriteTinyModel(At(""));
    Do("sign tiny --model --key bob.pem");
    Do("sign tiny --model --key bob.pem --out models");
    fs::copy_file(At("policy.yaml.intoto.jsonl"), At("models/policy.yaml.intoto.jsonl"));
    Write("copy.safetensors", OneTensorFile("abcd"));
    SignedModel model{
        .name = "tiny", .serialization = {.shard_bytes = 32}, .resources = {}, .tensors = {}};
    model.resources = *HashModel(At("tiny"), model.serialization);
    SignedEnvelope envelope{.payload_type = kStatementPayload,
                            .payload = ToJson(ModelStatement(model)).Dump(),
                            .signatures = {}};
    ASSERT_TRUE(SignEnvelope(world_.bob.get(), &envelope).ok());
    Write("sharded.sigstore.json", WriteBundle(envelope, world_.bob->public_key()) + "\n");
  }

  // One row in a copy of everything; what the program said.
  std::string Try(const TamperGroup& group, const TamperRow& row) const {
    const ScopedTempDir copy = *ScopedTempDir::Make("rharness-tampered-");
    fs::copy(At(""), copy.path(), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    DoTamper(copy.path(), row,
             {{"ada", world_.ada.get()}, {"bob", world_.bob.get()}, {"eve", world_.eve.get()}});
    const ProcessResult result = RunWords(copy.path(), group.command);
    EXPECT_EQ(result.outcome.exit_code, row.exit_code) << result.stdout_text << result.stderr_text;
    EXPECT_THAT(result.stderr_text + (result.stderr_text.empty() ? result.stdout_text : ""),
                HasSubstr(row.says));
    const auto error = result.stderr_text.find("error: ");
    return fmt::format("{}  {}", result.outcome.exit_code,
                       error == std::string::npos ? "" : result.stderr_text.substr(error));
  }

  AttestedWorld world_;
};

TEST_F(TamperTable, IsRefusedRowByRowAndTheUntouchedOriginalIsNot) {
  const bool print = std::getenv("RHARNESS_TAMPER_TABLE") != nullptr;
  std::size_t refused = 0;
  for (const TamperGroup& group : TamperGroups()) {
    SCOPED_TRACE(group.name);
    Do(group.command);
    std::set<std::string> names;
    for (const TamperRow& row : group.rows) {
      SCOPED_TRACE(row.name);
      EXPECT_TRUE(names.insert(row.name).second) << "a name that is there already";
      const std::string said = Try(group, row);
      refused += row.exit_code == 5 ? 1U : 0U;
      if (print) fmt::print("{:<24} {:<50} {}\n", group.name, row.name, OneLine(said));
      if (HasFatalFailure()) return;
    }
    Do(group.command);
  }
  if (print) fmt::print("{} tamperings end with 5\n", refused);
  EXPECT_GE(refused, 40U);
}

}  // namespace
}  // namespace rharness
