// The members of a gang. What equals node 0 and rank 0 is left out.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_GANG_MEMBERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_GANG_MEMBERS_H_

#include "harness/base/strict_members.h"
#include "harness/records/manifest/environment_members.h"
#include "harness/records/manifest/gang.h"
#include "harness/records/manifest/observation_members.h"

namespace rharness {

template <class Io, Is<GangNode> T>
void Members(Io& io, T& node) {
  io.Noun("A node of the run.");
  io.May(kPlainText, "host", node.host, About("Its name. Not compared.").Examples("gpu-07"));
  io.ObjectUnlessEmpty("environment", node.environment,
                       "Its environment and hardware. Absent: as node 0's, which is the record's.");
}

template <class Io, Is<GangRank> T>
void Members(Io& io, T& rank) {
  io.Noun("A task of the run.");
  io.Must(kCountNumber, "node", rank.node, About("The number of its node.").Examples("1"));
  io.UnlessEmpty("outcome", rank.outcome,
                 About("How it ended; absent: with 0, or of a record.").Examples("exited with 1"));
  io.UnlessEmpty(NamesByNameKind(), "seeds", rank.seeds,
                 "As in an observation; absent, here and below: as rank 0's.");
  io.UnlessEmpty(NamesByNameKind(), "flags", rank.flags, "Determinism flags at its end.");
  io.UnlessEmpty(NamesByNameKind(), "nccl", rank.nccl, "What NCCL's log says.");
  io.ListUnlessEmpty("libraries", rank.libraries, "Libraries that it mapped.");
  io.ObjectUnlessEmpty("kernels", rank.kernels, "GPU kernels that it launched.");
}

template <class Io, Is<GangParts> T>
void Members(Io& io, T& parts) {
  io.Noun("The nodes and tasks of a run, as they were seen. Absent: not looked at.");
  io.List("nodes", parts.nodes, "By number.");
  io.List("ranks", parts.ranks, "By rank.");
}

void CheckMembers(JsonReader& reader, const GangParts& parts);
void CheckMembers(JsonReader& reader, const Gang& gang);

template <class Io, Is<Gang> T>
void Members(Io& io, T& gang) {
  io.Noun("How the run is spread over nodes and tasks. Absent: one process on one node.");
  io.Must(kCountNumber, "nodes", gang.nodes, About("Nodes, from 1.").Examples("2"));
  io.Must(kCountNumber, "tasks_per_node", gang.tasks_per_node,
          About("Processes of the command on each node.").Examples("8"));
  io.Must(EnumKind<kGangStartNames>(), "start", gang.start,
          "Where the command is started: once on node 0, on each node, or for each task.");
  io.May(EnumKind<kGangWorkspaceNames>(), "workspace", gang.workspace,
         "Whether the nodes share the run's folder.");
  io.UnlessEmpty(kNames, "rendezvous", gang.rendezvous,
                 About("Variables by which the tasks find each other; a rerun makes their values.")
                     .Examples(R"(["MASTER_ADDR", "RANK"])"));
  io.MayObject("parts", gang.parts);
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_GANG_MEMBERS_H_
