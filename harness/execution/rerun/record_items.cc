// Items found by their names and content, and measured as one text.
#include "harness/execution/rerun/record_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "compare/items/kept_items.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/source_folder.h"
#include "harness/execution/rerun/data_cache.h"
#include "harness/execution/rerun/record_find.h"
#include "harness/execution/rerun/record_kept.h"
#include "harness/execution/rerun/record_logs.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

bool IsSamplesName(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("samples_") && name.ends_with(".jsonl");
}

CountsAsItems WrittenIn(const fs::path& folder, const OutputIdentities& before) {
  return [folder, &before](const fs::path& relative) {
    const std::string path = relative.lexically_normal().string();
    const auto known = before.find(path);
    return known == before.end() || IdentityOfFile(folder / path) != known->second;
  };
}

}  // namespace

Result<MeasuredItems> MeasureItems(const HeldFolder& folder, const CountsAsItems& counts,
                                   Artifact* artifact) {
  ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::OpenBelow(folder, artifact->path));
  const fs::path around =
      source.file().empty() ? fs::path(artifact->path) : fs::path(artifact->path).parent_path();
  ASSIGN_OR_RETURN(const EvalItems items, LoadEvalItems(source, [&](const fs::path& relative) {
                     return counts(around / relative);
                   }));
  MeasuredItems measured{.text = KeptTextOf(items), .means = MeansOf(items)};
  artifact->sha256 = Sha256HexOf(measured.text);
  artifact->size_bytes = measured.text.size();
  return measured;
}

std::optional<Artifact> FindItems(const fs::path& folder, const OutputIdentities& before,
                                  Recording* out) {
  // A walk over all files is spared where the run opened none of such a name for writing.
  const bool any = !out->observation || out->observation->outputs.empty() ||
                   std::ranges::any_of(out->observation->outputs, [](const std::string& path) {
                     return path.find(".jsonl") != path.npos;
                   });
  if (!any) return std::nullopt;
  const auto source = SourceFolder::Open(folder.string());
  if (!source.ok()) return std::nullopt;
  const CountsAsItems written = WrittenIn(folder, before);
  std::vector<fs::path> samples;
  std::vector<fs::path> others;
  (void)source->ForEachFile([&](const std::string& relative, EntryKind kind) -> Result<bool> {
    if (kind != EntryKind::kFile || !relative.ends_with(".jsonl")) return true;
    const fs::path path(relative);
    if (!written(path)) return true;
    if (IsSamplesName(path)) {
      // The name of the file, and of folders around it, may be another in a rerun.
      if (path.has_parent_path()) samples.push_back(*path.begin());
    } else if (const auto head = source->ReadHead(relative);
               head.ok() && LooksLikeEvalItems(path, *head)) {
      others.push_back(path);
    }
    return true;
  });
  const std::vector<fs::path>& found = samples.empty() ? others : samples;
  if (found.empty() || !SafeRelativePath(found.front().string(), "").ok()) return std::nullopt;
  Artifact artifact;
  artifact.role = kItemsRole;
  artifact.path = found.front().string();
  const bool more =
      std::ranges::any_of(found, [&](const fs::path& path) { return path != found.front(); });
  MarkFound(fmt::format("artifacts[{}]", out->found.artifacts++),
            fmt::format("the run wrote items of an evaluation{}",
                        more ? "; further ones are not taken" : ""),
            out);
  return artifact;
}

Status RecordItems(const RecordRequest& request, const fs::path& folder,
                   const OutputIdentities& before, Artifact artifact, Recording* out) {
  ASSIGN_OR_RETURN(const HeldFolder held, HeldFolder::Open(folder));
  ASSIGN_OR_RETURN(MeasuredItems measured,
                   MeasureItems(held, WrittenIn(folder, before), &artifact));
  for (const auto& [name, mean] : measured.means) out->item_means[name] = mean;
  if (!request.kept.empty()) {
    artifact.location = PlaceOf(PathInCache(request.kept, artifact.sha256), request.root);
    out->to_keep[artifact.sha256] = std::move(measured.text);
  }
  out->artifacts.push_back(std::move(artifact));
  return {};
}

void ProposeItemMetrics(const RecordRequest& request, Recording* out) {
  if (!request.metrics.empty()) return;
  for (const auto& [name, mean] : out->item_means) {
    if (IsRanked(DirectionByName(name))) DeclareByName(name, mean, out);
  }
}

}  // namespace rharness
