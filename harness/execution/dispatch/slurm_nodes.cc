// Reading sinfo's lines, and expressions of features.
#include "harness/execution/dispatch/slurm_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <utility>

#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::string_view kNameSigns =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
// Behind a state: not responding, powering, rebooting, planned, in a maintenance reservation.
constexpr std::string_view kStateMarks = "*~#!%$@^-+";
constexpr std::size_t kFields = 5;
constexpr std::size_t kLongestReason = 300;  // for people
constexpr std::size_t kLongestName = 200;

Error NoNodeLine(std::string_view line, const char* expected) {
  return InvalidInput(fmt::format("expected {}; found \"{}\"", expected,
                                  TerminalSafe(std::string(line.substr(0, 200)))),
                      "sinfo");
}

bool CanNameAFile(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name[0] != '.' && name[0] != '-' &&
         name.find_first_not_of(kNameSigns) == std::string_view::npos;
}

std::set<std::string> FeaturesOf(std::string_view text) {
  std::set<std::string> features;
  if (text == "(null)") return features;
  while (!text.empty()) {
    const auto at = text.find(',');
    if (at != 0) features.emplace(text.substr(0, at));
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
  }
  return features;
}

// The first four fields; the last keeps its bars.
std::vector<std::string_view> FieldsOf(std::string_view line) {
  std::vector<std::string_view> fields;
  while (fields.size() + 1 < kFields) {
    const auto at = line.find('|');
    if (at == std::string_view::npos) break;
    fields.push_back(line.substr(0, at));
    line.remove_prefix(at + 1);
  }
  fields.push_back(line);
  return fields;
}

SlurmNode NodeFrom(const std::vector<std::string_view>& fields) {
  const std::string_view state = fields[2];
  const auto marks = state.find_first_of(kStateMarks);
  return {.name = std::string(fields[0]),
          .state = std::string(state.substr(0, marks)),
          .silent = marks != std::string_view::npos && state.substr(marks).find('*') != state.npos,
          .features = FeaturesOf(fields[3]),
          .reason = fields[4] == "none" ? "" : std::string(fields[4].substr(0, kLongestReason))};
}

// The number at the end of a name, with its width; none: {0, 0}.
struct Suffix {
  std::size_t width = 0;
  std::uint64_t number = 0;
  auto operator<=>(const Suffix&) const = default;
};

Suffix SuffixOf(std::string_view name) {
  constexpr std::size_t kMostDigits = 18;
  const auto last = name.find_last_not_of("0123456789");
  const std::string_view digits = last == name.npos ? name : name.substr(last + 1);
  Suffix suffix;
  // Whole numbers are no names of Slurm's, and longer ones are no numbers.
  if (digits.empty() || digits.size() > kMostDigits || last == name.npos) return suffix;
  suffix.width = digits.size();
  std::from_chars(digits.data(), digits.data() + digits.size(), suffix.number);
  return suffix;
}

// "001-003,007".
std::string FoldNumbers(const std::vector<Suffix>& sorted) {
  std::string text;
  for (std::size_t i = 0, next = 0; i < sorted.size(); i = next) {
    for (next = i + 1; next < sorted.size() && sorted[next].width == sorted[i].width &&
                       sorted[next].number == sorted[next - 1].number + 1;) {
      ++next;
    }
    if (i > 0) text += ',';
    text += fmt::format("{:0{}}", sorted[i].number, sorted[i].width);
    if (next > i + 1) {
      text += fmt::format("-{:0{}}", sorted[next - 1].number, sorted[next - 1].width);
    }
  }
  return text;
}

// From left to right, without precedence: "a|b&c" is "(a|b)&c".
class FeatureReader {
 public:
  FeatureReader(std::string_view text, const std::set<std::string>& features)
      : text_(text), left_(text), features_(features) {}

  Result<bool> Read() {
    ASSIGN_OR_RETURN(const bool holds, ReadList(0));
    if (left_.empty()) return holds;
    return Fail();
  }

 private:
  Error Fail() const {
    return InvalidInput(
        fmt::format("'{}': of an expression of features, names, '&', '|' and brackets are "
                    "understood here; found \"{}\"",
                    TerminalSafe(std::string(text_)), TerminalSafe(std::string(left_))),
        "--constraint");
  }

  Result<bool> ReadList(int depth) {
    ASSIGN_OR_RETURN(bool holds, ReadOne(depth));
    while (!left_.empty() && (left_[0] == '&' || left_[0] == ',' || left_[0] == '|')) {
      const bool both = left_[0] != '|';
      left_.remove_prefix(1);
      ASSIGN_OR_RETURN(const bool next, ReadOne(depth));
      holds = both ? holds && next : holds || next;
    }
    return holds;
  }

  Result<bool> ReadOne(int depth) {
    constexpr int kDeepest = 20;
    if (!left_.empty() && depth < kDeepest && (left_[0] == '(' || left_[0] == '[')) {
      const char close = left_[0] == '(' ? ')' : ']';
      left_.remove_prefix(1);
      ASSIGN_OR_RETURN(const bool holds, ReadList(depth + 1));
      if (left_.empty() || left_[0] != close) return Fail();
      left_.remove_prefix(1);
      return holds;
    }
    const std::string_view name = left_.substr(0, left_.find_first_of("&,|()[]*:"));
    if (name.empty()) return Fail();
    left_.remove_prefix(name.size());
    return features_.contains(std::string(name));
  }

  const std::string_view text_;
  std::string_view left_;
  const std::set<std::string>& features_;
};

}  // namespace

Result<std::vector<SlurmNode>> ParseSinfo(std::string_view text, bool default_partition) {
  std::map<std::string, SlurmNode> nodes;
  bool any = false;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::vector<std::string_view> fields = FieldsOf(line);
    // A reason may have several lines; the first one of it is enough.
    if (fields.size() < kFields && (any || line.empty())) continue;
    if (fields.size() < kFields) return NoNodeLine(line, "five fields between bars");
    any = true;
    if (default_partition && !fields[1].ends_with('*')) continue;
    if (!CanNameAFile(fields[0])) return NoNodeLine(line, "the name of a node");
    nodes.emplace(fields[0], NodeFrom(fields));
  }
  std::vector<SlurmNode> sorted;
  for (auto& [name, node] : nodes) sorted.push_back(std::move(node));
  return sorted;
}

Result<NodeChoice> ChooseNodes(const std::vector<std::string>& sbatch) {
  static constexpr std::array<std::string_view, 6> kSettled = {
      "--nodes", "--ntasks", "--ntasks-per-node", "--nodefile", "--distribution", "--spread-job"};
  NodeChoice choice;
  for (const std::string& option : sbatch) {
    const auto at = option.find('=');
    const std::string name = option.substr(0, at);
    const std::string value = at == std::string::npos ? "" : option.substr(at + 1);
    if (std::ranges::find(kSettled, name) != kSettled.end()) {
      return InvalidInput(fmt::format("{} does not go with --distribute: one task a node", name),
                          "--sbatch");
    }
    if (name == "--nodelist" || name == "--exclude") {
      (name == "--nodelist" ? choice.nodelist : choice.exclude) = value;
      continue;
    }
    if (name == "--partition") choice.partition = value;
    if (name == "--constraint") choice.constraint = value;
    choice.reserved = choice.reserved || name == "--reservation";
    choice.others.push_back(option);
  }
  if (choice.constraint.empty()) return choice;
  // An invalid expression is reported before any query.
  const auto readable = HasFeatures(choice.constraint, {});
  if (!readable.ok()) return readable.error();
  return choice;
}

Result<bool> HasFeatures(std::string_view constraint, const std::set<std::string>& features) {
  return FeatureReader(constraint, features).Read();
}

NodeRoom RoomOf(const SlurmNode& node, bool reserved) {
  static constexpr std::array<std::string_view, 9> kUnusable = {
      "down", "drained", "draining", "fail", "failing", "error", "future", "inval", "unknown"};
  if (node.silent || std::ranges::find(kUnusable, node.state) != kUnusable.end()) {
    return NodeRoom::kUnusable;
  }
  if (node.state == "idle") return NodeRoom::kFree;
  const bool lent = node.state == "reserved" || node.state == "maint";
  return lent && reserved ? NodeRoom::kFree : NodeRoom::kBusy;
}

std::string FoldNames(const std::vector<std::string>& names) {
  std::map<std::string, std::vector<Suffix>> numbers;  // by the text before them
  for (const std::string& name : names) {
    const Suffix suffix = SuffixOf(name);
    numbers[name.substr(0, name.size() - suffix.width)].push_back(suffix);
  }
  std::string text;
  for (auto& [before, suffixes] : numbers) {
    std::ranges::sort(suffixes);
    suffixes.erase(std::unique(suffixes.begin(), suffixes.end()), suffixes.end());
    if (suffixes.front().width == 0) {
      text += (text.empty() ? "" : ",") + before;
      suffixes.erase(suffixes.begin());
    }
    if (suffixes.empty()) continue;
    const std::string folded = FoldNumbers(suffixes);
    const bool one = suffixes.size() == 1;
    text += (text.empty() ? "" : ",") + before + (one ? folded : "[" + folded + "]");
  }
  return text;
}

std::string DescribeState(const SlurmNode& node) {
  return TerminalSafe(node.state + (node.silent ? ", does not respond" : "") +
                      (node.reason.empty() ? "" : ": " + node.reason));
}

}  // namespace rharness
