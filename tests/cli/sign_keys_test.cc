// sign with keys on a token of SoftHSM and in Vault's transit engine, of a scripted server: what
// the program says, how it ends, and that nothing is written that was not signed.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/base/base64.h"
#include "harness/trust/attestation/attest_model.h"
#include "harness/trust/attestation/model_bundle.h"
#include "tests/cli/drill_program.h"
#include "tests/execution/fetch/scripted_server.h"
#include "tests/trust/attestation/attested.h"
#include "tests/trust/attestation/model_bundles.h"
#include "tests/trust/attestation/soft_token.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kToken[] = "hvs.only-for-this-test";

// The model "tiny", and a policy that trusts the key of "key.pub".
class AttestKeys : public DrillProgram {
 protected:
  void SetUp() override {
    WriteTinyModel(At(""));
    Write("trust.yaml",
          "version: 1\nkeys:\n  - {name: lab, owner: Lab, public_key: key.pub}\n"
          "rules:\n  - keys: [lab]\n");
  }
  ProcessResult Sign(const std::string& key, std::vector<std::string> options = {}) const {
    std::vector<std::string> argv = {kRharness, "sign", "tiny", "--model", "--key", key};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  bool Written() const { return fs::exists(At("tiny.sigstore.json")); }
  // Nothing is called signed, nothing is there, and nobody's secret is told.
  void ExpectRefused(const ProcessResult& result, int exit_code, const std::string& says) const {
    EXPECT_EQ(result.outcome.exit_code, exit_code) << result.stderr_text;
    EXPECT_THAT(result.stderr_text, HasSubstr(says));
    EXPECT_EQ(result.stdout_text, "");
    EXPECT_THAT(result.stderr_text, Not(HasSubstr(SoftToken::kPin)));
    EXPECT_THAT(result.stderr_text, Not(HasSubstr(kToken)));
    EXPECT_FALSE(Written());
    EXPECT_FALSE(fs::exists(At("trust.yaml.intoto.jsonl")));
  }
  void ExpectVerified() const {
    const ProcessResult good = Run({kRharness, "verify", "tiny.sigstore.json", "--trust",
                                    "trust.yaml", "--artifacts", "tiny"});
    EXPECT_EQ(good.outcome.exit_code, 0) << good.stderr_text;
    EXPECT_THAT(good.stdout_text, HasSubstr("signed by lab (Lab)"));
    EXPECT_THAT(good.stdout_text, HasSubstr("4 of its files looked at, as signed"));
  }
};

// With a key in a file.
class AttestModels : public AttestKeys {
 protected:
  void SetUp() override {
    AttestKeys::SetUp();
    Secret("bob.pem", P256Pem(kBobScalar));
    Secret("ada.pem", Ed25519Pem(kAdaSeed));
    Write("key.pub", PublicPem(std::string(kP256Head) + kBobPublic));
  }
  void Secret(const std::string& name, const std::string& text) const {
    Write(name, text);
    fs::permissions(At(name), fs::perms(0600));
  }
};

TEST_F(AttestModels, AreSignedWithTheirTensorsAndVerified) {
  const ProcessResult made = Sign("bob.pem", {"--json"});
  ASSERT_EQ(made.outcome.exit_code, 0) << made.stderr_text;
  const auto said = ParseJson(made.stdout_text, "stdout");
  ASSERT_TRUE(said.ok());
  EXPECT_EQ(said->Find("schema")->AsString(), "rharness.sign/v1");
  EXPECT_EQ(said->Find("model")->AsString(), "tiny");
  EXPECT_EQ(said->Find("sha256")->AsString(), kTinyRoot);
  EXPECT_EQ(said->Find("state")->AsString(), "written");
  ExpectVerified();
  EXPECT_THAT(Sign("bob.pem").stdout_text, HasSubstr(": unchanged"));
  // What `hash` prints of the tensors is what is signed of them.
  const ProcessResult hash = Run({kRharness, "hash", "tiny/model.safetensors"});
  const std::string digest = said->Find("tensors")->Find("sha256")->AsString();
  EXPECT_THAT(hash.stdout_text, HasSubstr("# " + digest));
  Write("copy.safetensors", OneTensorFile("abcd"));
  const std::vector<std::string> verify = {kRharness,   "verify",          "tiny.sigstore.json",
                                           "--trust",   "trust.yaml",      "--json",
                                           "--tensors", "copy.safetensors"};
  const ProcessResult held = Run(verify);
  EXPECT_EQ(held.outcome.exit_code, 0) << held.stderr_text;
  EXPECT_THAT(held.stdout_text, HasSubstr(digest));
  EXPECT_THAT(held.stdout_text, HasSubstr("https://model_signing/signature/v1.0"));
  Write("copy.safetensors", OneTensorFile("abce"));
  EXPECT_EQ(Run(verify).outcome.exit_code, 5);
  // Found in a folder, too.
  fs::remove(At("trust.yaml.intoto.jsonl"));
  const ProcessResult folder = Run({kRharness, "verify", ".", "--trust", "trust.yaml"});
  EXPECT_EQ(folder.outcome.exit_code, 0) << folder.stderr_text;
  EXPECT_THAT(folder.stdout_text, HasSubstr("tiny.sigstore.json: model 'tiny' of 4 files"));
}

TEST_F(AttestModels, AreRefusedWhereOthersCouldNotVerifyThem) {
  ExpectRefused(Sign("ada.pem"), 2, "a key of Ed25519; models are signed with ECDSA P-256");
  ExpectRefused(Sign("bob.pem", {"--reason", "good"}), 2, "--reason is for a file");
  ExpectRefused(Sign("bob.pem", {"--history", "runs.db"}), 2, "--history");
  Write("tiny/model.safetensors", "no weights");
  ExpectRefused(Sign("bob.pem"), 2, "tiny");
  ExpectRefused(Run({kRharness, "sign", "none", "--model", "--key", "bob.pem"}), 2, "none");
  Write("tiny.sigstore.json", "{}");
  const ProcessResult taken = Run({kRharness, "sign", "tiny", "--model", "--key", "bob.pem"});
  EXPECT_EQ(taken.outcome.exit_code, 2);
  EXPECT_EQ(Read(At("tiny.sigstore.json")), "{}");
}

class AttestTokens : public AttestKeys {
 protected:
  void SetUp() override {
    if (!SoftToken::CanBeMade()) GTEST_SKIP() << SoftToken::kMissing;
    AttestKeys::SetUp();
    token_.emplace(At("token"));
    environment_["SOFTHSM2_CONF"] = token_->configuration();
    ASSERT_TRUE(token_->Make("EC:prime256v1", "signing", "01"));
  }
  std::optional<SoftToken> token_;
};

TEST_F(AttestTokens, SignWithAKeyThatNeverLeavesThem) {
  ASSERT_TRUE(token_->ExportPublicPem("01", At("key.pub")));
  const ProcessResult made = Sign(token_->Uri("token=lab;object=signing"));
  EXPECT_EQ(made.outcome.exit_code, 0) << made.stderr_text;
  EXPECT_THAT(made.stdout_text,
              HasSubstr("tiny.sigstore.json: model 'tiny' of 4 files and 1 tensor: written"));
  ExpectVerified();
  // A file, and the PIN by the variable.
  environment_["RHARNESS_PKCS11_PIN_FILE"] = token_->pin_file().string();
  const ProcessResult file =
      Run({kRharness, "sign", "trust.yaml", "--key", token_->Uri("token=lab;id=%01", "&")});
  EXPECT_EQ(file.outcome.exit_code, 0) << file.stderr_text;
  EXPECT_EQ(Run({kRharness, "verify", "trust.yaml.intoto.jsonl", "--trust", "trust.yaml",
                 "--artifacts", "trust.yaml"})
                .outcome.exit_code,
            0);
}

TEST_F(AttestTokens, ThatAreNotTheOnesThatAreMeantSignNothing) {
  ASSERT_TRUE(token_->Make("EC:secp384r1", "large", "03"));
  ASSERT_TRUE(token_->Make("rsa:2048", "rsa", "04"));
  const std::string path = "token=lab;object=signing";
  ExpectRefused(Sign(token_->Uri(path, "&pin-value=648219")), 2, "holds a PIN (pin-value)");
  Write("wrong", "000000\n");
  fs::permissions(At("wrong"), fs::perms(0600));
  ExpectRefused(Sign(token_->Uri(path, "&pin-source=file:" + At("wrong").string())), 2,
                "the token refuses the PIN, which was tried once");
  Write("open", "648219\n");
  fs::permissions(At("open"), fs::perms(0644));
  ExpectRefused(Sign(token_->Uri(path, "&pin-source=file:" + At("open").string())), 2,
                "others may read it; chmod 600 keeps the PIN to you");
  ExpectRefused(Sign(token_->Uri(path, "&")), 2, "without its PIN it shows none");
  ExpectRefused(Sign(token_->Uri("token=lab;object=none")), 2, "the token has no private key");
  ExpectRefused(Sign(token_->Uri("token=other;object=signing")), 2, "there are 'lab'");
  ExpectRefused(Sign(token_->Uri("token=lab;object=large")), 2, "expected Ed25519 or ECDSA");
  ExpectRefused(Sign(token_->Uri("token=lab;object=rsa")), 2, "the key is of another kind");
  ExpectRefused(Sign("pkcs11:token=lab?module-path=/nowhere.so"), 2, "/nowhere.so");
  ExpectRefused(Sign("pkcs11:token=%zz"), 2, "is no URI of PKCS#11");
  ExpectRefused(Sign(token_->Uri(path), {"--passphrase-file", "wrong"}), 2,
                "--passphrase-file opens a PEM file");
}

std::string Answer(int status, const std::string& body) {
  return fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status,
                     body.size(), body);
}

// What the server says of Bob's key, and what it answers to the bytes of the model's statement.
class AttestVault : public AttestKeys {
 protected:
  void SetUp() override {
    AttestKeys::SetUp();
    Write("token", std::string(kToken) + "\n");
    fs::permissions(At("token"), fs::perms(0600));
    environment_["VAULT_TOKEN_FILE"] = At("token").string();
    environment_["VAULT_CLIENT_TIMEOUT"] = "1";
    environment_["VAULT_MAX_RETRIES"] = "0";
    Write("key.pub", world_.bob->public_key().Pem());
  }
  // The bytes that are to be signed, by what the same statement is in this process.
  std::string ToSign() const {
    const auto attested = AttestModel(At("tiny"), At("elsewhere"), world_.bob.get());
    EXPECT_TRUE(attested.ok()) << attested.error().ToString();
    const auto json = ReadJsonFile(At("elsewhere/tiny.sigstore.json"));
    const auto bundle = ReadBundle(*json, "b");
    return PreAuthEncoding(bundle->envelope.payload_type, bundle->envelope.payload);
  }
  static std::string Signed(const std::string& signature, int version = 1) {
    return Answer(200, fmt::format(R"({{"data":{{"signature":"vault:v{}:{}"}}}})", version,
                                   ToBase64Text(signature)));
  }
  std::string Key(const std::string& type = "ecdsa-p256") const {
    const Json versions = Json::MakeObject(
        {{"1", Json::MakeObject({{"public_key", world_.bob->public_key().Pem()}})}});
    return Answer(
        200, Json::MakeObject(
                 {{"data",
                   Json::MakeObject({{"type", type}, {"latest_version", 1}, {"keys", versions}})}})
                 .Dump());
  }
  ProcessResult Ask(const std::string& key, const std::string& signature) {
    const ScriptedServer server(
        [=](const std::string& request) { return request.starts_with("GET ") ? key : signature; });
    environment_["VAULT_ADDR"] = server.url();
    return Sign("vault:transit/lab");
  }

  AttestedWorld world_;
};

TEST_F(AttestVault, SignsAndOthersVerifyIt) {
  const ProcessResult made = Ask(Key(), Signed(*world_.bob->Sign(ToSign())));
  EXPECT_EQ(made.outcome.exit_code, 0) << made.stderr_text;
  EXPECT_THAT(made.stdout_text, HasSubstr("model 'tiny' of 4 files and 1 tensor: written"));
  ExpectVerified();
}

TEST_F(AttestVault, ThatIsSealedSlowOrWrongSignsNothing) {
  const std::string bytes = ToSign();
  const std::string good = Signed(*world_.bob->Sign(bytes));
  const std::string sealed = Answer(503, R"({"errors":["Vault is sealed"]})");
  ExpectRefused(Ask(sealed, good), 4, "Vault is sealed");
  ExpectRefused(Ask(Key(), sealed), 4, "Vault is sealed");
  ExpectRefused(Ask("", good), 4, "/v1/transit/keys/lab");
  ExpectRefused(Ask(Key(), ""), 4, "/v1/transit/sign/lab/sha2-256");
  ExpectRefused(Ask(Answer(403, R"({"errors":["permission denied"]})"), good), 2,
                "permission denied");
  ExpectRefused(Ask(Answer(404, R"({"errors":[]})"), good), 2, "/v1/transit/keys/lab");
  ExpectRefused(Ask(Answer(200, "<html>proxy</html>"), good), 2, "no JSON");
  ExpectRefused(Ask(Key("rsa-2048"), good), 2, "a key of type 'rsa-2048'; expected ecdsa-p256");
  // Of another key, of other bytes, of another version, and none at all.
  const std::string none = "nothing is signed";
  ExpectRefused(Ask(Key(), Signed(*world_.eve->Sign(bytes))), 5, none);
  ExpectRefused(Ask(Key(), Signed(*world_.bob->Sign(bytes + " "))), 5, none);
  ExpectRefused(Ask(Key(), Signed(*world_.bob->Sign(bytes), 2)), 5,
                "expected a signature of version 1");
  ExpectRefused(Ask(Key(), Signed("signature")), 5, none);
  ExpectRefused(Ask(Key(), Answer(200, R"({"data":{"signature":""}})")), 5,
                "expected a signature of version 1");
}

TEST_F(AttestVault, IsNotAskedWithoutAnAddressAndATokenOfItsOwner) {
  const auto refused = [&](const std::string& says) {
    ExpectRefused(Sign("vault:transit/lab"), 2, says);
  };
  refused("expected Vault's address in VAULT_ADDR");
  environment_["VAULT_ADDR"] = "http://vault.example:8200";
  refused("unencrypted; expected https");
  environment_["VAULT_ADDR"] = "http://127.0.0.1:9";
  environment_["VAULT_CLIENT_TIMEOUT"] = "soon";
  refused("VAULT_CLIENT_TIMEOUT: 'soon'; expected a number");
  environment_["VAULT_CLIENT_TIMEOUT"] = "1s";
  environment_["VAULT_TOKEN_FILE"] = "";
  environment_["VAULT_TOKEN"] = kToken;
  refused("VAULT_TOKEN is not read");
  Write(".vault-token", kToken);
  fs::permissions(At(".vault-token"), fs::perms(0640));
  refused(".vault-token: others may read it");
  fs::permissions(At(".vault-token"), fs::perms(0600));
  ExpectRefused(Sign("vault:lab"), 2, "expected vault:MOUNT/KEY");
  // Nobody listens there.
  ExpectRefused(Sign("vault:transit/lab"), 4, "127.0.0.1:9");
}

}  // namespace
}  // namespace rharness
