// What a newer glibc has and older ones lack: the archives of the compiler and of libraries ask for
// it, since they were built with this machine's. In builds with RHARNESS_PROBE_SYSROOT alone.
#undef _FILE_OFFSET_BITS  // with it, fcntl here would be the fcntl64 that is defined below
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <span>

#pragma GCC visibility push(hidden)

// glibc 2.32. True would let libstdc++ count references without atomic operations; false is always
// right.
extern "C" {
extern char __libc_single_threaded;
char __libc_single_threaded = 0;
}

// glibc 2.25, by the kernel's own call.
extern "C" ssize_t getrandom(void* buffer, std::size_t size, unsigned flags) {
  return ::syscall(SYS_getrandom, buffer, size, flags);
}

// glibc 2.36, for std::random_device. rharness-probe has one of its own in every build.
extern "C" __attribute__((weak)) std::uint32_t arc4random() noexcept {
  std::uint32_t drawn = 0;
  while (getrandom(&drawn, sizeof(drawn), 0) != static_cast<ssize_t>(sizeof(drawn))) {
    if (errno != EINTR) std::abort();
  }
  return drawn;
}

extern "C" int getentropy(void* buffer, std::size_t size) {
  constexpr std::size_t kMost = 256;  // is never interrupted or partial
  if (size > kMost) {
    errno = EIO;
    return -1;
  }
  return getrandom(buffer, size, 0) == static_cast<ssize_t>(size) ? 0 : -1;
}

// glibc 2.35: the unwinder asks for the loaded object of an address. Laid out as in <dlfcn.h> of
// that version; documented in the manual of glibc, "Dynamic Linker Introspection".
struct dl_find_object {
  unsigned long long dlfo_flags;
  void* dlfo_map_start;
  void* dlfo_map_end;
  link_map* dlfo_link_map;
  void* dlfo_eh_frame;
#if !defined(__x86_64__) && !defined(__aarch64__)
#error "the layout of dl_find_object is known for x86-64 and AArch64 alone"
#endif
  unsigned long long dlfo_reserved[7];
};

namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* found;
};

int VisitObject(dl_phdr_info* info, std::size_t, void* data) {
  const Search& search = *static_cast<Search*>(data);
  const ElfW(Phdr)* frames = nullptr;
  const ElfW(Phdr)* holder = nullptr;
  for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    const std::uintptr_t start = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME) frames = &segment;
    if (segment.p_type == PT_LOAD && search.address - start < segment.p_memsz) holder = &segment;
  }
  if (holder == nullptr) return 0;
  if (frames == nullptr) return -1;
  const auto at = [&](std::uintptr_t offset) {
    return reinterpret_cast<void*>(info->dlpi_addr + offset);
  };
  // The map is that of the one segment; the unwinder reads the frames alone.
  *search.found = {.dlfo_map_start = at(holder->p_vaddr),
                   .dlfo_map_end = at(holder->p_vaddr + holder->p_memsz),
                   .dlfo_eh_frame = at(frames->p_vaddr)};
  return 1;
}

// What a program that was linked on the machine at hand would call.
template <class Function>
Function* Newest(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) {
    // Nothing else of libm is called, so that the program is not linked with it.
    void* const math = dlopen("libm.so.6", RTLD_LAZY);
    if (math != nullptr) found = dlsym(math, name);
  }
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function*>(found);
}

}  // namespace

// 0 when `address` is in a loaded object that has exception frames, -1 otherwise. Unlike glibc's
// own it takes the loader's lock.
extern "C" int _dl_find_object(void* address, dl_find_object* found) noexcept {
  Search search{.address = reinterpret_cast<std::uintptr_t>(address), .found = found};
  return dl_iterate_phdr(VisitObject, &search) == 1 ? 0 : -1;
}

// glibc 2.28 gave the call a second name; with offsets of 64 bits both are the same.
extern "C" int __wrap_fcntl64(int descriptor, int order, ...) {
  static_assert(sizeof(off_t) == 8);
  va_list list;
  va_start(list, order);
  void* const argument = va_arg(list, void*);
  va_end(list);
  return fcntl(descriptor, order, argument);
}

// glibc 2.25. The barrier keeps the compiler from leaving the call out.
extern "C" void __wrap_explicit_bzero(void* start, std::size_t size) {
  std::memset(start, 0, size);
  __asm__ __volatile__("" : : "r"(start) : "memory");
}

// glibc 2.30, for std::condition_variable. Without it the wait goes by the clock of the day: when
// that is set meanwhile, the wait ends sooner or later than it should.
extern "C" int __wrap_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                             clockid_t clock, const timespec* until) {
  using Wait = int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
  static Wait* const newest =
      reinterpret_cast<Wait*>(dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"));
  if (newest != nullptr) return newest(condition, mutex, clock, until);
  constexpr long kSecond = 1'000'000'000;  // in nanoseconds
  timespec now{};
  timespec day{};
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &day);
  day.tv_sec += until->tv_sec - now.tv_sec;
  day.tv_nsec += until->tv_nsec - now.tv_nsec;
  const long carry = day.tv_nsec < 0 ? -1 : day.tv_nsec / kSecond;
  day.tv_sec += carry;
  day.tv_nsec -= carry * kSecond;
  return pthread_cond_timedwait(condition, mutex, &day);
}

// A newer version of each came with glibc 2.29 (of double), 2.27 (of float) or 2.23 (lgamma), and a
// program that names it cannot start without. They are looked up at run time instead; the linker's
// --wrap sends all calls here.
#define RHARNESS_NEWEST(type, name)                                \
  extern "C" type __wrap_##name(type x) {                          \
    static type (*const newest)(type) = Newest<type(type)>(#name); \
    return newest(x);                                              \
  }
#define RHARNESS_NEWEST_OF_TWO(type, name)                                     \
  extern "C" type __wrap_##name(type x, type y) {                              \
    static type (*const newest)(type, type) = Newest<type(type, type)>(#name); \
    return newest(x, y);                                                       \
  }
RHARNESS_NEWEST(double, exp)
RHARNESS_NEWEST(double, exp2)
RHARNESS_NEWEST(double, log)
RHARNESS_NEWEST(double, log2)
RHARNESS_NEWEST_OF_TWO(double, pow)
RHARNESS_NEWEST(float, expf)
RHARNESS_NEWEST(float, exp2f)
RHARNESS_NEWEST(float, logf)
RHARNESS_NEWEST(float, log2f)
RHARNESS_NEWEST_OF_TWO(float, powf)
RHARNESS_NEWEST(double, lgamma)
RHARNESS_NEWEST(float, lgammaf)
RHARNESS_NEWEST(long double, lgammal)

#pragma GCC visibility pop
