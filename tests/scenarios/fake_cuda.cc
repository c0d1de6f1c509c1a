// The false runtime: memory and streams.
#include "tests/scenarios/fake_cuda.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>

using rharness::scenarios::Fake;

struct CUevent_st {
  int recorded = 0;
  int reached = 0;
};

struct CUstream_st {
  struct Task {
    std::function<bool()> ready;
    std::function<void()> run;
  };
  int device = 0;
  std::deque<Task> tasks;
};

namespace rharness::scenarios {
namespace {

struct Block {
  std::size_t bytes;
  int device;
};

std::map<std::uintptr_t, Block> blocks;
std::vector<cudaStream_t> streams;
int current = 0;

bool RunOne() {
  for (std::size_t i = 0; i < streams.size(); ++i) {
    CUstream_st* stream = streams[Fake().last_stream_first ? streams.size() - 1 - i : i];
    if (stream->tasks.empty() || !stream->tasks.front().ready()) continue;
    const auto task = std::move(stream->tasks.front());
    stream->tasks.pop_front();
    task.run();
    return true;
  }
  return false;
}

// Runs until `done`; a stream that waits for ever is a mistake.
void RunUntil(const std::function<bool()>& done) {
  while (!done()) {
    if (RunOne()) continue;
    Fake().mistakes.emplace_back("deadlock");
    return;
  }
}

void RunAll() {
  RunUntil([] {
    for (const CUstream_st* stream : streams) {
      if (!stream->tasks.empty()) return false;
    }
    return true;
  });
}

}  // namespace

FakeCuda& Fake() {
  static FakeCuda fake;
  return fake;
}

void ResetFake() {
  Fake() = FakeCuda();
  if (!blocks.empty() || !streams.empty()) Fake().mistakes.emplace_back("left behind by a test");
}

void Enqueue(cudaStream_t stream, std::function<void()> work) {
  if (stream->device != current) Fake().mistakes.emplace_back("a stream of another device");
  stream->tasks.push_back({[] { return true; }, std::move(work)});
}

void EnqueueTogether(const std::vector<cudaStream_t>& members, std::function<void()> work) {
  const auto arrived = std::make_shared<std::size_t>(0);
  const auto ran = std::make_shared<bool>(false);
  for (CUstream_st* stream : members) {
    stream->tasks.push_back({[] { return true; }, [arrived] { ++*arrived; }});
    stream->tasks.push_back({[arrived, count = members.size()] { return *arrived == count; },
                             [ran, work] {
                               if (!*ran) work();
                               *ran = true;
                             }});
  }
}

std::vector<std::span<std::byte>> MemoryOf(cudaStream_t stream) {
  std::vector<std::span<std::byte>> memory;
  for (const auto& [address, block] : blocks) {
    if (block.device != stream->device) continue;
    memory.emplace_back(reinterpret_cast<std::byte*>(address), block.bytes);
  }
  return memory;
}

void CheckRange(const char* what, const void* data, std::size_t bytes, cudaStream_t stream) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  auto block = blocks.upper_bound(address);
  if (block != blocks.begin()) --block;
  const bool inside = !blocks.empty() && block->first <= address &&
                      address + bytes <= block->first + block->second.bytes;
  if (!inside) Fake().mistakes.push_back(std::string(what) + ": out of bounds");
  if (inside && block->second.device != stream->device) {
    Fake().mistakes.push_back(std::string(what) + ": memory of another device");
  }
}

}  // namespace rharness::scenarios

using namespace rharness::scenarios;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  *pointer = std::malloc(bytes);
  std::memset(*pointer, 0xff, bytes);
  blocks[reinterpret_cast<std::uintptr_t>(*pointer)] = {bytes, current};
  return cudaSuccess;
}
cudaError_t cudaFree(void* pointer) {
  if (pointer != nullptr && blocks.erase(reinterpret_cast<std::uintptr_t>(pointer)) == 0) {
    Fake().mistakes.emplace_back("cudaFree of what was not allocated");
  }
  std::free(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  std::memset(pointer, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  CheckRange("cudaMemsetAsync", pointer, bytes, stream);
  Enqueue(stream, [=] { std::memset(pointer, value, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
// Host memory is pageable here: taken at once on its way in, waited for on its way out.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (kind == cudaMemcpyHostToDevice) {
    CheckRange("copy to the device", to, bytes, stream);
    const auto* first = static_cast<const char*>(from);
    Enqueue(stream, [to, copy = std::vector<char>(first, first + bytes)] {
      std::memcpy(to, copy.data(), copy.size());
    });
    return cudaSuccess;
  }
  CheckRange("copy to the host", from, bytes, stream);
  Enqueue(stream, [=] { std::memcpy(to, from, bytes); });
  return cudaStreamSynchronize(stream);
}
cudaError_t cudaDeviceSynchronize() {
  RunAll();
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = new CUstream_st{current, {}};
  streams.push_back(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  std::erase(streams, stream);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  RunUntil([stream] { return stream->tasks.empty(); });
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  stream->tasks.push_back(
      {[event, wanted = event->recorded] { return event->reached >= wanted; }, [] {}});
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  Enqueue(stream, [event, mark = ++event->recorded] { event->reached = mark; });
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  RunUntil([event] { return event->reached == event->recorded; });
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 2;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  current = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = Fake().devices;
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(static_cast<void*>(properties), 0, sizeof(*properties));
  std::strcpy(properties->name, "False GPU");
  properties->major = 9;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMemoryClockRate ? 1000000 : 4096;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorFake"; }
const char* cudaGetErrorString(cudaError_t) { return "no such device"; }

}  // extern "C"
