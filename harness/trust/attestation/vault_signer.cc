// Vault's transit engine as a signer: the key stays there, bytes go in, a signature comes back.
// Source: HashiCorp Vault, API documentation, secret engines, transit (read key, sign data).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "harness/base/base64.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/trust/attestation/open_signer.h"
#include "harness/trust/attestation/secret_file.h"

namespace rharness {
namespace {

constexpr std::string_view kScheme = "vault:";

// The path of the engine and the key's name, each of letters, digits and "-_.".
struct TransitKey {
  std::string mount;
  std::string name;
};

bool IsPlainName(std::string_view text) {
  return !text.empty() && text != "." && text != ".." && text.size() <= 200 &&
         EscapedForUrl(text) == text;
}

Result<TransitKey> ParseTransitKey(const std::string& locator) {
  const std::string path = locator.substr(kScheme.size());
  const auto slash = path.rfind('/');
  TransitKey key;
  if (slash != path.npos) key = {path.substr(0, slash), path.substr(slash + 1)};
  bool plain = IsPlainName(key.name);
  for (std::size_t at = 0; plain && at <= key.mount.size();) {
    const auto end = std::min(key.mount.find('/', at), key.mount.size());
    plain = IsPlainName(std::string_view(key.mount).substr(at, end - at));
    at = end + 1;
  }
  if (plain) return key;
  return InvalidInput("expected vault:MOUNT/KEY, such as vault:transit/lab-2026",
                      TerminalSafe(locator.substr(0, 200)));
}

Result<SecretText> ReadToken(const SignerPlace& place) {
  std::string file = place.variable("VAULT_TOKEN_FILE");
  const std::string home = place.variable("HOME");
  if (file.empty() && !home.empty()) file = home + "/.vault-token";
  if (file.empty()) {
    return InvalidInput("expected the file with Vault's token in VAULT_TOKEN_FILE, or HOME");
  }
  auto token = ReadSecretLine(file, "Vault's token");
  if (token.ok() || token.error().code != ErrorCode::kNotFound) return token;
  const bool in_variable = !place.variable("VAULT_TOKEN").empty();
  return InvalidInput(
      fmt::format("there is no such file; expected Vault's token there, or in the file that "
                  "VAULT_TOKEN_FILE names{}",
                  in_variable ? " (VAULT_TOKEN is not read: children inherit it)" : ""),
      file);
}

// A token must not be overheard: over TLS, or only within this machine.
Status CheckAddress(const std::string& address) {
  if (address.empty()) return InvalidInput("expected Vault's address in VAULT_ADDR");
  const auto local = [&](std::string_view host) {
    const std::string start = fmt::format("http://{}", host);
    return address == start || address.starts_with(start + ":") || address.starts_with(start + "/");
  };
  if (!address.starts_with("http://") || local("127.0.0.1") || local("localhost") ||
      local("[::1]")) {
    return {};
  }
  return InvalidInput("Vault's token would go there unencrypted; expected https", "VAULT_ADDR");
}

// VAULT_CLIENT_TIMEOUT, "60" or "60s", and VAULT_MAX_RETRIES, if set.
Result<HttpLimits> LimitsOf(const SignerPlace& place) {
  HttpLimits limits = place.limits;
  const auto read = [&](const char* name, int most, int* out) -> Status {
    const std::string text = place.variable(name);
    if (text.empty()) return {};
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, *out);
    const bool whole = rest == end || std::string_view(rest, end) == "s";
    if (error == std::errc() && whole && *out >= 0 && *out <= most) return {};
    return InvalidInput(
        fmt::format("'{}'; expected a number up to {}", TerminalSafe(text.substr(0, 40)), most),
        name);
  };
  int seconds = 0;
  RETURN_IF_ERROR(read("VAULT_CLIENT_TIMEOUT", 3600, &seconds));
  if (seconds > 0) limits.request = std::chrono::seconds(seconds);
  int retries = limits.attempts - 1;
  RETURN_IF_ERROR(read("VAULT_MAX_RETRIES", 100, &retries));
  limits.attempts = retries + 1;
  return limits;
}

Result<HttpClient> Connect(const SignerPlace& place) {
  const std::string address = place.variable("VAULT_ADDR");
  RETURN_IF_ERROR(CheckAddress(address));
  ASSIGN_OR_RETURN(const HttpLimits limits, LimitsOf(place));
  ASSIGN_OR_RETURN(const SecretText token, ReadToken(place));
  HttpHeaders headers = {{"X-Vault-Token", token.text()}, {"X-Vault-Request", "true"}};
  const std::string name_space = place.variable("VAULT_NAMESPACE");
  if (!name_space.empty()) headers.emplace_back("X-Vault-Namespace", name_space);
  for (const auto& [name, value] : headers) {
    if (std::ranges::all_of(value, [](char c) { return c > ' ' && c < 0x7f; })) continue;
    return InvalidInput("has a blank or a control character in it",
                        name == "X-Vault-Token" ? "Vault's token" : "VAULT_NAMESPACE");
  }
  HttpCredentials credentials;
  credentials.secrets = {token.text()};
  credentials.sign = [headers = std::move(headers)](std::string_view, std::string_view,
                                                    const HttpQuery&) { return headers; };
  return HttpClient::Make(address, std::move(credentials), limits, place.variable("VAULT_CACERT"));
}

// The newest version of a key, as the server describes it.
struct TransitVersion {
  std::int64_t number = 0;
  bool is_ed25519 = false;
  std::string public_key;  // PEM, or of Ed25519 base 64
};

Result<TransitVersion> ReadVersion(const Json& answer, const std::string& where) {
  JsonReader reader(answer, where);
  TransitVersion version;
  std::string type;
  reader.ReadObject("data", true, [&](JsonReader& data) {
    data.Read("type", &type);
    data.Read("latest_version", &version.number);
    if (!data.ok() || (type != "ed25519" && type != "ecdsa-p256")) return;
    data.ReadObject("keys", true, [&](JsonReader& keys) {
      keys.ReadObject(std::to_string(version.number), true,
                      [&](JsonReader& one) { one.Read("public_key", &version.public_key); });
    });
  });
  RETURN_IF_ERROR(reader.status());
  version.is_ed25519 = type == "ed25519";
  if (version.is_ed25519 || type == "ecdsa-p256") return version;
  return Unsupported(fmt::format("a key of type '{}'; expected ecdsa-p256 or ed25519",
                                 TerminalSafe(type.substr(0, 80))),
                     where);
}

Result<PublicKey> PublicKeyOf(const TransitVersion& version, const std::string& where) {
  if (!version.is_ed25519) return PublicKey::FromPem(version.public_key, where);
  const auto point = FromBase64Text(version.public_key);
  if (point && point->size() == 32) return PublicKey::FromPoint(*point, where);
  return InvalidInput("expected 32 bytes of an Ed25519 key in base 64", where);
}

class VaultSigner : public Signer {
 public:
  VaultSigner(HttpClient client, TransitKey key, TransitVersion version, PublicKey public_key)
      : client_(std::move(client)),
        path_(fmt::format("/v1/{}/sign/{}{}", key.mount, key.name,
                          version.is_ed25519 ? "" : "/sha2-256")),
        version_(version.number),
        public_key_(std::move(public_key)) {}

  Result<std::string> Sign(std::string_view bytes) override {
    const std::string where = client_.url() + path_;
    ASSIGN_OR_RETURN(const Json answer,
                     client_.Post(path_, Json::MakeObject({{"input", ToBase64Text(bytes)},
                                                           {"prehashed", false},
                                                           {"marshaling_algorithm", "asn1"},
                                                           {"key_version", version_}})));
    JsonReader reader(answer, where);
    std::string text;
    reader.ReadObject("data", true, [&](JsonReader& data) { data.Read("signature", &text); });
    RETURN_IF_ERROR(reader.status());
    const std::string start = fmt::format("vault:v{}:", version_);
    if (!text.starts_with(start)) {
      return IntegrityError(fmt::format("answers with '{}'; expected a signature of version {} of "
                                        "the key, {}...",
                                        TerminalSafe(text.substr(0, 20)), version_, start),
                            where);
    }
    auto signature = FromBase64Text(std::string_view(text).substr(start.size()));
    if (!signature) return IntegrityError("the signature is no base 64", where);
    return CheckedSignature(public_key_, bytes, std::move(*signature), where);
  }
  const PublicKey& public_key() const override { return public_key_; }

 private:
  HttpClient client_;
  std::string path_;
  std::int64_t version_;
  PublicKey public_key_;
};

}  // namespace

Result<std::unique_ptr<Signer>> OpenVaultSigner(const std::string& locator,
                                                const SignerPlace& place) {
  ASSIGN_OR_RETURN(TransitKey key, ParseTransitKey(locator));
  ASSIGN_OR_RETURN(HttpClient client, Connect(place));
  const std::string path = fmt::format("/v1/{}/keys/{}", key.mount, key.name);
  const std::string where = client.url() + path;
  ASSIGN_OR_RETURN(const Json answer, client.Get(path, {}));
  ASSIGN_OR_RETURN(TransitVersion version, ReadVersion(answer, where));
  ASSIGN_OR_RETURN(PublicKey public_key, PublicKeyOf(version, where));
  return std::unique_ptr<Signer>(std::make_unique<VaultSigner>(
      std::move(client), std::move(key), std::move(version), std::move(public_key)));
}

}  // namespace rharness
