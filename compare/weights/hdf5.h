// HDF5 files of arrays, and Keras's archives, whose weights are one such file.
//
// Role: two readers of Checkpoint. A dataset is a tensor, named by its path
// ("layers/dense/vars/0"). Reads what h5py writes by default: superblock 0, groups by symbol
// tables, object headers 1, values in one piece (contiguous or compact). Names and refuses
// everything else, so that no part of a file is skipped. Source: "HDF5 File Format Specification
// Version 3.0" (The HDF Group), sections II to IV; keras/src/saving/saving_lib.py for the members
// of an archive.
#ifndef RHARNESS_COMPARE_WEIGHTS_HDF5_H_
#define RHARNESS_COMPARE_WEIGHTS_HDF5_H_

#include <memory>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"
#include "compare/weights/zip_archive.h"

namespace rharness {

// Errors: invalid_input (malformed, with the byte offset), unsupported (another layout, type or
// version; a limit; a whole Keras 2 model, whose architecture is an attribute), io, integrity.
Result<std::unique_ptr<Checkpoint>> OpenHdf5(InputFile file);

// Whether an archive has the member "model.weights.h5".
bool IsKeras(const ZipDirectory& directory);

// The tensors of model.weights.h5. config.json is loaded with them and is an unread part that
// decides (PartKind::kModel), as is any member of another name; metadata.json, which holds the date
// of saving and Keras's version, is only reported. Errors: those of OpenHdf5; unsupported if the
// weights are deflated, which Keras does not do.
Result<std::unique_ptr<Checkpoint>> OpenKeras(InputFile file, const ZipDirectory& directory);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_HDF5_H_
