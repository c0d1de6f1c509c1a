// numpy's .npy and .npz files.
//
// Role: two readers of Checkpoint. A .npy file holds one array, named "array" here: the file's name
// must not get into the digest. An .npz archive's arrays have their members' names without ".npy".
// Fortran order and big-endian numbers are brought into C order and little-endian.
#ifndef RHARNESS_COMPARE_WEIGHTS_NPY_H_
#define RHARNESS_COMPARE_WEIGHTS_NPY_H_

#include <memory>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"
#include "compare/weights/zip_archive.h"

namespace rharness {

// Errors: those of ReadNpyHeader and InputFile.
Result<std::unique_ptr<Checkpoint>> OpenNpy(InputFile file);

// Whether an archive has a member whose name ends in ".npy".
bool IsNpz(const ZipDirectory& directory);

// Errors: those of ReadNpyHeader, ZipStream and MakeViewCheckpoint; unsupported when a member is no
// .npy file.
Result<std::unique_ptr<Checkpoint>> OpenNpz(InputFile file, const ZipDirectory& directory);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_NPY_H_
