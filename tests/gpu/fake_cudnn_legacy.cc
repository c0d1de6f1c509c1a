// The older functions of a cuDNN that runs on the host: descriptors, and convolutions by algorithm.
// Algorithm 0 of the backward passes adds in an order that changes, 3 does not exist, the others
// add in order. There is no ranking of backward-data algorithms, as if that function had gone
// already.
#include <cudnn.h>

#include <algorithm>
#include <cstdlib>

#include "tests/gpu/fake_convolution.h"

struct cudnnTensorStruct {
  fake::Tensor tensor;
};
struct cudnnFilterStruct {
  fake::Tensor tensor;
};
struct cudnnConvolutionStruct {
  int padding = 0;
};

namespace {

int launches = 0;

void Describe(fake::Tensor* tensor, cudnnTensorFormat_t format, cudnnDataType_t type, int n, int c,
              int h, int w) {
  tensor->dims = {n, c, h, w};
  tensor->type = type == CUDNN_DATA_HALF ? fake::NumberType::kFp16 : fake::NumberType::kFp32;
  const std::int64_t area = std::int64_t{h} * w;
  if (format == CUDNN_TENSOR_NHWC) tensor->strides = {area * c, 1, std::int64_t{w} * c, c};
  if (format == CUDNN_TENSOR_NCHW) tensor->strides = {area * c, area, w, 1};
}

cudnnStatus_t Compute(const cudnnTensorStruct* x, const void* x_at, const cudnnFilterStruct* w,
                      const void* w_at, const cudnnTensorStruct* y, const void* y_at,
                      const cudnnConvolutionStruct* convolution, int pass, int algorithm) {
  if (algorithm == 3 && pass != 0) return static_cast<cudnnStatus_t>(3000);
  const bool backwards = algorithm == 0 && pass != 0 && ++launches % 2 == 0;
  const auto bound = [](fake::Tensor tensor, const void* memory) {
    tensor.memory = static_cast<char*>(const_cast<void*>(memory));
    return tensor;
  };
  fake::Convolve(bound(x->tensor, x_at), bound(w->tensor, w_at), bound(y->tensor, y_at),
                 convolution->padding, pass == 1, pass == 2, [&](std::vector<float> terms) {
                   if (backwards) std::reverse(terms.begin(), terms.end());
                   float sum = 0.0F;
                   for (const float term : terms) sum += term;
                   return sum;
                 });
  return CUDNN_STATUS_SUCCESS;
}

template <class Performance>
cudnnStatus_t Rank(int asked, int* count, Performance* entries) {
  *count = std::min(asked, 2);
  for (int i = 0; i < *count; ++i) {
    entries[i] = {};
    entries[i].algo = static_cast<decltype(entries[i].algo)>(1 - i);
    entries[i].status = i == 0 ? CUDNN_STATUS_SUCCESS : static_cast<cudnnStatus_t>(3000);
    entries[i].memory = static_cast<size_t>(1000 * i + 24);
    entries[i].determinism = i == 0 ? CUDNN_DETERMINISTIC : CUDNN_NON_DETERMINISTIC;
    entries[i].mathType = CUDNN_FMA_MATH;
  }
  return CUDNN_STATUS_SUCCESS;
}

template <class T>
cudnnStatus_t Make(T** made) {
  *made = new T();
  return CUDNN_STATUS_SUCCESS;
}
template <class T>
cudnnStatus_t Unmake(T* made) {
  delete made;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* made) { return Make(made); }
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t made) { return Unmake(made); }
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  Describe(&tensor->tensor, format, type, n, c, h, w);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* made) { return Make(made); }
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t made) { return Unmake(made); }
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  Describe(&filter->tensor, format, type, k, c, h, w);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* made) {
  return Make(made);
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t made) {
  return Unmake(made);
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convolution, int pad,
                                              int, int, int, int, int, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t) {
  convolution->padding = pad;
  return mode == CUDNN_CROSS_CORRELATION ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t, cudnnMathType_t) {
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t,
                                                     const cudnnFilterDescriptor_t,
                                                     const cudnnConvolutionDescriptor_t,
                                                     const cudnnTensorDescriptor_t, const int asked,
                                                     int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* entries) {
  return Rank(asked, count, entries);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnConvolutionDescriptor_t, const cudnnFilterDescriptor_t, const int asked, int* count,
    cudnnConvolutionBwdFilterAlgoPerf_t* entries) {
  return Rank(asked, count, entries);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, const cudnnFilterDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t,
    cudnnConvolutionBwdDataAlgo_t, size_t* bytes) {
  *bytes = 64;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnConvolutionDescriptor_t, const cudnnFilterDescriptor_t,
    cudnnConvolutionBwdFilterAlgo_t, size_t* bytes) {
  *bytes = 64;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t, const void*, const cudnnTensorDescriptor_t x,
                                      const void* x_at, const cudnnFilterDescriptor_t w,
                                      const void* w_at, const cudnnConvolutionDescriptor_t conv,
                                      cudnnConvolutionFwdAlgo_t algo, void*, size_t, const void*,
                                      const cudnnTensorDescriptor_t y, void* y_at) {
  return Compute(x, x_at, w, w_at, y, y_at, conv, 0, algo);
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t, const void*,
                                           const cudnnFilterDescriptor_t w, const void* w_at,
                                           const cudnnTensorDescriptor_t y, const void* y_at,
                                           const cudnnConvolutionDescriptor_t conv,
                                           cudnnConvolutionBwdDataAlgo_t algo, void*, size_t,
                                           const void*, const cudnnTensorDescriptor_t x,
                                           void* x_at) {
  return Compute(x, x_at, w, w_at, y, y_at, conv, 1, algo);
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t, const void*,
                                             const cudnnTensorDescriptor_t x, const void* x_at,
                                             const cudnnTensorDescriptor_t y, const void* y_at,
                                             const cudnnConvolutionDescriptor_t conv,
                                             cudnnConvolutionBwdFilterAlgo_t algo, void*, size_t,
                                             const void*, const cudnnFilterDescriptor_t w,
                                             void* w_at) {
  return Compute(x, x_at, w, w_at, y, y_at, conv, 2, algo);
}
}
