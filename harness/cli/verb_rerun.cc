// rharness rerun: carries out one ticket on this machine.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/outputs.h"
#include "harness/cli/verb.h"
#include "harness/execution/rerun/end_marker.h"
#include "harness/execution/rerun/framed_files.h"
#include "harness/execution/rerun/gang_side.h"
#include "harness/execution/rerun/rendezvous.h"
#include "harness/execution/rerun/rerun.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kRerunHelp[] =
    "Makes the workspace of the ticket, runs the command in it, and writes the evidence to --out: "
    "runs/RUN/N/ as in a drill's folder and, last, ended.json, which binds it to the ticket. Every "
    "dispatcher runs this verb on the machine that it chose. The run's own end, good or bad, is an "
    "answer; the writer of the ticket judges it.";

struct RerunArguments {
  std::string ticket;
  std::string out;
  bool to_log = false;
  std::string node;
};

std::atomic<bool> g_stop{false};
void OnStop(int) { g_stop = true; }

// False: an attempt is never carried out twice, also not by a scheduler that starts it again.
Result<bool> ClaimFolder(const fs::path& folder) {
  RETURN_IF_ERROR(MakeDirectories(folder));
  std::error_code error;
  fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return IoErrorFromErrno("cannot set mode", error.value(), folder.string());
  const fs::path claim = folder / "claimed.json";
  const Descriptor file(
      ::open(claim.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid() && errno == EEXIST) return false;
  if (!file.valid()) return IoErrorFromErrno("cannot create", errno, claim.string());
  const Machine machine = ThisMachine();
  const std::string text = Json::MakeObject({{"host", machine.host},
                                             {"boot_id", machine.boot_id},
                                             {"pid", static_cast<int>(::getpid())}})
                               .Dump() +
                           "\n";
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return IoErrorFromErrno("cannot write", errno, claim.string());
  }
  return true;
}

// The number of this node in a gang; none: the next that is free. Node 0 writes what all leave.
Result<std::optional<int>> NodeOf(const std::string& text, const Ticket& ticket) {
  const int nodes = ticket.manifest.gang ? ticket.manifest.gang->nodes : 1;
  if (text == "next" && nodes > 1) return std::optional<int>();
  std::optional<int> node = 0;
  if (text == "step" && NumbersNodes(ticket)) {
    const auto names = RequiredNodes(ticket);
    node = static_cast<int>(std::ranges::find(names, ThisMachine().node) - names.begin());
  } else if (text == "step") {
    node = NodeOfStep(ProcessEnvironment());
  } else if (!text.empty()) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    node = error == std::errc{} && end == text.data() + text.size() ? std::optional(number)
                                                                    : std::nullopt;
  }
  if (node && *node >= 0 && *node < nodes) return node;
  return InvalidInput(fmt::format("expected a number from 0 to {}, step within srun or an "
                                  "Indexed Job, or next; found '{}'",
                                  nodes - 1, text),
                      "--node");
}

// The number under which this process takes part in the attempt. None: others do all of it, since a
// scheduler started this again.
Result<std::optional<int>> TakePart(const Ticket& ticket, const fs::path& out,
                                    std::optional<int> node) {
  if (IsGang(ticket)) {
    if (IsThere(out / "ended.json")) return std::optional<int>();
    ASSIGN_OR_RETURN(
        node, TakeNode(GangFolder(FromAnywhere(out), ticket), node, ticket.manifest.gang->nodes));
  }
  if (node != 0) return node;
  ASSIGN_OR_RETURN(const bool claimed, ClaimFolder(out));
  return claimed ? node : std::nullopt;
}

Result<RerunResult> Carry(const Ticket& ticket, const fs::path& out, int node, bool to_log) {
  ContentCache cache;
  const std::unique_ptr<Executor> executor = MakeLocalExecutor();
  RerunContext context{.folder = FromAnywhere(out),
                       .node = node,
                       .executor = executor.get(),
                       .cache = &cache,
                       .clock = &SystemClock(),
                       .should_cancel = [] { return g_stop.load(); }};
  // One that is not here is an obstacle of the rerun.
  const auto launcher = MakeLauncher(ticket.launcher.empty() ? "host" : ticket.launcher);
  if (launcher.ok()) context.launchers[ticket.launcher] = launcher->get();
  ASSIGN_OR_RETURN(RerunResult result, CarryOut(ticket, context));
  if (to_log) RETURN_IF_ERROR(KeepWhatALogCarries(context.folder, ticket, &result));
  if (node != 0) return result;
  RETURN_IF_ERROR(WriteEndMarker(context.folder, ticket, result));
  if (!to_log) return result;
  ASSIGN_OR_RETURN(const std::string framed, FrameRerun(context.folder, ticket, result));
  if (Print(framed) != kExitOk) return IoError("cannot write the evidence to the log", "stdout");
  return result;
}

const char* Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsInContainer() {
  std::error_code error;
  return fs::exists("/run/.containerenv", error) || fs::exists("/.dockerenv", error) ||
         *Variable("KUBERNETES_SERVICE_HOST") != 0;
}

// A ticket is a command to run: root carries out its own alone, but for the root of a container,
// which is confined to it.
Result<Ticket> TakeTicket(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!file.valid() || ::fstat(file.get(), &info) != 0) return LoadTicket(path);
  if (::geteuid() == 0 && info.st_uid != 0 && !IsInContainer()) {
    return InvalidInput(fmt::format("is a ticket of user {}; root carries out tickets of root "
                                    "alone, expected `rharness rerun` as that user",
                                    info.st_uid),
                        path.string());
  }
  // What was looked at is what is read, whatever becomes of the name.
  auto ticket = LoadTicket(fmt::format("/proc/self/fd/{}", file.get()));
  if (ticket.ok()) return ticket;
  Error error = ticket.error();
  const std::string held = fmt::format("/proc/self/fd/{}", file.get());
  if (error.where.starts_with(held)) error.where.replace(0, held.size(), path.string());
  return error;
}

int Run(const RerunArguments& arguments) {
  auto ticket = TakeTicket(arguments.ticket);
  if (!ticket.ok() && !arguments.node.empty()) {
    ticket = Error{ticket.error().code,
                   ticket.error().message + "; expected a file system that all nodes share",
                   ticket.error().where};
  }
  if (!ticket.ok()) return FailWith(ticket.error());
  const fs::path out = arguments.out;
  const auto asked = NodeOf(arguments.node, *ticket);
  if (!asked.ok()) return FailWith(asked.error());
  const auto node = TakePart(*ticket, out, *asked);
  if (!node.ok()) return FailWith(node.error());
  if (!*node) {
    LogError(
        fmt::format("{}: this attempt was already taken up (claimed.json{}); an attempt is carried "
                    "out once",
                    out.string(), IsGang(*ticket) ? ", gang/*/taken-N" : ""));
    return kExitClaimed;
  }
  std::signal(SIGINT, OnStop);
  std::signal(SIGTERM, OnStop);
  std::signal(SIGHUP, OnStop);
  const auto result = Carry(*ticket, out, **node, arguments.to_log);
  if (!result.ok()) return FailWith(result.error());
  if (**node != 0) return kExitOk;  // node 0 tells what became of it
  const Evidence& evidence = result->evidence;
  const std::string end =
      evidence.obstacle.empty() ? evidence.outcome.ToString() : evidence.obstacle;
  if (!Globals().quiet && !arguments.to_log)
    Print(TerminalSafe(fmt::format("{}: {}\n", ticket->job(), end)));
  const bool answer = !result->infrastructure && evidence.outcome.kind != OutcomeKind::kCancelled;
  return answer ? kExitOk : kExitInfrastructure;
}

}  // namespace

void AddRerun(Command& root) {
  auto arguments = std::make_shared<RerunArguments>();
  Command& verb = root.AddVerb("rerun", "Carry out one ticket of a drill on this machine");
  verb.Describe(kRerunHelp);
  verb.Add("TICKET", &arguments->ticket, "The ticket").File().Required();
  verb.Add("--out", &arguments->out, "New folder for the evidence").Folder().Required();
  verb.Add("--to-log", &arguments->to_log,
           "Write the evidence to stdout, too, framed; for pods whose --out is lost");
  verb.Add("--node", &arguments->node,
           "Of a run over several nodes: the number of this one; step: as srun or an Indexed Job "
           "numbers it, or as the ticket's list of nodes; next: the first that is free. All have "
           "the same --out; node 0, the default, writes the evidence")
      .Value("N");
  verb.ExitCode(kExitOk, "there is an answer, whether the run succeeded or failed");
  verb.ExitCode(kExitUsage, "usage, or no ticket");
  verb.ExitCode(kExitInfrastructure, "no answer: the machine failed, or it was stopped");
  verb.ExitCode(kExitIntegrity, "the ticket is not as it was issued");
  verb.ExitCode(kExitClaimed, "another process has claimed this attempt");
  verb.Example("rharness rerun ticket.json --out evidence");
  verb.Do([arguments] { return Run(*arguments); });
}

}  // namespace rharness
