// PyTorch files from before 0.1.10: a tar archive of four members.
//
//   sys_info   a pickle: {"protocol_version": 1000, "little_endian": True, ...}
//   storages   their number; of each a pickle (key, location, class), then eight bytes of count and
//              its elements; at the end a pickle of views: (key, key of the root, offset, size)
//   tensors    their number; of each a pickle (key, key of its storage, class), then dimensions
//   (four
//              bytes and four of padding), sizes, strides and offset (eight bytes each)
//   pickle     the tree; a tensor is a persistent id, its key as text
//
// Role: one reader of Checkpoint; executes nothing. Names and values are those of torch_zip.h.
// Source: legacy_load in torch/serialization.py of PyTorch; POSIX.1-2001, pax interchange format.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_TAR_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_TAR_H_

#include <memory>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

// Whether the file has the mark of a tar archive. Errors: those of InputFile::ReadAt.
Result<bool> LooksLikeTar(const InputFile& file);

// Errors: invalid_input, unsupported (an archive without these members, big-endian files, storages
// of classes that are not read, a limit of torch_zip.h), io.
Result<std::unique_ptr<Checkpoint>> OpenTorchTar(InputFile file);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_TAR_H_
