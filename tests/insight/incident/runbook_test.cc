// Every code that is raised anywhere has a page, and every command of a page is one.
#include "harness/insight/incident/runbook.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "compare/fingerprints/fingerprint_diff.h"
#include "compare/metrics/decision.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/verdict/verdict.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Words = std::set<std::string>;

// Sources that make findings, reasons or causes, and words_like_this in them that are no codes.
const std::map<std::string, Words> kComparing = {
    {"compare/explain.cc", {"gpu_kernel"}},
    {"compare/explain_although.cc", {}},
    {"compare/explain_hazards.cc", {"child_ends"}},
    {"compare/explain_inputs.cc", {}},
    {"compare/explain_logprobs.cc", {}},
    {"compare/explain_patterns.cc", {}},
    {"compare/explain_tensors.cc", {}},
    {"compare/explain_replicates.cc", {}},
    {"compare/explain_reruns.cc", {}},
    {"compare/family_comparison.cc", {"too_few_runs", "non_finite"}},
    {"compare/judge_comparison.cc", {}},
    {"compare/judge_contradiction.cc", {}},
    {"compare/judge_curves.cc", {}},
    {"compare/judge_findings.cc", {"absent", "with_family"}},
    {"compare/judge_findings.h", {}},
    {"compare/results/compare_many.cc", {}},
    {"compare/results/compare_results.cc",
     {"evaluation_grid", "global_batch_size", "not_comparable", "samples_to_target",
      "submission_benchmark"}},
    {"compare/results/result_group.cc",
     {"evaluation_grid", "global_batch_size", "submission_benchmark", "submission_platform"}},
    {"compare/siblings.cc", {}},
    {"compare/tokens/token_findings.cc", {}},
};

const std::map<std::string, Words> kBesideComparing = {
    {"harness/verdict/verdict.h", {"test_accuracy"}},
    {"harness/judge/left_files.cc", {}},
    {"harness/execution/rerun/names_of_rerun.cc", {}},
    {"harness/judge/comparison/compare_all.cc", {}},
    {"harness/judge/comparison/compare_fingerprints.cc", {}},
    {"harness/judge/comparison/compare_result_groups.cc", {}},
    {"harness/judge/comparison/compare_subjects.cc", {"non_finite_history", "within_rounding"}},
    {"harness/judge/comparison/lineage_findings.cc", {}},
    {"harness/judge/compare_rerun.cc", {}},
    {"harness/judge/eval_sets.cc", {}},
    {"harness/judge/image_tags.cc", {}},
    {"harness/judge/judge_run.cc", {}},
    {"harness/judge/output_files.cc", {}},
    {"harness/gate/gate.cc", {}},
    {"harness/gate/policy_matches.cc", {}},
    {"harness/gate/shadow.cc", {}},
    {"harness/records/manifest/admission.cc",
     {"duration_seconds", "metrics_path", "rng_sources", "run_id"}},
    {"harness/records/manifest/admission_notes.cc", {}},
    {"harness/cli/check_admission.cc", {"run_id", "skipped_files", "recorded"}},
    {"harness/records/manifest/evidence.h", {}},
    {"harness/records/manifest/gang.cc", {}},
    {"harness/records/observe/observed_findings.cc", {}},
    {"harness/records/observe/observed_findings.h", {}},
    {"harness/insight/publish/registration.cc", {}},
    {"harness/execution/rerun/class_check.cc", {}},
    {"harness/execution/rerun/collect.cc", {}},
    {"harness/execution/rerun/gang_merge.h", {}},
    {"harness/execution/rerun/gang_workspace.cc", {"boot_id"}},
    {"harness/execution/rerun/place_code.cc", {}},
    {"harness/execution/rerun/python_place.cc", {}},
    {"harness/execution/rerun/rerun.cc", {"host_packages"}},
    {"harness/execution/rerun/workspace.cc", {}},
};

const std::map<std::string, Words>& Raising() {
  static const std::map<std::string, Words> files = [] {
    std::map<std::string, Words> all = kComparing;
    all.insert(kBesideComparing.begin(), kBesideComparing.end());
    return all;
  }();
  return files;
}

std::string Source(const std::string& path) {
  const auto text = ReadFile(fs::path(RHARNESS_SOURCE_DIR) / path);
  EXPECT_TRUE(text.ok()) << text.error().ToString();
  static const std::regex comment("//[^\n]*");
  return text.ok() ? std::regex_replace(*text, comment, "") : std::string();
}

Words Found(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  Words words;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) {
    words.insert((*at)[1].str());
  }
  return words;
}

Words Without(const Words& codes) {
  Words missing;
  for (const std::string& code : codes) {
    if (FindRunbookPage(code) == nullptr) missing.insert(code);
  }
  return missing;
}

Words LayerWords(const std::string& format) {
  Words words;
  for (const Layer layer : kLayers) {
    words.insert(fmt::format(fmt::runtime(format), LayerName(layer)));
  }
  return words;
}

TEST(Runbook, HasAPageForEveryCodeThatIsWrittenOut) {
  for (const auto& [path, no_codes] : Raising()) {
    const std::string text = Source(path);
    Words codes = Found(text, "\"([a-z]+(?:_[a-z]+)+)\"");
    // Of one word alone only where a code stands.
    codes.merge(Found(text, R"re((?:Reason|Undone|AboutAll|Add|Close)\([^"{;]{0,80}"([a-z]+)")re"));
    codes.merge(Found(text, R"re(\.code = "([a-z]+)")re"));
    for (const std::string& word : no_codes) codes.erase(word);
    EXPECT_THAT(Without(codes), IsEmpty()) << path;
  }
}

TEST(Runbook, HasOnePageForAVerdictHoweverItIsSpelled) {
  ASSERT_NE(FindRunbookPage("infra"), nullptr);
  EXPECT_EQ(FindRunbookPage("infrastructure"), FindRunbookPage("infra"));
  for (const Verdict verdict :
       {Verdict::kIdentical, Verdict::kEquivalent, Verdict::kDrifted, Verdict::kInconclusive,
        Verdict::kNotComparable, Verdict::kFailed, Verdict::kInfra}) {
    const RunbookPage* page = FindRunbookPage(VerdictName(verdict));
    ASSERT_NE(page, nullptr) << VerdictName(verdict);
    EXPECT_EQ(page->area, "verdict") << page->code;
  }
  EXPECT_EQ(FindRunbookPage("not comparable"), FindRunbookPage("not_comparable"));
  EXPECT_EQ(FindRunbookPage("not-comparable"), FindRunbookPage("not_comparable"));
  EXPECT_EQ(FindRunbookPage("no_such-code"), nullptr);
}

TEST(Runbook, HasAPageForEveryCodeThatIsPutTogether) {
  const std::map<std::string, Words> formats = {
      {"{}_differs", LayerWords("{}_differs")},
      {"{}_not_recorded", LayerWords("{}_not_recorded")},
      {"metric_{}",
       {"metric_within", "metric_drifted", "metric_needs_confirmation", "metric_inconclusive"}},
      {"family_metric_{}",
       {"family_metric_within", "family_metric_drifted", "family_metric_needs_confirmation",
        "family_metric_inconclusive"}},
      {"{}_matches_nothing", {"rule_matches_nothing", "waiver_matches_nothing"}},
      {"{}_changed_during_run", {"data_changed_during_run", "code_changed_during_run"}},
  };
  for (const auto& [path, no_codes] : Raising()) {
    for (const std::string& format :
         Found(Source(path), R"re("((?:[a-z_]+_)?\{\}(?:_[a-z_]+)?)")re")) {
      if (format == "{}") continue;
      const auto known = formats.find(format);
      ASSERT_TRUE(known != formats.end()) << path << " puts codes together by " << format;
      EXPECT_THAT(Without(known->second), IsEmpty()) << path;
    }
  }
  EXPECT_NE(FindRunbookPage("inputs_not_recorded"), nullptr);
}

TEST(Runbook, HasAPageForEveryNameThatBecomesACode) {
  Words names;
  for (const auto verdict : {MetricVerdict::kWithin, MetricVerdict::kDrifted,
                             MetricVerdict::kNeedsConfirmation, MetricVerdict::kInconclusive}) {
    names.insert(std::string(MetricVerdictName(verdict)));
  }
  const std::string changes = Source("compare/fingerprints/fingerprint_diff.cc");
  names.merge(Found(changes, R"re(BehaviourChange::k[A-Za-z]+, "([a-z_]+)")re"));
  names.erase("none");
  ASSERT_GT(names.size(), 12U);
  EXPECT_THAT(Without(names), IsEmpty());
  const Words alerts = Found(Source("harness/insight/objectives/alert_rules.cc"),
                             R"re("(Rharness[A-Z][A-Za-z]+)")re");
  ASSERT_GE(alerts.size(), 6U);
  EXPECT_THAT(Without(alerts), IsEmpty());
  EXPECT_NE(FindRunbookPage("contradiction"), nullptr);  // of rharness check, which has no others
}

// A source that begins to raise codes joins the list above.
TEST(Runbook, KnowsAllSourcesThatRaiseCodes) {
  // Copies of codes, errors of another kind, and what is told nowhere. AddReason speaks to people.
  const Words others = {"compare/judge_comparison.cc", "harness/execution/rerun/record_build.cc",
                        "harness/execution/rerun/observed_run.cc"};
  const std::regex raises(
      R"re(\.code = (?:std::string\()?"|\.code = [a-z_.>-]+ \? "|[^d]Reason\(\s*")re");
  for (const char* folder : {"compare", "harness"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(RHARNESS_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".cc" && entry.path().extension() != ".h") continue;
      const std::string path =
          entry.path().lexically_relative(RHARNESS_SOURCE_DIR).generic_string();
      if (Raising().contains(path) || others.contains(path)) continue;
      EXPECT_FALSE(std::regex_search(Source(path), raises)) << path << " raises codes";
    }
  }
}

TEST(Runbook, HasNoPageTwiceNoneForNothingAndNoneThatIsLong) {
  std::string sources;
  for (const auto& [path, no_codes] : Raising()) sources += Source(path);
  Words seen;
  for (const RunbookPage& page : RunbookPages()) {
    EXPECT_TRUE(seen.insert(page.code).second) << page.code << " has two pages";
    ASSERT_EQ(page.parts.size(), 5U) << page.code;
    for (const auto& [part, text] : page.parts) {
      EXPECT_GE(text.size(), 4U) << page.code << " " << part;
      EXPECT_LE(text.size(), 600U) << page.code << " " << part;
      EXPECT_THAT(text, Not(HasSubstr("  "))) << page.code;
    }
    std::istringstream lines(WriteMarkdown(page, "1"));
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += 1 + DisplayWidth(line) / 100;
    EXPECT_LE(count, 25) << page.code;
  }
  // No two pages say the same.
  Words said;
  for (const RunbookPage& page : RunbookPages()) {
    EXPECT_TRUE(said.insert(page.parts.front().second).second) << page.code;
  }
}

std::string HelpOf(const std::string& verb) {
  static std::map<std::string, std::string> helps;
  const auto known = helps.find(verb);
  if (known != helps.end()) return known->second;
  std::vector<std::string> argv = {RHARNESS_BIN_DIR "/rharness"};
  std::istringstream words(verb);
  for (std::string word; words >> word;) argv.push_back(word);
  argv.emplace_back("--help");
  const ProcessResult result =
      RunProcess(ProcessSpec{std::move(argv), PickEnvironment({"PATH"}), {}}, {});
  return helps[verb] = result.outcome.Succeeded() ? result.stdout_text : std::string();
}

// The words of a command as a shell sees them, as far as pages need: quotes and blanks.
std::vector<std::string> WordsOf(const std::string& command) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : command) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

bool NamesOption(const std::string& help, const std::string& option) {
  return std::regex_search(help, std::regex("(^|[\\s,])" + option + "([\\s,]|$)"));
}

// Empty: it is a command with options that there are, and no more words than it takes.
std::string WrongIn(const std::string& command) {
  const std::vector<std::string> words = WordsOf(command);
  if (words.size() < 2) return "no verb";
  std::string verb = words[1];
  std::string help = HelpOf(verb);
  if (help.empty()) return "no verb " + verb;
  std::size_t next = 2;
  while (next < words.size() && !words[next].starts_with("-") &&
         help.find("SUBCOMMAND") != std::string::npos &&
         help.find("\n  " + words[next] + " ") != std::string::npos) {
    verb += " " + words[next++];
    help = HelpOf(verb);
    if (help.empty()) return "no verb " + verb;
  }
  const std::size_t usage = help.find("Usage: ");
  const std::string line = help.substr(usage, help.find('\n', usage) - usage);
  const bool takes = std::regex_search(line, std::regex("\\[OPTIONS\\] (?!\\[?SUBCOMMAND)\\S"));
  for (; next < words.size() && words[next] != "--"; ++next) {
    const std::string& word = words[next];
    if (!word.starts_with("-")) {
      if (!takes) return fmt::format("{} takes no '{}'", verb, word);
      continue;
    }
    const std::string option = word.substr(0, word.find('='));
    if (!NamesOption(help, option)) return fmt::format("{} has no {}", verb, option);
    const bool flag =
        std::regex_search(help, std::regex("\n  (?:-[A-Za-z],)?" + option + "(?:  |\n)"));
    if (!flag && option == word) ++next;  // its value
  }
  return "";
}

TEST(Runbook, NamesCommandsWithOptionsThatThereAre) {
  const std::regex quoted("`(rharness [^`]+)`");
  int commands = 0;
  for (const RunbookPage& page : RunbookPages()) {
    for (const auto& [part, text] : page.parts) {
      for (const std::string& command : Found(text, "`(rharness [^`]+)`")) {
        ++commands;
        EXPECT_EQ(WrongIn(command), "") << page.code << ": " << command;
      }
    }
    EXPECT_TRUE(std::regex_search(page.parts.back().second, quoted)) << page.code;
  }
  EXPECT_GT(commands, 200);
}

TEST(Runbook, SaysOfEveryAlertByWhichCommandItIsChecked) {
  for (const RunbookPage& page : RunbookPages()) {
    if (page.area != "alert") continue;
    const std::string& check = page.parts.at(1).second;
    EXPECT_THAT(check, testing::ContainsRegex("`(rharness|curl|systemctl) [^`]+`")) << page.code;
  }
}

TEST(Runbook, LooksForTheChangeThatBrokeARunByTheRunsOwnDrill) {
  const RunbookPage* page = FindRunbookPage("determinism_violation");
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->parts.back().second,
            "`rharness isolate RUN --history HISTORY --against DIR --out why`");
  const std::string& what = FindRunbookPage("RharnessRunBroken")->parts.at(3).second;
  EXPECT_THAT(what, HasSubstr("a second person approves"));  // it takes two
}

TEST(Runbook, NoticesCommandsThatAreNone) {
  EXPECT_EQ(WrongIn("rharness slo --history H"), "");
  EXPECT_EQ(WrongIn("rharness sloe --history H"), "no verb sloe");
  EXPECT_EQ(WrongIn("rharness slo --histories H"), "slo has no --histories");
  EXPECT_EQ(WrongIn("rharness slo RUN"), "slo takes no 'RUN'");
  EXPECT_EQ(WrongIn("rharness gate fleet --histories H"), "gate fleet has no --histories");
}

TEST(Runbook, ReadsPagesAndSaysWhereOneIsNotWhole) {
  const std::string whole =
      "# t\n\n## a\n- Means: m\n  on\n- Check: c\n- Causes: x\n- Do: d\n- Next: n\n";
  const auto pages = ParseRunbook(whole, "area");
  ASSERT_TRUE(pages.ok()) << pages.error().ToString();
  EXPECT_EQ(pages->front().parts.front().second, "m on");
  EXPECT_EQ(RunbookTitle(pages->front()), "m on");
  const auto lacking = ParseRunbook("## a\n- Means: m\n## b\n", "area");
  ASSERT_FALSE(lacking.ok());
  EXPECT_THAT(lacking.error().ToString(), HasSubstr("runbook/area.md, line 3"));
  EXPECT_FALSE(ParseRunbook("## a\n- Check: c\n", "area").ok());
  EXPECT_FALSE(ParseRunbook("", "area").ok());
}

}  // namespace
}  // namespace rharness
