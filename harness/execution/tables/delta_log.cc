// Names in a log's folder, and the lines of a commit.
#include "harness/execution/tables/delta_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

constexpr std::size_t kVersionDigits = 20;
constexpr std::size_t kMostLineBytes = std::size_t{16} << 20;

// All of `digits`, if they are as many.
std::optional<std::uint64_t> NumberOf(std::string_view digits, std::size_t count) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  if (digits.size() != count || digits.front() == '-') return std::nullopt;
  const auto [at, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || at != end) return std::nullopt;
  return value;
}

// "checkpoint.0000000001.0000000003.parquet": part 1 of 3.
struct CheckpointPart {
  std::uint64_t part = 1;
  std::uint64_t parts = 1;
};

std::optional<CheckpointPart> PartOf(std::string_view rest) {
  if (rest == "checkpoint.parquet") return CheckpointPart{};
  if (!rest.starts_with("checkpoint.")) return std::nullopt;
  rest.remove_prefix(std::string_view("checkpoint.").size());
  const bool parquet = rest.ends_with(".parquet");
  if (!parquet && !rest.ends_with(".json")) return std::nullopt;
  const std::string_view name = rest.substr(0, rest.rfind('.'));
  constexpr std::size_t kPartDigits = 10;
  if (parquet && name.size() == 2 * kPartDigits + 1 && name[kPartDigits] == '.') {
    const auto part = NumberOf(name.substr(0, kPartDigits), kPartDigits);
    const auto parts = NumberOf(name.substr(kPartDigits + 1), kPartDigits);
    if (!part || !parts || *part < 1 || *part > *parts) return std::nullopt;
    return CheckpointPart{*part, *parts};
  }
  constexpr std::size_t kUuid = 36;
  return name.size() == kUuid ? std::optional(CheckpointPart{}) : std::nullopt;
}

std::optional<DeletionVector> ReadDeletions(JsonReader& action) {
  std::optional<DeletionVector> deletions;
  action.ReadObject("deletionVector", false, [&](JsonReader& reader) {
    deletions.emplace();
    reader.Read("storageType", &deletions->storage);
    reader.Read("pathOrInlineDv", &deletions->content);
    reader.ReadOptional("offset", &deletions->offset);
    reader.Read("sizeInBytes", &deletions->size_bytes);
    reader.Read("cardinality", &deletions->cardinality);
  });
  return deletions;
}

// The content of one line. Ignores actions that do not affect the set of files, as unknown ones
// must be.
Status ReadAction(const Json& json, const std::string& where, DeltaState* state,
                  std::vector<std::string>* sidecars) {
  JsonReader line(json, where);
  Status said;
  const auto file_action = [&](JsonReader& reader, bool adds) {
    AddAction action;
    reader.Read("path", &action.path);
    if (adds) reader.Read("size", &action.size_bytes);
    action.deletions = ReadDeletions(reader);
    if (reader.ok() && said.ok()) said = adds ? state->Add(action) : state->Remove(action);
  };
  line.ReadObject("protocol", false, [&](JsonReader& reader) {
    std::int64_t version = 0;
    std::vector<std::string> features;
    reader.Read("minReaderVersion", &version);
    reader.ReadArray("readerFeatures", &features);
    if (reader.ok()) said = state->SetProtocol(version, features);
  });
  line.ReadObject("metaData", false, [&](JsonReader& reader) {
    std::string id;
    reader.Read("id", &id);
    if (reader.ok() && said.ok()) said = state->SetId(std::move(id));
  });
  line.ReadObject("add", false, [&](JsonReader& reader) { file_action(reader, true); });
  line.ReadObject("remove", false, [&](JsonReader& reader) { file_action(reader, false); });
  line.ReadObject("sidecar", false,
                  [&](JsonReader& reader) { reader.Read("path", &sidecars->emplace_back()); });
  if (!line.ok()) return line.status();
  if (said.ok()) return {};
  Error error = said.error();
  error.where = where;
  return error;
}

}  // namespace

LogListing ListingOf(const std::vector<std::string>& names) {
  LogListing log;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::map<std::uint64_t, std::string>> parts;
  for (const std::string& name : names) {
    if (name.size() < kVersionDigits + 2 || name[kVersionDigits] != '.') continue;
    const auto version = NumberOf(std::string_view(name).substr(0, kVersionDigits), kVersionDigits);
    if (!version) continue;
    const std::string_view rest = std::string_view(name).substr(kVersionDigits + 1);
    if (rest == "json") log.commits.insert(*version);
    if (const auto part = PartOf(rest)) {
      auto& there = parts[{*version, part->parts}][part->part];
      if (there.empty() || name < there) there = name;
    }
  }
  for (const auto& [key, files] : parts) {  // fewest parts first
    if (files.size() != key.second || log.checkpoints.contains(key.first)) continue;
    for (const auto& [part, name] : files) log.checkpoints[key.first].push_back(name);
  }
  return log;
}

Result<ReadingPlan> PlanReading(const LogListing& log, std::uint64_t version) {
  ReadingPlan plan;
  std::uint64_t next = 0;
  const auto after = log.checkpoints.upper_bound(version);
  if (after != log.checkpoints.begin()) {
    const auto& [at, files] = *std::prev(after);
    plan.checkpoint = files;
    next = at + 1;
  }
  for (; next <= version; ++next) {
    if (!log.commits.contains(next)) break;
    plan.commits.push_back(fmt::format("{:020}.json", next));
  }
  if (next > version) return plan;
  const std::uint64_t newest = log.commits.empty() ? 0 : *log.commits.rbegin();
  if (version > newest && next > newest) {
    return NotFound(fmt::format("has no version {}: its newest is {}", version, newest));
  }
  if (plan.checkpoint.empty() && next == 0) {
    const std::uint64_t begins =
        log.checkpoints.empty() ? *log.commits.begin() : log.checkpoints.begin()->first;
    return NotFound(fmt::format("version {} can no longer be read: {} {}", version,
                                log.checkpoints.empty()
                                    ? "there is no checkpoint, and its log begins at"
                                    : "its log begins at",
                                begins));
  }
  return NotFound(
      fmt::format("version {} can no longer be read: commit {} is not in its log", version, next));
}

Status ReadActions(const OpenedFile& file, const std::string& name, DeltaState* state,
                   std::vector<std::string>* sidecars) {
  std::string text;
  std::size_t number = 0;
  const auto take = [&](std::string_view line) -> Status {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return {};
    const std::string where = fmt::format("{}: line {}", name, number);
    ASSIGN_OR_RETURN(const Json json, ParseJson(line, where));
    if (!json.IsObject()) return InvalidInput("expected an object, an action", where);
    return ReadAction(json, where, state, sidecars);
  };
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (off_t at = 0;;) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    const ssize_t got = ::pread(file.descriptor.get(), text.data() + before, kPiece, at);
    if (got < 0 && errno != EINTR) return IoErrorFromErrno("cannot be read", errno, name);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
    at += std::max<ssize_t>(got, 0);
    std::size_t start = 0;
    for (auto end = text.find('\n', before); end != text.npos; end = text.find('\n', start)) {
      RETURN_IF_ERROR(take(std::string_view(text).substr(start, end - start)));
      start = end + 1;
    }
    text.erase(0, start);
    if (text.size() > kMostLineBytes) {
      return InvalidInput(fmt::format("is longer than {} bytes", kMostLineBytes),
                          fmt::format("{}: line {}", name, number + 1));
    }
  }
  return take(text);
}

}  // namespace rharness
