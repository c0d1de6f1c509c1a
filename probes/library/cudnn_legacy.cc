// Older descriptors and convolutions by algorithm.
#include "probes/library/cudnn_legacy.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/library/version_text.h"

namespace rharness {
namespace {

constexpr int kMostAlgorithms = 16;

cudnnTensorFormat_t FormatOf(TensorLayout layout) {
  return layout == TensorLayout::kNhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
}

// Makes a handle with `create` and owns it. `there`: the library has the functions.
template <class Handle, class Create, class Destroy>
Result<CudnnOwned<Handle>> Make(const std::shared_ptr<const Cudnn>& cudnn, std::string_view name,
                                Create* create, Destroy* destroy) {
  RETURN_IF_ERROR(cudnn->Need({{name, create != nullptr && destroy != nullptr}}));
  Handle handle = nullptr;
  RETURN_IF_ERROR(cudnn->Check(create(&handle), name));
  return CudnnOwned<Handle>(handle, [cudnn, destroy](Handle made) { destroy(made); });
}

template <class Performance>
std::vector<LegacyAlgorithm> ToAlgorithms(std::span<const Performance> entries) {
  std::vector<LegacyAlgorithm> algorithms;
  for (const Performance& entry : entries) {
    algorithms.push_back({.algorithm = static_cast<int>(entry.algo),
                          .status = entry.status,
                          .workspace_bytes = entry.memory,
                          .deterministic = entry.determinism == CUDNN_DETERMINISTIC,
                          .math = entry.mathType});
  }
  return algorithms;
}

// `get` is one of the three functions, its arguments but the last three bound.
template <class Performance, class Get>
Result<std::vector<LegacyAlgorithm>> List(const Cudnn& cudnn, std::string_view name, Get get) {
  std::array<Performance, kMostAlgorithms> entries{};
  int count = 0;
  RETURN_IF_ERROR(cudnn.Check(get(kMostAlgorithms, &count, entries.data()), name));
  const auto size = static_cast<std::size_t>(std::clamp(count, 0, kMostAlgorithms));
  return ToAlgorithms(std::span<const Performance>(entries.data(), size));
}

Result<CudnnOwned<cudnnFilterDescriptor_t>> LegacyFilter(const std::shared_ptr<const Cudnn>& cudnn,
                                                         cudnnDataType_t type, TensorLayout layout,
                                                         const LegacyDims& dims) {
  const CudnnFunctions& f = cudnn->f;
  RETURN_IF_ERROR(
      cudnn->Need({{"cudnnSetFilter4dDescriptor", f.cudnnSetFilter4dDescriptor != nullptr}}));
  ASSIGN_OR_RETURN(auto filter, Make<cudnnFilterDescriptor_t>(cudnn, "cudnnCreateFilterDescriptor",
                                                              f.cudnnCreateFilterDescriptor,
                                                              f.cudnnDestroyFilterDescriptor));
  RETURN_IF_ERROR(cudnn->Check(f.cudnnSetFilter4dDescriptor(filter.get(), type, FormatOf(layout),
                                                            dims[0], dims[1], dims[2], dims[3]),
                               "cudnnSetFilter4dDescriptor"));
  return filter;
}

}  // namespace

Result<CudnnOwned<cudnnTensorDescriptor_t>> LegacyTensor(const std::shared_ptr<const Cudnn>& cudnn,
                                                         cudnnDataType_t type, TensorLayout layout,
                                                         const LegacyDims& dims) {
  const CudnnFunctions& f = cudnn->f;
  RETURN_IF_ERROR(
      cudnn->Need({{"cudnnSetTensor4dDescriptor", f.cudnnSetTensor4dDescriptor != nullptr}}));
  ASSIGN_OR_RETURN(auto tensor, Make<cudnnTensorDescriptor_t>(cudnn, "cudnnCreateTensorDescriptor",
                                                              f.cudnnCreateTensorDescriptor,
                                                              f.cudnnDestroyTensorDescriptor));
  RETURN_IF_ERROR(cudnn->Check(f.cudnnSetTensor4dDescriptor(tensor.get(), FormatOf(layout), type,
                                                            dims[0], dims[1], dims[2], dims[3]),
                               "cudnnSetTensor4dDescriptor"));
  return tensor;
}

Result<CudnnOwned<cudnnTensorDescriptor_t>> LegacyTensor(const std::shared_ptr<const Cudnn>& cudnn,
                                                         cudnnDataType_t type,
                                                         const std::vector<int>& dims) {
  const CudnnFunctions& f = cudnn->f;
  RETURN_IF_ERROR(
      cudnn->Need({{"cudnnSetTensorNdDescriptor", f.cudnnSetTensorNdDescriptor != nullptr}}));
  ASSIGN_OR_RETURN(auto tensor, Make<cudnnTensorDescriptor_t>(cudnn, "cudnnCreateTensorDescriptor",
                                                              f.cudnnCreateTensorDescriptor,
                                                              f.cudnnDestroyTensorDescriptor));
  std::vector<int> strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  RETURN_IF_ERROR(
      cudnn->Check(f.cudnnSetTensorNdDescriptor(tensor.get(), type, static_cast<int>(dims.size()),
                                                dims.data(), strides.data()),
                   "cudnnSetTensorNdDescriptor"));
  return tensor;
}

Result<CudnnOwned<cudnnPoolingDescriptor_t>> LegacyPooling(
    const std::shared_ptr<const Cudnn>& cudnn, cudnnPoolingMode_t mode, int window, int padding,
    int stride) {
  const CudnnFunctions& f = cudnn->f;
  RETURN_IF_ERROR(
      cudnn->Need({{"cudnnSetPooling2dDescriptor", f.cudnnSetPooling2dDescriptor != nullptr}}));
  ASSIGN_OR_RETURN(auto pooling,
                   Make<cudnnPoolingDescriptor_t>(cudnn, "cudnnCreatePoolingDescriptor",
                                                  f.cudnnCreatePoolingDescriptor,
                                                  f.cudnnDestroyPoolingDescriptor));
  RETURN_IF_ERROR(
      cudnn->Check(f.cudnnSetPooling2dDescriptor(pooling.get(), mode, CUDNN_NOT_PROPAGATE_NAN,
                                                 window, window, padding, padding, stride, stride),
                   "cudnnSetPooling2dDescriptor"));
  return pooling;
}

Result<CudnnOwned<cudnnCTCLossDescriptor_t>> LegacyCtcLoss(
    const std::shared_ptr<const Cudnn>& cudnn) {
  const CudnnFunctions& f = cudnn->f;
  RETURN_IF_ERROR(
      cudnn->Need({{"cudnnSetCTCLossDescriptorEx", f.cudnnSetCTCLossDescriptorEx != nullptr}}));
  ASSIGN_OR_RETURN(auto loss, Make<cudnnCTCLossDescriptor_t>(cudnn, "cudnnCreateCTCLossDescriptor",
                                                             f.cudnnCreateCTCLossDescriptor,
                                                             f.cudnnDestroyCTCLossDescriptor));
  RETURN_IF_ERROR(cudnn->Check(
      f.cudnnSetCTCLossDescriptorEx(loss.get(), CUDNN_DATA_FLOAT, CUDNN_LOSS_NORMALIZATION_SOFTMAX,
                                    CUDNN_NOT_PROPAGATE_NAN),
      "cudnnSetCTCLossDescriptorEx"));
  return loss;
}

std::string LegacyAlgorithmName(ConvolutionPass pass, int algorithm) {
  // As the headers number them.
  constexpr std::array<std::array<std::string_view, 8>, 3> names = {{
      {"implicit_gemm", "implicit_precomp_gemm", "gemm", "direct", "fft", "fft_tiling", "winograd",
       "winograd_nonfused"},
      {"0", "1", "fft", "fft_tiling", "winograd", "winograd_nonfused", "", ""},
      {"0", "1", "fft", "3", "winograd", "winograd_nonfused", "fft_tiling", ""},
  }};
  const auto& of_pass = names[static_cast<std::size_t>(pass)];
  const auto at = static_cast<std::size_t>(algorithm);
  if (algorithm < 0 || at >= of_pass.size() || of_pass[at].empty()) {
    return fmt::format("algorithm {}", algorithm);
  }
  return std::string(of_pass[at]);
}

Json DescribeLegacyAlgorithm(const Cudnn& cudnn, ConvolutionPass pass,
                             const LegacyAlgorithm& algorithm) {
  constexpr std::array<std::string_view, 4> math = {"default", "tensor_op",
                                                    "tensor_op_allow_conversion", "fma"};
  const auto at = static_cast<std::size_t>(algorithm.math);
  return Json::MakeObject()
      .Set("algorithm", LegacyAlgorithmName(pass, algorithm.algorithm))
      .Set("status", OrUnknown(cudnn.f.cudnnGetErrorString(algorithm.status)))
      .Set("deterministic", algorithm.deterministic)
      .Set("math", at < math.size() ? Json(math[at]) : Json(static_cast<int>(algorithm.math)))
      .Set("workspace_bytes", algorithm.workspace_bytes);
}

Result<LegacyConvolution> LegacyConvolution::Create(const std::shared_ptr<const Cudnn>& cudnn,
                                                    cudnnDataType_t type, TensorLayout layout,
                                                    const LegacyDims& x, const LegacyDims& w,
                                                    const LegacyDims& y, int padding,
                                                    cudnnMathType_t math) {
  const CudnnFunctions& f = cudnn->f;
  RETURN_IF_ERROR(cudnn->Need(
      {{"cudnnSetConvolution2dDescriptor", f.cudnnSetConvolution2dDescriptor != nullptr},
       {"cudnnSetConvolutionMathType", f.cudnnSetConvolutionMathType != nullptr}}));
  LegacyConvolution made;
  made.cudnn_ = cudnn;
  ASSIGN_OR_RETURN(made.x_, LegacyTensor(cudnn, type, layout, x));
  ASSIGN_OR_RETURN(made.w_, LegacyFilter(cudnn, type, layout, w));
  ASSIGN_OR_RETURN(made.y_, LegacyTensor(cudnn, type, layout, y));
  ASSIGN_OR_RETURN(made.convolution_,
                   Make<cudnnConvolutionDescriptor_t>(cudnn, "cudnnCreateConvolutionDescriptor",
                                                      f.cudnnCreateConvolutionDescriptor,
                                                      f.cudnnDestroyConvolutionDescriptor));
  RETURN_IF_ERROR(cudnn->Check(
      f.cudnnSetConvolution2dDescriptor(made.convolution_.get(), padding, padding, 1, 1, 1, 1,
                                        CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
      "cudnnSetConvolution2dDescriptor"));
  RETURN_IF_ERROR(cudnn->Check(f.cudnnSetConvolutionMathType(made.convolution_.get(), math),
                               "cudnnSetConvolutionMathType"));
  return made;
}

Result<std::vector<LegacyAlgorithm>> LegacyConvolution::Rank(ConvolutionPass pass) const {
  const CudnnFunctions& f = cudnn_->f;
  const auto bound = [&](auto* get, const auto& a, const auto& b, const auto& c) {
    return [&, get](int most, int* count, auto* entries) {
      return get(cudnn_->handle(), a.get(), b.get(), convolution_.get(), c.get(), most, count,
                 entries);
    };
  };
  if (pass == ConvolutionPass::kBackwardData) {
    constexpr std::string_view name = "cudnnGetConvolutionBackwardDataAlgorithm_v7";
    auto* get = f.cudnnGetConvolutionBackwardDataAlgorithm_v7;
    RETURN_IF_ERROR(cudnn_->Need({{name, get != nullptr}}));
    return List<cudnnConvolutionBwdDataAlgoPerf_t>(*cudnn_, name, bound(get, w_, y_, x_));
  }
  if (pass == ConvolutionPass::kBackwardFilter) {
    constexpr std::string_view name = "cudnnGetConvolutionBackwardFilterAlgorithm_v7";
    auto* get = f.cudnnGetConvolutionBackwardFilterAlgorithm_v7;
    RETURN_IF_ERROR(cudnn_->Need({{name, get != nullptr}}));
    return List<cudnnConvolutionBwdFilterAlgoPerf_t>(*cudnn_, name, bound(get, x_, y_, w_));
  }
  constexpr std::string_view name = "cudnnGetConvolutionForwardAlgorithm_v7";
  auto* get = f.cudnnGetConvolutionForwardAlgorithm_v7;
  RETURN_IF_ERROR(cudnn_->Need({{name, get != nullptr}}));
  return List<cudnnConvolutionFwdAlgoPerf_t>(*cudnn_, name, bound(get, x_, w_, y_));
}

Result<std::size_t> LegacyConvolution::WorkspaceBytes(ConvolutionPass pass, int algorithm) const {
  const CudnnFunctions& f = cudnn_->f;
  std::size_t bytes = 0;
  const auto ask = [&](std::string_view name, auto* get, auto algo, auto* a, auto* b,
                       auto* c) -> Result<std::size_t> {
    RETURN_IF_ERROR(cudnn_->Need({{name, get != nullptr}}));
    RETURN_IF_ERROR(
        cudnn_->Check(get(cudnn_->handle(), a, b, convolution_.get(), c, algo, &bytes), name));
    return bytes;
  };
  if (pass == ConvolutionPass::kBackwardData) {
    return ask("cudnnGetConvolutionBackwardDataWorkspaceSize",
               f.cudnnGetConvolutionBackwardDataWorkspaceSize,
               static_cast<cudnnConvolutionBwdDataAlgo_t>(algorithm), w_.get(), y_.get(), x_.get());
  }
  if (pass == ConvolutionPass::kBackwardFilter) {
    return ask("cudnnGetConvolutionBackwardFilterWorkspaceSize",
               f.cudnnGetConvolutionBackwardFilterWorkspaceSize,
               static_cast<cudnnConvolutionBwdFilterAlgo_t>(algorithm), x_.get(), y_.get(),
               w_.get());
  }
  return ask("cudnnGetConvolutionForwardWorkspaceSize", f.cudnnGetConvolutionForwardWorkspaceSize,
             static_cast<cudnnConvolutionFwdAlgo_t>(algorithm), x_.get(), w_.get(), y_.get());
}

Status LegacyConvolution::Run(ConvolutionPass pass, int algorithm, void* x, void* w, void* y,
                              void* workspace, std::size_t workspace_bytes) const {
  const CudnnFunctions& f = cudnn_->f;
  const float one = 1.0F, zero = 0.0F;
  const auto run = [&](std::string_view name, auto* function, auto algo, auto* a_desc, void* a,
                       auto* b_desc, void* b, auto* c_desc, void* c) -> Status {
    RETURN_IF_ERROR(cudnn_->Need({{name, function != nullptr}}));
    return cudnn_->Check(function(cudnn_->handle(), &one, a_desc, a, b_desc, b, convolution_.get(),
                                  algo, workspace, workspace_bytes, &zero, c_desc, c),
                         name);
  };
  if (pass == ConvolutionPass::kBackwardData) {
    return run("cudnnConvolutionBackwardData", f.cudnnConvolutionBackwardData,
               static_cast<cudnnConvolutionBwdDataAlgo_t>(algorithm), w_.get(), w, y_.get(), y,
               x_.get(), x);
  }
  if (pass == ConvolutionPass::kBackwardFilter) {
    return run("cudnnConvolutionBackwardFilter", f.cudnnConvolutionBackwardFilter,
               static_cast<cudnnConvolutionBwdFilterAlgo_t>(algorithm), x_.get(), x, y_.get(), y,
               w_.get(), w);
  }
  return run("cudnnConvolutionForward", f.cudnnConvolutionForward,
             static_cast<cudnnConvolutionFwdAlgo_t>(algorithm), x_.get(), x, w_.get(), w, y_.get(),
             y);
}

}  // namespace rharness
