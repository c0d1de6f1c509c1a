// The search as a list of passes: both ends, the cause, the mitigation, further causes.
#include "harness/experiments/isolate/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/experiments/isolate/search_replay.h"

namespace rharness {
namespace {

// A named cause was seen to show the difference alone, and not to show it without any of its parts:
// a wrong cause is named only if one of these answers is wrong, wherever the search went before.
// The allowed chance is divided among them: for each cause half a share for nothing changed, a
// share for the first set that is tried alone, then a half, a quarter, ..., and half of these for
// needed parts. An error in other questions costs trials, or the answer.
constexpr double kShares = 0.5 + 2.0 + 1.5;
constexpr double kSearchError = 0.03;
// Of the first look at a set that is tried alone; the second, a contrast, keeps its share.
constexpr double kFirstLookError = 0.03;
constexpr double kEndError = 0.01;
constexpr int kAttempts = 4;
// Steps of different axes between which nothing could be judged are tried one by one up to here.
constexpr std::size_t kMostApart = 24;

class SearchPasses {
 public:
  SearchPasses(const Positions& last, const SearchRules& rules,
               const std::vector<AnsweredTrial>& history)
      : last_(last), rules_(rules), replay_(rules, history), state_(replay_.state()) {}

  SearchState Run() {
    if (BothEnds() && AllCauses() && state_.end == SearchEnd::kGoesOn) {
      state_.end = SearchEnd::kNamed;
    }
    if (state_.end != SearchEnd::kGoesOn && !replay_.AllUsed()) {
      state_.end = SearchEnd::kForeignAnswers;
    }
    state_.error_bound = rules_.Exact() ? 0.0 : spent_;
    return std::move(state_);
  }

 private:
  // Each pass: false if answers are missing or the search has ended.

  bool BothEnds() {
    if (rules_.ends_known) return true;
    const auto all = replay_.Decide(last_, TrialPurpose::kAllChanged, kEndError, &all_);
    if (!all) return false;
    if (*all != Truth::kYes) {
      return Finish(*all == Truth::kNo ? SearchEnd::kNotReproduced : SearchEnd::kEndNotJudged);
    }
    const auto none =
        replay_.Decide(Positions(last_.size(), 0), TrialPurpose::kNoneChanged, Allow(0.5), &none_);
    if (!none) return false;
    if (*none == Truth::kYes) return Finish(SearchEnd::kNotAmongThese);
    return *none == Truth::kNo || Finish(SearchEnd::kEndNotJudged);
  }

  // The cause; then, while the difference is present without those found, the next one.
  bool AllCauses() {
    Positions limit = last_;
    for (int found = 0;; ++found) {
      CauseSet cause;
      if (!FindCause(limit, &cause) || !DropWhatIsNotNeeded(&cause)) return NamedBefore();
      state_.needed.clear();
      state_.possible.clear();
      state_.causes.push_back(cause);
      limit = SetBack(limit, Steps(cause));
      const auto still = replay_.Decide(limit, TrialPurpose::kSetBack, kEndError);
      if (!still) return false;
      state_.settled = *still == Truth::kNo;
      state_.others = *still == Truth::kYes;
      if (*still != Truth::kYes || found >= rules_.alternatives) break;
    }
    return FewestToSetBack();
  }

  // One set of steps at or below `limit`, which shows the difference, that together show it. Where
  // answers may be wrong, a search that was led astray is begun again.
  bool FindCause(const Positions& limit, CauseSet* cause) {
    int asked = 0;
    for (int attempt = 0; attempt < (rules_.Exact() ? 1 : kAttempts); ++attempt) {
      cause->clear();
      state_.needed.clear();
      const auto found = TryToFind(limit, &asked, cause);
      if (!found) return false;
      if (*found) return true;
    }
    return Finish(SearchEnd::kContradiction);
  }

  // False: the rest of the line does not show it, though it must.
  std::optional<bool> TryToFind(const Positions& limit, int* asked, CauseSet* cause) {
    Positions base(last_.size(), 0);
    std::vector<SearchStep> line = LineUpTo(limit);
    while (!line.empty()) {
      LineEnd end{0, 1};
      if (line.size() > 1) {
        const auto found = replay_.FindEnd(base, line, kSearchError);
        if (!found) return std::nullopt;
        end = *found;
      }
      if (!rules_.Exact() && !cause->empty() && end.high == line.size()) {
        const auto whole =
            replay_.Decide(WithSteps(base, line, line.size()), TrialPurpose::kSearch, kEndError);
        if (!whole) return std::nullopt;
        if (*whole == Truth::kNo) return false;
      }
      CauseSet parts;
      if (!PartsAt(base, line, end, &parts)) return std::nullopt;
      for (const CausePart& part : parts) {
        base = WithSteps(base, part, part.size());
        cause->push_back(part);
        state_.needed.push_back(part);
      }
      line.resize(end.low);
      std::erase_if(line, [&](const SearchStep& step) { return step.position <= base[step.axis]; });
      const auto alone = ShowsItAlone(base, Allow(Weight((*asked)++)));
      if (!alone) return std::nullopt;
      if (*alone) return true;
      if (*asked == 1 && !EndsDiffer(limit)) return std::nullopt;
    }
    return false;
  }

  // Asked once, when the first set has failed to show it: if the ends differ by chance alone there
  // is nothing to find, however long the search. What nothing changed answers serves the next set
  // that is tried alone, too.
  bool EndsDiffer(const Positions& limit) {
    if (rules_.Exact()) return true;
    const auto purpose = limit == last_ ? TrialPurpose::kAllChanged : TrialPurpose::kSetBack;
    SearchReplay::Sides seen{limit == last_ ? all_ : std::vector<TrialAnswer>(), none_};
    const auto differ =
        replay_.ShowsItMoreOften(limit, Positions(last_.size(), 0), purpose, kEndError, &seen);
    if (!differ) return false;
    none_ = std::move(seen.base);
    return *differ != Truth::kNo || Finish(SearchEnd::kChance);
  }

  // Where answers may be wrong, and so may the rates at which they are: beside nothing changed.
  std::optional<bool> ShowsItAlone(const Positions& at, double error) {
    const double first = rules_.Exact() ? error : kFirstLookError;
    SearchReplay::Sides seen;
    const auto alone = replay_.Decide(at, TrialPurpose::kAlone, first, &seen.at);
    if (!alone) return std::nullopt;
    if (*alone != Truth::kYes || rules_.Exact()) return *alone == Truth::kYes;
    seen.base = std::exchange(none_, {});  // from here on they decide which set is tried next
    const auto more = replay_.ShowsItMoreOften(at, Positions(last_.size(), 0), TrialPurpose::kAlone,
                                               error, &seen);
    if (!more) return std::nullopt;
    return *more == Truth::kYes;
  }

  static std::vector<SearchStep> LineUpTo(const Positions& limit) {
    std::vector<SearchStep> line;
    for (std::size_t axis = 0; axis < limit.size(); ++axis) {
      for (int position = 1; position <= limit[axis]; ++position) line.push_back({axis, position});
    }
    return line;
  }

  // The steps between the two beginnings as parts of the cause. One step is one part, and so are
  // steps of one axis, which come in their order alone. Those of several are tried apart.
  bool PartsAt(const Positions& base, const std::vector<SearchStep>& line, const LineEnd& end,
               CauseSet* parts) {
    std::vector<CausePart> groups;
    for (std::size_t i = end.low; i < end.high; ++i) {
      if (groups.empty() || groups.back().front().axis != line[i].axis) groups.emplace_back();
      groups.back().push_back(line[i]);
    }
    if (groups.size() > 1 && groups.size() <= kMostApart) {
      const Positions below = WithSteps(base, line, end.low);
      for (const CausePart& group : groups) {
        const auto enough =
            replay_.Decide(WithSteps(below, group, group.size()), TrialPurpose::kSearch, kEndError);
        if (!enough) return false;
        if (*enough == Truth::kYes) {
          parts->push_back(group);
          return true;
        }
      }
      return KeepWhatCounts(below, std::move(groups), parts);
    }
    parts->emplace_back();
    for (const CausePart& group : groups) {
      parts->back().insert(parts->back().end(), group.begin(), group.end());
    }
    return true;
  }

  // Leaves groups out one by one as long as the difference stays. Groups without which it
  // disappears are parts of their own; groups without which nothing can be judged form one part,
  // and any of them may be it.
  bool KeepWhatCounts(const Positions& below, std::vector<CausePart> groups, CauseSet* parts) {
    CausePart open;
    for (std::size_t i = 0; i < groups.size();) {
      Positions rest = below;
      for (std::size_t other = 0; other < groups.size(); ++other) {
        if (other != i) rest = WithSteps(rest, groups[other], groups[other].size());
      }
      const auto without = replay_.Decide(rest, TrialPurpose::kSearch, kEndError);
      if (!without) return false;
      if (*without == Truth::kYes) {
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      if (*without == Truth::kNo) {
        parts->push_back(groups[i]);
      } else {
        open.insert(open.end(), groups[i].begin(), groups[i].end());
      }
      ++i;
    }
    if (!open.empty()) parts->push_back(std::move(open));
    return true;
  }

  // The need for several is observed, not only concluded: without each of them it must disappear.
  bool DropWhatIsNotNeeded(CauseSet* cause) {
    int asked = 0;
    for (std::size_t i = 0; cause->size() > 1 && i < cause->size();) {
      Positions rest(last_.size(), 0);
      for (std::size_t other = 0; other < cause->size(); ++other) {
        if (other != i) rest = WithSteps(rest, (*cause)[other], (*cause)[other].size());
      }
      const auto without =
          replay_.Decide(rest, TrialPurpose::kNeeded, Allow(NeededWeight(asked++)));
      if (!without) return false;
      if (*without == Truth::kYes) {
        cause->erase(cause->begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    return true;
  }

  // The fewest parts of all causes that must be set back: tries each as drifted.
  bool FewestToSetBack() {
    std::vector<CausePart> parts;
    for (const CauseSet& cause : state_.causes) {
      parts.insert(parts.end(), cause.begin(), cause.end());
    }
    for (std::size_t i = parts.size(); state_.settled && parts.size() > 1 && i-- > 0;) {
      CauseSet fewer = parts;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      const auto still =
          replay_.Decide(SetBack(last_, Steps(fewer)), TrialPurpose::kSetBack, kEndError);
      if (!still) return false;
      if (*still == Truth::kNo) parts = std::move(fewer);
    }
    if (state_.settled) state_.set_back = Steps(parts);
    return true;
  }

  static std::vector<SearchStep> Steps(const CauseSet& cause) {
    std::vector<SearchStep> steps;
    for (const CausePart& part : cause) steps.insert(steps.end(), part.begin(), part.end());
    return steps;
  }

  static Positions SetBack(Positions at, const std::vector<SearchStep>& steps) {
    for (const SearchStep& step : steps) {
      at[step.axis] = std::min(at[step.axis], step.position - 1);
    }
    return at;
  }

  // 1, 1/2, 1/4, ...; and 1/2, 1/2, 1/4, 1/8, ...
  static double Weight(int asked) { return std::ldexp(1.0, -std::min(asked, 60)); }
  static double NeededWeight(int asked) { return asked == 0 ? 0.5 : Weight(asked); }

  double Allow(double weight) {
    const double shares = kShares * (1.0 + rules_.alternatives);
    const double error = (1.0 - rules_.confidence) * weight / shares;
    spent_ += error;
    return error;
  }

  bool Finish(SearchEnd end) {
    state_.end = end;
    return false;
  }

  // If no further cause fits the answers, the found ones still count.
  bool NamedBefore() {
    const bool none = state_.end == SearchEnd::kContradiction || state_.end == SearchEnd::kChance;
    if (!none || state_.causes.empty()) return false;
    return Finish(SearchEnd::kNamed);
  }

  const Positions& last_;
  const SearchRules& rules_;
  SearchReplay replay_;
  SearchState& state_;
  double spent_ = 0.0;
  std::vector<TrialAnswer> all_;   // of everything changed, at the start
  std::vector<TrialAnswer> none_;  // of nothing changed, that have decided nothing but an end
};

}  // namespace

SearchState Advance(const Positions& last, const SearchRules& rules,
                    const std::vector<AnsweredTrial>& history) {
  return SearchPasses(last, rules, history).Run();
}

}  // namespace rharness
