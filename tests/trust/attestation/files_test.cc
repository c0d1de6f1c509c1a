// Files of attestations, line by line, and the files that they speak of.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "harness/trust/attestation/held_subjects.h"
#include "harness/trust/attestation/verification.h"
#include "tests/records/manifest/example.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class AttestedFiles : public testing::Test {
 protected:
  std::filesystem::path Put(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(WriteFileAtomic(folder_.path() / name, text).ok());
    return folder_.path() / name;
  }
  std::string VerifyError(const std::filesystem::path& path) const {
    const auto verified = VerifyFile(path, policy_, world_.now);
    if (!verified.ok()) return verified.error().ToString();
    std::string text = fmt::format("{} verified", verified->statements.size());
    for (const Error& line : verified->not_counted) text += "; " + line.ToString();
    return text;
  }
  std::string HoldError(const AttestedVerdict& verdict, const std::filesystem::path& path) const {
    const auto held = HoldToFiles({.said = verdict, .signed_by = {}}, path);
    if (held.ok()) return fmt::format("{} held", held->held);
    EXPECT_EQ(held.error().code, ErrorCode::kIntegrity) << held.error().ToString();
    return held.error().ToString();
  }

  AttestedWorld world_;
  TrustPolicy policy_ = world_.Policy();
  ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-attested-");
};

TEST_F(AttestedFiles, AreVerifiedLineByLineAndTheFirstBadOneIsNamed) {
  const std::string ada = WriteEnvelope(world_.Signed({world_.ada.get()}));
  const std::string eve = WriteEnvelope(world_.Signed({world_.eve.get()}));
  EXPECT_EQ(VerifyError(Put("a.intoto.jsonl", ada + "\n\n" + ada + "\n")), "2 verified");
  EXPECT_EQ(VerifyError(Put("a.json", "\n" + ada + "\n")), "1 verified");
  EXPECT_THAT(VerifyError(Put("b.intoto.jsonl", eve + "\n" + eve + "\n")),
              HasSubstr("b.intoto.jsonl:1: no key of the policy"));
  EXPECT_THAT(VerifyError(Put("c.intoto.jsonl", ada + "\nnothing\n")),
              HasSubstr("c.intoto.jsonl:2"));
  EXPECT_THAT(VerifyError(Put("d.intoto.jsonl", "\n \n")), HasSubstr("holds no envelope"));
  EXPECT_THAT(VerifyError(Put("e.intoto.jsonl", "")), HasSubstr("holds no envelope"));
  EXPECT_THAT(VerifyError(Put("two.json", ada + ada)), HasSubstr("is no envelope"));
}

// What a key signed that has left the policy since counts for nothing, and is in nobody's way.
TEST_F(AttestedFiles, ALineByAKeyThatThePolicyDoesNotKnowIsNotCounted) {
  const std::string ada = WriteEnvelope(world_.Signed({world_.ada.get()}));
  const std::string eve = WriteEnvelope(world_.Signed({world_.eve.get()}));
  for (const std::string& text : {ada + "\n" + eve, eve + "\n" + ada}) {
    EXPECT_THAT(VerifyError(Put("a.intoto.jsonl", text)),
                testing::AllOf(testing::StartsWith("1 verified; "),
                               HasSubstr(": no key of the policy has signed this")));
  }
  EXPECT_THAT(VerifyError(Put("a.json", eve)), testing::EndsWith(world_.eve->public_key().id()));
  // One of two that a rule asks for has left: the other alone is not enough, and no forger.
  policy_ = world_.Policy("keys: [ada, bob]\n    threshold: 2");
  const std::string both = WriteEnvelope(world_.Signed({world_.ada.get(), world_.bob.get()}));
  const std::string with_eve = WriteEnvelope(world_.Signed({world_.ada.get(), world_.eve.get()}));
  EXPECT_THAT(
      VerifyError(Put("b.intoto.jsonl", with_eve + "\n" + both)),
      testing::AllOf(testing::StartsWith("1 verified; "), HasSubstr(":1: 1 of the 2 keys")));
  EXPECT_THAT(VerifyError(Put("c.intoto.jsonl", ada + "\n" + both)),
              HasSubstr("c.intoto.jsonl:1: 1 of the 2 keys"));
}

TEST_F(AttestedFiles, AWrongSignatureInTheNameOfAKnownKeyIsNeverPassedOver) {
  const std::string ada = WriteEnvelope(world_.Signed({world_.ada.get()}));
  SignedEnvelope forged = world_.Signed({world_.eve.get()});
  forged.signatures[0].key_id = world_.ada->public_key().id();
  SignedEnvelope changed = world_.Signed({world_.bob.get()});
  changed.payload += " ";
  SignedEnvelope among = world_.Signed({world_.eve.get()});
  among.signatures.push_back(forged.signatures[0]);
  for (const SignedEnvelope& bad : {forged, changed, among}) {
    EXPECT_THAT(VerifyError(Put("a.intoto.jsonl", ada + "\n" + WriteEnvelope(bad))),
                HasSubstr("a.intoto.jsonl:2: no key of the policy has signed this"));
  }
  // Whoever adds a stranger's signature makes nothing else pass: here the time of a known one's.
  world_.verdict.decided = world_.now + std::chrono::hours(1);
  const std::string later = WriteEnvelope(world_.Signed({world_.ada.get(), world_.eve.get()}));
  EXPECT_THAT(VerifyError(Put("b.intoto.jsonl", ada + "\n" + later)),
              HasSubstr("b.intoto.jsonl:2: was said at "));
}

TEST_F(AttestedFiles, OfAFolderAreThoseThatSayTheyAreEnvelopes) {
  const std::string ada = WriteEnvelope(world_.Signed({world_.ada.get()}));
  const auto none = FindAttestations(Put("x/readme.txt", "").parent_path());
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  const auto b = Put("x/b/b.json", ada);
  const auto a = Put("x/a.intoto.jsonl", "broken");
  const auto cut = Put("x/tiny.sigstore.json", ada.substr(0, 300));
  Put("x/report.json", "{}");
  const auto found = FindAttestations(folder_.path() / "x");
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(*found, testing::ElementsAre(a, b, cut));
  EXPECT_FALSE(FindAttestations(folder_.path() / "y").ok());
}

TEST_F(AttestedFiles, MustBeWhatWasSigned) {
  AttestedVerdict verdict = world_.verdict;
  verdict.artifacts = {{"model.safetensors", Sha256HexOf("weights")},
                       {"out/optimizer.pt", Sha256HexOf("moments")}};
  Manifest manifest = ExampleManifest();
  manifest.run_id = verdict.run_id;
  manifest.family = verdict.family;
  manifest.artifacts.clear();
  for (const SignedSubject& one : verdict.artifacts) {
    manifest.artifacts.push_back({.role = "weights", .path = one.name, .sha256 = one.sha256});
  }
  const std::string record = ToJson(manifest).Dump();
  verdict.manifest.sha256 = Sha256HexOf(record);
  const auto model = Put("f/model.safetensors", "weights");
  const auto folder = model.parent_path();
  EXPECT_THAT(HoldError(verdict, folder), HasSubstr("optimizer.pt: a signed subject cannot be"));
  Put("f/out/optimizer.pt", "moments");
  EXPECT_EQ(HoldError(verdict, folder), "2 held");
  Put("f/mlp-1.json", record);
  EXPECT_EQ(HoldError(verdict, folder), "3 held");
  EXPECT_EQ(HoldError(verdict, model), "1 held");
  Put("f/mlp-1.json", record + " ");
  EXPECT_THAT(HoldError(verdict, folder), HasSubstr("mlp-1.json: has sha256 "));
  std::filesystem::remove(folder / "mlp-1.json");
  Put("f/model.safetensors", "weightS");
  EXPECT_THAT(HoldError(verdict, folder),
              HasSubstr("model.safetensors: has sha256 " + Sha256HexOf("weightS")));
  EXPECT_THAT(HoldError(verdict, model), HasSubstr("none of the 3 signed subjects of mlp-1"));
  // Neither a link nor a name that leaves the folder.
  std::filesystem::remove(folder / "model.safetensors");
  std::filesystem::create_symlink(Put("elsewhere", "weights"), folder / "model.safetensors");
  EXPECT_THAT(HoldError(verdict, folder), HasSubstr("model.safetensors"));
  verdict.artifacts = {{"../elsewhere", Sha256HexOf("weights")}};
  EXPECT_THAT(HoldError(verdict, folder), HasSubstr("a signed subject cannot be looked at"));
  verdict.artifacts = {};
  EXPECT_THAT(HoldError(verdict, folder), HasSubstr("none of the signed subjects of mlp-1"));
}

TEST_F(AttestedFiles, OfAManifestAreOfItsRunAndFamily) {
  AttestedVerdict verdict = world_.verdict;
  verdict.artifacts = {};
  Manifest manifest = ExampleManifest();
  manifest.run_id = verdict.run_id;
  manifest.family = "llama";
  const auto put = [&](const std::string& text) {
    verdict.manifest.sha256 = Sha256HexOf(text);
    return Put("f/mlp-1.json", text);
  };
  const auto file = put(ToJson(manifest).Dump());
  for (const auto& path : {file, file.parent_path()}) {
    EXPECT_THAT(HoldError(verdict, path),
                HasSubstr("the verdict was signed for run mlp-1 of family 'mlp/a100'; the manifest "
                          "is of run mlp-1 of family 'llama'"));
  }
  put("{}");
  EXPECT_THAT(HoldError(verdict, file), HasSubstr("was signed as the manifest, and is none"));
  manifest.family = verdict.family;
  put(ToJson(manifest).Dump());
  EXPECT_EQ(HoldError(verdict, file), "1 held");
  // Weights that its own manifest does not record.
  verdict.artifacts = {{"model.safetensors", Sha256HexOf("weights")}};
  Put("f/model.safetensors", "weights");
  EXPECT_THAT(HoldError(verdict, file.parent_path()),
              HasSubstr("which is no checkpoint that the manifest records"));
}

}  // namespace
}  // namespace rharness
