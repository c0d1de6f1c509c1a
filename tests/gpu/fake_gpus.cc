// A driver of devices that are memory alone, for probes that launch no kernel of ours: contexts,
// allocations and copies, with the mistakes refused that real devices would punish. How many there
// are is FAKE_GPUS (4), how many bytes one allocation may have FAKE_GPU_BYTES (2^25), and their
// multiprocessors FAKE_MULTIPROCESSORS (132).
#include <cuda.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/gpu/fake_memory.h"

namespace {

long Setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtol(text, nullptr, 10) : otherwise;
}

int Count() { return static_cast<int>(Setting("FAKE_GPUS", 4)); }

thread_local int current_device = -1;
std::map<CUdeviceptr, std::size_t> allocations;
std::map<int, CUdeviceptr> next_free;

// Whether the range lies in one allocation of the device whose context is current.
bool IsMine(CUdeviceptr address, std::size_t bytes) {
  if (rharness::FakeDeviceOf(address) != current_device) return false;
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) return false;
  const auto& [begin, size] = *--after;
  return address - begin + bytes <= size;
}

}  // namespace

extern "C" {
CUresult cuInit(unsigned int) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** text) {
  *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_TEST";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "refused by the false driver";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = Count();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (ordinal < 0 || ordinal >= Count()) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  std::strncpy(name, "Test GPU", static_cast<std::size_t>(length));
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  *bytes = 150754820096U;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = static_cast<int>(Setting("FAKE_MULTIPROCESSORS", 132));
      break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      *value = 62914560;
      break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      *value = 0x1b + device;
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(device) + 1);
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  current_device = static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 1;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  return current_device < 0 ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  if (current_device < 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (bytes > static_cast<std::size_t>(Setting("FAKE_GPU_BYTES", 1 << 25))) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  CUdeviceptr& next = next_free[current_device];
  const auto device = static_cast<std::uint64_t>(current_device);
  if (next == 0) next = rharness::FakeMemoryOf(device);
  void* got = ::mmap(reinterpret_cast<void*>(next), bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = next;
  allocations[next] = bytes;
  next += (bytes + 0xFFFFU) / 0x10000U * 0x10000U;
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
  const auto found = allocations.find(address);
  if (found == allocations.end()) return CUDA_ERROR_INVALID_VALUE;
  ::munmap(reinterpret_cast<void*>(address), found->second);
  allocations.erase(found);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  if (!IsMine(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  if (!IsMine(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t bytes) {
  if (!IsMine(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
  // Fresh pages are zero already.
  if (value != 0) std::memset(reinterpret_cast<void*>(to), value, bytes);
  return CUDA_SUCCESS;
}
// A stream is the number of its device and one.
CUresult cuStreamCreate(CUstream* stream, unsigned int) {
  *stream = reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(current_device) + 1);
  return current_device < 0 ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream stream) {
  const auto device = static_cast<int>(reinterpret_cast<std::uintptr_t>(stream)) - 1;
  return device == current_device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
}
