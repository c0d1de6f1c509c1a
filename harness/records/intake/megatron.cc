// Golden values of Megatron's tests: curves, and nothing else that a rerun needs.
#include <fmt/format.h>

#include <cmath>

#include "compare/curves/curve_files.h"
#include "compare/curves/printed_number.h"
#include "harness/base/digest.h"
#include "harness/base/source_folder.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/importers.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostGoldenBytes = std::uint64_t{64} << 20;

bool IsGoldenName(const fs::path& path) {
  return path.filename().string().starts_with("golden_values") && path.extension() == ".json";
}

bool IsGolden(const SourceFolder& source, const std::string& relative) {
  if (fs::path(relative).extension() != ".json") return false;
  const auto head = source.ReadHead(relative);
  return head.ok() && DetectCurveFormat(*head) == CurveFormat::kMegatronGolden;
}

// "CASE/golden_values_dev_dgx_h100" and the beginning of the content's hash: the same whether the
// file or a folder above it was imported.
std::string GoldenIdOf(const fs::path& file, std::string_view text) {
  return fmt::format("{}-{}-{}", file.parent_path().filename().string(), file.stem().string(),
                     Sha256HexOf(text).substr(0, 12));
}

// A loss has a last value that a rerun must meet.
void AddLastLoss(const CurveSeries& curve, ImportedRun* run) {
  if (KindOfCurve(curve.name) != CurveKind::kLoss) return;
  for (std::size_t i = curve.values.size(); i-- > 0;) {
    if (std::isnan(curve.values[i])) continue;
    return run->AddMetric(curve.name, curve.values[i],
                          Exact(fmt::format("the curve's value at step {}", curve.steps[i])));
  }
}

ImportedRun GoldenRunOf(std::vector<CurveSeries> curves, const std::string& id,
                        const fs::path& file, const std::string& source) {
  ImportedRun run("megatron", source, id);
  run.SetFamily(file.parent_path().filename().string(),
                Hint("the folder's name", "the test case, as Megatron calls it"));
  for (CurveSeries& curve : curves) {
    AddLastLoss(curve, &run);
    const Worth worth = Exact(curve.name);
    run.AddCurve(curve.name, std::move(curve.steps), std::move(curve.values), worth);
  }
  run.Remark(
      "golden values are curves alone: which commit, image, data, command, seeds and machine they "
      "are of is not in the file");
  return run;
}

// Members that are no curves, such as the mean of a timing.
void RemarkOthers(std::string_view text, ImportedRun* run) {
  const auto json = ParseJsonWithNonFinite(text, "");
  if (!json.ok() || !json->IsObject()) return;
  for (const auto& [name, value] : json->AsObject()) {
    if (value.IsObject()) continue;
    run->Remark(fmt::format("{} is {}, no curve: left out", QuotedShort(name),
                            value.ToDouble() ? "a single number" : value.KindName()));
  }
}

}  // namespace

bool IsMegatron(const std::string& path) {
  const auto source = SourceFolder::Open(path);
  if (!source.ok()) return false;
  bool found = false;
  std::size_t left = 2000;
  const auto status = source->ForEachFile([&](const std::string& relative, EntryKind kind) {
    found = kind == EntryKind::kFile && IsGolden(*source, relative);
    return Result<bool>(!found && --left > 0);
  });
  return status.ok() && found;
}

Status ImportMegatron(const ImportRequest& request, const ImportSink& sink) {
  ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::Open(request.source));
  std::size_t taken = 0;
  const auto visit = [&](const std::string& relative, EntryKind kind) -> Result<bool> {
    if (request.should_cancel && request.should_cancel()) return false;
    const std::string where = PlaceIn(request.source, source, relative);
    const bool named = IsGoldenName(relative) || !source.file().empty();
    if (kind != EntryKind::kFile) {
      if (named) sink.refuse(where, NoRegularFile(kind, ""));
      return true;
    }
    if (!named && !IsGolden(source, relative)) return true;
    const auto text = source.folder().ReadFile(relative, kMostGoldenBytes);
    auto curves = text.ok() ? ParseCurves(*text, where) : text.error();
    if (!curves.ok()) {
      sink.refuse(where, curves.error());
      return true;
    }
    const fs::path file = source.path() / relative;
    const std::string id = GoldenIdOf(file, *text);
    if (!request.Wants(id) && !request.Wants(relative)) return true;
    ++taken;
    ImportedRun run = GoldenRunOf(std::move(*curves), id, file, request.source);
    RemarkOthers(*text, &run);
    RETURN_IF_ERROR(sink.take(std::move(run)));
    return true;
  };
  RETURN_IF_ERROR(source.ForEachFile(visit));
  if (taken == 0) return NotFound("holds no such golden values", request.source);
  return {};
}

}  // namespace rharness
