// An incident, pass by pass; see incident.h.
#include "harness/insight/incident/incident.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/base/version.h"
#include "harness/drill/drill_folder.h"
#include "harness/drill/history_of.h"
#include "harness/history/store.h"
#include "harness/insight/incident/answers.h"
#include "harness/insight/incident/deleted_of.h"
#include "harness/insight/incident/incident_bundle.h"
#include "harness/insight/incident/incident_settings.h"
#include "harness/insight/incident/next_step.h"
#include "harness/insight/incident/runbook.h"
#include "harness/judge/comparison/compare_all.h"
#include "harness/records/policy/policy.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFamilyDrills = 20;     // that the family's page shows
constexpr std::size_t kMostManifests = 2000;  // of a family, that are searched for uses
constexpr std::size_t kMostPages = 30;
constexpr std::size_t kMostPassed = 10;  // runs with hashed files before the search ends

// What the history keeps of it.
PropertyState RollbackRecordOf(const std::optional<Verdict>& verdict) {
  if (verdict == Verdict::kIdentical) return PropertyState::kHeld;
  if (verdict == Verdict::kEquivalent) return PropertyState::kHeldWithin;
  const bool lost = verdict && StandingOf(*verdict) == Standing::kBad;
  return lost ? PropertyState::kLost : PropertyState::kNotJudged;
}

std::string WhyPassed(const std::string& damage) { return "it is good, but " + damage; }

class Incident {
 public:
  Incident(IncidentOptions options, IncidentGiven given, Clock* clock)
      : options_(std::move(options)), clock_(*clock), work_(options_.out) {
    facts_.given = std::move(given);
  }

  Result<IncidentReport> Plan() {
    RETURN_IF_ERROR(Find());
    facts_.planned = true;
    if (facts_.good && options_.rerun && facts_.nowhere.empty()) {
      ASSIGN_OR_RETURN(const auto plan, PlanDrill(RollbackDrill(), &clock_));
      facts_.planned_reruns = static_cast<int>(plan.reruns.size());
      facts_.planned_seconds = plan.run_seconds;
      notes_.insert(notes_.end(), plan.notes.begin(), plan.notes.end());
    }
    return Told();
  }

  Result<IncidentReport> Run(const DrillHooks& hooks) {
    RETURN_IF_ERROR(RefuseTakenFolder(options_.out, options_.resume));
    RETURN_IF_ERROR(options_.resume ? TakeUp() : RefuseBegunIncident(work_));
    RETURN_IF_ERROR(Find());
    if (!options_.resume) RETURN_IF_ERROR(Begin());
    if (facts_.good && options_.rerun && facts_.nowhere.empty()) {
      RETURN_IF_ERROR(Rerun(hooks));
      if (facts_.rollback && facts_.rollback->interrupted) return Told();
    }
    RETURN_IF_ERROR(Compare());
    IncidentReport report = Told();
    ASSIGN_OR_RETURN(const FamilyHistory family,
                     LoadFamilyHistory(facts_.run.family, kFamilyDrills, store_.get()));
    RETURN_IF_ERROR(
        WriteIncidentBundle({facts_, family, compared_, facts_.rollback ? work_.drill : fs::path()},
                            work_.staging, options_.out, &report));
    return report;
  }

 private:
  Status TakeUp() {
    ASSIGN_OR_RETURN(BegunIncident taken, TakeUpIncident(work_));
    lock_ = std::move(taken.lock);
    begun_ = std::move(taken.settings);
    return TakeSettings(*begun_, &options_, &facts_.given);
  }

  Status Begin() {
    ASSIGN_OR_RETURN(
        lock_, BeginIncident(work_, {.run = options_.run,
                                     .good = facts_.good ? facts_.good->run_id : std::string(),
                                     .passed = facts_.passed,
                                     .named = facts_.named,
                                     .damage = facts_.files.damage,
                                     .tampered = facts_.files.tampered,
                                     .older_tampered = facts_.older_tampered,
                                     .history = options_.drill.history,
                                     .places = options_.drill.places,
                                     .artifacts = options_.files.artifacts,
                                     .signatures = options_.files.signatures,
                                     .trust = options_.files.trust,
                                     .policy = options_.policy,
                                     .rerun = options_.rerun}));
    return {};
  }

  // All data from the history and the files.
  Status Find() {
    RETURN_IF_ERROR(CheckHeldInputs(options_.files));
    ASSIGN_OR_RETURN(store_, HistoryStore::OpenExisting(options_.drill.history));
    ASSIGN_OR_RETURN(const HistoryEntry entry, store_->Find(options_.run));
    ASSIGN_OR_RETURN(facts_.run, store_->Get(options_.run));
    ASSIGN_OR_RETURN(facts_.run_history, LoadRunHistory(options_.run, store_.get()));
    facts_.run_history.history = options_.drill.history;
    ASSIGN_OR_RETURN(auto members, LoadFamilyMembers(entry, store_.get()));
    ASSIGN_OR_RETURN(facts_.found, ChooseLastGood(entry, std::move(members), options_.good));
    facts_.named = !options_.good.empty() || (begun_ && begun_->named);
    facts_.newer_good = NewerGood(facts_.found, entry);
    facts_.rerun = options_.rerun;
    RETURN_IF_ERROR(FindOwner());
    RETURN_IF_ERROR(FindUses());
    if (begun_) {
      facts_.found.chosen.reset();
      facts_.passed = begun_->passed;
      facts_.older_tampered = begun_->older_tampered;
      if (!begun_->good.empty()) RETURN_IF_ERROR(TakeAgain(begun_->good, &facts_.found));
      for (const PassedRun& one : facts_.passed) {
        for (FamilyMember& member : facts_.found.members) {
          if (member.entry.run_id == one.run_id) member.why_not = WhyPassed(one.damage);
        }
      }
    }
    if (!facts_.found.chosen) return {};
    RETURN_IF_ERROR(begun_ || !options_.good.empty() ? HoldChosen() : HoldUntilWhole());
    if (begun_) KeepTampering();
    const std::string& good = facts_.good->run_id;
    ASSIGN_OR_RETURN(facts_.good_history, LoadRunHistory(good, store_.get()));
    facts_.good_history->history = options_.drill.history;
    SeeWhetherToRerun();
    return {};
  }

  // Files restored meanwhile had been tampered with all the same.
  void KeepTampering() {
    if (!begun_->tampered || facts_.files.tampered) return;
    facts_.files.tampered = true;
    facts_.files.damage = begun_->damage + " (so it was when the incident began)";
  }

  // A wrong folder would make a good run look as if it could not be rerun, and the history keeps
  // that.
  void SeeWhetherToRerun() {
    std::error_code error;
    const bool begun = options_.resume && fs::exists(work_.drill / "journal.jsonl", error);
    const bool found = somewhere_;
    if (found || !options_.rerun || begun) return;
    const std::string root = TerminalSafe(options_.drill.places.root.string());
    facts_.nowhere = fmt::format(
        "no checkpoint file of {} was found (looked for at {}): --root is the folder of recorded "
        "paths (now {}), --artifacts the folder of its files",
        facts_.named ? "it" : "the good runs that were looked at", facts_.files.looked, root);
  }

  Status HoldChosen() {
    const std::string& good = facts_.found.members.at(*facts_.found.chosen).entry.run_id;
    ASSIGN_OR_RETURN(facts_.good, store_->Get(good));
    ASSIGN_OR_RETURN(facts_.files,
                     HoldFilesToRecord(*facts_.good, options_.files, clock_.Now(), store_.get()));
    somewhere_ = somewhere_ || facts_.files.looked.empty();
    return TellDeletions(*facts_.good, clock_.Now(), store_.get(), &facts_.files);
  }

  // The newest with intact files; if all are damaged, the newest: a rerun may still work.
  Status HoldUntilWhole() {
    RETURN_IF_ERROR(HoldChosen());
    const LastGood found = facts_.found;
    const std::optional<Manifest> newest = facts_.good;
    const HeldFiles files = facts_.files;
    while (!facts_.files.damage.empty() && facts_.passed.size() < kMostPassed) {
      const PassedRun passed{facts_.good->run_id, facts_.files.damage, facts_.files.tampered};
      if (!PassOver(WhyPassed(passed.damage), &facts_.found)) break;
      facts_.passed.push_back(passed);
      RETURN_IF_ERROR(HoldChosen());
    }
    if (facts_.files.damage.empty() || facts_.passed.empty()) return {};
    std::string note =
        fmt::format("of none of the {} good runs that were looked at the files are whole",
                    facts_.passed.size() + 1);
    facts_.passed.push_back({facts_.good->run_id, facts_.files.damage, facts_.files.tampered});
    for (const PassedRun& one : facts_.passed) {
      if (!one.tampered || one.run_id == newest->run_id) continue;
      facts_.older_tampered = true;
      note += fmt::format("; {}: {}", one.run_id, one.damage);
    }
    notes_.push_back(std::move(note));
    facts_.found = found;
    facts_.good = newest;
    facts_.files = files;
    facts_.passed.clear();
    return {};
  }

  Status FindOwner() {
    facts_.policy = !options_.policy.empty();
    if (!facts_.policy) return {};
    ASSIGN_OR_RETURN(const Policy policy, LoadPolicy(options_.policy));
    const Objective* objective = policy.FindObjective(facts_.run.family);
    if (objective != nullptr) facts_.owner = objective->owner;
    return {};
  }

  // Runs of the family with a file of this run as input.
  Status FindUses() {
    if (facts_.found.members.size() > kMostManifests) {
      notes_.push_back(fmt::format(
          "the family has {} other runs; which of them were given a file of {} was not looked at",
          facts_.found.members.size(), options_.run));
      return {};
    }
    std::set<std::string> written;
    for (const Artifact& artifact : facts_.run.artifacts) {
      if (IsCheckpoint(artifact) && !artifact.sha256.empty()) written.insert(artifact.sha256);
    }
    if (written.empty()) return {};
    ASSIGN_OR_RETURN(const auto family, store_->LoadFamily(facts_.run.family));
    for (const Manifest& one : family) {
      const bool uses = std::ranges::any_of(
          one.data, [&](const DataItem& item) { return written.contains(item.sha256); });
      if (uses && one.run_id != facts_.run.run_id) facts_.uses.push_back(one.run_id);
    }
    return {};
  }

  DrillOptions RollbackDrill() const {
    DrillOptions drill = options_.drill;
    drill.out = work_.drill;
    drill.selection = fmt::format("run_id = '{}'", facts_.good->run_id);
    std::error_code error;
    drill.resume = options_.resume && fs::exists(work_.drill / "journal.jsonl", error);
    if (drill.resume) drill.selection.clear();
    return drill;
  }

  Status Rerun(const DrillHooks& hooks) {
    auto drilled = RunDrill(RollbackDrill(), hooks, &clock_);
    if (!drilled.ok()) return NotBegun(drilled.error());
    facts_.rollback = std::move(*drilled);
    if (facts_.rollback->interrupted) return {};
    ASSIGN_OR_RETURN(const HistoryEntry good, store_->Find(facts_.good->run_id));
    RETURN_IF_ERROR(RefuseRetired(good));
    ASSIGN_OR_RETURN(facts_.good_history, LoadRunHistory(facts_.good->run_id, store_.get()));
    facts_.good_history->history = options_.drill.history;
    const IncidentReport told = BuildIncidentReport(facts_);
    const PropertyRecord record{.drill_id = facts_.rollback->drill_id,
                                .run_id = facts_.good->run_id,
                                .property = kRollbackProperty,
                                .state = RollbackRecordOf(told.rollback.verdict),
                                .decided = facts_.rollback->ended,
                                .reason = told.rollback.headline};
    return store_->AddPropertyVerdicts({record});
  }

  // An obstacle to the drill is an answer, too; a drill that has begun continues with --resume.
  Status NotBegun(const Error& error) {
    std::error_code ignored;
    const bool begun = fs::exists(work_.drill / "journal.jsonl", ignored);
    if (begun || error.code == ErrorCode::kIntegrity) return error;
    facts_.not_rerun = error.message;
    return {};
  }

  // As `rharness compare` does. What is kept of a checkpoint that is not the recorded one is not
  // looked at: its record alone speaks then.
  Status Compare() {
    if (!facts_.good) return {};
    auto set = CompareRecords(facts_.files.tampered);
    if (!set.ok() && set.error().code == ErrorCode::kIntegrity && !facts_.files.tampered) {
      notes_.push_back(
          fmt::format("the records are compared without their files: {}", set.error().message));
      set = CompareRecords(true);
    }
    if (!set.ok()) return set.error();
    set->made = clock_.Now();
    compared_ = std::move(*set);
    facts_.comparison = compared_->comparisons.front();
    return {};
  }

  Result<ComparisonSet> CompareRecords(bool without_files) {
    const fs::path folder = work_.folder / "records";
    const std::pair<const char*, const Manifest*> sides[] = {{"good.json", &*facts_.good},
                                                             {"run.json", &facts_.run}};
    ComparisonRequest request;
    for (const auto& [name, recorded] : sides) {
      Manifest manifest = *recorded;
      for (Artifact& artifact : manifest.artifacts) {
        if (without_files) artifact.location.clear();
      }
      RETURN_IF_ERROR(WriteJsonFile(folder / name, rharness::ToJson(manifest)));
    }
    request.a = folder / sides[0].first;
    request.b = folder / sides[1].first;
    request.subject.root = options_.drill.places.root;
    request.load = [](const fs::path& path, const SubjectOptions& subject_options) {
      auto subject = LoadSubject(path, subject_options);
      if (subject.ok()) subject->side.path = "manifests/" + path.filename().string();
      return subject;
    };
    ASSIGN_OR_RETURN(ComparisonSet set, CompareAll(std::move(request)));
    set.title = fmt::format("{} against {}", facts_.good->run_id, facts_.run.run_id);
    return set;
  }

  IncidentReport Told() {
    IncidentReport report = BuildIncidentReport(facts_);
    report.version = kVersion;
    report.made = clock_.Now();
    report.history = options_.drill.history;
    report.notes = notes_;
    AddPages(&report);
    return report;
  }

  // The pages of every code that was met, each once, the run's own first.
  void AddPages(IncidentReport* report) const {
    const auto add = [report](const std::string& code, const std::string& met_in) {
      const RunbookPage* page = FindRunbookPage(code);
      const bool there = std::ranges::any_of(
          report->pages, [&](const IncidentPage& one) { return one.code == code; });
      if (page == nullptr || there || report->pages.size() == kMostPages) return;
      report->pages.push_back({code, RunbookTitle(*page), met_in});
    };
    if (const StoredVerdict* telling = TellingVerdict(facts_); telling != nullptr) {
      for (const Reason& reason : telling->reasons) {
        add(reason.code, "a verdict of " + report->run.run_id);
      }
    }
    if (facts_.rollback) {
      for (const ReportRun& run : facts_.rollback->runs) {
        for (const Finding& one : run.findings) add(one.code, "the rollback drill");
      }
    }
    if (!facts_.comparison) return;
    for (const Finding& one : facts_.comparison->findings) add(one.code, "the comparison");
    for (const Cause& cause : report->causes) add(cause.code, "the comparison's causes");
  }

  IncidentOptions options_;
  Clock& clock_;
  const WorkPlaces work_;
  std::unique_ptr<HistoryStore> store_;
  IncidentFacts facts_;
  std::optional<ComparisonSet> compared_;
  std::vector<std::string> notes_;
  bool somewhere_ = false;                 // a checked run has a file, or its record names no place
  std::optional<FolderLock> lock_;         // on the folder that it works in
  std::optional<IncidentSettings> begun_;  // by an incident that goes on
};

}  // namespace

Result<IncidentReport> PlanIncident(const IncidentOptions& given, Clock* clock) {
  ASSIGN_OR_RETURN(IncidentOptions options, WithIncidentPaths(given));
  IncidentGiven told = GivenOf(given, options);
  return Incident(std::move(options), std::move(told), clock).Plan();
}

Result<IncidentReport> RunIncident(const IncidentOptions& given, const DrillHooks& hooks,
                                   Clock* clock) {
  ASSIGN_OR_RETURN(IncidentOptions options, WithIncidentPaths(given));
  IncidentGiven told = GivenOf(given, options);
  return Incident(std::move(options), std::move(told), clock).Run(hooks);
}

}  // namespace rharness
