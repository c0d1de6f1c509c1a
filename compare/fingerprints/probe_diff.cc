// The localisation of one probe's change: status, determinism, compiler output, choice, tree, bits.
#include "compare/fingerprints/probe_diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "compare/fingerprints/answer_change.h"
#include "compare/fingerprints/choice_parts.h"
#include "compare/fingerprints/failed_case_diff.h"
#include "compare/fingerprints/tree_change.h"

namespace rharness {
namespace {

template <class T>
const T* At(const std::map<std::string, T>& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

bool Same(const std::string& a, const std::string& b) { return a == b; }
bool Same(const FingerprintTree& a, const FingerprintTree& b) { return SameTree(a, b); }

class ProbeComparison {
 public:
  ProbeComparison(const FingerprintProbe& before, const FingerprintProbe& after)
      : before_(before), after_(after) {
    out_.probe = after.name;
    out_.family = after.family;
  }

  ProbeDifference Run() {
    CompareCases();
    SettleProcessor();
    const auto moved = [&](const auto& one) {
      return std::ranges::binary_search(out_.choice_cases, one);
    };
    if (Serves()) std::erase_if(out_.bits_cases, moved);  // another answer has other bits
    out_.change = Kind();
    if (out_.change != BehaviourChange::kNone) out_.sentence = Sentence();
    DescribeLayers();
    return std::move(out_);
  }

 private:
  bool Stable(const std::string& name) const {
    return !before_.IsUnstable(name) && !after_.IsUnstable(name);
  }

  // Sums that were shared among other numbers of threads are other sums.
  bool OtherThreads(const std::string& name) const {
    const std::string was = ThreadsInForce(before_, name), is = ThreadsInForce(after_, name);
    return !was.empty() && !is.empty() && was != is;
  }

  // Another processor's name, or another number of threads, is no other choice of a routine: its
  // effect shows in order and bits.
  bool CompareChoice(const std::string& name) {
    const std::string* before = At(before_.choices, name);
    const std::string* after = At(after_.choices, name);
    const bool both = CompareLayer(name, before_.choices, after_.choices, &out_.choice_cases);
    if (!both || *before == *after || !Stable(name)) return both;
    const ChoiceParts was = PartsOf(*before), is = PartsOf(*after);
    if (was.rest != is.rest) return true;
    out_.choice_cases.pop_back();
    if (was.processor != is.processor) processor_.push_back(name);
    return true;
  }

  // Kernels for another processor with equal, visible order and bits are the same. With different
  // or unknown ones, the choice is reported first.
  void SettleProcessor() {
    if (processor_.empty()) return;
    const bool same = trees_ + bits_ > 0 && out_.tree_cases.empty() && out_.bits_cases.empty() &&
                      other_threads_.empty();
    if (same) {
      out_.other_processor = ChoiceChange(processor_.front());
      return;
    }
    out_.choice_cases.insert(out_.choice_cases.end(), processor_.begin(), processor_.end());
    std::ranges::sort(out_.choice_cases);
  }

  // True when both sides have the case in this layer.
  template <class T>
  bool CompareLayer(const std::string& name, const std::map<std::string, T>& before,
                    const std::map<std::string, T>& after, std::vector<std::string>* differing) {
    const T* old_value = At(before, name);
    const T* new_value = At(after, name);
    if (old_value == nullptr || new_value == nullptr) {
      lost_ = lost_ || (old_value != nullptr && !after_.IsUnstable(name));
      more_ = more_ || (new_value != nullptr && !before_.IsUnstable(name));
      return false;
    }
    if (!Stable(name)) return false;
    if (!Same(*old_value, *new_value)) differing->push_back(name);
    return true;
  }

  void CompareCases() {
    std::set<std::string> cases = CasesOf(before_);
    cases.merge(CasesOf(after_));
    for (const std::string& name : cases) {
      lost_ = false;
      const bool choice = CompareChoice(name);
      const std::size_t moved = out_.tree_cases.size() + out_.bits_cases.size();
      bool tree = CompareLayer(name, before_.trees, after_.trees, &out_.tree_cases);
      bool bits = CompareLayer(name, before_.bits, after_.bits, &out_.bits_cases);
      if (out_.tree_cases.size() + out_.bits_cases.size() > moved && OtherThreads(name)) {
        std::erase(out_.tree_cases, name);
        std::erase(out_.bits_cases, name);
        other_threads_.push_back(name);
        tree = bits = false;
      }
      if (choice || tree || bits) ++out_.cases;
      choices_ += choice ? 1 : 0;
      trees_ += tree ? 1 : 0;
      if (tree) LookAtTrees(name);
      bits_ += bits ? 1 : 0;
      if (lost_) out_.gone_cases.push_back(name);
    }
    const std::set<std::string> before = UnstableCasesOf(before_);
    const std::set<std::string> after = UnstableCasesOf(after_);
    std::ranges::set_difference(after, before, std::back_inserter(gained_));
    std::ranges::set_difference(before, after, std::back_inserter(lost_unstable_));
    // Cases on one side only cannot be compared; but a probe whose cases all repeated has lost that
    // by a single one that does not.
    const std::set<std::string> cases_before = CasesOf(before_), cases_after = CasesOf(after_);
    if (!before.empty()) {
      std::erase_if(gained_, [&](const auto& name) { return !cases_before.contains(name); });
    }
    std::erase_if(lost_unstable_, [&](const auto& name) { return !cases_after.contains(name); });
  }

  BehaviourChange Kind() const {
    if (!gained_.empty()) return BehaviourChange::kNonDeterminismGained;
    if (!out_.choice_cases.empty()) {
      if (Serves()) return BehaviourChange::kOtherAnswers;
      return after_.family == "compiler" ? BehaviourChange::kCompilerOutput
                                         : BehaviourChange::kHeuristicDrift;
    }
    if (CompilerBits()) return BehaviourChange::kCompilerOutput;
    if (!out_.tree_cases.empty()) {
      if (!reordered_) return BehaviourChange::kRounding;
      return WidestChanged().empty() ? BehaviourChange::kKernelRewritten
                                     : BehaviourChange::kHardwarePath;
    }
    if (!out_.bits_cases.empty()) return BehaviourChange::kRounding;
    if (!out_.gone_cases.empty()) return BehaviourChange::kGone;
    if (!other_threads_.empty()) return BehaviourChange::kAskedOtherwise;
    if (!lost_unstable_.empty()) return BehaviourChange::kNonDeterminismLost;
    return more_ ? BehaviourChange::kAppeared : BehaviourChange::kNone;
  }

  // Its choices are answers of a model.
  bool Serves() const { return after_.family == kServingFamily; }

  // Bits of a compiler's case are its output, unless a choice beside them shows that the code is
  // the same.
  bool CompilerBits() const {
    return after_.family == "compiler" &&
           std::ranges::any_of(out_.bits_cases, [&](const std::string& name) {
             return At(before_.choices, name) == nullptr;
           });
  }

  // Of the first case in which it did.
  std::string WidestChanged() const {
    for (const std::string& name : out_.tree_cases) {
      std::string widest = WidestChange(*At(before_.trees, name), *At(after_.trees, name));
      if (!widest.empty()) return widest;
    }
    return "";
  }

  std::string TreeWords() const {
    const std::string& name = out_.tree_cases.front();
    return TreeChangeWords(*At(before_.trees, name), *At(after_.trees, name));
  }

  std::string TreeNames() const {
    const std::string& name = out_.tree_cases.front();
    return TreeChangeNames(*At(before_.trees, name), *At(after_.trees, name));
  }

  void LookAtTrees(const std::string& name) {
    const FingerprintTree &before = *At(before_.trees, name), &after = *At(after_.trees, name);
    reordered_ = reordered_ || !SameOrder(before, after);
    if (RevealedAnew(before, after)) ++out_.revealed_anew;
  }

  // `of`: the cases that show the layer on both sides.
  static std::string InCases(const std::vector<std::string>& cases, int of) {
    return fmt::format("in {} of {} case{} (first: {})", cases.size(), of, of == 1 ? "" : "s",
                       ShortOf(cases.front()));
  }

  std::string ChoiceChange(const std::string& name) const {
    const std::string &was = *At(before_.choices, name), &is = *At(after_.choices, name);
    return Serves() ? AnswerChange(was, is) : DescribeChoiceChange(was, is);
  }

  // The first case's change with the cases that have the very same one, then how many have another.
  std::string ChoiceWords() const {
    const std::string first = ChoiceChange(out_.choice_cases.front());
    const std::string cases = InCases(out_.choice_cases, choices_);
    if (Serves()) return fmt::format("other answers {}: {}", cases, first);
    std::vector<std::string> same, others;
    for (const std::string& name : out_.choice_cases) {
      (ChoiceChange(name) == first ? same : others).push_back(name);
    }
    std::string words = after_.family == "compiler" ? "other code from the same source: "
                                                    : "another algorithm is chosen: ";
    words += first + " " + InCases(same, choices_);
    if (others.empty()) return words;
    return words + fmt::format(", and another choice in {} more (first: {}: {})", others.size(),
                               ShortOf(others.front()), ChoiceChange(others.front()));
  }

  // What else moved below the layer that names the kind.
  std::string Rest() const {
    std::string rest;
    const bool told = out_.change == BehaviourChange::kKernelRewritten ||
                      out_.change == BehaviourChange::kHardwarePath ||
                      out_.change == BehaviourChange::kRounding;
    if (!told && !out_.tree_cases.empty()) {
      rest += fmt::format("; adds {} in {} (first: {}: {})", Otherwise(), out_.tree_cases.size(),
                          ShortOf(out_.tree_cases.front()), TreeNames());
      if (const std::string widest = WidestChanged(); !widest.empty()) {
        rest += fmt::format(", the widest fused addition {}", widest);
      }
    }
    const bool bits_told = out_.change == BehaviourChange::kRounding && out_.tree_cases.empty();
    if (!bits_told && !out_.bits_cases.empty()) {
      rest += fmt::format("; other bits in {}", out_.bits_cases.size());
    }
    const bool shows = !after_.trees.empty() || !after_.bits.empty();
    const bool alone = out_.change == BehaviourChange::kHeuristicDrift && shows &&
                       out_.tree_cases.empty() && out_.bits_cases.empty();
    if (alone) rest += "; nothing that it shows of order and bits moved";
    if (out_.change != BehaviourChange::kGone && !out_.gone_cases.empty()) {
      rest += fmt::format("; {} no longer shown", out_.gone_cases.size());
    }
    return rest;
  }

  std::string_view Otherwise() const {
    return reordered_ ? "in another order" : "with other arithmetic";
  }

  void DescribeLayers() {
    const auto [choice, tree, bits] = std::tie(out_.choice_cases, out_.tree_cases, out_.bits_cases);
    if (!choice.empty()) {
      out_.choice_sentence = fmt::format("{}: {}", out_.probe, ChoiceWords());
    }
    if (!tree.empty()) {
      out_.tree_sentence = fmt::format("{}: adds {} {}: {}", out_.probe, Otherwise(),
                                       InCases(tree, trees_), TreeNames());
    }
    if (!bits.empty()) {
      const std::string other = "other bits " + InCases(bits, bits_);
      out_.bits_sentence = out_.probe + ": " + (Serves() ? LogprobWords() : other);
    }
  }

  std::string Sentence() const { return fmt::format("{}: {}{}", out_.probe, Words(), Rest()); }

  std::string Words() const {
    switch (out_.change) {
      case BehaviourChange::kNonDeterminismGained:
        return fmt::format("no longer gives the same {} every time, {}{}",
                           Serves() ? "answers" : "bits", InAll(gained_),
                           Serves() ? AnswersDiffer(after_, gained_.front()) : "");
      case BehaviourChange::kNonDeterminismLost:
        return fmt::format("now gives the same bits every time, {}", InAll(lost_unstable_));
      case BehaviourChange::kCompilerOutput:
        return out_.choice_cases.empty() ? fmt::format("other code from the same source {}",
                                                       InCases(out_.bits_cases, bits_))
                                         : ChoiceWords();
      case BehaviourChange::kOtherAnswers:
      case BehaviourChange::kHeuristicDrift:
        return ChoiceWords();
      case BehaviourChange::kKernelRewritten:
        return fmt::format("{} adds in another order: {} {}", ChosenWords(), TreeWords(),
                           InCases(out_.tree_cases, trees_));
      case BehaviourChange::kHardwarePath:
        return fmt::format("another instruction adds, the widest fused addition went {}: {} {}",
                           WidestChanged(), TreeWords(), InCases(out_.tree_cases, trees_));
      case BehaviourChange::kRounding:
        if (!out_.tree_cases.empty()) {
          return fmt::format("{} {}", TreeWords(), InCases(out_.tree_cases, trees_));
        }
        return Serves() ? LogprobWords()
                        : fmt::format("{} gives other bits {}: rounding, epilogue or math",
                                      SameWords(), InCases(out_.bits_cases, bits_));
      case BehaviourChange::kAskedOtherwise:
        return OtherThreadsWords(before_, after_, other_threads_) +
               (trees_ + bits_ > 0 ? "; the others are the same" : "");
      case BehaviourChange::kGone:
        return fmt::format("no longer shows {} of its cases (first: {})", out_.gone_cases.size(),
                           ShortOf(out_.gone_cases.front()));
      case BehaviourChange::kAppeared:
        return "shows more cases than before";
      default:
        return "";
    }
  }

  std::string LogprobWords() const {
    return fmt::format("the same answers with other log-probabilities {}{}",
                       InCases(out_.bits_cases, bits_),
                       LogprobChange(before_, after_, out_.bits_cases.front()));
  }

  // What is known to be the same, and only that.
  std::string ChosenWords() const {
    const bool known = At(before_.choices, out_.tree_cases.front()) != nullptr;
    return known ? "the same choice" : "the routine (its choice is not known)";
  }
  std::string SameWords() const {
    const std::string& name = out_.bits_cases.front();
    const bool choice = At(before_.choices, name) != nullptr;
    const bool tree = At(before_.trees, name) != nullptr;
    if (choice && tree) return "the same choice and order";
    if (choice) return "the same choice";
    return tree ? "the same order" : "the routine";
  }

  std::string InAll(const std::vector<std::string>& cases) const {
    return fmt::format("in {} of {} cases (first: {})", cases.size(), CasesOf(after_).size(),
                       ShortOf(cases.front()));
  }

  const FingerprintProbe& before_;
  const FingerprintProbe& after_;
  ProbeDifference out_;
  std::vector<std::string> gained_;
  std::vector<std::string> lost_unstable_;
  std::vector<std::string> processor_;      // cases whose choice names another processor only
  std::vector<std::string> other_threads_;  // that add otherwise, with another number of threads
  int choices_ = 0;                         // cases that show it on both sides
  int trees_ = 0;
  int bits_ = 0;
  bool lost_ = false;
  bool more_ = false;
  bool reordered_ = false;  // in a case's tree, and not only its arithmetic
};

std::string StatusWords(const FingerprintProbe* probe) {
  if (probe == nullptr) return "not probed";
  std::string words(ProbeStatusName(probe->status));
  if (probe->status == ProbeStatus::kTimedOut) words = "timed out";
  if (!probe->message.empty()) words += fmt::format(" ({})", ShortOf(probe->message));
  return words;
}

}  // namespace

ProbeDifference CompareProbe(const FingerprintProbe* before, const FingerprintProbe* after) {
  const bool was = before != nullptr && before->Ok();
  const bool is = after != nullptr && after->Ok();
  const bool asked_alike = was && is && before->parameters == after->parameters &&
                           before->family == after->family && before->device == after->device;
  ProbeDifference out;
  if (asked_alike) {
    out = ProbeComparison(*before, *after).Run();
    AddFailedCases(*before, *after, &out);
    return out;
  }
  out.probe = (after != nullptr ? after : before)->name;
  // The baseline decides what runs depend on.
  out.family = (before != nullptr ? before : after)->family;
  if (was && is) {
    auto asked = before->parameters, asks = after->parameters;
    asked.insert({{"family", before->family}, {"device", before->device}});
    asks.insert({{"family", after->family}, {"device", after->device}});
    out.change = BehaviourChange::kAskedOtherwise;
    out.sentence = fmt::format("{}: ran with different parameters: {}", out.probe,
                               MembersChanged(asked, asks));
    return out;
  }
  if (was == is) return out;
  if (is) {
    out.change = BehaviourChange::kAppeared;
    out.sentence = fmt::format("{}: was {}, is ok", out.probe, StatusWords(before));
    return out;
  }
  const bool absent = after == nullptr || after->status == ProbeStatus::kAbsent;
  out.change = absent ? BehaviourChange::kGone : BehaviourChange::kNewlyWrong;
  out.sentence = fmt::format("{}: was ok, is {}", out.probe, StatusWords(after));
  const std::set<std::string> gone = CasesOf(*before);
  out.gone_cases.assign(gone.begin(), gone.end());
  return out;
}

}  // namespace rharness
