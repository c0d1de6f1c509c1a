// The attributes of an HDF5 object.
//
// Role: private to this folder; under hdf5. Source: "HDF5 File Format Specification Version 3.0",
// sections IV.A.2.m (attributes), IV.A.2.b and IV.A.2.d (spaces and types) and III.E (global heap).
//
//   type                          as JSON
//   numbers, booleans, texts      the value of a scalar, the array of a list, and of more
//                                 dimensions {"shape": [...], "values": [...]}; null: no value
//   other plain bytes, and more   {"sha256": "..."} of type, shape and bytes
//   than kMaxHdf5Numbers numbers
//   what points elsewhere         not read: a reference, a compound, an array or a sequence type,
//                                 a type or space that is stored elsewhere
#ifndef RHARNESS_COMPARE_WEIGHTS_HDF5_ATTRIBUTES_H_
#define RHARNESS_COMPARE_WEIGHTS_HDF5_ATTRIBUTES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

inline constexpr std::size_t kMaxHdf5TextBytes = std::size_t{64} << 20;  // of an attribute
inline constexpr std::size_t kMaxHdf5Texts = 1'000'000;                  // of an attribute
inline constexpr std::size_t kMaxHdf5Numbers = 65'536;                   // likewise
inline constexpr std::size_t kMaxHdf5HeapObjects = 2'000'000;            // of a file

// The values by the attribute's name: one of a scalar, several of a list.
using Hdf5Texts = std::map<std::string, std::vector<std::string>, std::less<>>;

// Bytes [at, at + size) of the HDF5 file. Errors: invalid_input beyond its end, io, integrity.
using TakeBytes = std::function<Result<std::string>(std::uint64_t at, std::uint64_t size)>;

// The objects of the global heaps of a file. Each heap is read once, whatever points to it.
class Hdf5GlobalHeaps {
 public:
  explicit Hdf5GlobalHeaps(TakeBytes take) : take_(std::move(take)) {}
  // The first `size` bytes of an object. Errors: as ReadHdf5Attribute.
  Result<std::string> Object(std::uint64_t heap, std::uint64_t index, std::uint64_t size);

 private:
  struct Place {
    std::uint64_t index = 0, at = 0, bytes = 0;
  };
  Result<std::vector<Place>> PlacesOf(std::uint64_t heap);

  TakeBytes take_;
  std::map<std::uint64_t, std::vector<Place>> known_;  // by the heap, then sorted by index
  std::size_t objects_ = 0;
};

struct Hdf5Attribute {
  std::string name;
  std::optional<std::vector<std::string>> texts;  // none: it holds no texts
  Json value;
  std::string unread;   // why it has no value: "is a reference"; empty: it has one
  bool points = false;  // likewise: the value lies elsewhere in the file
};

// The content of an attribute's message. Errors: a clause for a malformed one, as invalid_input
// without `where`; those of reading the file.
Result<Hdf5Attribute> ReadHdf5Attribute(std::string_view content, Hdf5GlobalHeaps* heaps);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_HDF5_ATTRIBUTES_H_
