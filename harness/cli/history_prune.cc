// rharness history prune: what rules would delete, and deleting it once two people signed for the
// list.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "harness/cli/apply_list.h"
#include "harness/cli/approved_list.h"
#include "harness/cli/deletion_audit.h"
#include "harness/cli/history_verbs.h"
#include "harness/cli/open_signer.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/verb.h"
#include "harness/execution/rerun/places.h"
#include "harness/history/location.h"
#include "harness/history/untouched.h"
#include "harness/trust/approval/deletion_approval.h"
#include "harness/trust/retention/retention_plan.h"
#include "harness/trust/retention/standing_plan.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct RetentionArguments {
  std::string history;
  std::string policy;
  std::string root;
  std::vector<std::string> maps;
  std::string list;    // where the list is written
  std::string digest;  // of a list that was asked for
  std::string reason;
  double days = 7.0;
  SignerOptions signing;
  DeletionAudit audit;
  bool dry_run = false;
  bool json = false;
};

Result<RetentionInputs> InputsOf(const RetentionArguments& arguments) {
  RetentionInputs inputs{.root = arguments.root,
                         .history = arguments.history,
                         .policy = arguments.policy,
                         .never = {arguments.policy, arguments.policy + ".intoto.jsonl"}};
  for (const std::string& file : FilesOfHistory(arguments.history)) inputs.never.insert(file);
  for (const std::string& file :
       {arguments.signing.trust, arguments.signing.key, arguments.signing.passphrase_file}) {
    if (!file.empty()) inputs.never.insert(file);
  }
  for (const std::string& text : arguments.maps) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      return InvalidInput(fmt::format("expected FROM=TO, found '{}'", text), "--map");
    }
    inputs.maps.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return inputs;
}

// Of a map with a slip nothing is kept, and a needed file would go.
Status RequireUsedMaps(const RetentionInputs& inputs, HistoryStore* store) {
  const Places places{.root = inputs.root, .maps = inputs.maps, .cache = {}};
  MapUse use(places);
  ASSIGN_OR_RETURN(const auto entries, store->List(true));
  for (const HistoryEntry& entry : entries) {
    if (use.AllUsed()) return {};
    ASSIGN_OR_RETURN(const Manifest manifest, store->Get(entry.run_id));
    use.See(manifest);
  }
  return use.AllUsed() ? Status() : UnusedMapsError(use.Unused(), "no run of the history");
}

Result<RetentionInputs> CheckedInputs(const RetentionArguments& arguments, HistoryStore* store) {
  ASSIGN_OR_RETURN(RetentionInputs inputs, InputsOf(arguments));
  if (!inputs.maps.empty()) RETURN_IF_ERROR(RequireUsedMaps(inputs, store));
  return inputs;
}

Result<RetentionReport> PlanNow(const RetentionArguments& arguments, HistoryStore* store) {
  ASSIGN_OR_RETURN(const RetentionInputs inputs, CheckedInputs(arguments, store));
  return PlanRetention(inputs, SystemClock().Now(), store);
}

// What became of a list by its signatures, where a trust policy says whose count.
Result<std::optional<DeletionTold>> ToldOf(const std::string& digest, const std::string& trust_file,
                                           HistoryStore* store) {
  if (trust_file.empty()) return std::optional<DeletionTold>();
  ASSIGN_OR_RETURN(const TrustPolicy trust, LoadTrustPolicy(trust_file));
  ASSIGN_OR_RETURN(const auto all, ListDeletions(&trust, SystemClock().Now(), store));
  const auto told = std::ranges::find(all, digest, &DeletionTold::list_sha256);
  return told == all.end() ? std::nullopt : std::optional(*told);
}

Result<int> ShowPlan(const RetentionArguments& arguments) {
  const std::pair<const std::string*, const char*> needed[] = {{&arguments.history, "--history"},
                                                               {&arguments.policy, "--policy"},
                                                               {&arguments.root, "--root"}};
  for (const auto& [value, name] : needed) {
    if (value->empty()) return InvalidInput(fmt::format("{} is required", name));
  }
  std::vector<std::string> inputs = FilesOfHistory(arguments.history);
  inputs.push_back(arguments.policy);
  RETURN_IF_ERROR(CheckOutputs({arguments.list}, inputs, arguments.json));
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(arguments.history));
  ASSIGN_OR_RETURN(const RetentionReport report, PlanNow(arguments, store.get()));
  RETURN_IF_ERROR(WriteFiles({{arguments.list, [&] { return TextOf(report.list); }}}));
  if (arguments.json) return PrintJson(ToJson(report));
  if (Globals().quiet) return kExitOk;
  ASSIGN_OR_RETURN(const auto told,
                   ToldOf(DigestOf(report.list), arguments.signing.trust, store.get()));
  return Print(WriteTerminal(report, TextColumns(STDOUT_FILENO), told ? &*told : nullptr));
}

Result<int> TellDeletion(const RetentionArguments& arguments, const DeletionTold& told) {
  if (arguments.json) return PrintJson(ToJson(std::vector<DeletionTold>{told}));
  return Globals().quiet ? kExitOk : Print(LineOf(told) + "\n");
}

Result<int> RequestList(const RetentionArguments& arguments) {
  ASSIGN_OR_RETURN(const OpenedSigner opened, OpenSigner(arguments.signing));
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(arguments.history));
  ASSIGN_OR_RETURN(const RetentionReport report, PlanNow(arguments, store.get()));
  const WallTime now = SystemClock().Now();
  const auto valid = std::chrono::duration<double, std::ratio<86'400>>(arguments.days);
  ASSIGN_OR_RETURN(
      const DeletionTold told,
      RequestDeletion(report.list, arguments.reason,
                      now + std::chrono::duration_cast<std::chrono::milliseconds>(valid),
                      {opened.signer.get(), &opened.trust, now}, store.get()));
  return TellDeletion(arguments, told);
}

Result<int> ApproveList(const RetentionArguments& arguments) {
  ASSIGN_OR_RETURN(const OpenedSigner opened, OpenSigner(arguments.signing));
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(arguments.history));
  ASSIGN_OR_RETURN(const RetentionReport report, PlanNow(arguments, store.get()));
  const WallTime now = SystemClock().Now();
  const std::string digest = DigestOf(report.list);
  const auto told = ApproveDeletion(digest, {opened.signer.get(), &opened.trust, now}, store.get());
  if (told.ok()) return TellDeletion(arguments, *told);
  if (told.error().code != ErrorCode::kNotFound) return told.error();
  ASSIGN_OR_RETURN(const auto all, ListDeletions(nullptr, now, store.get()));
  return NobodyAsked(digest, all, told.error());
}

Result<int> WithdrawList(const RetentionArguments& arguments) {
  ASSIGN_OR_RETURN(const OpenedSigner opened, OpenSigner(arguments.signing));
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(arguments.history));
  ASSIGN_OR_RETURN(
      const DeletionTold told,
      WithdrawDeletion(arguments.digest, arguments.reason,
                       {opened.signer.get(), &opened.trust, SystemClock().Now()}, store.get()));
  return TellDeletion(arguments, told);
}

// Tells what came of it, and what stays; what was deleted is entered into the log either way.
Result<int> TellApplied(const RetentionArguments& arguments, const DeletionAudit& audit,
                        const Applied& applied) {
  for (const std::string& path : applied.done.missing) {
    LogWarning(path + " was not there any more");
  }
  ASSIGN_OR_RETURN(const int printed, TellDeletion(arguments, applied.told));
  const Status entered = EnterDeletion(audit);
  const Status gone = RequireAllGone(applied);
  if (gone.ok()) return entered.ok() ? Result<int>(printed) : entered.error();
  if (!entered.ok()) LogError(entered.error().ToString());
  return gone.error();
}

Result<int> ApplyList(const RetentionArguments& arguments) {
  if (arguments.dry_run) return ShowPlan(arguments);
  ASSIGN_OR_RETURN(const TrustPolicy trust, LoadTrustPolicy(arguments.signing.trust));
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(arguments.history));
  DeletionAudit audit = arguments.audit;
  audit.log.policy = arguments.policy;
  audit.log.history = arguments.history;
  RETURN_IF_ERROR(HoldDeletionToLog(audit));
  ASSIGN_OR_RETURN(RetentionInputs inputs, CheckedInputs(arguments, store.get()));
  ASSIGN_OR_RETURN(StandingPlan plan,
                   StandingPlan::Make(std::move(inputs), &SystemClock(), store.get()));
  const DeletionList planned = plan.report().list;
  ASSIGN_OR_RETURN(const auto already, DoneAlready(planned, trust, store.get()));
  if (already) {
    LogInfo("nothing is to be deleted; the last list " + CarriedOutWords(*already));
    RETURN_IF_ERROR(EnterDeletion(audit));
    return TellDeletion(arguments, *already);
  }
  ASSIGN_OR_RETURN(const auto begun, BegunLists(planned, trust, store.get()));
  std::optional<Error> held;
  for (const ApprovedList& one : begun) {
    LogInfo("goes on with the list " + one.told.list_sha256);
    ASSIGN_OR_RETURN(const Applied applied, Apply(one, trust, &plan, store.get()));
    if (applied.done.HadAnyTurn() || applied.done.held.empty()) {
      return TellApplied(arguments, audit, applied);
    }
    // All that is left of it is kept, which keeps nothing else.
    held = RequireAllGone(applied).error();
    LogWarning(held->ToString());
  }
  const auto approved = PlannedList(planned, trust, store.get());
  if (!approved.ok()) {
    return held && approved.error().code == ErrorCode::kNotFound ? *held : approved.error();
  }
  ASSIGN_OR_RETURN(const Applied applied, Apply(*approved, trust, &plan, store.get()));
  return TellApplied(arguments, audit, applied);
}

Result<int> ListLists(const RetentionArguments& arguments) {
  TrustPolicy trust;
  const bool trusted = !arguments.signing.trust.empty();
  if (trusted) {
    ASSIGN_OR_RETURN(trust, LoadTrustPolicy(arguments.signing.trust));
  }
  ASSIGN_OR_RETURN(const auto store, OpenUntouchedHistory(arguments.history));
  ASSIGN_OR_RETURN(const auto all,
                   ListDeletions(trusted ? &trust : nullptr, SystemClock().Now(), store.get()));
  int printed = kExitOk;
  if (arguments.json) {
    printed = PrintJson(ToJson(all));
  } else if (!Globals().quiet) {
    if (all.empty()) LogInfo("nobody asked for a deletion");
    printed = Print(WriteTerminal(all));
  }
  const auto doubtful = std::ranges::find(all, DeletionState::kDoubtful, &DeletionTold::state);
  if (printed != kExitOk || doubtful == all.end()) return printed;
  return IntegrityError("not as it was signed: " + LineOf(*doubtful));
}

constexpr char kRetention[] =
    R"text(The policy has the rules (rharness help policy): for each family, how many runs keep their files and for how many days. The first matching rule holds; a family without a rule keeps everything. Some runs keep their files whatever a rule says: a run that a hold names, the last good run of a family, a run with an open question (its last verdict is drifted, failed, inconclusive, not comparable or infra), a run in a drill, and a run that depends on a waived probe. So does every file that a run needs for a rerun, as data, code, image or kept diff, unless that run is retired.

Only artifacts below --root are deleted, and only those that a manifest of the history names with their SHA-256: no manifest, no drill's folder, no history, nothing behind a symbolic link.

Two people sign the SHA-256 of the list of files (predicate urn:rharness:deletion:v1). request and approve each make the list again and sign no other; apply refuses a list that has changed. Before each file, apply checks whether the list was withdrawn, and whether a rule, a hold, a drill or another run keeps the file now: such a file stays, and the others go. apply hashes a file once more before it deletes it, and the history records each file before and after. After a crash, apply continues.)text";

using RetentionStep = Result<int> (*)(const RetentionArguments&);

// `required`: not where there are verbs below, which have these options of their own.
void AddPlanOptions(Command* verb, RetentionArguments* arguments, bool required) {
  Option& history =
      verb->Add(
              "--history", &arguments->history,
              "The history: sqlite:PATH, the path of its file, or postgresql://HOST:PORT/DATABASE")
          .File("URL")
          .Env("RHARNESS_HISTORY");
  Option& policy = verb->Add("--policy", &arguments->policy,
                             "YAML with rules of retention; see rharness help policy")
                       .File()
                       .Env("RHARNESS_POLICY");
  Option& root = verb->Add("--root", &arguments->root,
                           "Where relative locations of manifests lie; nothing else is deleted")
                     .Folder();
  verb->Add("--map", &arguments->maps,
            "FROM=TO: a recorded location lies here at TO, and stays where a run needs it; "
            "repeatable; those of the policy's profiles hold, too")
      .OneEach();
  if (!required) return;
  history.Required();
  policy.Required();
  root.Required();
}

void FinishVerb(Command* verb, const std::shared_ptr<RetentionArguments>& arguments,
                RetentionStep step) {
  verb->ExitCode(kExitInfrastructure, "the history or a file could not be read or written");
  verb->Do([arguments, step] {
    const auto code = step(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

// `plans`: it makes the list anew.
Command& AddRetentionStep(Command& root, const std::shared_ptr<RetentionArguments>& arguments,
                          const char* name, const char* summary, RetentionStep step, bool plans) {
  Command& verb = root.AddVerb(name, summary);
  if (plans) {
    AddPlanOptions(&verb, arguments.get(), true);
  } else {
    verb.Add("--history", &arguments->history,
             "The history: sqlite:PATH, the path of its file, or postgresql://HOST:PORT/DATABASE")
        .File("URL")
        .Env("RHARNESS_HISTORY")
        .Required();
  }
  verb.Add("--json", &arguments->json, "As JSON (rharness.deletions/v1)");
  verb.ExitCode(kExitUsage, "there is no such request, or it cannot be signed or carried out now");
  verb.ExitCode(kExitIntegrity, "a key that may not sign it, or what was signed is something else");
  FinishVerb(&verb, arguments, step);
  return verb;
}

void AddListSigning(Command& prune, const std::shared_ptr<RetentionArguments>& arguments) {
  Command& request = AddRetentionStep(prune, arguments, "request",
                                      "Ask that exactly this list be deleted", RequestList, true);
  AddSignerOptions(&request, &arguments->signing, true);
  request.Add("--reason", &arguments->reason, "Why, for who approves").Required();
  request.Add("--valid", &arguments->days, "How long it can be approved and carried out")
      .Duration(TimeUnit::kDays)
      .Between(0.001, 366)
      .ShowDefault();
  request.Example(
      "rharness history prune request --history runs.db --policy policy.yaml --root /srv/runs "
      "--reason "
      "'disk is full' --key ada.pem --trust trust.yaml");

  Command& approve =
      AddRetentionStep(prune, arguments, "approve", "Approve it, as another person than who asked",
                       ApproveList, true);
  AddSignerOptions(&approve, &arguments->signing, true);
  approve.Example(
      "rharness history prune approve --history runs.db --policy policy.yaml --root /srv/runs "
      "--key "
      "bob.pem --trust trust.yaml");

  Command& withdraw =
      AddRetentionStep(prune, arguments, "withdraw",
                       "Take back or reject what is not carried out yet", WithdrawList, false);
  withdraw.Add("list", &arguments->digest, "The SHA-256 of the list").Required();
  AddSignerOptions(&withdraw, &arguments->signing, true);
  withdraw.Add("--reason", &arguments->reason, "Why, for those who ask later").Required();
  withdraw.Example(
      "rharness history prune withdraw SHA256 --history runs.db --reason 'still needed' --key "
      "bob.pem "
      "--trust trust.yaml");
}

}  // namespace

void AddHistoryPrune(Command& history) {
  auto arguments = std::make_shared<RetentionArguments>();
  Command& prune = history.AddVerb(
      "prune", "Show what retention rules would delete; delete it by two signatures");
  AddPlanOptions(&prune, arguments.get(), false);
  prune.Add("--json", &arguments->json, "As JSON (rharness.retention/v1)");
  prune.Add("--dry-run", &arguments->dry_run,
            "The default; with apply, too, nothing is deleted then");
  prune.Add("--list", &arguments->list, "Write the list that two people sign for; - is stdout")
      .File();
  prune.Note(kRetention);
  prune.ExitCode(kExitOk, "the list was made; it may be empty");
  prune.ExitCode(kExitUsage, "the policy has no rules, or cannot be read");
  FinishVerb(&prune, arguments, ShowPlan);
  prune.Example(
      "rharness history prune --history runs.db --policy policy.yaml --root /srv/runs --dry-run");
  AddListSigning(prune, arguments);

  Command& apply =
      AddRetentionStep(prune, arguments, "apply",
                       "Delete what two people signed for, and nothing else", ApplyList, true);
  apply.Add("--trust", &arguments->signing.trust, "The trust policy: whose signatures count")
      .File()
      .Required();
  AddDeletionAudit(&apply, &arguments->audit);
  apply.Note(
      "Only the history records that an approval was used, unless --audit names its log: "
      "whoever removes those rows can have the same list deleted again until the approval "
      "expires. The log is first compared with the history (rharness audit verify) and with a "
      "head that somebody kept (--head). Without such a head, a log that was made anew is not "
      "recognized.");
  apply.ExitCode(kExitOk, "every file of the list is gone, now or since before");
  apply.Example(
      "rharness history prune apply --history runs.db --policy policy.yaml --root /srv/runs "
      "--trust "
      "trust.yaml");
  apply.Example(
      "rharness history prune apply --history runs.db --policy policy.yaml --root /srv/runs "
      "--trust "
      "trust.yaml --audit runs.db.audit --key lab.pem --head kept.json");

  Command& list = AddRetentionStep(
      prune, arguments, "list", "List requests, approvals and what was deleted", ListLists, false);
  list.Add("--trust", &arguments->signing.trust, "The trust policy: signatures are verified")
      .File();
  list.Example("rharness history prune list --history runs.db --trust trust.yaml");
}

}  // namespace rharness
