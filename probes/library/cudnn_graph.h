// Operation graphs of cuDNN, the engines that it ranks for them, and plans that run.
//
// Role: from one operation, as plain values, to its engine configurations, as plain values that can
// be written down, and to a plan. One operation a graph: a convolution in one of its three
// directions, a layer norm, an attention. Source: cudnn_graph.h of cuDNN 9.19.
#ifndef RHARNESS_PROBES_LIBRARY_CUDNN_GRAPH_H_
#define RHARNESS_PROBES_LIBRARY_CUDNN_GRAPH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "probes/library/cudnn_descriptor.h"

namespace rharness {

enum class TensorLayout { kNchw, kNhwc };

// Of a dense tensor of four dimensions n, c, h, w: how many elements apart neighbours are.
std::vector<std::int64_t> DenseStrides(const std::vector<std::int64_t>& dims, TensorLayout layout);

struct CudnnTensor {
  std::int64_t id = 0;  // by which a plan finds its memory
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<std::int64_t> dims, strides;
  bool by_value = false;  // one number in host memory
};

enum class ConvolutionPass { kForward, kBackwardData, kBackwardFilter };
std::string_view ConvolutionPassName(ConvolutionPass pass);  // "fprop", "dgrad", "wgrad"

// A cross-correlation that adds in fp32, alpha 1 and beta 0. x is n by c, w is k by c, y is n by k;
// backward, the pass's result is x or w and the others are its inputs.
struct CudnnConvolution {
  ConvolutionPass pass = ConvolutionPass::kForward;
  CudnnTensor x, w, y;
  std::int64_t padding = 0;
};

// Layer norm in training: mean and inverse deviation of each of x's n are results.
struct CudnnLayerNorm {
  CudnnTensor x, scale, bias, epsilon, y, mean, inverse_deviation;
};

// softmax(scale Q K') V, with the statistics that a backward pass needs. Since cuDNN 9.13.
struct CudnnAttention {
  CudnnTensor q, k, v, scale, o, statistics;
};

// One way to compute a graph.
struct CudnnConfig {
  struct Knob {
    std::int32_t type = 0;
    std::int64_t value = 0;
  };
  std::int64_t engine = -1;
  std::vector<Knob> knobs;  // in the library's order
  std::vector<std::int32_t> notes;
  std::vector<std::int32_t> behavior;  // empty where cuDNN is too old for it
  std::optional<std::int64_t> workspace_bytes;
  std::shared_ptr<CudnnDescriptor> descriptor;  // what a plan is made from

  bool Has(cudnnBackendNumericalNote_t note) const;
};

// {"engine", "knobs": {name: value}, "notes": [name], "behavior": [name], "workspace_bytes"}, names
// as "split_k_slc" and "tensor_core"; what the header has no name for is "knob 99", "note 99".
Json DescribeConfig(const CudnnConfig& config);
// "engine 47 tilek=1 stages=3": one line of the same, without what is not a choice.
std::string NameOfConfig(const CudnnConfig& config);

// "A", "B", "FALLBACK".
std::string_view HeuristicModeName(cudnnBackendHeurMode_t mode);

// A described device that is not present: DescribeDevice of a different machine, or given values.
// Errors: unsupported before cuDNN 9.8; internal when a member is missing.
Result<CudnnDescriptor> CudnnDevice(std::shared_ptr<const Cudnn> cudnn, const Json& properties);

class CudnnGraph {
 public:
  // Errors: unsupported when this cuDNN has no such operation.
  static Result<std::unique_ptr<CudnnGraph>> Create(std::shared_ptr<const Cudnn> cudnn,
                                                    const CudnnConvolution& convolution);
  static Result<std::unique_ptr<CudnnGraph>> Create(std::shared_ptr<const Cudnn> cudnn,
                                                    const CudnnLayerNorm& norm);
  static Result<std::unique_ptr<CudnnGraph>> Create(std::shared_ptr<const Cudnn> cudnn,
                                                    const CudnnAttention& attention);

  // Best first, at most `limit`. `device`: for another device than the handle's. Errors:
  // unsupported, with the library's reason, when it has no engine for this; an empty list is the
  // same without one.
  Result<std::vector<CudnnConfig>> Rank(cudnnBackendHeurMode_t mode, std::int64_t limit,
                                        const CudnnDescriptor* device = nullptr) const;

 private:
  explicit CudnnGraph(std::shared_ptr<const Cudnn> cudnn) : cudnn_(std::move(cudnn)) {}
  // The descriptor is kept as long as the graph.
  Result<CudnnDescriptor*> Keep(cudnnBackendDescriptorType_t type, std::string_view name);
  Result<CudnnDescriptor*> AddTensor(const CudnnTensor& tensor);
  Status AddOperand(CudnnDescriptor* operation, cudnnBackendAttributeName_t attribute,
                    const CudnnTensor& tensor);
  Status AddConvolution(const CudnnConvolution& convolution);
  Status AddLayerNorm(const CudnnLayerNorm& norm);
  Status AddAttention(const CudnnAttention& attention);
  Status Finish(CudnnDescriptor* operation);

  std::shared_ptr<const Cudnn> cudnn_;
  std::vector<std::unique_ptr<CudnnDescriptor>> kept_;
  CudnnDescriptor* graph_ = nullptr;
};

// The memory of one tensor: a device address, or of a number by value a host address.
struct CudnnOperand {
  std::int64_t id = 0;
  void* memory = nullptr;
};

class CudnnPlan {
 public:
  // Errors: unsupported when the engine cannot do this here, which a ranking does not exclude.
  static Result<CudnnPlan> Create(const std::shared_ptr<const Cudnn>& cudnn,
                                  const CudnnConfig& config);
  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  // On the handle's stream, the default one; does not wait.
  Status Run(const std::vector<CudnnOperand>& operands, void* workspace) const;

 private:
  explicit CudnnPlan(CudnnDescriptor plan) : plan_(std::move(plan)) {}

  CudnnDescriptor plan_;
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_CUDNN_GRAPH_H_
