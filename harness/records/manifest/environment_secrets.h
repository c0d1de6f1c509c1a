// Notes in place of secret values: the value itself is never recorded.
//
// Role: between capturing variables and writing them. A plain digest of a short value can be
// guessed from a list, so a digest is keyed with a secret of this installation.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_ENVIRONMENT_SECRETS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_ENVIRONMENT_SECRETS_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// Whether a name denotes a secret, by its words: split at characters that are neither letter nor
// digit and at capitals that begin a word, in either case. It ends in password, passwd, passphrase,
// secret, credential, apikey or the like, or in "token" or "key" unless the word before makes it a
// setting (pad_token, sort_key). Words in the middle do not count: max_tokens, tokenizer,
// pad_token_id and num_key_value_heads are settings. "pass" and "pwd" end a secret's name (DB_PASS)
// but not a step's (forward_pass), and are no secret alone.
bool NamesSecret(std::string_view name);
// A URL with a user and a password in it, or with a token as the user of an HTTP URL; a token of a
// well-known service by its prefix, a JSON web token, a private key in PEM. Under any name.
bool HoldsCredential(std::string_view value);
// Whether to withhold a value: it holds a credential, or its name denotes a secret and it is
// neither empty nor a truth value nor a number; a number is withheld if the name denotes a
// password.
bool IsSecret(std::string_view name, std::string_view value);

// The note of a keyed digest for a secret, else the value itself. "withheld:redacted" without a
// key, and for secrets by their name if RHARNESS_SECRETS=redacted.
std::string Withheld(std::string_view name, const std::string& value);

// A setting with notes in place of its secrets. Everything inside a member with a secret's name is
// secret.
Json WithoutSecrets(std::string_view name, Json value);

// "withheld:hmac-sha256:KEY ID:HMAC" (RFC 2104). The key id depends on the key alone: notes of two
// keys cannot be compared.
std::string KeyedNote(std::string_view key, std::string_view value);

// The kind of a note: "redacted", the key id of a keyed digest, "sha256" for the plain digest of
// older records; empty for other text.
std::string RealmOf(std::string_view value);

// The key of this installation: 32 random bytes, made at first use. Place: RHARNESS_KEY_FILE
// (shared by a site), else rharness/environment.key below XDG_STATE_HOME or ~/.local/state; a file
// for its owner alone (0600). Errors: io, not_found without a home, invalid_input for a file that
// is no key.
Result<std::string> LoadOrMakeKey(const std::filesystem::path& file);
Result<std::filesystem::path> KeyFile();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_ENVIRONMENT_SECRETS_H_
