// Base 64 and envelopes against published vectors, and what is no envelope.
#include "harness/trust/attestation/envelope.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/base64.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

using testing::HasSubstr;

TEST(Base64, IsThatOfRfc4648) {
  struct Case {
    const char* bytes;
    const char* text;
  };
  for (const Case& one : std::initializer_list<Case>{{"", ""},
                                                     {"f", "Zg=="},
                                                     {"fo", "Zm8="},
                                                     {"foo", "Zm9v"},
                                                     {"foob", "Zm9vYg=="},
                                                     {"fooba", "Zm9vYmE="},
                                                     {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(ToBase64Text(one.bytes), one.text);
    EXPECT_EQ(FromBase64Text(one.text), one.bytes);
  }
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(FromBase64Text(ToBase64Text(all)), all);
  EXPECT_EQ(FromBase64Text("-_-_"), FromBase64Text("+/+/"));
  EXPECT_EQ(FromBase64Text("Zg"), "f");
  EXPECT_EQ(FromBase64Text("Zm8"), "fo");
}

TEST(Base64, HasNothingElseInIt) {
  for (const char* text :
       {"Z", "Zg=", "Zg===", "Z===", "====", "=", "Zm9v=", "Zm9v====", "Zm 9v", "Zm9v\n", " Zm9v",
        "Zm9!", "+_+_", "Zh==", "Zm9=", "Zh", "Zg==Zg==", "Zm9v\xc3\xa4", "Zg=g"}) {
    EXPECT_EQ(FromBase64Text(text), std::nullopt) << text;
  }
  EXPECT_EQ(FromBase64Text(std::string_view("Zm9\0", 4)), std::nullopt);
}

TEST(SignedEnvelope, EncodesBytesAndTypeAsDsseSays) {
  EXPECT_EQ(PreAuthEncoding("http://example.com/HelloWorld", "hello world"),
            "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
  EXPECT_EQ(PreAuthEncoding("", ""), "DSSEv1 0  0 ");
  EXPECT_EQ(PreAuthEncoding("\xc3\xa4", std::string_view("\0 \n", 3)),
            std::string("DSSEv1 2 \xc3\xa4 3 \0 \n", 17));
}

// The test vector of DSSE's protocol.md: r and s as they are, no keyid.
constexpr char kDsseVector[] =
    R"({"payload": "aGVsbG8gd29ybGQ=", "payloadType": "http://example.com/HelloWorld",
 "signatures": [{"sig": "A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA=="}]})";

TEST(SignedEnvelope, OfTheSpecificationsVectorIsSignedByItsKey) {
  const auto envelope = ParseEnvelope(kDsseVector, "vector");
  ASSERT_TRUE(envelope.ok()) << envelope.error().ToString();
  EXPECT_EQ(envelope->payload, "hello world");
  const auto key = PublicKey::FromPem(PublicPem(std::string(kP256Head) + kBobPublic), "k");
  ASSERT_TRUE(key.ok());
  EXPECT_TRUE(IsSignedBy(*envelope, *key));
  SignedEnvelope other = *envelope;
  other.payload += " ";
  EXPECT_FALSE(IsSignedBy(other, *key));
  other = *envelope;
  other.payload_type += "s";
  EXPECT_FALSE(IsSignedBy(other, *key));
}

TEST(SignedEnvelope, IsReadAsItWasWrittenAndMayHoldWhatWeDoNotKnow) {
  const AttestedWorld world;
  const SignedEnvelope written = world.Signed({world.ada.get(), world.bob.get()});
  const std::string text = WriteEnvelope(written);
  EXPECT_EQ(text.find('\n'), text.npos);
  const auto read = ParseEnvelope(text, "e");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->payload, written.payload);
  ASSERT_EQ(read->signatures.size(), 2U);
  EXPECT_EQ(read->signatures[0].key_id, world.ada->public_key().id());
  EXPECT_TRUE(IsSignedBy(*read, world.bob->public_key()));
  EXPECT_FALSE(IsSignedBy(*read, world.eve->public_key()));
  EXPECT_TRUE(ParseEnvelope(R"({"payload": "Zg", "payloadType": "t", "more": {"a": []},
      "signatures": [{"sig": "Zg==", "keyid": "", "cert": null}]})",
                            "e")
                  .ok());
}

TEST(SignedEnvelope, IsNothingElse) {
  const std::string many = fmt::format(
      "{}", fmt::join(std::vector<std::string>(kMostSignatures + 1, R"({"sig": "Zg=="})"), ","));
  const std::string deep = std::string(5'000, '[') + std::string(5'000, ']');
  struct Case {
    std::string text;
    const char* says;
  };
  for (const Case& one : std::vector<Case>{
           {"", "is no envelope"},
           {"{", "is no envelope"},
           {"[]", "is no envelope"},
           {"\xff", "is no envelope"},
           {deep, "is no envelope"},
           {R"({"payload": "Zg==", "payloadType": "t"})", "at least one signature"},
           {R"({"payload": "Zg==", "payloadType": "t", "signatures": []})", "at least one"},
           {R"({"payload": "Zg==", "payloadType": "t", "signatures": {}})", "at least one"},
           {R"({"payload": "Zg==", "payloadType": "t", "signatures": [1]})", "is no envelope"},
           {R"({"payload": "Zg==", "payloadType": "t", "signatures": [{}]})", "is no envelope"},
           {R"({"payload": "Zg==", "payloadType": "t", "signatures": [{"sig": ""}]})",
            "is no base 64"},
           {R"({"payload": "", "payloadType": "t", "signatures": [{"sig": "Zg=="}]})",
            "is no base 64"},
           {R"({"payload": "Z g==", "payloadType": "t", "signatures": [{"sig": "Zg=="}]})",
            "is no base 64"},
           {R"({"payload": 1, "payloadType": "t", "signatures": [{"sig": "Zg=="}]})",
            "is no envelope"},
           {R"({"payload": "Zg==", "payloadType": [], "signatures": [{"sig": "Zg=="}]})",
            "is no envelope"},
           {R"({"payload": "Zg==", "signatures": [{"sig": "Zg=="}]})", "is no envelope"},
           {R"({"payload": "Zg==", "payload": "Zg==", "payloadType": "t", "signatures": [{"sig":
              "Zg=="}]})",
            "is no envelope"},
           {fmt::format(R"({{"payload": "Zg==", "payloadType": "t", "signatures": [{}]}})", many),
            "33 signatures; expected at most 32"},
           {std::string(kMostEnvelopeBytes + 1, ' '), "expected at most 16777216"}}) {
    const auto envelope = ParseEnvelope(one.text, "e.json");
    ASSERT_FALSE(envelope.ok()) << one.text.substr(0, 200);
    EXPECT_EQ(envelope.error().code, ErrorCode::kIntegrity);
    EXPECT_THAT(envelope.error().ToString(), HasSubstr(one.says));
    EXPECT_THAT(envelope.error().where, HasSubstr("e.json"));
  }
}

// A signer whose key is not the one that it says.
class TwoFaced : public Signer {
 public:
  TwoFaced(Signer* signs, Signer* says) : signs_(signs), says_(says) {}
  Result<std::string> Sign(std::string_view bytes) override { return signs_->Sign(bytes); }
  const PublicKey& public_key() const override { return says_->public_key(); }

 private:
  Signer* signs_;
  Signer* says_;
};

TEST(SignedEnvelope, TakesNoSignatureThatItsSignersKeyDoesNotVerify) {
  const AttestedWorld world;
  TwoFaced signer(world.eve.get(), world.ada.get());
  SignedEnvelope envelope{.payload_type = "t", .payload = "p", .signatures = {}};
  const Status status = SignEnvelope(&signer, &envelope);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInternal);
  EXPECT_TRUE(envelope.signatures.empty());
}

}  // namespace
}  // namespace rharness
