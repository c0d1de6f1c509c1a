// The drill as a whole, in sentences; see summary.h.
#include "reports/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "compare/fact_order.h"
#include "reports/comparison_summary.h"
#include "reports/families.h"
#include "reports/run_steps.h"
#include "reports/short_digest.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostShared = 8;
constexpr char kRaiseBudget[] = "Raise --budget, or provide what the runs need: the notes name it.";

int CountOf(const Report& report, Verdict verdict) {
  const auto at = report.counts.find(std::string(VerdictName(verdict)));
  return at == report.counts.end() ? 0 : at->second;
}

std::string Count(int count) { return FormatCount(static_cast<std::uint64_t>(count)); }

std::string Share(int part, std::size_t whole) {
  if (static_cast<std::size_t>(part) == whole) {
    if (whole == 2) return "Both runs";
    return whole == 1 ? "The one run" : fmt::format("All {} runs", FormatCount(whole));
  }
  return fmt::format("{} of {}", Count(part), Counted(whole, "run"));
}

// The same for no run: "None of the 7 runs could be decided".
std::string CouldNot(int part, std::size_t whole, std::string_view what) {
  if (static_cast<std::size_t>(part) == whole && whole > 1) {
    if (whole == 2) return fmt::format("Neither run could be {}", what);
    return fmt::format("None of the {} runs could be {}", FormatCount(whole), what);
  }
  return fmt::format("{} could not be {}", Share(part, whole), what);
}

// "all 3 drifted runs and in 1 of 5 that reproduced", the latter if any did.
std::string ChangedIn(const SharedDifference& fact, int drifted, int reproduced) {
  std::string words = "the one drifted run";
  if (fact.drifted < drifted) {
    words = fmt::format("{} of {} drifted runs", Count(fact.drifted), Count(drifted));
  } else if (drifted > 1) {
    words = fmt::format("all {} drifted runs", Count(drifted));
  }
  if (reproduced == 0) return words;
  if (fact.reproduced == 0) return fmt::format("{} and in none that reproduced", words);
  return fmt::format("{} and in {} of {} that reproduced", words, Count(fact.reproduced),
                     Count(reproduced));
}

std::string AnswerWithoutDrift(const Report& report) {
  const std::size_t runs = report.runs.size();
  const int broken = CountOf(report, Verdict::kFailed) + CountOf(report, Verdict::kInfra);
  const int open =
      CountOf(report, Verdict::kInconclusive) + CountOf(report, Verdict::kNotComparable);
  if (broken > 0) {
    const std::string_view how = CountOf(report, Verdict::kInfra) == 0 ? "failed"
                                 : CountOf(report, Verdict::kFailed) == 0
                                     ? "could not be run"
                                     : "failed or could not be run";
    return fmt::format("{} {}; none drifted, but this is no pass.", Share(broken, runs), how);
  }
  if (open > 0) {
    return CouldNot(open, runs, "decided") + "; none drifted, but this is no pass.";
  }
  if (!report.left_out.empty()) {
    return fmt::format(
        "{} of {} reproduced; {} not rerun.", FormatCount(runs),
        Counted(runs + report.left_out.size(), "selected run"),
        report.left_out.size() == 1 ? "one was" : FormatCount(report.left_out.size()) + " were");
  }
  if (report.exit_code != 0) {
    return fmt::format("{} reproduced, but the drill ended with exit code {}.",
                       Share(static_cast<int>(runs), runs), report.exit_code);
  }
  return Share(static_cast<int>(runs), runs) + " reproduced.";
}

std::string Answer(const Report& report) {
  std::string answer;
  const int drifted = CountOf(report, Verdict::kDrifted);
  if (report.runs.empty() && !report.left_out.empty()) {
    answer = "No selected run could be rerun within the budget and the slots.";
  } else if (report.runs.empty()) {
    answer = "No runs were selected, so nothing was shown.";
  } else if (drifted > 0) {
    answer = Share(drifted, report.runs.size()) + " drifted.";
  } else {
    answer = AnswerWithoutDrift(report);
  }
  if (!report.families.empty()) answer += " " + FamilyAnswer(report);
  if (report.interrupted) answer += " The drill was interrupted before its end.";
  return answer;
}

struct CountedChange {
  SharedDifference shared;
  FactDifference difference;
};

// Every change with its counts, over the runs that `in` counts. Leaves out packages that the runs
// are not known to have used if there is any other change.
std::vector<CountedChange> CountChanges(const Report& report, int SharedDifference::*in) {
  using Key =
      std::tuple<Layer, std::string, std::optional<std::string>, std::optional<std::string>>;
  std::map<Key, CountedChange> found;
  for (const ReportRun& run : report.runs) {
    const bool has_drifted = run.verdict == Verdict::kDrifted;
    if (!has_drifted && !Reproduced(run.verdict)) continue;
    for (const LayerComparison& layer : run.layers) {
      for (const FactDifference& difference : layer.differences) {
        CountedChange& one =
            found[{layer.layer, difference.key, difference.recorded, difference.observed}];
        one.difference = difference;
        ++(has_drifted ? one.shared.drifted : one.shared.reproduced);
      }
    }
  }
  std::vector<CountedChange> list;
  for (auto& [key, one] : found) {
    if (one.shared.*in > 0) list.push_back(std::move(one));
  }
  const auto is_unused = [](const CountedChange& one) { return IsUnusedPackage(one.difference); };
  if (!std::ranges::all_of(list, is_unused)) std::erase_if(list, is_unused);
  return list;
}

SharedDifference InWords(const CountedChange& one) {
  SharedDifference shared = one.shared;
  shared.layer = one.difference.layer;
  shared.key = SafeText(one.difference.key, 200);
  shared.recorded = FactWords(one.difference.recorded);
  shared.observed = FactWords(one.difference.observed);
  return shared;
}

std::vector<SharedDifference> FindShared(const Report& report, int drifted, int reproduced) {
  std::vector<CountedChange> list = CountChanges(report, &SharedDifference::drifted);
  const auto excess = [&](const SharedDifference& s) {
    return static_cast<double>(s.drifted) / std::max(drifted, 1) -
           static_cast<double>(s.reproduced) / std::max(reproduced, 1);
  };
  std::ranges::stable_sort(list, [&](const CountedChange& a, const CountedChange& b) {
    const auto left = std::pair(excess(a.shared), a.shared.drifted);
    const auto right = std::pair(excess(b.shared), b.shared.drifted);
    return left != right ? left > right : TellsMore(a.difference, b.difference);
  });
  if (list.size() > kMostShared) list.resize(kMostShared);
  std::vector<SharedDifference> shared;
  for (const CountedChange& one : list) shared.push_back(InWords(one));
  return shared;
}

// "the undeclared file /site/lib/kernel.py", or the layer and the fact's key.
std::string FactTitle(const SharedDifference& shared) {
  constexpr std::string_view kInput = "input.";
  if (shared.key.starts_with(kInput)) {
    return "the undeclared file " + shared.key.substr(kInput.size());
  }
  return fmt::format("{} {}", LayerName(shared.layer), shared.key);
}

// Whether the cause rests on this difference: "variable.OMP_NUM_THREADS: 1 in A, 2 in B".
bool RestsOn(const Cause& cause, const std::string& key) {
  return std::ranges::any_of(cause.evidence, [&](const std::string& one) {
    return SafeText(one, 400).starts_with(key + ": ");
  });
}

// The difference that sets drifted runs apart: in most of them, more often than in reproduced ones,
// and, among equals, the one behind the first cause. Null: none.
const SharedDifference* TellingDifference(const Summary& summary, const Cause* cause) {
  if (summary.shared.empty()) return nullptr;
  const SharedDifference& most = summary.shared.front();
  const bool in_most = 4 * most.drifted >= 3 * summary.drifted;
  const bool telling =
      in_most && (summary.reproduced == 0 ||
                  most.drifted * summary.reproduced > most.reproduced * summary.drifted);
  if (!telling) return nullptr;
  for (const SharedDifference& one : summary.shared) {
    const bool alike = one.drifted == most.drifted && one.reproduced == most.reproduced;
    if (alike && cause != nullptr && RestsOn(*cause, one.key)) return &one;
  }
  return &most;
}

// The first cause of the first run, if most drifted runs have it.
const Cause* LeadingCause(const Summary& summary) {
  const ReportRun& first = *summary.order.front();
  if (first.causes.empty()) return nullptr;
  const Cause& cause = first.causes.front();
  const auto has = std::ranges::count_if(summary.order, [&](const ReportRun* run) {
    return run->verdict == Verdict::kDrifted &&
           std::ranges::find(run->causes, cause.code, &Cause::code) != run->causes.end();
  });
  return 4 * has >= 3 * summary.drifted ? &cause : nullptr;
}

std::string StartWithCause(const ReportRun& run) {
  return fmt::format("Start with {}. Its most suspicious cause: {}", SafeText(run.run_id, 120),
                     SafeText(run.causes.front().statement, 300));
}

std::string NextAfterDrift(const Summary& summary) {
  const std::string first = SafeText(summary.order.front()->run_id, 120);
  const Cause* cause = LeadingCause(summary);
  const SharedDifference* telling = TellingDifference(summary, cause);
  // What was seen to leave the result to chance is named before a fact that happens to differ.
  const bool cause_leads = cause != nullptr && cause->strength != Strength::kPossible &&
                           (telling == nullptr || !RestsOn(*cause, telling->key));
  if (cause_leads || (telling == nullptr && !summary.order.front()->causes.empty())) {
    return StartWithCause(*summary.order.front());
  }
  if (telling == nullptr) {
    return fmt::format(
        "Start with {}; no recorded fact separates the drifted runs, so check facts that were not "
        "recorded.",
        first);
  }
  const SharedDifference& likely = *telling;
  const auto as_often = std::count_if(
      summary.shared.begin(), summary.shared.end(), [&](const SharedDifference& other) {
        return &other != &likely && other.drifted == likely.drifted &&
               other.reproduced == likely.reproduced;
      });
  return fmt::format(
      "Look first at {} ({} → {}), which changed in {}{}{}.", FactTitle(likely),
      ShortDigest(likely.recorded), ShortDigest(likely.observed),
      ChangedIn(likely, summary.drifted, summary.reproduced),
      as_often == 0
          ? ""
          : fmt::format(", as did {}", Counted(static_cast<std::uint64_t>(as_often), "other fact")),
      summary.reproduced == 0 ? "; no run reproduced" : "");
}

std::string NextWithoutDrift(const Report& report, const Summary& summary) {
  if (report.interrupted) return "Run the drill again with --resume to finish it.";
  if (report.exit_code == 0) return "Nothing is left to do.";
  constexpr int kDamaged = 5;
  if (report.exit_code == kDamaged) {
    return "Find out who changed the files that the notes call damaged; their runs were rerun and "
           "judged again.";
  }
  const ReportRun& worst = *summary.order.front();
  const bool runs_open = worst.verdict != Verdict::kInconclusive && !Reproduced(worst.verdict);
  if (std::string step = FamilyNextStep(report); !runs_open && !step.empty()) return step;
  if (!report.left_out.empty() && Reproduced(worst.verdict)) return kRaiseBudget;
  const std::string first = SafeText(worst.run_id, 120);
  switch (worst.verdict) {
    case Verdict::kFailed:
    case Verdict::kInfra:
      return fmt::format("Fix {} first: {}", first, ErrorOf(worst));
    case Verdict::kNotComparable:
      return StepOfInputs(worst);
    default:
      break;
  }
  if (const std::string step = StepOfFinding(worst); !step.empty()) return step;
  if (!worst.causes.empty() && worst.causes.front().strength == Strength::kShown) {
    return StartWithCause(worst);
  }
  int more = 0;
  int more_runs = 0;
  for (const ReportRun& run : report.runs) {
    more = std::max(more, run.more_reruns);
    more_runs = std::max(more_runs, run.more_runs);
  }
  if (more_runs > 0) {
    return fmt::format(
        "Drill {} of the family of {} with other seeds beside it: more reruns of one seed add no "
        "information.",
        Counted(static_cast<std::uint64_t>(more_runs), "more run"), first);
  }
  if (more == 0) {
    return fmt::format("More reruns would not decide. Check the margin, history and data of {}.",
                       first);
  }
  return fmt::format("Drill the undecided runs again with --reruns {} to decide every metric.",
                     more + static_cast<int>(worst.reruns.size()));
}

}  // namespace

Summary Summarize(const Report& report) {
  Summary summary;
  summary.answer = Answer(report);
  summary.drifted = CountOf(report, Verdict::kDrifted);
  summary.reproduced = CountOf(report, Verdict::kIdentical) + CountOf(report, Verdict::kEquivalent);
  summary.order.reserve(report.runs.size());
  std::map<std::string_view, std::size_t> places;  // first place of each headline
  for (const ReportRun& run : report.runs) {
    places.emplace(run.headline, summary.order.size());
    summary.order.push_back(&run);
  }
  std::ranges::stable_sort(summary.order, {}, [&](const ReportRun* run) {
    const bool alike = !Reproduced(run->verdict) && !run->headline.empty();
    const auto own = static_cast<std::size_t>(run - report.runs.data());
    return std::pair(Severity(run->verdict), alike ? places.at(run->headline) : own);
  });
  summary.told = TellOnce(report);
  if (summary.drifted > 0) summary.shared = FindShared(report, summary.drifted, summary.reproduced);
  if (report.runs.empty() && !report.left_out.empty()) {
    summary.next_step = kRaiseBudget;
  } else if (report.runs.empty()) {
    summary.next_step = "Check the selection against what rharness history list shows.";
  } else if (summary.drifted > 0) {
    summary.next_step = NextAfterDrift(summary);
  } else {
    summary.next_step = NextWithoutDrift(report, summary);
  }
  return summary;
}

std::vector<const ToldOnce*> ToldBesideShared(const Summary& summary) {
  std::vector<const ToldOnce*> list;
  for (const ToldOnce& told : summary.told) {
    const bool in_table = told.kind == ToldKind::kChange &&
                          std::ranges::any_of(summary.shared, [&](const SharedDifference& shared) {
                            return SafeText(told.text, 1000) ==
                                   fmt::format("{} {}: {} → {}", LayerName(shared.layer),
                                               shared.key, shared.recorded, shared.observed);
                          });
    if (!in_table) list.push_back(&told);
  }
  return list;
}

std::string ChangesInShort(const Report& report) {
  std::vector<CountedChange> list = CountChanges(report, &SharedDifference::reproduced);
  if (list.empty()) return "";
  std::ranges::stable_sort(list, [](const CountedChange& a, const CountedChange& b) {
    if (a.shared.reproduced != b.shared.reproduced)
      return a.shared.reproduced > b.shared.reproduced;
    return TellsMore(a.difference, b.difference);
  });
  const SharedDifference first = InWords(list.front());
  const std::size_t more = list.size() - 1;
  // Bits that differ are an effect, though a small one.
  const bool equivalent = std::ranges::any_of(
      report.runs, [](const ReportRun& run) { return run.verdict == Verdict::kEquivalent; });
  return fmt::format("Changed{}: {} ({} → {}) in {}{}", equivalent ? "" : " without effect",
                     FactTitle(first), ShortDigest(first.recorded), ShortDigest(first.observed),
                     Counted(static_cast<std::uint64_t>(first.reproduced), "run"),
                     more == 0 ? "." : fmt::format("; {}.", Counted(more, "more fact")));
}

}  // namespace rharness
