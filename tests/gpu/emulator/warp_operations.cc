// What the lanes of a warp do together: shuffles, votes, fences. Source: PTX ISA, "shfl.sync",
// "vote.sync", "bar.warp.sync", "fence".
//
// warp_run.cc calls these when all lanes that the mask names have come.
#include <fmt/format.h>

#include "tests/gpu/emulator/lane_values.h"

namespace rharness {
namespace {

struct ShuffleSource {
  unsigned lane = 0;
  bool in_range = false;  // the predicate; else the lane's own value
};

ShuffleSource SourceOf(const PtxInstruction& i, unsigned lane, std::uint64_t b, std::uint64_t c) {
  const unsigned by = b & 31U, segment = (c >> 8) & 31U, clamp = c & 31U;
  const int highest = static_cast<int>((lane & segment) | (clamp & ~segment));
  const int self = static_cast<int>(lane), step = static_cast<int>(by);
  int from = static_cast<int>((lane & segment) | (by & ~segment));  // .idx
  if (i.Has("up")) from = self - step;
  if (i.Has("down")) from = self + step;
  if (i.Has("bfly")) from = static_cast<int>(lane ^ by);
  const bool in_range = i.Has("up") ? from >= highest : from <= highest;
  return {static_cast<unsigned>(in_range ? from : self), in_range};
}

void Shuffle(WarpState& warp, const PtxInstruction& i) {
  const std::uint64_t *a = warp.Slot(i.Slot(1)), *b = warp.Slot(i.Slot(2)),
                      *c = warp.Slot(i.Slot(3));
  std::array<std::uint64_t, kLanes> before{};
  std::copy(a, a + kLanes, before.begin());
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const int second = i.operands[0].second;
  ForActive(warp, [&](unsigned lane) {
    const ShuffleSource from = SourceOf(i, lane, b[lane], c[lane]);
    if ((warp.active >> from.lane & 1U) == 0) {
      Fail(warp, i, lane, FaultKind::kWarp,
           fmt::format("a value of lane {}, which takes no part", from.lane));
      return;
    }
    d[lane] = before[from.lane] & 0xffffffffU;
    if (second >= 0) warp.Slot(second)[lane] = from.in_range ? 1 : 0;
  });
}

void Vote(WarpState& warp, const PtxInstruction& i) {
  const std::uint64_t* p = warp.Slot(i.Slot(1));
  std::uint32_t votes = 0;
  ForActive(warp, [&](unsigned lane) {
    if (((p[lane] & 1) != 0) != i.operands[1].negated) votes |= 1U << lane;
  });
  std::uint64_t result = votes;
  if (i.Has("any")) result = votes != 0 ? 1 : 0;
  if (i.Has("all")) result = votes == warp.active ? 1 : 0;
  if (i.Has("uni")) result = votes == warp.active || votes == 0 ? 1 : 0;
  std::uint64_t* d = warp.Slot(i.Slot(0));
  ForActive(warp, [&](unsigned lane) { d[lane] = result; });
}

void SynchroniseWarp(WarpState& warp, const PtxInstruction&) { ++warp.warp_epoch; }

void FenceProxy(WarpState& warp, const PtxInstruction&) {
  ForActive(warp, [&](unsigned lane) { ++warp.proxy_fences[lane]; });
}

// An operation is done when it ends; what must not be seen of it before is checked.
void OrderWgmma(WarpState& warp, const PtxInstruction& i) {
  WgmmaOrder& wgmma = warp.frame->wgmma;
  if (i.Has("fence")) wgmma.Fence();
  if (i.Has("commit_group")) wgmma.Commit();
  if (i.Has("wait_group")) wgmma.Wait(warp.Slot(i.Slot(0))[0]);
}

void Nothing(WarpState&, const PtxInstruction&) {}

}  // namespace

PtxOperation WarpOperation(const PtxInstruction& i) {
  const std::string& name = i.opcode;
  if (name == "shfl" && i.Has("sync")) return i.operands.size() == 5 ? Shuffle : nullptr;
  if (name == "vote" && i.Has("sync")) return i.operands.size() == 3 ? Vote : nullptr;
  if (name == "bar") return i.Has("warp") ? SynchroniseWarp : i.Has("sync") ? Nothing : nullptr;
  if (name == "fence") return i.Has("proxy") ? (i.Has("async") ? FenceProxy : nullptr) : Nothing;
  // Blocks follow one another: nobody is waited for by sleeping.
  if (name == "membar" || name == "nanosleep") return Nothing;
  if (name == "wgmma" && !i.Has("mma_async")) {
    return i.Has("wait_group") && i.operands.size() != 1 ? nullptr : OrderWgmma;
  }
  const bool flow = name == "bra" || name == "ret" || name == "exit" || name == "call";
  return flow ? Nothing : nullptr;
}

}  // namespace rharness
