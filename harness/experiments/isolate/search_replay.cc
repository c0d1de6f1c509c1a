// Questions of a search: a single set, and the start of the difference in a line.
#include "harness/experiments/isolate/search_replay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

namespace rharness {
namespace {

constexpr int kUnjudgedAnswers = 3;     // of one set, if answers may be wrong: then it is given up
constexpr std::size_t kMostPairs = 60;  // of reruns compared with each other
constexpr double kHopeless = 0.05;      // of the evidence for a difference

bool SaysNo(TrialAnswer answer) {
  return answer == TrialAnswer::kDoesNot || answer == TrialAnswer::kPartly;
}

bool IsJudged(TrialAnswer answer) { return answer == TrialAnswer::kReproduces || SaysNo(answer); }

double Entropy(double p) {  // bits
  const auto part = [](double q) { return q <= 0.0 ? 0.0 : -q * std::log2(q); };
  return part(p) + part(1.0 - p);
}

// The mean of a logarithmic likelihood ratio for an answer, at its smaller side.
double Drift(const SearchRules& rules) {
  const double miss = std::max(rules.miss, 1e-9);
  const double fake = std::max(rules.false_reproduces, 1e-9);
  const double yes = std::log((1.0 - miss) / fake);
  const double no = std::log((1.0 - fake) / miss);
  return std::min((1.0 - miss) * yes - miss * no, (1.0 - fake) * no - fake * yes);
}

// The prefixes of a line to try: the middles of the widest gaps between known ones.
std::vector<std::size_t> PickBetween(std::size_t low, std::size_t high,
                                     const std::set<std::size_t>& skipped, int width) {
  std::set<std::size_t> marks(skipped.lower_bound(low), skipped.upper_bound(high));
  marks.insert({low, high});
  std::vector<std::size_t> picked;
  while (picked.size() < static_cast<std::size_t>(width)) {
    std::size_t widest = 1;
    std::size_t middle = 0;
    for (auto mark = marks.begin(); std::next(mark) != marks.end(); ++mark) {
      const std::size_t gap = *std::next(mark) - *mark;
      if (gap > widest) {
        widest = gap;
        middle = *mark + gap / 2;
      }
    }
    if (widest == 1) break;
    marks.insert(middle);
    picked.push_back(middle);
  }
  std::ranges::sort(picked);
  return picked;
}

// The probability of each step: a line's posterior, updated answer by answer.
class Belief {
 public:
  Belief(std::size_t steps, const SearchRules& rules)
      : share_(steps, 1.0 / static_cast<double>(steps)), given_up_(steps + 1, 0), rules_(rules) {
    given_up_[0] = given_up_[steps] = kUnjudgedAnswers;  // the ends are known
  }

  void Learn(std::size_t count, TrialAnswer answer) {
    if (answer != TrialAnswer::kReproduces && !SaysNo(answer)) {
      ++given_up_[count];
      return;
    }
    const bool yes = answer == TrialAnswer::kReproduces;
    const double inside = yes ? 1.0 - rules_.miss : rules_.miss;
    const double outside = yes ? rules_.false_reproduces : 1.0 - rules_.false_reproduces;
    double sum = 0.0;
    for (std::size_t i = 0; i < share_.size(); ++i) {
      share_[i] *= std::max(i < count ? inside : outside, 1e-12);
      sum += share_[i];
    }
    for (double& share : share_) share /= sum;
  }

  // Steps between two beginnings that can be judged are one candidate.
  struct Candidate {
    LineEnd end;
    double share = 0.0;
  };
  std::vector<Candidate> Candidates() const {
    std::vector<Candidate> all = {{{0, 0}, 0.0}};
    for (std::size_t i = 0; i < share_.size(); ++i) {
      all.back().share += share_[i];
      all.back().end.high = i + 1;
      const bool last = i + 1 == share_.size();
      if (!last && given_up_[i + 1] < kUnjudgedAnswers) all.push_back({{i + 1, i + 1}, 0.0});
    }
    return all;
  }

  const std::vector<double>& shares() const { return share_; }

 private:
  std::vector<double> share_;
  std::vector<int> given_up_;  // inconclusive answers, by prefix
  const SearchRules& rules_;
};

// The beginnings at which the belief is cut into equal parts.
std::vector<std::size_t> PickByBelief(const std::vector<Belief::Candidate>& candidates, int width) {
  std::vector<std::size_t> picked;
  for (int part = 1; part <= width; ++part) {
    const double goal = static_cast<double>(part) / (width + 1);
    double before = 0.0;
    double nearest = 2.0;
    std::size_t best = 0;
    for (std::size_t i = 0; i + 1 < candidates.size(); ++i) {
      before += candidates[i].share;
      if (std::abs(before - goal) < nearest) {
        nearest = std::abs(before - goal);
        best = candidates[i].end.high;
      }
    }
    picked.push_back(best);
  }
  return picked;
}

}  // namespace

double AnswersFor(const SearchRules& rules, double bits, double error) {
  if (rules.Exact()) return std::ceil(bits);
  const double yes = 0.5 * (1.0 - rules.miss) + 0.5 * rules.false_reproduces;
  const double told =
      Entropy(yes) - 0.5 * Entropy(rules.miss) - 0.5 * Entropy(rules.false_reproduces);
  return bits / told + std::log(1.0 / error) / Drift(rules);
}

Positions WithSteps(Positions base, const std::vector<SearchStep>& line, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    base[line[i].axis] = std::max(base[line[i].axis], line[i].position);
  }
  return base;
}

std::optional<std::vector<TrialAnswer>> SearchReplay::Ask(const std::vector<Positions>& at,
                                                          TrialPurpose purpose, double estimate) {
  std::vector<TrialAnswer> answers;
  for (const Positions& one : at) {
    const auto known = rules_.Exact() ? known_.find(one) : known_.end();
    if (known != known_.end()) {
      answers.push_back(known->second);
    } else if (used_ == history_.size()) {
      state_.next.push_back({one, purpose});
    } else if (history_[used_].at != one) {
      state_.end = SearchEnd::kForeignAnswers;
      return std::nullopt;
    } else {
      answers.push_back(history_[used_++].answer);
      if (rules_.Exact()) known_[one] = answers.back();
    }
  }
  if (state_.next.empty()) return answers;
  if (rules_.budget > 0) {
    const std::size_t budget = static_cast<std::size_t>(rules_.budget);
    const std::size_t left = budget - std::min(budget, history_.size());
    state_.next.resize(std::min(state_.next.size(), left));
    if (state_.next.empty()) {
      state_.end = SearchEnd::kBudget;
      state_.more = std::max(1, static_cast<int>(std::ceil(estimate)));
    }
  }
  return std::nullopt;
}

std::optional<Truth> SearchReplay::Decide(const Positions& at, TrialPurpose purpose, double error,
                                          std::vector<TrialAnswer>* seen) {
  if (!rules_.Exact()) return DecideBySequence(at, purpose, error, seen);
  const auto answers = Ask({at}, purpose, 1.0);
  if (!answers) return std::nullopt;
  switch (answers->front()) {
    case TrialAnswer::kReproduces:
      return Truth::kYes;
    case TrialAnswer::kDoesNot:
      return Truth::kNo;
    case TrialAnswer::kPartly:
      return purpose == TrialPurpose::kSetBack ? Truth::kNotJudged : Truth::kNo;
    default:
      return Truth::kNotJudged;
  }
}

std::optional<Truth> SearchReplay::DecideBySequence(const Positions& at, TrialPurpose purpose,
                                                    double error, std::vector<TrialAnswer>* seen) {
  const double enough = std::log((1.0 - error) / error);
  const double fake = std::max(rules_.false_reproduces, 1e-9);
  const double miss = std::max(rules_.miss, 1e-9);
  double ratio = 0.0;  // logarithm of the likelihoods' quotient
  int unjudged = 0;
  while (std::abs(ratio) < enough) {
    const double missing = (enough - std::abs(ratio)) / Drift(rules_);
    const auto answers =
        Ask(std::vector(static_cast<std::size_t>(rules_.width), at), purpose, missing);
    if (!answers) return std::nullopt;
    for (const TrialAnswer answer : *answers) {
      if (seen != nullptr && IsJudged(answer)) seen->push_back(answer);
      if (answer == TrialAnswer::kReproduces) {
        ratio += std::log((1.0 - miss) / fake);
      } else if (SaysNo(answer)) {
        ratio -= std::log((1.0 - fake) / miss);
      } else {
        ++unjudged;
      }
    }
    if (unjudged >= kUnjudgedAnswers) return Truth::kNotJudged;
  }
  return ratio > 0.0 ? Truth::kYes : Truth::kNo;
}

// The evidence of pairs of answers that one side shows the difference more often: a mean of
// E-variables for some rates of errors, which is one, too. Each is the likelihood ratio of a pair
// with the two sides differing by that rate, against both showing it in half of the reruns: no
// common rate makes its mean greater than 1. Most of the weight is the stated rate's.
class PairEvidence {
 public:
  explicit PairEvidence(const SearchRules& rules) {
    rates_.front() = std::clamp((rules.miss + rules.false_reproduces) / 2, 0.02, 0.4);
    weighted_ = {0.6, 0.1, 0.1, 0.1, 0.1};
  }
  void Add(bool here, bool there) {
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      const double wrong = rates_[i];
      weighted_[i] *= 4.0 * (here ? 1.0 - wrong : wrong) * (there ? wrong : 1.0 - wrong);
    }
  }
  double Mean() const { return std::accumulate(weighted_.begin(), weighted_.end(), 0.0); }

 private:
  std::array<double, 5> rates_ = {0.0, 0.05, 0.15, 0.25, 0.35};
  std::array<double, 5> weighted_;
};

std::optional<Truth> SearchReplay::ShowsItMoreOften(const Positions& at, const Positions& base,
                                                    TrialPurpose purpose, double error,
                                                    Sides* answers) {
  PairEvidence evidence(rules_);
  int unjudged = 0;
  for (std::size_t pair = 0; pair < kMostPairs; ++pair) {
    while (answers->at.size() <= pair || answers->base.size() <= pair) {
      std::vector<Positions> missing;
      if (answers->at.size() <= pair) missing.push_back(at);
      if (answers->base.size() <= pair) missing.push_back(base);
      const auto got = AskInTurns(missing, purpose, 2.0 * std::log(1.0 / error) / Drift(rules_));
      if (!got) {
        for (Trial& trial : state_.next) {
          if (trial.at == base) trial.purpose = TrialPurpose::kNoneChanged;
        }
        return std::nullopt;
      }
      for (std::size_t i = 0; i < got->size(); ++i) {
        auto& side = missing[i] == at ? answers->at : answers->base;
        if (IsJudged((*got)[i])) side.push_back((*got)[i]);
        if (!IsJudged((*got)[i]) && ++unjudged >= kUnjudgedAnswers) return Truth::kNotJudged;
      }
    }
    evidence.Add(answers->at[pair] == TrialAnswer::kReproduces,
                 answers->base[pair] == TrialAnswer::kReproduces);
    if (evidence.Mean() >= 1.0 / error) return Truth::kYes;
    if (evidence.Mean() <= kHopeless) return Truth::kNo;
  }
  return Truth::kNo;
}

// One after the other if trials are made one at a time.
std::optional<std::vector<TrialAnswer>> SearchReplay::AskInTurns(const std::vector<Positions>& at,
                                                                 TrialPurpose purpose,
                                                                 double estimate) {
  if (rules_.width > 1) return Ask(at, purpose, estimate);
  std::vector<TrialAnswer> answers;
  for (const Positions& one : at) {
    const auto answer = Ask({one}, purpose, estimate);
    if (!answer) return std::nullopt;
    answers.push_back(answer->front());
  }
  return answers;
}

std::optional<LineEnd> SearchReplay::FindEnd(const Positions& base,
                                             const std::vector<SearchStep>& line, double error) {
  return rules_.Exact() ? FindExactEnd(base, line) : FindLikelyEnd(base, line, error);
}

std::optional<LineEnd> SearchReplay::FindExactEnd(const Positions& base,
                                                  const std::vector<SearchStep>& line) {
  LineEnd end{0, line.size()};
  std::set<std::size_t> skipped;
  for (;;) {
    const auto picked = PickBetween(end.low, end.high, skipped, rules_.width);
    if (picked.empty()) return end;
    std::vector<Positions> at;
    for (const std::size_t count : picked) at.push_back(WithSteps(base, line, count));
    const double open = static_cast<double>(end.high - end.low);
    const auto answers = Ask(at, TrialPurpose::kSearch, AnswersFor(rules_, std::log2(open), 0.05));
    if (!answers) {
      std::vector<double> share(line.size(), 0.0);
      for (std::size_t i = end.low; i < end.high; ++i) share[i] = 1.0 / open;
      Tell(line, share);
      return std::nullopt;
    }
    for (std::size_t i = 0; i < picked.size(); ++i) {
      if ((*answers)[i] == TrialAnswer::kReproduces) end.high = std::min(end.high, picked[i]);
    }
    for (std::size_t i = 0; i < picked.size(); ++i) {
      if (picked[i] >= end.high) continue;
      if (SaysNo((*answers)[i])) {
        end.low = std::max(end.low, picked[i]);
      } else {
        skipped.insert(picked[i]);
      }
    }
  }
}

std::optional<LineEnd> SearchReplay::FindLikelyEnd(const Positions& base,
                                                   const std::vector<SearchStep>& line,
                                                   double error) {
  Belief belief(line.size(), rules_);
  for (;;) {
    const auto candidates = belief.Candidates();
    const auto best = std::ranges::max_element(candidates, {}, &Belief::Candidate::share);
    if (best->share >= 1.0 - error || candidates.size() == 1) return best->end;
    double bits = 0.0;
    for (const auto& one : candidates) {
      if (one.share > 0.0) bits -= one.share * std::log2(one.share);
    }
    const std::vector<std::size_t> picked = PickByBelief(candidates, rules_.width);
    std::vector<Positions> at;
    for (const std::size_t count : picked) at.push_back(WithSteps(base, line, count));
    const auto answers = Ask(at, TrialPurpose::kSearch, AnswersFor(rules_, bits, error));
    if (!answers) {
      Tell(line, belief.shares());
      return std::nullopt;
    }
    for (std::size_t i = 0; i < picked.size(); ++i) belief.Learn(picked[i], (*answers)[i]);
  }
}

void SearchReplay::Tell(const std::vector<SearchStep>& line, const std::vector<double>& share) {
  state_.possible.clear();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (share[i] > 0.0) state_.possible.emplace_back(line[i], share[i]);
  }
  std::ranges::stable_sort(state_.possible, std::ranges::greater(),
                           [](const auto& one) { return one.second; });
}

}  // namespace rharness
