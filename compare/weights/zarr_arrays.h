// The arrays among the keys of a store, with every chunk found.
//
// Role: private to this folder; between zarr's description and the checkpoint, under orbax.
#ifndef RHARNESS_COMPARE_WEIGHTS_ZARR_ARRAYS_H_
#define RHARNESS_COMPARE_WEIGHTS_ZARR_ARRAYS_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/chunked_checkpoint.h"
#include "compare/weights/ocdbt.h"

namespace rharness {

// Whether a key is the description of an array: ".zarray" or "zarr.json" below its name.
bool IsZarrKey(std::string_view key);

// A tensor for each array of `store`, named by name_of(array). Reads the descriptions and the
// indexes of shards. `used`: receives the keys that belong to an array. Errors: those of ParseZarr;
// invalid_input (a shard shorter than its index), integrity, unsupported.
Result<std::vector<ChunkedTensor>> FindZarrArrays(
    const KeyValues& store, const std::function<std::string(std::string_view array)>& name_of,
    std::set<std::string, std::less<>>* used);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_ZARR_ARRAYS_H_
