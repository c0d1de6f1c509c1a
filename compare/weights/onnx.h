// ONNX models (.onnx): the initialisers of a graph as tensors, the graph as one unread part.
//
// Role: one reader of Checkpoint. Elements stay in the file, or in the files of external data.
//
//   in the model                              becomes
//   an initialiser                            a tensor of its name
//   the value of a Constant                   a tensor named by the node's output
//   another tensor in an attribute            "NODE.ATTRIBUTE", "NODE.ATTRIBUTE.N" in a list
//   a sparse one                              "NAME/values", "NAME/indices"; its shape is the
//                                             graph's
//   one of a subgraph (If, Loop, functions)   "NODE.ATTRIBUTE/NAME"
//   integers of 2 or 4 bits, texts            an unread part that decides
//   all else                                  "graph.json", which is loaded with the tensors
//                                             (PartKind::kModel)
// A node without a name, or with one that occurred before, is called "OPERATOR_N" by its position.
// "graph.json" covers nodes, attributes, inputs, outputs, versions of operator sets and functions.
// It leaves out what computes nothing: producer, documentation, metadata, model_version, domain,
// names of graphs, inferred shapes (value_info); and its text does not depend on the order of
// attributes. The first four are metadata. Source: onnx/onnx.proto and docs/ExternalData.md of
// github.com/onnx/onnx.
#ifndef RHARNESS_COMPARE_WEIGHTS_ONNX_H_
#define RHARNESS_COMPARE_WEIGHTS_ONNX_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

// Limits of this reader. A message of Protocol Buffers has less than 2 GiB.
inline constexpr std::uint64_t kMaxOnnxBytes = (std::uint64_t{1} << 31) - 1;
inline constexpr std::size_t kMaxOnnxDepth = 64;  // of nested messages
inline constexpr std::size_t kMaxOnnxTensors = 500'000;
inline constexpr std::size_t kMaxOnnxNameBytes = std::size_t{64} << 10;    // of one name
inline constexpr std::size_t kMaxOnnxGraphBytes = std::size_t{128} << 20;  // of the graph's text
inline constexpr std::size_t kMaxOnnxDecoded = std::size_t{512} << 20;     // numbers of varints

// By a file's first bytes: an ir_version of at least 2, and a field that follows it. A file named
// ".onnx" is one, too.
bool LooksLikeOnnx(std::string_view head);

// External data lie beside the file at its path, else beside the one that it is a link to. No link
// leads out of that folder, but to a blob of the same cache of Hugging Face. Errors: invalid_input
// (malformed, with the byte offset), unsupported (a limit above, a tensor in segments), not_found
// (external data), integrity (external data that a symbolic link leads out of the model's folder),
// io.
Result<std::unique_ptr<Checkpoint>> OpenOnnx(InputFile file);

// The files of external data, below the model's folder, sorted. Opens none of them. Errors: those
// of OpenOnnx.
Result<std::vector<std::string>> OnnxDataFiles(const InputFile& file);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_ONNX_H_
