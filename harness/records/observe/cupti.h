// What of CUPTI's callback API is used, declared here: nothing of NVIDIA is needed to build.
//
// Role: for kernels.cc, and for the false libcupti of the tests. The numbers and layouts are the
// same in CUPTI 11.8, 12 and 13; a test holds them against the headers. Sources: cupti_callbacks,
// cupti_driver_cbid, cupti_result and generated_cuda_meta of the wheels nvidia-cuda-cupti, and the
// driver's own header.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_CUPTI_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_CUPTI_H_

#include <stdint.h>

namespace rharness::cupti {

inline constexpr int kSuccess = 0;
inline constexpr int kMaxLimitReached = 12;  // a second subscriber, of older versions
inline constexpr int kNotInitialized = 15;
inline constexpr int kInsufficientPrivileges = 35;
inline constexpr int kMultipleSubscribers = 39;
inline constexpr int kVirtualizedInsufficientPrivileges = 40;

inline constexpr uint32_t kDriverApi = 1;  // a domain of callbacks
inline constexpr uint32_t kApiExit = 1;    // a site of a callback

// Ids of functions in that domain. "_ptsz": with the stream of the thread.
inline constexpr uint32_t kLaunchKernel = 307, kLaunchKernelPtsz = 442;
inline constexpr uint32_t kLaunchCooperative = 477, kLaunchCooperativePtsz = 478;
inline constexpr uint32_t kLaunchCooperativeMulti = 480;
inline constexpr uint32_t kGraphLaunch = 514, kGraphLaunchPtsz = 515;
inline constexpr uint32_t kLaunchKernelEx = 652, kLaunchKernelExPtsz = 653;

// CUpti_CallbackData, as far as it is read.
struct Call {
  uint32_t site;
  const char* function;
  const void* parameters;
  const void* result;  // points to a CUresult at the exit
  const char* symbol;  // the kernel's name, of launches
};

// Extents of a launch, which all structures of parameters have in this order.
struct Extents {
  unsigned int grid[3];
  unsigned int block[3];
  unsigned int shared_bytes;  // dynamic
};
// Of kLaunchKernel and kLaunchCooperative: the beginning.
struct LaunchKernelParameters {
  void* function;
  Extents extents;
};
// Of kLaunchKernelEx; the configuration begins with the extents.
struct LaunchKernelExParameters {
  const Extents* configuration;
  void* function;
};

using Callback = void(void* user, uint32_t domain, uint32_t id, const void* data);
using Subscribe = int(void** subscriber, Callback* callback, void* user);
using Unsubscribe = int(void* subscriber);
using EnableCallback = int(uint32_t enable, void* subscriber, uint32_t domain, uint32_t id);

// Of the driver.
using DriverGetVersion = int(int* version);

}  // namespace rharness::cupti

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_CUPTI_H_
