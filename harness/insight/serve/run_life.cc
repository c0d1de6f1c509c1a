// Verdicts of one run, their details, and their changes.
#include "harness/insight/serve/run_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/drill/history_of.h"
#include "harness/insight/serve/pages.h"
#include "reports/history_summary.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kStripVerdicts = 200;
constexpr std::size_t kPageVerdicts = 25;
constexpr std::size_t kPageDetails = 8;  // reruns and signatures of each
constexpr std::size_t kPageChanges = 3;
// A list of packages is long: most drills of a run see the same few.
constexpr std::size_t kPageSurroundings = 8;

std::vector<std::string> MeasuredWords(const VerdictMeasures& measures) {
  std::vector<std::string> words;
  if (measures.weights_equal) {
    words.emplace_back(*measures.weights_equal ? "all weights equal to the bit"
                                               : "weights differ in bits");
  }
  if (measures.margins) {
    words.push_back(fmt::format("metrics at most {} times their margin apart",
                                FormatNumber(*measures.margins, 3)));
  }
  if (measures.warnings.value_or(0) > 0) {
    words.push_back(Counted(static_cast<std::uint64_t>(*measures.warnings), "warning") +
                    " of operators without a deterministic implementation");
  }
  if (measures.data_had && !*measures.data_had) words.emplace_back("not all of its data was had");
  if (measures.not_recorded.value_or(0) > 0) {
    words.push_back(Counted(static_cast<std::uint64_t>(*measures.not_recorded), "gap") +
                    " in its record");
  }
  if (!measures.node.empty()) words.push_back("on node " + SafeText(measures.node, 100));
  return words;
}

std::vector<std::string> OutcomeWords(const std::vector<RerunRecord>& reruns) {
  std::vector<std::string> words;
  for (const RerunRecord& rerun : reruns) {
    const std::string evidence = rerun.evidence_sha256.substr(0, 12);
    words.push_back(fmt::format("{} in {}{}", rerun.outcome,
                                FormatDuration(Seconds(rerun.wall_seconds)),
                                evidence.empty() ? "" : ", evidence " + evidence));
  }
  return words;
}

}  // namespace

RunLife::Layers RunLife::OrSaid(Layers layers, SiteRun* page) {
  if (layers.ok()) return layers;
  const ErrorCode code = layers.error().code;
  if (code != ErrorCode::kIntegrity && code != ErrorCode::kNotFound) return layers;
  const std::string note =
      "Where a drill reran it cannot be shown: " + layers.error().message + ".";
  if (std::ranges::find(page->notes, note) == page->notes.end()) page->notes.push_back(note);
  return std::optional<SiteLayers>();
}

RunLife::Layers RunLife::LayersOf(const std::string& surroundings) {
  const bool too_much = surveyor_.read() >= kPageSurroundings && !surveyor_.HasRead(surroundings);
  if (manifest_ == nullptr || surroundings.empty() || too_much) {
    return std::optional<SiteLayers>();
  }
  return surveyor_.HoldToRecord(*manifest_, surroundings);
}

Status RunLife::AddDetails(SiteRunVerdict* verdict, SiteRun* page) {
  const std::string& drill_id = verdict->said.drill_id;
  ASSIGN_OR_RETURN(const VerdictDetails details,
                   browser_.DetailsOf(run_id_, drill_id, kPageDetails));
  verdict->outcomes = OutcomeWords(details.reruns);
  if (details.measures) verdict->measured = MeasuredWords(*details.measures);
  ASSIGN_OR_RETURN(verdict->layers, OrSaid(LayersOf(details.surroundings_sha256), page));
  verdict->signatures = static_cast<int>(details.attestations.size());
  for (const AttestationRecord& one : details.attestations) {
    page->signatures.push_back(
        {.what = fmt::format("{}, drill {}", VerdictLabel(verdict->said.verdict), drill_id),
         .signed_by = {},
         .entered = one.attested,
         .key_id = one.keyid,
         .statement_sha256 = one.statement_sha256});
  }
  return {};
}

Status RunLife::AddVerdicts(const PageMark& mark, SiteRun* page) {
  ASSIGN_OR_RETURN(auto records,
                   browser_.VerdictsOf(run_id_, PageStartOf(mark), kPageVerdicts + 1, true));
  if (const auto other = ReadInstead(mark, records.size(), kPageVerdicts)) {
    return AddVerdicts(*other, page);
  }
  page->pager =
      CutPage(mark, kPageVerdicts, &records, [&](const VerdictRecord& one, const char* side) {
        return SiteRunHref(run_id_, {{"t", MsOf(one.decided)}, {side, one.drill_id}});
      });
  for (const VerdictRecord& record : records) {
    SiteRunVerdict verdict{.said = StoredVerdictOf(record),
                           .outcomes = {},
                           .layers = {},
                           .measured = {},
                           .signatures = 0};
    RETURN_IF_ERROR(AddDetails(&verdict, page));
    page->verdicts.push_back(std::move(verdict));
  }
  ASSIGN_OR_RETURN(auto strip,
                   browser_.VerdictsOf(run_id_, std::nullopt, kStripVerdicts + 1, false));
  page->strip_whole = strip.size() <= kStripVerdicts;
  if (!page->strip_whole) strip.pop_back();
  for (const VerdictRecord& record : strip) page->strip.push_back(StoredVerdictOf(record));
  return {};
}

Status RunLife::AddChanges(SiteRun* page) {
  const std::vector<StoredVerdict>& strip = page->strip;
  std::vector<std::optional<Verdict>> oldest_first;
  for (auto one = strip.rbegin(); one != strip.rend(); ++one) {
    oldest_first.emplace_back(one->verdict);
  }
  std::vector<VerdictChange> changes = FindChanges(oldest_first);
  const std::size_t shown = std::min(changes.size(), kPageChanges);
  page->more_changes = changes.size() - shown;
  for (std::size_t i = 0; i < shown; ++i) {
    const VerdictChange& change = changes[changes.size() - 1 - i];
    SiteChange one{.before = strip[strip.size() - 1 - change.before],
                   .after = strip[strip.size() - 1 - change.after],
                   .layers = {}};
    if (manifest_ != nullptr) {
      ASSIGN_OR_RETURN(const auto before, browser_.SurroundingsOf(run_id_, one.before.drill_id));
      ASSIGN_OR_RETURN(const auto after, browser_.SurroundingsOf(run_id_, one.after.drill_id));
      ASSIGN_OR_RETURN(one.layers, OrSaid(surveyor_.Compare(*manifest_, before, after), page));
    }
    page->changes.push_back(std::move(one));
  }
  for (std::string& note : surveyor_.Notes()) page->notes.push_back(std::move(note));
  return {};
}

}  // namespace rharness
