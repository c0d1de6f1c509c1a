// The false cuBLAS, cuDNN and NCCL: each call by its definition in its manual, in host code.
#include <cublas_v2.h>
#include <cudnn.h>
#include <fmt/format.h>
#include <nccl.h>

#include <array>
#include <functional>
#include <vector>

#include "tests/scenarios/fake_cuda.h"

using rharness::scenarios::CheckRange;
using rharness::scenarios::Enqueue;
using rharness::scenarios::EnqueueTogether;
using rharness::scenarios::Fake;

struct cublasContext {
  cudaStream_t stream = nullptr;
};
struct cudnnContext {
  cudaStream_t stream = nullptr;
};
struct cudnnTensorStruct {
  int n = 0, c = 0, h = 0, w = 0;
  std::size_t size() const { return static_cast<std::size_t>(n) * c * h * w; }
};
struct cudnnFilterStruct {
  int k = 0, c = 0, h = 0, w = 0;
  std::size_t size() const { return static_cast<std::size_t>(k) * c * h * w; }
};
struct cudnnConvolutionStruct {
  int pad_h = 0, pad_w = 0;
};
struct ncclComm {};

namespace {

constexpr std::size_t kWorkspaceBytes = 100;

// Calls visit(x index, filter index, y index) for every product that a convolution is made of.
void ForProducts(const cudnnTensorStruct& x, const cudnnFilterStruct& w,
                 const cudnnConvolutionStruct& conv, const cudnnTensorStruct& y,
                 const std::function<void(int, int, int)>& visit) {
  for (int n = 0; n < y.n; ++n)
    for (int k = 0; k < w.k; ++k)
      for (int c = 0; c < w.c; ++c)
        for (int p = 0; p < y.h * y.w; ++p)
          for (int tap = 0; tap < w.h * w.w; ++tap) {
            const int row = p / y.w + tap / w.w - conv.pad_h;
            const int column = p % y.w + tap % w.w - conv.pad_w;
            if (row < 0 || row >= x.h || column < 0 || column >= x.w) continue;
            visit(((n * x.c + c) * x.h + row) * x.w + column, (k * w.c + c) * w.h * w.w + tap,
                  (n * y.c + k) * y.h * y.w + p);
          }
}

struct Operands {
  cudnnTensorDescriptor_t x;
  cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t conv;
  cudnnTensorDescriptor_t y;
};

// Queues out[output index] = sum of left * right; the workspace must be large enough.
void Convolve(cudnnHandle_t handle, const char* name, int algorithm, const Operands& o,
              std::array<const float*, 2> factors, float* out,
              std::function<std::array<int, 3>(int, int, int)> roles, std::size_t out_size,
              const void* workspace, std::size_t workspace_bytes) {
  Fake().algorithms.push_back(fmt::format("{} {}", name, algorithm));
  if (workspace_bytes < kWorkspaceBytes) Fake().mistakes.emplace_back("too little workspace");
  if (o.x->c != o.w->c || o.y->c != o.w->k || o.x->n != o.y->n) {
    Fake().mistakes.emplace_back("shapes of a convolution");
  }
  CheckRange("workspace", workspace, workspace_bytes, handle->stream);
  CheckRange(name, out, out_size * sizeof(float), handle->stream);
  const Operands copy = o;
  Enqueue(handle->stream, [=] {
    std::vector<double> sums(out_size);
    ForProducts(*copy.x, *copy.w, *copy.conv, *copy.y, [&](int x, int w, int y) {
      const std::array<int, 3> index = roles(x, w, y);
      sums[static_cast<std::size_t>(index[2])] +=
          static_cast<double>(factors[0][index[0]]) * static_cast<double>(factors[1][index[1]]);
    });
    for (std::size_t i = 0; i < out_size; ++i) out[i] = static_cast<float>(sums[i]);
  });
}

// Two results: a fast one that is not deterministic, then one that is.
template <typename Perf, typename Algorithm>
void Measure(Perf* results, int* count, Algorithm tensor_cores, Algorithm fast,
             Algorithm deterministic) {
  *count = 3;
  for (int i = 0; i < 3; ++i) {
    results[i].status = CUDNN_STATUS_SUCCESS;
    results[i].determinism = CUDNN_DETERMINISTIC;
  }
  // Fastest, but with a math type that is not the layer's: there is no such algorithm for it.
  results[0].algo = tensor_cores;
  results[0].mathType = CUDNN_TENSOR_OP_MATH;
  results[1].algo = fast;
  results[1].determinism = CUDNN_NON_DETERMINISTIC;
  results[2].algo = deterministic;
}

float At(const float* matrix, int ld, cublasOperation_t op, int row, int column) {
  return op == CUBLAS_OP_N ? matrix[column * ld + row] : matrix[row * ld + column];
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t) { return "false"; }
cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  *version = 130100;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t mode) {
  Fake().math_modes.push_back(fmt::format("cublas {}", static_cast<int>(mode)));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
// C [m, n] = alpha op(A) op(B) + beta C, all column by column.
cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const float* alpha,
                              const float* a, int lda, const float* b, int ldb, const float* beta,
                              float* c, int ldc) {
  const int a_rows = transa == CUBLAS_OP_N ? m : k;
  const int b_rows = transb == CUBLAS_OP_N ? k : n;
  if (lda < a_rows || ldb < b_rows || ldc < m || *alpha != 1 || *beta != 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const auto bytes = [](int ld, int columns) {
    return static_cast<std::size_t>(ld) * static_cast<std::size_t>(columns) * sizeof(float);
  };
  CheckRange("A", a, bytes(lda, transa == CUBLAS_OP_N ? k : m), handle->stream);
  CheckRange("B", b, bytes(ldb, transb == CUBLAS_OP_N ? n : k), handle->stream);
  CheckRange("C", c, bytes(ldc, n), handle->stream);
  Enqueue(handle->stream, [=] {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int l = 0; l < k; ++l) {
          sum += static_cast<double>(At(a, lda, transa, i, l)) *
                 static_cast<double>(At(b, ldb, transb, l, j));
        }
        c[j * ldc + i] = static_cast<float>(sum);
      }
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}

size_t cudnnGetVersion() { return 91900; }
const char* cudnnGetErrorString(cudnnStatus_t) { return "false"; }
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* descriptor) {
  *descriptor = new cudnnTensorStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t descriptor, cudnnTensorFormat_t,
                                         cudnnDataType_t, int n, int c, int h, int w) {
  *descriptor = {n, c, h, w};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* descriptor) {
  *descriptor = new cudnnFilterStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t descriptor, cudnnDataType_t,
                                         cudnnTensorFormat_t, int k, int c, int h, int w) {
  *descriptor = {k, c, h, w};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* descriptor) {
  *descriptor = new cudnnConvolutionStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t descriptor, int pad_h,
                                              int pad_w, int u, int v, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t) {
  *descriptor = {pad_h, pad_w};
  const bool plain = u == 1 && v == 1 && dilation_h == 1 && dilation_w == 1;
  return plain && mode == CUDNN_CROSS_CORRELATION ? CUDNN_STATUS_SUCCESS
                                                  : CUDNN_STATUS_NOT_SUPPORTED;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t, cudnnMathType_t type) {
  Fake().math_modes.push_back(fmt::format("cudnn {}", static_cast<int>(type)));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionFwdAlgo_t algorithm, size_t* bytes) {
  if (algorithm == CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD) return CUDNN_STATUS_NOT_SUPPORTED;
  *bytes = kWorkspaceBytes;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnFilterDescriptor_t, cudnnConvolutionBwdFilterAlgo_t algorithm, size_t* bytes) {
  if (algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD) return CUDNN_STATUS_NOT_SUPPORTED;
  *bytes = kWorkspaceBytes;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionBwdDataAlgo_t algorithm, size_t* bytes) {
  if (algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD) return CUDNN_STATUS_NOT_SUPPORTED;
  *bytes = kWorkspaceBytes;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t, cudnnTensorDescriptor_t, const void*, cudnnFilterDescriptor_t, const void*,
    cudnnConvolutionDescriptor_t, cudnnTensorDescriptor_t, void*, int, int* count,
    cudnnConvolutionFwdAlgoPerf_t* results, void*, size_t) {
  Measure(results, count, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
          CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t, cudnnTensorDescriptor_t, const void*, cudnnTensorDescriptor_t, const void*,
    cudnnConvolutionDescriptor_t, cudnnFilterDescriptor_t, void*, int, int* count,
    cudnnConvolutionBwdFilterAlgoPerf_t* results, void*, size_t) {
  Measure(results, count, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD,
          CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t, cudnnFilterDescriptor_t, const void*, cudnnTensorDescriptor_t, const void*,
    cudnnConvolutionDescriptor_t, cudnnTensorDescriptor_t, void*, int, int* count,
    cudnnConvolutionBwdDataAlgoPerf_t* results, void*, size_t) {
  Measure(results, count, CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD,
          CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t xd,
                                      const void* x, cudnnFilterDescriptor_t wd, const void* w,
                                      cudnnConvolutionDescriptor_t conv,
                                      cudnnConvolutionFwdAlgo_t algo, void* workspace, size_t bytes,
                                      const void*, cudnnTensorDescriptor_t yd, void* y) {
  Convolve(
      handle, "fwd", algo, {xd, wd, conv, yd},
      {static_cast<const float*>(x), static_cast<const float*>(w)}, static_cast<float*>(y),
      [](int i, int j, int k) {
        return std::array{i, j, k};
      },
      yd->size(), workspace, bytes);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void*,
                                             cudnnTensorDescriptor_t xd, const void* x,
                                             cudnnTensorDescriptor_t dyd, const void* dy,
                                             cudnnConvolutionDescriptor_t conv,
                                             cudnnConvolutionBwdFilterAlgo_t algo, void* workspace,
                                             size_t bytes, const void*, cudnnFilterDescriptor_t dwd,
                                             void* dw) {
  Convolve(
      handle, "filter", algo, {xd, dwd, conv, dyd},
      {static_cast<const float*>(x), static_cast<const float*>(dy)}, static_cast<float*>(dw),
      [](int i, int j, int k) {
        return std::array{i, k, j};
      },
      dwd->size(), workspace, bytes);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void*,
                                           cudnnFilterDescriptor_t wd, const void* w,
                                           cudnnTensorDescriptor_t dyd, const void* dy,
                                           cudnnConvolutionDescriptor_t conv,
                                           cudnnConvolutionBwdDataAlgo_t algo, void* workspace,
                                           size_t bytes, const void*, cudnnTensorDescriptor_t dxd,
                                           void* dx) {
  Convolve(
      handle, "data", algo, {dxd, wd, conv, dyd},
      {static_cast<const float*>(w), static_cast<const float*>(dy)}, static_cast<float*>(dx),
      [](int i, int j, int k) {
        return std::array{j, k, i};
      },
      dxd->size(), workspace, bytes);
  return CUDNN_STATUS_SUCCESS;
}

static std::vector<float*> nccl_buffers;
static std::vector<cudaStream_t> nccl_streams;
static size_t nccl_count = 0;

const char* ncclGetErrorString(ncclResult_t) { return "false"; }
ncclResult_t ncclGetVersion(int* version) {
  *version = 22809;
  return ncclSuccess;
}
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int*) {
  for (int i = 0; i < count; ++i) comms[i] = new ncclComm;
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclGroupStart() { return ncclSuccess; }
ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t, cudaStream_t stream) {
  if (from != to || type != ncclFloat || op != ncclSum) return ncclInvalidArgument;
  CheckRange("ncclAllReduce", to, count * sizeof(float), stream);
  nccl_buffers.push_back(static_cast<float*>(to));
  nccl_streams.push_back(stream);
  nccl_count = count;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  EnqueueTogether(nccl_streams, [buffers = nccl_buffers, count = nccl_count] {
    for (size_t i = 0; i < count; ++i) {
      float sum = 0;
      for (const float* buffer : buffers) sum += buffer[i];
      for (float* buffer : buffers) buffer[i] = sum;
    }
  });
  nccl_buffers.clear();
  nccl_streams.clear();
  return ncclSuccess;
}

}  // extern "C"
