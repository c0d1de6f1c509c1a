// Operations into graphs.
#include "probes/library/cudnn_graph.h"

#include <fmt/format.h>

namespace rharness {
namespace {

// cuMemAlloc's is larger; this is the value that frameworks state.
constexpr std::int64_t kAlignmentBytes = 16;

struct ConvolutionAttributes {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
};

ConvolutionAttributes AttributesOf(ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::kBackwardData:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case ConvolutionPass::kBackwardFilter:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
    default:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
  }
}

// Of two spatial dimensions, stride and dilation 1.
Status DescribeConvolution(CudnnDescriptor* convolution, std::int64_t padding) {
  const std::vector<std::int64_t> ones = {1, 1}, paddings = {padding, padding};
  RETURN_IF_ERROR(convolution->Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT));
  RETURN_IF_ERROR(convolution->Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION));
  RETURN_IF_ERROR(convolution->Set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2}));
  RETURN_IF_ERROR(convolution->SetAll(CUDNN_ATTR_CONVOLUTION_DILATIONS, ones));
  RETURN_IF_ERROR(convolution->SetAll(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, ones));
  RETURN_IF_ERROR(convolution->SetAll(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, paddings));
  RETURN_IF_ERROR(convolution->SetAll(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, paddings));
  return convolution->Finalize();
}

}  // namespace

std::vector<std::int64_t> DenseStrides(const std::vector<std::int64_t>& dims, TensorLayout layout) {
  const std::int64_t c = dims[1], h = dims[2], w = dims[3];
  if (layout == TensorLayout::kNchw) return {c * h * w, h * w, w, 1};
  return {h * w * c, 1, w * c, c};
}

std::string_view ConvolutionPassName(ConvolutionPass pass) {
  constexpr std::string_view names[] = {"fprop", "dgrad", "wgrad"};
  return names[static_cast<std::size_t>(pass)];
}

Result<CudnnDescriptor*> CudnnGraph::Keep(cudnnBackendDescriptorType_t type,
                                          std::string_view name) {
  ASSIGN_OR_RETURN(CudnnDescriptor made, CudnnDescriptor::Create(cudnn_, type, name));
  kept_.push_back(std::make_unique<CudnnDescriptor>(std::move(made)));
  return kept_.back().get();
}

Result<CudnnDescriptor*> CudnnGraph::AddTensor(const CudnnTensor& tensor) {
  ASSIGN_OR_RETURN(CudnnDescriptor * made,
                   Keep(CUDNN_BACKEND_TENSOR_DESCRIPTOR, fmt::format("tensor {}", tensor.id)));
  RETURN_IF_ERROR(made->Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, tensor.id));
  RETURN_IF_ERROR(made->Set(CUDNN_ATTR_TENSOR_DATA_TYPE, tensor.type));
  RETURN_IF_ERROR(made->SetAll(CUDNN_ATTR_TENSOR_DIMENSIONS, tensor.dims));
  RETURN_IF_ERROR(made->SetAll(CUDNN_ATTR_TENSOR_STRIDES, tensor.strides));
  RETURN_IF_ERROR(made->Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignmentBytes));
  if (tensor.by_value) RETURN_IF_ERROR(made->Set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true));
  RETURN_IF_ERROR(made->Finalize());
  return made;
}

Status CudnnGraph::AddOperand(CudnnDescriptor* operation, cudnnBackendAttributeName_t attribute,
                              const CudnnTensor& tensor) {
  ASSIGN_OR_RETURN(const CudnnDescriptor* made, AddTensor(tensor));
  return operation->SetDescriptor(attribute, *made);
}

Status CudnnGraph::AddConvolution(const CudnnConvolution& convolution) {
  ASSIGN_OR_RETURN(CudnnDescriptor * described,
                   Keep(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, "convolution"));
  RETURN_IF_ERROR(DescribeConvolution(described, convolution.padding));
  const ConvolutionAttributes a = AttributesOf(convolution.pass);
  ASSIGN_OR_RETURN(CudnnDescriptor * operation,
                   Keep(a.operation, ConvolutionPassName(convolution.pass)));
  RETURN_IF_ERROR(AddOperand(operation, a.x, convolution.x));
  RETURN_IF_ERROR(AddOperand(operation, a.w, convolution.w));
  RETURN_IF_ERROR(AddOperand(operation, a.y, convolution.y));
  RETURN_IF_ERROR(operation->SetDescriptor(a.convolution, *described));
  RETURN_IF_ERROR(operation->Set(a.alpha, 1.0F));
  RETURN_IF_ERROR(operation->Set(a.beta, 0.0F));
  return Finish(operation);
}

Status CudnnGraph::AddLayerNorm(const CudnnLayerNorm& norm) {
  ASSIGN_OR_RETURN(CudnnDescriptor * operation,
                   Keep(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, "layer norm"));
  RETURN_IF_ERROR(operation->Set(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_LAYER_NORM));
  RETURN_IF_ERROR(operation->Set(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_NORM_FWD_TRAINING));
  const std::pair<cudnnBackendAttributeName_t, const CudnnTensor*> operands[] = {
      {CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, &norm.x},
      {CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, &norm.mean},
      {CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, &norm.inverse_deviation},
      {CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, &norm.scale},
      {CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, &norm.bias},
      {CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, &norm.epsilon},
      {CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, &norm.y}};
  for (const auto& [attribute, tensor] : operands) {
    RETURN_IF_ERROR(AddOperand(operation, attribute, *tensor));
  }
  return Finish(operation);
}

Status CudnnGraph::AddAttention(const CudnnAttention& attention) {
  ASSIGN_OR_RETURN(CudnnDescriptor * operation,
                   Keep(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, "attention"));
  const std::pair<cudnnBackendAttributeName_t, const CudnnTensor*> operands[] = {
      {CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, &attention.q},
      {CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, &attention.k},
      {CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, &attention.v},
      {CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, &attention.o},
      {CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, &attention.statistics},
      {CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, &attention.scale}};
  for (const auto& [attribute, tensor] : operands) {
    RETURN_IF_ERROR(AddOperand(operation, attribute, *tensor));
  }
  return Finish(operation);
}

Status CudnnGraph::Finish(CudnnDescriptor* operation) {
  RETURN_IF_ERROR(operation->Finalize());
  ASSIGN_OR_RETURN(graph_, Keep(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "operation graph"));
  // cuDNN 8 needs the handle here.
  if (cudnn_->handle() != nullptr) {
    RETURN_IF_ERROR(graph_->Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, cudnn_->handle()));
  }
  RETURN_IF_ERROR(graph_->SetDescriptor(CUDNN_ATTR_OPERATIONGRAPH_OPS, *operation));
  return graph_->Finalize();
}

Result<std::unique_ptr<CudnnGraph>> CudnnGraph::Create(std::shared_ptr<const Cudnn> cudnn,
                                                       const CudnnConvolution& convolution) {
  std::unique_ptr<CudnnGraph> graph(new CudnnGraph(std::move(cudnn)));
  RETURN_IF_ERROR(graph->AddConvolution(convolution));
  return graph;
}

Result<std::unique_ptr<CudnnGraph>> CudnnGraph::Create(std::shared_ptr<const Cudnn> cudnn,
                                                       const CudnnLayerNorm& norm) {
  std::unique_ptr<CudnnGraph> graph(new CudnnGraph(std::move(cudnn)));
  RETURN_IF_ERROR(graph->AddLayerNorm(norm));
  return graph;
}

Result<std::unique_ptr<CudnnGraph>> CudnnGraph::Create(std::shared_ptr<const Cudnn> cudnn,
                                                       const CudnnAttention& attention) {
  std::unique_ptr<CudnnGraph> graph(new CudnnGraph(std::move(cudnn)));
  RETURN_IF_ERROR(graph->AddAttention(attention));
  return graph;
}

}  // namespace rharness
