// Bundles as JSON.
#include "harness/trust/attestation/model_bundle.h"

#include <fmt/format.h>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

void ReadMaterial(JsonReader& reader, std::string* hint) {
  for (const char* other : {"certificate", "x509CertificateChain"}) {
    if (reader.Has(other)) {
      return reader.Fail("certificates are not verified here; expected a publicKey", other);
    }
  }
  reader.ForEach("tlogEntries", [](JsonReader& one) {
    one.Fail("entries of a log are not verified here; expected none");
  });
  reader.ReadObject("publicKey", true, [&](JsonReader& key) { key.ReadOptional("hint", hint); });
}

Result<SigstoreBundle> ReadMembers(const Json& json, const std::string& where) {
  JsonReader reader(json, where);
  SigstoreBundle bundle;
  std::string type;
  reader.Read("mediaType", &type);
  if (reader.ok() && type != kBundleMediaType) {
    reader.Fail(
        fmt::format("'{}'; expected {}", TerminalSafe(type.substr(0, 80)), kBundleMediaType),
        "mediaType");
  }
  reader.ReadObject("verificationMaterial", true,
                    [&](JsonReader& one) { ReadMaterial(one, &bundle.hint); });
  reader.ReadObject("dsseEnvelope", true, [](JsonReader&) {});
  RETURN_IF_ERROR(reader.status());
  ASSIGN_OR_RETURN(bundle.envelope,
                   ReadEnvelope(*json.Find("dsseEnvelope"), where, "$.dsseEnvelope"));
  if (bundle.envelope.signatures.size() == 1) return bundle;
  return InvalidInput(fmt::format("{} signatures; expected one", bundle.envelope.signatures.size()),
                      where + ": $.dsseEnvelope.signatures");
}

}  // namespace

std::string BundleHint(const PublicKey& key) { return Sha256HexOf(key.Pem()); }

bool IsBundle(const Json& json) {
  // An envelope may have any members more.
  return json.Find("dsseEnvelope") != nullptr ||
         (json.Find("mediaType") != nullptr && json.Find("payload") == nullptr);
}

Result<SigstoreBundle> ReadBundle(const Json& json, std::string_view where) {
  auto bundle = ReadMembers(json, std::string(where));
  if (bundle.ok()) return bundle;
  return IntegrityError("is no bundle: " + bundle.error().message, bundle.error().where);
}

std::string WriteBundle(const SignedEnvelope& envelope, const PublicKey& key) {
  if (envelope.signatures.size() != 1) Abort("a bundle is of one signature");
  SignedEnvelope plain = envelope;
  plain.signatures[0].key_id.clear();
  return Json::MakeObject(
             {{"mediaType", kBundleMediaType},
              {"verificationMaterial",
               Json::MakeObject({{"publicKey", Json::MakeObject({{"hint", BundleHint(key)}})},
                                 {"tlogEntries", Json::MakeArray()}})},
              {"dsseEnvelope", EnvelopeJson(plain)}})
      .Dump();
}

}  // namespace rharness
