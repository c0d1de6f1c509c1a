// Runs the blocks of a launch: warps in turns, barriers, warpgroups.
#include "tests/gpu/emulator/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/gpu/emulator/warp_run.h"

namespace rharness {
namespace {

class BlockRun {
 public:
  BlockRun(const LaunchRequest& request, DeviceMemory* memory) {
    block_.request = &request;
    block_.memory = memory;
    block_.launch = memory->NextLaunch();
    const PtxFunction& kernel = *request.kernel;
    block_.shared.resize(DynamicSharedBegin(kernel) + request.dynamic_shared_bytes);
    const unsigned threads = CountOf(request.threads);
    const unsigned warps = (threads + kLanes - 1) / kLanes;
    block_.warps.resize(warps);
    unsigned local = 0;
    for (const PtxFunction& one : request.program->functions) local += one.local_bytes;
    for (unsigned w = 0; w < warps; ++w) {
      WarpState& warp = block_.warps[w];
      warp.block = &block_;
      warp.first_thread = w * kLanes;
      const unsigned lanes = std::min(kLanes, threads - warp.first_thread);
      warp.lanes = lanes == kLanes ? kAllLanes : (1U << lanes) - 1;
      warp.falling = request.order % 2 == 1;
      warp.local_bytes = local;
      warp.local.resize(std::size_t{local} * kLanes);
      frames_.push_back(MakeFrame(warp, kernel, 0));
      first_.emplace_back(frames_.back().written, frames_.back().wgmma);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        std::copy(request.parameters.begin(), request.parameters.end(),
                  frames_.back().arguments.begin() + lane * kernel.argument_bytes);
      }
    }
  }

  std::optional<Fault> Run(unsigned number) {
    Start(number);
    const std::size_t count = block_.warps.size();
    while (!block_.fault) {
      for (std::size_t k = 0; k < count && !block_.fault; ++k) {
        const std::size_t w = block_.request->order % 2 == 1 ? count - 1 - k : k;
        RunFrame(block_.warps[w], frames_[w], 0);
      }
      if (block_.fault || Ended() || !(RunWarpgroups() || PassBarrier())) break;
    }
    return block_.fault;
  }

 private:
  void Start(unsigned number) {
    block_.block = number;
    block_.shared_written.assign(block_.shared.size(), 0);
    block_.touched.Clear();
    block_.epoch = 1;
    for (std::size_t w = 0; w < block_.warps.size(); ++w) {
      WarpState& warp = block_.warps[w];
      warp.exited = 0;
      warp.warp_epoch = 1;
      warp.proxy_fences.fill(1);
      warp.local_written.assign(warp.local.size(), 0);
      frames_[w].at.fill(0);
      frames_[w].running = warp.lanes;
      frames_[w].waiting = 0;
      frames_[w].written = first_[w].first;
      frames_[w].wgmma = first_[w].second;
      for (const auto& [slot, special] : frames_[w].function->specials) {
        if (special.kind != PtxSpecialKind::kBlock) continue;
        std::fill_n(frames_[w].registers.begin() + slot * static_cast<int>(kLanes), kLanes,
                    AlongAxis(block_.request->blocks, special.axis, number));
      }
    }
  }

  bool Ended() const {
    return std::ranges::all_of(block_.warps,
                               [](const WarpState& w) { return w.exited == w.lanes; });
  }

  // wgmma of four warps that all wait at it.
  bool RunWarpgroups() {
    bool any = false;
    for (std::size_t w = 0; w + 4 <= block_.warps.size() && !block_.fault; w += 4) {
      const PtxInstruction& i = InstructionAt(frames_[w], 0);
      bool all = i.flow == PtxFlow::kWarpgroup;
      for (std::size_t k = 4 * (w / 4); k < w + 4; ++k) {
        all = all && frames_[k].waiting == kAllLanes;
        for (unsigned lane = 0; lane < kLanes; ++lane)
          all = all && frames_[k].at[lane] == frames_[w].at[0];
      }
      if (!all) continue;
      ExecuteInWarpgroup(&block_.warps[w], i);
      for (std::size_t k = w; k < w + 4; ++k) Release(k);
      any = true;
    }
    return any;
  }

  void Release(std::size_t w) {
    Advance(frames_[w], frames_[w].waiting);
    frames_[w].running = frames_[w].waiting;
    frames_[w].waiting = 0;
  }

  // Every thread of the block must wait at one and the same barrier.
  bool PassBarrier() {
    const PtxInstruction* barrier = nullptr;
    unsigned waits = kNobody;
    for (std::size_t w = 0; w < block_.warps.size(); ++w) {
      WarpState& warp = block_.warps[w];
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        if ((frames_[w].waiting >> lane & 1U) == 0) continue;
        const PtxInstruction& i = InstructionAt(frames_[w], lane);
        if (barrier == nullptr) barrier = &i, waits = warp.Thread(lane);
        if (barrier == &i && i.flow == PtxFlow::kBarrier && warp.exited == 0) continue;
        const std::string why = warp.exited != 0 ? "while threads of its warp have exited"
                                                 : fmt::format("while thread {} waits at line {}",
                                                               waits, barrier->line);
        Fail(warp, i, lane, FaultKind::kBarrier, "waits " + why);
        return false;
      }
    }
    for (std::size_t w = 0; w < block_.warps.size(); ++w) {
      if (block_.warps[w].exited == 0) continue;
      Fail(block_.warps[w], *barrier, 0, FaultKind::kBarrier,
           fmt::format("has exited while thread {} waits there", waits));
      return false;
    }
    ++block_.epoch;
    for (std::size_t w = 0; w < block_.warps.size(); ++w) Release(w);
    return true;
  }

  BlockState block_;
  std::vector<PtxFrame> frames_;
  // What a block's registers start with.
  std::vector<std::pair<std::vector<std::uint32_t>, WgmmaOrder>> first_;
};

// A permutation of the blocks: an odd step from a start that the order gives.
unsigned BlockAt(const LaunchRequest& request, unsigned k) {
  const std::uint64_t blocks = CountOf(request.blocks);
  if (request.order == 0) return k;
  if (request.order == 1) return static_cast<unsigned>(blocks) - 1 - k;
  std::uint64_t step = request.order | 1U;
  while (std::gcd(step, blocks) != 1) step += 2;
  return static_cast<unsigned>((k * step + request.order) % blocks);
}

}  // namespace

std::optional<Fault> RunKernel(const LaunchRequest& request, DeviceMemory* memory) {
  BlockRun run(request, memory);
  for (unsigned k = 0; k < CountOf(request.blocks); ++k) {
    if (auto fault = run.Run(BlockAt(request, k))) return fault;
  }
  return std::nullopt;
}

std::vector<std::byte> PackParameters(const PtxFunction& kernel, void* const* values) {
  std::vector<std::byte> packed(kernel.parameter_bytes);
  for (std::size_t k = 0; k < kernel.parameters.size(); ++k) {
    const PtxPlace place = kernel.arguments.at(kernel.parameters[k]);
    std::memcpy(packed.data() + place.offset, values[k], place.bytes);
  }
  return packed;
}

std::uint64_t PlaceGlobals(const PtxProgram& program, DeviceMemory* memory) {
  const std::size_t bytes = std::max<std::size_t>(program.global_image.size(), 1);
  const std::uint64_t address = memory->Allocate(bytes);
  if (address == 0) return 0;
  const MemoryView view = memory->Find(address, bytes);
  std::copy(program.global_image.begin(), program.global_image.end(), view.data);
  std::fill_n(view.written, bytes, std::uint8_t{1});
  return address;
}

}  // namespace rharness
