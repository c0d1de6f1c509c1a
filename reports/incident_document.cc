// An incident as a document: the postmortem's five answers, their sources, and the bundle's files.
#include <fmt/format.h>

#include <algorithm>

#include "reports/history_summary.h"
#include "reports/incident_report.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

using As = DocumentCell::As;

// Green only if nothing is wrong: even with a proven rollback the run went bad.
Verdict ToneOf(const IncidentReport& report) {
  const bool good = report.run.last && Reproduced(report.run.last->verdict);
  if (report.exit_code == 0) return good ? Verdict::kIdentical : Verdict::kInfra;
  if (report.exit_code == 1 || report.exit_code == 5) return Verdict::kDrifted;
  return report.exit_code == 4 ? Verdict::kFailed : Verdict::kInconclusive;
}

Verdict ToneOf(FileState state) {
  if (state == FileState::kAsRecorded) return Verdict::kIdentical;
  return state == FileState::kChanged ? Verdict::kDrifted : Verdict::kInfra;
}

Verdict ToneOf(SignatureState state) {
  if (state == SignatureState::kVerified) return Verdict::kIdentical;
  return state == SignatureState::kRefused ? Verdict::kDrifted : Verdict::kInfra;
}

Verdict ToneOf(RollbackState state) {
  if (state == RollbackState::kProven) return Verdict::kIdentical;
  if (state == RollbackState::kRefuted) return Verdict::kDrifted;
  return state == RollbackState::kFailed ? Verdict::kFailed : Verdict::kInfra;
}

// A file or a signature: what it is, its role, its state, what was seen.
struct FileWords {
  std::string file;
  std::string role;
  Verdict tone = Verdict::kInfra;
  std::string state;
  std::string seen;
};

std::vector<FileWords> FilesOf(const IncidentReport& report) {
  std::vector<FileWords> all;
  for (const IncidentFile& one : report.files) {
    all.push_back({one.path, one.role, ToneOf(one.state),
                   SpacedName(NameIn(kFileStateNames, one.state)), one.words});
  }
  for (const IncidentSignature& one : report.signatures) {
    all.push_back({one.file, "signatures", ToneOf(one.state),
                   SpacedName(NameIn(kSignatureStateNames, one.state)), one.words});
  }
  return all;
}

DocumentSection AnswerSection(const IncidentAnswer& answer) {
  DocumentSection section{.title = answer.question};
  for (const IncidentFact& fact : answer.facts) {
    section.items.push_back(fmt::format("{} ({})", fact.text, fact.source));
  }
  if (!answer.not_known.empty()) section.items.push_back("Not known: " + answer.not_known);
  return section;
}

DocumentCell VerdictCell(const std::optional<Verdict>& verdict) {
  if (!verdict) return "never drilled";
  return {fmt::format("{} {}", VerdictSign(*verdict), VerdictLabel(*verdict)), As::kBadge};
}

DocumentRow RowOf(std::string_view which, const IncidentRun& run) {
  DocumentRow row{
      .tone = run.last ? run.last->verdict : Verdict::kInfra,
      .cells = {
          std::string(which),
          {run.run_id, As::kCode},
          FormatMinute(run.started),
          VerdictCell(run.last ? std::optional(run.last->verdict) : std::nullopt),
          run.last ? FormatMinute(run.last->decided) : "",
          run.last && !run.last->reasons.empty() ? ReasonWords(run.last->reasons.front()) : ""}};
  return row;
}

DocumentSection RunsSection(const IncidentReport& report) {
  DocumentSection section{
      .title = "The two runs",
      .columns = {{"Which"}, {"Run"}, {"Recorded"}, {"Last verdict"}, {"Decided"}, {"Why"}}};
  section.rows.push_back(RowOf("The run", report.run));
  if (report.good) section.rows.push_back(RowOf(GoodWords(report), *report.good));
  return section;
}

DocumentSection FileSection(const IncidentReport& report) {
  DocumentSection section{
      .title = report.named ? "Files of the run that --good names" : "Files of the last good run",
      .columns = {{"File"}, {"Role"}, {"State"}, {"Seen"}}};
  for (const FileWords& one : FilesOf(report)) {
    section.rows.push_back(
        {.tone = one.tone,
         .cells = {{one.file, As::kCode}, one.role, {one.state, As::kBadge}, one.seen}});
  }
  return section;
}

DocumentSection LayerSection(const IncidentReport& report) {
  if (!report.good) return {};
  DocumentSection section{
      .title = fmt::format("From {} to this one, by layer", report.good->run_id),
      .columns = {{"What changed"}, {"Layer"}, {"Before"}, {"After"}}};
  const auto value = [](const std::optional<std::string>& one) {
    return DocumentCell(FactWords(one), one ? As::kCode : As::kText);
  };
  for (const LayerComparison& layer : report.layers) {
    section.items.push_back(LayerSentence(layer));
    for (const FactDifference& one : layer.differences) {
      section.rows.push_back({.tone = Verdict::kInconclusive,
                              .cells = {DifferenceWords(one), std::string(LayerName(layer.layer)),
                                        value(one.recorded), value(one.observed)}});
    }
  }
  if (section.rows.empty()) section.words = ChangeWords(true, report.layers).front() + ".";
  return section;
}

DocumentSection CauseSection(const IncidentReport& report) {
  DocumentSection section{.title = "Causes that the comparison names",
                          .columns = {{"Cause"}, {"Layer"}, {"Strength"}, {"To confirm"}}};
  for (const Cause& cause : report.causes) {
    section.rows.push_back({.tone = Verdict::kInconclusive,
                            .cells = {cause.statement, std::string(LayerName(cause.layer)),
                                      std::string(StrengthName(cause.strength)), cause.confirm}});
  }
  return section;
}

DocumentSection CandidateSection(const IncidentReport& report) {
  DocumentSection section{
      .title = "Runs of the family",
      .columns = {{"Run"}, {"Recorded"}, {"Last verdict"}, {"Taken, or why not"}}};
  for (const IncidentCandidate& one : report.candidates) {
    section.rows.push_back(
        {.tone = one.verdict.value_or(Verdict::kInfra),
         .cells = {{one.run_id, As::kCode},
                   FormatMinute(one.started),
                   VerdictCell(one.verdict),
                   one.why_not.empty() ? std::string(GoodWords(report)) : one.why_not}});
  }
  if (report.candidates_left_out > 0) {
    section.words = fmt::format("{} of the family, and {} that this report leaves out.",
                                Counted(report.candidates.size(), "run"),
                                FormatCount(report.candidates_left_out));
  }
  return section;
}

DocumentSection BundleSection(const IncidentReport& report) {
  DocumentSection section{.title = "In this folder", .columns = {{"File"}, {"Is"}}};
  for (const auto& [file, what] : report.bundle) {
    section.rows.push_back({.cells = {{file, As::kText, file}, what}});
  }
  return section;
}

DocumentSection RunbookSection(const IncidentReport& report) {
  DocumentSection section{.title = "Runbook", .columns = {{"Code"}, {"Means"}, {"Met in"}}};
  for (const IncidentPage& page : report.pages) {
    section.rows.push_back(
        {.cells = {
             {page.code, As::kText, report.bundle.empty() ? "" : "runbook/" + page.code + ".html"},
             page.title,
             page.met_in}});
  }
  return section;
}

// What is open or was not kept keeps nobody's pipeline red by itself.
Verdict CaseTone(Verdict tone) { return tone == Verdict::kInfra ? Verdict::kInconclusive : tone; }

std::vector<DocumentSection> CasesOf(const IncidentReport& report) {
  const IncidentRollback& rollback = report.rollback;
  std::vector<DocumentSection> cases = {
      {.title = "rollback",
       .columns = {{"Rollback"}, {"State"}},
       .rows = {{.tone = CaseTone(ToneOf(rollback.state)),
                 .cells = {"the run to go back to reproduces",
                           SpacedName(NameIn(kRollbackStateNames, rollback.state))},
                 .details = {rollback.headline}}}},
      {.title = "files", .columns = {{"File"}, {"State"}}}};
  if (rollback.headline.empty()) cases[0].rows[0].details.clear();
  for (const FileWords& one : FilesOf(report)) {
    cases[1].rows.push_back(
        {.tone = CaseTone(one.tone), .cells = {one.file, one.state}, .details = {one.seen}});
  }
  return cases;
}

}  // namespace

std::string_view GoodWords(const IncidentReport& report) {
  return report.named ? "The run that --good names" : "The last good run";
}

Document DocumentOf(const IncidentReport& report) {
  Document document{
      .name = "incident",
      .about = fmt::format("Incident of {} · family {}", report.run.run_id, report.family),
      .version = report.version,
      .made = report.made,
      .tone = ToneOf(report),
      .headline = report.headline,
      .next = report.next,
      .notes = report.notes,
      .cases = CasesOf(report),
      .exit_code = report.exit_code};
  for (const IncidentAnswer& answer : report.answers) {
    document.sections.push_back(AnswerSection(answer));
  }
  for (DocumentSection& section : std::vector{
           RunsSection(report), FileSection(report), LayerSection(report), CauseSection(report),
           CandidateSection(report), RunbookSection(report), BundleSection(report)}) {
    document.sections.push_back(std::move(section));
  }
  std::erase_if(document.sections, IsEmpty);
  return document;
}

}  // namespace rharness
