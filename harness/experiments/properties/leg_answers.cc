// Answers of two legs: read, and compared item by item.
#include "harness/experiments/properties/leg_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "compare/items/kept_items.h"
#include "compare/tokens/compare_tokens.h"
#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"
#include "harness/base/trouble.h"
#include "harness/judge/item_outputs.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr double kBeyondAll = std::numeric_limits<double>::infinity();

struct Answers {
  std::optional<TokenScores> tokens;
  std::optional<EvalItems> items;
  bool empty() const { return !tokens && !items; }
};

Result<Answers> LoadItemsOf(const Artifact& artifact, const fs::path& folder) {
  std::vector<std::string> notes;
  KeptItems kept = LoadKeptItems(
      {artifact},
      [&](const std::string& location) -> Result<fs::path> { return folder / location; }, &notes);
  if (kept.empty()) {
    return IntegrityError(notes.empty() ? "its items were not kept" : notes.front(), artifact.path);
  }
  return Answers{.tokens = {}, .items = std::move(kept.begin()->second)};
}

Result<Answers> LoadAnswers(const Artifact& artifact, const fs::path& folder) {
  Answers answers;
  if (artifact.role == kItemsRole) return LoadItemsOf(artifact, folder);
  if (artifact.location.empty()) return answers;
  const fs::path path = folder / artifact.location;
  // Members that say what a file is may follow a long prompt.
  ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path));
  std::string head(std::min<std::uint64_t>(file.size_bytes(), kMostTokenLine), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
  const bool samples = LooksLikeEvalItems(path, "");
  if (!samples && LooksLikeTokenScores(head)) {
    ASSIGN_OR_RETURN(answers.tokens, LoadTokenScores(path));
  } else if (LooksLikeEvalItems(path, head) || LooksLikeAnswerTexts(head)) {
    ASSIGN_OR_RETURN(answers.items, LoadEvalItems(path));
  } else if (const auto checkpoint = OpenCheckpoint(path);
             checkpoint.ok() && LooksLikeTokenScores(**checkpoint)) {
    ASSIGN_OR_RETURN(answers.tokens, LoadTokenScores(**checkpoint, path.string()));
  } else if (!checkpoint.ok() && IsTrouble(checkpoint.error())) {
    return checkpoint.error();
  }
  return answers;
}

void Say(std::string what, Apart* apart) {
  apart->equal = false;
  apart->words += (apart->words.empty() ? "" : "; ") + std::move(what);
}

std::string PlaceOf(const TokenPlace& place) { return SafeText(PlaceWords(place), 200); }

void SayMissing(std::uint64_t of_first, std::uint64_t of_second, Apart* apart) {
  if (of_first + of_second == 0) return;
  Say(fmt::format("{} items are in the first alone, {} in the second", of_first, of_second), apart);
  apart->distance = kBeyondAll;
}

void SayTokens(const TokenDifference& d, Apart* apart) {
  apart->distance = d.became_non_finite + d.ceased > 0 ? kBeyondAll : d.max_abs;
  SayMissing(d.only_a, d.only_b, apart);
  if (d.first) {
    Say(fmt::format("{} of {} tokens differ, first {}: {} and {}, at most {:g} apart", d.differing,
                    d.tokens, PlaceOf(*d.first), d.first->a, d.first->b, apart->distance),
        apart);
  }
  if (d.first_other) {
    Say(fmt::format("{} of {} answers have other tokens, first {}", d.other_tokens, d.sequences,
                    PlaceOf(*d.first_other)),
        apart);
  }
  if (d.ended > 0) Say(fmt::format("{} answers end before the other's", d.ended), apart);
  if (d.unscored > 0) Say(fmt::format("{} tokens are scored by one alone", d.unscored), apart);
  if (d.other_tokens + d.ended + d.unscored > 0) apart->distance = kBeyondAll;
}

// The scores of an item on both sides. Those that are not finite alike show nothing.
struct ScorePair {
  std::string name;
  double a = 0.0;
  double b = 0.0;
};

std::vector<ScorePair> PairScores(const EvalItem& a, const EvalItem& b) {
  constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
  std::vector<ScorePair> pairs;
  for (const auto& [name, value] : a.scores) {
    const auto other = b.scores.find(name);
    pairs.push_back({name, value, other == b.scores.end() ? kAbsent : other->second});
  }
  for (const auto& [name, value] : b.scores) {
    if (!a.scores.contains(name)) pairs.push_back({name, kAbsent, value});
  }
  std::erase_if(pairs, [](const ScorePair& pair) {
    return !std::isfinite(pair.a) && !std::isfinite(pair.b);
  });
  return pairs;
}

class ItemMeter {
 public:
  explicit ItemMeter(Apart* apart) : apart_(*apart) {}

  Status AddTask(const std::string& task, const EvalTask& a, const EvalTask& b) {
    for (const auto& [id, item] : a) {
      const auto other = b.find(id);
      if (other == b.end()) {
        ++only_a_;
        continue;
      }
      for (const auto member : {&EvalItem::prompt, &EvalItem::arguments, &EvalItem::target}) {
        if (item.*member == other->second.*member) continue;
        return InvalidInput(
            fmt::format("item {} was asked otherwise by the second: its answers are "
                        "to another question",
                        NameOfItem(task, id)));
      }
      AddItem(NameOfItem(task, id), PairScores(item, other->second), item.answer,
              other->second.answer);
    }
    only_b_ += static_cast<std::uint64_t>(
        std::ranges::count_if(b, [&](const auto& one) { return !a.contains(one.first); }));
    return {};
  }

  void Finish() {
    SayMissing(only_a_, only_b_, &apart_);
    if (differing_ == 0) return;
    Say(fmt::format("{} of {} items differ, first {}", differing_, apart_.items, first_) +
            (apart_.distance > 0 && std::isfinite(apart_.distance)
                 ? fmt::format(", at most {:g} apart", apart_.distance)
                 : ""),
        &apart_);
  }

 private:
  static std::string NameOfItem(const std::string& task, const std::string& id) {
    return SafeText(task.empty() ? id : task + " " + id, 200);
  }

  void AddItem(const std::string& name, const std::vector<ScorePair>& scores,
               const std::string& answer, const std::string& other_answer) {
    if (scores.empty() && answer.empty() && other_answer.empty()) return;
    ++apart_.items;
    // A margin is of scores: where one is stated, what was said may differ behind them. Without a
    // score no margin says how far texts are apart.
    bool differs = answer != other_answer;
    if (differs && scores.empty()) apart_.distance = kBeyondAll;
    if (differs && first_.empty()) first_ = name + " (another text)";
    for (const auto& [score, a, b] : scores) {
      if (std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b)) continue;
      if (first_.empty())
        first_ = fmt::format("{} ({}: {} and {})", name, SafeText(score, 100), a, b);
      differs = true;
      const double distance = std::fabs(a - b);
      apart_.distance = std::max(apart_.distance, std::isfinite(distance) ? distance : kBeyondAll);
    }
    differing_ += differs ? 1 : 0;
  }

  Apart& apart_;
  std::uint64_t only_a_ = 0;
  std::uint64_t only_b_ = 0;
  std::uint64_t differing_ = 0;
  std::string first_;
};

Result<Apart> ApartOf(const std::string& path, const Answers& a, const Answers& b) {
  if (a.tokens && b.tokens) return ApartOfAnswers(path, *a.tokens, *b.tokens);
  if (a.items && b.items) return ApartOfAnswers(path, *a.items, *b.items);
  return InvalidInput("has answers in one leg, and none of that kind in another", path);
}

}  // namespace

Result<Apart> ApartOfAnswers(const std::string& path, const TokenScores& a, const TokenScores& b) {
  if (!a.names_prompts || !b.names_prompts) {
    return InvalidInput(
        "does not name the prompt of every answer, so that answers of another order cannot be "
        "matched; expected prompt_id or custom_id in every record",
        path);
  }
  const TokenComparison compared = CompareTokens(a, b, {});
  const auto asked = std::ranges::find(compared.findings, "other_prompts", &Finding::code);
  if (asked != compared.findings.end()) {
    return InvalidInput("the second was asked otherwise: " + asked->message, path);
  }
  const TokenDifference& d = compared.difference;
  Apart apart{.subject = "log-probabilities " + path,
              .name = kMarginOfLogprobs,
              .equal = true,
              .words = {},
              .items = d.sequences};
  SayTokens(d, &apart);
  if (a.unscored != b.unscored) {
    Say(fmt::format("{} and {} answers without log-probabilities, not the same", a.unscored.size(),
                    b.unscored.size()),
        &apart);
    apart.distance = kBeyondAll;
  }
  if (!apart.equal) return apart;
  if (d.tokens == d.non_finite) {
    return InvalidInput("has no finite log-probability to compare", path);
  }
  if (const auto decimals = a.decimals ? a.decimals : b.decimals) {
    return InvalidInput(fmt::format("its log-probabilities are printed with at most {} decimals, "
                                    "whose equality shows no equal bits; expected all digits",
                                    *decimals),
                        path);
  }
  return apart;
}

Result<Apart> ApartOfAnswers(const std::string& path, const EvalItems& a, const EvalItems& b) {
  Apart apart{
      .subject = "items " + path, .name = kMarginOfScores, .equal = true, .words = {}, .items = 0};
  ItemMeter meter(&apart);
  static const EvalTask kNone;
  for (const auto& [task, items] : a.tasks) {
    const auto other = b.tasks.find(task);
    const Status added = meter.AddTask(task, items, other == b.tasks.end() ? kNone : other->second);
    if (!added.ok()) return InvalidInput(added.error().message, path);
  }
  for (const auto& [task, items] : b.tasks) {
    if (!a.tasks.contains(task)) RETURN_IF_ERROR(meter.AddTask(task, kNone, items));
  }
  meter.Finish();
  if (apart.equal && apart.items == 0)
    return InvalidInput("has no finite score and no text to compare", path);
  return apart;
}

Result<std::vector<Apart>> CompareAnswers(const std::vector<Artifact>& a,
                                          const std::vector<Artifact>& b, const fs::path& folder) {
  std::vector<Apart> aparts;
  for (const Artifact& first : a) {
    const auto second = std::ranges::find(b, first.path, &Artifact::path);
    if (second == b.end()) continue;  // that leg failed
    ASSIGN_OR_RETURN(const Answers one, LoadAnswers(first, folder));
    // Equal files are read once.
    const bool same = first.role == second->role && first.sha256 == second->sha256;
    if (same && one.empty()) continue;
    std::optional<Answers> other;
    if (!same) {
      ASSIGN_OR_RETURN(other, LoadAnswers(*second, folder));
      if (one.empty() && other->empty()) continue;
    }
    ASSIGN_OR_RETURN(Apart apart, ApartOf(first.path, one, other ? *other : one));
    aparts.push_back(std::move(apart));
  }
  return aparts;
}

}  // namespace rharness
