// What nvcc's host code calls to launch: kernels of the program's own fatbin run on the emulator,
// in the memory and on the streams of the false runtime (tests/scenarios/fake_cuda.h).
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstring>
#include <map>

#include "tests/gpu/emulator/emulated_launches.h"
#include "tests/gpu/emulator/fatbin.h"
#include "tests/gpu/emulator/launch.h"
#include "tests/gpu/emulator/ptx_text.h"
#include "tests/scenarios/fake_cuda.h"

namespace rharness::scenarios {
namespace {

constexpr int kCompute = 90;

// Source: what nvcc 13.0 passes to __cudaRegisterFatBinary.
struct FatbinWrapper {
  int magic;
  int version;
  const void* data;
  void* file;
};

struct Registered {
  const void* fatbin = nullptr;
  std::map<const void*, std::string> kernels;  // by their host function
};
Registered& TheRegistered() {
  static Registered registered;
  return registered;
}

// Read at the first launch: what is registered is so before main().
const PtxProgram& TheProgram() {
  static const PtxProgram program = [] {
    const auto ptx = PtxOfFatbin(FatbinAt(TheRegistered().fatbin), kCompute);
    if (!ptx.ok()) Abort(ptx.error().ToString());
    auto parsed = ParsePtx(*ptx);
    if (!parsed.ok()) Abort(parsed.error().ToString());
    return std::move(*parsed);
  }();
  return program;
}

struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};
Configuration& Pushed() {
  static Configuration configuration;
  return configuration;
}

void Run(const LaunchRequest& request, cudaStream_t stream) {
  DeviceMemory memory(std::uint64_t{1} << 20);
  for (const std::span<std::byte> block : MemoryOf(stream))
    memory.Adopt(block.data(), block.size());
  LaunchRequest with_globals = request;
  with_globals.globals = PlaceGlobals(*request.program, &memory);
  if (const auto fault = RunKernel(with_globals, &memory)) Fake().mistakes.push_back(fault->text);
  ++EmulatedLaunches()[request.kernel->name];
}

}  // namespace
}  // namespace rharness::scenarios

namespace rharness {

std::map<std::string, int>& EmulatedLaunches() {
  static std::map<std::string, int> launches;
  return launches;
}

}  // namespace rharness

using namespace rharness::scenarios;

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  TheRegistered().fatbin = static_cast<const FatbinWrapper*>(wrapper)->data;
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
  TheRegistered().kernels[host] = name;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  Pushed() = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  *grid = Pushed().grid;
  *block = Pushed().block;
  *shared = Pushed().shared;
  std::memcpy(stream, &Pushed().stream, sizeof(cudaStream_t));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream) {
  rharness::LaunchRequest request;
  request.program = &TheProgram();
  request.kernel = request.program->Find(TheRegistered().kernels[static_cast<const void*>(kernel)]);
  if (request.kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  request.blocks = {grid.x, grid.y, grid.z};
  request.threads = {block.x, block.y, block.z};
  request.dynamic_shared_bytes = static_cast<unsigned>(shared);
  request.parameters = rharness::PackParameters(*request.kernel, arguments);
  static unsigned launches = 0;
  request.order = launches++;
  Enqueue(stream, [request, stream] { Run(request, stream); });
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }

}  // extern "C"
