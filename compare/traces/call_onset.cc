// From the calls of all ranks to the one at which two runs part.
#include "compare/traces/call_onset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/traces/align_calls.h"
#include "compare/traces/call_parting.h"

namespace rharness {
namespace {

const CallTrace* OfCallRank(const std::vector<CallTrace>& traces, int rank) {
  const auto found = std::ranges::find(traces, rank, &CallTrace::rank);
  return found == traces.end() ? nullptr : &*found;
}

void AddCallTroubles(const CallTrace& trace, std::vector<std::string>* notes) {
  notes->insert(notes->end(), trace.notes.begin(), trace.notes.end());
  if (!trace.trouble.empty()) {
    notes->push_back(fmt::format("{}: the hooks stopped: {}; the run went on", trace.paths.back(),
                                 trace.trouble));
  } else if (!trace.ended) {
    notes->push_back(trace.paths.back() + ": has no end: its run was ended, or is still going on");
  }
}

// All calls of a rank, step by step.
class CallSearch {
 public:
  CallSearch(const CallTrace& a, const CallTrace& b, const Peers& peers)
      : a_(a), b_(b), peers_(peers) {}

  Result<CallOnset> Run() {
    onset_.rank = a_.rank;
    onset_.damaged = a_.bad_lines + b_.bad_lines > 0;
    if (a_.digest != b_.digest) {
      onset_.notes.push_back(fmt::format("rank {}: digests are made by {} in A and by {} in B",
                                         a_.rank, a_.digest, b_.digest));
      return std::move(onset_);
    }
    for (auto i = a_.steps.begin(), j = b_.steps.begin();
         i != a_.steps.end() && j != b_.steps.end();) {
      if (i->step < j->step)
        ++i;
      else if (j->step < i->step)
        ++j;
      else
        RETURN_IF_ERROR(Look(*i++, *j++));
    }
    if (onset_.steps.empty()) {
      onset_.notes.push_back(fmt::format("rank {}: the calls have no step in common", a_.rank));
    } else if (onset_.end == "nothing_compared" && onset_.paired > onset_.unknown) {
      onset_.end = "equal";
    }
    return std::move(onset_);
  }

 private:
  Status Look(const CallStep& a, const CallStep& b) {
    StepCalls step{.a = a_, .b = b_, .step_a = a, .step_b = b};
    step.matches = AlignCalls(a_.Of(a), b_.Of(b));
    DropUnwritten(&step);
    RETURN_IF_ERROR(step.ReadMissingDigests());
    Count(step);
    if (onset_.end != "nothing_compared") return {};
    const auto first =
        std::ranges::find_if(step.matches, [&](const CallMatch& one) { return step.Differs(one); });
    if (first == step.matches.end()) {
      // What it computes shows in the next step, if it differs.
      before_.reset();
      const auto own = std::ranges::find_if(step.matches, IsOwn);
      if (own != step.matches.end()) {
        ASSIGN_OR_RETURN(before_, step.Pair(*own));
      }
      if (onset_.own.empty()) RETURN_IF_ERROR(AddOwnCalls(step, &onset_));
      RETURN_IF_ERROR(NoteAbsorbed(step));
      before_step_ = a.step;
      return {};
    }
    if (before_step_ + 1 != a.step) before_.reset();
    onset_.own.clear();
    onset_.absorbed.reset();
    const auto index = static_cast<std::size_t>(first - step.matches.begin());
    return FindParting(step, index, peers_, before_, onset_.steps.size() == 1, &onset_);
  }

  Status NoteAbsorbed(const StepCalls& step) {
    if (onset_.absorbed) return {};
    const auto first = std::ranges::find_if(
        step.matches, [&](const CallMatch& one) { return !IsOwn(one) && step.GivenDiffers(one); });
    if (first == step.matches.end()) return {};
    ASSIGN_OR_RETURN(onset_.absorbed, step.Pair(*first));
    return {};
  }

  // Of a trace that was cut off, what is missing at its end was not written.
  void DropUnwritten(StepCalls* step) const {
    const auto drop = [step](const CallTrace& trace, const CallStep& last, auto is_own) {
      if (trace.ended || last.step != trace.steps.back().step) return;
      std::size_t paired = 0;
      for (std::size_t i = 0; i < step->matches.size(); ++i) {
        if (!is_own(step->matches[i])) paired = i + 1;
      }
      std::size_t at = 0;
      std::erase_if(step->matches,
                    [&](const CallMatch& one) { return at++ >= paired && is_own(one); });
    };
    drop(a_, step->step_a, [](const CallMatch& one) { return one.a == kNoCall; });
    drop(b_, step->step_b, [](const CallMatch& one) { return one.b == kNoCall; });
  }

  void Count(const StepCalls& step) {
    OnsetStep counts{.step = step.step_a.step};
    for (const CallMatch& one : step.matches) {
      onset_.moved += one.moved ? 1 : 0;
      if (one.b == kNoCall) {
        ++onset_.only_a;
      } else if (one.a == kNoCall) {
        ++onset_.only_b;
      } else {
        ++counts.compared;
        counts.differing += step.Differs(one) ? 1 : 0;
        onset_.unknown += step.StateOf(one) == RecordState::kUnknown ? 1 : 0;
      }
    }
    onset_.paired += counts.compared;
    onset_.differing += counts.differing;
    onset_.steps.push_back(counts);
  }

  const CallTrace& a_;
  const CallTrace& b_;
  const Peers& peers_;
  CallOnset onset_;
  std::optional<CallPair> before_;  // the first call that one run has alone, of the step before
  std::int64_t before_step_ = 0;
};

bool PartsEarlier(const CallOnset& one, const CallOnset& other) {
  const auto rank = [](const CallOnset& onset) {
    if (onset.end == "parts") return 0;
    if (onset.end == "other_rank") return 1;
    return onset.end == "equal" ? 2 : 3;
  };
  if (rank(one) != rank(other)) return rank(one) < rank(other);
  if (!one.origin || !other.origin) return false;
  return std::pair(one.origin->a.step, one.origin->a.order) <
         std::pair(other.origin->a.step, other.origin->a.order);
}

void NoteOtherStacks(const CallTrace& a, const CallTrace& b, std::vector<std::string>* notes) {
  for (const auto& [name, value] : a.flags) {
    const auto found = b.flags.find(name);
    if (found != b.flags.end() && found->second != value) {
      notes->push_back(fmt::format("{}: {} in A, {} in B", name, value, found->second));
    }
  }
  if (a.framework_version != b.framework_version) {
    notes->push_back(
        fmt::format("{}: {} in A, {} in B", a.framework, a.framework_version, b.framework_version));
  }
}

}  // namespace

Result<CallOnset> FindCallOnset(const std::vector<CallTrace>& a, const std::vector<CallTrace>& b) {
  std::optional<CallOnset> first;
  std::vector<std::string> notes;
  std::vector<std::string> ranks;
  const Peers peers{.a = a, .b = b};
  for (const CallTrace& one : a) {
    AddCallTroubles(one, &notes);
    const CallTrace* other = OfCallRank(b, one.rank);
    if (other == nullptr) {
      notes.push_back(fmt::format("the calls of rank {} were traced in A alone", one.rank));
      continue;
    }
    if (!first) NoteOtherStacks(one, *other, &notes);
    ASSIGN_OR_RETURN(CallOnset onset, CallSearch(one, *other, peers).Run());
    if (onset.origin && a.size() > 1) {
      ranks.push_back(fmt::format("rank {} at step {}, {}", one.rank, onset.origin->a.step,
                                  NameOfCall(onset.origin->a)));
    }
    if (!first || PartsEarlier(onset, *first)) first = std::move(onset);
  }
  for (const CallTrace& one : b) {
    AddCallTroubles(one, &notes);
    if (OfCallRank(a, one.rank) == nullptr) {
      notes.push_back(fmt::format("the calls of rank {} were traced in B alone", one.rank));
    }
  }
  CallOnset onset = first ? std::move(*first) : CallOnset();
  if (ranks.size() > 1) notes.push_back(fmt::format("ranks part: {}", fmt::join(ranks, "; ")));
  onset.notes.insert(onset.notes.end(), notes.begin(), notes.end());
  DescribeCallOnset(&onset);
  return onset;
}

}  // namespace rharness
