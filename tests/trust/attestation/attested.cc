// Keys, a policy and a verdict for the tests of attestations; see attested.h.
#include "tests/trust/attestation/attested.h"

#include <fmt/format.h>

#include <charconv>

#include "harness/base/base64.h"
#include "harness/base/result.h"

namespace rharness {
namespace {

std::string PemOf(std::string_view label, const std::string& der) {
  return fmt::format("-----BEGIN {0}-----\n{1}\n-----END {0}-----\n", label, ToBase64Text(der));
}

std::string Indented(const std::string& text) {
  std::string indented = "      ";
  for (const char c : text) {
    indented += c;
    if (c == '\n') indented += "      ";
  }
  return indented;
}

}  // namespace

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    bytes += static_cast<char>(value);
  }
  return bytes;
}

std::string Ed25519Pem(std::string_view seed) {
  return PemOf("PRIVATE KEY", FromHex("302e020100300506032b657004220420" + std::string(seed)));
}

std::string P256Pem(std::string_view scalar) {
  return PemOf("PRIVATE KEY",
               FromHex("3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420" +
                       std::string(scalar)));
}

std::string PublicPem(std::string_view der) { return PemOf("PUBLIC KEY", FromHex(der)); }

std::filesystem::path KeyFolder::Put(const std::string& name, const std::string& text,
                                     int mode) const {
  if (!WriteFileAtomic(At(name), text).ok()) Abort("cannot write a key");
  std::filesystem::permissions(At(name), static_cast<std::filesystem::perms>(mode));
  return At(name);
}

std::unique_ptr<Signer> KeyFolder::Load(const std::string& pem) const {
  auto signer = LoadPemSigner(Put("key.pem", pem));
  if (!signer.ok()) Abort(signer.error().ToString());
  return std::move(*signer);
}

AttestedVerdict ExampleVerdict() {
  AttestedVerdict verdict;
  verdict.run_id = "mlp-1";
  verdict.family = "mlp/a100";
  verdict.declared = "bitwise";
  verdict.manifest = {"mlp-1.json", std::string(64, '1')};
  verdict.artifacts = {{"model.safetensors", std::string(64, '2')},
                       {"out/optimizer.pt", std::string(64, '3')}};
  verdict.drill_id = "20260601T110000Z-1";
  verdict.started = *ParseTime("2026-06-01T11:00:00Z");
  verdict.decided = *ParseTime("2026-06-01T12:00:00Z");
  verdict.report_sha256 = std::string(64, '4');
  verdict.version = "0.1.0";
  verdict.verdict = Verdict::kDrifted;
  verdict.headline = "declared bitwise, but weights model.safetensors differ";
  for (std::size_t i = 0; i < kLayers.size(); ++i) verdict.layers[i].layer = kLayers[i];
  AttestedLayer& environment = verdict.layers[2];
  environment.state = LayerState::kDiffers;
  environment.differs = {"driver.version"};
  environment.reasons = {{.code = "facts_changed",
                          .layer = Layer::kEnvironment,
                          .subject = "driver.version",
                          .observed = "590.12.01",
                          .limit = "580.65.06",
                          .rule = "recorded",
                          .message = "the driver is another one"}};
  verdict.reasons = {{.code = "determinism_violation",
                      .layer = std::nullopt,
                      .subject = "weights model.safetensors",
                      .message = "4 of 4 tensors differ",
                      .decisive = true}};
  verdict.reruns = {{.index = 1,
                     .state = RerunEnd::State::kCompared,
                     .outcome = "exited with 0",
                     .evidence_sha256 = std::string(64, '5'),
                     .artifacts = {{"model.safetensors", std::string(64, '6')}}}};
  return verdict;
}

AttestedWorld::AttestedWorld()
    : ada(folder.Load(Ed25519Pem(kAdaSeed))),
      bob(folder.Load(P256Pem(kBobScalar))),
      eve(folder.Load(Ed25519Pem(std::string(64, '7')))),
      now(*ParseTime("2026-06-02T00:00:00Z")) {}

std::string AttestedWorld::PolicyText(const std::string& rule) const {
  const std::string ada_pem = PublicPem(std::string(kEd25519Head) + kAdaPublic);
  const std::string bob_pem = PublicPem(std::string(kP256Head) + kBobPublic);
  return fmt::format(
      "version: 1\nkeys:\n  - name: ada\n    owner: Ada of the lab\n    from: 2026-01-01\n"
      "    until: 2026-12-31\n    pem: |\n{}\n  - name: bob\n    owner: Bob, audit\n    pem: "
      "|\n{}\n"
      "rules:\n  - families: [\"mlp*\"]\n    {}\n",
      Indented(ada_pem), Indented(bob_pem), rule);
}

TrustPolicy AttestedWorld::Policy(const std::string& rule) const {
  auto policy = ParseTrustPolicy(PolicyText(rule), "trust.yaml");
  if (!policy.ok()) Abort(policy.error().ToString());
  return std::move(*policy);
}

SignedEnvelope AttestedWorld::Signed(const std::vector<Signer*>& signers) const {
  SignedEnvelope envelope{.payload_type = kStatementPayload,
                          .payload = ToJson(VerdictStatement(verdict)).Dump(),
                          .signatures = {}};
  for (Signer* signer : signers) {
    if (!SignEnvelope(signer, &envelope).ok()) Abort("cannot sign");
  }
  return envelope;
}

}  // namespace rharness
