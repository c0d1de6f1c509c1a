// Keras's models and weights: .keras archives, .weights.h5, and the older .h5; other HDF5 files.
//
// Role: two readers of Checkpoint. A dataset is a tensor, named by keras_names.h, or by its path in
// a file that is not Keras's. The architecture (config.json, model_config) and the settings of
// training (training_config) are loaded with the weights and are unread parts that decide
// (PartKind::kModel), as are all attributes that Keras does not write, in one part, "attributes",
// and any other member of an archive; metadata.json, which holds the date of saving, and Keras's
// version and backend are only reported. The names of layers and weights are in those of tensors.
// Source: keras/src/saving/saving_lib.py.
#ifndef RHARNESS_COMPARE_WEIGHTS_KERAS_H_
#define RHARNESS_COMPARE_WEIGHTS_KERAS_H_

#include <memory>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"
#include "compare/weights/zip_archive.h"

namespace rharness {

// Errors: those of ReadHdf5 and MakeViewCheckpoint.
Result<std::unique_ptr<Checkpoint>> OpenHdf5(InputFile file);

// Whether an archive has the member "model.weights.h5".
bool IsKeras(const ZipDirectory& directory);

// The tensors of model.weights.h5. Errors: those of OpenHdf5; unsupported if the weights are
// deflated, which Keras does not do.
Result<std::unique_ptr<Checkpoint>> OpenKeras(InputFile file, const ZipDirectory& directory);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_KERAS_H_
