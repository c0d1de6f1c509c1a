// The page of one run: its record, and all verdicts of drills on it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/drill/history_of.h"
#include "harness/insight/serve/pages.h"
#include "harness/insight/serve/run_life.h"
#include "harness/insight/serve/site_files.h"
#include "harness/judge/facts_of.h"
#include "harness/trust/approval/deleted_files.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

std::string CodeWords(const Code& code) {
  if (code.commit.empty()) return Counted(code.files.size(), "file") + ", by their SHA-256";
  return fmt::format("{} at {}{}", code.repository, code.commit,
                     code.dirty ? ", with local changes" : "");
}

std::string ImageWords(const Image& image) {
  if (image.kind == ImageKind::kHost) return "none: it ran on the host";
  std::string text = image.registry.empty() ? "" : image.registry + "/";
  text += image.repository + image.location;
  if (!image.tag.empty()) text += ":" + image.tag;
  return text + (image.digest.empty() ? "" : "@" + image.digest);
}

void AddRecord(const Manifest& manifest, SiteRun* page) {
  const auto tell = [&](std::string name, std::string value) {
    if (!value.empty()) page->about.emplace_back(std::move(name), std::move(value));
  };
  tell(kCommandFact, fmt::format("{}", fmt::join(manifest.command, " ")));
  tell("Code", CodeWords(manifest.code));
  tell("Image", ImageWords(manifest.image));
  page->record_notes = manifest.notes;
  for (Fact& fact : Unbundled(FactsOf(manifest))) {
    if (fact.kind == FactKind::kComplete || fact.kind == FactKind::kLineage) continue;
    page->layers[static_cast<std::size_t>(fact.layer)].push_back(std::move(fact));
  }
  for (const Metric& metric : manifest.metrics) {
    std::string asked = metric.primary ? "primary" : "told";
    if (IsRanked(metric.direction)) {
      asked += fmt::format(", {} is better", MetricDirectionName(metric.direction));
    }
    if (metric.margin) asked += ", margin " + FormatNumber(*metric.margin);
    if (!metric.evaluated_on.empty()) asked += ", on " + metric.evaluated_on;
    std::string value = FormatNumber(metric.value);
    if (!metric.unit.empty() && metric.unit != "1") value += " " + metric.unit;
    page->metrics.push_back({metric.name, std::move(value), std::move(asked)});
  }
  for (const Artifact& artifact : manifest.artifacts) {
    page->artifacts.emplace_back(
        fmt::format("{}: {}", artifact.role, artifact.path),
        fmt::format("{}, {}", artifact.sha256, FormatBytes(artifact.size_bytes)));
  }
}

// Adds to each file of the record that two people had deleted this fact and their names.
Status AddDeletions(const PageInputs& inputs, const std::string& run_id, SiteRun* page) {
  ASSIGN_OR_RETURN(const auto deleted,
                   DeletedFilesOf(run_id, nullptr, inputs.now, &inputs.browser.store()));
  for (const DeletedFile& one : deleted) {
    bool told = false;
    for (auto& [name, value] : page->artifacts) {
      if (one.file.sha256.empty() || value.find(one.file.sha256) == value.npos) continue;
      value += "; " + DeletedWords(one);
      told = true;
    }
    if (!told || !one.doubt.empty()) {
      page->notes.push_back(fmt::format("{} {}: {}.", one.file.role.empty() ? "a" : one.file.role,
                                        one.file.path.empty() ? "file" : one.file.path,
                                        DeletedWords(one)));
    }
  }
  return {};
}

// `last`: its last conclusive verdict, `doubt`: of its retirement.
void AddEntry(const HistoryEntry& entry, const std::optional<VerdictRecord>& last,
              const std::string& doubt, SiteRun* page) {
  const auto tell = [&](std::string name, std::string value) {
    page->about.emplace_back(std::move(name), std::move(value));
  };
  tell("Recorded", fmt::format("{}, {}", FormatMinute(entry.started),
                               FormatDuration(Seconds(entry.duration_seconds))));
  tell("Added", FormatMinute(entry.added));
  tell("Declared", entry.declared);
  tell("Last conclusive verdict",
       last ? fmt::format("{}, {} (drill {})", VerdictLabel(last->verdict),
                          FormatMinute(last->decided), last->drill_id)
            : "none");
  tell("Last compared", entry.verified ? FormatMinute(*entry.verified) : "never");
  if (entry.rebuild) tell("What it needs", std::string(PartStateName(*entry.rebuild)));
  if (!doubt.empty()) {
    tell(entry.retired ? "Retired" : "To be retired", "Doubtful: " + doubt);
  } else if (entry.retired) {
    tell("Retired", RetiredInWords(*entry.retired, RetirementOfEntry(entry)));
  }
}

Status AddProperties(HistoryStore* store, const std::string& run_id, SiteRun* page) {
  ASSIGN_OR_RETURN(const auto verdicts, store->PropertyVerdicts(run_id));
  std::map<std::string, std::string> last;
  for (const PropertyRecord& one : verdicts) {
    last[one.property] = fmt::format("{}, {}: {} (drill {})", PropertyStateName(one.state),
                                     FormatMinute(one.decided), one.reason, one.drill_id);
  }
  page->properties.assign(last.begin(), last.end());
  return {};
}

}  // namespace

Result<SiteRun> BuildRun(const PageInputs& inputs, const std::string& run_id,
                         const PageMark& mark) {
  ASSIGN_OR_RETURN(const auto row, inputs.browser.FindRun(run_id));
  if (!row) return NotFound("the history has no such run");
  SiteRun page{.run = SiteRowOf(*row)};
  HistoryStore& store = inputs.browser.store();
  ASSIGN_OR_RETURN(const HistoryEntry entry, store.Find(run_id));
  ASSIGN_OR_RETURN(const std::string doubt, RetirementDoubt(&store, run_id, inputs.now));
  ASSIGN_OR_RETURN(const auto last, inputs.browser.LastConclusiveOf(run_id));
  AddEntry(entry, last, doubt, &page);
  const Result<Manifest> manifest = store.Get(run_id);
  if (manifest.ok()) {
    AddRecord(*manifest, &page);
  } else {
    page.notes.push_back("Its manifest cannot be shown: " + manifest.error().message + ".");
  }
  RunLife life(&inputs.browser, run_id, manifest.ok() ? &*manifest : nullptr);
  RETURN_IF_ERROR(life.AddVerdicts(mark, &page));
  RETURN_IF_ERROR(life.AddChanges(&page));
  RETURN_IF_ERROR(AddRetirementSignatures(&store, run_id, doubt, &page));
  if (inputs.counted.files != nullptr && manifest.ok()) {
    page.answers = AnswersFor(*manifest, *inputs.counted.files, inputs.now);
  }
  RETURN_IF_ERROR(AddProperties(&store, run_id, &page));
  RETURN_IF_ERROR(AddDeletions(inputs, run_id, &page));
  return page;
}

}  // namespace rharness
