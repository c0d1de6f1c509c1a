// The variables and options by which the tasks of one run find each other: their names in records,
// their values made anew in a rerun.
//
// Role: between a launcher that started a task (srun, mpirun, torchrun, an Indexed Job) and a rerun
// that starts it again, also by other means. Pure. Sources: Slurm, srun(1), "OUTPUT ENVIRONMENT
// VARIABLES"; Open MPI 4, mpirun(1), "Exported Environment Variables"; PyTorch 2, "torchrun
// (Elastic Launch)", "Environment Variables"; MPICH, Hydra, PMI variables.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RENDEZVOUS_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RENDEZVOUS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/records/manifest/gang.h"

namespace rharness {

using Variables = std::map<std::string, std::string>;

// Set for the tasks that `rharness record` starts itself: an id that they share, and the name of
// their manifest, which they could not choose together.
inline constexpr char kGangVariable[] = "RHARNESS_GANG";
inline constexpr char kGangOutVariable[] = "RHARNESS_GANG_OUT";

// Where a process is in the run that a launcher made it a task of.
struct TaskPlace {
  int rank = 0;
  int tasks = 1;  // of the whole run
  int local_rank = 0;
  int node = 0;
  int nodes = 1;
  std::string launcher;  // "srun", "mpirun", "torchrun"
  std::string id;        // of the run, the same for all its tasks: "4711.0"

  int tasks_per_node() const { return tasks / nodes; }
};
// The number of this node of a gang's rerun, which a step that leaves out the first node, or an
// Indexed Job, started. Errors as empty.
std::optional<int> NodeOfStep(const Variables& environment);

// By a task's environment; empty: it is the only process of its run, or on the way to start others
// (a batch script). Errors as empty: numbers that contradict each other.
std::optional<TaskPlace> TaskPlaceOf(const Variables& environment);

// The same of a step alone; errors as empty.
std::optional<int> NodeOfOwnStep(const Variables& environment);
// In an allocation of several nodes, and in no step of it, which may have fewer: how many. 0: in
// none.
int NodesOfAllocation(const Variables& environment);
// How many tasks it has on each node; 0: not known.
int TasksPerNodeOfAllocation(const Variables& environment);

// Of a heterogeneous job of Slurm, whose nodes have several kinds of allocation: how many; else 0.
int PartsOfMixedJob(const Variables& environment);

// The names of rendezvous variables that are set, sorted.
std::vector<std::string> RendezvousNames(const Variables& environment);
bool IsRendezvousVariable(std::string_view name);

// Has the Service of a gang of pods: pod N is SERVICE-N.SERVICE.
inline constexpr char kServiceVariable[] = "RHARNESS_SERVICE";

// By which the nodes of a gang of pods reach each other, by number: the names of a Service if each
// stands for the address that its node told (`resolve`: a name's), else these addresses.
std::vector<std::string> HostsOfPods(const std::string& service,
                                     const std::vector<std::string>& addresses,
                                     const std::function<std::string(const std::string&)>& resolve);

// What all nodes of a rerun know once it starts.
struct Rendezvous {
  std::string address;             // of node 0, as others reach it
  int port = 0;                    // free on node 0 when it was chosen
  std::vector<std::string> hosts;  // by node
  std::string id;                  // of this attempt
};

// Values for the recorded names, for one task (`place` without launcher and id). A name without a
// known meaning is left out.
Variables RendezvousVariables(const Gang& gang, const Rendezvous& start, const TaskPlace& place);

// The command on a node: the values of options by which tasks find each other (meeting_options.h)
// are those of this start.
std::vector<std::string> CommandOn(std::vector<std::string> command, const Rendezvous& start,
                                   int node);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RENDEZVOUS_H_
