// The rules of admission, one function a part of the manifest, findings in the order of its fields.
#include "harness/records/manifest/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/base/digest.h"

namespace rharness {
namespace {

class Findings {
 public:
  void Add(std::string_view code, std::string_view path, std::string_view message) {
    list_.push_back({.code = std::string(code),
                     .subject = "$." + std::string(path),
                     .message = std::string(message)});
  }
  // A finding unless `present`.
  void Require(bool present, std::string_view code, std::string_view path,
               std::string_view message) {
    if (!present) Add(code, path, message);
  }
  // A hash that is there must be whole; `missing` is the code of one that is not there.
  void RequireHash(std::string_view hash, std::string_view missing, std::string_view path,
                   std::string_view of) {
    if (hash.empty()) {
      Add(missing, path, fmt::format("missing; expected the SHA-256 of {}", of));
    } else {
      CheckHash(hash, path);
    }
  }
  void CheckHash(std::string_view hash, std::string_view path) {
    if (hash.empty() || IsSha256Hex(hash)) return;
    Add("bad_hash", path,
        fmt::format("has {} characters; expected a SHA-256 of 64 lower-case hexadecimal digits",
                    hash.size()));
  }
  std::vector<Finding> Take() { return std::move(list_); }

 private:
  std::vector<Finding> list_;
};

// Reports every repeated value.
class Uniqueness {
 public:
  Uniqueness(std::string_view code, Findings* findings) : code_(code), findings_(findings) {}
  void Check(const std::string& value, std::string path) {
    if (seen_.insert(value).second) return;
    findings_->Add(code_, path, fmt::format("'{}' is there twice; expected each once", value));
  }

 private:
  std::string_view code_;
  Findings* findings_;
  std::set<std::string> seen_;
};

void CheckRun(const Manifest& m, Findings* out) {
  out->Require(!m.run_id.empty(), "missing_run_id", "run_id", "missing; expected a name");
  out->Require(!m.family.empty(), "missing_family", "family",
               "missing; expected the family of runs whose noise may be pooled (`--family`)");
  out->Require(m.started != WallTime{}, "missing_time", "started", "missing; expected a time");
  out->Require(m.ended != WallTime{}, "missing_time", "ended", "missing; expected a time");
  if (m.started == WallTime{} || m.ended == WallTime{}) return;
  const double span = Seconds(m.ended - m.started).count();
  if (span < 0) {
    return out->Add("bad_time", "ended", fmt::format("lies {} s before the start", -span));
  }
  const double gap = std::abs(m.duration_seconds - span);
  if (!std::isfinite(m.duration_seconds) || (gap > 1.0 && gap > 0.01 * span)) {
    out->Add("bad_duration", "duration_seconds",
             fmt::format("is {} s, but {} s lie between start and end; expected agreement within "
                         "1 s or 1 %",
                         m.duration_seconds, span));
  }
}

void CheckCode(const Code& code, Findings* out) {
  out->Require(!code.repository.empty(), "missing_repository", "code.repository",
               "missing; expected the folder or URL of the code");
  if (code.commit.empty() && code.files.empty()) {
    out->Add("missing_commit", "code.commit",
             "missing, and no files are listed, so that there is nothing to rerun; expected a "
             "commit, or the sources by name (`rharness record --code-file`)");
  }
  if (!code.commit.empty() && code.commit.size() != 40 && code.commit.size() != 64) {
    out->Add(
        "bad_hash", "code.commit",
        fmt::format("has {} characters; expected a full commit of 40 or 64", code.commit.size()));
  }
  if (code.dirty && !code.commit.empty() && code.files.empty() && code.kept_diff_sha256.empty()) {
    out->Add(
        "unpinned_code", "code.files",
        "none, and the tree had changes that are in no commit and no kept diff, so that nobody "
        "can rerun this; commit them and record again, or name the sources "
        "(`rharness record --code-file`)");
  }
  out->CheckHash(code.kept_diff_sha256, "code.kept_diff_sha256");
  if (code.dirty) {
    out->RequireHash(code.diff_sha256, "missing_diff", "code.diff_sha256",
                     "`git diff HEAD`, because the tree was dirty");
  } else {
    out->CheckHash(code.diff_sha256, "code.diff_sha256");
  }
  Uniqueness paths("duplicate_path", out);
  for (std::size_t i = 0; i < code.files.size(); ++i) {
    paths.Check(code.files[i].path, fmt::format("code.files[{}].path", i));
    out->RequireHash(code.files[i].sha256, "unpinned_code", fmt::format("code.files[{}].sha256", i),
                     "the file");
  }
}

void CheckImage(const Image& image, Findings* out) {
  if (image.kind == ImageKind::kHost) {
    return out->RequireHash(image.packages_sha256, "missing_packages", "image.packages_sha256",
                            "the host's package list");
  }
  if (image.kind == ImageKind::kOci) {
    out->Require(!image.repository.empty(), "missing_repository", "image.repository",
                 "missing; expected the image's name in its registry");
  } else {
    out->Require(!image.location.empty(), "missing_location", "image.location",
                 "missing; expected the path of the image's file");
  }
  out->Require(image.tag != "latest" && !image.repository.ends_with(":latest"), "latest_tag",
               "image.tag", "'latest' names another image tomorrow; expected a version");
  constexpr std::string_view kPrefix = "sha256:";
  if (image.digest.empty()) {
    out->Add("unpinned_image", "image.digest",
             "missing; a tag can be moved; expected \"sha256:\" and 64 hexadecimal digits");
  } else if (!image.digest.starts_with(kPrefix) ||
             !IsSha256Hex(std::string_view(image.digest).substr(kPrefix.size()))) {
    out->Add("bad_digest", "image.digest",
             fmt::format("is '{}'; expected \"sha256:\" and 64 lower-case hexadecimal digits",
                         image.digest));
  }
}

void CheckData(const std::vector<DataItem>& data, Findings* out) {
  Uniqueness names("duplicate_name", out);
  Uniqueness paths("duplicate_path", out);
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::string at = fmt::format("data[{}]", i);
    names.Check(data[i].name, at + ".name");
    paths.Check(data[i].path, at + ".path");
    out->Require(data[i].kind != DataKind::kNotStated, "missing_kind", at + ".kind",
                 "missing; expected \"file\", \"directory\" or \"delta\"");
    const std::string& source = data[i].source;
    const bool versioned = source.starts_with("delta:") && source.find('@') != source.npos;
    out->Require(data[i].kind != DataKind::kDelta || versioned, "unpinned_data", at + ".source",
                 "names no version of the table; expected delta:FOLDER@VERSION");
    out->RequireHash(data[i].sha256, "unpinned_data", at + ".sha256", "the content");
  }
}

// Hooks in each Python of the run, and in nothing that they could not look at, saw no generator but
// those of packages.
bool SawNoGenerator(const Manifest& m) {
  const auto of_package = [](const std::string& value) {
    return PlaceOfDraw(value).starts_with(kPackagePlace);
  };
  return m.environment.python && m.observation && m.observation->Has(kSeenByPython) &&
         m.observation->unseen.empty() &&
         std::ranges::all_of(m.observation->seeds, [&](const auto& source) {
           return std::ranges::all_of(source.second, of_package);
         });
}

void CheckRandomness(const Manifest& m, Findings* out) {
  out->Require(!m.command.empty(), "missing_command", "command", "missing; expected a program");
  for (const std::string& source : m.rng_sources) {
    out->Require(m.seeds.contains(source), "missing_seed", "seeds." + source,
                 fmt::format("the run draws from '{}', but its seed is not recorded", source));
  }
  if (m.rng_sources.empty() && m.seeds.empty() && !SawNoGenerator(m)) {
    out->Add("missing_rng_sources", "rng_sources",
             "neither sources of randomness nor seeds are recorded; expected those that the run "
             "draws from (`--seed NAME=INTEGER`, `--rng NAME`)");
  }
  Uniqueness sources("duplicate_name", out);
  for (std::size_t i = 0; i < m.rng_sources.size(); ++i) {
    sources.Check(m.rng_sources[i], fmt::format("rng_sources[{}]", i));
  }
}

void CheckEnvironment(const Manifest& m, Findings* out) {
  const Hardware& hardware = m.environment.hardware;
  out->Require(!m.environment.variables.empty(), "missing_variables", "environment.variables",
               "missing; expected the variables that change arithmetic, set or unset");
  out->Require(!hardware.cpu.architecture.empty(), "missing_hardware",
               "environment.hardware.cpu.architecture", "missing; expected such as \"x86_64\"");
  const auto needed = static_cast<std::size_t>(std::max(0, m.resources.gpus));
  if (needed > hardware.gpus.size()) {
    out->Add("missing_gpus", "environment.hardware.gpus",
             fmt::format("{} recorded, but the run uses {}", hardware.gpus.size(), needed));
  }
  if ((needed > 0 || !hardware.gpus.empty()) && hardware.gpu_driver.empty()) {
    out->Add("missing_driver", "environment.hardware.gpu_driver",
             "missing; a run on GPUs needs its driver's version");
  }
}

// An output to compare reruns with: by its tensors, or else by its bytes.
bool HasOutput(const Manifest& m) {
  return std::any_of(m.artifacts.begin(), m.artifacts.end(), [&](const Artifact& artifact) {
    return artifact.role != "log" && artifact.role != "metrics" && artifact.role != kModelOfTracker;
  });
}

void CheckPromise(const Manifest& m, Findings* out) {
  if (m.determinism.declared == "bitwise") {
    out->Require(HasOutput(m), "missing_weights_digest", "determinism.declared",
                 "promises bits, but no output with a digest is recorded (`--weights FILE`, "
                 "`--artifact other=FILE`)");
  }
  if (!m.metrics.empty() || !m.curves.empty()) {
    const bool items =
        m.curves.empty() && std::ranges::any_of(m.artifacts, [](const Artifact& artifact) {
          return artifact.role == kItemsRole;
        });
    out->Require(items || !m.metrics_path.empty(), "missing_metrics_path", "metrics_path",
                 "missing; expected the file from which a rerun's metrics are read");
  }
  if (m.metrics.empty() && !HasOutput(m)) {
    out->Add("nothing_to_compare", "metrics",
             "neither metrics nor outputs are recorded; expected one of them (`--metrics FILE`, "
             "`--weights FILE`, `--artifact other=FILE`)");
  }
  const bool primary = std::any_of(m.metrics.begin(), m.metrics.end(),
                                   [](const Metric& metric) { return metric.primary; });
  if (m.determinism.declared == "statistical" && !primary) {
    out->Add("missing_primary", "metrics",
             "a statistical comparison needs a primary metric; none is marked so (`--metric "
             "NAME,direction=...,margin=...,primary`; or `--determinism bitwise` for a run whose "
             "every rerun has equal bits)");
  }
}

void CheckMargin(const Metric& metric, const std::string& at, Findings* out) {
  if (!metric.margin) {
    return out->Add("missing_margin", at + ".margin",
                    "missing; expected the difference of this primary metric that would matter");
  }
  if (!std::isfinite(*metric.margin) || *metric.margin <= 0.0) {
    out->Add("bad_margin", at + ".margin",
             fmt::format("is {}; expected a finite number above 0", *metric.margin));
  }
}

void CheckMetrics(const Manifest& m, Findings* out) {
  Uniqueness names("duplicate_name", out);
  for (std::size_t i = 0; i < m.metrics.size(); ++i) {
    const Metric& metric = m.metrics[i];
    const std::string at = fmt::format("metrics[{}]", i);
    names.Check(metric.name, at + ".name");
    if (!std::isfinite(metric.value)) {
      out->Add("non_finite_metric", at + ".value",
               fmt::format("is {}; expected a finite number", metric.value));
    }
    if (!metric.primary || m.determinism.declared != "statistical") continue;
    out->Require(!metric.unit.empty(), "missing_unit", at + ".unit",
                 "missing; expected the unit of the margin, \"1\" for a pure number");
    out->Require(metric.direction != MetricDirection::kNotStated, "missing_direction",
                 at + ".direction", "missing; expected \"higher\", \"lower\" or \"none\"");
    CheckMargin(metric, at, out);
  }
}

bool IsFinite(double value) { return std::isfinite(value); }

// A constant curve shows nothing and refuses nothing: admission_notes.h reports it. A curve that
// ends without a number is of a run that is no reference.
void CheckCurves(const std::vector<Curve>& curves, Findings* out) {
  Uniqueness names("duplicate_name", out);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string at = fmt::format("curves[{}]", i);
    const std::vector<double>& values = curves[i].values;
    names.Check(curves[i].name, at + ".name");
    if (values.empty() || IsFinite(values.back())) continue;
    const auto first =
        static_cast<std::size_t>(std::ranges::find_if_not(values, IsFinite) - values.begin());
    const auto finite = static_cast<std::size_t>(std::ranges::count_if(values, IsFinite));
    const auto& steps = curves[i].steps;
    out->Add(
        "non_finite_curve", at + ".values",
        fmt::format("curve '{}' ends with {}: {} of {} values are not finite, the first at step "
                    "{}; expected finite numbers",
                    curves[i].name, values.back(), values.size() - finite, values.size(),
                    first < steps.size() ? fmt::format("{}", steps[first]) : "?"));
  }
}

void CheckFinite(const Artifact& artifact, const std::string& at, Findings* out) {
  const auto has_some = [](const TensorRecord& tensor) { return tensor.non_finite > 0; };
  const auto count = std::ranges::count_if(artifact.tensors, has_some);
  if (count == 0) return;
  const auto first = std::ranges::find_if(artifact.tensors, has_some);
  out->Add(
      "non_finite_weights", fmt::format("{}.tensors[{}]", at, first - artifact.tensors.begin()),
      fmt::format("{} of {} tensors of {} hold values that are not finite, first {} ({} of "
                  "them); expected finite ones",
                  count, artifact.tensors.size(), artifact.path, first->name, first->non_finite));
}

void CheckArtifacts(const Manifest& m, Findings* out) {
  const std::vector<Artifact>& artifacts = m.artifacts;
  Uniqueness paths("duplicate_path", out);
  for (std::size_t i = 0; i < artifacts.size(); ++i) {
    const Artifact& artifact = artifacts[i];
    const std::string at = fmt::format("artifacts[{}]", i);
    paths.Check(artifact.path, at + ".path");
    if (artifact.role == kModelOfTracker) {
      out->CheckHash(artifact.sha256, at + ".sha256");  // no rerun is held to it
    } else {
      out->RequireHash(artifact.sha256, "missing_hash", at + ".sha256", "the file");
    }
    // With promised bits, the bytes of a file that no reader opens are also compared.
    if (artifact.role == "weights" && m.determinism.declared != "bitwise") {
      out->RequireHash(artifact.tensor_digest, "missing_tensor_digest", at + ".tensor_digest",
                       "its tensors, of a format that is read; declare another file as --artifact "
                       "other=PATH, or "
                       "as log=PATH if it may differ");
    } else {
      out->CheckHash(artifact.tensor_digest, at + ".tensor_digest");
    }
    out->CheckHash(artifact.beside_digest, at + ".beside_digest");
    for (std::size_t t = 0; t < artifact.tensors.size(); ++t) {
      out->RequireHash(artifact.tensors[t].sha256, "missing_hash",
                       fmt::format("{}.tensors[{}].sha256", at, t), "the tensor");
    }
    CheckFinite(artifact, at, out);
  }
}

void CheckNotes(const std::vector<std::string>& notes, Findings* out) {
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const auto refuse = [&](std::string_view code) {
      out->Add(code, fmt::format("notes[{}]", i), notes[i]);
    };
    if (notes[i].find(kChangedDuringRun) != std::string::npos) refuse("input_changed");
    if (notes[i].find(kNotRecorded) != std::string::npos) refuse("not_recorded");
    if (notes[i].starts_with(kCommandFailed)) refuse("failed_run");
  }
}

}  // namespace

std::vector<Finding> Admit(const Manifest& manifest) {
  Findings findings;
  CheckRun(manifest, &findings);
  CheckCode(manifest.code, &findings);
  CheckImage(manifest.image, &findings);
  CheckData(manifest.data, &findings);
  CheckRandomness(manifest, &findings);
  CheckEnvironment(manifest, &findings);
  CheckPromise(manifest, &findings);
  CheckMetrics(manifest, &findings);
  CheckCurves(manifest.curves, &findings);
  CheckArtifacts(manifest, &findings);
  CheckNotes(manifest.notes, &findings);
  return findings.Take();
}

}  // namespace rharness
