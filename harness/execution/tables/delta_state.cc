// Reconciling actions, and the paths that they name.
#include "harness/execution/tables/delta_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/percent.h"

namespace rharness {
namespace {

constexpr std::size_t kMostFiles = 4'000'000;
constexpr std::uint64_t kMostKeyBytes = std::uint64_t{1} << 30;

// Features that do not affect the files of a version, or whose effect is read here.
constexpr std::array<std::string_view, 11> kKnownFeatures = {"columnMapping",
                                                             "deletionVectors",
                                                             "timestampNtz",
                                                             "typeWidening",
                                                             "v2Checkpoint",
                                                             "typeWidening-preview",
                                                             "vacuumProtocolCheck",
                                                             "variantType",
                                                             "variantType-preview",
                                                             "variantShredding",
                                                             "variantShredding-preview"};

std::string Quoted(std::string_view text) {
  return TerminalSafe(fmt::format("'{}{}'", text.substr(0, 120), text.size() > 120 ? "..." : ""));
}

// Whether it begins as "s3:" or "file:" does, before any '/'.
bool HasScheme(std::string_view url) {
  const auto colon = url.find(':');
  if (colon == url.npos || colon == 0) return false;
  return std::ranges::all_of(url.substr(0, colon), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  });
}

Result<std::string> PathOf(const std::string& url) {
  if (url.starts_with('/') || HasScheme(url)) {
    return Unsupported(
        fmt::format("the file {} lies outside of the table, as those of a shallow "
                    "clone do; expected paths below it",
                    Quoted(url)));
  }
  const auto decoded = PercentDecoded(url);
  if (!decoded) return InvalidInput(fmt::format("the path {} is no URL", Quoted(url)));
  auto safe = SafeRelativePath(*decoded, Quoted(url));
  if (!safe.ok()) return safe.error();
  if (*safe->begin() == "_delta_log" || safe->string() == ".") {
    return InvalidInput(fmt::format("the path {} is none of a data file", Quoted(url)));
  }
  return safe->string();
}

// A UUID of 20 digits to the base 85, as "0123abcd-...". Source: ZeroMQ RFC 32 (Z85), in whose
// alphabet PROTOCOL.md writes them.
std::optional<std::string> UuidOf(std::string_view digits) {
  constexpr std::string_view kAlphabet =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
  std::string hex;
  for (std::size_t block = 0; block < 4; ++block) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      const auto digit = kAlphabet.find(digits[block * 5 + i]);
      if (digit == kAlphabet.npos) return std::nullopt;
      value = value * 85 + digit;
    }
    if (value > 0xffffffffU) return std::nullopt;
    hex += fmt::format("{:08x}", value);
  }
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                     hex.substr(16, 4), hex.substr(20));
}

// The place of a deletion vector's file below the table; empty if it is within the log.
Result<std::string> DeletionsPath(const DeletionVector& deletions) {
  constexpr std::size_t kUuidDigits = 20;
  if (deletions.storage == "i") return std::string();
  if (deletions.storage == "p") {
    return Unsupported(
        fmt::format("the deletion vector {} lies outside of the table", Quoted(deletions.content)));
  }
  if (deletions.storage != "u" || deletions.content.size() < kUuidDigits) {
    return InvalidInput(fmt::format("a deletion vector has storage {} and content {}",
                                    Quoted(deletions.storage), Quoted(deletions.content)));
  }
  const std::string_view content = deletions.content;
  const std::string_view folder = content.substr(0, content.size() - kUuidDigits);
  const auto uuid = UuidOf(content.substr(folder.size()));
  if (!uuid) return InvalidInput("a deletion vector's name is no UUID: " + Quoted(content));
  const std::string path =
      fmt::format("{}{}deletion_vector_{}.bin", folder, folder.empty() ? "" : "/", *uuid);
  ASSIGN_OR_RETURN(const std::filesystem::path safe, SafeRelativePath(path, Quoted(content)));
  return safe.string();
}

std::string TextOf(const std::optional<DeletionVector>& deletions) {
  if (!deletions) return {};
  return fmt::format("{}:{}@{}:{}:{}", deletions->storage, deletions->content,
                     deletions->offset.value_or(-1), deletions->size_bytes, deletions->cardinality);
}

std::string KeyOf(const std::string& path, const std::optional<DeletionVector>& deletions) {
  return path + '\0' + TextOf(deletions);
}

}  // namespace

void DeltaState::BeginVersion() {
  ++version_;
  removed_.clear();
}

Status DeltaState::SetProtocol(std::int64_t reader_version,
                               const std::vector<std::string>& features) {
  if (reader_version < 1 || reader_version > 3) {
    return Unsupported(
        fmt::format("needs a reader of protocol version {}; expected 1 to 3", reader_version));
  }
  for (const std::string& feature : features) {
    if (feature == "catalogManaged" || feature == "catalogOwned-preview") {
      return Unsupported(
          fmt::format("the table is managed by a catalog (reader feature '{}'), which "
                      "may know of commits that are not in its log",
                      feature));
    }
    if (std::ranges::find(kKnownFeatures, feature) == kKnownFeatures.end()) {
      return Unsupported(
          fmt::format("needs the reader feature {}, which is not known here", Quoted(feature)));
    }
  }
  has_protocol_ = true;
  return {};
}

Status DeltaState::SetId(std::string id) {
  if (id.empty() || id.size() > 200 || TerminalSafe(id) != id) {
    return InvalidInput(fmt::format("metaData has the id {}", Quoted(id)));
  }
  id_ = std::move(id);
  return {};
}

Status DeltaState::Add(const AddAction& add) {
  ASSIGN_OR_RETURN(const std::string path, PathOf(add.path));
  if (add.size_bytes < 0) {
    return InvalidInput(fmt::format("the file {} has no size", Quoted(add.path)));
  }
  Entry entry{static_cast<std::uint64_t>(add.size_bytes), version_, {}};
  if (add.deletions) {
    ASSIGN_OR_RETURN(entry.deletions_path, DeletionsPath(*add.deletions));
  }
  std::string key = KeyOf(path, add.deletions);
  if (removed_.contains(key)) {
    return InvalidInput(fmt::format("one commit removes and adds the file {}", Quoted(path)));
  }
  key_bytes_ += key.size();
  const auto [there, is_new] = files_.insert_or_assign(std::move(key), std::move(entry));
  if (!is_new) key_bytes_ -= there->first.size();
  if (files_.size() > kMostFiles || key_bytes_ > kMostKeyBytes) {
    return Unsupported(fmt::format("has more than {} files, or {} bytes of their names", kMostFiles,
                                   kMostKeyBytes));
  }
  return {};
}

Status DeltaState::Remove(const AddAction& remove) {
  auto path = PathOf(remove.path);
  // What was added can be read: a file from elsewhere can be removed from a log that begins later.
  if (!path.ok()) return path.error().code == ErrorCode::kUnsupported ? Status() : path.error();
  std::string key = KeyOf(*path, remove.deletions);
  if (const auto found = files_.find(key); found != files_.end()) {
    if (found->second.version == version_) {
      return InvalidInput(fmt::format("one commit adds and removes the file {}", Quoted(*path)));
    }
    key_bytes_ -= key.size();
    files_.erase(found);
  }
  removed_.insert(std::move(key));
  return {};
}

Result<std::vector<DeltaFile>> DeltaState::Finish() {
  if (!has_protocol_) return InvalidInput("its log has no protocol");
  if (id_.empty()) return InvalidInput("its log has no metaData");
  std::vector<DeltaFile> files;
  files.reserve(files_.size());
  while (!files_.empty()) {
    auto node = files_.extract(files_.begin());
    const auto split = node.key().find('\0');
    files.push_back({node.key().substr(0, split), node.mapped().size_bytes,
                     node.key().substr(split + 1), std::move(node.mapped().deletions_path)});
  }
  std::ranges::sort(files, {}, &DeltaFile::path);
  const auto twice = std::ranges::adjacent_find(files, {}, &DeltaFile::path);
  if (twice != files.end()) {
    return InvalidInput(
        fmt::format("the file {} is there with two deletion vectors", Quoted(twice->path)));
  }
  return files;
}

}  // namespace rharness
