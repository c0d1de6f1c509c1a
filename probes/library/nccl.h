// NCCL, libnccl.so.2: typed functions and the text of its errors.
//
// Role: collectives between the GPUs of one process. Not here: communicators (gpu/nccl_ranks).
#ifndef RHARNESS_PROBES_LIBRARY_NCCL_H_
#define RHARNESS_PROBES_LIBRARY_NCCL_H_

#include <nccl.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "probes/library/symbols.h"

#define RHARNESS_NCCL(X)   \
  X(ncclGetVersion)        \
  X(ncclGetErrorString)    \
  X(ncclGetUniqueId)       \
  X(ncclCommInitAll)       \
  X(ncclCommInitRank)      \
  X(ncclCommDestroy)       \
  X(ncclCommGetAsyncError) \
  X(ncclGroupStart)        \
  X(ncclGroupEnd)          \
  X(ncclAllReduce)         \
  X(ncclReduceScatter)     \
  X(ncclAllGather)

namespace rharness {

struct NcclFunctions {
  RHARNESS_NCCL(RHARNESS_DECLARE)
  // nullptr in libraries that are older than the function: 2.13, 2.18. Spelled out, so that older
  // headers do too; `config` may be null.
  const char* (*ncclGetLastError)(ncclComm_t) = nullptr;
  ncclResult_t (*ncclCommSplit)(ncclComm_t, int color, int key, ncclComm_t* made,
                                void* config) = nullptr;
};

class Nccl {
 public:
  // Needs no device; the library reads its variables in the first call that makes a communicator.
  // Errors: not_found, unsupported (a function is missing), io, internal.
  static Result<std::shared_ptr<Nccl>> Open(const std::vector<std::filesystem::path>& paths);

  // internal: "ncclCommInitAll: unhandled cuda error ...: Cuda failure '...'": its words for the
  // result, then for what went wrong last.
  Status Check(ncclResult_t result, std::string_view call) const;

  int version() const { return version_; }  // 22809 is 2.28.9
  std::string VersionText() const;          // "2.28.9"
  const Library& library() const { return *library_; }

  NcclFunctions f;

 private:
  Nccl() = default;

  std::shared_ptr<Library> library_;
  int version_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_NCCL_H_
