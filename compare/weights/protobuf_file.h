// A message of Protocol Buffers in a file, field by field: content by its place, nothing copied.
//
// Role: under the reader of ONNX, whose messages hold gigabytes. harness/base/protobuf_reader.h
// reads messages in memory. Not here: groups, any schema. Source:
// protobuf.dev/programming-guides/encoding.
#ifndef RHARNESS_COMPARE_WEIGHTS_PROTOBUF_FILE_H_
#define RHARNESS_COMPARE_WEIGHTS_PROTOBUF_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "compare/weights/input_file.h"
#include "harness/base/result.h"

namespace rharness {

// A part of a file: [begin, end).
struct FileSpan {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t size() const { return end - begin; }
};

enum class ProtobufWire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct FileField {
  std::uint32_t number = 0;
  ProtobufWire wire = ProtobufWire::kVarint;
  std::uint64_t value = 0;  // of a varint or a fixed one
  FileSpan content;         // of kBytes
  std::uint64_t at = 0;     // of its tag
};

class ProtobufFile {
 public:
  // `file` must outlive this object.
  explicit ProtobufFile(const InputFile& file) : file_(file) {}

  // Takes the first field off `rest`, which is within the file; false: there was none left. Errors:
  // invalid_input (a malformed tag, a length beyond `rest`) with "FILE: byte N"; those of ReadAt.
  Result<bool> Next(FileSpan* rest, FileField* field);
  // A varint off the front of `rest`, which is not empty: of packed numbers. Errors: those of Next.
  Result<std::uint64_t> Varint(FileSpan* rest);
  // Bytes as they are. Errors: unsupported above `limit_bytes`; those of ReadAt.
  Result<std::string> Text(const FileSpan& span, std::uint64_t limit_bytes);

  std::string At(std::uint64_t offset) const;  // "FILE: byte N"

 private:
  Status Fill(std::uint64_t offset, std::uint64_t size);
  Result<std::uint64_t> Fixed(FileSpan* rest, std::size_t size);

  const InputFile& file_;
  std::string block_;  // bytes of the file
  std::uint64_t block_begin_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_PROTOBUF_FILE_H_
