// The functions of libcuda.so.1 on the emulator: those that probes/library/cuda_driver.h binds.
//
// As the real driver does: a fault of a kernel shows at the next call, and then at every one; calls
// need a context; an invalid handle or a copy out of bounds is an error of that call alone.
#include <cuda.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <set>

#include "harness/records/observe/cupti.h"
#include "tests/gpu/emulator/driver_state.h"
#include "tests/gpu/emulator/fatbin.h"

namespace {

using rharness::DriverState;
using rharness::kNextDriver;
using rharness::MemoryView;
using rharness::TheEmulatedDevice;

std::mutex one_call;                  // the emulator runs on one thread at a time
const char context_objects[64] = {};  // one a device
struct EmulatedEvent {
  std::chrono::steady_clock::time_point recorded;
};

CUcontext ContextOf(int ordinal) {
  return reinterpret_cast<CUcontext>(const_cast<char*>(context_objects + ordinal));
}
bool IsDevice(int ordinal) { return ordinal >= 0 && ordinal < DriverState::Get().devices(); }

CUresult Enter(std::string_view call, bool needs_context) {
  const CUresult result = DriverState::Get().Enter(call);
  if (result != CUDA_SUCCESS) return result;
  return needs_context && rharness::CurrentOrdinal() < 0 ? CUDA_ERROR_INVALID_CONTEXT
                                                         : CUDA_SUCCESS;
}

CUresult Copied(CUdeviceptr device, std::size_t bytes, const void* from, void* to) {
  const MemoryView view = DriverState::Get().memory().Find(device, bytes);
  if (view.data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (to != nullptr) std::memcpy(to, view.data, bytes);
  if (from != nullptr) {
    std::memcpy(view.data, from, bytes);
    std::fill_n(view.written, bytes, std::uint8_t{1});
  }
  return CUDA_SUCCESS;
}

// Into the buffers that the options name, as the driver's own compiler does.
void WriteLog(const std::string& text, unsigned int count, CUjit_option* options, void** values) {
  char* buffer = nullptr;
  std::size_t size = 0;
  for (unsigned int k = 0; k < count; ++k) {
    if (options[k] == CU_JIT_ERROR_LOG_BUFFER) buffer = static_cast<char*>(values[k]);
    if (options[k] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
      size = reinterpret_cast<std::uintptr_t>(values[k]);
    }
  }
  if (buffer == nullptr || size == 0) return;
  const std::size_t length = std::min(size - 1, text.size());
  std::memcpy(buffer, text.data(), length);
  buffer[length] = '\0';
}

// Source: CUPTI documentation, "CUDA Injection": a library that cannot be loaded changes nothing.
void Inject() {
  static const bool once = [] {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void* start = library == nullptr ? nullptr : dlsym(library, "InitializeInjection");
    if (start != nullptr) (void)reinterpret_cast<int (*)()>(start)();
    return true;
  }();
  (void)once;
}

const char* SymbolOf(CUfunction function) {
  const auto* known = reinterpret_cast<const rharness::EmulatedFunction*>(function);
  return known == nullptr ? nullptr : known->kernel->name.c_str();
}

}  // namespace

#define ENTER(name)                                  \
  const std::lock_guard<std::mutex> guard(one_call); \
  if (const CUresult entered = Enter(#name, false)) return entered
#define ENTER_IN_CONTEXT(name)                       \
  const std::lock_guard<std::mutex> guard(one_call); \
  if (const CUresult entered = Enter(#name, true)) return entered

namespace {

CUresult Launched(CUfunction function, const rharness::LaunchExtent& blocks,
                  const rharness::LaunchExtent& threads, unsigned int shared_bytes,
                  void** parameters, void** extra) {
  ENTER_IN_CONTEXT(cuLaunchKernel);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (extra != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  return DriverState::Get().Launch(function, blocks, threads, shared_bytes, parameters);
}

}  // namespace

extern "C" {
CUresult cuInit(unsigned int) {
  Inject();
  ENTER(cuInit);
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  ENTER(cuDriverGetVersion);
  *version = CUDA_VERSION + (kNextDriver ? 10 : 0);
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** text) {
  switch (error) {
    case CUDA_ERROR_LAUNCH_FAILED:
      *text = "CUDA_ERROR_LAUNCH_FAILED";
      break;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      *text = "CUDA_ERROR_ILLEGAL_ADDRESS";
      break;
    case CUDA_ERROR_MISALIGNED_ADDRESS:
      *text = "CUDA_ERROR_MISALIGNED_ADDRESS";
      break;
    case CUDA_ERROR_INVALID_PTX:
      *text = "CUDA_ERROR_INVALID_PTX";
      break;
    case CUDA_ERROR_OUT_OF_MEMORY:
      *text = "CUDA_ERROR_OUT_OF_MEMORY";
      break;
    default:
      *text = "CUDA_ERROR_OF_THE_EMULATOR";
  }
  return CUDA_SUCCESS;
}
// What the kernel did, if it did; the real driver has one text an error.
CUresult cuGetErrorString(CUresult, const char** text) {
  static std::string said;
  const std::string_view fault = DriverState::Get().fault();
  said = fault.empty() ? "refused by the emulated driver" : std::string(fault);
  *text = said.c_str();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  ENTER(cuDeviceGetCount);
  *count = DriverState::Get().devices();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  ENTER(cuDeviceGet);
  if (!IsDevice(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  ENTER(cuDeviceGetName);
  const std::string_view text = TheEmulatedDevice().name;
  const std::size_t size = std::min(text.size(), static_cast<std::size_t>(length) - 1);
  std::memcpy(name, text.data(), size);
  name[size] = '\0';
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  ENTER(cuDeviceTotalMem);
  *bytes = TheEmulatedDevice().memory_bytes;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice ordinal) {
  ENTER(cuDeviceGetAttribute);
  const auto& device = TheEmulatedDevice();
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) {
    *value = device.compute / 10;
  } else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) {
    *value = device.compute % 10;
  } else if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) {
    *value = device.multiprocessors;
  } else {
    const auto found = device.attributes.find(attribute);
    if (found == device.attributes.end()) return CUDA_ERROR_INVALID_VALUE;
    *value = found->second + (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ? ordinal : 0);
  }
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  ENTER(cuDevicePrimaryCtxRetain);
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = ContextOf(device);
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  ENTER(cuCtxSetCurrent);
  int ordinal = -1;
  if (context != nullptr) {
    ordinal = static_cast<int>(reinterpret_cast<const char*>(context) - context_objects);
    if (!IsDevice(ordinal)) return CUDA_ERROR_INVALID_CONTEXT;
  }
  rharness::CurrentOrdinal() = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  ENTER_IN_CONTEXT(cuCtxSynchronize);
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count,
                            CUjit_option* options, void** values) {
  ENTER_IN_CONTEXT(cuModuleLoadDataEx);
  const auto* text = static_cast<const char*>(image);
  if (text[0] == '\177') return CUDA_ERROR_NO_BINARY_FOR_GPU;  // "\177ELF": machine code
  std::string unpacked;
  if (rharness::IsFatbin(image)) {
    auto ptx = rharness::PtxOfFatbin(rharness::FatbinAt(image), TheEmulatedDevice().compute);
    if (!ptx.ok()) {
      WriteLog(ptx.error().ToString(), count, options, values);
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    unpacked = std::move(*ptx);
    text = unpacked.c_str();
  }
  auto loaded = DriverState::Get().Load(text);
  if (!loaded.ok()) {
    WriteLog(loaded.error().ToString(), count, options, values);
    return CUDA_ERROR_INVALID_PTX;
  }
  *module = reinterpret_cast<CUmodule>(*loaded);
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  ENTER_IN_CONTEXT(cuModuleUnload);
  return DriverState::Get().Unload(module) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  ENTER_IN_CONTEXT(cuModuleGetFunction);
  auto* found = DriverState::Get().Find(module, name);
  if (found == nullptr) return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(found);
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  ENTER_IN_CONTEXT(cuMemAlloc);
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  *address = DriverState::Get().Allocate(bytes);
  return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFree(CUdeviceptr address) {
  ENTER_IN_CONTEXT(cuMemFree);
  return DriverState::Get().memory().Free(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  ENTER_IN_CONTEXT(cuMemcpyHtoD);
  return Copied(to, bytes, from, nullptr);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  ENTER_IN_CONTEXT(cuMemcpyDtoH);
  return Copied(from, bytes, nullptr, to);
}
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t bytes) {
  ENTER_IN_CONTEXT(cuMemsetD8);
  const MemoryView view = DriverState::Get().memory().Find(to, bytes);
  if (view.data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::fill_n(view.data, bytes, std::byte{value});
  std::fill_n(view.written, bytes, std::uint8_t{1});
  return CUDA_SUCCESS;
}
// Everything ends before its call does: a stream has its device alone, an event its time.
CUresult cuStreamCreate(CUstream* stream, unsigned int) {
  ENTER_IN_CONTEXT(cuStreamCreate);
  *stream = DriverState::Get().MakeStream();
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) {
  ENTER_IN_CONTEXT(cuStreamDestroy);
  return DriverState::Get().DropStream(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuStreamSynchronize(CUstream stream) {
  ENTER_IN_CONTEXT(cuStreamSynchronize);
  const bool known = DriverState::Get().DeviceOfStream(stream) >= 0;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned int) {
  ENTER_IN_CONTEXT(cuStreamWaitEvent);
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned int) {
  ENTER_IN_CONTEXT(cuEventCreate);
  *event = reinterpret_cast<CUevent>(new EmulatedEvent());
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  ENTER_IN_CONTEXT(cuEventDestroy);
  delete reinterpret_cast<EmulatedEvent*>(event);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream) {
  ENTER_IN_CONTEXT(cuEventRecord);
  reinterpret_cast<EmulatedEvent*>(event)->recorded = std::chrono::steady_clock::now();
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void** parameters, void** extra) {
  // In the layout of cuLaunchKernel_params, of CUPTI.
  const struct {
    CUfunction function;
    unsigned int extents[7];
    CUstream stream;
    void **parameters, **extra;
  } all = {function,
           {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes},
           stream,
           parameters,
           extra};
  rharness::DriverCall call{.id = rharness::cupti::kLaunchKernel,
                            .function = "cuLaunchKernel",
                            .parameters = &all,
                            .symbol = SymbolOf(function)};
  DriverState::Get().Tell(call);
  const int result = Launched(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                              shared_bytes, parameters, extra);
  call.is_over = true;
  call.result = &result;
  DriverState::Get().Tell(call);
  return static_cast<CUresult>(result);
}
// The driver's linker makes machine code, which the emulator has none of.
CUresult cuLinkCreate(unsigned int, CUjit_option*, void**, CUlinkState*) {
  ENTER_IN_CONTEXT(cuLinkCreate);
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuLinkAddData(CUlinkState, CUjitInputType, void*, std::size_t, const char*, unsigned int,
                       CUjit_option*, void**) {
  ENTER_IN_CONTEXT(cuLinkAddData);
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuLinkComplete(CUlinkState, void**, std::size_t*) {
  ENTER_IN_CONTEXT(cuLinkComplete);
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuLinkDestroy(CUlinkState) {
  ENTER_IN_CONTEXT(cuLinkDestroy);
  return CUDA_ERROR_NOT_SUPPORTED;
}
}
