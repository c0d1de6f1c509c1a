// Runs the lanes of a warp: divergence, calls, instructions of the whole warp.
#include "tests/gpu/emulator/warp_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace rharness {

unsigned AlongAxis(const LaunchExtent& extent, std::size_t axis, unsigned number) {
  for (std::size_t k = 0; k < axis; ++k) number /= extent[k];
  return number % extent[axis];
}

unsigned DynamicSharedBegin(const PtxFunction& kernel) {
  return (kernel.shared_bytes + 127) / 128 * 128;
}

void Fail(WarpState& warp, const PtxInstruction& at, unsigned lane, FaultKind kind,
          const std::string& text) {
  BlockState& block = *warp.block;
  if (block.fault) return;
  block.fault = Fault{
      kind, fmt::format("{}, line {}, block {}, thread {}: {}: {}", block.request->kernel->name,
                        at.line, block.block, warp.Thread(lane), at.opcode, text)};
}

const PtxInstruction& InstructionAt(const PtxFrame& frame, unsigned lane) {
  return frame.function->code[static_cast<std::size_t>(frame.at[lane])];
}

namespace {

// Source: PTX ISA, "Special Registers: %lanemask_eq" and those behind it.
std::uint32_t LaneMask(std::size_t which, unsigned lane) {
  const std::uint32_t own = 1U << lane, below = own - 1;
  const std::uint32_t masks[] = {own, below, below | own, ~(below | own), ~below};
  return masks[which];
}

}  // namespace

PtxFrame MakeFrame(const WarpState& warp, const PtxFunction& function, unsigned local_base) {
  const LaunchRequest& request = *warp.block->request;
  PtxFrame frame;
  frame.function = &function;
  frame.local_base = local_base;
  frame.registers.assign(static_cast<std::size_t>(function.slots) * kLanes, 0xdeadbeefdeadbeefU);
  if (std::ranges::any_of(function.code,
                          [](const PtxInstruction& one) { return one.opcode == "wgmma"; })) {
    frame.wgmma = WgmmaOrder(function.slots);
  }
  frame.written.assign(static_cast<std::size_t>(function.slots), 0);
  frame.arguments.resize(std::size_t{function.argument_bytes} * kLanes);
  const auto fill = [&](int slot, auto value_of) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      frame.registers[static_cast<std::size_t>(slot) * kLanes + lane] = value_of(lane);
    }
    frame.written[static_cast<std::size_t>(slot)] = kAllLanes;
  };
  for (const PtxConstant& one : function.constants) {
    std::uint64_t base = 0;
    if (one.base == PtxBase::kGlobal) base = request.globals;
    if (one.base == PtxBase::kLocal) base = local_base;
    if (one.base == PtxBase::kDynamicShared) base = DynamicSharedBegin(*request.kernel);
    fill(one.slot, [&](unsigned) { return one.value + base; });
  }
  for (const auto& [slot, special] : function.specials) {
    fill(slot, [&, what = special](unsigned lane) -> std::uint64_t {
      switch (what.kind) {
        case PtxSpecialKind::kThread:
          return AlongAxis(request.threads, what.axis, warp.Thread(lane));
        case PtxSpecialKind::kThreads:
          return request.threads[what.axis];
        case PtxSpecialKind::kBlock:
          return AlongAxis(request.blocks, what.axis, warp.block->block);
        case PtxSpecialKind::kBlocks:
          return request.blocks[what.axis];
        case PtxSpecialKind::kLane:
          return lane;
        case PtxSpecialKind::kLaneMask:
          return LaneMask(what.axis, lane);
      }
      return 0;
    });
  }
  return frame;
}

namespace {

bool Written(WarpState& warp, const PtxInstruction& i, std::span<const int> slots) {
  for (const int slot : slots) {
    const std::uint32_t missing =
        warp.active & ~warp.frame->written[static_cast<std::size_t>(slot)];
    if (missing == 0) continue;
    Fail(warp, i, static_cast<unsigned>(std::countr_zero(missing)), FaultKind::kRegister,
         "reads a register before anything wrote it");
    return false;
  }
  return true;
}

void MarkWritten(WarpState& warp, std::span<const int> slots) {
  for (const int slot : slots) {
    warp.frame->written[static_cast<std::size_t>(slot)] |= warp.active;
  }
}

}  // namespace

void Execute(WarpState& warp, const PtxInstruction& i) {
  WgmmaOrder& wgmma = warp.frame->wgmma;
  if (!Written(warp, i, i.reads)) return;
  if (wgmma.InFlight(i.reads) || wgmma.InFlight(i.writes)) {
    return Fail(warp, i, static_cast<unsigned>(std::countr_zero(warp.active)), FaultKind::kProxy,
                "touches a register of a wgmma before wgmma.wait_group");
  }
  i.run(warp, i);
  MarkWritten(warp, i.writes);
  wgmma.Write(i.writes);
}

void ExecuteInWarpgroup(WarpState* warps, const PtxInstruction& i) {
  const std::vector<int>&sums = i.operands[0].slots, &rows = i.operands[1].slots;
  for (WarpState* warp = warps; warp != warps + 4; ++warp) {
    warp->active = kAllLanes;
    const bool adds = (warp->Slot(i.Slot(3))[0] & 1) != 0;
    if (!Written(*warp, i, i.reads) || (adds && !Written(*warp, i, sums))) return;
    if (warp->frame->wgmma.Unfenced(rows) || warp->frame->wgmma.Unfenced(sums)) {
      return Fail(*warp, i, 0, FaultKind::kProxy,
                  "uses registers that were written after the last wgmma.fence");
    }
  }
  i.run(*warps, i);
  for (WarpState* warp = warps; warp != warps + 4; ++warp) {
    MarkWritten(*warp, sums);
    warp->frame->wgmma.Use(sums);
    warp->frame->wgmma.Use(rows);
  }
}

void Advance(PtxFrame& frame, std::uint32_t lanes) {
  for (std::uint32_t left = lanes; left != 0; left &= left - 1)
    ++frame.at[static_cast<unsigned>(std::countr_zero(left))];
}

namespace {

constexpr unsigned kDeepestCall = 8;

void CopyArguments(const PtxFrame& from, const std::vector<std::string>& from_names, PtxFrame* to,
                   const std::vector<std::string>& to_names, unsigned lane) {
  for (std::size_t k = 0; k < std::min(from_names.size(), to_names.size()); ++k) {
    const PtxPlace source = from.function->arguments.at(from_names[k]);
    const PtxPlace place = to->function->arguments.at(to_names[k]);
    std::copy_n(from.arguments.begin() + lane * from.function->argument_bytes + source.offset,
                std::min(source.bytes, place.bytes),
                to->arguments.begin() + lane * to->function->argument_bytes + place.offset);
  }
}

// call (results), name, (arguments): the lanes run the function to its end, the others wait.
void Call(WarpState& warp, PtxFrame& caller, const PtxInstruction& i, unsigned depth) {
  const std::uint32_t lanes = warp.active;
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const PtxFunction& callee =
      warp.block->request->program->functions[static_cast<std::size_t>(i.target)];
  const bool results = i.operands[0].symbol.empty();
  static const std::vector<std::string> kNone;
  const auto& result_names = results ? i.operands[0].symbols : kNone;
  const std::size_t at = results ? 2 : 1;
  const auto& argument_names = i.operands.size() > at ? i.operands[at].symbols : kNone;
  if (depth == kDeepestCall) {
    return Fail(warp, i, first, FaultKind::kUnsupported, "calls within calls");
  }
  PtxFrame frame = MakeFrame(warp, callee, caller.local_base + caller.function->local_bytes);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    CopyArguments(caller, argument_names, &frame, callee.parameters, lane);
  }
  if (frame.local_base + callee.local_bytes > warp.local_bytes) {
    return Fail(warp, i, first, FaultKind::kUnsupported, "more local memory in calls");
  }
  frame.running = lanes;
  RunFrame(warp, frame, depth + 1);
  warp.frame = &caller;
  if (frame.waiting != 0 && !warp.block->fault) {
    return Fail(warp, i, first, FaultKind::kUnsupported, "a barrier in a function that is called");
  }
  ForActive(warp, [&](unsigned lane) {
    CopyArguments(frame, callee.results, &caller, result_names, lane);
  });
}

// The lanes that a warp's instruction waits for, by what this lane says.
std::uint32_t NamedLanes(WarpState& warp, const PtxInstruction& i, unsigned lane) {
  if (i.opcode == "mma") return kAllLanes;
  const std::size_t operand = i.opcode == "shfl" ? 4 : i.opcode == "vote" ? 2 : 0;
  return static_cast<std::uint32_t>(warp.Slot(i.Slot(operand))[lane]);
}

// Runs the instruction once all lanes that it names wait at it.
void Gather(WarpState& warp, PtxFrame& frame, const PtxInstruction& i, std::uint32_t lanes) {
  frame.running &= ~lanes;
  frame.waiting |= lanes;
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const std::uint32_t named = NamedLanes(warp, i, first);
  std::uint32_t here = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((frame.waiting >> lane & 1U) == 0 || frame.at[lane] != frame.at[first]) continue;
    if (NamedLanes(warp, i, lane) == named) here |= 1U << lane;
  }
  if ((named & lanes) != lanes) {
    return Fail(warp, i, first, FaultKind::kWarp, "lanes that name others, or not themselves");
  }
  if ((here & named) != named) return;
  warp.active = named;
  Execute(warp, i);
  Advance(frame, named);
  frame.waiting &= ~named;
  frame.running |= named;
}

void Step(WarpState& warp, PtxFrame& frame, std::uint32_t group, unsigned depth) {
  const auto first = static_cast<unsigned>(std::countr_zero(group));
  const PtxInstruction& i = InstructionAt(frame, first);
  std::uint32_t lanes = group;
  if (i.predicate >= 0) {
    if ((group & ~frame.written[static_cast<std::size_t>(i.predicate)]) != 0) {
      return Fail(warp, i, first, FaultKind::kRegister, "has a predicate that nothing wrote");
    }
    const std::uint64_t* p = warp.Slot(i.predicate);
    for (std::uint32_t left = group; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      if (((p[lane] & 1) != 0) == i.predicate_negated) lanes &= ~(1U << lane);
    }
    Advance(frame, group & ~lanes);
    if (lanes == 0) return;
  }
  warp.active = lanes;
  switch (i.flow) {
    case PtxFlow::kNext:
      Execute(warp, i);
      return Advance(frame, lanes);
    case PtxFlow::kBranch:
      return ForActive(warp, [&](unsigned lane) { frame.at[lane] = i.target; });
    case PtxFlow::kReturn:
      frame.running &= ~lanes;
      if (depth == 0) warp.exited |= lanes;
      return;
    case PtxFlow::kExit:
      if (depth > 0) return Fail(warp, i, first, FaultKind::kUnsupported, "exit in a call");
      frame.running &= ~lanes;
      warp.exited |= lanes;
      return;
    case PtxFlow::kCall:
      Call(warp, frame, i, depth);
      return Advance(frame, lanes);
    case PtxFlow::kWarp:
      return Gather(warp, frame, i, lanes);
    case PtxFlow::kBarrier:
      if (warp.Slot(i.Slot(0))[first] != 0) {
        return Fail(warp, i, first, FaultKind::kUnsupported, "a barrier other than 0");
      }
      [[fallthrough]];
    case PtxFlow::kWarpgroup:
      frame.running &= ~lanes;
      frame.waiting |= lanes;
      return;
  }
}

// The running lanes at the lowest instruction.
std::uint32_t LowestGroup(const PtxFrame& frame) {
  int lowest = std::numeric_limits<int>::max();
  std::uint32_t group = 0;
  for (std::uint32_t left = frame.running; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    if (frame.at[lane] < lowest) group = 0;
    lowest = std::min(lowest, frame.at[lane]);
    if (frame.at[lane] == lowest) group |= 1U << lane;
  }
  return group;
}

// Whether the group's next instruction concerns its lanes alone. If so, that one and those behind
// it are run, up to where other lanes are.
bool RunStraight(WarpState& warp, PtxFrame& frame, std::uint32_t group) {
  const std::vector<PtxInstruction>& code = frame.function->code;
  auto end = static_cast<int>(code.size());
  for (std::uint32_t left = frame.running & ~group; left != 0; left &= left - 1) {
    end = std::min(end, frame.at[static_cast<unsigned>(std::countr_zero(left))]);
  }
  const int begin = frame.at[static_cast<unsigned>(std::countr_zero(group))];
  int at = begin;
  warp.active = group;
  for (; at < end && !warp.block->fault; ++at) {
    const PtxInstruction& i = code[static_cast<std::size_t>(at)];
    if (i.flow != PtxFlow::kNext || i.predicate >= 0) break;
    Execute(warp, i);
  }
  if (at == begin) return false;
  warp.block->steps += static_cast<std::uint64_t>(at - begin);
  for (std::uint32_t left = group; left != 0; left &= left - 1) {
    frame.at[static_cast<unsigned>(std::countr_zero(left))] = at;
  }
  return true;
}

}  // namespace

void RunFrame(WarpState& warp, PtxFrame& frame, unsigned depth) {
  BlockState& block = *warp.block;
  warp.frame = &frame;
  const auto end = static_cast<int>(frame.function->code.size());
  while (frame.running != 0) {
    const std::uint32_t group = LowestGroup(frame);
    const auto first = static_cast<unsigned>(std::countr_zero(group));
    if (frame.at[first] >= end) {
      return Fail(warp, frame.function->code.back(), first, FaultKind::kUnsupported,
                  "past the last instruction");
    }
    if (++block.steps > block.request->most_steps) {
      return Fail(warp, InstructionAt(frame, first), first, FaultKind::kEndless,
                  fmt::format("more than {} instructions", block.request->most_steps));
    }
    if (!RunStraight(warp, frame, group)) Step(warp, frame, group, depth);
    if (block.fault) return;
  }
  for (std::uint32_t left = frame.waiting; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const PtxInstruction& i = InstructionAt(frame, lane);
    if (i.flow != PtxFlow::kWarp) continue;
    return Fail(
        warp, i, lane, FaultKind::kWarp,
        fmt::format("names the lanes {:#x}, and not all of them come", NamedLanes(warp, i, lane)));
  }
}

}  // namespace rharness
