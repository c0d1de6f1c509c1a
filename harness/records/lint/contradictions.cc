// Holding statements against each other: agreement of two values, and the rules of seeds, steps and
// batches.
#include "harness/records/lint/contradictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "harness/records/lint/words.h"

namespace rharness {
namespace {

using Statements = std::vector<const Statement*>;

std::optional<double> NumberOf(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return whole ? std::optional(value) : std::nullopt;
}

// Half a unit of the last digit that is written: 0.0005 of "0.333", 0.005e-3 of "1.25e-3".
double HalfUnit(std::string_view text) {
  const auto exponent_at = text.find_first_of("eE");
  const std::string_view digits = text.substr(0, exponent_at);
  const auto point = digits.find('.');
  double exponent = 0.0;
  if (exponent_at != text.npos) exponent = NumberOf(text.substr(exponent_at + 1)).value_or(0.0);
  const double places = point == digits.npos ? 0.0 : static_cast<double>(digits.size() - point - 1);
  return 0.5 * std::pow(10.0, exponent - places);
}

// 0.3333 and 1/3 in full: one of them is the other, printed with fewer digits. Integers are whole.
bool SameNumber(std::string_view a, std::string_view b) {
  const double x = *NumberOf(a);
  const double y = *NumberOf(b);
  if (x == y || (std::isnan(x) && std::isnan(y))) return true;
  const bool fractions = a.find('.') != a.npos && b.find('.') != b.npos;
  return fractions && std::abs(x - y) <= std::max(HalfUnit(a), HalfUnit(b)) &&
         std::abs(x - y) < 0.01 * std::max(std::abs(x), std::abs(y));
}

// A truth value, or nothing.
std::optional<bool> TruthOf(std::string_view lower) {
  constexpr std::array<std::string_view, 4> kTrue = {"true", "yes", "on", "1"};
  constexpr std::array<std::string_view, 4> kFalse = {"false", "no", "off", "0"};
  if (std::ranges::find(kTrue, lower) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, lower) != kFalse.end()) return false;
  return std::nullopt;
}

// 2.1 and 2.1.0+cu121 are one version; 2.1 and 2.10 are not.
bool Continues(std::string_view longer, std::string_view shorter) {
  if (!longer.starts_with(shorter)) return false;
  const auto rest = longer.substr(shorter.size());
  return rest.empty() || std::isdigit(static_cast<unsigned char>(rest[0])) == 0;
}

std::string Sentence(std::string_view subject, const Statement& statement,
                     const Statement& against) {
  return fmt::format("{} is {} ({}), but {} ({})", subject, statement.value, statement.place,
                     against.value, against.place);
}

class Lint {
 public:
  explicit Lint(const std::vector<Statement>& statements) {
    for (const Statement& statement : statements)
      by_subject_[statement.subject].push_back(&statement);
    for (auto& [subject, of] : by_subject_) {
      std::ranges::stable_sort(of, {},
                               [](const Statement* statement) { return statement->witness; });
    }
  }

  LintOutcome Run() && {
    for (const auto& [subject, statements] : by_subject_) {
      if (subject != "steps done") Hold(subject, statements);
    }
    HoldSteps("steps", /*is_bound=*/false);
    HoldSteps("steps at most", /*is_bound=*/true);
    HoldBatches();
    std::ranges::stable_sort(outcome_.contradictions, {}, &Contradiction::subject);
    return std::move(outcome_);
  }

 private:
  void Add(const std::string& subject, const Statement& statement, const Statement& against,
           std::string sentence) {
    outcome_.contradictions.push_back({subject, statement, against, std::move(sentence)});
  }

  // Each other witness against the first one; a seed against all of the first witness.
  void Hold(const std::string& subject, const Statements& statements) {
    const Statement& first = *statements.front();
    std::set<Witness> told;
    bool spoke = false;
    for (const Statement* statement : statements) {
      if (statement->witness == first.witness) continue;
      spoke = true;
      const bool agrees = std::ranges::any_of(statements, [&](const Statement* other) {
        return other->witness == first.witness && (other == &first || subject == "seed") &&
               Agree(subject, other->value, statement->value);
      });
      if (agrees || !told.insert(statement->witness).second) continue;
      Add(subject, first, *statement, Sentence(subject, first, *statement));
    }
    if (spoke) ++outcome_.compared;
  }

  const Statement* FirstOf(const std::string& subject) const {
    const auto found = by_subject_.find(subject);
    return found == by_subject_.end() ? nullptr : found->second.front();
  }

  void HoldSteps(const std::string& subject, bool is_bound) {
    const Statement* declared = FirstOf(subject);
    const auto done = by_subject_.find("steps done");
    if (declared == nullptr || done == by_subject_.end()) return;
    const auto steps = NumberOf(declared->value);
    if (!steps || *steps <= 0) return;  // -1 stands for none
    ++outcome_.compared;
    for (const Statement* statement : done->second) {
      const auto by = statement->value.find(" by ");
      const double last = NumberOf(statement->value.substr(0, by)).value_or(0.0);
      const double gap = NumberOf(statement->value.substr(by + 4)).value_or(0.0);
      if (last <= *steps && (is_bound || last >= *steps - gap - 1)) continue;
      Add(subject, *declared, *statement,
          fmt::format("{} is {} ({}), but the last value is of step {} ({})", subject,
                      declared->value, declared->place, statement->value.substr(0, by),
                      statement->place));
      return;
    }
  }

  void HoldBatches() {
    const Statement* global = FirstOf("global_batch_size");
    const Statement* one = FirstOf("batch_size");
    const Statement* devices = FirstOf("devices");
    if (global == nullptr || one == nullptr || devices == nullptr) return;
    const Statement* accumulation = FirstOf("accumulation");
    const auto a = NumberOf(global->value), b = NumberOf(one->value), c = NumberOf(devices->value);
    const auto d = accumulation == nullptr ? std::optional(1.0) : NumberOf(accumulation->value);
    if (!a || !b || !c || !d) return;
    ++outcome_.compared;
    if (*a == *b * *c * *d) return;
    Add("global_batch_size", *global, *one,
        fmt::format("global_batch_size is {} ({}), but {} a device ({}) times {} devices ({}){} is "
                    "{:g}",
                    global->value, global->place, one->value, one->place, devices->value,
                    devices->place,
                    accumulation == nullptr
                        ? std::string(" without accumulation")
                        : fmt::format(" times {} ({})", accumulation->value, accumulation->place),
                    *b * *c * *d));
  }

  std::map<std::string, Statements> by_subject_;
  LintOutcome outcome_;
};

}  // namespace

bool Agree(std::string_view subject, std::string_view a, std::string_view b) {
  if (subject.starts_with("version of ")) return Continues(a, b) || Continues(b, a);
  if (NumberOf(a) && NumberOf(b)) return SameNumber(a, b);
  const std::string x = LowerCase(a), y = LowerCase(b);
  if (x == y) return true;
  const auto one = TruthOf(x), other = TruthOf(y);
  return one && other && *one == *other;
}

LintOutcome FindContradictions(const std::vector<Statement>& statements) {
  return Lint(statements).Run();
}

}  // namespace rharness
