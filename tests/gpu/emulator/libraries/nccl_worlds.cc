// Collectives in a tree and in a ring.
#include "tests/gpu/emulator/libraries/nccl_worlds.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tests/gpu/emulator/libraries/elements.h"
#include "tests/gpu/emulator/libraries/machine.h"

namespace rharness {
namespace {

constexpr std::size_t kLeastRingBytes = std::size_t{32} << 10;

Element ElementOf(ncclDataType_t type) {
  if (type == ncclBfloat16) return Element::kBf16;
  return type == ncclFloat16 ? Element::kF16 : Element::kF32;
}

// What each rank sends, as numbers.
class Sent {
 public:
  Sent(ncclDataType_t type, std::size_t count) : element_(ElementOf(type)), count_(count) {}

  bool Add(const NcclCall& call) {
    const std::size_t size = SizeOf(element_);
    const std::byte* bytes =
        ReadFrom(call.from, count_ * size, size, call.comm->device, "NCCL: what is sent");
    if (bytes == nullptr) return false;
    std::vector<float>& values = ranks_.emplace_back(count_);
    if (element_ == Element::kF32) {
      std::memcpy(values.data(), bytes, count_ * size);
    } else {
      for (std::size_t i = 0; i < count_; ++i) {
        values[i] = static_cast<float>(Load(element_, bytes + i * size));
      }
    }
    return true;
  }

  // sum[i] += other, rounded to the type.
  void AddTo(std::vector<float>* sum, const std::vector<float>& other) const {
    for (std::size_t i = 0; i < other.size(); ++i) (*sum)[i] += other[i];
    if (element_ != Element::kF32) Round(sum);
  }
  std::vector<float> Slice(int rank, std::size_t begin, std::size_t end) const {
    const std::vector<float>& values = ranks_[static_cast<std::size_t>(rank)];
    return {values.begin() + static_cast<std::ptrdiff_t>(begin),
            values.begin() + static_cast<std::ptrdiff_t>(end)};
  }
  int ranks() const { return static_cast<int>(ranks_.size()); }

 private:
  void Round(std::vector<float>* values) const {
    std::byte bytes[4];
    for (float& value : *values) {
      Store(element_, static_cast<double>(value), bytes);
      value = static_cast<float>(Load(element_, bytes));
    }
  }

  Element element_;
  std::size_t count_;
  std::vector<std::vector<float>> ranks_;
};

std::vector<float> ByTree(const Sent& sent, int rank, std::size_t count) {
  std::vector<float> sum = sent.Slice(rank, 0, count);
  for (const int child : {2 * rank + 1, 2 * rank + 2}) {
    if (child < sent.ranks()) sent.AddTo(&sum, ByTree(sent, child, count));
  }
  return sum;
}

// From the rank beside `last` round to it.
std::vector<float> ByRing(const Sent& sent, int last, int step, std::size_t begin,
                          std::size_t end) {
  const int ranks = sent.ranks();
  std::vector<float> sum = sent.Slice((last + step + ranks) % ranks, begin, end);
  for (int i = 2; i <= ranks; ++i) {
    sent.AddTo(&sum, sent.Slice(((last + i * step) % ranks + ranks) % ranks, begin, end));
  }
  return sum;
}

std::vector<float> ReducedByRing(const Sent& sent, std::size_t count) {
  std::vector<float> all;
  const std::size_t half = (count + 1) / 2;
  for (std::size_t channel = 0; channel < 2; ++channel) {
    const std::size_t first = channel * half, last = std::min(count, first + half);
    const auto ranks = static_cast<std::size_t>(sent.ranks());
    const std::size_t chunk = (last - first + ranks - 1) / ranks;
    for (std::size_t q = 0; q < ranks; ++q) {
      const std::size_t begin = std::min(last, first + q * chunk);
      const std::size_t end = std::min(last, begin + chunk);
      const auto part = ByRing(sent, static_cast<int>(q), channel == 0 ? 1 : -1, begin, end);
      all.insert(all.end(), part.begin(), part.end());
    }
  }
  return all;
}

bool Write(const NcclCall& call, const std::vector<float>& values) {
  const Element element = ElementOf(call.type);
  const std::size_t size = SizeOf(element);
  std::byte* bytes =
      WriteTo(call.to, values.size() * size, size, call.comm->device, "NCCL: what is received");
  if (bytes == nullptr) return false;
  if (element == Element::kF32) {
    std::memcpy(bytes, values.data(), values.size() * size);
    return true;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    Store(element, static_cast<double>(values[i]), bytes + i * size);
  }
  return true;
}

// On rank 0, where NCCL_DEBUG and its file ask for it. Source of the line: NVIDIA/nccl,
// src/enqueue.cc.
void LogChoice(const char* function, std::size_t bytes, bool is_tree) {
  const char* debug = std::getenv("NCCL_DEBUG");
  const char* parts = std::getenv("NCCL_DEBUG_SUBSYS");
  const char* path = std::getenv("NCCL_DEBUG_FILE");
  const bool asked = debug != nullptr && std::string_view(debug) == "INFO" && parts != nullptr &&
                     std::strstr(parts, "TUNING") != nullptr && path != nullptr;
  std::FILE* file = asked ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file,
               "emulated:1:1 [0] NCCL INFO %s: %zu Bytes -> Algo %s proto %s channel{Lo..Hi}="
               "{0..%d}\n",
               function, bytes, is_tree ? "TREE" : "RING", is_tree ? "LL" : "SIMPLE",
               is_tree ? 0 : 1);
  std::fclose(file);
}

bool AllReduce(const std::vector<NcclCall>& calls, const Sent& sent, std::size_t bytes) {
  const bool is_tree = bytes < kLeastRingBytes;
  const bool alone = calls.size() == 1;  // a copy: NCCL does not log it
  const std::size_t count = calls[0].count;
  if (!alone) LogChoice("AllReduce", bytes, is_tree);
  const std::vector<float> sum =
      is_tree || alone ? ByTree(sent, 0, count) : ReducedByRing(sent, count);
  return std::ranges::all_of(calls, [&](const NcclCall& call) { return Write(call, sum); });
}

bool ReduceScatter(const std::vector<NcclCall>& calls, const Sent& sent, std::size_t bytes) {
  if (calls.size() > 1) LogChoice("ReduceScatter", bytes, false);
  for (std::size_t rank = 0; rank < calls.size(); ++rank) {
    const std::size_t count = calls[rank].count;
    if (!Write(calls[rank],
               ByRing(sent, static_cast<int>(rank), 1, rank * count, (rank + 1) * count))) {
      return false;
    }
  }
  return true;
}

bool AllGather(const std::vector<NcclCall>& calls, const Sent& sent, std::size_t bytes) {
  if (calls.size() > 1) LogChoice("AllGather", bytes, false);
  std::vector<float> all;
  for (int rank = 0; rank < sent.ranks(); ++rank) {
    const auto part = sent.Slice(rank, 0, calls[0].count);
    all.insert(all.end(), part.begin(), part.end());
  }
  return std::ranges::all_of(calls, [&](const NcclCall& call) { return Write(call, all); });
}

}  // namespace

bool NcclAdds(ncclDataType_t type) {
  return type == ncclFloat32 || type == ncclBfloat16 || type == ncclFloat16;
}

std::size_t NcclSizeOf(ncclDataType_t type) { return SizeOf(ElementOf(type)); }

bool RunNccl(const std::vector<NcclCall>& calls) {
  const NcclCall& first = calls[0];
  const bool scatters = first.kind == NcclKind::kReduceScatter;
  const std::size_t count = first.count * (scatters ? calls.size() : 1);
  Sent sent(first.type, count);
  for (const NcclCall& call : calls) {
    if (!sent.Add(call)) return false;
  }
  const std::size_t bytes = first.count * NcclSizeOf(first.type);
  if (scatters) return ReduceScatter(calls, sent, bytes);
  return first.kind == NcclKind::kAllGather ? AllGather(calls, sent, bytes)
                                            : AllReduce(calls, sent, bytes);
}

}  // namespace rharness
