// URIs of PKCS#11, by p11-kit.
#include "harness/trust/attestation/p11_uri.h"

#include <fmt/format.h>

#include <cstring>

#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr char kPinVariable[] = "RHARNESS_PKCS11_PIN_FILE";

std::string TextOf(const char* text) { return text == nullptr ? std::string() : std::string(text); }

}  // namespace

Result<P11Uri> P11Uri::Parse(const P11Kit* kit, const std::string& text) {
  std::shared_ptr<P11KitUri> parsed(kit->uri_new(), kit->uri_free);
  const std::size_t most = std::min<std::size_t>(text.find('?'), 200);
  P11Uri uri(kit, std::move(parsed), TerminalSafe(text.substr(0, most)));
  const int code = kit->uri_parse(text.c_str(), P11_KIT_URI_FOR_ANY, uri.uri_.get());
  if (code != P11_KIT_URI_OK) {
    return InvalidInput(
        fmt::format("is no URI of PKCS#11 ({}); expected such as "
                    "'pkcs11:token=lab;object=signing?pin-source=file:/etc/lab.pin'",
                    TextOf(kit->uri_message(code))),
        uri.shown_);
  }
  RETURN_IF_ERROR(uri.Check());
  return uri;
}

Status P11Uri::Check() const {
  if (kit_->uri_pin_value(uri_.get()) != nullptr) {
    return InvalidInput(fmt::format("holds a PIN (pin-value), which whoever lists processes can "
                                    "read: change it; expected pin-source=file:PATH, or the file's "
                                    "path in {}",
                                    kPinVariable),
                        shown_);
  }
  if (kit_->uri_any_unrecognized(uri_.get()) != 0) {
    return InvalidInput("has an attribute that is not known, by which nothing can be found",
                        shown_);
  }
  const auto type = Attribute(CKA_CLASS);
  const CK_OBJECT_CLASS wanted = CKO_PRIVATE_KEY;
  if (!type || *type == std::string(reinterpret_cast<const char*>(&wanted), sizeof(wanted))) {
    return {};
  }
  return InvalidInput("names something else than a key that signs; expected type=private, or none",
                      shown_);
}

std::string P11Uri::module_path() const { return TextOf(kit_->uri_module_path(uri_.get())); }
std::string P11Uri::module_name() const { return TextOf(kit_->uri_module_name(uri_.get())); }

std::optional<std::string> P11Uri::Attribute(CK_ATTRIBUTE_TYPE type) const {
  const CK_ATTRIBUTE* found = kit_->uri_attribute(uri_.get(), type);
  if (found == nullptr) return std::nullopt;
  return std::string(static_cast<const char*>(found->pValue), found->ulValueLen);
}

bool P11Uri::Matches(const CK_INFO& module) const {
  return kit_->match_module(uri_.get(), &module) != 0;
}
bool P11Uri::Matches(CK_SLOT_ID slot, const CK_SLOT_INFO& info) const {
  const CK_SLOT_ID wanted = kit_->uri_slot_id(uri_.get());
  const bool any = wanted == static_cast<CK_SLOT_ID>(-1);
  return (any || wanted == slot) && kit_->match_slot(uri_.get(), &info) != 0;
}
bool P11Uri::Matches(const CK_TOKEN_INFO& token) const {
  return kit_->match_token(uri_.get(), &token) != 0;
}

Result<std::optional<SecretText>> P11Uri::ReadPin(const SignerPlace& place) const {
  std::string file = TextOf(kit_->uri_pin_source(uri_.get()));
  if (file.empty()) {
    file = place.variable(kPinVariable);
  } else if (file.starts_with("file:")) {
    file.erase(0, std::strlen("file:"));
    if (file.starts_with("///")) file.erase(0, 2);
  } else if (!file.starts_with('/')) {
    return InvalidInput("its pin-source is no file; expected pin-source=file:PATH", shown_);
  }
  if (file.empty()) return std::optional<SecretText>();
  ASSIGN_OR_RETURN(SecretText pin, ReadSecretLine(file, "the PIN"));
  return std::optional<SecretText>(std::move(pin));
}

}  // namespace rharness
