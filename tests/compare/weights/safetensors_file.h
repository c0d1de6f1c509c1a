// Safetensors files for tests, well formed or broken at will, written byte by byte.
//
// Role: a writer that shares no code with the reader under test.
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_SAFETENSORS_FILE_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_SAFETENSORS_FILE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "harness/base/files.h"

namespace rharness {

// `length` as eight bytes, little-endian.
inline std::string LittleEndian64(std::uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(length >> (8 * i)));
  return bytes;
}

inline std::string FileOf(std::string_view header, std::string_view data = {}) {
  return LittleEndian64(header.size()) + std::string(header) + std::string(data);
}

template <class T>
std::string BytesOf(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

struct TestTensor {
  std::string name;  // needs no JSON escapes
  std::string dtype;
  std::string shape;  // "[2,3]"
  std::string bytes;
};

// The tensors in the order given. `prefix` goes before the first entry ("\"__metadata__\":{},").
inline std::string FileOf(const std::vector<TestTensor>& tensors, const std::string& prefix = {},
                          std::size_t padding = 0) {
  std::string entries, data;
  for (const TestTensor& tensor : tensors) {
    if (!entries.empty()) entries += ",";
    entries += "\"" + tensor.name + "\":{\"dtype\":\"" + tensor.dtype +
               "\",\"shape\":" + tensor.shape + ",\"data_offsets\":[" +
               std::to_string(data.size()) + "," +
               std::to_string(data.size() + tensor.bytes.size()) + "]}";
    data += tensor.bytes;
  }
  return FileOf("{" + prefix + entries + "}" + std::string(padding, ' '), data);
}

// A folder of test files.
class CheckpointFiles : public ::testing::Test {
 protected:
  const std::filesystem::path& folder() const { return folder_->path(); }
  std::filesystem::path Write(std::string_view content, std::string_view name = "x.safetensors") {
    const std::filesystem::path path = folder_->path() / name;
    std::ofstream(path, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
    return path;
  }
  Result<std::unique_ptr<Checkpoint>> Open(std::string_view content,
                                           std::string_view name = "x.safetensors") {
    return OpenCheckpoint(Write(content, name));
  }
  // Aborts the test on files that do not open.
  std::unique_ptr<Checkpoint> MustOpen(std::string_view content,
                                       std::string_view name = "x.safetensors") {
    auto checkpoint = Open(content, name);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
    return std::move(checkpoint).value();
  }
  std::string ReadAll(const Checkpoint& checkpoint, std::size_t index) {
    std::string bytes(checkpoint.tensors()[index].size_bytes, '\0');
    const Status status = checkpoint.Read(index, 0, std::as_writable_bytes(std::span(bytes)));
    EXPECT_TRUE(status.ok()) << status.error().ToString();
    return bytes;
  }

 private:
  Result<ScopedTempDir> folder_ = ScopedTempDir::Make();
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_SAFETENSORS_FILE_H_
