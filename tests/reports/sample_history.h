// Histories for the writers' tests: a run that broke, one that flickers, and families of any size.
#ifndef RHARNESS_TESTS_REPORTS_SAMPLE_HISTORY_H_
#define RHARNESS_TESTS_REPORTS_SAMPLE_HISTORY_H_

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "reports/history_report.h"
#include "reports/history_summary.h"

namespace rharness {

inline WallTime NightOf(int night) {
  return ParseTime("2026-11-01T02:00:00Z").value() + std::chrono::days(night);
}

inline HistoryRun SampleHistoryRun(const std::string& run_id) {
  HistoryRun run;
  run.run_id = run_id;
  run.family = "mlp";
  run.configuration = "c0ffee";
  run.started = NightOf(-100);
  run.duration_seconds = 90;
  run.declared = "bitwise";
  run.added = NightOf(-99);
  return run;
}

// "i", "e", "d", "?", "f", "n", "x" (infra), one letter a night; "." for a night that left it out.
inline std::vector<std::optional<Verdict>> VerdictsFrom(const std::string& letters) {
  static const std::string kLetters = "ied?nfx";  // in the order of kVerdicts
  std::vector<std::optional<Verdict>> verdicts;
  for (const char letter : letters) {
    const auto at = kLetters.find(letter);
    verdicts.push_back(at == std::string::npos ? std::nullopt : std::optional(kVerdicts[at]));
  }
  return verdicts;
}

// What CompareFacts says of numpy 1.26.4 there and 2.4.6 here, and of a variable that is new.
inline std::array<LayerComparison, 5> NumpyUpgrade() {
  return CompareFacts(
      {{Layer::kEnvironment, "software.numpy", "1.26.4", FactWeight::kContext},
       {Layer::kEnvironment, "variable.OPENBLAS_CORETYPE", std::nullopt, FactWeight::kContext}},
      {{Layer::kEnvironment, "software.numpy", "2.4.6", FactWeight::kContext},
       {Layer::kEnvironment, "variable.OPENBLAS_CORETYPE", "Haswell", FactWeight::kContext}});
}
inline std::array<LayerComparison, 5> NothingDiffers() {
  return CompareFacts({{Layer::kEnvironment, "software.numpy", "1.26.4", FactWeight::kContext}},
                      {{Layer::kEnvironment, "software.numpy", "1.26.4", FactWeight::kContext}});
}

// A run with these verdicts; `text` stands in every place that a stranger fills.
inline RunHistory SampleRunHistory(const std::string& letters, bool known,
                                   const std::array<LayerComparison, 5>& layers,
                                   const std::string& text = "mlp-1") {
  RunHistory history;
  history.run = SampleHistoryRun(text);
  history.history = text;
  history.record = {{"run", text}, {"command", "python3 train.py " + text}};
  history.manifest = Json::MakeObject({{"run_id", text}});
  const auto verdicts = VerdictsFrom(letters);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    history.verdicts.push_back({fmt::format("night-{}", i),
                                *verdicts[i],
                                NightOf(static_cast<int>(i)),
                                1,
                                {{"", "moved: " + text}}});
    history.run.last_verdict = verdicts[i];
  }
  history.changes = FindChanges(verdicts);
  for (VerdictChange& change : history.changes) {
    change.known = known;
    change.layers = layers;
  }
  return history;
}

inline FamilyRun SampleFamilyRun(const std::string& run_id, const std::string& letters,
                                 const std::array<LayerComparison, 5>& layers) {
  const RunHistory history = SampleRunHistory(letters, true, layers, run_id);
  const RunOutlook outlook = Summarize(history);
  FamilyRun run;
  run.run = history.run;
  run.verdicts = VerdictsFrom(letters);
  run.changes = history.changes;
  if (outlook.last_good) run.last_good = history.verdicts[*outlook.last_good];
  if (outlook.first_bad) run.first_bad = history.verdicts[*outlook.first_bad];
  run.known = run.last_good && run.first_bad;
  if (run.known) run.layers = layers;
  return run;
}

inline FamilyHistory SampleFamily(const std::string& text = "mlp") {
  FamilyHistory history;
  history.family = text;
  history.history = text;
  for (int night = 0; night < 6; ++night) {
    history.drills.push_back(
        {fmt::format("{}-{}", text, night), NightOf(night), night > 3 ? 1 : 0});
  }
  history.runs = {SampleFamilyRun("steady", "iiiiii", NothingDiffers()),
                  SampleFamilyRun("broken-1", "iiiidd", NumpyUpgrade()),
                  SampleFamilyRun("flicker", "idiiei", NothingDiffers()),
                  SampleFamilyRun("broken-2", "iiiiif", NumpyUpgrade()),
                  SampleFamilyRun("unlucky", "xxxxxx", NothingDiffers())};
  FamilyTogether together{.name = text, .configuration = "c0ffee"};
  const auto verdicts = VerdictsFrom(".e.eed");
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    together.said.emplace_back();
    if (!verdicts[i]) continue;
    together.last = {history.drills[i].drill_id,
                     *verdicts[i],
                     NightOf(static_cast<int>(i) + 1),
                     24,
                     {{"", "moved: " + text}}};
    together.said.back() = together.last;
  }
  history.together = {together};
  history.runs.push_back({.run = SampleHistoryRun("never")});
  history.runs.back().verdicts.resize(6);
  return history;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_REPORTS_SAMPLE_HISTORY_H_
