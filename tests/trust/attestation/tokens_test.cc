// Keys on a token of SoftHSM: found by URI, and signatures that the public half verifies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/open_signer.h"
#include "tests/trust/attestation/attested.h"
#include "tests/trust/attestation/soft_token.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Tokens : public testing::Test {
 protected:
  void SetUp() override {
    if (!SoftToken::CanBeMade()) GTEST_SKIP() << SoftToken::kMissing;
    token_.emplace(folder_.At("tokens"));
    ::setenv("SOFTHSM2_CONF", token_->configuration().c_str(), 1);
    pin_ = token_->pin_file();
  }
  void TearDown() override { ::unsetenv("SOFTHSM2_CONF"); }

  bool Make(const std::string& type, const std::string& label, const std::string& id) const {
    return token_->Make(type, label, id);
  }
  std::string Uri(const std::string& path, const std::string& query = "") const {
    return token_->Uri(path, query);
  }
  Result<std::unique_ptr<Signer>> Open(const std::string& uri, const std::string& variable = "") {
    return OpenSigner(uri, SignerPlace{.variable = [variable](const char* name) {
                        return std::string_view(name) == "RHARNESS_PKCS11_PIN_FILE" ? variable
                                                                                    : std::string();
                      }});
  }
  std::string OpenError(const std::string& uri, const std::string& variable = "") {
    const auto signer = Open(uri, variable);
    if (signer.ok()) return "opened";
    EXPECT_THAT(signer.error().ToString(), Not(HasSubstr("648219")));
    return std::string(ErrorCodeName(signer.error().code)) + " " + signer.error().ToString();
  }
  void ExpectSigns(const std::string& uri, const std::string& algorithm, std::size_t repeats) {
    const auto signer = Open(uri);
    ASSERT_TRUE(signer.ok()) << signer.error().ToString();
    EXPECT_EQ((*signer)->public_key().algorithm(), algorithm);
    // What anybody else verifies: the public half as PEM, read again.
    const auto key = PublicKey::FromPem((*signer)->public_key().Pem(), "pem");
    ASSERT_TRUE(key.ok()) << key.error().ToString();
    EXPECT_EQ(key->id(), (*signer)->public_key().id());
    for (std::size_t i = 0; i < repeats; ++i) {
      SignedEnvelope envelope{.payload_type = "text/plain", .payload = std::to_string(i)};
      const Status done = SignEnvelope(signer->get(), &envelope);
      ASSERT_TRUE(done.ok()) << done.error().ToString();
      EXPECT_TRUE(IsSignedBy(envelope, *key));
    }
  }

  KeyFolder folder_;
  std::optional<SoftToken> token_;
  fs::path pin_;
};

// r and s begin with zeros, or with a high bit, once in a while: both change their length in DER.
TEST_F(Tokens, SignWithP256InDer) {
  ASSERT_TRUE(Make("EC:prime256v1", "signing", "01"));
  ExpectSigns(Uri("token=lab;object=signing"), "ECDSA P-256", 64);
  ExpectSigns(Uri("token=lab;id=%01"), "ECDSA P-256", 1);
  const auto signer = Open(Uri("token=lab;object=signing"));
  const auto signature = (*signer)->Sign("hello");
  ASSERT_TRUE(signature.ok());
  EXPECT_TRUE(signature->starts_with('\x30'));
}

TEST_F(Tokens, SignWithEd25519) {
  if (!Make("EC:edwards25519", "ed", "02")) GTEST_SKIP() << "this SoftHSM has no Ed25519";
  ExpectSigns(Uri("token=lab;object=ed"), "Ed25519", 2);
}

TEST_F(Tokens, TakeTheirPinFromAFileAlone) {
  ASSERT_TRUE(Make("EC:prime256v1", "signing", "01"));
  const std::string path = "token=lab;object=signing";
  EXPECT_EQ(OpenError(Uri(path)), "opened");
  EXPECT_EQ(OpenError(Uri(path, "&"), pin_.string()), "opened");
  EXPECT_THAT(OpenError(Uri(path, "&pin-value=648219")),
              HasSubstr("invalid_input pkcs11:token=lab;object=signing: holds a PIN (pin-value)"));
  EXPECT_THAT(OpenError(Uri(path, "&pin-source=%7Ccat%20pin")), HasSubstr("is no file"));
  const auto open = folder_.Put("open", "648219\n", 0644);
  EXPECT_THAT(OpenError(Uri(path, "&pin-source=file:" + open.string())),
              HasSubstr("others may read it; chmod 600 keeps the PIN to you"));
  const auto wrong = folder_.Put("wrong", "000000\n");
  EXPECT_THAT(OpenError(Uri(path, "&pin-source=file:" + wrong.string())),
              HasSubstr("the token refuses the PIN, which was tried once"));
  EXPECT_THAT(OpenError(Uri(path, "&")), HasSubstr("without its PIN it shows none"));
  EXPECT_THAT(OpenError(Uri(path, "&pin-source=file:/nowhere/pin")), HasSubstr("/nowhere/pin"));
}

TEST_F(Tokens, AreNamedExactlyOrRefused) {
  ASSERT_TRUE(Make("EC:prime256v1", "signing", "01"));
  ASSERT_TRUE(Make("EC:prime256v1", "signing", "02"));
  ASSERT_TRUE(Make("EC:secp384r1", "large", "03"));
  ASSERT_TRUE(Make("rsa:2048", "rsa", "04"));
  EXPECT_THAT(
      OpenError(Uri("token=lab;object=signing")),
      HasSubstr("invalid_input pkcs11:token=lab;object=signing: the token has more than one"));
  EXPECT_EQ(OpenError(Uri("token=lab;object=signing;id=%02")), "opened");
  EXPECT_THAT(OpenError(Uri("token=lab;object=none")), HasSubstr("not_found"));
  EXPECT_THAT(OpenError(Uri("token=other;object=signing")),
              HasSubstr("no token is the one that is meant; there are 'lab'"));
  EXPECT_THAT(OpenError(Uri("token=lab;object=large")), HasSubstr("expected Ed25519 or ECDSA"));
  EXPECT_THAT(OpenError(Uri("token=lab;object=rsa")), HasSubstr("unsupported"));
  EXPECT_THAT(OpenError(Uri("token=lab;object=signing;type=public")), HasSubstr("something else"));
  EXPECT_THAT(OpenError("pkcs11:token=%zz"), HasSubstr("is no URI of PKCS#11"));
  EXPECT_THAT(OpenError("pkcs11:token=lab;weather=fine"), HasSubstr("not known"));
  EXPECT_THAT(OpenError("pkcs11:token=lab?module-path=/nowhere.so"), HasSubstr("/nowhere.so"));
}

}  // namespace
}  // namespace rharness
