// Single SHA-256 streams by OpenSSL, their spelling, and the digest of a tree of files.
#include "harness/base/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "harness/base/digest_files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Fetched once: looking the algorithm up for every digest costs more than a small file.
const EVP_MD* Algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  if (algorithm == nullptr) Abort("OpenSSL offers no SHA256");
  return algorithm;
}

// One git object on its way through OpenSSL.
class GitObject {
 public:
  GitObject(std::string_view type, std::uint64_t size_bytes, GitHash hash)
      : context_(EVP_MD_CTX_new()) {
    const EVP_MD* algorithm = hash == GitHash::kSha256 ? Algorithm() : EVP_sha1();
    if (context_ == nullptr || EVP_DigestInit_ex(context_, algorithm, nullptr) != 1) {
      Abort("OpenSSL cannot start a digest");
    }
    const std::string header = fmt::format("{} {}", type, size_bytes);
    Update(header.c_str(), header.size() + 1);
  }
  GitObject(const GitObject&) = delete;
  GitObject& operator=(const GitObject&) = delete;
  ~GitObject() { EVP_MD_CTX_free(context_); }
  void Update(const void* bytes, std::size_t size) {
    if (EVP_DigestUpdate(context_, bytes, size) != 1) Abort("OpenSSL cannot continue a digest");
  }
  std::string Finish() {
    std::array<std::uint8_t, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    if (EVP_DigestFinal_ex(context_, bytes.data(), &size) != 1) {
      Abort("OpenSSL cannot finish a digest");
    }
    return ToHex(std::span(bytes).first(size));
  }

 private:
  EVP_MD_CTX* context_;
};

Error WalkError(const std::error_code& error, const fs::path& path) {
  return IoError("cannot list folder: " + error.message(), path.string());
}

// Relative paths below a root, sorted by their bytes.
struct Listing {
  std::vector<std::string> files;  // regular ones
  std::vector<std::string> empty_folders;
};

Result<Listing> ListTree(const fs::path& root) {
  Listing listing;
  const std::size_t prefix = (root / "").native().size();
  std::error_code error;
  fs::recursive_directory_iterator entry(root, error);
  if (error) return WalkError(error, root);
  std::string folder;  // the last entry, if it was one: empty unless an entry inside it follows
  int depth = 0;       // of `folder`
  const auto close_folder = [&](int next_depth) {
    if (!folder.empty() && next_depth <= depth) listing.empty_folders.push_back(folder);
    folder.clear();
  };
  while (entry != fs::recursive_directory_iterator()) {
    const fs::path& path = entry->path();
    const bool link = entry->is_symlink(error);
    const bool is_folder = !error && !link && entry->is_directory(error);
    const bool file = !error && !link && !is_folder && entry->is_regular_file(error);
    if (error) return WalkError(error, path);
    if (link) return InvalidInput("is a symbolic link; expected files and folders", path.string());
    if (!is_folder && !file) {
      return InvalidInput("is no regular file; expected files and folders", path.string());
    }
    close_folder(entry.depth());
    std::string relative = path.native().substr(prefix);
    if (file) {
      listing.files.push_back(std::move(relative));
    } else {
      folder = std::move(relative);
      depth = entry.depth();
    }
    entry.increment(error);
    if (error) return WalkError(error, root);
  }
  close_folder(0);
  std::sort(listing.files.begin(), listing.files.end());
  std::sort(listing.empty_folders.begin(), listing.empty_folders.end());
  return listing;
}

}  // namespace

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() {
    if (context == nullptr || EVP_DigestInit_ex(context, Algorithm(), nullptr) != 1) {
      Abort("OpenSSL cannot start a SHA256");
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::Update(std::span<const std::byte> bytes) {
  if (!state_) Abort("Update() of a Sha256 that is spent");
  if (EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) != 1) {
    Abort("OpenSSL cannot continue a SHA256");
  }
}

void Sha256::Update(std::string_view text) { Update(std::as_bytes(std::span(text))); }

void Sha256::UpdateU64(std::uint64_t value) {
  std::array<std::byte, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(value >> (8 * i));
  Update(bytes);
}

Sha256Bytes Sha256::Finish() {
  if (!state_) Abort("Finish() of a Sha256 that is spent");
  Sha256Bytes digest;
  if (EVP_DigestFinal_ex(state_->context, digest.data(), nullptr) != 1) {
    Abort("OpenSSL cannot finish a SHA256");
  }
  state_.reset();
  return digest;
}

Sha256Bytes Sha256Of(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Finish();
}

std::string Sha256HexOf(std::string_view text) {
  return ToHex(Sha256Of(std::as_bytes(std::span(text))));
}

std::string ToHex(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(bytes.size() * 2, '0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text[2 * i] = kDigits[bytes[i] >> 4];
    text[2 * i + 1] = kDigits[bytes[i] & 15];
  }
  return text;
}

bool IsSha256Hex(std::string_view text) {
  constexpr std::size_t kDigits = 64;
  if (text.size() != kDigits) return false;
  std::uint8_t other = 0;  // without a branch, so that many digits are looked at at once
  for (std::size_t i = 0; i < kDigits; ++i) {
    const auto c = static_cast<std::uint8_t>(text[i]);
    const std::uint8_t no_number = static_cast<std::uint8_t>(c - '0') > 9 ? 0xff : 0;
    const std::uint8_t no_letter = static_cast<std::uint8_t>(c - 'a') > 5 ? 0xff : 0;
    other = static_cast<std::uint8_t>(other | (no_number & no_letter));
  }
  return other == 0;
}

Result<TreeDigest> HashTree(const fs::path& path, int threads) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    ASSIGN_OR_RETURN(const FileDigest file, HashFile(path));
    return TreeDigest{file.sha256, file.size_bytes, 1};
  }
  ASSIGN_OR_RETURN(Listing listing, ListTree(path));
  const std::vector<std::string>& names = listing.files;
  std::vector<fs::path> paths;
  paths.reserve(names.size());
  for (const std::string& name : names) paths.push_back(path / name);
  const auto digests = HashFileContents(paths, threads, LinkPolicy::kRefuse);

  TreeDigest tree;
  tree.files = names.size();
  Sha256 hash;
  hash.Update(std::string_view("rharness.tree/v1\0", 17));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!digests[i].ok()) return digests[i].error();
    tree.size_bytes += digests[i]->size_bytes;
    hash.UpdateU64(names[i].size());
    hash.Update(names[i]);
    hash.UpdateU64(digests[i]->size_bytes);
    hash.Update(std::as_bytes(std::span(digests[i]->sha256)));
  }
  tree.sha256 = ToHex(hash.Finish());
  tree.empty_folders = std::move(listing.empty_folders);
  return tree;
}

std::string GitObjectName(std::string_view type, std::string_view content, GitHash hash) {
  GitObject object(type, content.size(), hash);
  object.Update(content.data(), content.size());
  return object.Finish();
}

Result<std::string> GitBlobName(const OpenedFile& file, GitHash hash) {
  GitObject object("blob", file.size_bytes, hash);
  std::vector<char> block(std::size_t{1} << 17);
  std::uint64_t read_bytes = 0;
  for (;;) {
    const ssize_t count = ::read(file.descriptor.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return IoErrorFromErrno("cannot read", errno);
    if (count == 0) break;
    object.Update(block.data(), static_cast<std::size_t>(count));
    read_bytes += static_cast<std::uint64_t>(count);
  }
  if (read_bytes == file.size_bytes) return object.Finish();
  return IntegrityError(
      fmt::format("has {} bytes; expected {}, as when it was opened", read_bytes, file.size_bytes));
}

}  // namespace rharness
