// Values of Thrift's compact protocol, from bytes in memory.
//
// Role: private to this folder: the footers and page headers of Parquet. Source: Apache Thrift,
// doc/specs/thrift-compact-protocol.md.
#ifndef RHARNESS_HARNESS_EXECUTION_TABLES_THRIFT_READER_H_
#define RHARNESS_HARNESS_EXECUTION_TABLES_THRIFT_READER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rharness {

// The types of the protocol's fields and elements.
enum class ThriftType {
  kStop,
  kTrue,
  kFalse,
  kI8,
  kI16,
  kI32,
  kI64,
  kDouble,
  kBinary,
  kList,
  kSet,
  kMap,
  kStruct
};

// The first defect sticks: afterwards integers are 0, texts empty and structs without fields, so
// that a parser is a plain list of fields with one check at its end. Structs and lists nest at most
// 32 deep, and a list is at most as long as bytes are left: no input takes more than a pass.
class ThriftReader {
 public:
  explicit ThriftReader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  std::size_t position() const { return at_; }  // after what was read

  // Calls field(id, type) for each field of a struct; it reads the value or calls Skip(type).
  template <class F>
  void ReadStruct(F&& field) {
    if (!Enter()) return;
    int id = 0;
    for (ThriftType type = NextField(&id); ok_ && type != ThriftType::kStop;
         type = NextField(&id)) {
      field(id, type);
    }
    --depth_;
  }
  // Calls element(type) for each element of a list; it reads it or calls SkipElement(type).
  template <class F>
  void ReadList(F&& element) {
    if (!Enter()) return;
    ThriftType type = ThriftType::kStop;
    const std::uint64_t count = ListHeader(&type);
    for (std::uint64_t i = 0; ok_ && i < count; ++i) element(type);
    --depth_;
  }
  std::int64_t ReadInt(ThriftType type);  // i8 to i64
  bool ReadBool(ThriftType type);         // of a field
  std::string_view ReadBinary(ThriftType type);
  void Skip(ThriftType type);         // the value of a field
  void SkipElement(ThriftType type);  // an element of a list

 private:
  bool Enter();
  std::uint8_t Byte();
  std::uint64_t Varint();
  std::string_view Take(std::uint64_t size);
  ThriftType NextField(int* id);
  std::uint64_t ListHeader(ThriftType* type);
  void SkipMap();

  std::string_view bytes_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool ok_ = true;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_TABLES_THRIFT_READER_H_
