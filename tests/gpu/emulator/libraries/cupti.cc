// libcupti: the callback API as far as harness/records/observe/cupti.h declares it, for launches of
// the emulated driver.
//
// Results: CUPTI's header of callbacks, "retval" of each function.
#include "harness/records/observe/cupti.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "tests/gpu/emulator/libraries/machine.h"

namespace {

using namespace rharness::cupti;
using rharness::DriverCall;
using rharness::EmulatedMachine;
using rharness::TheMachine;

constexpr int kInvalidParameter = 1;
constexpr std::size_t kIds = 1000;  // more functions than a driver has

char subscriber = 0;  // its address is the handle of the only one
std::atomic<Callback*> watching = nullptr;
std::atomic<void*> user = nullptr;
std::array<std::atomic<bool>, kIds> enabled;

bool Fails(std::string_view call) {
  return TheMachine().EnterLibrary(call) == EmulatedMachine::Entry::kInjected;
}

void Tell(const DriverCall& call) {
  Callback* const callback = watching;
  if (callback == nullptr || call.id >= kIds || !enabled[call.id]) return;
  const Call data{.site = call.is_over ? kApiExit : 0U,
                  .function = call.function,
                  .parameters = call.parameters,
                  .result = call.result,
                  .symbol = call.symbol};
  callback(user, kDriverApi, call.id, &data);
}

}  // namespace

extern "C" {
int cuptiSubscribe(void** out, Callback* callback, void* data) {
  if (Fails("cuptiSubscribe")) return kNotInitialized;
  // As under a tool of NVIDIA's.
  if (std::getenv("EMULATED_OTHER_TOOL") != nullptr) return kMultipleSubscribers;
  if (std::getenv("EMULATED_NO_PERMISSION") != nullptr) return kInsufficientPrivileges;
  if (out == nullptr) return kInvalidParameter;
  Callback* none = nullptr;
  if (!watching.compare_exchange_strong(none, callback)) return kMultipleSubscribers;
  user = data;
  *out = &subscriber;
  TheMachine().WatchLaunches(Tell);
  return kSuccess;
}

int cuptiUnsubscribe(void* handle) {
  if (Fails("cuptiUnsubscribe")) return kNotInitialized;
  if (handle != &subscriber) return kInvalidParameter;
  TheMachine().WatchLaunches(nullptr);
  watching = nullptr;
  return kSuccess;
}

int cuptiEnableCallback(std::uint32_t enable, void* handle, std::uint32_t domain,
                        std::uint32_t id) {
  if (Fails("cuptiEnableCallback")) return kNotInitialized;
  if (handle != &subscriber || domain != kDriverApi || id >= kIds) return kInvalidParameter;
  enabled[id] = enable != 0;
  return kSuccess;
}
}
