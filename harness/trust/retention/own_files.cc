// Files of rharness, by content and place.
#include "harness/trust/retention/own_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/trust/retention/begun_lists.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostJsonBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kHeadBytes = 4096;
constexpr std::string_view kOurs = "rharness.";
constexpr std::string_view kJournal = "journal.jsonl";

// The start of a file, up to this length.
std::string Head(int fd, std::uint64_t most) {
  std::string text(most, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

// Our records have their schema first; files of others may have it anywhere.
std::string SchemaOf(const HeldFolder& root, const fs::path& path, const OpenedFile& file) {
  const std::string head = Head(file.descriptor.get(), kHeadBytes);
  const auto first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string::npos || head[first] != '{') return "";
  if (file.size_bytes > kMostJsonBytes) {
    return head.find("\"rharness.") == std::string::npos ? "" : "rharness.";
  }
  const auto text = root.ReadFile(path, kMostJsonBytes);
  const auto json = text.ok() ? ParseJson(*text, path.string()) : Result<Json>(text.error());
  const Json* schema = json.ok() ? json->Find("schema") : nullptr;
  return schema != nullptr && schema->kind() == Json::Kind::kString ? schema->AsString() : "";
}

// By its beginning: files that no rule may delete, whatever their names.
std::string WhatBegins(std::string_view head) {
  const auto holds = [&](std::string_view word) { return head.find(word) != head.npos; };
  if (head.starts_with("SQLite format 3")) return "a database";
  if (holds("-----BEGIN ")) return "a key or a certificate";
  if (holds("\"payloadType\"") || holds("\"dsseEnvelope\"")) return "a signed statement";
  if (holds("\"accepted_by\"")) return "a baseline";
  if (holds("public_key:")) return "a trust policy";
  const auto first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool json = first != head.npos && (head[first] == '{' || head[first] == '[');
  return json && holds("\"rharness.") ? "a record of rharness" : "";
}

}  // namespace

OwnFiles::OwnFiles(const std::set<fs::path>& named) {
  for (const fs::path& path : named) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) named_.emplace(status.st_dev, status.st_ino);
  }
}

Result<std::string> OwnFiles::What(const HeldFolder& root, const fs::path& path) const {
  ASSIGN_OR_RETURN(const OpenedFile file, root.OpenFile(path));
  struct stat status {};
  if (::fstat(file.descriptor.get(), &status) != 0) {
    return Error{ErrorCode::kIo, "cannot be looked at", path.string()};
  }
  if (named_.contains({status.st_dev, status.st_ino})) return std::string("a file of rharness");
  for (fs::path at = path.parent_path();; at = at.parent_path()) {
    const fs::path journal = at.empty() ? fs::path(kJournal) : at / kJournal;
    if (root.OpenFile(journal).ok()) {
      return fmt::format("a file of the drill in {}", at.empty() ? "." : at.string());
    }
    if (at.empty()) break;
  }
  if (root.OpenFile(path.parent_path() / "entries.jsonl").ok() &&
      root.OpenFile(path.parent_path() / "nodes").ok()) {
    return std::string("a file of an audit log");
  }
  const std::string name = path.filename().string();
  if (name == kBegunLists) return std::string("a note of rharness");
  if (name.ends_with(".intoto.jsonl")) return std::string("a signed statement");
  const std::string schema = SchemaOf(root, path, file);
  if (!schema.starts_with(kOurs)) return WhatBegins(Head(file.descriptor.get(), kHeadBytes));
  return fmt::format("a record of rharness ({})", schema.substr(0, 100));
}

}  // namespace rharness
