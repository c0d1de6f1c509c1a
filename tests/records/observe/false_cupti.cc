// A libcupti.so.12 and a libcuda.so.1 in one file, for programs that launch nothing: FalseCall
// makes the callbacks of a launch. FALSE_CUPTI=39 refuses the subscriber with this number.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>

#include "harness/records/observe/cupti.h"

using namespace rharness::cupti;

namespace {

Callback* callback = nullptr;
void* user = nullptr;
std::set<std::uint32_t>& Enabled() {
  static std::set<std::uint32_t> ids;
  return ids;
}

}  // namespace

#define EXPORTED __attribute__((visibility("default")))

extern "C" {
EXPORTED int cuptiSubscribe(void** subscriber, Callback* function, void* data) {
  if (const char* refused = std::getenv("FALSE_CUPTI")) return std::atoi(refused);
  callback = function;
  user = data;
  *subscriber = &callback;
  return kSuccess;
}
EXPORTED int cuptiUnsubscribe(void*) {
  callback = nullptr;
  return kSuccess;
}
// As a version without cuLaunchKernelEx.
EXPORTED int cuptiEnableCallback(std::uint32_t, void* subscriber, std::uint32_t domain,
                                 std::uint32_t id) {
  if (subscriber != &callback || domain != kDriverApi || id == kLaunchKernelExPtsz) return 1;
  if (std::getenv("FALSE_CUPTI_MISSES") != nullptr && id == kLaunchKernel) return 1;
  Enabled().insert(id);
  return kSuccess;
}
EXPORTED int cuDriverGetVersion(int* version) {
  *version = 12080;
  return kSuccess;
}
EXPORTED void FalseCall(std::uint32_t id, std::uint32_t site, const void* parameters, int result,
                        const char* symbol) {
  if (callback == nullptr || !Enabled().contains(id)) return;
  const Call call{.site = site,
                  .function = "a function",
                  .parameters = parameters,
                  .result = &result,
                  .symbol = symbol};
  callback(user, kDriverApi, id, &call);
}
}
