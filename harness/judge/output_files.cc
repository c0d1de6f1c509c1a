// The files of both sides, paired by their paths.
#include "harness/judge/output_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/describe_checkpoint.h"

namespace rharness {
namespace {

const Artifact* ArtifactAt(const std::vector<Artifact>& artifacts, const std::string& path) {
  const auto found = std::ranges::find(artifacts, path, &Artifact::path);
  return found == artifacts.end() ? nullptr : &*found;
}

bool IsLog(const Artifact& artifact) { return artifact.role == "log"; }

// The numbers of such a file are in the manifest and are compared one by one.
bool HasItsNumbers(const Artifact& artifact, const Manifest& manifest) {
  return artifact.role == "metrics" && !(manifest.metrics.empty() && manifest.curves.empty());
}

bool HasSameBytes(const Artifact& a, const Artifact& b) {
  const auto same = [](const ArtifactPart& x, const ArtifactPart& y) {
    return x.path == y.path && x.sha256 == y.sha256;
  };
  // A record may be older than the list of shards.
  const bool parts =
      a.parts.empty() || b.parts.empty() || std::ranges::equal(a.parts, b.parts, same);
  return a.sha256 == b.sha256 && parts;
}

void AddMissingFile(std::string subject, std::string why, Comparison* comparison) {
  comparison->findings.push_back({.code = "missing_output",
                                  .layer = {},
                                  .subject = subject,
                                  .observed = "nothing to compare",
                                  .limit = "a SHA-256 on both sides",
                                  .rule = "a declared output must be on both sides",
                                  .message = fmt::format("{}: {}", subject, why)});
}

void AddFile(const Artifact& a, const Artifact& b, bool matters, Comparison* comparison) {
  CheckpointComparison file{.subject = fmt::format("{} {}", a.role, a.path),
                            .weights = a.role == "weights",
                            .digest_a = a.sha256,
                            .digest_b = b.sha256,
                            .from_digests = true,
                            .is_file = true,
                            .matters = matters};
  file.difference.bit_equal = HasSameBytes(a, b);
  if (!file.difference.bit_equal) {
    const std::string how = fmt::format("{}: {}", file.subject, DescribeFile(file));
    if (!matters) {
      file.asides.push_back(how);
    } else if (a.role == kItemsRole) {
      file.not_compared.push_back(how +
                                  ", and the items of both are not kept: only equality shows");
    } else if (!comparison->declared_bitwise) {
      file.not_compared.push_back(
          how +
          ", and no reader opens it: write its arrays as safetensors or .npy, or declare it as a "
          "log if it may differ (--artifact log=" +
          a.path + ")");
    }
  }
  comparison->checkpoints.push_back(std::move(file));
}

}  // namespace

bool IsComparedAsFile(const Artifact& recorded, const Artifact* seen) {
  if (!IsCheckpoint(recorded)) return true;
  if (seen == nullptr || recorded.sha256.empty() || seen->sha256.empty()) return false;
  return recorded.tensor_digest.empty() || seen->tensor_digest.empty();
}

void CompareOutputFiles(const Manifest& a, const Manifest& b, Comparison* comparison) {
  for (const Artifact& artifact : a.artifacts) {
    const Artifact* other = ArtifactAt(b.artifacts, artifact.path);
    if (!IsComparedAsFile(artifact, other)) continue;
    const std::string subject = fmt::format("{} {}", artifact.role, artifact.path);
    if (artifact.role == kModelOfTracker) {
      comparison->notes.push_back(subject +
                                  ": not compared: a tracker keeps it, and no rerun writes it");
    } else if (artifact.path == a.metrics_path && artifact.role != kItemsRole) {
      comparison->notes.push_back(subject + ": compared by its values");
    } else if (other == nullptr) {
      if (!IsLog(artifact)) {
        AddMissingFile(subject, comparison->is_rerun ? "the rerun did not write it" : "in A alone",
                       comparison);
      }
    } else if (artifact.sha256.empty() || other->sha256.empty()) {
      if (!IsLog(artifact)) AddMissingFile(subject, "no SHA-256 was recorded", comparison);
    } else {
      AddFile(artifact, *other, !IsLog(artifact) && !HasItsNumbers(artifact, a), comparison);
    }
  }
  if (comparison->is_rerun) return;  // further files of a rerun do not matter
  for (const Artifact& artifact : b.artifacts) {
    if (IsCheckpoint(artifact) || IsLog(artifact) || artifact.role == kModelOfTracker ||
        ArtifactAt(a.artifacts, artifact.path) != nullptr) {
      continue;
    }
    AddMissingFile(fmt::format("{} {}", artifact.role, artifact.path), "in B alone", comparison);
  }
}

}  // namespace rharness
