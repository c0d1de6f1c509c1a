// The wire format of Protocol Buffers, field by field, without a schema.
//
// Role: under the readers of W&B's logs and of event files. Pure. Not here: groups. Source:
// protobuf.dev/programming-guides/encoding.
#ifndef RHARNESS_HARNESS_BASE_PROTOBUF_READER_H_
#define RHARNESS_HARNESS_BASE_PROTOBUF_READER_H_

#include <cstdint>
#include <string_view>

namespace rharness {

struct ProtobufField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;   // of a varint, or the 8 or 4 bytes of a fixed one
  std::string_view content;  // for types with a length: texts, bytes, messages

  std::int64_t AsInt() const { return static_cast<std::int64_t>(value); }
};

// Reads a message to its end, or to the first invalid byte.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view message) : rest_(message) {}
  // Whether there was a further field.
  bool Next(ProtobufField* field);
  // After Next returned false: whether the message ended inside a field.
  bool failed() const { return failed_; }

 private:
  bool ReadVarint(std::uint64_t* value);
  bool ReadFixed(std::size_t bytes, std::uint64_t* value);
  bool Fail();

  std::string_view rest_;
  bool failed_ = false;
};

// Calls f(field) for each field of a message; returns whether the whole of it could be read.
template <class F>
bool ForProtobufFields(std::string_view message, F f) {
  ProtobufReader reader(message);
  for (ProtobufField field; reader.Next(&field);) f(field);
  return !reader.failed();
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_PROTOBUF_READER_H_
