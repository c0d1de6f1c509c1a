// The GPUs of this process as ranks of NCCL: communicators, buffers, collectives, and its log.
//
// Role: the basis of the nccl_* probes. One thread drives all ranks, so every collective is a
// group, and each call waits for its end. Not here: the meaning of results (rank_orders) and of the
// log (nccl_log).
#ifndef RHARNESS_PROBES_GPU_NCCL_RANKS_H_
#define RHARNESS_PROBES_GPU_NCCL_RANKS_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/records/manifest/nccl_log.h"
#include "probes/gpu/device.h"
#include "probes/library/nccl.h"
#include "probes/probe.h"

namespace rharness {

enum class Collective { kAllReduce, kReduceScatter, kAllGather };
std::string_view CollectiveName(Collective collective);  // "all_reduce"

// Sends NCCL's log of its tuning to a private file, by the variables that the library reads when it
// starts: create it before the library starts, and once per process. It also keeps the library from
// writing to stdout. Restores the variables at its end.
class NcclLog {
 public:
  static Result<std::unique_ptr<NcclLog>> Start();
  ~NcclLog();
  NcclLog(const NcclLog&) = delete;
  NcclLog& operator=(const NcclLog&) = delete;

  // The choices since the last call, for a collective or from lines without a name. Errors: io,
  // invalid_input (a log of more than 256 MiB).
  Result<std::vector<TuningChoice>> Take(Collective collective);

 private:
  explicit NcclLog(ScopedTempDir folder) : folder_(std::move(folder)) {}
  void Set(const std::string& name, const std::string& value);

  ScopedTempDir folder_;
  std::map<std::string, std::optional<std::string>> before_;
  std::size_t taken_bytes_ = 0;
};

// NCCL, its log, and the devices that are ranks: all that this process sees. With one device there
// is one rank, and NCCL adds nothing; two ranks share it where the library is 2.30 or later and
// NCCL_MULTI_RANK_GPU_ENABLE is set to a number other than 0.
class NcclRanks {
 public:
  // Errors: those of Device::Open and Nccl::Open.
  static Result<std::unique_ptr<NcclRanks>> Open(const ProbeContext& context);
  ~NcclRanks();
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;

  int size() const { return static_cast<int>(ranks_.size()); }
  bool shared() const { return shared_; }  // two ranks on one device
  const Nccl& nccl() const { return *nccl_; }
  NcclLog& log() const { return *log_; }
  Result<const Device*> Activate(int rank) const;  // its context made this thread's
  CUstream stream(int rank) const { return ranks_[static_cast<std::size_t>(rank)].stream; }
  int ordinal(int rank) const { return ranks_[static_cast<std::size_t>(rank)].ordinal; }
  Status WaitForAll() const;

  // The first entries of every nccl_* probe: the library into the stack, the number of ranks into
  // the choices, and notes on what one rank, or two on one device, cannot show.
  void Describe(ProbeResult* result) const;

 private:
  struct Rank {
    std::shared_ptr<Device> device;
    CUstream stream = nullptr;
    int ordinal = 0;
  };
  NcclRanks() = default;
  Status Add(const ProbeContext& context, int ordinal);

  std::unique_ptr<NcclLog> log_;
  std::shared_ptr<Nccl> nccl_;
  std::vector<Rank> ranks_;
  bool shared_ = false;
};

// Device memory of each rank, of one size.
class RankBuffers {
 public:
  // Zeroed. Errors: internal, when a device has no more.
  static Result<std::unique_ptr<RankBuffers>> Allocate(const NcclRanks& ranks, std::size_t bytes);
  ~RankBuffers();
  RankBuffers(const RankBuffers&) = delete;
  RankBuffers& operator=(const RankBuffers&) = delete;

  std::size_t bytes() const { return bytes_; }
  std::byte* at(int rank) const;
  Status Write(int rank, std::span<const std::byte> bytes) const;
  Result<std::vector<std::byte>> Read(int rank, std::size_t bytes) const;

 private:
  RankBuffers(const NcclRanks& ranks, std::size_t bytes) : ranks_(ranks), bytes_(bytes) {}

  const NcclRanks& ranks_;
  std::size_t bytes_;
  std::vector<DeviceBuffer> buffers_;
};

class Communicator {
 public:
  static Result<std::unique_ptr<Communicator>> Create(const NcclRanks& ranks);
  // Communicators of two neighbouring ranks each (the last may be alone). Errors: unsupported when
  // the library has no ncclCommSplit.
  Result<std::unique_ptr<Communicator>> SplitInPairs() const;
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // Sums (or gathers) over ranks and waits. `bytes` is the size of the whole buffer; in
  // ReduceScatter and AllGather each rank has a share of it: rank r's is the r-th, in place in
  // `to`.
  Status Run(Collective collective, ncclDataType_t type, std::size_t element_bytes,
             std::size_t bytes, const RankBuffers& from, const RankBuffers& to) const;

 private:
  explicit Communicator(const NcclRanks& ranks) : ranks_(ranks) {}
  Status Start();
  Status CheckErrors() const;

  const NcclRanks& ranks_;
  std::vector<ncclComm_t> comms_;
};

// Calls `measure` with communicators of different history: the first one, one made afresh while the
// first still lives, and one made after communicators of pairs of ranks, which have reduced
// something and still live too. `history` is "first", "fresh", "after sub-communicators"; the last
// is left out, with a note, where the library cannot split.
using Measure = std::function<Status(const std::string& history, const Communicator& world)>;
Status ForEachHistory(const NcclRanks& ranks, const Measure& measure, ProbeResult* result);

// Of one rank each collective must give back what was sent; choices["one rank"]. Errors: integrity.
Status RunOneRank(const NcclRanks& ranks, ProbeResult* result);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_NCCL_RANKS_H_
