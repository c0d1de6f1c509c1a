// The arrays by which HDF5 finds the chunks of a dataset: fixed and extensible ones.
//
// Role: private to this folder; under hdf5_chunks. Finds the place of one entry at a time: memory
// does not grow with the array. Source: "HDF5 File Format Specification Version 3.0" (The HDF
// Group), sections VII.C and VII.D.
#ifndef RHARNESS_COMPARE_WEIGHTS_HDF5_ARRAYS_H_
#define RHARNESS_COMPARE_WEIGHTS_HDF5_ARRAYS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compare/weights/hdf5_file.h"

namespace rharness {

class Hdf5ChunkArray {
 public:
  // The array whose header lies at `at`; `file` must live longer. Errors: those of hdf5.h.
  static Result<Hdf5ChunkArray> Open(const Hdf5File& file, std::uint64_t at, bool extensible);

  bool filtered() const { return filtered_; }
  std::uint64_t entry_bytes() const { return entry_; }  // 8, or 13 to 20 where it is filtered
  // Where the entry of this chunk lies in the file; none: it was never written.
  Result<std::optional<std::uint64_t>> PlaceOf(std::uint64_t index);

 private:
  Hdf5ChunkArray(const Hdf5File& file, std::uint64_t at) : file_(&file), at_(at) {}
  Status ReadFixed();
  Status ReadExtensible();
  Result<std::optional<std::uint64_t>> FixedPlace(std::uint64_t index);
  Result<std::optional<std::uint64_t>> ExtensiblePlace(std::uint64_t index);
  struct Pointer {
    std::uint64_t at = kHdf5Undefined, address = kHdf5Undefined;
  };
  Status Follow(std::uint64_t at, std::string_view signature, Pointer* last) const;
  Result<bool> IsWritten(std::uint64_t bits, std::uint64_t page);
  Status Expect(std::uint64_t at, std::string_view signature) const;

  const Hdf5File* file_;
  std::uint64_t at_;
  bool extensible_ = false, filtered_ = false;
  std::uint64_t entry_ = 0;
  std::uint64_t page_ = 0;  // entries of a page; a block of more has pages
  std::uint64_t block_ =
      0;  // of the entries, or the index of an extensible array; may be undefined
  std::uint64_t count_ = 0;  // of a fixed array's entries
  // Of an extensible array: entries in the index, fewest in a block, pointers to blocks in the
  // index, the first further block of pointers there, and bytes of an offset.
  std::uint64_t in_index_ = 0, fewest_ = 0, direct_ = 0, first_far_ = 0, offset_bytes_ = 0;
  std::uint64_t most_bits_ = 0;  // it holds fewer than 2^most_bits_ entries
  // The last byte of a bitmap, and the last blocks of an extensible array: most reads are in order.
  std::uint64_t byte_at_ = kHdf5Undefined;
  unsigned char byte_ = 0;
  Pointer pointers_, entries_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_HDF5_ARRAYS_H_
