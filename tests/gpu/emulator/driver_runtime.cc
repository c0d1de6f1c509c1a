// The CUDA runtime as far as CUB's host code calls it, over the emulated driver: what nvcc embeds
// as PTX is loaded by the driver, in the memory and on the device of the probes.
//
// Not the runtime of a device: one stream, and no assembler, which would know a kernel's registers
// and so how many of its blocks a multiprocessor holds: two here.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstring>
#include <map>
#include <string>

namespace {

// Source: what nvcc 13.0 passes to __cudaRegisterFatBinary.
struct FatbinWrapper {
  int magic;
  int version;
  const void* data;
  void* file;
};

const void* fatbin = nullptr;
cudaError_t last = cudaSuccess;

std::map<const void*, std::string>& Names() {  // by the host's function
  static std::map<const void*, std::string> names;
  return names;
}

// Null where the library is not the emulated driver: every call then fails.
template <class F>
F* Find(const char* name) {
  static void* const library = dlopen(EMULATOR_DIR "/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<F*>(dlsym(library, name));
}

template <class... Arguments>
cudaError_t Call(const char* name, Arguments... arguments) {
  auto* function = Find<CUresult(Arguments...)>(name);
  const CUresult result = function == nullptr ? CUDA_ERROR_NOT_FOUND : function(arguments...);
  // The numbers that both have are the same.
  last = static_cast<cudaError_t>(result);
  return last;
}

CUfunction KernelOf(const void* host) {
  static CUmodule module = nullptr;
  if (module == nullptr) {
    (void)Call<CUmodule*, const void*, unsigned, CUjit_option*, void**>(
        "cuModuleLoadDataEx", &module, fatbin, 0U, nullptr, nullptr);
  }
  CUfunction function = nullptr;
  const auto found = Names().find(host);
  if (module == nullptr || found == Names().end()) return nullptr;
  (void)Call<CUfunction*, CUmodule, const char*>("cuModuleGetFunction", &function, module,
                                                 found->second.c_str());
  return function;
}

struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
} pushed;

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  fatbin = static_cast<const FatbinWrapper*>(wrapper)->data;
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
  Names()[host] = name;
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  pushed = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  *grid = pushed.grid;
  *block = pushed.block;
  *shared = pushed.shared;
  std::memcpy(stream, &pushed.stream, sizeof(cudaStream_t));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream) {
  CUfunction function = KernelOf(kernel);
  if (function == nullptr) return last = cudaErrorInvalidDeviceFunction;
  return Call<CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
              CUstream, void**, void**>("cuLaunchKernel", function, grid.x, grid.y, grid.z, block.x,
                                        block.y, block.z, static_cast<unsigned>(shared), stream,
                                        arguments, nullptr);
}

cudaError_t cudaSetDevice(int ordinal) {
  CUcontext context = nullptr;
  if (Call("cuInit", 0U) != cudaSuccess) return last;
  if (Call("cuDevicePrimaryCtxRetain", &context, ordinal) != cudaSuccess) return last;
  return Call("cuCtxSetCurrent", context);
}
cudaError_t cudaGetDevice(int* ordinal) {
  *ordinal = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) { return Call("cuDeviceGetCount", count); }
// The runtime's attributes have the driver's numbers.
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int ordinal) {
  return Call("cuDeviceGetAttribute", value, static_cast<CUdevice_attribute>(attribute), ordinal);
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  std::memset(static_cast<void*>(attributes), 0, sizeof(*attributes));
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int,
                                                                   size_t, unsigned) {
  *blocks = 2;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return Call("cuMemAlloc_v2", reinterpret_cast<CUdeviceptr*>(pointer), bytes);
}
cudaError_t cudaFree(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  return Call("cuMemFree_v2", reinterpret_cast<CUdeviceptr>(pointer));
}
cudaError_t cudaDeviceSynchronize() { return Call<>("cuCtxSynchronize"); }
cudaError_t cudaPeekAtLastError() { return last; }
cudaError_t cudaGetLastError() {
  const cudaError_t before = last;
  last = cudaSuccess;
  return before;
}
const char* cudaGetErrorName(cudaError_t) { return "an error of the emulated driver"; }
const char* cudaGetErrorString(cudaError_t error) {
  static const char* text = nullptr;
  auto* say = Find<CUresult(CUresult, const char**)>("cuGetErrorString");
  if (say != nullptr) (void)say(static_cast<CUresult>(error), &text);
  return text == nullptr ? "no driver" : text;
}

}  // extern "C"
