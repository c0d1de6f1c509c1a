// What is written down in the place of a value that must not be: a note, never the value.
//
// Role: between capturing variables and writing them. A plain digest of a short value can be
// guessed from a list, so a digest is keyed with a secret of this installation.
#ifndef RHARNESS_HARNESS_MANIFEST_ENVIRONMENT_SECRETS_H_
#define RHARNESS_HARNESS_MANIFEST_ENVIRONMENT_SECRETS_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

// Names with TOKEN, SECRET, PASSWORD, PASSWD, CREDENTIAL or KEY in them, in either case.
bool NamesSecret(std::string_view name);
// A URL with a user and a password in it.
bool HoldsCredential(std::string_view value);

// "withheld:redacted" for a name that speaks of a secret (unless RHARNESS_SECRETS=keyed), the note
// of a keyed digest for a value that holds a credential, else the value itself. Redacted as well
// where there is no key.
std::string Withheld(std::string_view name, const std::string& value);

// "withheld:hmac-sha256:KEY ID:HMAC" (RFC 2104). The key id is of the key alone: notes of two keys
// cannot be compared.
std::string KeyedNote(std::string_view key, std::string_view value);

// What a note stands in for its value by: "redacted", the key id of a keyed digest, "sha256" for
// the plain digest of older records; empty for what is no note.
std::string RealmOf(std::string_view value);

// The key of this installation: 32 random bytes, made by the first that asks. Where it lies:
// RHARNESS_KEY_FILE (shared by a site), else rharness/environment.key below XDG_STATE_HOME or
// ~/.local/state; a file for its owner alone (0600). Errors: io, not_found where there is no home,
// invalid_input for a file that is no key.
Result<std::string> LoadOrMakeKey(const std::filesystem::path& file);
Result<std::filesystem::path> KeyFile();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_MANIFEST_ENVIRONMENT_SECRETS_H_
