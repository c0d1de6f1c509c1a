// What the reason tokens of a metric decision mean, for people.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "compare/metrics/decision.h"

namespace rharness {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 30> kWords = {{
    {"non_finite", "a rerun's value is not finite"},
    {"missing", "a rerun did not report it"},
    {"no_variance_basis", "how much runs differ among themselves is not known"},
    {"no_margin", "no margin says which difference would matter"},
    {"within_rounding", "no margin is declared; the published divergence of a reordering is used"},
    {"detectable_shift", "a shift within the margin is detectable"},
    {"material", "the whole interval lies outside the margin"},
    {"single_reference", "only one run was recorded: rerun the old environment before blaming"},
    {"unequal_variance", "the spread of the reruns differs; Welch's test was used"},
    {"one_rerun_decides", "one rerun alone shows the shift"},
    {"not_in_all_reruns", "not every rerun shows the shift"},
    {"too_few_items", "there are fewer than 10 items, or groups of items"},
    {"too_few_sequences", "there are fewer than 20 sequences"},
    {"coarsely_printed", "equal as printed, with fewer digits than the numbers have"},
    {"other_answers", "equal scores of other answers"},
    {"unscored_items", "some items have no finite score on one side"},
    {"no_history", "no run of this configuration was recorded"},
    {"non_finite_history", "a recorded value is not finite"},
    {"invalid_alpha", "an error rate is out of range"},
    {"faster", "faster than before, which is not drift"},
    {"censored", "a rerun had not reached its target when its budget ended"},
    {"censored_history", "a recorded run had not reached its target when its budget ended"},
    {"too_few_runs", "fewer than three runs could be tested"},
    {"no_controls", "no reruns under the old driver: a shift may be the time's"},
    {"equal", "equal bit for bit"},
    {"near_record", "so near its record that no noise, however wide, hides a shift of the margin"},
    {"apart", "it moved apart from the other runs of its family"},
    {"with_family", "judged with the other runs of its family"},
    {"few_pairs",
     "too few other runs of its family were rerun beside it to know how far reruns go"},
    {"time_shift", "reruns under the old driver moved as well; the difference was tested"},
}};

std::string_view WordsOf(std::string_view token) {
  for (const auto& [known, words] : kWords) {
    if (known == token) return words;
  }
  return token;
}

}  // namespace

std::string DescribeReason(std::string_view reason) {
  std::string words;
  while (!reason.empty()) {
    const auto comma = reason.find(',');
    std::string_view token = reason.substr(0, comma);
    while (token.starts_with(' ')) token.remove_prefix(1);
    if (!words.empty()) words += "; ";
    words += WordsOf(token);
    reason = comma == std::string_view::npos ? std::string_view() : reason.substr(comma + 1);
  }
  return words;
}

}  // namespace rharness
