// Files of a run beside what was signed for them.
#include "harness/insight/incident/held_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "harness/base/digest.h"
#include "harness/trust/attestation/approval_statements.h"
#include "harness/trust/attestation/endorsement.h"
#include "harness/trust/attestation/model_bundle.h"
#include "harness/trust/attestation/model_statement.h"
#include "tests/records/manifest/example.h"
#include "tests/trust/attestation/attested.h"
#include "tests/trust/attestation/told_drills.h"

namespace rharness {
namespace {

using testing::HasSubstr;

// One checkpoint as recorded, for which Ada answered at an older content and at this one.
class EndorsedCheckpoint : public testing::Test {
 protected:
  EndorsedCheckpoint() {
    manifest_.artifacts = {{.role = "weights", .path = "model.bin"}};
    manifest_.artifacts[0].sha256 = Sha256HexOf("new");
    manifest_.family = "mlp/a100";
    world_.verdict.run_id = manifest_.run_id;
    world_.verdict.manifest = ManifestSubject(manifest_);
    world_.verdict.artifacts = {{"model.bin", Sha256HexOf("new")}};
    drills_ = std::make_unique<ToldDrills>(world_.verdict);
    std::string trust = world_.PolicyText();
    const std::string families = "families: [\"mlp*\"]";
    trust.replace(trust.find(families), families.size(), "predicates: [\"urn:rharness:*\"]");
    Put("trust.yaml", trust);
    Endorse("old", 2);
    Endorse("new", 1);
  }
  std::filesystem::path At(const std::string& name) const { return folder_.path() / name; }
  void Put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(At(name), text).ok());
  }
  void Endorse(const std::string& content, int days_ago) const {
    Put("model.bin", content);
    const auto file = At("model.bin");
    ASSERT_TRUE(EndorseFile(file, EndorsementPath(file), "",
                            world_.now - std::chrono::hours(24 * days_ago), world_.ada.get())
                    .ok());
  }
  HeldFiles Held() const {
    auto held = HoldFilesToRecord(
        manifest_,
        {.places = {}, .artifacts = folder_.path(), .signatures = {}, .trust = At("trust.yaml")},
        world_.now, drills_.get());
    EXPECT_TRUE(held.ok()) << held.error().ToString();
    return held.ok() ? std::move(*held) : HeldFiles();
  }
  // Of a statement of this name beside the checkpoint: "verified: ..." or "refused: ...".
  std::string Told(const std::string& name) const {
    const HeldFiles held = Held();
    for (const IncidentSignature& one : held.signatures) {
      if (one.file != name) continue;
      EXPECT_EQ(held.tampered, one.state == SignatureState::kRefused);
      EXPECT_EQ(held.damage.empty(), one.state != SignatureState::kRefused);
      return std::string(NameIn(kSignatureStateNames, one.state)) + ": " + one.words;
    }
    return "not looked at";
  }
  // What is told of a verdict that is signed with this said otherwise.
  std::string ToldOf(const std::function<void(AttestedVerdict*)>& edit) {
    const AttestedVerdict before = world_.verdict;
    edit(&world_.verdict);
    Put(kVerdictFile, WriteEnvelope(world_.Signed({world_.ada.get()})) + "\n");
    world_.verdict = before;
    return Told(kVerdictFile);
  }

  static constexpr char kVerdictFile[] = "digits-0007.verdict.intoto.jsonl";
  AttestedWorld world_;
  std::unique_ptr<ToldDrills> drills_;
  const ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-held-");
  Manifest manifest_ = ExampleManifest();
};

TEST_F(EndorsedCheckpoint, IsNotTamperedWithForALineOfAnOlderContent) {
  const HeldFiles held = Held();
  EXPECT_FALSE(held.tampered) << held.damage;
  ASSERT_EQ(held.signatures.size(), 1U);
  EXPECT_EQ(held.signatures[0].state, SignatureState::kVerified);
  EXPECT_THAT(held.signatures[0].words, HasSubstr("answered for, signed by ada"));
}

TEST_F(EndorsedCheckpoint, IsTamperedWithWhereItsContentIsTheOlderOne) {
  Put("model.bin", "old");
  manifest_.artifacts[0].sha256 = Sha256HexOf("old");
  const HeldFiles held = Held();
  EXPECT_TRUE(held.tampered);
  ASSERT_EQ(held.signatures.size(), 1U);
  EXPECT_THAT(held.signatures[0].words, HasSubstr("is an older content"));
}

// Drills compare tensors: a record may name another file than the one that holds them.
TEST_F(EndorsedCheckpoint, IsTamperedWithWhereTheRecordedFileHasOtherTensors) {
  const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} )";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  file += header + "evil";
  Put("model.safetensors", file);
  manifest_.artifacts = {{.role = "weights", .path = "model.safetensors"}};
  manifest_.artifacts[0].sha256 = Sha256HexOf(file);
  EXPECT_FALSE(Held().tampered) << "no tensors are recorded";
  manifest_.artifacts[0].tensor_digest = std::string(64, 'd');
  const HeldFiles held = Held();
  EXPECT_TRUE(held.tampered);
  EXPECT_THAT(held.damage, HasSubstr("other tensors"));
  EXPECT_EQ(held.files[0].state, FileState::kChanged);
}

TEST_F(EndorsedCheckpoint, IsAnsweredForInItsOwnFileAlone) {
  const std::string own = *ReadFile(At("model.bin.intoto.jsonl"));
  Put("other.yaml", "version: 1");
  const auto other = At("other.yaml");
  ASSERT_TRUE(EndorseFile(other, EndorsementPath(other), "", world_.now, world_.ada.get()).ok());
  const std::string unrelated = *ReadFile(EndorsementPath(other));
  Put("model.bin.intoto.jsonl", unrelated);
  EXPECT_THAT(Told("model.bin.intoto.jsonl"), HasSubstr("refused: has sha256 "));
  Put("model.bin.intoto.jsonl", own);
  Put(kVerdictFile, unrelated);
  EXPECT_EQ(Told(kVerdictFile), "refused: what was signed is no verdict on a run");
  Put(kVerdictFile, own);
  EXPECT_EQ(Told(kVerdictFile), "refused: what was signed is no verdict on a run");
}

TEST_F(EndorsedCheckpoint, IsNotAnsweredForByWhatIsThereInItsPlace) {
  Endorse("newer", 0);  // signed, and not the recorded one
  const HeldFiles held = Held();
  EXPECT_TRUE(held.tampered);
  ASSERT_EQ(held.signatures.size(), 1U);
  EXPECT_EQ(held.signatures[0].state, SignatureState::kRefused);
}

TEST_F(EndorsedCheckpoint, HasAVerdictThatIsHeldToRecordAndHistory) {
  EXPECT_THAT(ToldOf([](AttestedVerdict*) {}),
              HasSubstr("verified: digits-0007 drifted, decided 2026-06-01 12:00"));
  EXPECT_THAT(ToldOf([](AttestedVerdict* said) { said->family = "mlp-other"; }),
              HasSubstr("refused: the verdict was signed for run digits-0007 of family"));
  EXPECT_THAT(ToldOf([](AttestedVerdict* said) { said->manifest.sha256 = std::string(64, '0'); }),
              HasSubstr("refused: the verdict was signed for a manifest of run digits-0007"));
  EXPECT_THAT(ToldOf([](AttestedVerdict* said) { said->artifacts[0].sha256[0] = 'e'; }),
              HasSubstr("refused: the verdict was signed for model.bin"));
  EXPECT_THAT(ToldOf([](AttestedVerdict* said) { said->verdict = Verdict::kIdentical; }),
              HasSubstr("the history has drifted"));
  drills_->drill.reset();
  EXPECT_THAT(ToldOf([](AttestedVerdict*) {}), HasSubstr("no verdict of that drill on it"));
}

TEST_F(EndorsedCheckpoint, IsHeldToItsModelBundle) {
  const std::string bundle = "model.bin.sigstore.json";
  std::string trust = *ReadFile(At("trust.yaml"));
  trust.replace(trust.find("\"urn:rharness:*\""), 16, "\"*\"");
  Put("trust.yaml", trust);
  const auto sign = [&](const std::string& content) {
    const SignedModel model{.name = "model.bin",
                            .serialization = {},
                            .resources = {{.path = ".", .sha256 = Sha256HexOf(content)}},
                            .tensors = {}};
    SignedEnvelope envelope{.payload_type = kStatementPayload,
                            .payload = ToJson(ModelStatement(model)).Dump(),
                            .signatures = {}};
    EXPECT_TRUE(SignEnvelope(world_.bob.get(), &envelope).ok());
    Put(bundle, WriteBundle(envelope, world_.bob->public_key()) + "\n");
  };
  sign("new");
  EXPECT_THAT(Told(bundle), HasSubstr("verified: signed as a model, signed by bob"));
  Put(bundle, ReadFile(At(bundle))->substr(0, 300));
  EXPECT_THAT(Told(bundle), HasSubstr("refused: is no envelope"));
  sign("other");
  EXPECT_THAT(Told(bundle), HasSubstr("refused: has sha256 "));
  Put("model.bin", "other");
  EXPECT_THAT(Told(bundle), HasSubstr("refused: the file is not the recorded one"));
}

}  // namespace
}  // namespace rharness
