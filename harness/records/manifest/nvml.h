// The GPUs and their driver, from NVIDIA's management library if present.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_NVML_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_NVML_H_

#include <string>

#include "harness/records/manifest/environment.h"

namespace rharness {

// Fills gpus, gpu_driver and interconnect ("nvlink" when a link of any GPU is up, else "pcie" when
// there are GPUs), and returns the newest CUDA version that the driver supports, "13.0". Without
// the library, the driver or GPUs the fields stay empty. Cost: the library's start, about 0.1 s.
// Source: NVIDIA, NVML API reference; symbols by their versioned names.
std::string ReadGpus(Hardware* hardware);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_NVML_H_
