// A gang: one run over several nodes or of several tasks. All of them start, or none does.
//
// Role: part of a manifest and, as GangParts, of evidence. A run of one process on one node has
// none. Terms: a node has a number from 0 on, node 0 is the head; a task is a process that the
// start form makes, and its rank is its number in the whole run. Node 0's facts and rank 0's
// observation are those of the record itself; the others hold only what differs from them.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_GANG_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_GANG_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/member_facts.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/observation.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// How the recorded command is started in a rerun.
enum class GangStart {
  kOnce,     // on node 0 alone: it starts the others itself (srun, mpirun)
  kPerNode,  // on each node (torchrun --nnodes)
  kPerTask,  // for each task (srun python train.py)
};
// Where the run's own folder lies.
enum class GangWorkspace {
  kShared,  // on a file system that all nodes see
  kLocal,   // each node has one of its own
};
inline constexpr NameTable<GangStart, 3> kGangStartNames = {{{GangStart::kOnce, "once"},
                                                             {GangStart::kPerNode, "per_node"},
                                                             {GangStart::kPerTask, "per_task"}}};
inline constexpr NameTable<GangWorkspace, 2> kGangWorkspaceNames = {
    {{GangWorkspace::kShared, "shared"}, {GangWorkspace::kLocal, "local"}}};

struct GangNode {
  std::string host;
  std::optional<Environment> environment;  // empty: as node 0's
};

struct GangRank {
  int node = 0;
  std::string outcome;  // in words, of evidence; empty: it exited with 0
  // As in Observation; empty: as rank 0's.
  std::optional<std::map<std::string, std::vector<std::string>>> seeds;
  std::optional<std::map<std::string, std::string>> flags;
  std::optional<std::map<std::string, std::string>> nccl;
  std::optional<std::vector<SeenLibrary>> libraries;
  std::optional<SeenKernels> kernels;
};

// By node number and by rank; empty: not known.
struct GangParts {
  std::vector<GangNode> nodes;
  std::vector<GangRank> ranks;
};

struct Gang {
  int nodes = 1;
  int tasks_per_node = 1;  // that the command is started for; of kOnce: as far as known
  GangStart start = GangStart::kOnce;
  GangWorkspace workspace = GangWorkspace::kShared;
  // Names of the variables by which the tasks find each other and themselves (rendezvous.h). Their
  // values are made anew in a rerun, and never compared.
  std::vector<std::string> rendezvous;
  GangParts parts;

  // Processes of the command that a rerun starts on a node, and in all: the ranks that it knows.
  int starts_on(int node) const {
    if (start == GangStart::kPerTask) return tasks_per_node;
    return start == GangStart::kPerNode || node == 0 ? 1 : 0;
  }
  int starts() const { return start == GangStart::kOnce ? 1 : nodes * starts_on(0); }
  // Entries of parts.ranks. Of kOnce one for each node, for all that ran there.
  int ranks() const { return start == GangStart::kOnce ? nodes : starts(); }
};

inline constexpr int kMostGangNodes = 16384;
inline constexpr int kMostGangTasks = 1 << 20;

// One node as it was seen, and one task.
struct SeenNode {
  std::string host;
  Environment environment;
};
struct SeenTask {
  int node = 0;
  std::string outcome;  // as in GangRank
  std::optional<Observation> observation;
};
// Leaves out what equals node 0 and rank 0. A variable of one task (LOCAL_RANK) is no difference
// between nodes, nor are packages and Python of a node on which nothing was observed. Pure.
GangParts PartsOf(const std::vector<SeenNode>& nodes, const std::vector<SeenTask>& tasks);

// What differs between the nodes and ranks of one run, as findings: "node 1 (n2): GPU driver ...".
// Seeds may differ by rank, and are none. At most 32. Pure.
std::vector<Finding> DifferencesWithin(const GangParts& parts, GangStart start,
                                       const Environment& head,
                                       const std::optional<Observation>& first);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_GANG_H_
