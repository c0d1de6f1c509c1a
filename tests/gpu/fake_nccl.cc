// An NCCL on the memory of fake_gpus.cc: small sums go up a tree, large ones round a ring whose
// chunks start at different ranks. FAKE_NCCL plants a fault:
//   "unequal": the last rank holds another last element; "wrong": the last rank is not added;
//   "history": communicators made after a split go round the other way; "restless": every other sum
//   does; "silent": no log;
//   "fails": no communicator is made.
#include <nccl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "probes/gpu/number_type.h"
#include "tests/gpu/fake_memory.h"

namespace {

using rharness::NumberType;

constexpr std::size_t kTreeBytes = 32768;
constexpr std::size_t kChannels = 2;

bool Planted(const char* fault) {
  const char* planted = std::getenv("FAKE_NCCL");
  return planted != nullptr && std::strcmp(planted, fault) == 0;
}

int parts_alive = 0;  // communicators that came of a split

struct World {
  std::vector<ncclComm*> members;
  bool backwards = false;
};

}  // namespace

struct ncclComm {
  std::shared_ptr<World> world;
  int rank = 0;
  int device = 0;
  bool part = false;
};

namespace {

struct Call {
  ncclComm* comm;
  const char* from;
  char* to;
  std::size_t count;
  ncclDataType_t type;
  const char* function;
};

int depth = 0;
std::vector<Call> calls;
std::map<std::string, std::shared_ptr<World>> worlds_by_id;

NumberType TypeOf(ncclDataType_t type) {
  return type == ncclBfloat16  ? NumberType::kBf16
         : type == ncclFloat16 ? NumberType::kFp16
                               : NumberType::kFp32;
}

float Load(ncclDataType_t type, const char* at) {
  if (type == ncclFloat32) {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  if (type == ncclFloat16) return static_cast<float>(rharness::Decode(NumberType::kFp16, bits));
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

// To nearest, ties to even.
void Store(ncclDataType_t type, float value, char* at) {
  if (type == ncclFloat32) {
    std::memcpy(at, &value, sizeof(value));
    return;
  }
  std::uint32_t wide;
  std::memcpy(&wide, &value, sizeof(wide));
  std::uint32_t bits = (wide + 0x7FFFU + ((wide >> 16) & 1U)) >> 16;
  if (type == ncclFloat16) {
    bits = static_cast<std::uint32_t>(rharness::Encode(NumberType::kFp16, value));
  }
  const auto narrow = static_cast<std::uint16_t>(bits);
  std::memcpy(at, &narrow, sizeof(narrow));
}

float Rounded(ncclDataType_t type, float value) {
  char bytes[4];
  Store(type, value, bytes);
  return Load(type, bytes);
}

// What the ranks hold of one element, added by pairs, then pairs of pairs.
float TreeSum(std::vector<float>* values, ncclDataType_t type) {
  for (std::size_t distance = 1; distance < values->size(); distance *= 2) {
    for (std::size_t r = 0; r + distance < values->size(); r += 2 * distance) {
      (*values)[r] = Rounded(type, (*values)[r] + (*values)[r + distance]);
    }
  }
  return values->front();
}

// Elements [begin, end), whose sums start at one rank.
struct Chunk {
  std::size_t end;
  std::size_t rank;
};

// Element i of n is of one of two channels; a chunk's sum starts at the rank of its number.
Chunk ChunkOf(std::size_t i, std::size_t n, std::size_t ranks) {
  const std::size_t channel = (n + kChannels - 1) / kChannels, size = (channel + ranks - 1) / ranks;
  const std::size_t start = i / channel * channel, rank = (i - start) / size;
  return {std::min({n, start + channel, start + (rank + 1) * size}), rank};
}

float RingSum(const World& world, const std::vector<float>& values, ncclDataType_t type,
              std::size_t rank) {
  float sum = values[rank];
  for (std::size_t step = 1; step < values.size(); ++step) {
    rank = (rank + (world.backwards ? values.size() - 1 : 1)) % values.size();
    sum = Rounded(type, sum + values[rank]);
  }
  return sum;
}

void Log(const Call& call, std::size_t bytes) {
  const char* path = std::getenv("NCCL_DEBUG_FILE");
  if (path == nullptr || Planted("silent")) return;
  std::FILE* file = std::fopen(path, "a");
  if (file == nullptr) return;
  const bool tree = bytes <= kTreeBytes;
  std::fprintf(file,
               "host:1:1 [0] NCCL INFO %s: %zu Bytes -> Algo %s proto %s channel{Lo..Hi}={0..%d}\n",
               call.function, bytes, tree ? "TREE" : "RING", tree ? "LL" : "SIMPLE",
               tree ? 0 : static_cast<int>(kChannels) - 1);
  std::fclose(file);
}

// All calls of one world; in place or not, since sums are made before they are stored.
ncclResult_t Reduce(const std::vector<Call>& group) {
  World& world = *group.front().comm->world;
  if (Planted("restless")) world.backwards = !world.backwards;
  const ncclDataType_t type = group.front().type;
  const std::size_t width = rharness::BytesOf(TypeOf(type)), n = group.front().count;
  std::vector<const char*> from;
  for (const Call& call : group) from.push_back(call.from);
  std::vector<char> sums(n * width);
  std::vector<float> values(from.size());
  const bool wrong = Planted("wrong"), tree = n * width <= kTreeBytes;
  Chunk chunk{};
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = i * width;
    const bool starts = i == chunk.end;
    if (starts) chunk = tree ? Chunk{n, 0} : ChunkOf(i, n, from.size());
    // Masks are alike over millions of elements.
    const auto repeats = [&](const char* one) {
      return std::memcmp(one + at, one + at - width, width) == 0;
    };
    if (!starts && std::all_of(from.begin(), from.end(), repeats)) {
      std::memcpy(sums.data() + at, sums.data() + at - width, width);
      continue;
    }
    for (std::size_t r = 0; r < from.size(); ++r) values[r] = Load(type, from[r] + at);
    if (wrong) values.back() = 0;
    Store(type, tree ? TreeSum(&values, type) : RingSum(world, values, type, chunk.rank),
          sums.data() + at);
  }
  for (const Call& call : group) std::memcpy(call.to, sums.data(), sums.size());
  const Call& last = group.back();
  if (Planted("unequal")) last.to[n * width - 1] = static_cast<char>(last.to[n * width - 1] ^ 1);
  return ncclSuccess;
}

ncclResult_t RunGroup() {
  std::map<World*, std::vector<Call>> by_world;
  for (const Call& call : calls) by_world[call.comm->world.get()].push_back(call);
  calls.clear();
  for (const auto& [world, group] : by_world) {
    if (group.size() != world->members.size()) return ncclInvalidUsage;
    const Call& first = group.front();
    const std::size_t bytes = first.count * rharness::BytesOf(TypeOf(first.type));
    Log(first, bytes);
    if (group.size() == 1) std::memmove(first.to, first.from, bytes);  // of one rank all are copies
    if (group.size() > 1 && std::strcmp(first.function, "AllReduce") == 0) Reduce(group);
  }
  return ncclSuccess;
}

bool IsOf(int device, const void* address) {
  return rharness::FakeDeviceOf(reinterpret_cast<std::uintptr_t>(address)) == device;
}

// A stream of fake_gpus.cc is its device's number and one.
ncclResult_t Add(const Call& call, cudaStream_t stream) {
  const int device = call.comm->device;
  const bool right =
      IsOf(device, call.from) && IsOf(device, call.to) &&
      reinterpret_cast<std::uintptr_t>(stream) == static_cast<std::uintptr_t>(device) + 1;
  if (!right) return ncclInvalidArgument;
  calls.push_back(call);
  return depth == 0 ? RunGroup() : ncclSuccess;
}

ncclComm* Join(const std::shared_ptr<World>& world, int device) {
  auto* comm = new ncclComm{world, static_cast<int>(world->members.size()), device};
  world->members.push_back(comm);
  world->backwards = Planted("history") && parts_alive > 0;
  return comm;
}

}  // namespace

extern "C" {
ncclResult_t ncclGetVersion(int* version) {
  const char* text = std::getenv("FAKE_NCCL_VERSION");
  *version = text != nullptr ? std::atoi(text) : 22809;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclInvalidArgument ? "invalid argument" : "unhandled cuda error";
}
const char* ncclGetLastError(ncclComm_t) { return "planted by the test"; }
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static int made = 0;
  std::snprintf(id->internal, sizeof(id->internal), "world %d", ++made);
  return ncclSuccess;
}
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  if (Planted("fails")) return ncclUnhandledCudaError;
  const auto world = std::make_shared<World>();
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < i; ++j) {
      if (devices[i] == devices[j]) return ncclInvalidUsage;
    }
    comms[i] = Join(world, devices[i]);
  }
  return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int count, ncclUniqueId id, int rank) {
  auto& world = worlds_by_id[id.internal];
  if (world == nullptr) world = std::make_shared<World>();
  if (rank != static_cast<int>(world->members.size()) || rank >= count) return ncclInvalidUsage;
  *comm = Join(world, 0);
  return ncclSuccess;
}
// Members of one colour come in rising key, as they do in the probes.
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int, ncclComm_t* made, ncclConfig_t*) {
  static std::map<std::pair<std::shared_ptr<World>, int>, std::shared_ptr<World>> parts;
  auto& part = parts[{comm->world, color}];
  if (part == nullptr) part = std::make_shared<World>();
  *made = Join(part, comm->device);
  (*made)->part = true;
  ++parts_alive;
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  parts_alive -= comm->part ? 1 : 0;
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* state) {
  *state = ncclSuccess;
  return ncclSuccess;
}
ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() { return --depth == 0 ? RunGroup() : ncclSuccess; }
#if !defined(FAKE_incomplete)
ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t, ncclComm_t comm, cudaStream_t stream) {
  return Add(
      {comm, static_cast<const char*>(from), static_cast<char*>(to), count, type, "AllReduce"},
      stream);
}
#endif
ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type,
                               ncclRedOp_t, ncclComm_t comm, cudaStream_t stream) {
  return Add(
      {comm, static_cast<const char*>(from), static_cast<char*>(to), count, type, "ReduceScatter"},
      stream);
}
ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return Add(
      {comm, static_cast<const char*>(from), static_cast<char*>(to), count, type, "AllGather"},
      stream);
}
}
