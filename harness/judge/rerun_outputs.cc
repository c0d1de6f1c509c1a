// Evidence as outputs that should be the same in every rerun.
#include "harness/judge/rerun_outputs.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "compare/curves/series.h"
#include "harness/base/digest.h"

namespace rharness {
namespace {

std::string DigestOf(const Curve& curve) {
  Sha256 digest;
  for (const std::int64_t step : curve.steps) digest.UpdateU64(static_cast<std::uint64_t>(step));
  for (const double value : curve.values) digest.UpdateU64(std::bit_cast<std::uint64_t>(value));
  return ToHex(digest.Finish());
}

// All that the same bits are expected of.
std::string GroupOf(const Evidence& evidence) {
  const Hardware& hardware = evidence.environment.hardware;
  std::string group = hardware.cpu.model;
  for (const Gpu& gpu : hardware.gpus) group += "|" + gpu.model;
  for (const DataItem& item : evidence.data) group += "|" + item.name + "=" + item.sha256;
  for (const CodeFile& file : evidence.code_files) group += "|" + file.path + "=" + file.sha256;
  for (const auto& [source, seed] : evidence.seeds) group += fmt::format("|{}={}", source, seed);
  return group + "|" + evidence.image_digest;
}

}  // namespace

RerunOutputs OutputsOf(const Evidence& evidence) {
  RerunOutputs outputs{.rerun = evidence.rerun,
                       .group = GroupOf(evidence),
                       .node = evidence.machine.node,
                       .digests = {}};
  for (const Artifact& artifact : evidence.artifacts) {
    const bool file =
        artifact.tensor_digest.empty() &&
        (artifact.role == "other" || artifact.role == kItemsRole || IsCheckpoint(artifact));
    const std::string digest = file ? artifact.sha256 : LoadedDigest(artifact);
    if (!digest.empty()) outputs.digests[artifact.role + " " + artifact.path] = digest;
  }
  for (const auto& [name, value] : evidence.metrics.metrics) {
    if (KindOfCurve(name) == CurveKind::kResource) continue;
    outputs.digests["metric " + name] = fmt::format("{:016x}", std::bit_cast<std::uint64_t>(value));
  }
  for (const Curve& curve : evidence.metrics.curves) {
    if (KindOfCurve(curve.name) == CurveKind::kResource) continue;
    outputs.digests["curve " + curve.name] = DigestOf(curve);
  }
  for (const auto& [member, text] : evidence.unread_metrics.value_or(UnreadMembers())) {
    if (KindOfCurve(member) != CurveKind::kResource) outputs.digests["unread " + member] = text;
  }
  return outputs;
}

}  // namespace rharness
