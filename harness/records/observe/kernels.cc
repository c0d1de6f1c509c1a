// The library that the CUDA driver loads into the processes of an observed run: it notes the GPU
// kernels that they launch, and changes nothing.
//
// Role: named by CUDA_INJECTION64_PATH, beside preload.cc and under its conditions: the C library
// alone, none newer than glibc 2.17, no lock and no memory of its own. It subscribes to the
// driver's launches by CUPTI's callbacks and counts each that succeeded: its name, its shapes, and
// its place in the order of the process. What keeps it from that is noted, and the run goes on.
// Source: CUPTI documentation, "CUDA Injection" and "CUPTI Callback API". Not here: what a note
// means (kernel_notes.h).
//
// Not seen: kernels that kernels launch, and the single kernels of a launched graph. Not asked for:
// a kernel's registers and static shared memory, since cuFuncGetAttribute is not said to take all
// handles that a launch takes (CUkernel).
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "harness/records/observe/cupti.h"
#include "harness/records/observe/kernel_arena.h"
#include "harness/records/observe/mapped_notes.h"

// As those in preload.cc: null in a process without libdl, which no driver is in.
extern "C" __attribute__((weak)) void* OldDlopen(const char* file, int mode);
extern "C" __attribute__((weak)) void* OldDlsym(void* handle, const char* name);
#if defined(__x86_64__)
__asm__(".symver OldDlopen,dlopen@GLIBC_2.2.5");
__asm__(".symver OldDlsym,dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver OldDlopen,dlopen@GLIBC_2.17");
__asm__(".symver OldDlsym,dlsym@GLIBC_2.17");
#endif

namespace {

using rharness::KernelArena;
using rharness::KernelEntry;
using rharness::KernelProcess;
using rharness::KernelShape;
using namespace rharness::cupti;

constexpr uint64_t kMostProbes = 32;

KernelArena* arena = nullptr;
KernelProcess* own = nullptr;

// Eight bytes at a time: the names of templates have hundreds, and a launch takes microseconds.
uint64_t HashOf(const char* bytes, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u ^ size;
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, bytes + at, size - at < sizeof(word) ? size - at : sizeof(word));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash | 1;
}

void Add(uint64_t* count) { __atomic_add_fetch(count, 1, __ATOMIC_RELAXED); }
void Drop() { __atomic_add_fetch(&arena->dropped, 1, __ATOMIC_RELAXED); }

// Whether the place, which was free, is this hash's now; `*found`: the hash that it has.
bool Claims(uint64_t* place, uint64_t hash, uint64_t* found) {
  *found = __atomic_load_n(place, __ATOMIC_RELAXED);
  return *found == 0 &&
         __atomic_compare_exchange_n(place, found, hash, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

// Null: no place is left.
KernelEntry* EntryOf(const char* name, size_t size, uint64_t hash) {
  for (uint64_t probe = 0; probe < kMostProbes; ++probe) {
    KernelEntry* entry = &arena->entries[((hash >> 8) + probe) % rharness::kKernelEntries];
    uint64_t found;
    if (Claims(&entry->hash, hash, &found)) {
      const size_t kept = size < sizeof(entry->name) ? size : sizeof(entry->name);
      memcpy(entry->name, name, kept);
      entry->size = static_cast<uint32_t>(size);
      __atomic_store_n(&entry->ready, 1, __ATOMIC_RELEASE);
      return entry;
    }
    if (found == hash) return entry;
  }
  return nullptr;
}

void NoteShape(const Extents& extents, KernelEntry* entry) {
  const uint64_t hash = HashOf(reinterpret_cast<const char*>(&extents), sizeof(extents));
  for (KernelShape& shape : entry->shapes) {
    uint64_t found;
    if (Claims(&shape.hash, hash, &found)) {
      memcpy(shape.grid, extents.grid, sizeof(shape.grid));
      memcpy(shape.block, extents.block, sizeof(shape.block));
      shape.shared_bytes = extents.shared_bytes;
      __atomic_store_n(&shape.ready, 1, __ATOMIC_RELEASE);
      return;
    }
    if (found == hash) return;
  }
  __atomic_store_n(&entry->more_shapes, 1, __ATOMIC_RELAXED);
}

// The digest of what was launched before and this name.
void NoteOrder(uint64_t hash) {
  uint64_t before = __atomic_load_n(&own->order, __ATOMIC_RELAXED), after;
  do {
    after = ((before << 23 | before >> 41) ^ hash) * 0x9e3779b97f4a7c15u;
  } while (!__atomic_compare_exchange_n(&own->order, &before, after, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
  Add(&own->launches);
}

void NoteLaunch(const char* name, const Extents* extents) {
  const size_t size = strlen(name);
  const uint64_t hash = HashOf(name, size);
  NoteOrder(hash);
  KernelEntry* entry = EntryOf(name, size, hash);
  if (entry == nullptr) return Drop();
  Add(&entry->launches);
  if (extents != nullptr) NoteShape(*extents, entry);
}

void OnCall(void*, uint32_t domain, uint32_t id, const void* data) {
  const auto* call = static_cast<const Call*>(data);
  if (domain != kDriverApi || call == nullptr || call->site != kApiExit) return;
  if (call->result == nullptr || *static_cast<const int*>(call->result) != 0) return;
  if (id == kGraphLaunch || id == kGraphLaunchPtsz) {
    return NoteLaunch(rharness::kGraphLaunch, nullptr);
  }
  const char* name = call->symbol == nullptr || *call->symbol == 0 ? "(no name)" : call->symbol;
  if (id == kLaunchKernelEx || id == kLaunchKernelExPtsz) {
    const auto* ex = static_cast<const LaunchKernelExParameters*>(call->parameters);
    return NoteLaunch(name, ex->configuration);
  }
  if (id == kLaunchCooperativeMulti) return NoteLaunch(name, nullptr);
  const auto* plain = static_cast<const LaunchKernelParameters*>(call->parameters);
  NoteLaunch(name, &plain->extents);
}

constexpr char kWheels[] = "-packages/nvidia/";  // of site- and dist-packages

// Where the run's own libraries of CUDA lie, if they are of wheels.
int FindWheels(struct dl_phdr_info* info, size_t, void* out) {
  const char* mark = info->dlpi_name == nullptr ? nullptr : strstr(info->dlpi_name, kWheels);
  if (mark == nullptr) return 0;
  const auto length = static_cast<size_t>(mark - info->dlpi_name) + sizeof(kWheels) - 1;
  if (length >= rharness::kLongestPath) return 0;
  memcpy(out, info->dlpi_name, length);
  static_cast<char*>(out)[length] = 0;
  return 1;
}

constexpr const char* kCupti13[] = {"libcupti.so.13"};
constexpr const char* kCupti12[] = {"libcupti.so.12"};
constexpr const char* kCupti11[] = {"libcupti.so.11.8", "libcupti.so.11.7", "libcupti.so.11.6",
                                    "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
                                    "libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so.11.0"};

void* OpenIn(const char* wheels, const char* name) {
  // The folders of wheels, of CUDA 13 and before; then those of a toolkit.
  constexpr const char* kFolders[] = {"cu13/lib", "cuda_cupti/lib"};
  constexpr const char* kToolkits[] = {"/usr/local/cuda/extras/CUPTI/lib64",
                                       "/usr/local/cuda/lib64"};
  void* library = OldDlopen(name, RTLD_NOW | RTLD_LOCAL);
  char path[rharness::kLongestPath];
  for (const char* folder : kFolders) {
    if (library != nullptr || wheels[0] == 0) break;
    if (snprintf(path, sizeof(path), "%s%s/%s", wheels, folder, name) <
        static_cast<int>(sizeof(path))) {
      library = OldDlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
  }
  for (const char* folder : kToolkits) {
    if (library != nullptr) break;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    library = OldDlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return library;
}

// One that the process has already; else the newest that is not newer than the driver.
void* OpenCupti(int driver_major) {
  struct {
    int major;
    const char* const* names;
    size_t count;
  } const versions[] = {{13, kCupti13, 1}, {12, kCupti12, 1}, {11, kCupti11, 9}};
  for (const auto& version : versions) {
    for (size_t i = 0; i < version.count; ++i) {
      void* library = OldDlopen(version.names[i], RTLD_NOW | RTLD_NOLOAD);
      if (library != nullptr) return library;
    }
  }
  char wheels[rharness::kLongestPath] = "";
  dl_iterate_phdr(FindWheels, wheels);
  for (const auto& version : versions) {
    if (driver_major > 0 && version.major > driver_major) continue;
    for (size_t i = 0; i < version.count; ++i) {
      void* library = OpenIn(wheels, version.names[i]);
      if (library != nullptr) return library;
    }
  }
  return nullptr;
}

template <class F>
F* Find(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<F*>(OldDlsym(library, name));
}

constexpr uint32_t kRareLaunches[] = {
    kLaunchKernelPtsz, kLaunchCooperative, kLaunchCooperativePtsz, kLaunchCooperativeMulti,
    kGraphLaunch,      kGraphLaunchPtsz,   kLaunchKernelEx,        kLaunchKernelExPtsz};

// What becomes of this process.
uint32_t Watch() {
  if (OldDlopen == nullptr || OldDlsym == nullptr) return rharness::kKernelsNoCupti;
  void* driver = OldDlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto* get_version = Find<DriverGetVersion>(driver, "cuDriverGetVersion");
  int version = 0;
  if (get_version == nullptr || get_version(&version) != kSuccess) version = 0;
  void* library = OpenCupti(version / 1000);
  auto* subscribe = Find<Subscribe>(library, "cuptiSubscribe");
  auto* unsubscribe = Find<Unsubscribe>(library, "cuptiUnsubscribe");
  auto* enable = Find<EnableCallback>(library, "cuptiEnableCallback");
  if (subscribe == nullptr || unsubscribe == nullptr || enable == nullptr) {
    return rharness::kKernelsNoCupti;
  }
  void* subscriber = nullptr;
  int result = subscribe(&subscriber, OnCall, nullptr);
  if (result == kSuccess) {
    // Functions that a version does not have are called by nobody.
    for (const uint32_t id : kRareLaunches) (void)enable(1, subscriber, kDriverApi, id);
    result = enable(1, subscriber, kDriverApi, kLaunchKernel);
    if (result != kSuccess) unsubscribe(subscriber);
  }
  own->error = static_cast<uint32_t>(result);
  return result == kSuccess ? rharness::kKernelsWatched : rharness::kKernelsRefused;
}

KernelProcess* TakeProcess() {
  for (KernelProcess& process : arena->processes) {
    uint32_t free = 0;
    if (__atomic_compare_exchange_n(&process.state, &free, rharness::kKernelsStarted, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      return &process;
    }
  }
  return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static bool is_called = false;
  if (__atomic_test_and_set(&is_called, __ATOMIC_ACQ_REL)) return 1;
  const char* folder = rharness::FindVariable(rharness::kObserveVariable);
  if (folder == nullptr) return 1;
  arena = static_cast<KernelArena*>(rharness::MapNotes(
      folder, rharness::kKernelArenaFile, sizeof(KernelArena), rharness::kKernelArenaMagic));
  if (arena == nullptr) return 1;
  own = TakeProcess();
  if (own == nullptr) {
    Drop();
    return 1;
  }
  __atomic_store_n(&own->state, Watch(), __ATOMIC_RELEASE);
  return 1;
}
