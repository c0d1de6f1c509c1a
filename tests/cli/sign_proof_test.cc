// What is signed is what was seen: the file of a record, its tensors, and the evidence are one.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "harness/base/digest.h"
#include "tests/cli/drill_program.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

// Writes one tensor of the bytes in "bytes"; the content of "stamp" is metadata of the file.
constexpr char kStampedTrainer[] = R"sh(
printf '{"metrics": {"accuracy": 0.75}}' > metrics.json
head='{"__metadata__":{"at":"'$(cat "$1/stamp")'"},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
printf "\\$(printf %o ${#head})\0\0\0\0\0\0\0%s%s" "$head" "$(cat "$1/bytes")" > model.safetensors
)sh";

class SignProof : public DrillProgram {
 protected:
  void SetUp() override {
    Write("train.sh", kStampedTrainer);
    Write("bytes", "abcd");
    Write("stamp", "one");
    Write("ada.pem", Ed25519Pem(kAdaSeed));
    fs::permissions(At("ada.pem"), fs::perms(0600));
    Write("ada.pub", PublicPem(std::string(kEd25519Head) + kAdaPublic));
    Write("trust.yaml",
          "version: 1\nkeys: [{name: ada, owner: Ada, public_key: ada.pub}]\nrules: [{keys: "
          "[ada]}]\n");
  }
  void RecordOne(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> options = {"--weights", "model.safetensors", "--determinism",
                                        "bitwise"};
    options.insert(options.end(), more.begin(), more.end());
    Record(name, options);
  }
  // The record of `name` with another text in the place of one.
  void Forge(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = Read(At("runs/" + name + ".json"));
    const auto at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    Write("runs/" + name + ".json", text.replace(at, from.size(), to));
  }
  ProcessResult SignDrill() const { return Run({kRharness, "sign", "out", "--key", "ada.pem"}); }
  ProcessResult VerifyFiles(const std::string& folder) const {
    return Run({kRharness, "verify", "out/attestations", "--trust", "trust.yaml", "--artifacts",
                folder, "--reproduced"});
  }
  // An evil file of the same name in a folder; returns its SHA-256.
  std::string PutEvil() const {
    std::string evil = Read(At("model.safetensors"));
    evil.replace(evil.size() - 4, 4, "evil");
    fs::create_directory(At("registry"));
    Write("registry/model.safetensors", evil);
    return Sha256HexOf(evil);
  }
  std::vector<std::string> FindingsOf(const std::string& run_id) const {
    std::vector<std::string> codes;
    for (const ReportRun& run : StoredReport().runs) {
      if (run.run_id != run_id) continue;
      for (const Finding& finding : run.findings) codes.push_back(finding.code);
    }
    return codes;
  }
};

TEST_F(SignProof, AFileThatNoRerunWroteAndNobodyKeptIsNotSigned) {
  RecordOne("a");
  const std::string honest = Sha256HexOf(Read(At("model.safetensors")));
  Forge("a", honest, PutEvil());
  Add();
  EXPECT_EQ(Drill().outcome.exit_code, 0) << "its tensors are reproduced";
  EXPECT_THAT(FindingsOf("a"), Contains("file_unproven"));
  const ProcessResult signed_all = SignDrill();
  EXPECT_EQ(signed_all.outcome.exit_code, 0) << signed_all.stderr_text;
  EXPECT_THAT(signed_all.stderr_text, HasSubstr("a: model.safetensors is not signed"));
  EXPECT_EQ(VerifyFiles("registry").outcome.exit_code, 5);
  fs::copy(At("runs/a.json"), At("registry/a.json"));
  const ProcessResult beside = VerifyFiles("registry");
  EXPECT_EQ(beside.outcome.exit_code, 5) << "the manifest is signed, the file beside it is not";
  EXPECT_THAT(beside.stderr_text, HasSubstr("model.safetensors of run a is not signed"));
}

TEST_F(SignProof, AnEquivalentRunsFileIsSignedOnlyWhereItIsKept) {
  for (const std::string name : {"a", "b"}) {
    std::vector<std::string> options = {"--weights", "model.safetensors", "--determinism",
                                        "statistical"};
    if (name == "b") options.insert(options.end(), {"--keep", "kept"});
    Record(name, options);
  }
  Add();
  Write("bytes", "abce");
  Drill();  // two runs decide nothing; what is known of their files is the same
  EXPECT_THAT(FindingsOf("a"), Contains("file_unproven"));
  EXPECT_THAT(FindingsOf("b"), testing::Not(Contains("file_unproven")));
}

TEST_F(SignProof, AFileIsSignedThatARerunWrote) {
  RecordOne("a");
  const std::string model = Read(At("model.safetensors"));
  Add();
  EXPECT_EQ(Drill().outcome.exit_code, 0);
  EXPECT_THAT(FindingsOf("a"), testing::Not(Contains("file_unproven")));
  EXPECT_EQ(SignDrill().outcome.exit_code, 0);
  fs::create_directory(At("registry"));
  Write("registry/model.safetensors", model);
  EXPECT_EQ(VerifyFiles("registry").outcome.exit_code, 0);
}

TEST_F(SignProof, AFileOfOtherMetadataIsSignedWhereTheRecordedOneIsKept) {
  RecordOne("kept", {"--keep", "kept"});
  RecordOne("gone");
  const std::string model = Read(At("model.safetensors"));
  Add();
  Write("stamp", "two");
  EXPECT_EQ(Drill().outcome.exit_code, 0);
  EXPECT_THAT(FindingsOf("kept"), testing::Not(Contains("file_unproven")));
  EXPECT_THAT(FindingsOf("gone"), Contains("file_unproven"));
  EXPECT_EQ(SignDrill().outcome.exit_code, 0);
  fs::create_directory(At("registry"));
  Write("registry/model.safetensors", model);
  const auto verify = [&](const std::string& run) {
    return Run({kRharness, "verify", "out/attestations/" + run + ".verdict.intoto.jsonl", "--trust",
                "trust.yaml", "--artifacts", "registry"})
        .outcome.exit_code;
  };
  EXPECT_EQ(verify("kept"), 0);
  EXPECT_EQ(verify("gone"), 5);
}

TEST_F(SignProof, AKeptFileOfTheRecordedDigestWithOtherTensorsIsDamage) {
  RecordOne("a", {"--keep", "kept"});
  const std::string honest = Sha256HexOf(Read(At("model.safetensors")));
  Forge("a", honest, PutEvil());
  for (const auto& entry : fs::recursive_directory_iterator(At("kept"))) {
    if (entry.path().filename() != "model.safetensors") continue;
    fs::permissions(entry.path(), fs::perms::owner_write, fs::perm_options::add);
    Write(fs::relative(entry.path(), At("")).string(), Read(At("registry/model.safetensors")));
  }
  Add();
  const ProcessResult drilled = Drill();
  EXPECT_EQ(drilled.outcome.exit_code, 5) << drilled.stderr_text;
  EXPECT_THAT(FindingsOf("a"), Contains("file_unproven"));
}

TEST_F(SignProof, EvidenceOfAnotherManifestIsRefusedAndRerunWhenTheDrillIsResumed) {
  RecordOne("a");
  Add();
  EXPECT_EQ(Drill().outcome.exit_code, 0);
  EXPECT_EQ(EvidenceOf("a").manifest_sha256, Sha256HexOf(Read(At("runs/a.json"))));
  // The history as somebody could edit it: with a manifest of other weights.
  const std::string honest = Sha256HexOf(Read(At("model.safetensors")));
  Forge("a", honest, PutEvil());
  fs::remove(At("runs.db"));
  Add();
  fs::rename(At("out"), At("first"));
  EXPECT_EQ(Drill().outcome.exit_code, 0);
  fs::copy(At("first/runs/a/1/evidence.json"), At("out/runs/a/1/evidence.json"),
           fs::copy_options::overwrite_existing);
  EXPECT_EQ(SignDrill().outcome.exit_code, 5);
  EXPECT_FALSE(fs::exists(At("out/attestations")));
}

TEST_F(SignProof, AFolderOfStatementsIsVerifiedWithItsLinksPipesAndFolders) {
  RecordOne("a");
  RecordOne("b");
  Add();
  EXPECT_EQ(Drill().outcome.exit_code, 0);
  EXPECT_EQ(SignDrill().outcome.exit_code, 0);
  const auto verify = [&] {
    return Run({kRharness, "verify", "out/attestations", "--trust", "trust.yaml"})
        .outcome.exit_code;
  };
  const fs::path a = At("out/attestations/a.verdict.intoto.jsonl");
  const fs::path b = At("out/attestations/b.verdict.intoto.jsonl");
  EXPECT_EQ(verify(), 0);
  fs::rename(a, At("a.jsonl"));
  fs::create_symlink(At("a.jsonl"), a);
  EXPECT_EQ(verify(), 0) << "a link to a good statement is one";
  fs::remove(a);
  Write("bad.jsonl", "{}");
  fs::create_symlink(At("bad.jsonl"), a);
  EXPECT_EQ(verify(), 5);
  fs::remove(a);
  ASSERT_EQ(::mkfifo(a.c_str(), 0600), 0);
  EXPECT_NE(verify(), 0);
  fs::remove(a);
  fs::create_directory(a);
  EXPECT_NE(verify(), 0);
  fs::remove(a);
  fs::copy(b, a);
  EXPECT_EQ(verify(), 5) << "b's verdict under a's name";
  fs::remove(a);
  EXPECT_EQ(verify(), 0);
}

}  // namespace
}  // namespace rharness
