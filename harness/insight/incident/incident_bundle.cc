// Files of the bundle; see incident_bundle.h.
#include "harness/insight/incident/incident_bundle.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/base/version.h"
#include "harness/insight/incident/runbook.h"
#include "reports/comparison_report.h"
#include "reports/model.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kSums[] = "SHA256SUMS";
constexpr std::uint64_t kMostPageBytes = std::uint64_t{8} << 20;

class BundleWriter {
 public:
  BundleWriter(const BundleContent& content, fs::path folder, IncidentReport* report)
      : content_(content), folder_(std::move(folder)), report_(*report) {}

  Status Write() {
    RETURN_IF_ERROR(Manifests());
    RETURN_IF_ERROR(Comparison());
    RETURN_IF_ERROR(Rollback());
    RETURN_IF_ERROR(Histories());
    for (const IncidentPage& page : report_.pages) {
      const RunbookPage* found = FindRunbookPage(page.code);
      RETURN_IF_ERROR(WriteFileAtomic(folder_ / "runbook" / (page.code + ".html"),
                                      WriteHtml(*found, kVersion, "The incident")));
    }
    RETURN_IF_ERROR(
        Add("incident.json", "the answers for machines (rharness.incident/v1)", std::string()));
    RETURN_IF_ERROR(Add("summary.md", "the answers as a step summary", std::string()));
    RETURN_IF_ERROR(Add("junit.xml", "the answers for a CI", std::string()));
    RETURN_IF_ERROR(
        Add(kSums, "the SHA-256 of every other file here; sha256sum -c SHA256SUMS", std::string()));
    RETURN_IF_ERROR(WriteJsonFile(folder_ / "incident.json", ToJson(report_)));
    const Document document = DocumentOf(report_);
    RETURN_IF_ERROR(WriteFileAtomic(folder_ / "junit.xml", WriteJunit(document)));
    RETURN_IF_ERROR(WriteFileAtomic(folder_ / "summary.md", WriteMarkdown(document)));
    return WriteFileAtomic(folder_ / "index.html", WriteHtml(document));
  }

  // As sha256sum writes and checks it; no name in the bundle has a character that it would escape.
  Status Sums() {
    std::map<std::string, std::string> sums;
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder_, error), end; !error && at != end;
         at.increment(error)) {
      if (!at->is_regular_file()) continue;
      ASSIGN_OR_RETURN(const FileDigest digest, HashFile(at->path()));
      sums[at->path().lexically_relative(folder_).generic_string()] = digest.sha256;
    }
    if (error) return PathError("cannot be read", error.value(), folder_.string());
    std::string text;
    for (const auto& [file, sha256] : sums) text += fmt::format("{}  {}\n", sha256, file);
    return WriteFileAtomic(folder_ / kSums, text);
  }

 private:
  Status Add(const std::string& file, std::string what, const std::string& text) {
    report_.bundle.emplace_back(file, std::move(what));
    return text.empty() ? Status() : WriteFileAtomic(folder_ / file, text);
  }
  Status AddJson(const std::string& file, std::string what, const Json& json) {
    return Add(file, std::move(what), json.Dump(2) + "\n");
  }

  std::string Good() const {
    return report_.named ? "the run that --good names" : "the last good run";
  }

  Status Manifests() {
    const IncidentFacts& facts = content_.facts;
    RETURN_IF_ERROR(AddJson("manifests/run.json", "the manifest of the run", ToJson(facts.run)));
    if (!facts.good) return {};
    return AddJson("manifests/good.json", "the manifest of " + Good(), ToJson(*facts.good));
  }

  Status Comparison() {
    if (!content_.comparison) return {};
    RETURN_IF_ERROR(Add("comparison/report.html", Good() + " beside the run",
                        WriteHtml(DocumentOf(*content_.comparison))));
    return AddJson("comparison/comparison.json", "the same for machines",
                   ToJson(*content_.comparison));
  }

  // The drill's report without links to files that stay in its folder: logs and checkpoints.
  Status Rollback() {
    if (!content_.facts.rollback) return {};
    Report report = *content_.facts.rollback;
    for (ReportRun& run : report.runs) {
      RETURN_IF_ERROR(CopyPage(&run.comparison_path));
      for (ReportRerun& rerun : run.reruns) {
        rerun.evidence_path.clear();
        rerun.stdout_path.clear();
        rerun.stderr_path.clear();
      }
    }
    const Document document = DocumentOf(report);
    RETURN_IF_ERROR(
        Add("rollback/report.html", "the report of the rollback drill", WriteHtml(document)));
    RETURN_IF_ERROR(AddJson("rollback/report.json", "the same for machines", ToJson(report)));
    return Add("rollback/junit.xml", "the same for a CI", WriteJunit(document));
  }

  Status CopyPage(std::string* path) {
    if (path->empty()) return {};
    ASSIGN_OR_RETURN(const fs::path relative, SafeRelativePath(*path, "rollback drill"));
    ASSIGN_OR_RETURN(const fs::path from, ResolveBelow(content_.drill, relative));
    const auto text = ReadFile(from, kMostPageBytes);
    if (!text.ok()) {
      path->clear();
      return {};
    }
    return WriteFileAtomic(folder_ / "rollback" / relative, *text);
  }

  Status Histories() {
    const IncidentFacts& facts = content_.facts;
    RETURN_IF_ERROR(Add("history/run.html", "verdicts of the run, and what changed between them",
                        WriteHtml(DocumentOf(facts.run_history, kVersion))));
    if (facts.good_history) {
      RETURN_IF_ERROR(Add("history/good.html", "the same of " + Good(),
                          WriteHtml(DocumentOf(*facts.good_history, kVersion))));
    }
    RETURN_IF_ERROR(Add("history/family.html", "the same of the family",
                        WriteHtml(DocumentOf(content_.family, kVersion))));
    return AddJson("history/family.json", "the same for machines", ToJson(content_.family));
  }

  const BundleContent& content_;
  const fs::path folder_;
  IncidentReport& report_;
};

}  // namespace

Status RefuseTakenFolder(const fs::path& out, bool resumed) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(out, error);
  if (!fs::exists(status)) return {};
  if (fs::is_directory(status) && fs::is_empty(out, error) && !error) return {};
  if (resumed && fs::exists(out / "index.html", error)) {
    return InvalidInput("the incident is finished already; see index.html there", out.string());
  }
  return InvalidInput("is there already; name a new or an empty folder", out.string());
}

Status WriteIncidentBundle(const BundleContent& content, const fs::path& staging,
                           const fs::path& out, IncidentReport* report) {
  RETURN_IF_ERROR(RemoveTree(staging));
  std::error_code error;
  fs::create_directory(staging, error);
  if (!error) fs::permissions(staging, fs::perms::owner_all, error);
  if (error) return PathError("cannot be made", error.value(), staging.string());
  BundleWriter writer(content, staging, report);
  RETURN_IF_ERROR(writer.Write());
  RETURN_IF_ERROR(writer.Sums());
  RETURN_IF_ERROR(RefuseTakenFolder(out, false));
  fs::rename(staging, out, error);
  if (error) return PathError("cannot be made", error.value(), out.string());
  return SyncFolder(out.parent_path());
}

}  // namespace rharness
