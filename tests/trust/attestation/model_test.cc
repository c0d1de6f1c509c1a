// Models: what others signed of one is held to its files, and what we sign says the same.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "harness/base/digest.h"
#include "harness/trust/attestation/attest_model.h"
#include "harness/trust/attestation/held_subjects.h"
#include "harness/trust/attestation/model_bundle.h"
#include "harness/trust/attestation/model_files.h"
#include "harness/trust/attestation/verification.h"
#include "tests/records/manifest/schema_check.h"
#include "tests/trust/attestation/attested.h"
#include "tests/trust/attestation/model_bundles.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// SHA-256("rharness.tensor/v1\0" 3 "F32" 1 1 "abcd") in SHA-256("rharness.checkpoint/v1\0" 1 1 "w"
// ...), all numbers of eight bytes, by Python's hashlib.
constexpr char kTinyTensors[] = "9705c945a53199ccb13e3d649f7f2d5d1f033c7724bacf0b0a5cceae269cee9f";

class Models : public testing::Test {
 protected:
  fs::path At(const std::string& name) const { return folder_.path() / name; }
  void Put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(At(name), text).ok());
  }
  TrustPolicy Trust(std::string rule = "keys: [ada, bob]") const {
    std::string text = world_.PolicyText(rule);
    const std::string families = "families: [\"mlp*\"]";
    text.replace(text.find(families), families.size(), "predicates: [\"https://model_signing/*\"]");
    return *ParseTrustPolicy(text, "trust.yaml");
  }
  Result<Verified> Believe(const std::string& text) const {
    return VerifyStatement(text, "b.json", Trust(), world_.now);
  }
  // "held N", or the error.
  std::string Held(const std::string& text, const fs::path& path) const {
    const auto verified = Believe(text);
    if (!verified.ok()) return "refused: " + verified.error().ToString();
    const auto held = HoldToFiles(*verified, path);
    if (!held.ok()) {
      return std::string(ErrorCodeName(held.error().code)) + " " + held.error().ToString();
    }
    return fmt::format("held {}", held->held);
  }
  std::string Attest(const fs::path& out = {}) const {
    const auto attested = AttestModel(model_, out, world_.bob.get());
    return attested.ok() ? std::string(AttestStateName(attested->state))
                         : std::string(ErrorCodeName(attested.error().code)) + " " +
                               attested.error().ToString();
  }
  SignedModel Ours() const {
    EXPECT_EQ(Attest(), "written");
    const auto verified = Believe(*ReadFile(At("tiny.sigstore.json")));
    EXPECT_TRUE(verified.ok()) << verified.error().ToString();
    return verified.ok() && verified->model() != nullptr ? *verified->model() : SignedModel();
  }

  const AttestedWorld world_;
  const ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-models-");
  const fs::path model_ = WriteTinyModel(folder_.path());
};

TEST_F(Models, ThatOthersSignedAreHeldToTheirFiles) {
  EXPECT_EQ(Held(kTinyByFiles, model_), "held 4");
  // An empty file has no shard.
  EXPECT_EQ(Held(kTinyByShards, model_), "held 3");
  EXPECT_EQ(Held(kTinyOneFile, model_ / "model.safetensors"), "held 1");
  EXPECT_EQ(Held(kTinyByFiles, model_ / "model.safetensors"), "held 1");
  const auto verified = Believe(kTinyByFiles);
  ASSERT_TRUE(verified.ok()) << verified.error().ToString();
  ASSERT_EQ(verified->signed_by.size(), 1U);
  EXPECT_EQ(verified->signed_by[0].name, "bob");
  EXPECT_EQ(verified->model()->name, "tiny");
  EXPECT_EQ(ModelRoot(verified->model()->resources), kTinyRoot);
  EXPECT_FALSE(verified->model()->tensors);
  // What git keeps there is ignored, as they signed it.
  Put("tiny/.git/HEAD", "ref");
  Put("tiny/.gitignore", "*");
  EXPECT_EQ(Held(kTinyByFiles, model_), "held 4");
}

TEST_F(Models, ThatWereChangedAreRefusedByTheFirstFile) {
  const auto ends = [&](const std::string& name) {
    return HasSubstr("integrity " + (model_ / name).string() + ": ");
  };
  Put("tiny/a/z", std::string(19, 'y') + "x");
  EXPECT_THAT(Held(kTinyByFiles, model_), AllOf(ends("a/z"), HasSubstr("has sha256 ")));
  EXPECT_THAT(Held(kTinyByShards, model_), ends("a/z:0:20"));
  Put("tiny/a/z", std::string(20, 'y'));
  Put("tiny/more", "");
  EXPECT_THAT(Held(kTinyByFiles, model_),
              AllOf(ends("more"), HasSubstr("is none of the signed files")));
  fs::remove(At("tiny/more"));
  fs::remove(At("tiny/a.b"));
  EXPECT_THAT(Held(kTinyByFiles, model_), AllOf(ends("a.b"), HasSubstr("is not there")));
  fs::create_symlink("a/z", At("tiny/a.b"));
  EXPECT_THAT(Held(kTinyByFiles, model_), HasSubstr("is a symbolic link"));
  fs::remove(At("tiny/a.b"));
  Put("tiny/a.b", "x");
  Put("tiny/model.safetensors", OneTensorFile("abcd") + "more");
  EXPECT_THAT(Held(kTinyByShards, model_), ends("model.safetensors:64:67"));
  EXPECT_THAT(Held(kTinyOneFile, model_), HasSubstr("is a folder; model 'model.safetensors'"));
  EXPECT_THAT(Held(kTinyByFiles, model_ / "model.safetensors"), HasSubstr("is none of the 4"));
  EXPECT_THAT(Held(kTinyByShards, model_ / "a.b"), HasSubstr("expected its folder"));
  EXPECT_THAT(Held(kTinyByFiles, At("none")), HasSubstr("not_found "));
}

TEST_F(Models, OfOursHaveTheSameFilesAndTheirTensorsBeside) {
  const SignedModel ours = Ours();
  EXPECT_EQ(ours.name, "tiny");
  EXPECT_EQ(ModelRoot(ours.resources), kTinyRoot);
  EXPECT_EQ(ours.serialization.ignore_paths,
            (std::vector<std::string>{".git", ".gitattributes", ".github", ".gitignore"}));
  ASSERT_TRUE(ours.tensors);
  EXPECT_EQ(ours.tensors->sha256, kTinyTensors);
  EXPECT_EQ(ours.tensors->tensors, 1U);
  EXPECT_EQ(ours.tensors->size_bytes, 4U);
  EXPECT_EQ(Attest(), "unchanged");
  // Tensors are the same wherever they lie; files are not.
  Put("copy.safetensors", OneTensorFile("abcd"));
  Put("other.safetensors", OneTensorFile("abce"));
  EXPECT_TRUE(HoldTensors(ours, At("copy.safetensors")).ok());
  const Status other = HoldTensors(ours, At("other.safetensors"));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::kIntegrity);
  EXPECT_THAT(other.error().ToString(), HasSubstr("other.safetensors: its 1 tensors have"));
  const Status theirs = HoldTensors(*Believe(kTinyByFiles)->model(), At("copy.safetensors"));
  ASSERT_FALSE(theirs.ok());
  EXPECT_THAT(theirs.error().message, HasSubstr("says nothing of its tensors"));
}

TEST_F(Models, AreSignedWholeOrNotAtAll) {
  EXPECT_THAT(
      [&] {
        const auto ada = AttestModel(model_, {}, world_.ada.get());
        return ada.ok() ? "signed" : ada.error().message;
      }(),
      HasSubstr("a key of Ed25519; models are signed with ECDSA P-256"));
  EXPECT_EQ(Attest(model_), "written");
  const std::string inside = *ReadFile(model_ / "tiny.sigstore.json");
  EXPECT_EQ(Held(inside, model_), "held 4");
  EXPECT_EQ(Attest(model_), "unchanged");
  Put("tiny/a.b", "z");
  EXPECT_THAT(Attest(model_), AllOf(HasSubstr("invalid_input "), HasSubstr("something else")));
  EXPECT_EQ(*ReadFile(model_ / "tiny.sigstore.json"), inside);
  fs::remove(At("tiny/tiny.sigstore.json"));
  fs::create_symlink("a.b", At("tiny/link"));
  EXPECT_THAT(Attest(), HasSubstr("tiny/link: is a symbolic link"));
  fs::remove(At("tiny/link"));
  fs::remove(At("tiny/model.safetensors"));
  EXPECT_THAT(Attest(), HasSubstr("not_found "));
  EXPECT_FALSE(fs::exists(At("tiny.sigstore.json")));
}

TEST_F(Models, ThatAreLinksAreRefusedWithWhatTheyLeadTo) {
  Ours();
  fs::create_symlink("tiny", At("link"));
  fs::create_symlink("tiny/model.safetensors", At("one.safetensors"));
  for (const char* link : {"link", "link/", "one.safetensors"}) {
    const auto attested = AttestModel(At(link), {}, world_.bob.get());
    ASSERT_FALSE(attested.ok()) << link;
    EXPECT_EQ(attested.error().code, ErrorCode::kInvalidInput);
    EXPECT_THAT(attested.error().message,
                testing::StartsWith("is a symbolic link; expected the model itself, which is " +
                                    fs::canonical(model_).string()))
        << link;
  }
  EXPECT_FALSE(fs::exists(At("link.sigstore.json")));
  for (const auto& held :
       {Held(kTinyByFiles, At("link/")), Held(kTinyOneFile, At("one.safetensors"))}) {
    EXPECT_THAT(
        held, AllOf(testing::StartsWith("integrity "), HasSubstr("is a symbolic link; expected")));
  }
}

// The parts of a statement, as somebody changes them who has the key.
TEST_F(Models, AreReadStrictlyAlsoWhereATrustedKeySigns) {
  struct Case {
    const char* name;
    std::function<void(SignedModel*)> change;
    const char* says;
  };
  const std::string digest(64, 'a');
  const auto said = [&](const SignedModel& model) {
    const auto read = ReadModelStatement(ModelStatement(model), "m");
    if (read.ok()) return std::string("read");
    EXPECT_EQ(read.error().code, ErrorCode::kIntegrity);
    return read.error().ToString();
  };
  const SignedModel good{
      .name = "m",
      .serialization = {.shard_bytes = 0, .allow_symlinks = false, .ignore_paths = {"logs/"}},
      .resources = {{.path = "a/z", .sha256 = digest}, {.path = "a.b", .sha256 = digest}},
      .tensors = {}};
  SignedModel shards{
      .name = "m",
      .serialization = {.shard_bytes = 10, .allow_symlinks = false, .ignore_paths = {}},
      .resources = {{"a", 0, 10, digest}, {"a", 10, 12, digest}},
      .tensors = {}};
  EXPECT_EQ(said(good), "read");
  EXPECT_EQ(said(shards), "read");
  for (const Case& one : std::vector<Case>{
           {"another order", [](SignedModel* m) { std::swap(m->resources[0], m->resources[1]); },
            "$.predicate.resources[1].name: is no model's signature: 'a/z' is there already, or"},
           {"a file twice", [](SignedModel* m) { m->resources[1] = m->resources[0]; },
            "is there already"},
           {"a path that leaves", [](SignedModel* m) { m->resources[0].path = "../z"; },
            "expected a path below the model"},
           {"an absolute path", [](SignedModel* m) { m->resources[0].path = "/z"; },
            "expected a path below the model"},
           {"a path in another form", [](SignedModel* m) { m->resources[0].path = "a//z"; },
            "expected a path below the model"},
           {"an ignored file", [](SignedModel* m) { m->resources[1].path = "logs/1"; },
            "is both signed and ignored"},
           {"one file among others", [](SignedModel* m) { m->resources[0].path = "."; },
            "is among other files"},
           {"no file", [](SignedModel* m) { m->resources.clear(); }, "at least one resource"}}) {
    SignedModel model = good;
    one.change(&model);
    EXPECT_THAT(said(model), HasSubstr(one.says)) << one.name;
  }
  std::swap(shards.resources[0], shards.resources[1]);
  EXPECT_THAT(said(shards), HasSubstr("does not follow the shard before it"));
  shards.resources = {{"a", 0, 10, digest}, {"a", 20, 22, digest}};
  EXPECT_THAT(said(shards), HasSubstr("'a:20:22' does not follow"));
  shards.resources = {{"a", 0, 11, digest}};
  EXPECT_THAT(said(shards), HasSubstr("'a:0:11' does not follow"));
  SignedStatement root = ModelStatement(good);
  root.subjects[0].sha256 = digest;
  const auto wrong = ReadModelStatement(root, "m");
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("its resources have the root"));
}

TEST_F(Models, HaveASchemaThatRequiresWhatTheReaderRequires) {
  const Json schema =
      LoadSchemaFile(RHARNESS_SOURCE_DIR "/harness/trust/attestation/model.schema.json");
  const Json json = ToJson(ModelStatement(Ours()));
  ExpectDescribed(schema, json);
  ExpectSameRequirements(
      schema, json,
      [](const Json& one) {
        const auto statement = ParseStatement(one.Dump(), "s");
        return statement.ok() && ReadModelStatement(*statement, "s").ok();
      },
      12);
}

TEST_F(Models, BundlesAreReadStrictly) {
  const std::string good = kTinyByFiles;
  struct Case {
    const char* name;
    std::string from;
    std::string to;
    const char* says;
  };
  for (const Case& one : std::vector<Case>{
           {"another version", "bundle.v0.3+json", "bundle.v0.4+json",
            "$.mediaType: is no bundle: 'application"},
           {"no media type", "\"mediaType\"", "\"type\"", "is no bundle"},
           {"another key's hint", "0208b83a", "0208b83b", "'bob' signed it, which has 0208b83a"},
           {"a certificate", "\"publicKey\":{",
            "\"certificate\":{\"rawBytes\":\"e30=\"}, \"publicKey\":{",
            "certificates are not verified here"},
           {"an entry of a log", "\"tlogEntries\":[]", "\"tlogEntries\":[{}]",
            "entries of a log are not verified here"},
           {"no key", "\"publicKey\"", "\"publicKeys\"", "$.verificationMaterial"},
           {"two signatures", "\"signatures\":[", "\"signatures\":[{\"sig\":\"e30=\"}, ",
            "2 signatures; expected one"},
           {"no envelope", "\"dsseEnvelope\"", "\"envelope\"", "$.dsseEnvelope"},
           {"another payload", "\"payload\":\"ewog", "\"payload\":\"ewoh",
            "no key of the policy has signed this"}}) {
    std::string text = good;
    ASSERT_NE(text.find(one.from), text.npos) << one.name;
    text.replace(text.find(one.from), one.from.size(), one.to);
    const auto refused = Believe(text);
    ASSERT_FALSE(refused.ok()) << one.name;
    EXPECT_EQ(refused.error().code, ErrorCode::kIntegrity) << one.name;
    EXPECT_THAT(refused.error().ToString(), AllOf(HasSubstr(one.says), HasSubstr("b.json")))
        << one.name;
  }
  EXPECT_FALSE(VerifyStatement(good, "b", Trust("keys: [ada]"), world_.now).ok());
}

}  // namespace
}  // namespace rharness
