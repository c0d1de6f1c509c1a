// Does what old_glibc.cc has in place of newer functions do as they do? Built against an older
// glibc alone and run by ./dev wheel: here no newer function is found, as on a machine that has
// none.
#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

extern "C" void* __real_dlsym(void* handle, const char* name);
extern "C" void* __wrap_dlsym(void* handle, const char* name) {
  if (std::strcmp(name, "pthread_cond_clockwait") == 0) return nullptr;
  return __real_dlsym(handle, name);
}

namespace {

using Clock = std::chrono::steady_clock;

void Expect(bool holds, const char* what) {
  if (holds) return;
  fmt::print(stderr, "old_glibc_check: not so: {}\n", what);
  std::exit(1);
}

void CheckWaits() {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock(mutex);
  // Over the end of a second too: the rest of the sum is carried.
  for (const auto wanted : {std::chrono::milliseconds(1), std::chrono::milliseconds(1200)}) {
    const auto start = Clock::now();
    Expect(changed.wait_for(lock, wanted) == std::cv_status::timeout, "a wait times out");
    const auto waited = Clock::now() - start;
    Expect(waited >= wanted && waited < wanted + std::chrono::seconds(5), "it takes its time");
  }
  bool ready = false;
  std::thread other([&] {
    const std::lock_guard guard(mutex);
    ready = true;
    changed.notify_one();
  });
  Expect(changed.wait_for(lock, std::chrono::seconds(60), [&] { return ready; }), "it is woken");
  lock.unlock();
  other.join();
}

void CheckExceptions() {
  bool caught = false;
  std::thread([&] {
    try {
      throw std::runtime_error("here");
    } catch (const std::exception&) {
      caught = true;
    }
  }).join();
  Expect(caught, "an exception is caught in a thread");
}

void CheckCalls() {
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  Expect(::fcntl(file, F_GETFD) == FD_CLOEXEC, "fcntl without an argument");
  Expect(::fcntl(file, F_DUPFD_CLOEXEC, 100) >= 100, "fcntl with one");
  std::random_device device;
  Expect(device() != device() || device() != device(), "numbers are drawn");
  // A variable, so that the compiler calls the functions.
  volatile double two = 2;
  Expect(std::exp2(two) == 4 && std::pow(two, 3) == 8 && std::log2(two) == 1, "functions of libm");
}

}  // namespace

int main() {
  CheckWaits();
  CheckExceptions();
  CheckCalls();
}
