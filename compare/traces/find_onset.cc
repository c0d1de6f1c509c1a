// From the traces of all ranks to the earliest onset, with their curves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/traces/onset.h"
#include "compare/traces/relate.h"

namespace rharness {
namespace {

// The norm of all parameters, and the loss, by step.
std::vector<CurveSeries> CurvesOfTrace(const Trace& trace) {
  CurveSeries loss{.name = "loss"};
  CurveSeries norm{.name = "parameter norm"};
  for (const auto& [step, records] : SpansOf(trace)) {
    double squares = 0.0;
    double value = std::numeric_limits<double>::quiet_NaN();
    for (const TraceRecord& record : records) {
      if (record.kind == TraceKind::kParameter) squares += record.norm * record.norm;
      if (record.kind == TraceKind::kLoss) value = record.norm;
    }
    loss.steps.push_back(step);
    loss.values.push_back(value);
    norm.steps.push_back(step);
    norm.values.push_back(std::sqrt(squares));
  }
  return {std::move(loss), std::move(norm)};
}

const Trace* OfRank(const std::vector<Trace>& traces, int rank) {
  const auto found = std::ranges::find(traces, rank, &Trace::rank);
  return found == traces.end() ? nullptr : &*found;
}

// The origin that comes first; ranks are in step, so that their orders are comparable.
bool PartsEarlier(const Onset& one, const Onset& other) {
  if (one.origin.has_value() != other.origin.has_value()) return one.origin.has_value();
  if (!one.origin) return one.end == "equal" && other.end != "equal";
  return std::pair(one.origin->a.step, one.origin->a.order) <
         std::pair(other.origin->a.step, other.origin->a.order);
}

void AddTroubles(const Trace& trace, std::vector<std::string>* notes) {
  notes->insert(notes->end(), trace.notes.begin(), trace.notes.end());
  if (!trace.trouble.empty()) {
    notes->push_back(
        fmt::format("{}: the hooks stopped: {}; the run went on", trace.path, trace.trouble));
  } else if (!trace.ended) {
    notes->push_back(trace.path + ": has no end: its run was ended, or is still going on");
  }
}

}  // namespace

StepSpans SpansOf(const Trace& trace) {
  StepSpans spans;
  const std::span<const TraceRecord> all(trace.records);
  for (std::size_t from = 0; from < all.size();) {
    std::size_t to = from;
    while (to < all.size() && all[to].step == all[from].step) ++to;
    spans[all[from].step] = all.subspan(from, to - from);
    from = to;
  }
  return spans;
}

Onset FindOnset(const std::vector<Trace>& a, const std::vector<Trace>& b,
                const std::vector<std::vector<Trace>>& replicates) {
  std::optional<Onset> first;
  std::vector<std::string> notes;
  std::vector<std::string> ranks;
  for (const Trace& one : a) {
    AddTroubles(one, &notes);
    const Trace* other = OfRank(b, one.rank);
    if (other == nullptr) {
      notes.push_back(fmt::format("rank {} was traced in A alone", one.rank));
      continue;
    }
    Onset onset = OnsetOfRank(one, *other);
    if (onset.origin && a.size() > 1) {
      ranks.push_back(fmt::format("rank {} at step {}, {}", one.rank, onset.origin->a.step,
                                  NameOfRecord(onset.origin->a)));
    }
    if (!first || PartsEarlier(onset, *first)) first = std::move(onset);
  }
  for (const Trace& one : b) {
    AddTroubles(one, &notes);
    if (OfRank(a, one.rank) == nullptr) {
      notes.push_back(fmt::format("rank {} was traced in B alone", one.rank));
    }
  }
  Onset onset = first ? std::move(*first) : Onset();
  if (ranks.size() > 1) notes.push_back(fmt::format("ranks part: {}", fmt::join(ranks, "; ")));
  onset.notes.insert(onset.notes.end(), notes.begin(), notes.end());
  std::vector<std::vector<CurveSeries>> further;
  for (const std::vector<Trace>& replicate : replicates) {
    if (const Trace* trace = OfRank(replicate, onset.rank))
      further.push_back(CurvesOfTrace(*trace));
  }
  const Trace* of_a = OfRank(a, onset.rank);
  const Trace* of_b = OfRank(b, onset.rank);
  if (!further.empty() && of_a != nullptr && of_b != nullptr) {
    onset.curves = CompareCurves(CurvesOfTrace(*of_a), CurvesOfTrace(*of_b), further, CurveRules());
  }
  DescribeOnset(&onset);
  return onset;
}

}  // namespace rharness
