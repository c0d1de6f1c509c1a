// Appending and reading journal lines.
#include "harness/drill/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <charconv>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCrcDigits = 8;

std::uint32_t Crc(std::string_view text) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

std::string Line(const Json& json) {
  const std::string text = json.Dump();
  return fmt::format("{:08x} {}\n", Crc(text), text);
}

// The JSON part of a line with a valid checksum.
std::optional<std::string_view> Checked(std::string_view line) {
  if (line.size() < kCrcDigits + 2 || line[kCrcDigits] != ' ') return std::nullopt;
  std::uint32_t crc = 0;
  const char* end = line.data() + kCrcDigits;
  if (std::from_chars(line.data(), end, crc, 16).ptr != end) return std::nullopt;
  const std::string_view text = line.substr(kCrcDigits + 1);
  if (Crc(text) != crc) return std::nullopt;
  return text;
}

Json ToJson(const RerunStep& entry) {
  Json json = Json::MakeObject(
      {{"job", entry.job}, {"state", AttemptStateName(entry.state)}, {"attempt", entry.attempt}});
  if (entry.state == AttemptState::kStarted) {
    json.Set("pid", entry.pid).Set("start_ticks", entry.start_ticks);
  }
  if (entry.state == AttemptState::kCollected) json.Set("evidence_sha256", entry.evidence_sha256);
  if (!entry.logs_sha256.empty()) json.Set("logs_sha256", entry.logs_sha256);
  return json;
}

Result<RerunStep> ParseEntry(const Json& json, const std::string& where) {
  RerunStep entry;
  std::string state;
  JsonReader reader(json, where);
  reader.Read("job", &entry.job);
  reader.Read("state", &state);
  reader.Read("attempt", &entry.attempt);
  reader.ReadOptional("pid", &entry.pid);
  reader.ReadOptional("start_ticks", &entry.start_ticks);
  reader.ReadOptional("evidence_sha256", &entry.evidence_sha256);
  reader.ReadOptional("logs_sha256", &entry.logs_sha256);
  RETURN_IF_ERROR(reader.status());
  if (const auto known = FindAttemptState(state)) {
    entry.state = *known;
    return entry;
  }
  return InvalidInput(fmt::format("unknown job state '{}'", state), where);
}

// The complete line appended after the beginning of an interrupted one; empty if none has a valid
// checksum, and the damage is of another kind.
std::optional<std::string_view> BehindATornLine(std::string_view line) {
  constexpr std::string_view kOpening = " {\"";
  for (auto at = line.find(kOpening); at != std::string_view::npos;
       at = line.find(kOpening, at + 1)) {
    if (at < kCrcDigits) continue;
    if (const auto text = Checked(line.substr(at - kCrcDigits))) return text;
  }
  return std::nullopt;
}

Status Take(const Json& json, const std::string& where, JournalContent* content) {
  if (const Json* session = json.Find("session"); session != nullptr) {
    if (session->kind() != Json::Kind::kString) {
      return InvalidInput("expected the session as text", where);
    }
    content->sessions.push_back(session->AsString());
    return {};
  }
  ASSIGN_OR_RETURN(RerunStep entry, ParseEntry(json, where));
  content->last[entry.job] = std::move(entry);
  ++content->entries;
  return {};
}

// Parses `text`; *valid_bytes gets the length of it without a torn last line.
Result<JournalContent> Parse(std::string_view text, const fs::path& path,
                             std::size_t* valid_bytes) {
  JournalContent content;
  std::size_t at = 0;
  bool first = true;
  while (at < text.size()) {
    const auto end = text.find('\n', at);
    const std::string_view whole = text.substr(at, end - at);
    auto line = end == std::string_view::npos ? std::nullopt : Checked(whole);
    const std::string where = fmt::format("{}: byte {}", path.string(), at);
    if (!line && !first && end != std::string_view::npos) {
      line = BehindATornLine(whole);
      content.torn = content.torn || line.has_value();
    }
    if (!line) {
      const bool is_last = end == std::string_view::npos || end + 1 == text.size();
      if (!is_last) return IntegrityError("damaged journal line", where);
      content.torn = true;
      break;
    }
    ASSIGN_OR_RETURN(Json json, ParseJson(*line, where));
    if (first) {
      content.header = std::move(json);
    } else {
      RETURN_IF_ERROR(Take(json, where, &content));
    }
    first = false;
    at = end + 1;
  }
  if (first) return IntegrityError("has no header line", path.string());
  *valid_bytes = at;
  return content;
}

}  // namespace

Result<Journal> Journal::Create(const fs::path& path, const Json& header) {
  std::error_code error;
  if (fs::symlink_status(path, error).type() != fs::file_type::not_found) {
    return InvalidInput("something was already started here; use --resume or another --out",
                        path.string());
  }
  // The header is written whole or not at all; entries are appended to it.
  const std::string line = Line(header);
  RETURN_IF_ERROR(WriteFileAtomic(path, line));
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return IoErrorFromErrno("cannot open", errno, path.string());
  return Journal(fd, path, line.size());
}

Result<Journal> Journal::Open(const fs::path& path, JournalContent* content) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::size_t valid_bytes = 0;
  ASSIGN_OR_RETURN(*content, Parse(text, path, &valid_bytes));
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return IoErrorFromErrno("cannot open", errno, path.string());
  Journal journal(fd, path, valid_bytes);
  if (text.size() != valid_bytes) RETURN_IF_ERROR(journal.TakeBack());
  return journal;
}

Journal::Journal(Journal&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      size_bytes_(other.size_bytes_),
      torn_(other.torn_) {}

Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(torn_, other.torn_);
  return *this;
}

Journal::~Journal() {
  if (fd_ >= 0) ::close(fd_);
}

Status Journal::Append(const RerunStep& entry) { return AppendLine(ToJson(entry)); }

Status Journal::AppendSession(const std::string& session) {
  return AppendLine(Json::MakeObject({{"session", session}}));
}

// A half line would swallow the next one.
Status Journal::TakeBack() {
  if (::ftruncate(fd_, static_cast<off_t>(size_bytes_)) != 0) {
    return IoErrorFromErrno("cannot cut off a torn line", errno, path_.string());
  }
  torn_ = false;
  return {};
}

Status Journal::WriteLine(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(fd_, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return IoErrorFromErrno("cannot append", errno, path_.string());
    line.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fdatasync(fd_) != 0) return IoErrorFromErrno("cannot sync", errno, path_.string());
  return {};
}

Status Journal::AppendLine(const Json& json) {
  const std::string line = Line(json);
  const std::scoped_lock lock(mutex_);
  if (torn_) RETURN_IF_ERROR(TakeBack());
  torn_ = true;
  const Status written = WriteLine(line);
  if (!written.ok()) {
    (void)TakeBack();  // else before the next line, or when it is opened again
    return written;
  }
  torn_ = false;
  size_bytes_ += line.size();
  return {};
}

Result<JournalContent> ReadJournal(const fs::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::size_t valid_bytes = 0;
  return Parse(text, path, &valid_bytes);
}

}  // namespace rharness
