// One node of a gang, from joining it to its end.
#include "harness/execution/rerun/gang_side.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <sstream>
#include <thread>
#include <utility>

#include "harness/base/clean_text.h"
#include "harness/base/files.h"
#include "harness/execution/rerun/allocation_watch.h"
#include "harness/execution/rerun/gang_merge.h"
#include "harness/execution/rerun/gang_workspace.h"
#include "harness/execution/rerun/ports.h"
#include "harness/records/manifest/node_variable.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kLoopback[] = "127.0.0.1";
constexpr std::uint64_t kMostRead = std::uint64_t{4} << 20;

std::string TextOf(const sockaddr* address) {
  sockaddr_in four{};
  std::memcpy(&four, address, sizeof(four));
  char text[INET_ADDRSTRLEN] = "";
  return ::inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text)) == nullptr ? "" : text;
}

// The IPv4 address that a name stands for; empty: none.
std::string AddressOf(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return "";
  std::string address = TextOf(found->ai_addr);
  ::freeaddrinfo(found);
  return address;
}

// Of an interface that is up and not the loopback: the one that the host's name stands for, else
// the first.
std::string OwnAddress() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return kLoopback;
  char name[256] = "";
  const std::string named = ::gethostname(name, sizeof(name) - 1) == 0 ? AddressOf(name) : "";
  std::string found;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    const std::string address = TextOf(one->ifa_addr);
    if (found.empty() || address == named) found = address;
  }
  ::freeifaddrs(all);
  return found.empty() ? kLoopback : found;
}

// With one network: containers of one machine have addresses of their own.
bool AreOneMachine(const std::vector<NodeReady>& nodes) {
  return std::ranges::all_of(nodes, [&](const NodeReady& node) {
    return node.machine.boot_id == nodes[0].machine.boot_id && node.address == nodes[0].address;
  });
}

// A cluster's DNS learns of pods with a delay: it is asked for ten seconds.
std::vector<std::string> HostsOf(const std::vector<NodeReady>& pods, const std::string& service) {
  std::vector<std::string> addresses;
  for (const NodeReady& pod : pods) addresses.push_back(pod.address);
  for (int tries = service.empty() ? 1 : 10;; --tries) {
    std::vector<std::string> hosts = HostsOfPods(service, addresses, AddressOf);
    if (hosts != addresses || tries <= 1) return hosts;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace

bool IsGang(const Ticket& ticket) {
  const auto& gang = ticket.manifest.gang;
  return gang && (gang->nodes > 1 || gang->start != GangStart::kOnce);
}

std::vector<int> GpusOfNode(const Ticket& ticket, int node) {
  if (!IsGang(ticket) || ticket.resources.gpus <= 0) return ticket.gpus;
  const auto each = static_cast<std::ptrdiff_t>(ticket.resources.gpus);
  if (std::ssize(ticket.gpus) < each * ticket.manifest.gang->nodes) return ticket.gpus;
  return {ticket.gpus.begin() + node * each, ticket.gpus.begin() + (node + 1) * each};
}

std::vector<std::string> RequiredNodes(const Ticket& ticket) {
  std::vector<std::string> nodes;
  std::istringstream names(ticket.node);
  for (std::string name; std::getline(names, name, ',');) nodes.push_back(name);
  return nodes;
}

bool NumbersNodes(const Ticket& ticket) {
  return IsGang(ticket) && ticket.manifest.gang->start != GangStart::kOnce &&
         std::ssize(RequiredNodes(ticket)) == ticket.manifest.gang->nodes;
}

fs::path GangFolder(const fs::path& folder, const Ticket& ticket) {
  return folder / "gang" / fmt::format("{}.{}", ticket.job(), ticket.attempt);
}

void RemoveGangFolder(const fs::path& gang_folder) {
  (void)RemoveTree(gang_folder);
  ::rmdir(gang_folder.parent_path().c_str());
}

fs::path GangSide::PlaceOf(const fs::path& folder, const Ticket& ticket, int node) {
  return node == 0 ? folder : GangFolder(folder, ticket) / fmt::format("node-{}", node);
}

GangSide::GangSide(const Ticket& ticket, fs::path folder, int node,
                   std::function<bool()> should_cancel)
    : ticket_(ticket),
      gang_(*ticket.manifest.gang),
      folder_(GangFolder(folder, ticket)),
      node_(node),
      should_cancel_(std::move(should_cancel)),
      session_(folder_, node, gang_.nodes, should_cancel_) {}

Result<std::optional<Workspace>> GangSide::Attach() {
  if (is_head() || gang_.workspace == GangWorkspace::kLocal) return std::optional<Workspace>();
  ASSIGN_OR_RETURN(const auto head, session_.WaitForReady());
  if (!head[0].obstacle.empty()) {
    Workspace none;
    none.obstacle = Obstacle{head[0].layer, "node 0: " + head[0].obstacle};
    return std::optional(std::move(none));
  }
  ASSIGN_OR_RETURN(Workspace workspace, AttachWorkspace(ticket_, head[0], should_cancel_));
  return std::optional(std::move(workspace));
}

bool GangSide::Watches() const {
  return gang_.start == GangStart::kOnce && gang_.nodes > 1 && ticket_.observe &&
         ticket_.manifest.observation && RunsAmongUs(ticket_);
}

// The path is node 0's word: nothing but a new folder of the expected name is made there.
Status GangSide::StartWatch(const Workspace& workspace) {
  ASSIGN_OR_RETURN(const auto head, session_.WaitForReady());
  notes_ = {.path = head[0].notes, .starts_command = false};
  if (!notes_.path.filename().string().starts_with(kNotesPrefix)) return {};
  watch_ = std::make_unique<ObservedRun>(ticket_, workspace, notes_);
  std::map<std::string, std::string> of_no_process;
  watch_->AddTo(&of_no_process);
  return {};
}

void GangSide::ChoosePort(NodeReady* mine) const {
  if (const auto port = FreePort(ticket_.ports, GangFolder({}, ticket_).string())) {
    mine->port = *port;
  } else if (mine->obstacle.empty()) {
    mine->obstacle = fmt::format("no port of {} is free on {}", ticket_.ports->ToString(),
                                 NodeName(mine->machine));
    mine->infrastructure = true;
  }
}

Result<NodeReady> GangSide::Gather(const Workspace& workspace, NodeReady mine) {
  mine.machine = ThisMachine();
  mine.address = OwnAddress();
  if (is_head()) {
    ChoosePort(&mine);
    mine.workspace = fs::absolute(workspace.path).string();
    mine.mounts = workspace.mounts;
    if (Watches()) notes_.path = FreeNotesPath();
    mine.notes = notes_.path.string();
  } else if (Watches() && mine.obstacle.empty()) {
    RETURN_IF_ERROR(StartWatch(workspace));
  }
  RETURN_IF_ERROR(session_.TellReady(mine));
  if (!is_head()) {
    if (!mine.obstacle.empty()) return mine;
    ASSIGN_OR_RETURN(start_, session_.WaitForStart());
    return mine;
  }
  const auto nodes = session_.WaitForReady(
      [this](std::chrono::nanoseconds waited) { return StepTrouble(waited); });
  NodeReady why;
  if (nodes.ok()) {
    why = WhyNotReady(*nodes);
  } else {
    why.obstacle = nodes.error().message;
    why.infrastructure = true;
  }
  if (!why.obstacle.empty()) {
    RETURN_IF_ERROR(session_.CallOff(why.obstacle));
    return why;
  }
  for (const NodeReady& node : *nodes) names_.push_back(NodeName(node.machine));
  start_ = {.address = mine.address,
            .port = mine.port,
            .hosts = names_,
            .id = fmt::format("{}.{}", ticket_.job(), ticket_.attempt)};
  // The name of a pod's node leads to the node, not to the pod.
  if (auto variables = PickEnvironment({kNodeVariable, kServiceVariable});
      variables.contains(kNodeVariable)) {
    start_.hosts = HostsOf(*nodes, variables[kServiceVariable]);
    start_.address = start_.hosts[0];
  }
  if (AreOneMachine(*nodes)) start_.address = kLoopback;
  RETURN_IF_ERROR(session_.Start(start_));
  return why;
}

TasksResult GangSide::Run(TasksOfNode node, WallTime started, Evidence* evidence) {
  node.session = &session_;
  node.start = start_;
  node.node = node_;
  node.logs = folder_;
  node.notes = notes_;
  node.watch = watch_.get();
  TasksResult result = RunTasks(node, started, evidence);
  tasks_ = result.ends;
  peak_memory_bytes_ = result.peak_memory_bytes;
  return result;
}

std::string GangSide::StepTrouble(std::chrono::nanoseconds waited) {
  // An error of one node, while another is still on its way, is not the other's.
  constexpr std::chrono::seconds kAfterError{10};
  constexpr std::chrono::seconds kAfterWord{60};
  const auto log = ReadFile(folder_.parent_path().parent_path() / kStepLog, kMostRead);
  const StepWord word = log.ok() ? ReadStepLog(*log) : StepWord();
  if (word.why.empty()) return "";
  if (!step_failed_) step_failed_ = waited;
  return waited - *step_failed_ < (word.is_final ? kAfterError : kAfterWord) ? "" : word.why;
}

bool GangSide::IsOfThePort(Evidence* evidence) const {
  const bool is_taken = IsPortTaken(start_.port);
  for (const TaskEnd& task : tasks_) {
    const auto said = ReadFile(LogOf(folder_, "stderr", task.rank), kMostRead);
    if (!said.ok() || !FailedByPort(*said, start_.port, is_taken)) continue;
    evidence->obstacle = fmt::format(
        "port {} of {} was free when it was chosen, and taken when rank {} came to use it: {}",
        start_.port, names_.empty() ? "node 0" : names_[0], task.rank, LastLine(*said));
    return true;
  }
  return false;
}

Result<bool> GangSide::Merge(const Workspace& workspace, Evidence* evidence) {
  RETURN_IF_ERROR(session_.TellDone());
  GangEnds ends{
      .nodes = {}, .first = {}, .hosts = names_, .tasks = gang_.ranks(), .start = gang_.start};
  ASSIGN_OR_RETURN(ends.nodes, session_.WaitForEnds());
  ends.first = session_.First();
  ends.nodes[0] = PartEnd{.evidence = {},
                          .infrastructure = false,
                          .tasks = tasks_,
                          .peak_memory_bytes = peak_memory_bytes_};
  bool again = MergeEnds(ends, evidence);
  if (ends.first && evidence->obstacle.empty()) again |= IsOfThePort(evidence);
  if (gang_.workspace == GangWorkspace::kShared) return again;
  const auto name = [&](int node) {
    const auto at = static_cast<std::size_t>(node);
    return NodeInWords(at, names_[at]);
  };
  for (int node = 1; node < gang_.nodes; ++node) {
    const fs::path other = PlaceOf(folder_.parent_path().parent_path(), ticket_, node) /
                           RerunFolder({}, ticket_.run_id(), ticket_.rerun) / "workspace";
    ASSIGN_OR_RETURN(auto remarks, UniteWorkspaces(ticket_.manifest, {workspace.path, name(0)},
                                                   {other, name(node)}));
    std::ranges::move(remarks, std::back_inserter(evidence->remarks));
  }
  return again;
}

Status GangSide::TellEnd(const Evidence& evidence, bool infrastructure) {
  return session_.TellEnd({evidence, infrastructure, tasks_, peak_memory_bytes_});
}

std::string GangSide::Log(std::string_view name) const {
  return JoinLogs(folder_, name, gang_.starts());
}

void GangSide::Remove() { RemoveGangFolder(folder_); }

}  // namespace rharness
