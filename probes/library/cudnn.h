// cuDNN: typed functions, the text of its errors, one handle, and its files.
//
// Role: the library itself. Its graphs are built by cudnn_graph.h. Not here: the questions.
#ifndef RHARNESS_PROBES_LIBRARY_CUDNN_H_
#define RHARNESS_PROBES_LIBRARY_CUDNN_H_

#include <cudnn.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "probes/library/symbols.h"

// What every cuDNN from 8 on has.
#define RHARNESS_CUDNN(X)          \
  X(cudnnGetVersion)               \
  X(cudnnGetErrorString)           \
  X(cudnnCreate)                   \
  X(cudnnDestroy)                  \
  X(cudnnBackendCreateDescriptor)  \
  X(cudnnBackendDestroyDescriptor) \
  X(cudnnBackendFinalize)          \
  X(cudnnBackendSetAttribute)      \
  X(cudnnBackendGetAttribute)      \
  X(cudnnBackendExecute)

// New in cuDNN 9, or deprecated and possibly removed: null when the library has none.
#define RHARNESS_CUDNN_OPTIONAL(X)                  \
  X(cudnnGetLastErrorString)                        \
  X(cudnnGetCudartVersion)                          \
  X(cudnnCreateTensorDescriptor)                    \
  X(cudnnDestroyTensorDescriptor)                   \
  X(cudnnSetTensor4dDescriptor)                     \
  X(cudnnSetTensorNdDescriptor)                     \
  X(cudnnCreateFilterDescriptor)                    \
  X(cudnnDestroyFilterDescriptor)                   \
  X(cudnnSetFilter4dDescriptor)                     \
  X(cudnnCreateConvolutionDescriptor)               \
  X(cudnnDestroyConvolutionDescriptor)              \
  X(cudnnSetConvolution2dDescriptor)                \
  X(cudnnSetConvolutionMathType)                    \
  X(cudnnGetConvolutionForwardAlgorithm_v7)         \
  X(cudnnGetConvolutionBackwardDataAlgorithm_v7)    \
  X(cudnnGetConvolutionBackwardFilterAlgorithm_v7)  \
  X(cudnnGetConvolutionForwardWorkspaceSize)        \
  X(cudnnGetConvolutionBackwardDataWorkspaceSize)   \
  X(cudnnGetConvolutionBackwardFilterWorkspaceSize) \
  X(cudnnConvolutionForward)                        \
  X(cudnnConvolutionBackwardData)                   \
  X(cudnnConvolutionBackwardFilter)                 \
  X(cudnnCreatePoolingDescriptor)                   \
  X(cudnnDestroyPoolingDescriptor)                  \
  X(cudnnSetPooling2dDescriptor)                    \
  X(cudnnPoolingForward)                            \
  X(cudnnPoolingBackward)                           \
  X(cudnnSoftmaxForward)                            \
  X(cudnnCreateCTCLossDescriptor)                   \
  X(cudnnDestroyCTCLossDescriptor)                  \
  X(cudnnSetCTCLossDescriptorEx)                    \
  X(cudnnGetCTCLossWorkspaceSize)                   \
  X(cudnnCTCLoss)

namespace rharness {

struct CudnnFunctions {
  RHARNESS_CUDNN(RHARNESS_DECLARE)
  RHARNESS_CUDNN_OPTIONAL(RHARNESS_DECLARE)
};

class Cudnn {
 public:
  // libcudnn.so.9, else .8, without a handle: enough for graphs and heuristics of a described
  // device. Errors: not_found, unsupported (a function is missing), io.
  static Result<std::shared_ptr<Cudnn>> Load(const std::vector<std::filesystem::path>& paths);
  // The same with a handle in the current context. Errors: internal too, with cuDNN's own text.
  static Result<std::shared_ptr<Cudnn>> Open(const std::vector<std::filesystem::path>& paths);
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  // "cudnnCreate: CUDNN_STATUS_NOT_INITIALIZED: (the library's last error)". unsupported when the
  // library says that it has no such computation, else internal.
  Status Check(cudnnStatus_t status, std::string_view call) const;
  // unsupported, naming those of `names` that the library does not have. Each is a pointer of `f`.
  Status Need(const std::map<std::string_view, bool>& present) const;

  cudnnHandle_t handle() const { return handle_; }               // null after Load
  std::uint64_t version() const { return f.cudnnGetVersion(); }  // 91900 is 9.19.0, 8907 is 8.9.7
  std::string VersionText() const;
  const Library& library() const { return *library_; }
  // DescribeLibrary of libcudnn alone, by soname.
  std::map<std::string, Json> Describe() const;
  // The same with the libraries that do the work, and cuBLASLt and NVRTC, which some engines call.
  // Leaves out those that cannot be opened. Cost: reads them all, half a gigabyte.
  std::map<std::string, Json> DescribeParts() const;

  CudnnFunctions f;

 private:
  Cudnn() = default;

  std::vector<std::filesystem::path> paths_;
  std::shared_ptr<Library> library_;
  cudnnHandle_t handle_ = nullptr;
};

// 9.19.0 of 91900, 8.9.7 of 8907.
std::string CudnnVersionText(std::uint64_t version);

// The library says that it does not compute this, here or at all: the codes of cuDNN 8 and of 9.
bool CudnnSaysNotSupported(cudnnStatus_t status, std::uint64_t version);
// CUDNN_STATUS_BAD_PARAM and its kin: of a query of an attribute also that it is not known.
bool CudnnSaysBadParam(cudnnStatus_t status, std::uint64_t version);

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_CUDNN_H_
