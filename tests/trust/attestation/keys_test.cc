// Keys against published vectors, and key files that are refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "harness/base/subprocess.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

// RFC 8032, section 7.1: TEST 1, 2 and 3.
struct Vector {
  const char* seed;
  const char* public_key;
  const char* message;
  const char* signature;
};
constexpr Vector kVectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9"
     "b46bd25bf5f0595bbe24655141438e7a100b"},
    {kAdaSeed, kAdaPublic, "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f1"
     "1d8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984d"
     "c6594a7c15e9716ed28dc027beceea1ec40a"}};

TEST(Keys, SignAndVerifyAsRfc8032Says) {
  const KeyFolder folder;
  for (const Vector& one : kVectors) {
    const auto signer = folder.Load(Ed25519Pem(one.seed));
    const std::string message = FromHex(one.message);
    const auto signature = signer->Sign(message);
    ASSERT_TRUE(signature.ok());
    EXPECT_EQ(*signature, FromHex(one.signature));
    const std::string der = std::string(kEd25519Head) + one.public_key;
    const auto key = PublicKey::FromPem(PublicPem(der), "k");
    ASSERT_TRUE(key.ok()) << key.error().ToString();
    EXPECT_TRUE(key->Verifies(message, *signature));
    EXPECT_EQ(key->id(), Sha256HexOf(FromHex(der)));
    EXPECT_EQ(key->id(), signer->public_key().id());
    EXPECT_EQ(key->algorithm(), "Ed25519");
    for (std::size_t i = 0; i < signature->size(); ++i) {
      std::string other = *signature;
      other[i] = static_cast<char>(other[i] ^ 1);
      EXPECT_FALSE(key->Verifies(message, other)) << i;
    }
    EXPECT_FALSE(key->Verifies(message + "x", *signature));
    EXPECT_FALSE(key->Verifies(message, *signature + '\0'));
    EXPECT_FALSE(key->Verifies(message, ""));
  }
}

TEST(Keys, OfP256SignInDerAndVerifyBothForms) {
  const AttestedWorld world;
  const auto key = PublicKey::FromPem(PublicPem(std::string(kP256Head) + kBobPublic), "bob");
  ASSERT_TRUE(key.ok()) << key.error().ToString();
  EXPECT_EQ(key->id(), world.bob->public_key().id());
  EXPECT_EQ(key->algorithm(), "ECDSA P-256");
  const auto signature = world.bob->Sign("hello");
  ASSERT_TRUE(signature.ok());
  EXPECT_TRUE(signature->starts_with('\x30'));
  EXPECT_TRUE(key->Verifies("hello", *signature));
  EXPECT_FALSE(key->Verifies("hellO", *signature));
  EXPECT_FALSE(key->Verifies("hello", *signature + "x"));
  EXPECT_FALSE(key->Verifies("hello", signature->substr(1)));
  EXPECT_FALSE(key->Verifies("hello", std::string(64, '\0')));
  EXPECT_FALSE(key->Verifies("hello", std::string(64, '\xff')));
  EXPECT_FALSE(world.ada->public_key().Verifies("hello", *signature));
}

// A compressed point, 02 or 03 and x, is the same key.
TEST(Keys, HaveOneIdHoweverTheyWereEncoded) {
  const std::string compressed =
      "3039301306072a8648ce3d020106082a8648ce3d03010703220002" + std::string(kBobPublic, 64);
  const auto key = PublicKey::FromPem(PublicPem(compressed), "bob");
  ASSERT_TRUE(key.ok()) << key.error().ToString();
  const auto other = PublicKey::FromPem(PublicPem(std::string(kP256Head) + kBobPublic), "bob");
  EXPECT_EQ(key->id(), other->id());
}

TEST(Keys, AreNoneOfAnotherKindOrWithAnythingElse) {
  const std::string good = PublicPem(std::string(kEd25519Head) + kAdaPublic);
  // X25519, and secp256k1's generator.
  const std::string x25519 = PublicPem("302a300506032b656e032100" + std::string(kAdaPublic));
  const std::string k1 = PublicPem(
      "3056301006072a8648ce3d020106052b8104000a03420004"
      "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
      "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8");
  const std::string off_curve = PublicPem(std::string(kP256Head) + std::string(126, '1') + "22");
  struct Case {
    std::string pem;
    const char* says;
  };
  for (const Case& one :
       std::vector<Case>{{"", "expected one PEM block"},
                         {"not a key", "expected one PEM block"},
                         {good + good, "expected one PEM block"},
                         {"# mine\n" + good, "expected one PEM block"},
                         {good + "-----BEGIN CERTIFICATE-----", "expected one PEM block"},
                         {Ed25519Pem(kAdaSeed), "a private key; expected the public one"},
                         {PublicPem("302a"), "is no public key"},
                         {x25519, "a key of X25519; expected Ed25519 or ECDSA over P-256"},
                         {k1, "a key of EC over secp256k1; expected Ed25519"},
                         {off_curve, "is no public key"},
                         {"-----BEGIN PUBLIC KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: "
                          "AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\nMCowBQYDK2Vw\n-----END "
                          "PUBLIC KEY-----",
                          "is no public key"}}) {
    const auto key = PublicKey::FromPem(one.pem, "k.pub");
    ASSERT_FALSE(key.ok()) << one.pem;
    EXPECT_EQ(key.error().code, ErrorCode::kInvalidInput);
    EXPECT_THAT(key.error().message, HasSubstr(one.says));
    EXPECT_EQ(key.error().where, "k.pub");
  }
}

std::string LoadError(const std::filesystem::path& key, const std::filesystem::path& phrase = {}) {
  const auto signer = LoadPemSigner(key, phrase);
  return signer.ok() ? "loaded" : signer.error().ToString();
}

TEST(Keys, InFilesThatOthersMayReadAreRefused) {
  const KeyFolder folder;
  for (const int mode : {0640, 0604, 0660, 0644, 0610}) {
    const auto path = folder.Put("open.pem", Ed25519Pem(kAdaSeed), mode);
    EXPECT_THAT(LoadError(path), HasSubstr("open.pem: others may read it; chmod 600")) << mode;
  }
  EXPECT_EQ(LoadError(folder.Put("mine.pem", Ed25519Pem(kAdaSeed), 0400)), "loaded");
  EXPECT_THAT(LoadError(folder.At("none.pem")), HasSubstr("none.pem"));
  EXPECT_THAT(LoadError(folder.At("")), HasSubstr("is a folder"));
  EXPECT_THAT(LoadError(folder.Put("empty", "")), HasSubstr("holds no private key in PEM"));
  EXPECT_THAT(LoadError(folder.Put("public", PublicPem(std::string(kEd25519Head) + kAdaPublic))),
              HasSubstr("holds no private key in PEM"));
  EXPECT_THAT(LoadError(folder.Put("large", std::string(100'000, 'x'))), HasSubstr("large"));
}

// Runs openssl, where it is installed; the files that it makes are the folder's.
class OpenSslKeys : public testing::Test {
 protected:
  std::filesystem::path Make(const std::string& name, std::vector<std::string> options) const {
    std::vector<std::string> argv = {"openssl", "genpkey", "-out", folder_.At(name)};
    argv.insert(argv.end(), options.begin(), options.end());
    const ProcessResult result = RunProcess({argv, PickEnvironment({"PATH"}), "/"}, {});
    made_ = result.outcome.Succeeded();
    if (made_) std::filesystem::permissions(folder_.At(name), std::filesystem::perms(0600));
    return folder_.At(name);
  }

  KeyFolder folder_;
  mutable bool made_ = false;
};

TEST_F(OpenSslKeys, OpenWithTheirPassphraseAlone) {
  const auto key =
      Make("locked.pem", {"-algorithm", "ed25519", "-aes256", "-pass", "pass:correct horse"});
  if (!made_) GTEST_SKIP() << "no openssl here";
  EXPECT_THAT(LoadError(key), HasSubstr("the key is encrypted; expected --passphrase-file"));
  EXPECT_THAT(LoadError(key, folder_.Put("wrong", "battery staple\n")),
              HasSubstr("the passphrase does not open the key"));
  EXPECT_THAT(LoadError(key, folder_.Put("long", std::string(5'000, 'x'))),
              HasSubstr("the passphrase does not open the key"));
  EXPECT_THAT(LoadError(key, folder_.Put("open", "correct horse\n", 0644)),
              HasSubstr("open: others may read it; chmod 600 keeps the passphrase to you"));
  const auto phrase = folder_.Put("phrase", "correct horse\nsecond line\n");
  EXPECT_EQ(LoadError(key, phrase), "loaded");
  const auto plain = folder_.Put("plain.pem", Ed25519Pem(kAdaSeed));
  EXPECT_THAT(LoadError(plain, phrase), HasSubstr("the key is not encrypted"));
  EXPECT_THAT(LoadError(key) + LoadError(key, folder_.At("wrong")), Not(HasSubstr("horse")));
}

TEST_F(OpenSslKeys, OfOtherAlgorithmsAreRefusedByName) {
  struct Case {
    std::vector<std::string> options;
    const char* says;
  };
  for (const Case& one : std::vector<Case>{
           {{"-algorithm", "RSA"}, "a key of RSA; expected Ed25519 or ECDSA over P-256"},
           {{"-algorithm", "ed448"}, "a key of ED448; expected Ed25519 or ECDSA over P-256"},
           {{"-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"},
            "a key of EC over secp384r1; expected Ed25519 or ECDSA over P-256"}}) {
    const auto key = Make("other.pem", one.options);
    if (!made_) GTEST_SKIP() << "no openssl here";
    EXPECT_THAT(LoadError(key), HasSubstr(one.says));
  }
  const auto key = Make("p256.pem", {"-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"});
  EXPECT_EQ(LoadError(key), "loaded");
}

}  // namespace
}  // namespace rharness
