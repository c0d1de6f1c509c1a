// Weights & Biases: folders of its client, one per run, online or offline.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <system_error>
#include <utility>

#include "compare/curves/printed_number.h"
#include "compare/curves/wandb_log.h"
#include "harness/base/digest.h"
#include "harness/net/yaml.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/importers.h"
#include "harness/records/intake/local_files.h"
#include "harness/records/intake/wandb_run.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostWandbLogBytes = std::uint64_t{2} << 30;
constexpr std::uint64_t kMostFileBytes = std::uint64_t{64} << 20;
constexpr std::size_t kMostRuns = 1'000'000;
constexpr std::size_t kMostLogRemarks = 20;

// The entries of a folder whose names `wanted` accepts, sorted; ignores links.
template <class F>
Result<std::vector<std::string>> NamesIn(const fs::path& folder, F wanted) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error), end;
  for (; !error && entries != end; entries.increment(error)) {
    std::error_code unread;
    const std::string name = entries->path().filename().string();
    if (!wanted(name, entries->symlink_status(unread))) continue;
    if (names.size() >= kMostRuns) {
      return InvalidInput(fmt::format("more than {} runs", kMostRuns), folder.string());
    }
    names.push_back(name);
  }
  if (error) return IoError("cannot be listed: " + error.message(), folder.string());
  std::ranges::sort(names);
  return names;
}

bool IsRunName(const std::string& name) {
  return name.starts_with("run-") || name.starts_with("offline-run-");
}

std::vector<std::string> LogsIn(const fs::path& folder) {
  const auto names = NamesIn(folder, [](const std::string& name, const fs::file_status& status) {
    return name.ends_with(".wandb") && fs::is_regular_file(status);
  });
  return names.ok() ? *names : std::vector<std::string>();
}

bool IsRunFolder(const fs::path& folder) {
  std::error_code error;
  return !LogsIn(folder).empty() ||
         fs::is_regular_file(folder / "files/wandb-metadata.json", error) ||
         fs::is_regular_file(folder / "wandb-metadata.json", error);  // before 0.10
}

// The folders of a source's runs: itself, its subfolders, or those of its wandb/.
Result<std::vector<fs::path>> RunFolders(const fs::path& source) {
  if (IsRunFolder(source)) return std::vector<fs::path>{source};
  for (const fs::path& folder : {source, source / "wandb"}) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) continue;
    ASSIGN_OR_RETURN(const auto names,
                     NamesIn(folder, [](const std::string& name, const fs::file_status& status) {
                       return IsRunName(name) && fs::is_directory(status);
                     }));
    if (names.empty()) continue;
    std::vector<fs::path> folders;
    for (const std::string& name : names) folders.push_back(folder / name);
    return folders;
  }
  return std::vector<fs::path>();
}

Status ReadLog(const fs::path& folder, const std::string& name, WandbRun* run) {
  ASSIGN_OR_RETURN(const std::string log, ReadBelow(folder, name, kMostWandbLogBytes));
  if (log.empty()) {  // as of a run that was killed at once
    run->remarks.push_back(name + ": is empty");
    return {};
  }
  std::size_t remarks = 0;
  const auto remark = [&](const std::string& sentence) {
    if (++remarks <= kMostLogRemarks) run->remarks.push_back(name + ": " + sentence);
  };
  RETURN_IF_ERROR(ReadWandbLog(
      log, (folder / name).string(),
      [&](std::string_view record, std::size_t offset) {
        if (!AddWandbRecord(record, run)) {
          remark(fmt::format("byte {}: a record that cannot be read whole", offset));
        }
      },
      remark));
  if (remarks > kMostLogRemarks) {
    run->remarks.push_back(fmt::format("{}: and {} more", name, remarks - kMostLogRemarks));
  }
  return {};
}

// Calls f(text) for a file in files/, or beside it as before 0.10, if it exists; an unreadable one
// becomes a remark.
template <class F>
void WithFile(const fs::path& folder, const std::string& file, const ImportRequest& request,
              WandbRun* run, F f) {
  std::error_code error;
  const bool old = !fs::exists(fs::symlink_status(folder / "files", error));
  const std::string name = old ? file : "files/" + file;
  if (!fs::exists(fs::symlink_status(folder / name, error))) return;
  const auto text = ReadBelow(folder, name, kMostFileBytes);
  const Status status = text.ok() ? f(*text) : Status(text.error());
  if (!status.ok()) {
    run->remarks.push_back(fmt::format("{}: {}", name, Unread(request, status.error()).message));
  }
}

void ReadSideFiles(const fs::path& folder, const ImportRequest& request, WandbRun* run) {
  WithFile(folder, "wandb-metadata.json", request, run, [&](const std::string& text) -> Status {
    ASSIGN_OR_RETURN(const Json json, ParseJsonWithNonFinite(text, ""));
    AddWandbMetadata(json, run);
    return {};
  });
  WithFile(folder, "config.yaml", request, run, [&](const std::string& text) -> Status {
    ASSIGN_OR_RETURN(const Json json, ParseYamlAsJson(text, "config.yaml"));
    AddWandbConfig(json, run);
    return {};
  });
  WithFile(folder, "wandb-summary.json", request, run, [&](const std::string& text) -> Status {
    ASSIGN_OR_RETURN(const Json json, ParseJsonWithNonFinite(text, ""));
    AddWandbSummary(json, run);
    return {};
  });
  WithFile(folder, "requirements.txt", request, run, [&](const std::string& text) -> Status {
    AddWandbRequirements(text, run);
    return {};
  });
  WithFile(folder, "diff.patch", request, run, [&](const std::string& text) -> Status {
    if (!text.empty()) run->diff_sha256 = Sha256HexOf(text);
    return {};
  });
  WithFile(folder, "wandb-history.jsonl", request, run, [&](const std::string& text) -> Status {
    if (run->history.empty()) AddWandbHistory(text, run);
    return {};
  });
}

Status ReadArtifacts(const fs::path& folder, const ImportRequest& request, WandbRun* run) {
  // Files that are read above, and the console's output.
  constexpr std::array<std::string_view, 7> kRead = {
      "wandb-metadata.json", "config.yaml", "wandb-summary.json", "wandb-history.jsonl",
      "requirements.txt",    "diff.patch",  "output.log"};
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder / "files", error))) return {};
  ASSIGN_OR_RETURN(LocalFiles files, ListLocalFiles(folder / "files", request));
  for (Artifact& artifact : files.artifacts) {
    if (std::ranges::find(kRead, artifact.path) == kRead.end()) {
      run->artifacts.push_back(std::move(artifact));
    }
  }
  for (std::string& remark : files.remarks) run->remarks.push_back("files: " + std::move(remark));
  return {};
}

// "offline-run-20261123_094833-rc3k4z68" ends with the id.
std::string IdByName(const fs::path& folder) {
  const std::string name = fs::absolute(folder).lexically_normal().filename().string();
  return name.substr(name.rfind('-') + 1);
}

Result<WandbRun> ReadRun(const fs::path& folder, const ImportRequest& request) {
  WandbRun run;
  const std::vector<std::string> logs = LogsIn(folder);
  for (const std::string& log : logs) RETURN_IF_ERROR(ReadLog(folder, log, &run));
  ReadSideFiles(folder, request, &run);
  if (logs.empty() && run.history.empty()) {
    run.remarks.emplace_back("no transaction log: no curves");
  }
  RETURN_IF_ERROR(ReadArtifacts(folder, request, &run));
  if (run.id.empty()) run.id = IdByName(folder);
  return run;
}

}  // namespace

bool IsWandb(const std::string& source) {
  if (source.find("://") != source.npos) return false;
  const auto folders = RunFolders(source);
  return folders.ok() && std::ranges::any_of(*folders, IsRunFolder);
}

Status ImportWandb(const ImportRequest& request, const ImportSink& sink) {
  ASSIGN_OR_RETURN(const auto folders, RunFolders(request.source));
  std::size_t taken = 0;
  std::set<std::string> ids;
  for (const fs::path& folder : folders) {
    if (request.should_cancel && request.should_cancel()) return {};
    auto run = ReadRun(folder, request);
    if (!run.ok()) {
      sink.refuse(folder.string(), run.error());
    } else if (!request.Wants(run->id)) {
      continue;
    } else if (!ids.insert(run->id).second) {
      sink.refuse(folder.string(),
                  Unsupported("goes on with a run that another folder began; expected one folder a "
                              "run: put the others elsewhere"));
    } else {
      RETURN_IF_ERROR(sink.take(BuildWandbRun(std::move(*run), request)));
      ++taken;
    }
  }
  if (taken == 0) {
    return NotFound("holds no such run; expected run-*/ or offline-run-*/ of wandb",
                    request.source);
  }
  return {};
}

}  // namespace rharness
