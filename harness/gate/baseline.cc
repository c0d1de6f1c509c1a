// The record of baselines is append-only: each line names the one that it replaces.
#include "harness/gate/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>

#include "compare/fingerprints/fingerprint_diff.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/folder_lock.h"
#include "harness/base/json_reader.h"
#include "harness/base/log.h"
#include "harness/records/policy/policy.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kSchema[] = "rharness.baseline";
constexpr int kVersion = 1;
constexpr std::uint64_t kMostFingerprintBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostRecordBytes = std::uint64_t{64} << 20;

bool Blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

Json ToJson(const BaselineRecord& record) {
  return Json::MakeObject({{"schema", fmt::format("{}/v{}", kSchema, kVersion)},
                           {"fingerprint_sha256", record.fingerprint_sha256},
                           {"accepted_by", record.accepted_by},
                           {"reason", record.reason},
                           {"accepted", FormatTime(record.accepted)},
                           {"expires", FormatTime(record.expires)},
                           {"replaces_sha256", record.replaces_sha256}});
}

void ReadWhen(JsonReader& reader, std::string_view key, WallTime* out) {
  std::string text;
  reader.Read(key, &text);
  if (!reader.ok()) return;
  const auto time = ParseTime(text);
  if (!time.ok()) return reader.Fail(time.error().message, key);
  *out = *time;
}

Result<BaselineRecord> ParseRecord(const std::string& line, const std::string& where) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(line, where));
  JsonReader reader(json, where);
  BaselineRecord record;
  reader.ReadSchema(kSchema, kVersion);
  reader.Read("fingerprint_sha256", &record.fingerprint_sha256);
  reader.Read("accepted_by", &record.accepted_by);
  reader.Read("reason", &record.reason);
  ReadWhen(reader, "accepted", &record.accepted);
  ReadWhen(reader, "expires", &record.expires);
  reader.Read("replaces_sha256", &record.replaces_sha256);
  RETURN_IF_ERROR(reader.status());
  return record;
}

struct RecordFile {
  std::string text;
  std::optional<BaselineRecord> last;
};

// A missing file is an empty record. A line that does not follow from the one before was changed.
Result<RecordFile> LoadRecords(const fs::path& path) {
  auto text = ReadFile(path, kMostRecordBytes);
  if (!text.ok() && text.error().code == ErrorCode::kNotFound) return RecordFile{};
  if (!text.ok()) return text.error();
  RecordFile out{.text = std::move(*text), .last = std::nullopt};
  int number = 0;
  for (std::size_t begin = 0; begin < out.text.size();) {
    const std::size_t end = std::min(out.text.find('\n', begin), out.text.size());
    const std::string where = fmt::format("{}:{}", path.string(), ++number);
    ASSIGN_OR_RETURN(BaselineRecord record,
                     ParseRecord(out.text.substr(begin, end - begin), where));
    const std::string before = out.last ? out.last->fingerprint_sha256 : "";
    if (record.replaces_sha256 != before) {
      return IntegrityError("does not follow from the line before it", where);
    }
    out.last = std::move(record);
    begin = end + 1;
  }
  return out;
}

Status CheckAcceptance(const std::string& by, const std::string& reason, WallTime now,
                       WallTime expires) {
  for (const auto& [text, option] : {std::pair(&by, "--by"), {&reason, "--reason"}}) {
    const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    if (std::ranges::any_of(*text, control)) {
      return InvalidInput("expected one line without control characters", option);
    }
  }
  if (Blank(by)) return InvalidInput("a baseline needs the name of who accepts it", "--by");
  if (Blank(reason)) return InvalidInput("a baseline needs a reason", "--reason");
  if (expires <= now) {
    return InvalidInput(
        fmt::format("the baseline would have ended: it holds {}", FormatUntil(expires)),
        "--expires");
  }
  return {};
}

// A fingerprint that differs in nothing from itself shows something.
Status CheckShows(const std::string& text, const fs::path& path) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, path.string()));
  ASSIGN_OR_RETURN(const Fingerprint fingerprint, ParseFingerprint(json, path.string()));
  const FingerprintDifference self = DiffFingerprints(fingerprint, fingerprint);
  if (!self.comparable) {
    return InvalidInput("cannot be a baseline, because it shows nothing: " + self.why,
                        path.string());
  }
  return {};
}

Status MoveNext(const fs::path& folder) {
  const fs::path next = folder / kNextBaselineFile;
  if (::rename(next.c_str(), (folder / kBaselineFile).c_str()) == 0) return {};
  return IoErrorFromErrno("cannot rename", errno, next.string());
}

// The baseline that the last record names may still lie under its first name, which is needed now.
Status FinishAcceptance(const fs::path& folder, const RecordFile& past) {
  const auto next = ReadFile(folder / kNextBaselineFile, kMostFingerprintBytes);
  if (!next.ok() && next.error().code == ErrorCode::kNotFound) return {};
  if (!next.ok()) return next.error();
  const bool is_last = past.last && Sha256HexOf(*next) == past.last->fingerprint_sha256;
  return is_last ? MoveNext(folder) : Status();
}

}  // namespace

Result<BaselineRecord> AcceptBaseline(const fs::path& fingerprint, const fs::path& folder,
                                      const std::string& accepted_by, const std::string& reason,
                                      WallTime now, WallTime expires) {
  RETURN_IF_ERROR(CheckAcceptance(accepted_by, reason, now, expires));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(fingerprint, kMostFingerprintBytes));
  RETURN_IF_ERROR(CheckShows(text, fingerprint));
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));
  ASSIGN_OR_RETURN(const RecordFile past, LoadRecords(folder / kBaselineRecord));
  BaselineRecord record{.fingerprint_sha256 = Sha256HexOf(text),
                        .accepted_by = accepted_by,
                        .reason = reason,
                        .accepted = now,
                        .expires = expires,
                        .replaces_sha256 = past.last ? past.last->fingerprint_sha256 : ""};
  std::string records = past.text;
  if (!records.empty() && records.back() != '\n') records += '\n';
  records += ToJson(record).Dump() + "\n";
  RETURN_IF_ERROR(FinishAcceptance(folder, past));
  // The record decides: before it is written the old baseline stands, after it the new one.
  RETURN_IF_ERROR(WriteFileAtomic(folder / kNextBaselineFile, text));
  RETURN_IF_ERROR(WriteFileAtomic(folder / kBaselineRecord, records));
  // Readers find it under either name.
  const Status moved = MoveNext(folder);
  if (!moved.ok()) LogWarning(moved.error().ToString());
  return record;
}

Result<Baseline> LoadBaseline(const fs::path& folder) {
  const fs::path path = folder / kBaselineFile;
  RecordFile records;
  std::string text;
  bool is_accepted = false;
  // A baseline that is accepted between the two reads makes them disagree: then both are repeated.
  for (int i = 0; i < 3 && !is_accepted; ++i) {
    ASSIGN_OR_RETURN(records, LoadRecords(folder / kBaselineRecord));
    if (!records.last) {
      return NotFound("no accepted baseline; `rharness gate baseline accept` makes one",
                      (folder / kBaselineRecord).string());
    }
    const auto is_it = [&](const std::string& one) {
      return Sha256HexOf(one) == records.last->fingerprint_sha256;
    };
    auto next = ReadFile(folder / kNextBaselineFile, kMostFingerprintBytes);
    if (!next.ok() && next.error().code != ErrorCode::kNotFound) return next.error();
    is_accepted = next.ok() && is_it(*next);
    if (is_accepted) {
      text = std::move(*next);
    } else {
      ASSIGN_OR_RETURN(text, ReadFile(path, kMostFingerprintBytes));
      is_accepted = is_it(text);
    }
  }
  if (!is_accepted) {
    return IntegrityError(
        fmt::format("is not the fingerprint that {} accepted on {}",
                    TerminalSafe(records.last->accepted_by), FormatTime(records.last->accepted)),
        path.string());
  }
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, path.string()));
  ASSIGN_OR_RETURN(Fingerprint fingerprint, ParseFingerprint(json, path.string()));
  return Baseline{std::move(fingerprint), std::move(*records.last), Sha256HexOf(records.text)};
}

}  // namespace rharness
