// A key on a token as a signer: found by its URI, and never taken from there.
// Source: PKCS#11 v3.0, Cryptographic Token Interface; RFC 7512.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/trust/attestation/open_signer.h"
#include "harness/trust/attestation/p11_kit.h"
#include "harness/trust/attestation/p11_uri.h"
#include "harness/trust/attestation/secret_file.h"

namespace rharness {
namespace {

constexpr std::size_t kMostSlots = 1024;
constexpr CK_ULONG kMostAttributeBytes = 4096;
constexpr std::size_t kPairBytes = 64;

CK_BYTE* BytesOf(const std::string& text) {
  return reinterpret_cast<CK_BYTE*>(const_cast<char*>(text.data()));
}

// Padded with blanks, not ended.
template <std::size_t size>
std::string Padded(const unsigned char (&text)[size]) {
  std::string name(reinterpret_cast<const char*>(text), size);
  return TerminalSafe(name.substr(0, name.find_last_not_of(' ') + 1));
}

struct FoundToken {
  CK_FUNCTION_LIST* module = nullptr;
  CK_SLOT_ID slot = 0;
  CK_TOKEN_INFO info{};
};

// A session, and the modules that it needs: closed with the object.
class P11Session {
 public:
  P11Session(const P11Kit* kit, std::unique_ptr<P11Modules> modules, std::string where)
      : kit_(kit), modules_(std::move(modules)), where_(std::move(where)) {}
  P11Session(const P11Session&) = delete;
  P11Session& operator=(const P11Session&) = delete;
  ~P11Session() {
    if (open_) module_->C_CloseSession(session_);
  }

  Error Failed(std::string_view what, CK_RV code) const {
    return IoError(fmt::format("the token cannot {}: {}", what, kit_->strerror(code)), where_);
  }
  Status Open(const FoundToken& token) {
    module_ = token.module;
    const CK_RV code =
        module_->C_OpenSession(token.slot, CKF_SERIAL_SESSION, nullptr, nullptr, &session_);
    if (code != CKR_OK) return Failed("be opened", code);
    open_ = true;
    return {};
  }
  Status Login(CK_USER_TYPE user, const SecretText& pin) {
    const CK_RV code = module_->C_Login(session_, user, BytesOf(pin.text()), pin.text().size());
    if (code == CKR_OK || code == CKR_USER_ALREADY_LOGGED_IN) return {};
    if (code == CKR_PIN_INCORRECT || code == CKR_PIN_INVALID || code == CKR_PIN_LEN_RANGE) {
      return InvalidInput("the token refuses the PIN, which was tried once: tokens lock", where_);
    }
    if (code == CKR_PIN_LOCKED) return InvalidInput("the token's PIN is locked", where_);
    return Failed("be logged in to", code);
  }
  // At most two: enough to know that there is more than one.
  Result<std::vector<CK_OBJECT_HANDLE>> Find(std::vector<CK_ATTRIBUTE> wanted) {
    CK_RV code = module_->C_FindObjectsInit(session_, wanted.data(), wanted.size());
    std::array<CK_OBJECT_HANDLE, 2> found{};
    CK_ULONG count = 0;
    if (code == CKR_OK) {
      code = module_->C_FindObjects(session_, found.data(), found.size(), &count);
      module_->C_FindObjectsFinal(session_);
    }
    if (code != CKR_OK) return Failed("look for the key", code);
    return std::vector<CK_OBJECT_HANDLE>(found.begin(),
                                         found.begin() + static_cast<std::ptrdiff_t>(count));
  }
  // Empty: the object has none that it shows.
  std::string Attribute(CK_OBJECT_HANDLE object, CK_ATTRIBUTE_TYPE type) const {
    CK_ATTRIBUTE one{type, nullptr, 0};
    if (module_->C_GetAttributeValue(session_, object, &one, 1) != CKR_OK ||
        one.ulValueLen == CK_UNAVAILABLE_INFORMATION || one.ulValueLen > kMostAttributeBytes) {
      return "";
    }
    std::string value(one.ulValueLen, '\0');
    one.pValue = value.data();
    if (module_->C_GetAttributeValue(session_, object, &one, 1) != CKR_OK) return "";
    value.resize(std::min<std::size_t>(value.size(), one.ulValueLen));
    return value;
  }
  Result<std::string> Sign(CK_MECHANISM mechanism, CK_OBJECT_HANDLE key,
                           const SecretText* each_time, const std::string& bytes) {
    CK_RV code = module_->C_SignInit(session_, &mechanism, key);
    if (code != CKR_OK) return Failed("sign", code);
    if (each_time != nullptr) RETURN_IF_ERROR(Login(CKU_CONTEXT_SPECIFIC, *each_time));
    std::string signature(256, '\0');
    CK_ULONG size = signature.size();
    code = module_->C_Sign(session_, BytesOf(bytes), bytes.size(), BytesOf(signature), &size);
    if (code != CKR_OK) return Failed("sign", code);
    signature.resize(std::min<std::size_t>(signature.size(), size));
    return signature;
  }
  const std::string& where() const { return where_; }
  const P11Modules& modules() const { return *modules_; }

 private:
  const P11Kit* kit_;
  std::unique_ptr<P11Modules> modules_;
  std::string where_;
  CK_FUNCTION_LIST* module_ = nullptr;
  CK_SESSION_HANDLE session_ = 0;
  bool open_ = false;
};

bool IsMeant(const P11Kit& kit, const P11Uri& uri, CK_FUNCTION_LIST* module) {
  CK_INFO info{};
  if (module->C_GetInfo(&info) != CKR_OK || !uri.Matches(info)) return false;
  if (uri.module_name().empty()) return true;
  char* name = kit.module_get_name(module);
  const bool same = name != nullptr && uri.module_name() == name;
  std::free(name);
  return same;
}

// Those of one module that the URI means; the names of all go into `seen`.
void AddTokens(const P11Uri& uri, CK_FUNCTION_LIST* module, std::vector<FoundToken>* found,
               std::string* seen) {
  std::vector<CK_SLOT_ID> slots(kMostSlots);
  CK_ULONG count = slots.size();
  if (module->C_GetSlotList(CK_TRUE, slots.data(), &count) != CKR_OK) return;
  slots.resize(std::min<std::size_t>(slots.size(), count));
  for (const CK_SLOT_ID slot : slots) {
    FoundToken token{.module = module, .slot = slot};
    CK_SLOT_INFO info{};
    if (module->C_GetSlotInfo(slot, &info) != CKR_OK ||
        module->C_GetTokenInfo(slot, &token.info) != CKR_OK ||
        (token.info.flags & CKF_TOKEN_INITIALIZED) == 0) {
      continue;
    }
    *seen += fmt::format("{}'{}'", seen->empty() ? "" : ", ", Padded(token.info.label));
    if (uri.Matches(slot, info) && uri.Matches(token.info)) found->push_back(token);
  }
}

Result<FoundToken> FindToken(const P11Kit& kit, const P11Uri& uri, const P11Modules& modules) {
  std::vector<FoundToken> found;
  std::string seen;
  for (CK_FUNCTION_LIST* module : modules.all()) {
    if (IsMeant(kit, uri, module)) AddTokens(uri, module, &found, &seen);
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    return NotFound(seen.empty()
                        ? std::string("no token is there")
                        : "no token is the one that is meant; there are " + seen.substr(0, 500),
                    uri.shown());
  }
  return InvalidInput(fmt::format("{} tokens could be meant, of {}; expected token= or serial= of "
                                  "one",
                                  found.size(), seen.substr(0, 500)),
                      uri.shown());
}

CK_ATTRIBUTE Holding(CK_ATTRIBUTE_TYPE type, const std::string& value) {
  return {type, const_cast<char*>(value.data()), value.size()};
}

std::string NumberText(CK_ULONG number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

// The one object of a class with these properties.
Result<CK_OBJECT_HANDLE> FindOne(P11Session* session, CK_OBJECT_CLASS kind,
                                 const std::optional<std::string>& id,
                                 const std::optional<std::string>& label, std::string_view what) {
  const std::string class_text = NumberText(kind);
  std::vector<CK_ATTRIBUTE> wanted = {Holding(CKA_CLASS, class_text)};
  if (id) wanted.push_back(Holding(CKA_ID, *id));
  if (label) wanted.push_back(Holding(CKA_LABEL, *label));
  ASSIGN_OR_RETURN(const auto found, session->Find(std::move(wanted)));
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    return NotFound(
        fmt::format("the token has no {} like this; without its PIN it shows none", what),
        session->where());
  }
  return InvalidInput(
      fmt::format("the token has more than one {} like this; expected object= or id= of one", what),
      session->where());
}

// CKA_EC_POINT: an OCTET STRING around the point; some tokens leave it out, or take a BIT STRING.
std::string PointIn(const std::string& attribute) {
  const auto body = [&](std::size_t head) { return attribute.substr(head); };
  const std::size_t size = attribute.size();
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(attribute[at]); };
  if ((size == 34 || size == 67) && byte(0) == 4 && byte(1) == size - 2) return body(2);
  if (size == 35 && byte(0) == 3 && byte(1) == 33 && byte(2) == 0) return body(3);
  return attribute;
}

struct TokenKey {
  CK_OBJECT_HANDLE handle = 0;
  bool is_ed25519 = false;
  bool asks_each_time = false;
  std::string point;
};

Result<TokenKey> FindKey(P11Session* session, const P11Uri& uri) {
  TokenKey key;
  ASSIGN_OR_RETURN(key.handle, FindOne(session, CKO_PRIVATE_KEY, uri.Attribute(CKA_ID),
                                       uri.Attribute(CKA_LABEL), "private key"));
  const std::string type = session->Attribute(key.handle, CKA_KEY_TYPE);
  key.is_ed25519 = type == NumberText(CKK_EC_EDWARDS);
  if (!key.is_ed25519 && type != NumberText(CKK_EC)) {
    return Unsupported("the key is of another kind; expected Ed25519 or ECDSA over P-256",
                       session->where());
  }
  key.asks_each_time = session->Attribute(key.handle, CKA_ALWAYS_AUTHENTICATE) == "\x01";
  const std::string id = session->Attribute(key.handle, CKA_ID);
  const std::string label = session->Attribute(key.handle, CKA_LABEL);
  const auto half = FindOne(
      session, CKO_PUBLIC_KEY, id.empty() ? std::nullopt : std::optional<std::string>(id),
      id.empty() ? std::optional<std::string>(label) : std::nullopt, "public half of the key");
  // Some tokens show the point at the private key, too.
  key.point = PointIn(session->Attribute(half.ok() ? *half : key.handle, CKA_EC_POINT));
  if (!key.point.empty()) return key;
  return half.ok() ? Unsupported("the token does not show the key's public half", session->where())
                   : half.error();
}

class TokenSigner : public Signer {
 public:
  TokenSigner(std::unique_ptr<P11Session> session, TokenKey key, std::optional<SecretText> pin,
              PublicKey public_key)
      : session_(std::move(session)),
        key_(std::move(key)),
        pin_(std::move(pin)),
        public_key_(std::move(public_key)) {}

  Result<std::string> Sign(std::string_view bytes) override {
    const SecretText* each_time = key_.asks_each_time && pin_ ? &*pin_ : nullptr;
    if (key_.is_ed25519) {
      ASSIGN_OR_RETURN(std::string signature, session_->Sign({CKM_EDDSA, nullptr, 0}, key_.handle,
                                                             each_time, std::string(bytes)));
      return CheckedSignature(public_key_, bytes, std::move(signature), session_->where());
    }
    const Sha256Bytes digest = Sha256Of(std::as_bytes(std::span(bytes)));
    const std::string hashed(reinterpret_cast<const char*>(digest.data()), digest.size());
    ASSIGN_OR_RETURN(const std::string pair,
                     session_->Sign({CKM_ECDSA, nullptr, 0}, key_.handle, each_time, hashed));
    if (pair.size() != kPairBytes) {
      return IntegrityError(
          fmt::format("a signature of {} bytes; expected r and s, {}", pair.size(), kPairBytes),
          session_->where());
    }
    return CheckedSignature(public_key_, bytes, EcdsaDerOf(pair), session_->where());
  }
  const PublicKey& public_key() const override { return public_key_; }

 private:
  std::unique_ptr<P11Session> session_;
  TokenKey key_;
  std::optional<SecretText> pin_;
  PublicKey public_key_;
};

}  // namespace

Result<std::unique_ptr<Signer>> OpenPkcs11Signer(const std::string& text,
                                                 const SignerPlace& place) {
  ASSIGN_OR_RETURN(const P11Kit* kit, LoadP11Kit());
  ASSIGN_OR_RETURN(const P11Uri uri, P11Uri::Parse(kit, text));
  ASSIGN_OR_RETURN(std::optional<SecretText> pin, uri.ReadPin(place));
  ASSIGN_OR_RETURN(auto modules, P11Modules::Load(kit, uri.module_path()));
  auto session = std::make_unique<P11Session>(kit, std::move(modules), uri.shown());
  ASSIGN_OR_RETURN(const FoundToken token, FindToken(*kit, uri, session->modules()));
  RETURN_IF_ERROR(session->Open(token));
  if (pin) RETURN_IF_ERROR(session->Login(CKU_USER, *pin));
  ASSIGN_OR_RETURN(TokenKey key, FindKey(session.get(), uri));
  ASSIGN_OR_RETURN(PublicKey public_key, PublicKey::FromPoint(key.point, uri.shown()));
  return std::unique_ptr<Signer>(std::make_unique<TokenSigner>(
      std::move(session), std::move(key), std::move(pin), std::move(public_key)));
}

}  // namespace rharness
