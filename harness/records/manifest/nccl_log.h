// What NCCL chose, by its log: version, network, channels, and a collective's algorithm.
//
// Role: the library has no function for it, so its log is read: lines written with NCCL_DEBUG=INFO,
// those of algorithms with NCCL_DEBUG_SUBSYS=TUNING, too. Of probes and of runs. Pure.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_NCCL_LOG_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_NCCL_LOG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"

namespace rharness {

struct TuningChoice {
  std::string function;  // "AllReduce"; empty: not in the line
  std::uint64_t bytes = 0;
  std::string algorithm;  // "RING", in capitals; "SYMMETRIC" for kernels on symmetric memory
  std::string protocol;   // "SIMPLE", in capitals; empty for SYMMETRIC
  std::string kernel;     // of SYMMETRIC
  std::optional<int> first_channel;
  std::optional<int> last_channel;
  bool operator==(const TuningChoice&) const = default;
};

// One per line with a choice, in order; ignores all other lines, and lines with an unexpected part.
// Known forms:
//   "AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}", with anything after it,
//   "AllReduce: 1024 Bytes -> Algo 1 proto 2 time 12.3", and the same without a name (to 2.21),
//   "AllReduce [Symmetric]: 1024 Bytes -> Kernel NAME nchannels 8 ...".
// Numbers of algorithms and protocols become names. Source: NVIDIA/nccl, src/enqueue.cc.
std::vector<TuningChoice> ParseTuningLog(std::string_view text);

// {"algorithm", "protocol", "channels": "0..1"} or {"algorithm", "kernel", "channels"}: the known
// members; {"parts": [...]} for a call that was split.
Json DescribeChoices(const std::vector<TuningChoice>& choices);

// The choices of a run in words, what a log states of them:
//   "version": "2.21.5+cuda12.4", "network": "IB",
//   "channels": "2 coll channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer",
//   "algorithms": "AllReduce RING LL, AllReduce TREE SIMPLE".
// Several values of one, as of several communicators, are sorted, between commas or, of channels,
// bars; at most 16 of each. A log of several processes gives the values of all.
// Source: NVIDIA/nccl, messages of showVersion and initTransportsRank.
std::map<std::string, std::string> ReadNcclLog(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_NCCL_LOG_H_
