// Checks of memory accesses.
#include "tests/gpu/emulator/memory_access.h"

#include <fmt/format.h>

#include <algorithm>

namespace rharness {
namespace {

std::string_view SpaceName(PtxSpace space) {
  switch (space) {
    case PtxSpace::kShared:
      return "shared";
    case PtxSpace::kLocal:
      return "local";
    case PtxSpace::kParameter:
      return "parameter";
    default:
      return "global";
  }
}

std::string Described(const MemoryAccess& access) {
  return fmt::format("{} of {} bytes of {} memory at {:#x}", access.write ? "a write" : "a read",
                     access.bytes * access.elements, SpaceName(access.space), access.address);
}

MemoryView Within(std::byte* data, unsigned char* written, std::uint64_t size, std::uint64_t offset,
                  std::uint64_t bytes) {
  if (offset > size || bytes > size - offset) return {};
  return {data + offset, written + offset};
}

// A generic address is of the space whose window it is in.
void Place(MemoryAccess* access) {
  if (access->space != PtxSpace::kGeneric) return;
  access->space = PtxSpace::kGlobal;
  if (access->address >= kGlobalWindow) return;
  if (access->address >= kSharedWindow) {
    access->space = PtxSpace::kShared;
    access->address -= kSharedWindow;
  } else if (access->address >= kLocalWindow) {
    access->space = PtxSpace::kLocal;
  }
}

MemoryView Find(WarpState& warp, unsigned lane, const MemoryAccess& access, std::uint64_t bytes) {
  BlockState& block = *warp.block;
  if (access.space == PtxSpace::kShared) {
    return Within(block.shared.data(), block.shared_written.data(), block.shared.size(),
                  access.address, bytes);
  }
  if (access.space == PtxSpace::kLocal) {
    if (access.address < kLocalWindow) return {};
    const std::size_t first = std::size_t{lane} * warp.local_bytes;
    return Within(warp.local.data() + first, warp.local_written.data() + first, warp.local_bytes,
                  access.address - kLocalWindow, bytes);
  }
  return block.memory->Find(access.address, bytes);
}

MemoryTouch TouchBy(const WarpState& warp, unsigned lane, bool strong) {
  return {warp.block->launch,
          warp.block->block,
          warp.block->epoch,
          warp.warp_epoch,
          static_cast<std::uint16_t>(warp.Thread(lane)),
          strong};
}

std::string NameOf(const WarpState& warp, const MemoryTouch& other) {
  if (other.block != warp.block->block) {
    return fmt::format("while thread {} of block {} touches it", other.thread, other.block);
  }
  return fmt::format("with no barrier after thread {}'s access", other.thread);
}

bool Touch(WarpState& warp, const PtxInstruction& at, unsigned lane, const MemoryAccess& access,
           std::span<Touched> touched) {
  const MemoryTouch now = TouchBy(warp, lane, access.atomic || access.strong);
  for (Touched& one : touched) {
    const TouchHistory* races = nullptr;
    if (one.writes.RacesWith(now)) races = &one.writes;
    if (access.write && one.reads.RacesWith(now)) races = &one.reads;
    if (races != nullptr) {
      Fail(warp, at, lane, FaultKind::kRace,
           fmt::format("{} {}", Described(access), NameOf(warp, races->last())));
      return false;
    }
    if (access.write) {
      one.writes.Record(now);
      one.proxy_fence = warp.proxy_fences[lane];
    } else {
      one.reads.Record(now);
    }
  }
  return true;
}

bool IsInOrder(WarpState& warp, const PtxInstruction& at, unsigned lane,
               const MemoryAccess& access) {
  if (access.by_proxy || access.space == PtxSpace::kLocal) return true;
  const std::uint64_t bytes = std::uint64_t{access.bytes} * access.elements;
  BlockState& block = *warp.block;
  return Touch(warp, at, lane, access,
               access.space == PtxSpace::kShared ? block.touched.Of(access.address, bytes)
                                                 : block.memory->TouchesOf(access.address, bytes));
}

}  // namespace

std::byte* Reach(WarpState& warp, const PtxInstruction& at, unsigned lane,
                 const MemoryAccess& wanted) {
  MemoryAccess access = wanted;
  Place(&access);
  const std::uint64_t bytes = std::uint64_t{access.bytes} * access.elements;
  if (access.address % bytes != 0) {
    Fail(warp, at, lane, FaultKind::kMisaligned,
         fmt::format("{}, which is no multiple of its size", Described(access)));
    return nullptr;
  }
  const MemoryView view = Find(warp, lane, access, bytes);
  if (view.data == nullptr) {
    Fail(warp, at, lane, FaultKind::kOutOfBounds, Described(access) + ", out of bounds");
    return nullptr;
  }
  if (!IsInOrder(warp, at, lane, access)) return nullptr;
  bool written = true;
  for (std::uint64_t k = 0; k < bytes; ++k) written = written && view.written[k] != 0;
  if (!written && (!access.write || access.atomic)) {
    Fail(warp, at, lane, FaultKind::kUnwritten, Described(access) + ", which nobody wrote");
    return nullptr;
  }
  if (access.write) std::fill_n(view.written, bytes, std::uint8_t{1});
  return view.data;
}

const std::byte* ReachByProxy(WarpState& warp, const PtxInstruction& at, std::uint64_t offset,
                              unsigned bytes) {
  MemoryAccess access{.space = PtxSpace::kShared, .address = offset, .bytes = bytes};
  access.by_proxy = true;
  std::byte* data = Reach(warp, at, 0, access);
  if (data == nullptr) return nullptr;
  const MemoryTouch now = TouchBy(warp, 0, false);
  for (Touched& one : warp.block->touched.Of(offset, bytes)) {
    const unsigned writer = one.writes.last().thread;
    if (one.writes.RacesWith(now)) {
      Fail(warp, at, 0, FaultKind::kRace,
           fmt::format("{} with no barrier after thread {}'s write", Described(access), writer));
      return nullptr;
    }
    if (warp.block->warps[writer / kLanes].proxy_fences[writer % kLanes] <= one.proxy_fence) {
      Fail(warp, at, 0, FaultKind::kProxy,
           fmt::format("{}, which thread {} wrote without fence.proxy.async", Described(access),
                       writer));
      return nullptr;
    }
    one.reads.Record(now);
  }
  return data;
}

}  // namespace rharness
