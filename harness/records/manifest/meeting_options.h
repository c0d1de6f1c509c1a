// The options by which the tasks of one run find each other. Pure.
//
// Role: their values are made anew in a rerun (rendezvous.h), and are no part of a configuration:
// two runs that differ only in these are replicates. Options that state a size (--nnodes, -np,
// --nproc-per-node) are none of them. Sources: PyTorch 2, "torchrun (Elastic Launch)"; accelerate
// launch --help; Slurm, srun(1); Open MPI 4, mpirun(1); MPICH, Hydra.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_MEETING_OPTIONS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_MEETING_OPTIONS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// What a program's own option states.
enum class MeetingOption {
  kAddress,   // of the head
  kPort,      // on the head
  kEndpoint,  // both, also as a URL
  kNode,      // this node's number
  kId,        // of the run
  kOwnAddress
};
// "--master_addr", "--master-addr"; empty: another option.
std::optional<MeetingOption> MeetingOptionOf(std::string_view name);

// A value in a command that only says where the tasks meet: of such an option anywhere, and of
// mpirun's and srun's own ones (-H, --host, --hostfile, --nodelist, -w, --jobid), which stand
// before the program that they start.
struct MeetingValue {
  std::size_t argument = 0;
  std::string fixed;  // its part before the value: "--master_addr=", "-w"
};
std::vector<MeetingValue> MeetingValuesIn(const std::vector<std::string>& command);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_MEETING_OPTIONS_H_
