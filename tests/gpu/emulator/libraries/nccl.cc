// libnccl: the functions that probes/library/nccl.h binds.
//
// Results: nccl.h 2.28.9 and NCCL's user guide, "Error handling and communicator abort", "Group
// calls". What would wait for ever there, a rank that does not take part, is ncclInvalidUsage here.
// EMULATED_NCCL: the version, 22809 if it is not set; from 23000 on ranks may share a device.
#include <nccl.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "tests/gpu/emulator/libraries/machine.h"
#include "tests/gpu/emulator/libraries/nccl_worlds.h"

namespace {

using rharness::EmulatedMachine;
using rharness::NcclCall;
using rharness::NcclKind;
using rharness::NcclWorld;
using rharness::TheMachine;

struct Joining {
  ncclComm_t* comm;
  int ranks, rank, device;
  std::string id;
};
struct Splitting {
  ncclComm_t from;
  int color, key;
  ncclComm_t* made;
};

struct State {
  std::set<ncclComm_t> alive;
  std::string last_error;
  int depth = 0;  // of groups
  ncclResult_t group_error = ncclSuccess;
  std::vector<NcclCall> calls;
  std::vector<Joining> joining;
  std::vector<Splitting> splitting;
  unsigned ids = 0;
};
State& Now() {
  static State state;
  return state;
}

ncclResult_t Refuse(ncclResult_t result, std::string text) {
  State& state = Now();
  state.last_error = std::move(text);
  if (state.depth > 0 && state.group_error == ncclSuccess) state.group_error = result;
  return result;
}

ncclResult_t Enter(std::string_view call, bool needs_device) {
  const EmulatedMachine::Entry entry = TheMachine().EnterLibrary(call);
  const bool dead = needs_device && entry == EmulatedMachine::Entry::kDeadDevice;
  if (entry != EmulatedMachine::Entry::kInjected && !dead) return ncclSuccess;
  return Refuse(ncclUnhandledCudaError, "Cuda failure of the emulated machine");
}

int Version() {
  const char* text = std::getenv("EMULATED_NCCL");
  return text == nullptr ? 22809 : std::atoi(text);
}

// Communicators of one world; the devices are different ones unless this version lets them be
// shared.
ncclResult_t MakeWorld(const std::vector<std::pair<ncclComm_t*, int>>& by_rank) {
  std::set<int> devices;
  for (const auto& [comm, device] : by_rank) {
    if (!devices.insert(device).second && Version() < 23000) {
      return Refuse(ncclInvalidUsage, "Duplicate GPU detected");
    }
  }
  auto world = std::make_shared<NcclWorld>();
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    const auto& [comm, device] = by_rank[rank];
    *comm = new ncclComm{world, static_cast<int>(rank), device};
    Now().alive.insert(*comm);
    world->members.push_back(*comm);
  }
  return ncclSuccess;
}

ncclResult_t JoinAll(const std::vector<Joining>& joining) {
  std::map<std::string, std::map<int, Joining>> worlds;
  for (const Joining& one : joining) worlds[one.id].emplace(one.rank, one);
  for (const auto& [id, ranks] : worlds) {
    if (static_cast<int>(ranks.size()) != ranks.begin()->second.ranks) {
      return Refuse(ncclInvalidUsage, "a rank is missing: this would wait for ever");
    }
    std::vector<std::pair<ncclComm_t*, int>> by_rank;
    for (const auto& [rank, one] : ranks) by_rank.emplace_back(one.comm, one.device);
    if (const ncclResult_t made = MakeWorld(by_rank)) return made;
  }
  return ncclSuccess;
}

ncclResult_t SplitAll(const std::vector<Splitting>& splitting) {
  std::map<std::pair<const NcclWorld*, int>, std::multimap<int, Splitting>> colors;
  std::map<const NcclWorld*, std::size_t> parts;
  for (const Splitting& one : splitting) {
    const NcclWorld* world = one.from->world.get();
    ++parts[world];
    *one.made = nullptr;
    if (one.color != NCCL_SPLIT_NOCOLOR) colors[{world, one.color}].emplace(one.key, one);
  }
  for (const auto& [world, count] : parts) {
    if (count == world->members.size()) continue;
    return Refuse(ncclInvalidUsage, "a rank does not split: this would wait for ever");
  }
  for (const auto& [color, ranks] : colors) {
    std::vector<std::pair<ncclComm_t*, int>> by_rank;
    for (const auto& [key, one] : ranks) by_rank.emplace_back(one.made, one.from->device);
    if (const ncclResult_t made = MakeWorld(by_rank)) return made;
  }
  return ncclSuccess;
}

// Calls of one world meet in the order in which each rank made them.
ncclResult_t RunAll(const std::vector<NcclCall>& calls) {
  std::map<const NcclWorld*, std::map<int, std::vector<NcclCall>>> worlds;
  for (const NcclCall& call : calls) {
    worlds[call.comm->world.get()][call.comm->rank].push_back(call);
  }
  for (const auto& [world, by_rank] : worlds) {
    const std::size_t rounds = by_rank.begin()->second.size();
    for (std::size_t round = 0; round < rounds; ++round) {
      std::vector<NcclCall> together;
      for (const auto& [rank, of_rank] : by_rank) {
        if (round < of_rank.size()) together.push_back(of_rank[round]);
      }
      const NcclCall& first = together[0];
      const bool agree = std::ranges::all_of(together, [&](const NcclCall& call) {
        return call.kind == first.kind && call.count == first.count && call.type == first.type;
      });
      if (together.size() != world->members.size() || !agree) {
        return Refuse(ncclInvalidUsage, "the ranks' calls do not match: they would wait for ever");
      }
      if (!RunNccl(together)) return ncclSuccess;  // the device says so when it is waited for
    }
  }
  return ncclSuccess;
}

ncclResult_t EndGroup() {
  State& state = Now();
  const auto joining = std::move(state.joining);
  const auto splitting = std::move(state.splitting);
  const auto calls = std::move(state.calls);
  state.joining.clear(), state.splitting.clear(), state.calls.clear();
  const ncclResult_t failed = std::exchange(state.group_error, ncclSuccess);
  if (failed != ncclSuccess) return failed;
  if (const ncclResult_t joined = JoinAll(joining)) return joined;
  if (const ncclResult_t split = SplitAll(splitting)) return split;
  return RunAll(calls);
}

ncclResult_t Enqueue(const NcclCall& call, ncclRedOp_t op) {
  if (!Now().alive.contains(call.comm)) {
    return Refuse(ncclInvalidArgument, "no communicator of this library");
  }
  if (!rharness::NcclAdds(call.type)) {
    return Refuse(ncclInvalidArgument, "the emulated NCCL does not have this type");
  }
  if (op != ncclSum) return Refuse(ncclInvalidArgument, "the emulated NCCL adds, and no more");
  if (call.from == nullptr || call.to == nullptr) {
    return Refuse(ncclInvalidArgument, "a buffer is null");
  }
  if (TheMachine().DeviceOfStream(call.stream) != call.comm->device) {
    return Refuse(ncclUnhandledCudaError, "the stream is none of the rank's device");
  }
  Now().calls.push_back(call);
  return Now().depth > 0 ? ncclSuccess : EndGroup();
}

}  // namespace

#define ENTER(name) \
  if (const ncclResult_t entered = Enter(#name, false)) return entered
#define ENTER_WITH_DEVICE(name) \
  if (const ncclResult_t entered = Enter(#name, true)) return entered

extern "C" {
const char* ncclGetErrorString(ncclResult_t result) {
  const auto entry = TheMachine().EnterLibrary("ncclGetErrorString");
  if (entry == EmulatedMachine::Entry::kInjected) return nullptr;
  switch (result) {
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    default:
      return "an error of the emulated NCCL";
  }
}
const char* ncclGetLastError(ncclComm_t) {
  const auto entry = TheMachine().EnterLibrary("ncclGetLastError");
  return entry == EmulatedMachine::Entry::kInjected ? nullptr : Now().last_error.c_str();
}
ncclResult_t ncclGetVersion(int* version) {
  ENTER(ncclGetVersion);
  if (version == nullptr) return Refuse(ncclInvalidArgument, "version is null");
  *version = Version();
  return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  ENTER(ncclGetUniqueId);
  if (id == nullptr) return Refuse(ncclInvalidArgument, "id is null");
  *id = {};
  std::snprintf(id->internal, sizeof(id->internal), "emulated %u", ++Now().ids);
  return ncclSuccess;
}
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  ENTER_WITH_DEVICE(ncclCommInitAll);
  if (comms == nullptr || count <= 0) return Refuse(ncclInvalidArgument, "no communicators");
  std::vector<std::pair<ncclComm_t*, int>> by_rank;
  for (int rank = 0; rank < count; ++rank) {
    const int device = devices == nullptr ? rank : devices[rank];
    if (device < 0 || device >= TheMachine().devices()) {
      return Refuse(ncclInvalidArgument, "no such device");
    }
    by_rank.emplace_back(comms + rank, device);
  }
  std::set<int> different;
  for (const auto& [comm, device] : by_rank) different.insert(device);
  if (different.size() != by_rank.size()) return Refuse(ncclInvalidUsage, "a device twice");
  return MakeWorld(by_rank);
}
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  ENTER_WITH_DEVICE(ncclCommInitRank);
  if (comm == nullptr || ranks < 1 || rank < 0 || rank >= ranks) {
    return Refuse(ncclInvalidArgument, "a rank of no communicator");
  }
  const int device = TheMachine().CurrentDevice();
  if (device < 0) return Refuse(ncclUnhandledCudaError, "no context");
  Now().joining.push_back({comm, ranks, rank, device, std::string(id.internal)});
  return Now().depth > 0 ? ncclSuccess : EndGroup();
}
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* made, ncclConfig_t*) {
  ENTER_WITH_DEVICE(ncclCommSplit);
  if (!Now().alive.contains(comm) || made == nullptr || color < NCCL_SPLIT_NOCOLOR) {
    return Refuse(ncclInvalidArgument, "nothing to split");
  }
  Now().splitting.push_back({comm, color, key, made});
  return Now().depth > 0 ? ncclSuccess : EndGroup();
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  ENTER(ncclCommDestroy);
  if (comm == nullptr) return ncclSuccess;
  if (Now().alive.erase(comm) == 0) return Refuse(ncclInvalidArgument, "destroyed before");
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  ENTER(ncclCommGetAsyncError);
  if (!Now().alive.contains(comm) || error == nullptr) {
    return Refuse(ncclInvalidArgument, "no communicator of this library");
  }
  *error = ncclSuccess;
  return ncclSuccess;
}
ncclResult_t ncclGroupStart() {
  ENTER(ncclGroupStart);
  ++Now().depth;
  return ncclSuccess;
}
// A group ends even if it fails.
ncclResult_t ncclGroupEnd() {
  State& state = Now();
  if (state.depth == 0) return Refuse(ncclInvalidUsage, "no group was started");
  const ncclResult_t entered = Enter("ncclGroupEnd", false);
  if (--state.depth > 0) return entered;
  const ncclResult_t ended = EndGroup();
  return entered != ncclSuccess ? entered : ended;
}
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  ENTER_WITH_DEVICE(ncclAllReduce);
  return Enqueue({comm, NcclKind::kAllReduce, from, to, count, type, stream}, op);
}
ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  ENTER_WITH_DEVICE(ncclReduceScatter);
  return Enqueue({comm, NcclKind::kReduceScatter, from, to, count, type, stream}, op);
}
ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  ENTER_WITH_DEVICE(ncclAllGather);
  return Enqueue({comm, NcclKind::kAllGather, from, to, count, type, stream}, ncclSum);
}
}
