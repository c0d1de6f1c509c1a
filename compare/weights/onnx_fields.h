// The fields of ONNX's messages: their names, and what a reader does with each.
//
// Role: private to this folder; under onnx_graph. Source: onnx/onnx.proto.
#ifndef RHARNESS_COMPARE_WEIGHTS_ONNX_FIELDS_H_
#define RHARNESS_COMPARE_WEIGHTS_ONNX_FIELDS_H_

#include <cstdint>
#include <string_view>

namespace rharness {

enum class OnnxMessage {
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kValueInfo,
  kType,
  kTensorType,
  kElementType,  // of a sequence, or of an optional value
  kMapType,
  kShape,
  kDimension,
  kOperatorSet,
  kFunction,
  kTraining,
  kEntry,
  kAnnotation,
  kNone,
};

enum class OnnxFieldKind {
  kSkip,
  kInt,
  kFloat,
  kText,
  kLabel,
  kMessage,
  kTensor,
  kSparse,
  kMetadata
};

// kLabel: a text whose absence is the empty text.
struct OnnxField {
  OnnxMessage in;
  std::uint32_t number;
  std::string_view name;
  OnnxFieldKind kind;
  OnnxMessage of = OnnxMessage::kNone;
};
// nullptr: a field of a later schema.
const OnnxField* OnnxFieldOf(OnnxMessage in, std::uint32_t number);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_ONNX_FIELDS_H_
