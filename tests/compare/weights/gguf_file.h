// GGUF files for tests, written byte by byte.
//
// Role: a writer that shares no code with the reader under test.
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_GGUF_FILE_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_GGUF_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

inline std::string GgufNumber(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}
inline std::string GgufString(std::string_view text) {
  return GgufNumber(text.size(), 8) + std::string(text);
}
// A metadata pair; `value` are the bytes behind the type.
inline std::string GgufPair(std::string_view key, std::uint32_t type, const std::string& value) {
  return GgufString(key) + GgufNumber(type, 4) + value;
}

struct GgufTensor {
  std::string name;
  std::vector<std::uint64_t> dims;  // innermost first
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
};

struct GgufFile {
  std::uint32_t version = 3;
  std::vector<std::string> pairs;
  std::vector<GgufTensor> tensors;
  std::string data;
  std::size_t alignment = 32;

  std::string Bytes() const {
    std::string text = "GGUF" + GgufNumber(version, 4) + GgufNumber(tensors.size(), 8) +
                       GgufNumber(pairs.size(), 8);
    for (const std::string& pair : pairs) text += pair;
    for (const GgufTensor& tensor : tensors) {
      text += GgufString(tensor.name) + GgufNumber(tensor.dims.size(), 4);
      for (const std::uint64_t dim : tensor.dims) text += GgufNumber(dim, 8);
      text += GgufNumber(tensor.type, 4) + GgufNumber(tensor.offset, 8);
    }
    text.resize((text.size() + alignment - 1) / alignment * alignment);
    return text + data;
  }
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_GGUF_FILE_H_
