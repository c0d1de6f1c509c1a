// Whatever is changed about a signed verdict, it is refused, and the refusal says what is wrong.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "harness/base/digest.h"
#include "harness/trust/attestation/verification.h"
#include "tests/records/manifest/example.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const AttestedWorld& world, const std::string& text,
                    const TrustPolicy& policy) {
  const auto verified = VerifyStatement(text, "v.jsonl:1", policy, world.now);
  if (verified.ok()) return "verified";
  EXPECT_EQ(verified.error().code, ErrorCode::kIntegrity) << verified.error().ToString();
  EXPECT_THAT(verified.error().where, HasSubstr("v.jsonl:1"));
  return verified.error().message;
}

TEST(Verification, TakesWhatItsPolicyAsksForAndSaysWhoSigned) {
  const AttestedWorld world;
  const auto one = VerifyStatement(WriteEnvelope(world.Signed({world.bob.get()})), "v",
                                   world.Policy(), world.now);
  ASSERT_TRUE(one.ok()) << one.error().ToString();
  EXPECT_EQ(one->verdict()->run_id, "mlp-1");
  EXPECT_EQ(one->verdict()->verdict, Verdict::kDrifted);
  EXPECT_EQ(one->verdict()->artifacts, world.verdict.artifacts);
  ASSERT_EQ(one->signed_by.size(), 1U);
  EXPECT_EQ(one->signed_by[0].name, "bob");
  EXPECT_EQ(one->signed_by[0].owner, "Bob, audit");
  EXPECT_EQ(one->signed_by[0].id, world.bob->public_key().id());
  // Foreign signatures beside them change nothing, and hints are only that.
  SignedEnvelope mixed = world.Signed({world.eve.get(), world.bob.get(), world.ada.get()});
  for (EnvelopeSignature& signature : mixed.signatures) signature.key_id = "ada";
  const auto two = VerifyStatement(WriteEnvelope(mixed), "v",
                                   world.Policy("keys: [ada, bob]\n    threshold: 2"), world.now);
  ASSERT_TRUE(two.ok()) << two.error().ToString();
  EXPECT_EQ(two->signed_by.size(), 2U);
  EXPECT_EQ(two->threshold, 2U);
}

// The envelope's JSON, as somebody could change it who has no key.
struct Tampering {
  const char* name;
  std::function<void(SignedEnvelope*)> change;
  const char* says;
};

// The first `from` that is there.
void ReplaceFirst(std::string* text, std::string_view from, std::string_view to) {
  const auto at = text->find(from);
  ASSERT_NE(at, text->npos) << from;
  text->replace(at, from.size(), to);
}

constexpr char kUnsigned[] = "no key of the policy has signed this";

std::vector<Tampering> Tamperings() {
  return {
      {"a better verdict",
       [](SignedEnvelope* e) {
         ReplaceFirst(&e->payload, R"("verdict":"drifted")", R"("verdict":"identical")");
       },
       kUnsigned},
      {"another run",
       [](SignedEnvelope* e) {
         ReplaceFirst(&e->payload, R"("run_id":"mlp-1")", R"("run_id":"mlp-2")");
       },
       kUnsigned},
      {"other weights", [](SignedEnvelope* e) { std::ranges::replace(e->payload, '2', '9'); },
       kUnsigned},
      {"a blank in the payload", [](SignedEnvelope* e) { e->payload += ' '; }, kUnsigned},
      {"a line break before it", [](SignedEnvelope* e) { e->payload.insert(0, "\n"); }, kUnsigned},
      {"half of the payload", [](SignedEnvelope* e) { e->payload.resize(e->payload.size() / 2); },
       kUnsigned},
      {"another payload", [](SignedEnvelope* e) { e->payload = "{}"; }, kUnsigned},
      {"the first bit of the payload",
       [](SignedEnvelope* e) { e->payload[0] = static_cast<char>(e->payload[0] ^ 1); }, kUnsigned},
      {"another payload type", [](SignedEnvelope* e) { e->payload_type = "application/json"; },
       kUnsigned},
      {"a payload type in capitals",
       [](SignedEnvelope* e) { e->payload_type = "application/vnd.in-toto+JSON"; }, kUnsigned},
      {"no payload type", [](SignedEnvelope* e) { e->payload_type.clear(); }, kUnsigned},
      {"a byte of the payload in its type",
       [](SignedEnvelope* e) {
         e->payload_type += e->payload.substr(0, 1);
         e->payload.erase(0, 1);
       },
       kUnsigned},
      {"the first byte of the signature",
       [](SignedEnvelope* e) {
         e->signatures[0].bytes[0] = static_cast<char>(e->signatures[0].bytes[0] ^ 1);
       },
       kUnsigned},
      {"the last byte of the signature",
       [](SignedEnvelope* e) {
         e->signatures[0].bytes.back() = static_cast<char>(e->signatures[0].bytes.back() ^ 0x80);
       },
       kUnsigned},
      {"a shorter signature", [](SignedEnvelope* e) { e->signatures[0].bytes.pop_back(); },
       kUnsigned},
      {"a longer signature", [](SignedEnvelope* e) { e->signatures[0].bytes += '\0'; }, kUnsigned},
      {"a signature of zeros", [](SignedEnvelope* e) { e->signatures[0].bytes.assign(64, '\0'); },
       kUnsigned},
      {"a signature of one byte", [](SignedEnvelope* e) { e->signatures[0].bytes = "x"; },
       kUnsigned},
      {"a huge signature", [](SignedEnvelope* e) { e->signatures[0].bytes.assign(1 << 20, 'x'); },
       kUnsigned},
      {"the payload as its signature",
       [](SignedEnvelope* e) { e->signatures[0].bytes = e->payload; }, kUnsigned},
      {"no signature", [](SignedEnvelope* e) { e->signatures.clear(); }, "at least one signature"}};
}

TEST(Tampering, OfAnEnvelopeIsRefused) {
  const AttestedWorld world;
  const TrustPolicy policy = world.Policy();
  for (Signer* signer : {world.ada.get(), world.bob.get()}) {
    for (const Tampering& one : Tamperings()) {
      SignedEnvelope envelope = world.Signed({signer});
      ASSERT_EQ(ErrorOf(world, WriteEnvelope(envelope), policy), "verified");
      one.change(&envelope);
      EXPECT_THAT(ErrorOf(world, WriteEnvelope(envelope), policy), HasSubstr(one.says)) << one.name;
    }
  }
}

TEST(Tampering, OfTheEnvelopesTextIsRefused) {
  const AttestedWorld world;
  const TrustPolicy policy = world.Policy();
  const std::string good = WriteEnvelope(world.Signed({world.ada.get()}));
  struct Case {
    const char* name;
    std::string text;
    const char* says;
  };
  const auto replaced = [&](std::string_view from, std::string_view to) {
    return Replaced(good, from, to);
  };
  for (const Case& one : std::vector<Case>{
           {"cut short", good.substr(0, good.size() - 1), "is no envelope"},
           {"something behind it", good + "{}", "is no envelope"},
           {"two payloads", replaced(R"({"payload":)", R"({"payload":"e30=","payload":)"),
            "is no envelope"},
           {"two lists of signatures",
            replaced(R"("signatures":)", R"("signatures":[],"signatures":)"), "is no envelope"},
           {"signatures as an object", replaced(R"("signatures":[{)", R"("signatures":{"a":[{)"),
            "is no envelope"},
           {"a comment", "// signed\n" + good, "is no envelope"},
           {"junk in the base 64", replaced(R"("payload":")", R"("payload":"*)"), "is no base 64"},
           {"a line break in the base 64", replaced(R"("payload":")", R"("payload":"\n)"),
            "is no base 64"},
           {"no payload", replaced(R"("payload")", R"("payloaf")"), "is no envelope"},
           {"bits left over in the signature", replaced(R"(=="}]})", R"(="}]})"), "is no base 64"},
           {"a number for a signature", replaced(R"("sig":")", R"("sig":1,"was":")"),
            "is no envelope"}}) {
    EXPECT_THAT(ErrorOf(world, one.text, policy), HasSubstr(one.says)) << one.name;
  }
}

// What a trusted key signed, and is no verdict of ours: `from` in the payload becomes `to`.
struct Rewriting {
  const char* name;
  std::string from;
  std::string to;
  const char* says;
};

std::vector<Rewriting> RewrittenMembers() {
  return {
      {"another statement type", "in-toto.io/Statement/v1", "in-toto.io/Statement/v0.1",
       "expected https://in-toto.io/Statement/v1"},
      {"no statement type", R"("_type")", R"("type")", "is no in-toto statement"},
      {"another predicate", "urn:rharness:verdict:v1", "urn:rharness:verdict:v2",
       "expected urn:rharness:verdict:v1"},
      {"SLSA's predicate", "urn:rharness:verdict:v1", "https://slsa.dev/provenance/v1",
       "predicateType 'https://slsa.dev/provenance/v1'"},
      {"no subject", R"("subject":)", R"("subjects":)", "expected at least one subject"},
      {"a subject without a digest", R"("name":"out/optimizer.pt","digest":)",
       R"("name":"out/optimizer.pt","digests":)", "is no in-toto statement"},
      {"two subjects of one name", "out/optimizer.pt", "mlp-1.json",
       "a second subject of this name"},
      {"a short digest", std::string(64, '3'), std::string(63, '3'), "64 lower-case hexadecimal"},
      {"a digest in capitals", std::string(64, '3'), std::string(64, 'A'), "64 lower-case"},
      {"no verdict", R"("verdict":"drifted")", R"("said":"drifted")", "is no verdict"},
      {"a verdict that there is not", R"("verdict":"drifted")", R"("verdict":"fine")",
       "is no verdict"},
      {"a verdict that is a number", R"("verdict":"drifted")", R"("verdict":1)", "is no verdict"},
      {"a run id that is a path", R"("run_id":"mlp-1")", R"("run_id":"../mlp-1")", "is no verdict"},
      {"no family", R"("family":"mlp/a100")", R"("families":"mlp/a100")", "is no verdict"},
      {"another declaration", R"("declared":"bitwise")", R"("declared":"exactly")",
       "is no verdict"}};
}

std::vector<Rewriting> RewrittenParts() {
  return {
      {"four layers", R"({"layer":"data","state":"unknown","differs":[],"reasons":[]},)", "",
       "4 layers; expected all five"},
      {"a layer twice", R"("layer":"code")", R"("layer":"data")", "is there already"},
      {"a sixth layer", R"("layer":"code")", R"("layer":"weather")", "is no layer"},
      {"a state that there is not", R"("state":"differs")", R"("state":"odd")", "expected same"},
      {"a rerun without evidence", R"("evidence":)", R"("evidences":)", "there is no evidence"},
      {"a rerun of another state", R"("state":"compared")", R"("state":"fine")", "is no verdict"},
      {"reasons that are no list", R"("reasons":[{"code":"determinism_violation")",
       R"("reasons":{"a":[{"code":"determinism_violation")", "is no in-toto statement"},
      {"a manifest that is no subject", R"("manifest":{"name":"mlp-1.json")",
       R"("manifest":{"name":"mlp-2.json")", "is not among the statement's subjects"},
      {"a time that is none", "2026-06-01T11:00:00.000Z", "noon", "is no verdict"},
      {"an end before the start", "2026-06-01T11:00:00.000Z", "2026-06-01T13:00:00.000Z",
       "before its drill began"},
      {"a verdict of tomorrow", "2026-06-01T12:00:00.000Z", "2026-06-03T12:00:00.000Z",
       "it is 2026-06-02T00:00:00.000Z now"},
      {"a member twice", R"("verdict":"drifted")", R"("verdict":"drifted","verdict":"identical")",
       "is no in-toto statement"},
      {"a family that nobody signs for", R"("family":"mlp/a100")", R"("family":"llama")",
       "no rule of the policy is for urn:rharness:verdict:v1 about family 'llama'"}};
}

TEST(Tampering, OfAStatementIsRefusedAlsoWhereATrustedKeySignsIt) {
  std::vector<Rewriting> cases = RewrittenMembers();
  for (Rewriting& one : RewrittenParts()) cases.push_back(std::move(one));
  const AttestedWorld world;
  const TrustPolicy policy = world.Policy();
  for (const Rewriting& one : cases) {
    SignedEnvelope envelope = world.Signed({});
    ReplaceFirst(&envelope.payload, one.from, one.to);
    ASSERT_TRUE(SignEnvelope(world.ada.get(), &envelope).ok());
    EXPECT_THAT(ErrorOf(world, WriteEnvelope(envelope), policy), HasSubstr(one.says)) << one.name;
  }
  for (const char* payload : {"null", "1", "[]", "{", "\xff", "{\"_type\":{}}"}) {
    SignedEnvelope envelope{
        .payload_type = kStatementPayload, .payload = payload, .signatures = {}};
    ASSERT_TRUE(SignEnvelope(world.ada.get(), &envelope).ok());
    EXPECT_THAT(ErrorOf(world, WriteEnvelope(envelope), policy),
                HasSubstr("is no in-toto statement"))
        << payload;
  }
  SignedEnvelope other = world.Signed({});
  other.payload_type = "application/vnd.cyclonedx+json";
  ASSERT_TRUE(SignEnvelope(world.ada.get(), &other).ok());
  EXPECT_THAT(ErrorOf(world, WriteEnvelope(other), policy),
              HasSubstr("expected application/vnd.in-toto+json"));
}

TEST(Tampering, OfKeysAndRulesIsRefused) {
  struct Case {
    const char* name;
    std::string rule;
    std::vector<const char*> signers;
    const char* says;
  };
  AttestedWorld world;
  for (const Case& one : std::vector<Case>{
           {"a key of nobody's", "keys: [ada, bob]", {"eve"}, "no key of the policy has signed"},
           {"a key that the rule does not name",
            "keys: [bob]",
            {"ada"},
            "0 of the 1 keys that must have signed for family 'mlp/a100'; 'ada' signed, and the "
            "rule does not name it"},
           {"one of two", "keys: [ada, bob]\n    threshold: 2", {"ada"}, "1 of the 2 keys"},
           {"one of two, and a stranger",
            "keys: [ada, bob]\n    threshold: 2",
            {"ada", "eve"},
            "1 of the 2 keys"},
           {"one key twice",
            "keys: [ada, bob]\n    threshold: 2",
            {"bob", "bob"},
            "1 of the 2 keys"},
           {"one key twice, the same bytes",
            "keys: [ada, bob]\n    threshold: 2",
            {"ada", "ada"},
            "1 of the 2 keys"},
           {"another predicate's rule",
            "predicates: [\"urn:other:*\"]\n    keys: [ada]",
            {"ada"},
            "no rule of the policy is for urn:rharness:verdict:v1"}}) {
    std::vector<Signer*> signers;
    for (const std::string name : one.signers) {
      signers.push_back(name == "ada"   ? world.ada.get()
                        : name == "bob" ? world.bob.get()
                                        : world.eve.get());
    }
    EXPECT_THAT(ErrorOf(world, WriteEnvelope(world.Signed(signers)), world.Policy(one.rule)),
                HasSubstr(one.says))
        << one.name;
  }
}

TEST(Tampering, OfTheTimesOfKeysIsRefused) {
  AttestedWorld world;
  world.now = *ParseTime("2030-01-01T00:00:00Z");
  for (const char* year : {"2025", "2027"}) {
    world.verdict.started = *ParseTime(std::string(year) + "-06-01T11:00:00Z");
    world.verdict.decided = *ParseTime(std::string(year) + "-06-01T12:00:00Z");
    EXPECT_THAT(ErrorOf(world, WriteEnvelope(world.Signed({world.ada.get()})), world.Policy()),
                HasSubstr("'ada' signed, and holds from 2026-01-01T00:00:00.000Z until before "
                          "2027-01-01T00:00:00.000Z, not at "));
    EXPECT_EQ(ErrorOf(world, WriteEnvelope(world.Signed({world.bob.get()})), world.Policy()),
              "verified");
  }
  // The last moment of its last day, and the one after.
  world.verdict.started = world.verdict.decided = *ParseTime("2026-12-31T23:59:59.999Z");
  EXPECT_EQ(ErrorOf(world, WriteEnvelope(world.Signed({world.ada.get()})), world.Policy()),
            "verified");
  world.verdict.started = world.verdict.decided = *ParseTime("2027-01-01T00:00:00Z");
  EXPECT_NE(ErrorOf(world, WriteEnvelope(world.Signed({world.ada.get()})), world.Policy()),
            "verified");
}

}  // namespace
}  // namespace rharness
