// Datasets of HDF5 whose values lie in chunks: their index, and the filters before them.
//
// Role: private to this folder; under hdf5. Indexes: B-trees of both versions, a single chunk,
// implicit ones, fixed and extensible arrays (hdf5_arrays.h). Filters: shuffle, deflate and
// Fletcher's checksum, in this order, as h5py writes them. Names and refuses the others. Source:
// "HDF5 File Format Specification Version 3.0" (The HDF Group), sections III.A, IV.A.2.b, IV.A.2.i,
// IV.A.2.l and VII.
#ifndef RHARNESS_COMPARE_WEIGHTS_HDF5_CHUNKS_H_
#define RHARNESS_COMPARE_WEIGHTS_HDF5_CHUNKS_H_

#include <cstdint>
#include <vector>

#include "compare/weights/chunked_checkpoint.h"
#include "compare/weights/hdf5_file.h"

namespace rharness {

// A limit of this reader. Shuffled chunks are decoded in memory, and those side by side are kept
// there: else each would be decoded once a row.
inline constexpr std::uint64_t kMaxShuffledBytes = kMaxHeldChunkBytes / 2;

// The chunks of a dataset. `info`: complete; `layout`: its message, of class 2; `messages`: all of
// its header. Chunks have places without a file (StoredChunk::file is null). `grid_chunks`: of all
// datasets of the file, bounded by kMaxGridChunks. Errors: those of hdf5.h.
Result<ChunkedTensor> ReadHdf5Chunks(const Hdf5File& file, TensorInfo info,
                                     const Hdf5Message& layout,
                                     const std::vector<Hdf5Message>& messages,
                                     std::uint64_t* grid_chunks);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_HDF5_CHUNKS_H_
