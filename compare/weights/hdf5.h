// The groups and datasets of an HDF5 file, down to the places of values.
//
// Role: private to this folder; under keras. Reads what h5py writes, by default and as the latest
// version: groups by symbol tables or by links, values in one piece (contiguous or compact) or in
// chunks (hdf5_chunks.h), and attributes (hdf5_attributes.h). Names and refuses everything else, so
// that no part of a file is skipped. Source: "HDF5 File Format Specification Version 3.0" (The HDF
// Group), sections II to IV.
#ifndef RHARNESS_COMPARE_WEIGHTS_HDF5_H_
#define RHARNESS_COMPARE_WEIGHTS_HDF5_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compare/weights/chunked_checkpoint.h"
#include "compare/weights/input_file.h"
#include "compare/weights/keras_names.h"
#include "compare/weights/view_checkpoint.h"
#include "harness/base/json.h"

namespace rharness {

struct Hdf5Contents {
  std::vector<View>
      views;  // of source 0, whose first byte is the HDF5 file's; named by their paths
  std::vector<ChunkedTensor> chunked;  // likewise
  Hdf5Groups groups;                   // objects that have texts as attributes
  // All attributes that are read: by the object's path ("": the file), and by name.
  std::map<std::string, std::map<std::string, Json>> attributes;
  // Attributes that are not read; without content: it is that of the whole file.
  std::vector<UnreadPart> unread;
};

// The HDF5 file that fills [begin, begin + size) of `file`, which `where` names. Errors:
// invalid_input (malformed, with the byte offset), unsupported (another layout, type or version; a
// limit), io, integrity.
Result<Hdf5Contents> ReadHdf5(const InputFile& file, std::uint64_t begin, std::uint64_t size,
                              std::string where);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_HDF5_H_
