// Histories of runs and families: what they come to, and how every format says it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "reports/history_report.h"
#include "reports/history_summary.h"
#include "reports/schemas.h"
#include "tests/reports/hostile.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/sample_history.h"
#include "tests/reports/schema_validator.h"
#include "tests/reports/text_parts.h"

namespace rharness {
namespace {

template <class History>
std::string Page(const History& history) {
  return WriteHtml(DocumentOf(history, "1.0"));
}
template <class History>
std::string Screen(const History& history, int columns) {
  return WriteTerminal(DocumentOf(history, "1.0"), columns, false);
}

TEST(RunHistory, NamesTheLastGoodDrillAndTheFirstBadOneAfterIt) {
  const RunHistory history = SampleRunHistory("didiixxdfd", true, NumpyUpgrade());
  const RunOutlook outlook = Summarize(history);
  EXPECT_EQ(outlook.last_good, 4u);
  EXPECT_EQ(outlook.first_bad, 7u);  // lost machines tell nothing
  EXPECT_EQ(history.changes.at(*outlook.broke).before, 4u);
  EXPECT_EQ(history.changes.at(*outlook.broke).after, 7u);
  EXPECT_EQ(outlook.answer,
            "Drifted since 2026-11-08 02:00 UTC; it last reproduced on 2026-11-05 02:00 UTC.");
  EXPECT_TRUE(
      Contains(outlook.next_step, "OPENBLAS_CORETYPE was not set and is Haswell now (and 1 more)"))
      << outlook.next_step;
}

// A drill may be entered late; what was entered last is what is said of the run.
TEST(RunHistory, SaysOfAGoodVerdictThatWasDecidedLaterThatItWasEnteredBefore) {
  RunHistory history = SampleRunHistory("iid", true, NothingDiffers());
  std::swap(history.verdicts[1].decided, history.verdicts[2].decided);
  EXPECT_EQ(Summarize(history).answer,
            "Drifted since 2026-11-02 02:00 UTC; it last reproduced on 2026-11-03 02:00 UTC, by a "
            "verdict that was entered before.");
}

TEST(RunHistory, TakesWhatIsOpenForNeitherGoodNorBadAndSaysIt) {
  const RunOutlook good = Summarize(SampleRunHistory("ie?n", true, NothingDiffers()));
  EXPECT_EQ(good.last_good, 1u);
  EXPECT_FALSE(good.first_bad);
  EXPECT_EQ(good.answer,
            "It reproduces: equivalent on 2026-11-02 02:00 UTC. 2 drills since then decided "
            "nothing: not comparable on 2026-11-04 02:00 UTC.");
  const RunOutlook bad = Summarize(SampleRunHistory("id?x", true, NothingDiffers()));
  EXPECT_EQ(bad.last_good, 0u);
  EXPECT_EQ(bad.first_bad, 1u);
  EXPECT_EQ(bad.answer,
            "Drifted since 2026-11-02 02:00 UTC; it last reproduced on 2026-11-01 02:00 UTC. 2 "
            "drills since then decided nothing: infra on 2026-11-04 02:00 UTC.");
  EXPECT_EQ(Summarize(SampleRunHistory("i?i", true, NothingDiffers())).steadiness.changes, 0u);
}

TEST(FamilyHistory, TellsOfRunsOfWhichNoDrillCouldTell) {
  FamilyHistory history = SampleFamily();
  history.runs = {SampleFamilyRun("steady", "iiiiii", NothingDiffers()),
                  SampleFamilyRun("open", "??nnxx", NothingDiffers())};
  EXPECT_EQ(
      Summarize(history).answer,
      "1 of 2 runs is shown to reproduce, and none is bad. No drill has decided about 1 of them.");
}

TEST(RunHistory, SaysWhenItReproducesAgainOrNeverDid) {
  EXPECT_EQ(Summarize(SampleRunHistory("idi", true, NumpyUpgrade())).answer,
            "It reproduces again: identical on 2026-11-03 02:00 UTC.");
  EXPECT_EQ(Summarize(SampleRunHistory("ie", true, NumpyUpgrade())).answer,
            "It reproduces: equivalent on 2026-11-02 02:00 UTC.");
  EXPECT_EQ(Summarize(SampleRunHistory("ff", true, NumpyUpgrade())).answer,
            "Failed since 2026-11-01 02:00 UTC; no drill has seen it reproduce.");
  EXPECT_EQ(Summarize(SampleRunHistory("xx", true, NumpyUpgrade())).answer,
            "No drill has decided whether it reproduces: 2 drills so far.");
}

TEST(RunHistory, CallsFlakyWhatChangesThoughNothingDiffers) {
  const auto of = [](const char* letters, bool known,
                     const std::array<LayerComparison, 5>& layers) {
    return Summarize(SampleRunHistory(letters, known, layers)).steadiness;
  };
  const Steadiness flaky = of("iixdiid", true, NothingDiffers());
  EXPECT_EQ(flaky.steps, 5u);  // six nights could tell
  EXPECT_EQ(flaky.changes, 3u);
  EXPECT_EQ(flaky.unexplained, 3u);
  EXPECT_TRUE(FlakyWords(flaky).starts_with("3 of 5 times")) << FlakyWords(flaky);
  EXPECT_EQ(FlakyWords(of("iiddi", true, NumpyUpgrade())), "");
  const Steadiness unknown = of("iiddi", false, {});
  EXPECT_EQ(unknown.not_known, 2u);
  EXPECT_EQ(FlakyWords(unknown), "");
  EXPECT_EQ(FlakyWords(of("ieieie", true, NothingDiffers())), "");  // good either way
}

TEST(RunHistory, TakesNoPackageThatItDoesNotUseForAnExplanation) {
  const auto upgraded = [](FactUse use) {
    const auto fact = [&](const char* version) {
      return Fact{
          .layer = Layer::kEnvironment, .key = "package.dpkg.cowsay", .value = version, .use = use};
    };
    return CompareFacts({fact("1")}, {fact("2")});
  };
  const auto unexplained = [&](FactUse use) {
    return Summarize(SampleRunHistory("idi", true, upgraded(use))).steadiness.unexplained;
  };
  EXPECT_EQ(unexplained(FactUse::kNotUsed), 2u);
  EXPECT_EQ(unexplained(FactUse::kUsed), 0u);
  EXPECT_EQ(unexplained(FactUse::kNotKnown), 0u);
}

TEST(RunHistory, TellsDifferencesInWords) {
  const auto words = [](const char* key, std::optional<std::string> before,
                        std::optional<std::string> after) {
    return DifferenceWords(
        {Layer::kEnvironment, key, FactWeight::kContext, std::move(before), std::move(after)});
  };
  EXPECT_EQ(words("software.numpy", "1.26.4", "2.4.6"), "numpy went from 1.26.4 to 2.4.6");
  EXPECT_EQ(words("gpu.driver", "535.183", "550.54"), "the GPU driver went from 535.183 to 550.54");
  EXPECT_EQ(words("variable.OMP_NUM_THREADS", std::nullopt, "7"),
            "OMP_NUM_THREADS was not set and is 7 now");
  EXPECT_EQ(words("variable.OMP_NUM_THREADS", "7", std::nullopt),
            "OMP_NUM_THREADS was 7 and is not set now");
  EXPECT_EQ(words("data.digits.sha256", std::string(64, 'a'), std::string(64, 'b')),
            "the data 'digits' went from aaaaaaaaaaaa… to bbbbbbbbbbbb…");
  EXPECT_EQ(words("package.python.numpy", "1.26.4", "2.4.6"), "numpy went from 1.26.4 to 2.4.6");
  EXPECT_EQ(words("package.dpkg.libopenblas0:amd64", std::nullopt, "0.3.21"),
            "libopenblas0 0.3.21 was not there before");
  EXPECT_EQ(words("seed.init", "1", "2"), "the seed 'init' went from 1 to 2");
}

TEST(RunHistory, WritesThePageThatAnswersSinceWhenAndOverWhat) {
  const HtmlFacts facts = CheckHtml(Page(SampleRunHistory("iiidd", true, NumpyUpgrade())));
  EXPECT_EQ(facts.error, "");
  EXPECT_EQ(std::set<std::string>(facts.ids.begin(), facts.ids.end()).size(), facts.ids.size());
  for (const char* part :
       {"Drifted since 2026-11-04 02:00 UTC", "last good drill", "night-2", "night-3",
        "numpy went from 1.26.4 to 2.4.6", "OPENBLAS_CORETYPE was not set and is Haswell now",
        "✓ identical", "✗ drifted", "moved: mlp-1"}) {
    EXPECT_TRUE(Contains(facts.text, part)) << part;
  }
}

TEST(RunHistory, HasBadgesOfTheLastGoodAndTheFirstBadDrillAndItsNameInTheTitle) {
  const std::string page = Page(SampleRunHistory("iiidd", true, NumpyUpgrade()));
  EXPECT_TRUE(Contains(
      page, "<span class=\"b identical\">✓ identical</span>, drill <span class=\"w\">night-2"));
  EXPECT_TRUE(Contains(
      page, "<span class=\"b drifted\">✗ drifted</span>, drill <span class=\"w\">night-3"));
  const std::size_t at = page.find("<title>");
  const std::string title = page.substr(at, page.find("</title>") - at);
  EXPECT_TRUE(Contains(title, "Drifted since 2026-11-04 02:00 UTC")) << title;
  EXPECT_TRUE(Contains(title, "– History of the run mlp-1 · family mlp")) << title;
  const std::string good = Page(SampleRunHistory("iii", true, NothingDiffers()));
  EXPECT_FALSE(Contains(good, "class=\"b drifted\"")) << "no drill was bad";
}

TEST(HistoryReport, IsOfTheTimeOfTheNewestDrill) {
  const Document run = DocumentOf(SampleRunHistory("iiidd", true, NumpyUpgrade()), "1");
  EXPECT_TRUE(Contains(WriteJunit(run), "timestamp=\"2026-11-05T02:00:00\"")) << WriteJunit(run);
  EXPECT_TRUE(Contains(OriginOf(run), "· 2026-11-05 02:00 UTC")) << OriginOf(run);
  const FamilyHistory family = SampleFamily();
  EXPECT_TRUE(
      Contains(WriteJunit(DocumentOf(family, "1")),
               "timestamp=\"" + FormatTime(family.drills.back().started).substr(0, 19) + "\""));
  EXPECT_FALSE(Contains(WriteJunit(DocumentOf(SampleRunHistory("", true, {}), "1")), "timestamp"));
  std::vector<HistoryRun> runs = {SampleHistoryRun("a"), SampleHistoryRun("b")};
  runs[0].judged = run.made;
  EXPECT_EQ(DocumentOf(runs, {}, "1").made, run.made);
}

TEST(RunHistory, SaysThatNoDrillHasJudgedItYet) {
  const RunHistory empty = SampleRunHistory("", true, {});
  const HtmlFacts facts = CheckHtml(Page(empty));
  EXPECT_EQ(facts.error, "");
  EXPECT_TRUE(Contains(facts.text, "No drill has judged this run yet."));
  EXPECT_TRUE(Contains(Screen(empty, 80), "Next: rharness drill reruns it and judges it."));
}

TEST(RunHistory, StaysSmallOverAThousandDrills) {
  std::string letters;
  for (int i = 0; i < 500; ++i) letters += "id";
  const RunHistory history = SampleRunHistory(letters, true, NothingDiffers());
  const std::string page = Page(history);
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_LT(page.size(), 1'000'000u);
  const std::string text = Screen(history, 100);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 120);
  EXPECT_TRUE(Contains(text, "and 940 more, in the output of --json")) << text;
}

TEST(FamilyHistory, FindsWhatBrokenRunsHaveInCommon) {
  const FamilyHistory family = SampleFamily();
  const FamilyOutlook outlook = Summarize(family);
  EXPECT_EQ(outlook.broken, 2);
  EXPECT_EQ(outlook.flaky, 1);
  EXPECT_EQ(outlook.never, 1);
  ASSERT_EQ(outlook.causes.size(), 2u);
  EXPECT_EQ(outlook.causes[0].broken, 2);
  EXPECT_EQ(outlook.answer,
            "2 of 6 runs do not reproduce; 2 of them did before. No drill has decided about 1 of "
            "them. 1 is flaky.");
  std::vector<std::string> order;
  for (const FamilyRun* run : outlook.order) order.push_back(run->run.run_id);
  EXPECT_EQ(order, (std::vector<std::string>{"broken-1", "broken-2", "flicker", "unlucky", "never",
                                             "steady"}));
}

TEST(FamilyHistory, DrawsAGridOfRunsByDrills) {
  const std::string text = Screen(SampleFamily(), 120);
  for (const char* part : {"✓✓✓✓✗✗", "✓✓✓✓✓!", "✓✗✓✓≈✓", "······",
                           "numpy went from 1.26.4 to 2.4.6", "environment", "2 of 2"}) {
    EXPECT_TRUE(Contains(text, part)) << part << "\n" << text;
  }
  const HtmlFacts facts = CheckHtml(Page(SampleFamily()));
  EXPECT_EQ(facts.error, "");
  EXPECT_EQ(std::set<std::string>(facts.ids.begin(), facts.ids.end()).size(), facts.ids.size());
  EXPECT_TRUE(Contains(Page(SampleFamily()), "<span class=\"b inconclusive\">flaky "));
  EXPECT_EQ(facts.elements.at("i"), 42);  // a cell a run and drill, and one of them together
  for (const std::string& href : facts.hrefs) {
    EXPECT_EQ(std::count(facts.ids.begin(), facts.ids.end(), href.substr(1)), 1) << href;
  }
}

TEST(FamilyHistory, SaysWhenNothingHasJudgedIt) {
  FamilyHistory family;
  family.family = "mlp";
  family.runs.push_back({.run = SampleHistoryRun("never")});
  EXPECT_TRUE(Contains(Screen(family, 80), "No drill has judged this family yet"));
  EXPECT_EQ(CheckHtml(Page(family)).error, "");
}

TEST(FamilyHistory, StaysSmallWithTenThousandRuns) {
  FamilyHistory family = SampleFamily();
  for (int i = 0; i < 10'000; ++i) {
    family.runs.push_back(SampleFamilyRun("resnet50-seed-" + std::to_string(i),
                                          i % 10 == 0 ? "iiiidd" : "iiiiii", NumpyUpgrade()));
  }
  const std::string page = Page(family);
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_LT(page.size(), 1'500'000u);
  EXPECT_TRUE(Contains(page, "Steady good runs are left out to keep a page small."));
  const std::string text = Screen(family, 100);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 230);
  for (FamilyRun& run : family.runs)
    run = SampleFamilyRun(run.run.run_id, "iiiidd", NumpyUpgrade());
  EXPECT_LT(Page(family).size(), 5'000'000u);
}

TEST(HistoryReport, HostileTextOpensNothing) {
  for (const std::string& text : HostileTexts()) {
    const HtmlFacts run =
        CheckHtml(WriteHtml(DocumentOf(SampleRunHistory("iid", true, NumpyUpgrade(), text), text)));
    EXPECT_EQ(run.error, "");
    EXPECT_FALSE(run.elements.contains("script"));
    EXPECT_FALSE(run.elements.contains("img"));
    FamilyHistory family = SampleFamily(text);
    for (FamilyRun& one : family.runs) one.run.run_id = one.run.retired.emplace(text);
    const HtmlFacts page = CheckHtml(WriteHtml(DocumentOf(family, text)));
    EXPECT_EQ(page.error, "");
    EXPECT_EQ(page.elements.at("script"), 1);
    EXPECT_FALSE(page.elements.contains("img"));
    for (const std::string& printed :
         {Screen(family, 80), Screen(SampleRunHistory("iid", true, NumpyUpgrade(), text), 80)}) {
      EXPECT_FALSE(Contains(printed, "\x1b"));
      EXPECT_FALSE(Contains(printed, "\x07"));
    }
  }
}

TEST(FamilyHistory, ShowsWhatItsRunsCameToTogetherBesideTheirGrid) {
  const FamilyHistory family = SampleFamily();
  const std::string text = Screen(family, 120);
  const std::size_t row = text.find("\n  all of mlp (24)");
  ASSERT_NE(row, std::string::npos) << text;
  EXPECT_LT(row, text.find("\n  broken-1 ")) << "above its runs";
  const std::string line = text.substr(row + 1, text.find('\n', row + 1) - row - 1);
  for (const char* part : {"✗ drifted", "2026-11-07 02:00 UTC", "·≈·≈≈✗"}) {
    EXPECT_TRUE(Contains(line, part)) << line;
  }
  EXPECT_TRUE(Contains(text, "      moved: mlp\n")) << text;
  const std::string page = Page(family);
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_LT(page.find("<h2>Together</h2>"), page.find("<h2>Runs</h2>"));
  EXPECT_TRUE(Contains(page, "moved: mlp"));
  EXPECT_FALSE(Contains(Page(FamilyHistory{.family = "none"}), "<h2>Together</h2>"));
}

TEST(HistoryReport, HasACaseARunInJunitAndSkipsWhatNoDrillHasJudged) {
  const std::string run =
      WriteJunit(DocumentOf(SampleRunHistory("iiidd", true, NumpyUpgrade()), "1"));
  EXPECT_TRUE(Contains(run, "tests=\"1\"")) << run;
  EXPECT_TRUE(Contains(run, "classname=\"history.mlp\" name=\"mlp-1\"")) << run;
  EXPECT_TRUE(Contains(run, "failures=\"1\"")) << run;
  EXPECT_TRUE(Contains(run, "Drifted since 2026-11-04 02:00 UTC")) << run;
  const std::string never = WriteJunit(DocumentOf(SampleRunHistory("", true, {}), "1"));
  EXPECT_TRUE(Contains(never, "skipped=\"1\"")) << never;
  const std::string family = WriteJunit(DocumentOf(SampleFamily(), "1"));
  for (const char* part : {"tests=\"7\"", "failures=\"2\"", "errors=\"2\"", "skipped=\"1\"",
                           "name=\"all of mlp\"", "no drill has judged it yet"}) {
    EXPECT_TRUE(Contains(family, part)) << part << "\n" << family;
  }
  const std::string doubtful = WriteJunit(DocumentOf(FamilyHistory{.family = "a"}, "1", 5));
  EXPECT_TRUE(Contains(doubtful, "failures=\"1\"")) << "the exit code is not 0";
}

TEST(HistoryReport, SaysInMarkdownSinceWhenAndOverWhat) {
  const std::string run =
      WriteMarkdown(DocumentOf(SampleRunHistory("iiidd", true, NumpyUpgrade()), "1"));
  for (const char* part :
       {"Drifted since 2026", "numpy went from 1.26.4 to 2.4.6", "night-4", "Then"}) {
    EXPECT_TRUE(Contains(run, part)) << part << "\n" << run;
  }
  const std::string family = WriteMarkdown(DocumentOf(SampleFamily(), "1"));
  for (const char* part : {"✓✓✓✓✗✗", "all of mlp", "2 of 2", "mlp-5"}) {
    EXPECT_TRUE(Contains(family, part)) << part << "\n" << family;
  }
}

TEST(HistoryReport, ListsRunsWithTheWorstFirst) {
  HistoryRun bad = SampleHistoryRun("bad");
  bad.last_verdict = Verdict::kDrifted;
  HistoryRun good = SampleHistoryRun("good");
  good.last_verdict = Verdict::kIdentical;
  const std::vector<HistoryRun> runs = {SampleHistoryRun("new"), good, bad};
  const Document list = DocumentOf(runs, {{"mlp", "mlp", SampleFamily().together[0].last}}, "1");
  EXPECT_EQ(list.headline, "3 runs; by its last verdict 1 is bad.");
  std::vector<std::string> names;
  for (const DocumentRow& row : list.sections.at(0).rows) names.push_back(row.cells[0].text);
  EXPECT_EQ(names, (std::vector<std::string>{"bad", "good", "new"}));
  EXPECT_TRUE(Contains(WriteMarkdown(list), "1 of 3 runs was never judged by any drill"));
  EXPECT_TRUE(Contains(WriteJunit(list), "tests=\"4\""));
  EXPECT_EQ(CheckHtml(WriteHtml(list)).error, "");
}

TEST(HistorySchema, DescribesExactlyWhatIsWritten) {
  const Json schema = HistorySchema();
  const auto check = [&](const Json& json, const char* form) {
    EXPECT_EQ(json.AsObject().front().first, "schema");
    Validator(schema).Check(json, *schema.Find("$defs")->Find(form), "$");
  };
  HistoryRun retired = SampleHistoryRun("a");
  retired.retired = "gone";
  retired.verified = NightOf(1);
  const FamilyTogether together = SampleFamily().together.at(0);
  HistoryRun approved = retired;
  approved.retirement = {"Ada", NightOf(1), "Bob", NightOf(2), "5e"};
  check(ToJson({approved}, {}), "runs");
  check(ToJson({retired, SampleHistoryRun("b")}, {{"mlp", "mlp", together.last}}), "runs");
  check(ToJson(SampleRunHistory("iidx", true, NumpyUpgrade())), "run");
  check(ToJson(SampleRunHistory("iidi", false, {})), "run");
  check(ToJson(SampleRunHistory("", true, {})), "run");
  check(ToJson(SampleFamily()), "family");
  check(ToJson(FamilyHistory{.family = "none"}), "family");
}

}  // namespace
}  // namespace rharness
