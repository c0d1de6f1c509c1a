// Groups of runs, their spread and their stack; see envelope.h.
#include "harness/judge/envelope.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>

#include "compare/stats/moments.h"
#include "harness/base/digest.h"
#include "harness/judge/record_parts.h"

namespace rharness {
namespace {

bool EqualBits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool EqualCurves(const Curve& a, const Curve& b) {
  return a.steps == b.steps && std::ranges::equal(a.values, b.values, EqualBits);
}

const Curve* CurveNamed(const RunMetrics& run, const std::string& name) {
  const auto at = std::ranges::find(run.curves, name, &Curve::name);
  return at == run.curves.end() ? nullptr : &*at;
}

bool IsResource(const std::string& name) { return KindOfCurve(name) == CurveKind::kResource; }

// Every result of `a` is in `b` with the same bits.
bool IsAmong(const RunMetrics& a, const RunMetrics& b) {
  for (const auto& [name, value] : a.metrics) {
    if (IsResource(name)) continue;
    const auto other = b.metrics.find(name);
    if (other == b.metrics.end() || !EqualBits(value, other->second)) return false;
  }
  for (const Curve& curve : a.curves) {
    if (IsResource(curve.name)) continue;
    const Curve* other = CurveNamed(b, curve.name);
    if (other == nullptr || !EqualCurves(curve, *other)) return false;
  }
  return true;
}

// What a stack is known by.
bool IsOfStack(const Fact& fact) {
  if (fact.layer != Layer::kEnvironment && fact.layer != Layer::kHardware) return false;
  if (fact.kind != FactKind::kValue || !fact.value) return false;
  // Sampled facts, and those seen only at a regular end of a process, are not seen in each run.
  if (fact.key.starts_with("library.") || fact.key.starts_with("flag.")) return false;
  if (fact.key.starts_with("lock_file.")) return false;  // says what was asked for
  // The structure of a machine rounds nothing, and older replicates do not have it.
  static const std::set<std::string, std::less<>> kNoStack = {
      "variable." + std::string(kReplicateVariable),
      "variable.CUDA_VISIBLE_DEVICES",
      "cpu.sockets",
      "cpu.cores_per_socket",
      "cpu.l3",
      "gpu.numa_nodes",
      "gpu.pcie_order"};
  return !kNoStack.contains(fact.key);
}

}  // namespace

RunMetrics MeasuredOf(const Manifest& manifest) {
  RunMetrics measured;
  for (const Metric& metric : manifest.metrics) measured.metrics[metric.name] = metric.value;
  measured.curves = manifest.curves;
  return measured;
}

bool SameMeasured(const RunMetrics& a, const RunMetrics& b) {
  return IsAmong(a, b) && IsAmong(b, a);
}

int AddGroup(const std::vector<RunMetrics>& runs, Envelope* envelope) {
  std::vector<RunMetrics> group;
  for (const RunMetrics& run : runs) {
    const auto same = [&](const RunMetrics& other) { return SameMeasured(run, other); };
    if (std::ranges::none_of(group, same)) group.push_back(run);
  }
  if (group.size() < 2) return 0;
  envelope->groups.push_back(std::move(group));
  return static_cast<int>(envelope->groups.back().size()) - 1;
}

std::string SourceOf(const Envelope& envelope) {
  std::vector<std::string> parts;
  const auto add = [&](int count, std::string_view one, std::string_view many) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
  };
  add(envelope.recorded, "recorded repeat", "recorded repeats");
  add(envelope.reruns, "further rerun", "further reruns");
  add(envelope.made, "replicate", "replicates");
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (envelope.made > 0) {
    text += " made on this stack on " + FormatTime(envelope.made_at).substr(0, 10);
  }
  return text;
}

RoundingRuns RoundingOf(const Envelope& envelope) {
  RoundingRuns rounding{.groups = {}, .source = SourceOf(envelope)};
  for (const std::vector<RunMetrics>& group : envelope.groups) {
    auto& runs = rounding.groups.emplace_back();
    for (const RunMetrics& run : group) runs.push_back(CurvesOf(run.curves));
  }
  return rounding;
}

SeedSpread RoundingOf(const Envelope& envelope, const std::string& metric, double quantum) {
  double squares = 0.0;
  double degrees = 0.0;
  double largest = 0.0;
  for (const std::vector<RunMetrics>& group : envelope.groups) {
    std::vector<double> values;
    for (const RunMetrics& run : group) {
      const auto value = run.metrics.find(metric);
      if (value == run.metrics.end() || !std::isfinite(value->second)) continue;
      values.push_back(value->second);
      largest = std::max(largest, std::fabs(value->second));
    }
    if (values.size() < 2) continue;
    const stats::Moments moments = stats::ComputeMoments(values);
    squares += moments.sum_of_squares;
    degrees += moments.count - 1.0;
  }
  if (!(squares > 0.0) || !std::isfinite(squares)) return {.basis = "none"};
  const double coarse = std::isfinite(quantum) ? std::max(quantum, 0.0) / std::sqrt(12.0) : 0.0;
  const double floor = std::max(coarse, largest * std::numeric_limits<double>::epsilon());
  return {.deviation = std::max(std::sqrt(squares / degrees), floor),
          .df = degrees,
          .basis = "rounding"};
}

// A bundle's lines have their keys to themselves, so that they stay together among sorted lines.
std::string StackOf(const std::vector<Fact>& facts) {
  std::vector<std::string> lines;
  std::map<std::string_view, std::string_view> blocks;  // by the key that theirs begin with
  for (const Fact& fact : facts) {
    if (IsOfStack(fact)) lines.push_back(fact.key + "=" + *fact.value + "\n");
    if (fact.bundle != nullptr && fact.layer == Layer::kEnvironment) {
      blocks.emplace(fact.key, fact.bundle->lines);
    }
  }
  std::ranges::sort(lines);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  Sha256 digest;
  auto block = blocks.begin();
  for (const std::string& line : lines) {
    for (; block != blocks.end() && block->first < line; ++block) digest.Update(block->second);
    digest.Update(line);
  }
  for (; block != blocks.end(); ++block) digest.Update(block->second);
  return ToHex(digest.Finish());
}

bool MayBeOneStack(const std::vector<Fact>& a, const std::vector<Fact>& b) {
  constexpr std::string_view kVariables = "variable.";
  std::map<std::string, std::string> known_a, known_b;
  for (const Fact& fact : Unbundled(a)) {
    if (IsOfStack(fact)) known_a[fact.key] = *fact.value;
  }
  for (const Fact& fact : Unbundled(b)) {
    if (IsOfStack(fact)) known_b[fact.key] = *fact.value;
  }
  // All set variables are known on both sides.
  const auto agree = [&](const auto& known, const auto& others) {
    return std::ranges::all_of(known, [&](const auto& one) {
      const auto other = others.find(one.first);
      if (other == others.end()) return !one.first.starts_with(kVariables);
      return other->second == one.second;
    });
  };
  return agree(known_a, known_b) && agree(known_b, known_a);
}

}  // namespace rharness
