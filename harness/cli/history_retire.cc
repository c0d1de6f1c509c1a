// rharness history retire: a run is taken out of drills, by one person, or when two people signed
// for it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/history_verbs.h"
#include "harness/cli/open_signer.h"
#include "harness/cli/verb.h"
#include "harness/history/untouched.h"
#include "harness/records/policy/policy.h"
#include "harness/trust/approval/retirement_approval.h"

namespace rharness {
namespace {

constexpr char kRetiring[] =
    R"text(With RUN, one person retires the run: nobody signs, and reports call the retirement unsigned. The verbs below take two people.

One person requests it and a second person approves: both sign the same statement (in-toto, DSSE, predicate urn:rharness:retirement:v1, share/rharness/schemas/retirement.schema.json), which names the run, the SHA-256 of its manifest, the reason, the time of the request and the last time for an approval. The run stays in drills until the second signature is there. All keys of one owner count as one person. The trust policy names the keys that may sign, such as

  rules:
    - {predicates: ["urn:rharness:retirement:*", "urn:rharness:withdrawal:*"], keys: [ada, bob]}

and may require more than two by its threshold. The history keeps each signature and changes none.

A single person is refused if the policy (--policy, or RHARNESS_POLICY for every call) has

  approvals: {retirement: required}

A single person is also refused once two people have signed for a retirement in this history. A --policy without that line allows it again.)text";

struct RetireArguments {
  std::string history;
  std::string run_id;
  std::string reason;
  std::string policy;
  double days = 30.0;
  SignerOptions signing;
  bool pending = false;
  bool json = false;
};

// The verbs below have options of the same names, so that nothing is required of it by declaration.
Status RequireRetireArguments(const RetireArguments& arguments) {
  const std::pair<const std::string*, const char*> needed[] = {{&arguments.run_id, "a run"},
                                                               {&arguments.history, "--history"},
                                                               {&arguments.reason, "--reason"}};
  for (const auto& [value, name] : needed) {
    if (value->empty()) {
      return InvalidInput(
          fmt::format("{} is required, or one of request, approve, withdraw, list", name));
    }
  }
  return {};
}

Result<int> RetireRun(const RetireArguments& arguments) {
  RETURN_IF_ERROR(RequireRetireArguments(arguments));
  if (!arguments.policy.empty()) {
    ASSIGN_OR_RETURN(const Policy policy, LoadPolicy(arguments.policy));
    if (policy.approvals.retirement) {
      return InvalidInput(
          "the policy asks for two people: `rharness history retire request` and `rharness history "
          "retire approve`",
          arguments.policy);
    }
  }
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(arguments.history));
  if (arguments.policy.empty()) {
    ASSIGN_OR_RETURN(const bool two, TakesTwoPeople(store.get()));
    if (two) {
      return InvalidInput(
          "two people signed for retirements in this history: `rharness history retire request` "
          "and `rharness history retire approve`, or --policy with one that does not ask for them",
          arguments.history);
    }
  }
  RETURN_IF_ERROR(store->Retire(arguments.run_id, arguments.reason, SystemClock().Now()));
  if (!Globals().quiet) LogInfo(fmt::format("retired run '{}', unsigned", arguments.run_id));
  return kExitOk;
}

using RetireStep = Result<RetirementTold> (*)(const RetireArguments&, const SigningPerson&,
                                              HistoryStore*);

Result<RetirementTold> RequestIt(const RetireArguments& arguments, const SigningPerson& person,
                                 HistoryStore* store) {
  const auto valid = std::chrono::duration<double, std::ratio<86'400>>(arguments.days);
  const WallTime expires =
      person.now + std::chrono::duration_cast<std::chrono::milliseconds>(valid);
  return RequestRetirement(arguments.run_id, arguments.reason, expires, person, store);
}

Result<RetirementTold> ApproveIt(const RetireArguments& arguments, const SigningPerson& person,
                                 HistoryStore* store) {
  return ApproveRetirement(arguments.run_id, person, store);
}

Result<RetirementTold> WithdrawIt(const RetireArguments& arguments, const SigningPerson& person,
                                  HistoryStore* store) {
  return WithdrawRetirement(arguments.run_id, arguments.reason, person, store);
}

Result<int> SignStep(const RetireArguments& arguments, RetireStep step) {
  ASSIGN_OR_RETURN(const OpenedSigner opened, OpenSigner(arguments.signing));
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(arguments.history));
  const SigningPerson person{opened.signer.get(), &opened.trust, SystemClock().Now()};
  ASSIGN_OR_RETURN(const RetirementTold told, step(arguments, person, store.get()));
  if (arguments.json) return PrintJson(ToJson(std::vector<RetirementTold>{told}));
  return Globals().quiet ? kExitOk : Print(LineOf(told) + "\n");
}

// A run that nobody signed for is a doubt where the policy asks for two.
void HoldToPolicy(bool required, std::vector<RetirementTold>* all) {
  if (!required) return;
  for (RetirementTold& one : *all) {
    if (one.state != RetirementState::kUnsigned) continue;
    one.state = RetirementState::kDoubtful;
    one.doubt = "retired, unsigned, and the policy asks for two people";
  }
}

// What the lines do not say: that there are none, and that nobody's key was asked for.
void TellList(const RetireArguments& arguments, const std::vector<RetirementTold>& all) {
  if (all.empty()) {
    LogInfo(arguments.pending ? "no retirement waits for a second person, and none is doubtful"
                              : "no run is retired, and nobody asked for it");
  } else if (arguments.signing.trust.empty()) {
    LogInfo("signatures were not verified; --trust FILE says whose keys count");
  }
}

Result<int> ListAll(const RetireArguments& arguments) {
  Policy policy;
  if (!arguments.policy.empty()) {
    ASSIGN_OR_RETURN(policy, LoadPolicy(arguments.policy));
  }
  TrustPolicy trust;
  const bool trusted = !arguments.signing.trust.empty();
  if (trusted) {
    ASSIGN_OR_RETURN(trust, LoadTrustPolicy(arguments.signing.trust));
  }
  ASSIGN_OR_RETURN(const auto store, OpenUntouchedHistory(arguments.history));
  ASSIGN_OR_RETURN(std::vector<RetirementTold> all,
                   ListRetirements(trusted ? &trust : nullptr, SystemClock().Now(), store.get()));
  HoldToPolicy(policy.approvals.retirement, &all);
  if (arguments.pending) {
    std::erase_if(all, [](const RetirementTold& one) {
      return one.state != RetirementState::kAsked && one.state != RetirementState::kDoubtful;
    });
  }
  std::vector<RetirementTold> doubtful;
  std::ranges::copy_if(all, std::back_inserter(doubtful), [](const RetirementTold& one) {
    return one.state == RetirementState::kDoubtful;
  });
  int printed = kExitOk;
  if (arguments.json) {
    printed = PrintJson(ToJson(all));
  } else if (!Globals().quiet) {
    TellList(arguments, all);
    printed = Print(WriteTerminal(all));
  }
  if (printed != kExitOk || doubtful.empty()) return printed;
  return IntegrityError(
      fmt::format("{} of {} retirements are not as they were signed; the first: "
                  "{}",
                  doubtful.size(), all.size(), LineOf(doubtful.front())));
}

Command& AddRetireStep(Command& retire, const std::shared_ptr<RetireArguments>& arguments,
                       const char* name, const char* summary) {
  Command& step = retire.AddVerb(name, summary);
  step.Add("--history", &arguments->history,
           "The history: sqlite:PATH, the path of its file, or postgresql://HOST:PORT/DATABASE")
      .File("URL")
      .Env("RHARNESS_HISTORY")
      .Required();
  step.Add("--json", &arguments->json, "As JSON (rharness.retirements/v1)");
  step.ExitCode(kExitUsage, "there is no such run or request, or it cannot be signed now");
  step.ExitCode(kExitInfrastructure, "the history could not be read or written");
  step.ExitCode(kExitIntegrity, "a key that may not sign it, or what was signed is something else");
  return step;
}

Command& AddSignedStep(Command& retire, const std::shared_ptr<RetireArguments>& arguments,
                       const char* name, const char* summary, RetireStep step) {
  Command& verb = AddRetireStep(retire, arguments, name, summary);
  verb.Add("run_id", &arguments->run_id, "The run").Required();
  AddSignerOptions(&verb, &arguments->signing, true);
  verb.ExitCode(kExitOk, "it is signed");
  verb.Do([arguments, step] {
    const auto code = SignStep(*arguments, step);
    return code.ok() ? *code : FailWith(code.error());
  });
  return verb;
}

void AddUnsigned(Command* retire, const std::shared_ptr<RetireArguments>& arguments) {
  retire->Add("run_id", &arguments->run_id, "The run");
  retire
      ->Add("--history", &arguments->history,
            "The history: sqlite:PATH, the path of its file, or postgresql://HOST:PORT/DATABASE")
      .File("URL")
      .Env("RHARNESS_HISTORY");
  retire->Add("--reason", &arguments->reason, "Why, for those who ask later");
  retire->Add("--policy", &arguments->policy, "YAML; one that asks for two people refuses it")
      .File()
      .Env("RHARNESS_POLICY");
  retire->Note(kRetiring);
  retire->Example("rharness history retire --history runs.db mlp-1 --reason \"its data is gone\"");
  retire->Do([arguments] {
    const auto code = RetireRun(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace

void AddHistoryRetire(Command& history) {
  auto arguments = std::make_shared<RetireArguments>();
  Command& retire = history.AddVerb(
      "retire", "Take a run out of drills and of its family's statistics; it stays in the history");
  AddUnsigned(&retire, arguments);

  Command& request =
      AddSignedStep(retire, arguments, "request", "Ask that a run be retired", RequestIt);
  request.Add("--reason", &arguments->reason, "Why, for who approves and those who ask later")
      .Required();
  request.Add("--valid", &arguments->days, "How long it can be approved")
      .Duration(TimeUnit::kDays)
      .Between(0.001, 3660)
      .ShowDefault();
  request.Example(
      "rharness history retire request mlp-1 --history runs.db --reason 'its data is gone' --key "
      "ada.pem "
      "--trust trust.yaml");

  Command& approve = AddSignedStep(retire, arguments, "approve",
                                   "Approve it, as another person than who asked", ApproveIt);
  approve.Example(
      "rharness history retire approve mlp-1 --history runs.db --key bob.pem --trust trust.yaml");

  Command& withdraw = AddSignedStep(retire, arguments, "withdraw",
                                    "Take back or reject what is not approved yet", WithdrawIt);
  withdraw.Add("--reason", &arguments->reason, "Why, for those who ask later").Required();
  withdraw.Example(
      "rharness history retire withdraw mlp-1 --history runs.db --reason 'the data were found' "
      "--key "
      "ada.pem --trust trust.yaml");

  Command& list =
      AddRetireStep(retire, arguments, "list",
                    "Who asked, who approved, when and why; each run held to what was signed");
  list.Add("--trust", &arguments->signing.trust,
           "The trust policy: signatures are verified; else only what they were made over")
      .File();
  list.Add("--policy", &arguments->policy, "YAML; one that asks for two people takes none unsigned")
      .File()
      .Env("RHARNESS_POLICY");
  list.Add("--pending", &arguments->pending,
           "What waits for a second person, and what is doubtful");
  list.ExitCode(kExitOk, "every retirement is as it was signed");
  list.Example(
      "rharness history retire list --history runs.db --trust trust.yaml --policy policy.yaml");
  list.Do([arguments] {
    const auto code = ListAll(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
