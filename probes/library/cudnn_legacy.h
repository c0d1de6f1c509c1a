// Descriptors of cuDNN's older, fixed functions, owned.
//
// Role: functions deprecated since cuDNN 9 and still called by older programs: convolutions by
// algorithm, pooling, softmax, CTC loss. A removed function is `unsupported`.
#ifndef RHARNESS_PROBES_LIBRARY_CUDNN_LEGACY_H_
#define RHARNESS_PROBES_LIBRARY_CUDNN_LEGACY_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/base/result.h"
#include "probes/library/cudnn_graph.h"

namespace rharness {

template <class Handle>
using CudnnOwned = std::unique_ptr<std::remove_pointer_t<Handle>, std::function<void(Handle)>>;

// n, c, h, w; of filters k, c, r, s.
using LegacyDims = std::array<int, 4>;

Result<CudnnOwned<cudnnTensorDescriptor_t>> LegacyTensor(const std::shared_ptr<const Cudnn>& cudnn,
                                                         cudnnDataType_t type, TensorLayout layout,
                                                         const LegacyDims& dims);
// Dense, the last dimension fastest.
Result<CudnnOwned<cudnnTensorDescriptor_t>> LegacyTensor(const std::shared_ptr<const Cudnn>& cudnn,
                                                         cudnnDataType_t type,
                                                         const std::vector<int>& dims);
// A square window, NaNs not carried on.
Result<CudnnOwned<cudnnPoolingDescriptor_t>> LegacyPooling(
    const std::shared_ptr<const Cudnn>& cudnn, cudnnPoolingMode_t mode, int window, int padding,
    int stride);
// Inputs are scores; the loss takes their softmax itself.
Result<CudnnOwned<cudnnCTCLossDescriptor_t>> LegacyCtcLoss(
    const std::shared_ptr<const Cudnn>& cudnn);

// One entry of a list of algorithms.
struct LegacyAlgorithm {
  int algorithm = 0;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  std::size_t workspace_bytes = 0;
  bool deterministic = false;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};
// "winograd_nonfused"; "algorithm 9" of what the header has no name for.
std::string LegacyAlgorithmName(ConvolutionPass pass, int algorithm);
// {"algorithm", "status", "deterministic", "math", "workspace_bytes"}, status in cuDNN's words.
Json DescribeLegacyAlgorithm(const Cudnn& cudnn, ConvolutionPass pass,
                             const LegacyAlgorithm& algorithm);

// A cross-correlation with sums in fp32, stride 1.
class LegacyConvolution {
 public:
  static Result<LegacyConvolution> Create(const std::shared_ptr<const Cudnn>& cudnn,
                                          cudnnDataType_t type, TensorLayout layout,
                                          const LegacyDims& x, const LegacyDims& w,
                                          const LegacyDims& y, int padding, cudnnMathType_t math);
  // What the library's heuristic ranks, best first; nothing is timed.
  Result<std::vector<LegacyAlgorithm>> Rank(ConvolutionPass pass) const;
  Result<std::size_t> WorkspaceBytes(ConvolutionPass pass, int algorithm) const;
  // Device addresses; alpha 1, beta 0; on the default stream, does not wait. Errors: unsupported
  // when there is no such algorithm for this.
  Status Run(ConvolutionPass pass, int algorithm, void* x, void* w, void* y, void* workspace,
             std::size_t workspace_bytes) const;

 private:
  LegacyConvolution() = default;

  std::shared_ptr<const Cudnn> cudnn_;
  CudnnOwned<cudnnTensorDescriptor_t> x_, y_;
  CudnnOwned<cudnnFilterDescriptor_t> w_;
  CudnnOwned<cudnnConvolutionDescriptor_t> convolution_;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_CUDNN_LEGACY_H_
