// Folders of TensorBoard's event files: curves and their last values, one run a folder.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "compare/curves/tensorboard.h"
#include "harness/base/digest.h"
#include "harness/base/source_folder.h"
#include "harness/records/intake/importers.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Writers of one run, each with a folder of its own, as Keras names them.
constexpr std::array<std::string_view, 6> kWriters = {"train", "validation", "val",
                                                      "eval",  "evaluation", "test"};

bool IsWriter(const fs::path& folder) {
  return std::ranges::find(kWriters, folder.filename().string()) != kWriters.end();
}

// Files by the folder of their run. A folder below one that has files itself is a writer of that
// run, as are those of add_scalars and add_hparams.
using RunFiles = std::map<fs::path, std::vector<fs::path>>;

RunFiles SortRuns(const std::vector<fs::path>& files) {
  std::set<fs::path> folders;
  for (const fs::path& file : files) folders.insert(file.parent_path());
  RunFiles runs;
  for (const fs::path& file : files) {
    fs::path run = file.parent_path();
    while (!run.empty() && (folders.contains(run.parent_path()) || IsWriter(run))) {
      run = run.parent_path();
    }
    runs[run].push_back(file);
  }
  return runs;
}

class EventImport {
 public:
  EventImport(const ImportRequest& request, const SourceFolder& source)
      : request_(request), source_(source) {}

  Result<ImportedRun> Read(const fs::path& folder, const std::vector<fs::path>& files) const {
    ASSIGN_OR_RETURN(EventCurves read, ReadEventFiles(files, [&](const fs::path& file) {
                       return source_.folder().OpenFile(file);
                     }));
    if (read.curves.empty()) return InvalidInput("no scalar in its event files", folder.string());
    ImportedRun run("tensorboard", request_.source, IdOf(folder));
    run.SetFamily(FolderOf(folder).parent_path().filename().string(),
                  Hint("the folder around it", "which noise may be pooled is for you to say"));
    for (std::string& remark : read.remarks) run.Remark(std::move(remark));
    for (CurveSeries& curve : read.curves) {
      if (KindOfCurve(curve.name) == CurveKind::kResource) continue;
      const Worth worth = Exact(curve.name);
      run.AddMetric(curve.name, curve.values.back(),
                    Exact(fmt::format("its value at step {}", curve.steps.back())));
      run.AddCurve(curve.name, std::move(curve.steps), std::move(curve.values), worth);
    }
    run.Remark(
        "event files are curves alone: which commit, image, data, command, seeds and machine they "
        "are of is not in them; times, rates and memory are left out");
    return run;
  }

  // The folder's path below the source, or its own name.
  std::string IdOf(const fs::path& folder) const {
    return folder.empty() ? FolderOf(folder).filename().string() : folder.string();
  }

 private:
  fs::path FolderOf(const fs::path& folder) const {
    return folder.empty() ? source_.path() : source_.path() / folder;
  }

  const ImportRequest& request_;
  const SourceFolder& source_;
};

}  // namespace

bool IsTensorboard(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error) ? HoldsEventFiles(path)
                                       : IsEventFileName(fs::path(path).filename().string());
}

Status ImportTensorboard(const ImportRequest& request, const ImportSink& sink) {
  ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::Open(request.source));
  std::vector<fs::path> files;
  RETURN_IF_ERROR(
      source.ForEachFile([&](const std::string& relative, EntryKind kind) -> Result<bool> {
        const bool named = IsEventFileName(fs::path(relative).filename().string());
        if (kind == EntryKind::kFile && (named || !source.file().empty())) {
          files.emplace_back(relative);
        } else if (named) {
          sink.refuse(PlaceIn(request.source, source, relative), NoRegularFile(kind, ""));
        }
        return true;
      }));
  const EventImport import(request, source);
  std::size_t taken = 0;
  for (const auto& [folder, of_run] : SortRuns(files)) {
    if (request.should_cancel && request.should_cancel()) break;
    const std::string id = import.IdOf(folder);
    if (!request.Wants(id)) continue;
    auto run = import.Read(folder, of_run);
    if (!run.ok()) {
      sink.refuse(PlaceIn(request.source, source, folder), run.error());
      continue;
    }
    ++taken;
    RETURN_IF_ERROR(sink.take(std::move(*run)));
  }
  if (taken == 0) return NotFound("holds no event files with scalars", request.source);
  return {};
}

}  // namespace rharness
