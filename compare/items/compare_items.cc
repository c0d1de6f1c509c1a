// Items of two sides, paired by their ids.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "compare/curves/printed_number.h"
#include "compare/items/eval_items.h"
#include "harness/base/digest.h"

namespace rharness {
namespace {

using Items = EvalTask;

constexpr std::size_t kMostNamed = 10;

std::string NameOf(const std::string& task, const std::string& score) {
  return task.empty() ? score : task + "/" + score;
}

// One digest over a member of all items that both sides have, in the order of their ids.
template <class F>
std::string DigestOver(const Items& items, const Items& other, F member) {
  std::string text;
  for (const auto& [id, item] : items) {
    if (other.contains(id)) text += fmt::format("{}:{}{}\n", id.size(), id, member(id, item));
  }
  return Sha256HexOf(text);
}

std::size_t CountOf(const Items& items, const Items& other, std::string EvalItem::*member) {
  return static_cast<std::size_t>(std::ranges::count_if(items, [&](const auto& one) {
    const auto there = other.find(one.first);
    return there != other.end() && !(one.second.*member).empty() &&
           !(there->second.*member).empty() && one.second.*member != there->second.*member;
  }));
}

bool IsSameNonFinite(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (std::isinf(a) && a == b);
}

class TaskComparison {
 public:
  TaskComparison(const std::string& task, const Items& a, const Items& b, ItemComparison* out)
      : task_(task), a_(a), b_(b), out_(*out) {
    for (const auto& [id, item] : a_) {
      const auto other = b_.find(id);
      if (other == b_.end()) continue;
      common_.push_back(id);
      const std::string& said = other->second.answer;
      if (!item.answer.empty() && !said.empty() && item.answer != said)
        other_answers_.push_back(id);
    }
  }

  void AddFacts() {
    const std::string name = task_.empty() ? "evaluation" : "evaluation." + task_;
    const auto ids = [](const Items& items) {
      std::string text;
      for (const auto& [id, item] : items) text += fmt::format("{}:{}\n", id.size(), id);
      return fmt::format("{} items, {}", items.size(), Sha256HexOf(text).substr(0, 12));
    };
    Add(name + ".items", ids(a_), ids(b_));
    AddMember(name + ".prompts", "prompt", &EvalItem::prompt);
    AddMember(name + ".arguments", "call of the model (choices, settings of the generation)",
              &EvalItem::arguments);
    AddMember(name + ".targets", "target", &EvalItem::target);
    AddMember(name + ".clusters", "cluster", &EvalItem::cluster);
    const std::size_t alone = a_.size() + b_.size() - 2 * common_.size();
    if (alone > 0) {
      out_.notes.push_back(fmt::format("{}: {} items are in A and {} in B, {} in both",
                                       task_.empty() ? "evaluation" : task_, a_.size(), b_.size(),
                                       common_.size()));
    }
  }

  void Judge(const std::string& score, const std::map<std::string, double>& margins) {
    ItemScores scores{.name = NameOf(task_, score)};
    std::vector<std::string> ids;
    std::size_t not_finite = 0;  // alike on both sides: no difference, and nothing to test
    for (const std::string& id : common_) {
      const EvalItem& here = a_.at(id);
      const auto mine = here.scores.find(score);
      const auto theirs = b_.at(id).scores.find(score);
      const bool both = mine != here.scores.end() && theirs != b_.at(id).scores.end();
      if (both && IsSameNonFinite(mine->second, theirs->second)) ++not_finite;
      if (!both || !std::isfinite(mine->second) || !std::isfinite(theirs->second)) continue;
      scores.a.push_back(mine->second);
      scores.b.push_back(theirs->second);
      // An item without a cluster is one of its own.
      if (clustered_) scores.clusters.push_back(here.cluster.empty() ? "item " + id : here.cluster);
      ids.push_back(id);
    }
    for (const std::string& name : {scores.name, score}) {
      const auto margin = margins.find(name);
      if (margin != margins.end() && !scores.margin) scores.margin = margin->second;
    }
    ItemDecision items = DecideItems(scores);
    if (ids.empty() && not_finite > 0) {
      items.decision.history = items.decision.reruns = {std::numeric_limits<double>::quiet_NaN()};
      items.decision.verdict = MetricVerdict::kWithin;
      items.decision.reason = "equal";
    }
    // The same score for something else that was said is not bit-equal.
    if (!other_answers_.empty() && items.decision.reason == "equal") {
      items.decision.reason = "other_answers";
    }
    // A score that some items lack on either side is not shown to be kept.
    if (ids.size() + not_finite < common_.size() &&
        items.decision.verdict == MetricVerdict::kWithin) {
      items.decision.verdict = MetricVerdict::kInconclusive;
      items.decision.reason = "unscored_items";
    }
    Tell(scores, items, ids, not_finite);
    out_.decisions.push_back(std::move(items.decision));
  }

  void TellAnswers() {
    if (other_answers_.empty()) return;
    out_.notes.push_back(fmt::format("{}: {} of {} items have another answer, first {}",
                                     task_.empty() ? "evaluation" : task_, other_answers_.size(),
                                     common_.size(), ExcerptForError(other_answers_.front())));
  }

  std::set<std::string> Scores() {
    std::set<std::string> names;
    for (const std::string& id : common_) {
      for (const EvalItem* item : {&a_.at(id), &b_.at(id)}) {
        for (const auto& [name, value] : item->scores) names.insert(name);
      }
      clustered_ = clustered_ || !a_.at(id).cluster.empty();
    }
    return names;
  }

 private:
  void Add(const std::string& key, std::string a, std::string b) {
    out_.facts_a.push_back({Layer::kData, key, std::move(a), FactWeight::kIdentity});
    out_.facts_b.push_back({Layer::kData, key, std::move(b), FactWeight::kIdentity});
  }

  void AddMember(const std::string& key, std::string_view noun, std::string EvalItem::*member) {
    const auto value = [&](const std::string&, const EvalItem& item) { return item.*member; };
    const std::size_t others = CountOf(a_, b_, member);
    if (others > 0) {
      out_.notes.push_back(fmt::format("{}: {} of {} items have another {}",
                                       task_.empty() ? "evaluation" : task_, others, common_.size(),
                                       noun));
      Add(key, DigestOver(a_, b_, value), DigestOver(b_, a_, value));
      return;
    }
    // Equal, or stated by one side alone.
    const std::string digest = DigestOver(a_, b_, value);
    Add(key, digest, digest);
  }

  static std::string IdsOf(const std::vector<std::size_t>& places,
                           const std::vector<std::string>& ids) {
    std::vector<std::string> named;
    for (const std::size_t place : places) {
      if (named.size() == kMostNamed) break;
      named.push_back(ExcerptForError(ids[place]));
    }
    const std::size_t more = places.size() - named.size();
    return fmt::format("{}{}", fmt::join(named, ", "),
                       more > 0 ? fmt::format(" and {} more", more) : "");
  }

  void Tell(const ItemScores& scores, const ItemDecision& items,
            const std::vector<std::string>& ids, std::size_t not_finite) {
    std::string words = fmt::format("{}: {} items in both; {:.6g} in A, {:.6g} in B", scores.name,
                                    ids.size(), items.decision.mean_history,
                                    items.decision.mean_history + items.decision.difference);
    if (!items.higher.empty()) {
      words +=
          fmt::format("; higher in B for {}: {}", items.higher.size(), IdsOf(items.higher, ids));
    }
    if (!items.lower.empty()) {
      words += fmt::format("; lower in B for {}: {}", items.lower.size(), IdsOf(items.lower, ids));
    }
    if (not_finite > 0) {
      words += fmt::format("; alike and not finite, in no mean and no test: {}", not_finite);
    }
    const std::size_t unscored = common_.size() - ids.size() - not_finite;
    if (unscored > 0) words += fmt::format("; without a finite score on a side: {}", unscored);
    out_.notes.push_back(std::move(words));
  }

  const std::string& task_;
  const Items& a_;
  const Items& b_;
  ItemComparison& out_;
  std::vector<std::string> common_;
  std::vector<std::string> other_answers_;  // of these, where the model said something else
  bool clustered_ = false;
};

// The facts of `from` that `other` states, too: what one version or folder has no word of is no
// difference, and is named. Context may be on one side alone.
std::vector<Fact> StatedByBoth(const std::vector<Fact>& from, const std::vector<Fact>& other,
                               std::vector<std::string>* alone) {
  std::vector<Fact> stated;
  for (const Fact& fact : from) {
    const bool both = std::ranges::find(other, fact.key, &Fact::key) != other.end();
    if (both) stated.push_back(fact);
    if (!both && fact.weight == FactWeight::kIdentity) alone->push_back(fact.key);
  }
  return stated;
}

void AddStatedFacts(const EvalItems& a, const EvalItems& b, ItemComparison* out) {
  const bool results_a = !a.facts.empty();
  if (results_a != !b.facts.empty()) {
    out->notes.push_back(fmt::format(
        "{} has no results_*.json: task versions, few-shot examples and template are not compared",
        results_a ? "B" : "A"));
    return;
  }
  for (const bool in_a : {true, false}) {
    std::vector<std::string> alone;
    (in_a ? out->facts_a : out->facts_b) =
        StatedByBoth(in_a ? a.facts : b.facts, in_a ? b.facts : a.facts, &alone);
    if (alone.empty()) continue;
    out->notes.push_back(
        fmt::format("{} alone states {}: not compared", in_a ? "A" : "B", fmt::join(alone, ", ")));
  }
  const auto has = [&](std::string_view prefix) {
    return std::ranges::any_of(out->facts_a,
                               [&](const Fact& fact) { return fact.key.starts_with(prefix); });
  };
  if (!results_a || has("evaluation.tokenizer.")) return;
  out->notes.push_back(
      has("evaluation.tokenizer_")
          ? "tokenizers are compared by their special tokens alone: no file of a vocabulary, such "
            "as tokenizer.json, lies beside both evaluations"
          : "the tokenizer cannot be seen: the results name no special token, and no file of a "
            "vocabulary, such as tokenizer.json, lies beside both evaluations");
}

}  // namespace

ItemComparison CompareItems(const EvalItems& a, const EvalItems& b,
                            const std::map<std::string, double>& margins) {
  ItemComparison out;
  AddStatedFacts(a, b, &out);
  const auto names = [](const EvalItems& items) {
    std::string text;
    for (const auto& [task, unused] : items.tasks) text += (text.empty() ? "" : ", ") + task;
    return text;
  };
  // Two files, each of one task: their names need not agree.
  const bool single = a.tasks.size() == 1 && b.tasks.size() == 1;
  if (!single) {
    out.facts_a.push_back({Layer::kData, "evaluation.tasks", names(a), FactWeight::kIdentity});
    out.facts_b.push_back({Layer::kData, "evaluation.tasks", names(b), FactWeight::kIdentity});
  }
  for (const auto& [task, items] : a.tasks) {
    const auto other = single ? b.tasks.begin() : b.tasks.find(task);
    if (other == b.tasks.end()) continue;
    TaskComparison comparison(task, items, other->second, &out);
    comparison.AddFacts();
    for (const std::string& score : comparison.Scores()) comparison.Judge(score, margins);
    comparison.TellAnswers();
  }
  return out;
}

}  // namespace rharness
