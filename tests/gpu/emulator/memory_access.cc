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

// Whether an earlier touch of this epoch is in order before what `thread` does now.
bool InOrder(const WarpState& warp, const SharedTouch& earlier, unsigned thread) {
  if (earlier.thread == kNobody || earlier.epoch < warp.block->epoch) return true;
  if (earlier.thread == thread) return true;
  return earlier.thread / kLanes == thread / kLanes && earlier.warp_epoch < warp.warp_epoch;
}

void RecordRead(const WarpState& warp, unsigned thread, SharedByte* byte) {
  // A read that is in order after all earlier ones stands for them.
  const bool in_order = InOrder(warp, byte->read, thread) && !byte->read_by_many;
  byte->read_by_many = !in_order && byte->read.epoch == warp.block->epoch;
  byte->read = {thread, warp.block->epoch, warp.warp_epoch};
}

// The thread that races with this access; kNobody if none does.
unsigned RacesWith(const WarpState& warp, unsigned thread, bool write, const SharedByte& byte) {
  if (!InOrder(warp, byte.write, thread)) return byte.write.thread;
  if (!write) return kNobody;
  const bool many = byte.read_by_many && byte.read.epoch == warp.block->epoch;
  const bool synchronised =
      byte.read.thread / kLanes == thread / kLanes && byte.read.warp_epoch < warp.warp_epoch;
  if (many && !synchronised) return byte.read.thread;
  return InOrder(warp, byte.read, thread) ? kNobody : byte.read.thread;
}

bool TouchShared(WarpState& warp, const PtxInstruction& at, unsigned lane,
                 const MemoryAccess& access) {
  const unsigned thread = warp.Thread(lane);
  for (std::uint64_t k = 0; k < std::uint64_t{access.bytes} * access.elements; ++k) {
    SharedByte& byte = warp.block->touched[access.address + k];
    const unsigned other = RacesWith(warp, thread, access.write, byte);
    if (other != kNobody) {
      Fail(warp, at, lane, FaultKind::kRace,
           fmt::format("{} with no barrier after thread {}'s access", Described(access), other));
      return false;
    }
    if (access.write) {
      byte.write = {thread, warp.block->epoch, warp.warp_epoch};
      byte.proxy_fence = warp.proxy_fences[lane];
    } else {
      RecordRead(warp, thread, &byte);
    }
  }
  return true;
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
  if (access.space == PtxSpace::kShared && !access.atomic && !TouchShared(warp, at, lane, access)) {
    return nullptr;
  }
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
  MemoryAccess access{PtxSpace::kShared, offset, bytes, 1, false, true};
  std::byte* data = Reach(warp, at, 0, access);
  if (data == nullptr) return nullptr;
  for (unsigned k = 0; k < bytes; ++k) {
    SharedByte& byte = warp.block->touched[offset + k];
    const unsigned writer = byte.write.thread;
    if (!InOrder(warp, byte.write, warp.Thread(0))) {
      Fail(warp, at, 0, FaultKind::kRace,
           fmt::format("{} with no barrier after thread {}'s write", Described(access), writer));
      return nullptr;
    }
    if (warp.block->warps[writer / kLanes].proxy_fences[writer % kLanes] <= byte.proxy_fence) {
      Fail(warp, at, 0, FaultKind::kProxy,
           fmt::format("{}, which thread {} wrote without fence.proxy.async", Described(access),
                       writer));
      return nullptr;
    }
    RecordRead(warp, warp.Thread(0), &byte);
  }
  return data;
}

}  // namespace rharness
