// Object headers, fractal heaps and version 2 B-trees of an HDF5 file.
//
// Role: private to this folder; under hdf5, hdf5_arrays and hdf5_chunks. Every address is checked
// before it is read. Source: "HDF5 File Format Specification Version 3.0" (The HDF Group), sections
// III.A.2, III.G and IV.A.1.
#ifndef RHARNESS_COMPARE_WEIGHTS_HDF5_FILE_H_
#define RHARNESS_COMPARE_WEIGHTS_HDF5_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/weights/input_file.h"

namespace rharness {

inline constexpr std::uint64_t kHdf5Undefined = ~std::uint64_t{0};  // an address of nothing

// Section IV.A: the types of header messages that matter here.
enum Hdf5MessageType : std::uint16_t {
  kDataspace = 0x0001,
  kLinkInfo = 0x0002,
  kDatatype = 0x0003,
  kFillValue = 0x0005,
  kLink = 0x0006,
  kExternalFiles = 0x0007,
  kLayout = 0x0008,
  kFilters = 0x000B,
  kAttribute = 0x000C,
  kContinuation = 0x0010,
  kSymbolTable = 0x0011,
  kAttributeInfo = 0x0015,
};

struct Hdf5Message {
  std::uint16_t type = 0;
  bool shared = false;   // its content is stored elsewhere
  std::uint64_t at = 0;  // of its content in the file
  std::string content;
};

// Little-endian, as everything that we run on. Aborts beyond the end.
std::uint64_t Hdf5Number(std::string_view bytes, std::size_t at, std::size_t size);

// The HDF5 file that fills [begin, begin + size) of another.
class Hdf5File {
 public:
  Hdf5File(const InputFile& file, std::uint64_t begin, std::uint64_t size, std::string where)
      : file_(file), begin_(begin), size_(size), where_(std::move(where)) {}

  std::uint64_t begin() const { return begin_; }
  std::uint64_t size() const { return size_; }
  // "FILE: byte N", of the outer file.
  std::string Where(std::uint64_t at) const;
  Error Wrong(std::uint64_t at, std::string message) const;    // malformed
  Error Other(std::uint64_t at, std::string_view what) const;  // not read: "HDF5 with WHAT"
  Result<std::string> Take(std::uint64_t at, std::uint64_t size) const;

  // Of an object header of version 1 or 2, continuations included.
  Result<std::vector<Hdf5Message>> MessagesOf(std::uint64_t at) const;

  // The objects of a fractal heap that the records of a B-tree point to, each with its place in
  // the file. `skip`: bytes of a record before the heap's ID.
  Result<std::vector<Hdf5Message>> HeapObjects(std::uint64_t heap, std::uint64_t tree,
                                               std::size_t skip) const;

  // The records of a version 2 B-tree, in any order. `type`: what its records are.
  Result<std::vector<std::string>> Records(std::uint64_t tree,
                                           std::optional<unsigned> type = std::nullopt) const;

 private:
  struct Blocks;
  struct Heap;
  Status AddMessages(const std::string& block, std::uint64_t at, std::size_t prefix, Blocks* all,
                     std::size_t most) const;
  Result<Heap> ReadHeap(std::uint64_t at) const;
  Result<std::pair<std::uint64_t, std::uint64_t>> Locate(const Heap& heap, std::uint64_t block,
                                                         std::size_t rows,
                                                         std::uint64_t offset) const;

  const InputFile& file_;
  const std::uint64_t begin_;
  const std::uint64_t size_;
  const std::string where_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_HDF5_FILE_H_
