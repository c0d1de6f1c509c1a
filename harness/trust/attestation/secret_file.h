// Secrets: keys, passphrases, PINs and tokens, read from files that nobody else may read.
//
// Role: private to signing code. Nothing here prints: no error quotes the content of a file.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_SECRET_FILE_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_SECRET_FILE_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

// Text that is overwritten before its memory is freed.
class SecretText {
 public:
  SecretText() = default;
  explicit SecretText(std::string text) : text_(std::move(text)) {}
  SecretText(SecretText&& other) noexcept : text_(std::move(other.text_)) {}
  SecretText& operator=(SecretText&& other) noexcept {
    std::swap(text_, other.text_);
    return *this;
  }
  ~SecretText();
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The file's content; `what` names it in errors ("the key"). Errors: not_found, io, invalid_input
// (no regular file, more than 64 KiB, others may read it).
Result<SecretText> ReadSecretFile(const std::filesystem::path& path, std::string_view what);
// Its first line alone. An empty one is invalid_input.
Result<SecretText> ReadSecretLine(const std::filesystem::path& path, std::string_view what);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_SECRET_FILE_H_
