// A parsed PKCS#11 URI (RFC 7512): token, key, and the place of the PIN.
//
// Role: private to pkcs11_signer.cc; uses no token.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_P11_URI_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_P11_URI_H_

#include <optional>
#include <string>

#include "harness/base/result.h"
#include "harness/trust/attestation/open_signer.h"
#include "harness/trust/attestation/p11_kit.h"
#include "harness/trust/attestation/secret_file.h"

namespace rharness {

class P11Uri {
 public:
  // Errors: invalid_input for an invalid URI, one with a PIN or an unknown attribute, or one that
  // names something else than a private key.
  static Result<P11Uri> Parse(const P11Kit* kit, const std::string& text);

  // Without its query, which may hold a PIN: for errors.
  const std::string& shown() const { return shown_; }
  std::string module_path() const;
  // Empty: every one.
  std::string module_name() const;
  // CKA_LABEL or CKA_ID; empty: it says none.
  std::optional<std::string> Attribute(CK_ATTRIBUTE_TYPE type) const;
  bool Matches(const CK_INFO& module) const;
  bool Matches(CK_SLOT_ID slot, const CK_SLOT_INFO& info) const;
  bool Matches(const CK_TOKEN_INFO& token) const;

  // pin-source=file:PATH, else the file that RHARNESS_PKCS11_PIN_FILE names; empty: neither.
  // Errors: those of ReadSecretLine; invalid_input for a source that is no file.
  Result<std::optional<SecretText>> ReadPin(const SignerPlace& place) const;

 private:
  P11Uri(const P11Kit* kit, std::shared_ptr<P11KitUri> uri, std::string shown)
      : kit_(kit), uri_(std::move(uri)), shown_(std::move(shown)) {}
  Status Check() const;

  const P11Kit* kit_;
  std::shared_ptr<P11KitUri> uri_;
  std::string shown_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_P11_URI_H_
