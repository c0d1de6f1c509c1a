// Outputs by their recorded hashes, and the metrics and plots of dvc.yaml among them.
#include "harness/records/intake/dvc_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/glob.h"
#include "harness/base/shown_url.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/dvc_results.h"
#include "harness/records/intake/local_files.h"
#include "harness/records/intake/weights_file.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// "${model}/metrics.json" as "*/metrics.json".
std::string GlobOfTemplate(std::string_view text) {
  std::string glob;
  while (!text.empty()) {
    const auto begin = text.find("${");
    const auto end = begin == text.npos ? text.npos : text.find('}', begin);
    glob += text.substr(0, end == text.npos ? text.npos : begin);
    if (end == text.npos) break;
    glob += '*';
    text.remove_prefix(end + 1);
  }
  return glob;
}

struct Wanted {      // a metric or a plot of dvc.yaml
  std::string glob;  // below the repository
  std::string x;     // of a plot
};

class OutputReader {
 public:
  OutputReader(const DvcStageRun& from, const DvcRepository& repository, const DvcStagePlace& place,
               ImportedRun* run)
      : from_(from), shared_(repository), place_(place), run_(run) {
    if (!from.pipeline) {
      run->Remark(
          "there is no dvc.yaml beside dvc.lock, so that nobody knows which outputs are "
          "metrics or plots");
      return;
    }
    const std::string& name = from.stage.name;
    const auto stage = from.pipeline->stages.find(name.substr(0, name.find('@')));
    if (stage != from.pipeline->stages.end()) {
      for (const auto& metric : stage->second.metrics)
        AddWanted(place.folder, metric, "", &metrics_);
      for (const DvcPlot& plot : stage->second.plots) {
        AddWanted(place.folder, plot.path, plot.x, &plots_);
      }
    }
    for (const std::string& path : from.pipeline->metrics) {
      AddWanted(from.folder, path, "", &metrics_);
    }
    for (const DvcPlot& plot : from.pipeline->plots) {
      AddWanted(from.folder, plot.path, plot.x, &plots_);
    }
  }

  void Read() {
    for (const DvcEntry& out : from_.stage.outs) {
      const std::string below = DvcPathBelow(shared_.root.path(), place_.folder, out.path);
      if (below.empty() || !out.IsMd5()) {
        run_->Remark(
            fmt::format("artifacts: {} lies outside of the repository, or has no MD5, and "
                        "was left out",
                        QuotedShort(WithoutCredentials(out.path))));
      } else if (out.directory) {
        AddDirectory(out, below);
      } else {
        AddFile(out, below);
      }
    }
    if (left_out_ > 0) {
      run_->Remark(
          fmt::format("artifacts: {} files beyond {} were left out", left_out_, kMostDvcArtifacts));
    }
  }

 private:
  void AddWanted(const std::string& folder, const std::string& path, const std::string& x,
                 std::vector<Wanted>* wanted) const {
    const std::string below = DvcPathBelow(shared_.root.path(), folder, path);
    if (!below.empty()) wanted->push_back({GlobOfTemplate(below), x});
  }

  // Itself, or a folder that it lies in.
  static const Wanted* Match(const std::vector<Wanted>& wanted, const std::string& path) {
    const auto found = std::ranges::find_if(wanted, [&](const Wanted& one) {
      return GlobMatches(one.glob, path) || GlobMatches(one.glob + "/*", path);
    });
    return found == wanted.end() ? nullptr : &*found;
  }

  std::string FromBase(const std::string& below) const {
    return place_.base.empty() ? below : below.substr(place_.base.size() + 1);
  }

  std::string RoleOf(const std::string& below) const {
    return Match(metrics_, below) != nullptr ? "metrics" : RoleByName(below);
  }

  void AddFile(const DvcEntry& out, const std::string& below) {
    Artifact artifact;
    artifact.path = FromBase(below);
    artifact.size_bytes = out.size_bytes;
    artifact.role = RoleOf(below);
    const std::string where = place_.where + ".outs";
    const auto text = IsText(below) ? Text(out, below) : NotFound("is no metric");
    if (!text.ok()) Unread(shared_.request, text.error());
    if (text.ok()) {
      artifact.sha256 = Sha256HexOf(*text);
      artifact.size_bytes = text->size();
      AddValues(below, *text);
    }
    if (!shared_.request.artifacts) {
      artifact.sha256.clear();
      return AddArtifact(std::move(artifact), Hint(where, "not looked for (--no-artifacts)"));
    }
    const Result<DvcContent>& content = shared_.contents.Find(out, below);
    if (content.ok()) {
      artifact.sha256 = content->sha256;
      artifact.size_bytes = content->size_bytes;
      artifact.location = content->at.string();
      AddTensors(below, content->at, &artifact);
      TellChanged(*content);
    } else if (Unread(shared_.request, content.error()); !text.ok()) {
      run_->Remark(
          fmt::format("artifacts: {}", Unread(shared_.request, content.error()).ToString()));
    }
    AddArtifact(std::move(artifact),
                text.ok() ? Exact(where + ": md5 verified") : WorthOf(where, content));
  }

  void AddDirectory(const DvcEntry& out, const std::string& below) {
    if (!shared_.request.artifacts) {
      return run_->Remark(
          fmt::format("artifacts: {} was not looked for (--no-artifacts)", QuotedShort(below)));
    }
    const Result<DvcContent>& content = shared_.contents.Find(out, below);
    if (!content.ok()) {
      return run_->Remark(
          fmt::format("artifacts: {}", Unread(shared_.request, content.error()).ToString()));
    }
    TellChanged(*content);
    for (const DvcFoundFile& file : content->files) {
      const std::string whole = fmt::format("{}/{}", below, file.path);
      if (IsText(whole)) {
        const auto text = ReadFile(file.at, kMostDvcBytes);
        if (!text.ok()) Unread(shared_.request, text.error());
        if (text.ok() && Sha256HexOf(*text) == file.sha256) AddValues(whole, *text);
      }
      Artifact artifact;
      artifact.path = FromBase(whole);
      artifact.sha256 = file.sha256;
      artifact.size_bytes = file.size_bytes;
      artifact.location = file.at.string();
      artifact.role = RoleOf(whole);
      AddTensors(whole, file.at, &artifact);
      AddArtifact(std::move(artifact), WorthOf(place_.where + ".outs", content));
    }
  }

  void AddArtifact(Artifact artifact, const Worth& worth) {
    if (artifacts_ >= kMostDvcArtifacts) {
      ++left_out_;
      return;
    }
    ++artifacts_;
    run_->AddArtifact(std::move(artifact), worth);
  }

  void TellChanged(const DvcContent& content) {
    if (content.changed.empty()) return;
    run_->Remark(fmt::format("artifacts: {}; the cache has what was recorded", content.changed));
  }

  bool IsText(const std::string& below) const {
    return Match(metrics_, below) != nullptr || Match(plots_, below) != nullptr;
  }

  // Small files are often in git alone.
  Result<std::string> Text(const DvcEntry& out, const std::string& below) const {
    auto text = shared_.contents.Read(out, below);
    if (text.ok() || shared_.git == nullptr || place_.commit.empty()) return text;
    const auto blob = shared_.git->Read(place_.commit, below, kMostDvcBytes);
    if (!blob.ok()) return text;
    const auto md5 = DvcMd5Of(*blob, out.algorithm != "md5");
    return md5.ok() && *md5 == out.hash ? blob : text;
  }

  // As in the workspace, under a telling name.
  void AddTensors(const std::string& below, const fs::path& at, Artifact* artifact) {
    if (artifact->role != "weights" && artifact->role != "optimizer") return;
    if (at != (shared_.root.path() / below).lexically_normal()) return;
    Artifact here = *artifact;
    here.path = below;
    Status status = HashArtifact(shared_.root, &here);
    if (status.ok() && here.sha256 != artifact->sha256) return;
    if (status.ok()) status = ReadWeights(shared_.root, &here);
    if (!status.ok()) {
      return run_->Remark(fmt::format("{}: its tensors were not read: {}", below,
                                      Unread(shared_.request, status.error()).message));
    }
    const std::string path = artifact->path, location = artifact->location;
    *artifact = std::move(here);
    artifact->path = path;
    artifact->location = location;
  }

  void AddValues(const std::string& below, const std::string& text) {
    if (Match(metrics_, below) != nullptr) AddMetrics(below, text);
    const Wanted* plot = Match(plots_, below);
    if (plot != nullptr && ++plots_read_ <= kMostDvcPlots) AddCurves(below, text, plot->x);
  }

  // "accuracy", and in all but the first file of metrics "eval.json:accuracy".
  void AddMetrics(const std::string& below, const std::string& text) {
    const auto json = ParseDvcValues(text, below);
    if (!json.ok()) return run_->Remark(json.error().ToString());
    if (first_metrics_.empty()) first_metrics_ = below;
    const std::string prefix = first_metrics_ == below ? "" : below + ":";
    for (const auto& [name, value] : FlattenDvcValues(*json)) {
      if (const auto number = value.ToDouble())
        run_->AddMetric(prefix + name, *number, Exact(below));
    }
  }

  void AddCurves(const std::string& below, const std::string& text, const std::string& x) {
    auto curves = ParseDvcPlot(text, below, x);
    if (!curves.ok()) {
      return run_->Remark(fmt::format("plot {}", curves.error().ToString()));
    }
    for (CurveSeries& curve : *curves) {
      const auto [first, is_new] = curve_files_.emplace(curve.name, below);
      const std::string name = is_new ? curve.name : fmt::format("{}:{}", below, curve.name);
      run_->AddCurve(name, std::move(curve.steps), std::move(curve.values), Exact(below));
    }
  }

  const DvcStageRun& from_;
  const DvcRepository& shared_;
  const DvcStagePlace& place_;
  ImportedRun* run_;
  std::vector<Wanted> metrics_, plots_;
  std::string first_metrics_;
  std::map<std::string, std::string> curve_files_;  // by name of the curve
  std::size_t artifacts_ = 0, left_out_ = 0, plots_read_ = 0;
};

}  // namespace

Worth WorthOf(const std::string& where, const Result<DvcContent>& content) {
  if (!content.ok()) return Hint(where, content.error().message);
  if (content->line_ends_open) {
    return Hint(where,
                "its MD5, which was verified, counts CRLF as LF; a SHA-256 of today's bytes");
  }
  return Exact(where + ": md5 verified, and SHA-256 of the same bytes");
}

void AddDvcOutputs(const DvcStageRun& from, const DvcRepository& repository,
                   const DvcStagePlace& place, ImportedRun* run) {
  OutputReader(from, repository, place, run).Read();
}

}  // namespace rharness
