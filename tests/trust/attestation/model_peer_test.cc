// Models, held to the real model-signing of PyPI, both ways.
//
// RHARNESS_PEERS names the folder that `./dev peers` made; without it these tests say so and are
// skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/base/subprocess.h"
#include "harness/trust/attestation/attest_model.h"
#include "harness/trust/attestation/held_subjects.h"
#include "harness/trust/attestation/verification.h"
#include "tests/trust/attestation/attested.h"
#include "tests/trust/attestation/model_bundles.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ModelSigning : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("RHARNESS_PEERS");
    if (folder == nullptr) {
      GTEST_SKIP() << "./dev peers installs model-signing; set RHARNESS_PEERS to its folder";
    }
    program_ = fs::path(folder) / "venv/bin/model_signing";
    ASSERT_TRUE(fs::exists(program_)) << program_ << "; ./dev peers installs it";
    Put("bob.pem", P256Pem(kBobScalar));
    Put("bob.pub", world_.bob->public_key().Pem());
    Put("eve.pub", world_.eve->public_key().Pem());
    WriteTinyModel(folder_.path());
    Put("trust.yaml",
        "version: 1\nkeys:\n  - {name: bob, owner: Bob, public_key: bob.pub}\n"
        "rules:\n  - keys: [bob]\n");
  }
  fs::path At(const std::string& name) const { return folder_.path() / name; }
  void Put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(At(name), text).ok());
  }
  ProcessResult Theirs(std::vector<std::string> words) const {
    ProcessSpec spec;
    spec.argv = {program_.string()};
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
    spec.working_directory = folder_.path();
    spec.environment = PickEnvironment({"PATH"});
    spec.environment["HOME"] = folder_.path().string();
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(2);
    return RunProcess(spec, limits);
  }
  ProcessResult TheyVerify(const std::string& model, const std::string& signature,
                           const std::string& key = "bob.pub") const {
    return Theirs({"verify", "key", model, "--signature", signature, "--public_key", key});
  }
  // "held N", or the error.
  std::string WeHold(const std::string& signature, const std::string& model) const {
    const auto policy = LoadTrustPolicy(At("trust.yaml"));
    const auto verified = VerifyFile(At(signature), *policy, world_.now);
    if (!verified.ok()) return verified.error().ToString();
    const auto held = HoldToFiles(verified->statements.at(0), At(model));
    return held.ok() ? "held " + std::to_string(held->held) : held.error().ToString();
  }

  AttestedWorld world_;
  ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-model-signing-");
  fs::path program_;
};

TEST_F(ModelSigning, VerifiesWhatWeSign) {
  ASSERT_TRUE(AttestModel(At("tiny"), {}, world_.bob.get()).ok());
  ASSERT_TRUE(AttestModel(At("tiny/model.safetensors"), folder_.path(), world_.bob.get()).ok());
  const ProcessResult folder = TheyVerify("tiny", "tiny.sigstore.json");
  EXPECT_EQ(folder.outcome.exit_code, 0) << folder.stdout_text << folder.stderr_text;
  EXPECT_THAT(folder.stdout_text, HasSubstr("Verification succeeded"));
  const ProcessResult file =
      TheyVerify("tiny/model.safetensors", "model.safetensors.sigstore.json");
  EXPECT_EQ(file.outcome.exit_code, 0) << file.stdout_text << file.stderr_text;
  EXPECT_NE(TheyVerify("tiny", "tiny.sigstore.json", "eve.pub").outcome.exit_code, 0);
  // In the model itself, which then ignores it.
  ASSERT_TRUE(AttestModel(At("tiny"), At("tiny"), world_.bob.get()).ok());
  Put("tiny/.git/HEAD", "ref");
  EXPECT_EQ(TheyVerify("tiny", "tiny/tiny.sigstore.json").outcome.exit_code, 0);
  Put("tiny/a.b", "z");
  const ProcessResult changed = TheyVerify("tiny", "tiny/tiny.sigstore.json");
  EXPECT_NE(changed.outcome.exit_code, 0);
  EXPECT_THAT(changed.stdout_text + changed.stderr_text, HasSubstr("Hash mismatch for 'a.b'"));
}

TEST_F(ModelSigning, IsVerifiedByUs) {
  const auto sign = [&](const std::string& signature, std::vector<std::string> more) {
    std::vector<std::string> words = {"sign",    "key",         "tiny",   "--private_key",
                                      "bob.pem", "--signature", signature};
    words.insert(words.end(), more.begin(), more.end());
    const ProcessResult result = Theirs(words);
    EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  };
  sign("tiny/model.sig", {});
  EXPECT_EQ(WeHold("tiny/model.sig", "tiny"), "held 4");
  Put("tiny/logs/1", "log");
  EXPECT_THAT(WeHold("tiny/model.sig", "tiny"), HasSubstr("tiny/logs/1: is none of the signed"));
  sign("ignored.sig", {"--ignore-paths", "tiny/logs", "--ignore-paths", "tiny/model.sig"});
  EXPECT_EQ(WeHold("ignored.sig", "tiny"), "held 4");
  fs::remove_all(At("tiny/logs"));
  fs::remove(At("tiny/model.sig"));
  fs::create_symlink("a/z", At("tiny/link"));
  fs::create_symlink("a", At("tiny/more"));
  sign("links.sig", {"--allow_symlinks"});
  EXPECT_EQ(WeHold("links.sig", "tiny"), "held 5");
  Put("tiny/a/z", "other");
  EXPECT_THAT(WeHold("links.sig", "tiny"), HasSubstr("tiny/a/z: has sha256 "));
}

}  // namespace
}  // namespace rharness
