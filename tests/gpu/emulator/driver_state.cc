// Devices, modules, launches and injected failures of the emulated driver.
#include "tests/gpu/emulator/driver_state.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/gpu/emulator/fold_order.h"
#include "tests/gpu/emulator/ptx_text.h"

namespace rharness {
namespace {

// Of "cuMemAlloc:3" or "cuMemAlloc:3+": whether the call of this number fails.
bool FailsBy(const std::string& wanted, std::string_view call, unsigned number) {
  const std::size_t colon = wanted.rfind(':');
  if (colon == std::string::npos || wanted.substr(0, colon) != call) return false;
  const unsigned long first = std::strtoul(wanted.c_str() + colon + 1, nullptr, 10);
  return wanted.ends_with('+') ? number >= first : number == first;
}

bool IsFailed(std::string_view call, unsigned number) {
  const char* text = std::getenv("EMULATED_FAIL");
  std::string_view left(text != nullptr ? text : "");
  while (!left.empty()) {
    const std::size_t comma = std::min(left.find(','), left.size());
    if (FailsBy(std::string(left.substr(0, comma)), call, number)) return true;
    left.remove_prefix(std::min(comma + 1, left.size()));
  }
  return false;
}

void LogCall(std::string_view call) {
  const char* path = std::getenv("EMULATED_CALLS");
  if (path == nullptr) return;
  std::FILE* file = std::fopen(path, "a");
  if (file == nullptr) return;
  std::fprintf(file, "%.*s\n", static_cast<int>(call.size()), call.data());
  std::fclose(file);
}

std::uint64_t MemoryBytes() {
  const char* text = std::getenv("EMULATED_BYTES");
  return text == nullptr ? std::uint64_t{1} << 30 : std::strtoull(text, nullptr, 10);
}

// What a device reports of a fault; what it would not notice is a failed launch here.
CUresult ErrorOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kOutOfBounds:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case FaultKind::kMisaligned:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case FaultKind::kUnsupported:
      return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case FaultKind::kEndless:
      return CUDA_ERROR_LAUNCH_TIMEOUT;
    default:
      return CUDA_ERROR_LAUNCH_FAILED;
  }
}

// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; more
// shared memory than 48 KiB would need cuFuncSetAttribute.
bool IsLaunchable(const PtxFunction& kernel, const LaunchExtent& blocks,
                  const LaunchExtent& threads, unsigned dynamic_shared_bytes) {
  constexpr LaunchExtent kMostBlocks = {0x7fffffffU, 65535, 65535}, kMostThreads = {1024, 1024, 64};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (blocks[axis] == 0 || blocks[axis] > kMostBlocks[axis]) return false;
    if (threads[axis] == 0 || threads[axis] > kMostThreads[axis]) return false;
  }
  return CountOf(threads) <= kernel.most_threads &&
         kernel.shared_bytes + std::uint64_t{dynamic_shared_bytes} <= 48 * 1024;
}

}  // namespace

// Sources: NVIDIA's data sheets of both, "GPU Memory" and "SMs"; CUDA C++ Programming Guide,
// "Compute Capabilities".
const EmulatedDevice& TheEmulatedDevice() {
  static const EmulatedDevice kHopper = {
      "Emulated H100",
      90,
      132,
      std::size_t{80} << 30,
      {{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 50 << 20},
       {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff},
       {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10},
       {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120},
       {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
       {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0x1b},
       {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0},
       {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0}}};
  static const EmulatedDevice kAmpere = [] {
    EmulatedDevice device = kHopper;
    device.name = "Emulated A100";
    device.compute = 80;
    device.multiprocessors = 108;
    device.attributes[CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE] = 40 << 20;
    device.attributes[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR] = 164 << 10;
    return device;
  }();
  const char* name = std::getenv("EMULATED_DEVICE");
  return name != nullptr && std::strcmp(name, "A100") == 0 ? kAmpere : kHopper;
}

int& CurrentOrdinal() {
  thread_local int ordinal = -1;
  return ordinal;
}

DriverState& DriverState::Get() {
  static DriverState state;
  return state;
}

DriverState::DriverState() : memory_(MemoryBytes()) {}

CUresult DriverState::Enter(std::string_view call) {
  LogCall(call);
  const auto counted = calls_.try_emplace(std::string(call), 0U).first;
  if (IsFailed(call, ++counted->second)) return CUDA_ERROR_LAUNCH_FAILED;
  return error_;
}

EmulatedMachine::Entry DriverState::EnterLibrary(std::string_view call) {
  const CUresult before = error_;
  error_ = CUDA_SUCCESS;
  const bool injected = Enter(call) != CUDA_SUCCESS;
  error_ = before;
  if (injected) return Entry::kInjected;
  return error_ == CUDA_SUCCESS ? Entry::kReady : Entry::kDeadDevice;
}

MemoryView DriverState::Find(std::uint64_t address, std::uint64_t bytes) {
  return memory_.Find(address, bytes);
}

int DriverState::DeviceOfMemory(std::uint64_t address) {
  auto after = device_of_.upper_bound(address);
  if (after == device_of_.begin() || memory_.Find(address, 1).data == nullptr) return -1;
  return (--after)->second;
}

int DriverState::DeviceOfStream(const void* stream) {
  if (stream == nullptr) return CurrentOrdinal();
  const auto found = streams_.find(stream);
  return found == streams_.end() ? -1 : *found->second;
}

int DriverState::CurrentDevice() { return CurrentOrdinal(); }

int DriverState::devices() const {
  const char* text = std::getenv("EMULATED_DEVICES");
  return text == nullptr ? 1 : std::clamp(std::atoi(text), 0, 64);
}

void DriverState::Fault(std::string text) {
  fault_ = std::move(text);
  error_ = CUDA_ERROR_ILLEGAL_ADDRESS;
}

std::uint64_t DriverState::Allocate(std::uint64_t bytes) {
  const std::uint64_t address = memory_.Allocate(bytes);
  if (address != 0) device_of_[address] = CurrentOrdinal();
  return address;
}

CUstream DriverState::MakeStream() {
  auto made = std::make_unique<int>(CurrentOrdinal());
  void* stream = made.get();
  streams_[stream] = std::move(made);
  return static_cast<CUstream>(stream);
}

bool DriverState::DropStream(CUstream stream) { return streams_.erase(stream) > 0; }

Result<EmulatedModule*> DriverState::Load(std::string_view ptx) {
  auto made = std::make_unique<EmulatedModule>();
  ASSIGN_OR_RETURN(made->program, ParsePtx(ptx));
  if (kNextDriver) MirrorFolds(&made->program);
  made->globals = PlaceGlobals(made->program, &memory_);
  if (made->globals == 0) return IoError("no room for the variables of the module");
  for (const PtxFunction& one : made->program.functions) {
    if (!one.entry) continue;
    made->functions[one.name] =
        std::make_unique<EmulatedFunction>(EmulatedFunction{made.get(), &one});
  }
  EmulatedModule* module = made.get();
  modules_[module] = std::move(made);
  return module;
}

bool DriverState::Unload(CUmodule module) {
  const auto found = modules_.find(module);
  if (found == modules_.end()) return false;
  memory_.Free(found->second->globals);
  modules_.erase(found);
  return true;
}

EmulatedFunction* DriverState::Find(CUmodule module, std::string_view name) {
  const auto found = modules_.find(module);
  if (found == modules_.end()) return nullptr;
  const auto function = found->second->functions.find(name);
  return function == found->second->functions.end() ? nullptr : function->second.get();
}

CUresult DriverState::Launch(CUfunction handle, const LaunchExtent& blocks,
                             const LaunchExtent& threads, unsigned dynamic_shared_bytes,
                             void** parameters) {
  const auto* function = reinterpret_cast<const EmulatedFunction*>(handle);
  const PtxFunction& kernel = *function->kernel;
  if (!IsLaunchable(kernel, blocks, threads, dynamic_shared_bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (parameters == nullptr && !kernel.parameters.empty()) return CUDA_ERROR_INVALID_VALUE;
  LaunchRequest request;
  request.program = &function->module->program;
  request.kernel = &kernel;
  request.globals = function->module->globals;
  request.blocks = blocks;
  request.threads = threads;
  request.dynamic_shared_bytes = dynamic_shared_bytes;
  request.parameters = PackParameters(kernel, parameters);
  const char* order = std::getenv("EMULATED_ORDER");
  request.order =
      order != nullptr ? static_cast<unsigned>(std::strtoul(order, nullptr, 10)) : launches_;
  ++launches_;
  request.compute = TheEmulatedDevice().compute;
  if (const auto fault = RunKernel(request, &memory_)) {
    fault_ = fault->text;
    error_ = ErrorOf(fault->kind);
  }
  return CUDA_SUCCESS;
}

}  // namespace rharness

extern "C" rharness::EmulatedMachine* rharness_emulated_machine() {
  return &rharness::DriverState::Get();
}
