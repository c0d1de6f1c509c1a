// The GGUF format, versions 2 and 3: key-value metadata, tensor descriptions, aligned tensor bytes.
//
// Role: one reader of Checkpoint. Plain types are elements; quantised ones are kBlocks, compared
// byte by byte. Metadata is loaded with the tensors (tokenizer, rope, number of layers) and
// decides, except general.*, which describes how a file was made: of it only general.architecture
// counts. Dimensions are reversed, from GGUF's innermost first to C order. Source: the GGUF
// specification (docs/gguf.md of ggml-org/ggml); block sizes of ggml-common.h there.
#ifndef RHARNESS_COMPARE_WEIGHTS_GGUF_H_
#define RHARNESS_COMPARE_WEIGHTS_GGUF_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/forward_reader.h"
#include "compare/weights/input_file.h"

namespace rharness {

// Limits of this reader, above any published file.
inline constexpr std::uint64_t kMaxGgufTensors = 500'000;
inline constexpr std::uint64_t kMaxGgufPairs = 65'536;     // of metadata
inline constexpr std::uint64_t kMaxGgufKeyBytes = 65'535;  // the format's own limit
inline constexpr std::uint64_t kMaxGgufNameBytes = 256;    // the format says 64; some write 127
inline constexpr std::uint64_t kMaxGgufTextBytes = 4096;   // of a value that is recorded completely
inline constexpr std::uint32_t kMaxGgufRank = 4;           // the format's own limit
inline constexpr int kMaxGgufArrayDepth = 4;               // arrays in arrays
inline constexpr std::uint32_t kDefaultGgufAlignmentBytes = 32;  // without general.alignment

struct GgufHeader {
  std::vector<TensorInfo> tensors;     // sorted by name bytes
  std::vector<std::uint64_t> offsets;  // of each tensor's first byte, from the start of the file
  // In the order of the file. Numbers as text; longer strings and arrays by their size alone.
  std::vector<std::pair<std::string, std::string>> metadata;
  // Of each of these, from its type to its end: first byte and size.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> value_ranges;
};

// Reads the metadata and the tensor descriptions and checks that every tensor lies within the file,
// at a multiple of the alignment, and that none overlap. Memory is a small multiple of the bytes
// read. Errors, with `where` "FILE: byte N": invalid_input (a rule of the format), unsupported (a
// limit above, version 1, a big-endian file, a removed or unknown type); those of `read`.
Result<GgufHeader> ParseGguf(const ReadBytes& read, std::uint64_t file_bytes,
                             std::string_view file);

// The tensors stay in the file. Errors: those of ParseGguf and InputFile.
Result<std::unique_ptr<Checkpoint>> OpenGguf(InputFile file);

// A tensor type by its number in the file.
struct GgufType {
  std::uint32_t number = 0;
  std::string_view name;       // "F32", "Q4_K"
  std::optional<DType> dtype;  // empty: blocks
  std::uint64_t block_elements = 1;
  std::uint64_t block_bytes = 0;
};
const GgufType* FindGgufType(std::uint32_t number);  // nullptr when there is none

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_GGUF_H_
