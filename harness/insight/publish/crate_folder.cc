// The folder of a drill's crate: the bounded copies, and its place.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/insight/publish/ro_crate.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::string MediaOf(const std::string& path) {
  if (path.ends_with(".json")) return "application/json";
  if (path.ends_with(".html")) return "text/html";
  if (path.ends_with(".xml")) return "application/xml";
  if (path.ends_with(".md")) return "text/markdown";
  if (path.ends_with(".log") || path.ends_with(".prom")) return "text/plain";
  return "application/octet-stream";
}

// Whether the folder can be made there: nothing is in its place, or an empty folder.
Status CheckPlace(const fs::path& out) {
  std::error_code error;
  const auto status = fs::symlink_status(out, error);
  if (!fs::exists(status)) return {};
  if (fs::is_directory(status) && fs::is_empty(out, error) && !error) return {};
  return InvalidInput("is there already; expected a new folder for the crate", out.string());
}

class CrateFolder {
 public:
  CrateFolder(HeldFolder drill, fs::path to, const CrateLimits& limits)
      : drill_(std::move(drill)), to_(std::move(to)), limits_(limits) {}

  // Of a report's path; empty if it names nothing.
  std::optional<CrateFile> Take(const std::string& path, std::string name) {
    const auto safe = SafeRelativePath(path, "report.json");
    if (path.empty() || !safe.ok()) return std::nullopt;
    CrateFile file{safe->generic_string(), std::move(name), MediaOf(path), 0, {}, {}};
    const auto digest = drill_.HashFile(*safe);
    if (!digest.ok()) {
      file.left_out = digest.error().message;
    } else {
      file.size_bytes = digest->size_bytes;
      file.sha256 = digest->sha256;
      file.left_out = Copy(file);
    }
    if (!file.left_out.empty()) {
      written_.left_out.push_back(fmt::format("{}: {}", file.path, file.left_out));
    }
    return file;
  }

  CrateRerun TakeRerun(const ReportRun& run, const ReportRerun& rerun) {
    CrateRerun one{&run, &rerun, {}, {}};
    const std::string of = fmt::format("of rerun {} of {}", rerun.index, run.run_id);
    const auto add = [&](const std::string& path, const std::string& what) {
      if (auto file = Take(path, what + " " + of)) one.files.push_back(std::move(*file));
    };
    add(rerun.evidence_path, "evidence");
    add(rerun.stdout_path, "output");
    add(rerun.stderr_path, "messages");
    auto evidence = ReadEvidence(rerun.evidence_path);
    if (!evidence) return one;
    one.evidence = std::move(*evidence);
    for (const Artifact& artifact : one.evidence.artifacts) {
      add(artifact.location, artifact.role + " " + artifact.path);
    }
    return one;
  }

  Status Write(const Json& metadata) {
    return WriteJsonFile(to_ / "ro-crate-metadata.json", metadata);
  }
  WrittenCrate& written() { return written_; }

 private:
  // Why it was not copied; empty: it was.
  std::string Copy(const CrateFile& file) {
    if (file.size_bytes > limits_.file_bytes) {
      return fmt::format("{}, more than the {} of a crate's file", FormatBytes(file.size_bytes),
                         FormatBytes(limits_.file_bytes));
    }
    if (bytes_ + file.size_bytes > limits_.all_bytes) {
      return fmt::format("the crate has its {} already", FormatBytes(limits_.all_bytes));
    }
    const auto content = drill_.ReadFile(file.path, limits_.file_bytes);
    if (!content.ok()) return content.error().message;
    if (Sha256HexOf(*content) != file.sha256) return "it changed while it was read";
    if (const Status made = WriteFileAtomic(to_ / file.path, *content); !made.ok()) {
      return made.error().message;
    }
    bytes_ += file.size_bytes;
    ++written_.files;
    return "";
  }

  std::optional<Evidence> ReadEvidence(const std::string& path) {
    if (path.empty()) return std::nullopt;
    const auto text = drill_.ReadFile(path, std::uint64_t{256} << 20);
    const auto json = text.ok() ? ParseJson(*text, path) : Result<Json>(text.error());
    auto evidence = json.ok() ? ParseEvidence(*json, path) : Result<Evidence>(json.error());
    if (evidence.ok()) return std::move(*evidence);
    written_.left_out.push_back(evidence.error().ToString());
    return std::nullopt;
  }

  HeldFolder drill_;
  fs::path to_;
  const CrateLimits limits_;
  std::uint64_t bytes_ = 0;
  WrittenCrate written_;
};

Result<WrittenCrate> Fill(const fs::path& drill, const Report& report, const fs::path& to,
                          const CrateLimits& limits) {
  ASSIGN_OR_RETURN(HeldFolder held, HeldFolder::Open(drill));
  CrateFolder folder(std::move(held), to, limits);
  std::vector<CrateFile> files;
  for (const char* name : {"report.json", "report.html", "junit.xml", "summary.md"}) {
    auto file = folder.Take(name, fmt::format("the drill's {}", name));
    if (file && file->left_out.empty()) files.push_back(std::move(*file));
  }
  std::vector<CrateRerun> reruns;
  for (const ReportRun& run : report.runs) {
    for (const ReportRerun& rerun : run.reruns) reruns.push_back(folder.TakeRerun(run, rerun));
  }
  RETURN_IF_ERROR(folder.Write(BuildRoCrate(report, files, reruns)));
  return std::move(folder.written());
}

}  // namespace

Result<WrittenCrate> WriteRoCrate(const fs::path& drill, const Report& report, const fs::path& out,
                                  const CrateLimits& limits) {
  const fs::path place = fs::absolute(out).lexically_normal();
  const fs::path folder = place.has_filename() ? place : place.parent_path();
  RETURN_IF_ERROR(CheckPlace(folder));
  const fs::path partial =
      folder.parent_path() / fmt::format(".{}.{}.partial", folder.filename().string(), ::getpid());
  RETURN_IF_ERROR(MakeDirectories(partial));
  auto written = Fill(drill, report, partial, limits);
  std::error_code error;
  if (written.ok()) {
    fs::rename(partial, folder, error);  // over an empty folder, too
    if (!error) return written;
  }
  (void)RemoveTree(partial);
  if (!written.ok()) return written.error();
  return IoErrorFromErrno("cannot be made", error.value(), folder.string());
}

}  // namespace rharness
