// SHA-256 by OpenSSL, until digest.cc is there.
#include <openssl/evp.h>

#include <algorithm>
#include <map>

#include "harness/base/digest.h"
#include "harness/base/files.h"

namespace rharness {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};
Sha256::Sha256() : state_(std::make_unique<State>()) {
  EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
void Sha256::Update(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}
void Sha256::Update(std::string_view text) {
  EVP_DigestUpdate(state_->context, text.data(), text.size());
}
void Sha256::UpdateU64(std::uint64_t value) {
  std::array<std::byte, 8> bytes{};
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(value >> (8 * i));
  Update(std::span<const std::byte>(bytes));
}
Sha256Bytes Sha256::Finish() {
  Sha256Bytes out{};
  EVP_DigestFinal_ex(state_->context, out.data(), nullptr);
  return out;
}

Sha256Bytes Sha256Of(std::span<const std::byte> bytes) {
  Sha256 sha;
  sha.Update(bytes);
  return sha.Finish();
}
std::string Sha256HexOf(std::string_view text) {
  Sha256 sha;
  sha.Update(text);
  return ToHex(sha.Finish());
}
std::string ToHex(std::span<const std::uint8_t> bytes) {
  std::string out;
  for (const std::uint8_t byte : bytes) {
    out.push_back("0123456789abcdef"[byte >> 4]);
    out.push_back("0123456789abcdef"[byte & 15]);
  }
  return out;
}
bool IsSha256Hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<FileDigest> HashFile(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
  return FileDigest{Sha256HexOf(content), content.size()};
}

Result<TreeDigest> HashTree(const std::filesystem::path& path, int) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    ASSIGN_OR_RETURN(const FileDigest file, HashFile(path));
    return TreeDigest{file.sha256, file.size_bytes, 1};
  }
  std::map<std::string, fs::path> files;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_symlink() || it->is_other()) return InvalidInput("is no regular file", it->path());
    if (it->is_regular_file()) files[fs::relative(it->path(), path).string()] = it->path();
  }
  if (error) return IoError(error.message(), path.string());
  Sha256 sha;
  sha.Update(std::string_view("rharness.tree/v1\0", 17));
  TreeDigest tree;
  for (const auto& [name, file] : files) {
    ASSIGN_OR_RETURN(const std::string content, ReadFile(file));
    sha.UpdateU64(name.size());
    sha.Update(name);
    sha.UpdateU64(content.size());
    const Sha256Bytes leaf = Sha256Of(std::as_bytes(std::span(content)));
    sha.Update(std::as_bytes(std::span(leaf)));
    tree.size_bytes += content.size();
    ++tree.files;
  }
  tree.sha256 = ToHex(sha.Finish());
  return tree;
}

}  // namespace rharness
