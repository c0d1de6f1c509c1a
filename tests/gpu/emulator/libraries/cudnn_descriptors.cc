// Rules of descriptors, and what they become.
#include "tests/gpu/emulator/libraries/cudnn_descriptors.h"

#include <algorithm>
#include <string>

#include "tests/gpu/emulator/libraries/cudnn_handle.h"
#include "tests/gpu/emulator/libraries/machine.h"

namespace rharness {
namespace {

using Rules = std::map<int, AttributeRule>;
constexpr AttributeRule kOneDescriptor{CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, true};
constexpr AttributeRule kOneFloat{CUDNN_TYPE_FLOAT, 1, 1, true};
constexpr AttributeRule kTwoNumbers{CUDNN_TYPE_INT64, 2, 2, true};
constexpr std::int64_t kMany = 4096;

// Of x, w and y, of the convolution and of the factors, in this order.
Rules ConvolutionRules(int x, int w, int y, int convolution, int alpha, int beta) {
  return {{x, kOneDescriptor},           {w, kOneDescriptor}, {y, kOneDescriptor},
          {convolution, kOneDescriptor}, {alpha, kOneFloat},  {beta, kOneFloat}};
}

Rules TensorRules() {
  return {{CUDNN_ATTR_TENSOR_UNIQUE_ID, {CUDNN_TYPE_INT64, 1, 1, true}},
          {CUDNN_ATTR_TENSOR_DATA_TYPE, {CUDNN_TYPE_DATA_TYPE, 1, 1, true}},
          {CUDNN_ATTR_TENSOR_DIMENSIONS, {CUDNN_TYPE_INT64, 1, CUDNN_DIM_MAX, true}},
          {CUDNN_ATTR_TENSOR_STRIDES, {CUDNN_TYPE_INT64, 1, CUDNN_DIM_MAX, true}},
          {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {CUDNN_TYPE_INT64, 1, 1, true}},
          {CUDNN_ATTR_TENSOR_IS_BY_VALUE, {CUDNN_TYPE_BOOLEAN, 1, 1, false}}};
}

Rules NormRules() {
  Rules rules = {{CUDNN_ATTR_OPERATION_NORM_FWD_MODE, {CUDNN_TYPE_NORM_MODE, 1, 1, true}},
                 {CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, {CUDNN_TYPE_NORM_FWD_PHASE, 1, 1, true}}};
  for (const int name :
       {CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC,
        CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC,
        CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC,
        CUDNN_ATTR_OPERATION_NORM_FWD_YDESC}) {
    rules[name] = kOneDescriptor;
  }
  return rules;
}

Rules AttentionRules() {
  Rules rules;
  for (const int name :
       {CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC}) {
    rules[name] = kOneDescriptor;
  }
  return rules;
}

std::map<int, Rules> OperationRules() {
  return {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       ConvolutionRules(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA)},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       ConvolutionRules(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA)},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       ConvolutionRules(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA)},
      {CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, NormRules()},
      {CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, AttentionRules()},
  };
}

std::map<int, Rules> AllRules() {
  std::map<int, Rules> all = OperationRules();
  all[CUDNN_BACKEND_TENSOR_DESCRIPTOR] = TensorRules();
  all[CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR] = {
      {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, {CUDNN_TYPE_DATA_TYPE, 1, 1, true}},
      {CUDNN_ATTR_CONVOLUTION_CONV_MODE, {CUDNN_TYPE_CONVOLUTION_MODE, 1, 1, true}},
      {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {CUDNN_TYPE_INT64, 1, 1, true}},
      {CUDNN_ATTR_CONVOLUTION_DILATIONS, kTwoNumbers},
      {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, kTwoNumbers},
      {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, kTwoNumbers},
      {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, kTwoNumbers}};
  all[CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR] = {
      {CUDNN_ATTR_OPERATIONGRAPH_HANDLE, {CUDNN_TYPE_HANDLE, 1, 1, false}},
      {CUDNN_ATTR_OPERATIONGRAPH_OPS, kOneDescriptor}};
  all[CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR] = {
      {CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, {CUDNN_TYPE_CHAR, 1, kMany, true}}};
  all[CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR] = {
      {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, kOneDescriptor},
      {CUDNN_ATTR_ENGINEHEUR_MODE, {CUDNN_TYPE_HEUR_MODE, 1, 1, true}},
      {CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, false}},
      {CUDNN_ATTR_ENGINEHEUR_RESULTS, {CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, kMany, false}}};
  all[CUDNN_BACKEND_ENGINECFG_DESCRIPTOR] = {
      {CUDNN_ATTR_ENGINECFG_ENGINE, kOneDescriptor},
      {CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, {CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, kMany, false}},
      {CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, {CUDNN_TYPE_INT64, 1, 1, false}}};
  all[CUDNN_BACKEND_ENGINE_DESCRIPTOR] = {
      {CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {CUDNN_TYPE_INT64, 1, 1, true}},
      {CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, {CUDNN_TYPE_NUMERICAL_NOTE, 0, kMany, false}},
      {CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, {CUDNN_TYPE_BEHAVIOR_NOTE, 0, kMany, false}}};
  all[CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR] = {
      {CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, {CUDNN_TYPE_KNOB_TYPE, 1, 1, true}},
      {CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, {CUDNN_TYPE_INT64, 1, 1, true}}};
  all[CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR] = {
      {CUDNN_ATTR_EXECUTION_PLAN_HANDLE, {CUDNN_TYPE_HANDLE, 1, 1, true}},
      {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, kOneDescriptor},
      {CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, {CUDNN_TYPE_INT64, 1, 1, false}}};
  all[CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR] = {
      {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {CUDNN_TYPE_INT64, 1, kMany, true}},
      {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, {CUDNN_TYPE_VOID_PTR, 1, kMany, true}},
      {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {CUDNN_TYPE_VOID_PTR, 1, 1, true}}};
  return all;
}

const std::map<int, Rules>& TheRules() {
  static const std::map<int, Rules> rules = AllRules();
  return rules;
}

// A descriptor's own descriptor.
const BackendDescriptor& Inner(const BackendDescriptor& outer, int name) {
  return *FindDescriptor(outer.attributes.at(name).As<void*>());
}

cudnnStatus_t FinalizeTensor(BackendDescriptor* one) {
  const BackendAttribute& dims = one->attributes.at(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const BackendAttribute& strides = one->attributes.at(CUDNN_ATTR_TENSOR_STRIDES);
  const auto element =
      ElementOf(one->attributes.at(CUDNN_ATTR_TENSOR_DATA_TYPE).As<cudnnDataType_t>());
  if (!element) return RefuseCudnn(CUDNN_STATUS_NOT_SUPPORTED, "the tensor's type");
  if (dims.count != strides.count || dims.count != 4) {
    return RefuseCudnn(CUDNN_STATUS_BAD_PARAM, "dimensions and strides do not agree");
  }
  CudnnOperand& tensor = one->tensor;
  tensor.id = one->attributes.at(CUDNN_ATTR_TENSOR_UNIQUE_ID).As<std::int64_t>();
  tensor.alignment = one->attributes.at(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT).As<std::int64_t>();
  tensor.shape.element = *element;
  for (std::size_t i = 0; i < 4; ++i) {
    tensor.shape.dims[i] = dims.As<std::int64_t>(i);
    tensor.shape.strides[i] = strides.As<std::int64_t>(i);
    if (tensor.shape.dims[i] > 0 && tensor.shape.strides[i] > 0) continue;
    return RefuseCudnn(CUDNN_STATUS_BAD_PARAM, "a dimension or stride below 1");
  }
  const std::int64_t alignment = tensor.alignment;
  if (alignment < 1 || (alignment & (alignment - 1)) != 0) {
    return RefuseCudnn(CUDNN_STATUS_BAD_PARAM, "an alignment that is no power of two");
  }
  const auto by_value = one->attributes.find(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  tensor.by_value = by_value != one->attributes.end() && by_value->second.As<bool>();
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t FinalizeConvolution(BackendDescriptor* one) {
  const auto pair = [&](int name, std::int64_t value) {
    const BackendAttribute& numbers = one->attributes.at(name);
    return numbers.As<std::int64_t>(0) == value && numbers.As<std::int64_t>(1) == value;
  };
  const auto padding = one->attributes.at(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS).As<std::int64_t>();
  if (padding < 0) return RefuseCudnn(CUDNN_STATUS_BAD_PARAM, "a padding below 0");
  const auto& mode = one->attributes.at(CUDNN_ATTR_CONVOLUTION_CONV_MODE);
  const auto& type = one->attributes.at(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  const bool supported =
      pair(CUDNN_ATTR_CONVOLUTION_DILATIONS, 1) && pair(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1) &&
      pair(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding) &&
      pair(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding) &&
      one->attributes.at(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS).As<std::int64_t>() == 2 &&
      mode.As<cudnnConvolutionMode_t>() == CUDNN_CROSS_CORRELATION &&
      type.As<cudnnDataType_t>() == CUDNN_DATA_FLOAT;
  one->padding = padding;
  return supported ? CUDNN_STATUS_SUCCESS
                   : RefuseCudnn(CUDNN_STATUS_NOT_SUPPORTED, "this convolution");
}

OperationKind KindOf(cudnnBackendDescriptorType_t type) {
  switch (type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return OperationKind::kForward;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return OperationKind::kBackwardData;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return OperationKind::kBackwardFilter;
    case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR:
      return OperationKind::kNorm;
    default:
      return OperationKind::kAttention;
  }
}

// x, w, y of a convolution, whose attributes are not numbered in this order.
std::vector<int> OperandNames(cudnnBackendDescriptorType_t type) {
  switch (KindOf(type)) {
    case OperationKind::kForward:
      return {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
    case OperationKind::kBackwardData:
      return {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
    case OperationKind::kBackwardFilter:
      return {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};
    case OperationKind::kNorm:
      return {CUDNN_ATTR_OPERATION_NORM_FWD_XDESC,
              CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC,
              CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC,
              CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC,
              CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC,
              CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC,
              CUDNN_ATTR_OPERATION_NORM_FWD_YDESC};
    default:
      return {CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC};
  }
}

cudnnStatus_t FinalizeOperation(BackendDescriptor* one) {
  auto operation = std::make_shared<CudnnGraphOperation>();
  operation->kind = KindOf(one->type);
  for (const int name : OperandNames(one->type)) {
    const BackendDescriptor& tensor = Inner(*one, name);
    if (tensor.type != CUDNN_BACKEND_TENSOR_DESCRIPTOR) {
      return RefuseCudnn(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "an operand that is no tensor");
    }
    operation->operands.push_back(tensor.tensor);
  }
  if (operation->kind < OperationKind::kNorm) {
    for (const auto& [name, attribute] : one->attributes) {
      if (attribute.type != CUDNN_TYPE_BACKEND_DESCRIPTOR) continue;
      const BackendDescriptor& inner = Inner(*one, name);
      if (inner.type == CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR) operation->padding = inner.padding;
    }
    const auto& operands = operation->operands;
    if (!ShapesFit(operands[0].shape, operands[1].shape, operands[2].shape, operation->padding)) {
      return RefuseCudnn(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "x, w and y do not fit");
    }
  }
  one->operation = std::move(operation);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t FinalizeDevice(BackendDescriptor* one) {
  const BackendAttribute& json = one->attributes.at(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
  const std::string text(reinterpret_cast<const char*>(json.bytes.data()), json.bytes.size());
  const std::string member = "\"deviceVer\":";
  const std::size_t at = text.find(member);
  if (at == std::string::npos || text.find("\"multiProcessorCount\"") == std::string::npos) {
    return RefuseCudnn(CUDNN_STATUS_BAD_PARAM, "a member of the device's properties is missing");
  }
  one->compute = std::atoi(text.c_str() + at + member.size()) / 10;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t FinalizeHeuristic(BackendDescriptor* one) {
  const BackendDescriptor& graph = Inner(*one, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  if (graph.operation == nullptr) return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
  const bool described = one->attributes.contains(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
  const int compute =
      described ? Inner(*one, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP).compute : TheMachine().compute();
  const auto mode = one->attributes.at(CUDNN_ATTR_ENGINEHEUR_MODE).As<cudnnBackendHeurMode_t>();
  for (CudnnEngine& engine : RankEngines(*graph.operation, mode, compute)) {
    one->configs.push_back({graph.operation, std::move(engine)});
  }
  return one->configs.empty() ? RefuseCudnn(CUDNN_STATUS_NOT_SUPPORTED, "no engine for this graph")
                              : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t FinalizePlan(BackendDescriptor* one) {
  const auto handle = one->attributes.at(CUDNN_ATTR_EXECUTION_PLAN_HANDLE).As<cudnnHandle_t>();
  NEED_HANDLE(handle);
  const BackendDescriptor& config = Inner(*one, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  if (config.type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR || config.configs.empty()) {
    return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
  }
  if (!CanRun(*config.configs[0].operation)) {
    return RefuseCudnn(CUDNN_STATUS_NOT_SUPPORTED, "the emulated cuDNN only ranks this");
  }
  one->configs = config.configs;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t FinalizePack(BackendDescriptor* one) {
  const BackendAttribute& ids = one->attributes.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const bool agree = ids.count == one->attributes.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).count;
  return agree ? CUDNN_STATUS_SUCCESS
               : RefuseCudnn(CUDNN_STATUS_BAD_PARAM, "ids and pointers are not as many");
}

}  // namespace

const AttributeRule* RuleOf(cudnnBackendDescriptorType_t kind, cudnnBackendAttributeName_t name) {
  const auto rules = TheRules().find(kind);
  if (rules == TheRules().end()) return nullptr;
  const auto rule = rules->second.find(name);
  return rule == rules->second.end() ? nullptr : &rule->second;
}

bool IsKind(cudnnBackendDescriptorType_t kind) { return TheRules().contains(kind); }

std::size_t SizeOfAttribute(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_CHAR:
    case CUDNN_TYPE_BOOLEAN:
      return 1;
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    default:
      return 4;
  }
}

cudnnStatus_t FinalizeDescriptor(BackendDescriptor* one) {
  for (const auto& [name, rule] : TheRules().at(one->type)) {
    if (!rule.required || one->attributes.contains(name)) continue;
    return RefuseCudnn(CUDNN_STATUS_BAD_PARAM, "attribute " + std::to_string(name) + " is missing");
  }
  switch (one->type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return FinalizeTensor(one);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      return FinalizeConvolution(one);
    case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR:
      return FinalizeDevice(one);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      one->operation = Inner(*one, CUDNN_ATTR_OPERATIONGRAPH_OPS).operation;
      return one->operation != nullptr ? CUDNN_STATUS_SUCCESS
                                       : CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return FinalizeHeuristic(one);
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return FinalizePlan(one);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return FinalizePack(one);
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
    case CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR:
      return RefuseCudnn(CUDNN_STATUS_NOT_SUPPORTED, "the emulated cuDNN fills these itself");
    default:
      return FinalizeOperation(one);
  }
}

}  // namespace rharness
