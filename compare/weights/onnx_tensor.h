// One TensorProto of an ONNX model: dtype, shape, and where its elements lie.
//
// Role: private to this folder; under onnx. Opens no file of external data. Source: TensorProto of
// onnx/onnx.proto.
#ifndef RHARNESS_COMPARE_WEIGHTS_ONNX_TENSOR_H_
#define RHARNESS_COMPARE_WEIGHTS_ONNX_TENSOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/protobuf_file.h"

namespace rharness {

struct OnnxExternalData {
  std::string location;  // below the model's folder, in normal form
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // none: to the file's end
};

struct OnnxTensor {
  std::string name;
  std::int64_t type = 0;       // TensorProto.DataType
  std::optional<DType> dtype;  // none: integers of 2 or 4 bits, an odd number of F4, or texts
  std::vector<std::uint64_t> shape;
  std::vector<FileSpan> spans;                // of its elements in the model, in their order
  std::string content;                        // elements that are not literally in the file
  std::optional<OnnxExternalData> elsewhere;  // then there are no spans and no content
  std::uint64_t at = 0;                       // of the message in the file
};

// "INT4 [2, 3]"
std::string OnnxTypeText(const OnnxTensor& tensor);

// `decoded_bytes` counts those of `content` of all tensors. Errors: invalid_input (malformed, data
// of another type, a path that is not below the folder), unsupported (an unknown type, segments, a
// limit of onnx.h); the message names the tensor.
Result<OnnxTensor> ReadOnnxTensor(ProtobufFile& file, const FileSpan& message,
                                  std::size_t* decoded_bytes);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_ONNX_TENSOR_H_
