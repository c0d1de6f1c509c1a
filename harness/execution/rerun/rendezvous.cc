// Names, meanings and values of rendezvous variables.
#include "harness/execution/rerun/rendezvous.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "harness/records/manifest/meeting_options.h"

namespace rharness {
namespace {

// What a variable says.
enum class Meaning {
  kAddress,  // of the head
  kPort,     // on the head
  kId,       // of the run
  kRank,
  kTasks,      // in all
  kLocalRank,  // among the tasks of the node
  kLocalTasks,
  kNode,  // its number
  kNodes,
  kTasksList,  // tasks of each node, as Slurm writes it: "2(x3)"
  kHosts,      // separated by commas
  kHost,       // this node's
};

constexpr std::array<std::pair<std::string_view, Meaning>, 43> kNames = {{
    {"MASTER_ADDR", Meaning::kAddress},
    {"MASTER_PORT", Meaning::kPort},
    {"RANK", Meaning::kRank},
    {"WORLD_SIZE", Meaning::kTasks},
    {"LOCAL_RANK", Meaning::kLocalRank},
    {"LOCAL_WORLD_SIZE", Meaning::kLocalTasks},
    {"NODE_RANK", Meaning::kNode},
    {"GROUP_RANK", Meaning::kNode},
    {"NNODES", Meaning::kNodes},
    {"GROUP_WORLD_SIZE", Meaning::kNodes},
    {"ROLE_RANK", Meaning::kRank},
    {"ROLE_WORLD_SIZE", Meaning::kTasks},
    {"TORCHELASTIC_RUN_ID", Meaning::kId},
    {"JOB_COMPLETION_INDEX", Meaning::kNode},
    {"SLURM_PROCID", Meaning::kRank},
    {"SLURM_NTASKS", Meaning::kTasks},
    {"SLURM_NPROCS", Meaning::kTasks},
    {"SLURM_STEP_NUM_TASKS", Meaning::kTasks},
    {"SLURM_LOCALID", Meaning::kLocalRank},
    {"SLURM_NTASKS_PER_NODE", Meaning::kLocalTasks},
    {"SLURM_NODEID", Meaning::kNode},
    {"SLURM_NNODES", Meaning::kNodes},
    {"SLURM_JOB_NUM_NODES", Meaning::kNodes},
    {"SLURM_STEP_NUM_NODES", Meaning::kNodes},
    {"SLURM_TASKS_PER_NODE", Meaning::kTasksList},
    {"SLURM_STEP_TASKS_PER_NODE", Meaning::kTasksList},
    {"SLURM_NODELIST", Meaning::kHosts},
    {"SLURM_JOB_NODELIST", Meaning::kHosts},
    {"SLURM_STEP_NODELIST", Meaning::kHosts},
    {"SLURM_LAUNCH_NODE_IPADDR", Meaning::kAddress},
    {"SLURM_JOB_ID", Meaning::kId},
    {"SLURM_JOBID", Meaning::kId},
    {"SLURM_STEP_ID", Meaning::kId},
    {"SLURM_STEPID", Meaning::kId},
    {"SLURMD_NODENAME", Meaning::kHost},
    {"OMPI_COMM_WORLD_RANK", Meaning::kRank},
    {"OMPI_COMM_WORLD_SIZE", Meaning::kTasks},
    {"OMPI_COMM_WORLD_LOCAL_RANK", Meaning::kLocalRank},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", Meaning::kLocalTasks},
    {"OMPI_COMM_WORLD_NODE_RANK", Meaning::kLocalRank},
    {"PMI_RANK", Meaning::kRank},
    {"PMI_SIZE", Meaning::kTasks},
    {"PMI_LOCAL_RANK", Meaning::kLocalRank},
}};

std::optional<Meaning> MeaningOf(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name, &std::pair<std::string_view, Meaning>::first);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

std::string TextOf(const Variables& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

std::optional<int> NumberOf(const Variables& environment, const std::string& name) {
  const std::string text = TextOf(environment, name);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// The numbers of steps that Slurm starts itself, as for a shell of salloc, are greater than an int.
bool IsInStep(const Variables& environment) {
  return NumberOf(environment, "SLURM_STEP_ID").has_value();
}

std::optional<TaskPlace> Checked(TaskPlace place) {
  const bool fits = place.tasks >= 1 && place.nodes >= 1 && place.rank < place.tasks &&
                    place.node < place.nodes && place.tasks % place.nodes == 0 &&
                    place.local_rank < place.tasks_per_node();
  if (!fits || place.tasks == 1 || place.tasks > kMostGangTasks) return std::nullopt;
  return place;
}

// A batch script has no step: what it starts is no task, although Slurm gives it a SLURM_PROCID.
std::optional<TaskPlace> PlaceBySlurm(const Variables& environment) {
  std::string step = TextOf(environment, "SLURM_STEP_ID");
  if (step.empty()) step = TextOf(environment, "SLURM_STEPID");
  const std::string job = TextOf(environment, "SLURM_JOB_ID");
  const auto rank = NumberOf(environment, "SLURM_PROCID");
  auto tasks = NumberOf(environment, "SLURM_STEP_NUM_TASKS");
  if (!tasks) tasks = NumberOf(environment, "SLURM_NTASKS");
  auto nodes = NumberOf(environment, "SLURM_STEP_NUM_NODES");
  if (!nodes) nodes = NumberOf(environment, "SLURM_NNODES");
  if (step.empty() || job.empty() || !rank || !tasks || !nodes) return std::nullopt;
  return Checked({.rank = *rank,
                  .tasks = *tasks,
                  .local_rank = NumberOf(environment, "SLURM_LOCALID").value_or(0),
                  .node = NumberOf(environment, "SLURM_NODEID").value_or(0),
                  .nodes = *nodes,
                  .launcher = "srun",
                  .id = job + "." + step});
}

// Tasks fill one node after the other; `prefix` is that of names such as PREFIX + "RANK".
struct RankNames {
  std::string launcher, rank, tasks, local_rank, local_tasks, id;
};

std::optional<TaskPlace> PlaceBy(const RankNames& names, const Variables& environment) {
  const auto rank = NumberOf(environment, names.rank);
  const auto tasks = NumberOf(environment, names.tasks);
  if (!rank || !tasks) return std::nullopt;
  const int local = std::max(1, NumberOf(environment, names.local_tasks).value_or(1));
  if (*tasks % local != 0) return std::nullopt;
  return Checked({.rank = *rank,
                  .tasks = *tasks,
                  .local_rank = NumberOf(environment, names.local_rank).value_or(*rank % local),
                  .node = *rank / local,
                  .nodes = *tasks / local,
                  .launcher = names.launcher,
                  .id = TextOf(environment, names.id)});
}

std::string ValueOf(Meaning meaning, const Rendezvous& start, const TaskPlace& place) {
  switch (meaning) {
    case Meaning::kAddress:
      return start.address;
    case Meaning::kPort:
      return std::to_string(start.port);
    case Meaning::kId:
      return start.id;
    case Meaning::kRank:
      return std::to_string(place.rank);
    case Meaning::kTasks:
      return std::to_string(place.tasks);
    case Meaning::kLocalRank:
      return std::to_string(place.local_rank);
    case Meaning::kLocalTasks:
      return std::to_string(place.tasks_per_node());
    case Meaning::kNode:
      return std::to_string(place.node);
    case Meaning::kNodes:
      return std::to_string(place.nodes);
    case Meaning::kTasksList:
      return place.nodes == 1 ? std::to_string(place.tasks_per_node())
                              : fmt::format("{}(x{})", place.tasks_per_node(), place.nodes);
    case Meaning::kHosts:
      return fmt::format("{}", fmt::join(start.hosts, ","));
    case Meaning::kHost: {
      const auto node = static_cast<std::size_t>(place.node);
      return node < start.hosts.size() ? start.hosts[node] : "";
    }
  }
  return "";
}

std::string ValueOf(MeetingOption option, const std::string& recorded, const Rendezvous& start,
                    int node) {
  switch (option) {
    case MeetingOption::kAddress:
      return start.address;
    case MeetingOption::kPort:
      return std::to_string(start.port);
    case MeetingOption::kNode:
      return std::to_string(node);
    case MeetingOption::kId:
      return start.id;
    case MeetingOption::kOwnAddress: {
      const auto own = static_cast<std::size_t>(node);
      const bool is_elsewhere = own < start.hosts.size() && start.hosts[own] != start.hosts[0];
      return is_elsewhere ? start.hosts[own] : start.address;
    }
    case MeetingOption::kEndpoint:
      break;
  }
  const auto scheme = recorded.find("://");
  const std::string before =
      scheme == recorded.npos ? "" : recorded.substr(0, scheme + std::string_view("://").size());
  return fmt::format("{}{}:{}", before, start.address, start.port);
}

}  // namespace

std::optional<TaskPlace> TaskPlaceOf(const Variables& environment) {
  if (auto place = PlaceBySlurm(environment)) return place;
  static const std::array<RankNames, 3> kLaunchers = {
      {{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
       {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
       {"mpiexec", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_ID"}}};
  for (const RankNames& names : kLaunchers) {
    auto place = PlaceBy(names, environment);
    if (!place) continue;
    if (place->id == "none") place->id.clear();  // torchrun's default
    if (environment.contains(kGangVariable)) place->id = environment.at(kGangVariable);
    return place;
  }
  return std::nullopt;
}

std::optional<int> NodeOfOwnStep(const Variables& environment) {
  const auto node = NumberOf(environment, "SLURM_NODEID");
  return node && IsInStep(environment) ? std::optional(*node + 1) : std::nullopt;
}

std::vector<std::string> HostsOfPods(
    const std::string& service, const std::vector<std::string>& addresses,
    const std::function<std::string(const std::string&)>& resolve) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < addresses.size() && !service.empty(); ++i) {
    names.push_back(fmt::format("{0}-{1}.{0}", service, i));
    if (resolve(names.back()) != addresses[i]) return addresses;
  }
  return names.empty() ? addresses : names;
}

std::optional<int> NodeOfStep(const Variables& environment) {
  if (const auto index = NumberOf(environment, "JOB_COMPLETION_INDEX")) return index;
  const auto node = NumberOf(environment, "SLURM_NODEID");
  return node ? std::optional(*node + 1) : std::nullopt;
}

int NodesOfAllocation(const Variables& environment) {
  const int nodes = NumberOf(environment, "SLURM_JOB_NUM_NODES").value_or(0);
  return nodes > 1 && !IsInStep(environment) && !TaskPlaceOf(environment) ? nodes : 0;
}

int TasksPerNodeOfAllocation(const Variables& environment) {
  if (const auto each = NumberOf(environment, "SLURM_NTASKS_PER_NODE")) return *each;
  const int nodes = NodesOfAllocation(environment);
  const int tasks = NumberOf(environment, "SLURM_NTASKS").value_or(0);
  return nodes > 0 && tasks % nodes == 0 ? tasks / nodes : 0;
}

int PartsOfMixedJob(const Variables& environment) {
  const int parts = NumberOf(environment, "SLURM_HET_SIZE")
                        .value_or(NumberOf(environment, "SLURM_PACK_SIZE").value_or(0));
  return parts > 1 ? parts : 0;
}

bool IsRendezvousVariable(std::string_view name) { return MeaningOf(name).has_value(); }

std::vector<std::string> RendezvousNames(const Variables& environment) {
  std::vector<std::string> names;
  for (const auto& [name, value] : environment) {
    if (IsRendezvousVariable(name)) names.push_back(name);
  }
  return names;
}

Variables RendezvousVariables(const Gang& gang, const Rendezvous& start, const TaskPlace& place) {
  Variables variables;
  for (const std::string& name : gang.rendezvous) {
    if (const auto meaning = MeaningOf(name)) variables[name] = ValueOf(*meaning, start, place);
  }
  return variables;
}

std::vector<std::string> CommandOn(std::vector<std::string> command, const Rendezvous& start,
                                   int node) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    std::string& argument = command[i];
    const auto equals = argument.find('=');
    const auto option = MeetingOptionOf(std::string_view(argument).substr(0, equals));
    if (!option) continue;
    if (equals != argument.npos) {
      const std::string recorded = argument.substr(equals + 1);
      argument = argument.substr(0, equals + 1) + ValueOf(*option, recorded, start, node);
    } else if (i + 1 < command.size()) {
      command[i + 1] = ValueOf(*option, command[i + 1], start, node);
      ++i;
    }
  }
  return command;
}

}  // namespace rharness
