// libcudnn's older descriptors and convolutions by algorithm.
//
// Statuses: cuDNN API reference. Orders: algorithms 0 of both backward passes and 3 to the filter,
// which are documented to vary, add four parts and begin with a different part in each call.
// Algorithm 1 and the forward ones are plain or, where math allows tensor cores, in their groups.
#include "tests/gpu/emulator/libraries/cudnn_legacy.h"

#include <algorithm>
#include <set>

#include "tests/gpu/emulator/libraries/cudnn_engines.h"
#include "tests/gpu/emulator/libraries/cudnn_handle.h"
#include "tests/gpu/emulator/libraries/machine.h"

namespace rharness {
namespace {

std::set<const void*>& Living() {
  static std::set<const void*> living;
  return living;
}

template <class Struct>
cudnnStatus_t Make(Struct** made) {
  if (made == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  *made = new Struct{};
  Living().insert(*made);
  return CUDNN_STATUS_SUCCESS;
}
template <class Struct>
cudnnStatus_t Drop(Struct* one) {
  if (Living().erase(one) == 0) return CUDNN_STATUS_BAD_PARAM;
  delete one;
  return CUDNN_STATUS_SUCCESS;
}

std::array<std::int64_t, 4> StridesOf(cudnnTensorFormat_t format,
                                      const std::array<std::int64_t, 4>& d) {
  if (format == CUDNN_TENSOR_NHWC) return {d[1] * d[2] * d[3], 1, d[3] * d[1], d[1]};
  return {d[1] * d[2] * d[3], d[2] * d[3], d[3], 1};
}

cudnnStatus_t CheckFour(cudnnTensorFormat_t format, cudnnDataType_t type,
                        const std::array<std::int64_t, 4>& dims) {
  for (const std::int64_t dim : dims) {
    if (dim < 1) return CUDNN_STATUS_BAD_PARAM;
  }
  if (format != CUDNN_TENSOR_NCHW && format != CUDNN_TENSOR_NHWC) return CUDNN_STATUS_BAD_PARAM;
  return ElementOf(type) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

ConvolutionOperand OperandOf(const cudnnTensorStruct& tensor) {
  ConvolutionOperand made{.element = tensor.element};
  std::copy_n(tensor.dims.begin(), 4, made.dims.begin());
  std::copy_n(tensor.strides.begin(), 4, made.strides.begin());
  return made;
}
ConvolutionOperand OperandOf(const cudnnFilterStruct& filter) {
  return {filter.element, filter.dims, filter.strides};
}

// All three tensors of a convolution, whichever its pass computes.
cudnnStatus_t Describe(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                       cudnnTensorDescriptor_t y, cudnnConvolutionDescriptor_t convolution,
                       ConvolutionCall* call) {
  for (const void* one : {static_cast<const void*>(x), static_cast<const void*>(w),
                          static_cast<const void*>(y), static_cast<const void*>(convolution)}) {
    if (!IsLiving(one)) return CUDNN_STATUS_BAD_PARAM;
  }
  if (x->dims.size() != 4 || y->dims.size() != 4 || w->dims[0] == 0 || convolution->padding < 0) {
    return RefuseCudnn(CUDNN_STATUS_BAD_PARAM, "a descriptor that was not set");
  }
  call->x = OperandOf(*x), call->w = OperandOf(*w), call->y = OperandOf(*y);
  call->padding = convolution->padding;
  if (!ShapesFit(call->x, call->w, call->y, call->padding)) {
    return RefuseCudnn(CUDNN_STATUS_BAD_PARAM, "x, w and y do not fit");
  }
  const bool tensor_cores = convolution->math == CUDNN_TENSOR_OP_MATH ||
                            (convolution->math == CUDNN_DEFAULT_MATH &&
                             TheMachine().compute() >= 80 && x->element == Element::kF32);
  call->places = tensor_cores ? 25 : 0;
  return CUDNN_STATUS_SUCCESS;
}

constexpr int kAlgorithms[] = {2, 2, 3};  // by pass: 0 and 1; 0 and 1; 0, 1 and 3
int AlgorithmAt(PassKind pass, int rank) {
  if (pass == PassKind::kForward) return rank;  // implicit GEMM, precomputed
  return rank == 0 ? 1 : rank == 1 ? 0 : 3;     // the one that repeats first
}
bool Varies(PassKind pass, int algorithm) { return pass != PassKind::kForward && algorithm != 1; }
bool IsAlgorithm(PassKind pass, int algorithm) {
  for (int rank = 0; rank < kAlgorithms[static_cast<std::size_t>(pass)]; ++rank) {
    if (AlgorithmAt(pass, rank) == algorithm) return true;
  }
  return false;
}
std::size_t WorkspaceBytes(const ConvolutionCall& call, int algorithm) {
  return Varies(call.pass, algorithm) || algorithm == 1 ? call.w.Bytes() : 0;
}

template <class Performance>
cudnnStatus_t List(const ConvolutionCall& call, int wanted, int* count, Performance* entries) {
  if (wanted <= 0 || count == nullptr || entries == nullptr) return CUDNN_STATUS_BAD_PARAM;
  *count = 0;
  for (int rank = 0; rank < kAlgorithms[static_cast<std::size_t>(call.pass)]; ++rank) {
    if (*count == wanted) break;
    Performance& entry = entries[(*count)++];
    entry = {};
    const int algorithm = AlgorithmAt(call.pass, rank);
    entry.algo = static_cast<decltype(entry.algo)>(algorithm);
    entry.status = CUDNN_STATUS_SUCCESS;
    entry.time = -1.0F;
    entry.memory = WorkspaceBytes(call, algorithm);
    entry.determinism =
        Varies(call.pass, algorithm) ? CUDNN_NON_DETERMINISTIC : CUDNN_DETERMINISTIC;
    entry.mathType = call.places > 0 ? CUDNN_TENSOR_OP_MATH : CUDNN_FMA_MATH;
  }
  return CUDNN_STATUS_SUCCESS;
}

struct Factors {
  const void* alpha;
  const void* beta;
};
cudnnStatus_t Run(cudnnHandle_t handle, ConvolutionCall* call, int algorithm, const void* workspace,
                  std::size_t bytes, const Factors& factors) {
  if (factors.alpha == nullptr || factors.beta == nullptr || call->x_at == nullptr ||
      call->w_at == nullptr || call->y_at == nullptr) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const bool plain = *static_cast<const float*>(factors.alpha) == 1.0F &&
                     *static_cast<const float*>(factors.beta) == 0.0F;
  if (!plain || !IsAlgorithm(call->pass, algorithm)) return CUDNN_STATUS_NOT_SUPPORTED;
  const std::size_t needed = WorkspaceBytes(*call, algorithm);
  if (needed > 0 && (workspace == nullptr || bytes < needed)) {
    return RefuseCudnn(CUDNN_STATUS_BAD_PARAM, "the workspace is too small");
  }
  if (needed > 0 && !IsOnDevice(workspace, bytes, handle->device)) {
    TheMachine().Fault("a convolution's workspace is no memory of the device");
    return CUDNN_STATUS_SUCCESS;
  }
  call->device = handle->device;
  if (call->places > 0) call->order.group = call->x.element == Element::kF32 ? 8 : 16;
  if (Varies(call->pass, algorithm)) {
    call->order = {.slices = 4, .turn = handle->calls++ % 4};
    call->places = 0;
  }
  RunConvolution(*call);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

bool IsLiving(const void* descriptor) { return Living().contains(descriptor); }

std::uint64_t BytesOfTensor(const cudnnTensorStruct& tensor) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : tensor.dims) elements *= dim;
  return static_cast<std::uint64_t>(elements) * SizeOf(tensor.element);
}

}  // namespace rharness

using rharness::ConvolutionCall;
using rharness::IsLiving;
using rharness::PassKind;

// Descriptors made and dropped.
#define DESCRIPTOR(kind)                                   \
  cudnnStatus_t cudnnCreate##kind(cudnn##kind##_t* made) { \
    ENTER(cudnnCreate##kind);                              \
    return rharness::Make(made);                           \
  }                                                        \
  cudnnStatus_t cudnnDestroy##kind(cudnn##kind##_t one) {  \
    ENTER(cudnnDestroy##kind);                             \
    return rharness::Drop(one);                            \
  }
// A pass's three functions; the descriptors' names in the order of its arguments.
#define DESCRIBED(pass_kind)               \
  ConvolutionCall call{.pass = pass_kind}; \
  if (const cudnnStatus_t status = rharness::Describe(x, w, y, convolution, &call)) return status

extern "C" {
DESCRIPTOR(TensorDescriptor)
DESCRIPTOR(FilterDescriptor)
DESCRIPTOR(ConvolutionDescriptor)
DESCRIPTOR(PoolingDescriptor)
DESCRIPTOR(CTCLossDescriptor)

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  ENTER(cudnnSetTensor4dDescriptor);
  if (!IsLiving(tensor)) return CUDNN_STATUS_BAD_PARAM;
  const std::array<std::int64_t, 4> dims = {n, c, h, w};
  if (const cudnnStatus_t status = rharness::CheckFour(format, type, dims)) return status;
  const auto strides = rharness::StridesOf(format, dims);
  *tensor = {
      *rharness::ElementOf(type), {dims.begin(), dims.end()}, {strides.begin(), strides.end()}};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t type,
                                         int count, const int dims[], const int strides[]) {
  ENTER(cudnnSetTensorNdDescriptor);
  if (!IsLiving(tensor) || count < 3 || count > CUDNN_DIM_MAX || dims == nullptr ||
      strides == nullptr) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const auto element = rharness::ElementOf(type);
  if (!element) return CUDNN_STATUS_NOT_SUPPORTED;
  std::int64_t dense = 1;
  for (int i = count; i-- > 0;) {
    if (dims[i] < 1 || strides[i] < 1) return CUDNN_STATUS_BAD_PARAM;
    if (strides[i] != dense) return CUDNN_STATUS_NOT_SUPPORTED;
    dense *= dims[i];
  }
  *tensor = {*element, {dims, dims + count}, {strides, strides + count}};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  ENTER(cudnnSetFilter4dDescriptor);
  if (!IsLiving(filter)) return CUDNN_STATUS_BAD_PARAM;
  const std::array<std::int64_t, 4> dims = {k, c, h, w};
  if (const cudnnStatus_t status = rharness::CheckFour(format, type, dims)) return status;
  *filter = {*rharness::ElementOf(type), dims, rharness::StridesOf(format, dims)};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convolution, int pad_h,
                                              int pad_w, int u, int v, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t compute) {
  ENTER(cudnnSetConvolution2dDescriptor);
  if (!IsLiving(convolution) || pad_h < 0 || pad_w < 0 || u < 1 || v < 1 || dilation_h < 1 ||
      dilation_w < 1) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (pad_h != pad_w || u != 1 || v != 1 || dilation_h != 1 || dilation_w != 1 ||
      mode != CUDNN_CROSS_CORRELATION || compute != CUDNN_DATA_FLOAT) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  convolution->padding = pad_h;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution,
                                          cudnnMathType_t math) {
  ENTER(cudnnSetConvolutionMathType);
  if (!IsLiving(convolution) || math < CUDNN_DEFAULT_MATH || math > CUDNN_FMA_MATH) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  convolution->math = math;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y, int wanted, int* count,
    cudnnConvolutionFwdAlgoPerf_t* entries) {
  ENTER(cudnnGetConvolutionForwardAlgorithm_v7);
  NEED_HANDLE(handle);
  DESCRIBED(PassKind::kForward);
  return rharness::List(call, wanted, count, entries);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t handle, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t y,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t x, int wanted, int* count,
    cudnnConvolutionBwdDataAlgoPerf_t* entries) {
  ENTER(cudnnGetConvolutionBackwardDataAlgorithm_v7);
  NEED_HANDLE(handle);
  DESCRIBED(PassKind::kBackwardData);
  return rharness::List(call, wanted, count, entries);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y,
    cudnnConvolutionDescriptor_t convolution, cudnnFilterDescriptor_t w, int wanted, int* count,
    cudnnConvolutionBwdFilterAlgoPerf_t* entries) {
  ENTER(cudnnGetConvolutionBackwardFilterAlgorithm_v7);
  NEED_HANDLE(handle);
  DESCRIBED(PassKind::kBackwardFilter);
  return rharness::List(call, wanted, count, entries);
}
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t algorithm, std::size_t* bytes) {
  ENTER(cudnnGetConvolutionForwardWorkspaceSize);
  NEED_HANDLE(handle);
  DESCRIBED(PassKind::kForward);
  if (!rharness::IsAlgorithm(call.pass, algorithm)) return CUDNN_STATUS_NOT_SUPPORTED;
  *bytes = rharness::WorkspaceBytes(call, algorithm);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t handle, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t y,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t x,
    cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t* bytes) {
  ENTER(cudnnGetConvolutionBackwardDataWorkspaceSize);
  NEED_HANDLE(handle);
  DESCRIBED(PassKind::kBackwardData);
  if (!rharness::IsAlgorithm(call.pass, algorithm)) return CUDNN_STATUS_NOT_SUPPORTED;
  *bytes = rharness::WorkspaceBytes(call, algorithm);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y,
    cudnnConvolutionDescriptor_t convolution, cudnnFilterDescriptor_t w,
    cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t* bytes) {
  ENTER(cudnnGetConvolutionBackwardFilterWorkspaceSize);
  NEED_HANDLE(handle);
  DESCRIBED(PassKind::kBackwardFilter);
  if (!rharness::IsAlgorithm(call.pass, algorithm)) return CUDNN_STATUS_NOT_SUPPORTED;
  *bytes = rharness::WorkspaceBytes(call, algorithm);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha,
                                      cudnnTensorDescriptor_t x, const void* x_at,
                                      cudnnFilterDescriptor_t w, const void* w_at,
                                      cudnnConvolutionDescriptor_t convolution,
                                      cudnnConvolutionFwdAlgo_t algorithm, void* workspace,
                                      std::size_t bytes, const void* beta,
                                      cudnnTensorDescriptor_t y, void* y_at) {
  ENTER_WITH_DEVICE(cudnnConvolutionForward);
  NEED_HANDLE(handle);
  DESCRIBED(PassKind::kForward);
  call.name = "cudnnConvolutionForward";
  call.x_at = const_cast<void*>(x_at), call.w_at = const_cast<void*>(w_at), call.y_at = y_at;
  return rharness::Run(handle, &call, algorithm, workspace, bytes, {alpha, beta});
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha,
                                           cudnnFilterDescriptor_t w, const void* w_at,
                                           cudnnTensorDescriptor_t y, const void* y_at,
                                           cudnnConvolutionDescriptor_t convolution,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void* workspace,
                                           std::size_t bytes, const void* beta,
                                           cudnnTensorDescriptor_t x, void* x_at) {
  ENTER_WITH_DEVICE(cudnnConvolutionBackwardData);
  NEED_HANDLE(handle);
  DESCRIBED(PassKind::kBackwardData);
  call.name = "cudnnConvolutionBackwardData";
  call.x_at = x_at, call.w_at = const_cast<void*>(w_at), call.y_at = const_cast<void*>(y_at);
  return rharness::Run(handle, &call, algorithm, workspace, bytes, {alpha, beta});
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha,
                                             cudnnTensorDescriptor_t x, const void* x_at,
                                             cudnnTensorDescriptor_t y, const void* y_at,
                                             cudnnConvolutionDescriptor_t convolution,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm,
                                             void* workspace, std::size_t bytes, const void* beta,
                                             cudnnFilterDescriptor_t w, void* w_at) {
  ENTER_WITH_DEVICE(cudnnConvolutionBackwardFilter);
  NEED_HANDLE(handle);
  DESCRIBED(PassKind::kBackwardFilter);
  call.name = "cudnnConvolutionBackwardFilter";
  call.x_at = const_cast<void*>(x_at), call.w_at = w_at, call.y_at = const_cast<void*>(y_at);
  return rharness::Run(handle, &call, algorithm, workspace, bytes, {alpha, beta});
}
}
