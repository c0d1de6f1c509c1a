// Our declarations of CUPTI's callback API against NVIDIA's own; compiled by cupti_headers_test.cc
// with the headers of each version at hand.
// The types of functions that were replaced, which the structures of parameters have.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

#include <cstddef>
#include <type_traits>

#include "harness/records/observe/cupti.h"

namespace ours = rharness::cupti;

static_assert(ours::kSuccess == CUPTI_SUCCESS && ours::kSuccess == CUDA_SUCCESS);
static_assert(ours::kMaxLimitReached == CUPTI_ERROR_MAX_LIMIT_REACHED);
static_assert(ours::kNotInitialized == CUPTI_ERROR_NOT_INITIALIZED);
static_assert(ours::kInsufficientPrivileges == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(ours::kMultipleSubscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(ours::kVirtualizedInsufficientPrivileges ==
              CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
static_assert(ours::kDriverApi == CUPTI_CB_DOMAIN_DRIVER_API && ours::kApiExit == CUPTI_API_EXIT);

// Its test compiles it with another number, too, which must fail.
#ifndef PLANTED
#define PLANTED 0
#endif
static_assert(ours::kLaunchKernel + PLANTED == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
static_assert(ours::kLaunchKernelPtsz == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
static_assert(ours::kLaunchCooperative == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
static_assert(ours::kLaunchCooperativePtsz ==
              CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz);
static_assert(ours::kLaunchCooperativeMulti ==
              CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice);
static_assert(ours::kGraphLaunch == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
static_assert(ours::kGraphLaunchPtsz == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz);
static_assert(ours::kLaunchKernelEx == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
static_assert(ours::kLaunchKernelExPtsz == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);

static_assert(offsetof(ours::Call, site) == offsetof(CUpti_CallbackData, callbackSite));
static_assert(sizeof(ours::Call::site) == sizeof(CUpti_CallbackData::callbackSite));
static_assert(offsetof(ours::Call, function) == offsetof(CUpti_CallbackData, functionName));
static_assert(offsetof(ours::Call, parameters) == offsetof(CUpti_CallbackData, functionParams));
static_assert(offsetof(ours::Call, result) == offsetof(CUpti_CallbackData, functionReturnValue));
static_assert(offsetof(ours::Call, symbol) == offsetof(CUpti_CallbackData, symbolName));

// A structure of parameters that begins with the function and has the extents behind it.
template <class Theirs>
constexpr bool kHasExtents =
    offsetof(Theirs, f) == offsetof(ours::LaunchKernelParameters, function) &&
    offsetof(Theirs, gridDimX) == offsetof(ours::LaunchKernelParameters, extents.grid) &&
    offsetof(Theirs, gridDimZ) == offsetof(ours::LaunchKernelParameters, extents.grid) + 8 &&
    offsetof(Theirs, blockDimX) == offsetof(ours::LaunchKernelParameters, extents.block) &&
    offsetof(Theirs, sharedMemBytes) ==
        offsetof(ours::LaunchKernelParameters, extents.shared_bytes);
static_assert(kHasExtents<cuLaunchKernel_params> && kHasExtents<cuLaunchKernel_ptsz_params>);
static_assert(kHasExtents<cuLaunchCooperativeKernel_params> &&
              kHasExtents<cuLaunchCooperativeKernel_ptsz_params>);

static_assert(offsetof(CUlaunchConfig, gridDimX) == offsetof(ours::Extents, grid) &&
              offsetof(CUlaunchConfig, blockDimX) == offsetof(ours::Extents, block) &&
              offsetof(CUlaunchConfig, sharedMemBytes) == offsetof(ours::Extents, shared_bytes));
static_assert(offsetof(cuLaunchKernelEx_params, config) ==
                  offsetof(ours::LaunchKernelExParameters, configuration) &&
              offsetof(cuLaunchKernelEx_params, f) ==
                  offsetof(ours::LaunchKernelExParameters, function) &&
              offsetof(cuLaunchKernelEx_ptsz_params, config) ==
                  offsetof(ours::LaunchKernelExParameters, configuration));

// Enumerations and handles are handed over as numbers and pointers of these sizes.
static_assert(sizeof(CUptiResult) == sizeof(int) && sizeof(CUresult) == sizeof(int));
static_assert(sizeof(CUpti_CallbackDomain) == sizeof(uint32_t) &&
              std::is_same_v<CUpti_CallbackId, uint32_t>);
static_assert(std::is_pointer_v<CUpti_SubscriberHandle> && std::is_pointer_v<CUfunction>);
static_assert(std::is_same_v<CUpti_CallbackFunc,
                             void (*)(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*)>);
