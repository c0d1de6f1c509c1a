// How versions of CUDA's parts are spelled. Pure.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_VERSIONS_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_VERSIONS_H_

#include <string>

namespace rharness::scenarios {

// cuBLAS (since 11), cuDNN (since 9) and NCCL (since 2.9): 91900 is "9.19.0".
std::string LibraryVersion(int version);

// The driver's and the runtime's CUDA: 13000 is "13.0".
std::string CudaVersion(int version);

// From the text of /proc/driver/nvidia/version: the first word that is a number with dots, such as
// "580.65.06"; empty when there is none.
std::string DriverVersion(const std::string& proc_text);

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_VERSIONS_H_
