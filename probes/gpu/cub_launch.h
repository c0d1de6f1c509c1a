// CUB's sums and prefix sums over device memory: the only part of this program with the CUDA
// runtime linked in (as an archive).
//
// Role: for the probes of CUB. CUB is a library of headers, so the probes test the version that
// this program was built with, on the stack's device and driver. The runtime works on the primary
// context, the same that Device makes current. Built by the toolkit's compiler for every
// architecture that it knows, so that the driver's compiler is not involved on these.
#ifndef RHARNESS_PROBES_GPU_CUB_LAUNCH_H_
#define RHARNESS_PROBES_GPU_CUB_LAUNCH_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

// CUB's promise for a sum: none, the same bits on one device, the same bits on every device.
enum class CubOrder { kNotGuaranteed, kRunToRun, kGpuToGpu };
inline constexpr CubOrder kCubOrders[] = {CubOrder::kNotGuaranteed, CubOrder::kRunToRun,
                                          CubOrder::kGpuToGpu};
constexpr std::string_view CubOrderName(CubOrder order) {
  constexpr std::string_view names[] = {"not_guaranteed", "run_to_run", "gpu_to_gpu"};
  return names[static_cast<int>(order)];
}

// Whether this CUB supports it: all but run_to_run came with CCCL 3.1. CCCL 3.1 accepts
// not_guaranteed and sums as for run_to_run.
bool CubOffers(CubOrder order);

std::string CcclVersion();  // "3.0.1"
int CubRuntimeVersion();    // of CUDA, in the format of drivers: 13000 is 13.0

// The runtime on device `ordinal`, before any of the others. Errors: unsupported when the driver is
// older than the runtime (another major version of CUDA), internal with the runtime's own text.
Status StartCub(int ordinal, int driver_version);

// `count` rows of `n` values, `stride` values apart, in device memory; out[i] is the sum of row i.
// Waits for the end. Errors: internal with CUB's own text.
template <class T>
struct CubRows {
  const T* rows = nullptr;
  std::size_t stride = 0;
  int n = 0;
  int count = 1;
};
Status CubSum(CubOrder order, const CubRows<float>& rows, float* out);
Status CubSum(CubOrder order, const CubRows<double>& rows, double* out);

// out[i] = in[0] + ... + in[i], in device memory. Errors as above.
Status CubInclusiveSum(const float* in, float* out, int n);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_CUB_LAUNCH_H_
