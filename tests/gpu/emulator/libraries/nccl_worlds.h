// Communicators of the emulated NCCL, and its collectives: one process, all ranks in it.
//
// Role: what nccl.cc's functions do. Stated orders of an all-reduce: below 32 KiB a tree, in which
// rank r takes itself, then ranks 2r + 1 and 2r + 2 with what is below them, and rank 0 has the
// sum; else a ring: two halves, each in a chunk a rank; chunk q begins at rank q + 1 and ends at
// q, in the second half it begins at q - 1 and goes down. A reduce-scatter's share q is as a chunk
// of the first half. Each addition is rounded to the type.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_NCCL_WORLDS_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_NCCL_WORLDS_H_

#include <nccl.h>

#include <memory>
#include <string>
#include <vector>

namespace rharness {

struct NcclWorld {
  std::vector<ncclComm_t> members;  // by rank
};

enum class NcclKind { kAllReduce, kReduceScatter, kAllGather };
struct NcclCall {
  ncclComm_t comm = nullptr;
  NcclKind kind = NcclKind::kAllReduce;
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t count = 0;  // as the function has it: of a share, but for an all-reduce
  ncclDataType_t type = ncclFloat32;
  const void* stream = nullptr;
};

bool NcclAdds(ncclDataType_t type);  // whether these libraries have it
std::size_t NcclSizeOf(ncclDataType_t type);

// One call of every rank, by rank, alike in kind, count and type. False after a fault.
bool RunNccl(const std::vector<NcclCall>& calls);

}  // namespace rharness

struct ncclComm {
  std::shared_ptr<rharness::NcclWorld> world;
  int rank = 0;
  int device = 0;
};

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_NCCL_WORLDS_H_
