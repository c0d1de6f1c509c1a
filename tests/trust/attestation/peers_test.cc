// Envelopes and statements, held to the real securesystemslib and in-toto-attestation, both ways.
//
// RHARNESS_PEERS names the folder that `./dev peers` made; without it these tests say so and are
// skipped.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/base/subprocess.h"
#include "harness/trust/attestation/verification.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class AttestationPeers : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("RHARNESS_PEERS");
    if (folder == nullptr) {
      GTEST_SKIP() << "./dev peers installs securesystemslib and in-toto-attestation; set "
                      "RHARNESS_PEERS to their folder";
    }
    python_ = fs::path(folder) / "venv/bin/python";
  }
  fs::path Put(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(WriteFileAtomic(folder_.path() / name, text).ok());
    return folder_.path() / name;
  }
  ProcessResult Script(const std::string& name, const std::vector<std::string>& words) const {
    ProcessSpec spec;
    spec.argv = {python_, RHARNESS_SOURCE_DIR "/tests/trust/attestation/peers/" + name};
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
    spec.working_directory = folder_.path();
    spec.environment = PickEnvironment({"PATH"});
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(2);
    return RunProcess(spec, limits);
  }
  std::string KeyOf(const Signer& signer, const std::string& pem) const {
    const std::string& id = signer.public_key().id();
    return id + "=" + Put(id + ".pub", pem).string();
  }

  AttestedWorld world_;
  ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-attestation-peers-");
  fs::path python_;
};

TEST_F(AttestationPeers, OursIsVerifiedByTheirs) {
  const std::string ada = KeyOf(*world_.ada, PublicPem(std::string(kEd25519Head) + kAdaPublic));
  const std::string bob = KeyOf(*world_.bob, PublicPem(std::string(kP256Head) + kBobPublic));
  SignedEnvelope envelope = world_.Signed({world_.ada.get(), world_.bob.get()});
  const std::string file = Put("ours.intoto.jsonl", WriteEnvelope(envelope) + "\n");
  const ProcessResult both = Script("check.py", {file, "2", ada, bob});
  EXPECT_EQ(both.stdout_text, "mlp-1 drifted 3 2\n") << both.stderr_text;
  envelope.payload.back() = ' ';
  Put("ours.intoto.jsonl", WriteEnvelope(envelope) + "\n");
  const ProcessResult tampered = Script("check.py", {file, "1", ada, bob});
  EXPECT_NE(tampered.outcome.exit_code, 0);
  EXPECT_THAT(tampered.stderr_text, HasSubstr("VerificationError"));
}

TEST_F(AttestationPeers, TheirsIsVerifiedByOurs) {
  Put("ours.json", world_.Signed({}).payload);
  const ProcessResult made = Script("sign.py", {folder_.path()});
  ASSERT_EQ(made.outcome.exit_code, 0) << made.stderr_text;
  for (const std::string kind : {"ed25519", "p256"}) {
    const auto policy = LoadTrustPolicy(
        Put(kind + ".yaml", fmt::format("version: 1\nkeys:\n  - {{name: them, owner: They, "
                                        "public_key: {}.pub}}\nrules:\n  - keys: [them]\n",
                                        kind)));
    ASSERT_TRUE(policy.ok()) << policy.error().ToString();
    const fs::path file = folder_.path() / fmt::format("theirs-{}.intoto.jsonl", kind);
    const auto verified = VerifyFile(file, *policy, world_.now);
    ASSERT_TRUE(verified.ok()) << verified.error().ToString();
    ASSERT_EQ(verified->statements.size(), 1U);
    EXPECT_EQ(verified->statements[0].signed_by[0].name, "them");
    EXPECT_EQ(ToJson(VerdictStatement(*verified->statements[0].verdict())).Dump(),
              world_.Signed({}).payload);
    const auto others = VerifyFile(file, world_.Policy(), world_.now);
    ASSERT_FALSE(others.ok());
    EXPECT_THAT(others.error().message, HasSubstr("no key of the policy has signed this"));
  }
}

}  // namespace
}  // namespace rharness
