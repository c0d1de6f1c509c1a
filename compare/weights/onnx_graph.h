// The messages of an ONNX model: its tensors by name, and all else as text.
//
// Role: private to this folder; between onnx and onnx_tensor. The text says what the model
// computes: field by field in the order of the schema, whatever the order in the file. Names of
// tensors are those of onnx.h. Source: onnx/onnx.proto.
#ifndef RHARNESS_COMPARE_WEIGHTS_ONNX_GRAPH_H_
#define RHARNESS_COMPARE_WEIGHTS_ONNX_GRAPH_H_

#include <string>
#include <utility>
#include <vector>

#include "compare/weights/onnx_tensor.h"

namespace rharness {

struct OnnxModel {
  std::vector<OnnxTensor> tensors;                         // by their full names
  std::vector<std::pair<std::string, std::string>> graph;  // "node 3" and its text, in order
  std::vector<std::pair<std::string, std::string>> metadata;
};

// Errors: those of OpenOnnx but for the files of external data.
Result<OnnxModel> ReadOnnxModel(const InputFile& file);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_ONNX_GRAPH_H_
