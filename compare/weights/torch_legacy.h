// PyTorch files from before 1.6, or saved with _use_new_zipfile_serialization=False: pickles one
// after another, then the bytes of the storages.
//
// Role: one reader of Checkpoint; executes nothing. Names and values are those of torch_zip.h.
// Source: _legacy_save in torch/serialization.py and _write_file in torch/csrc/StorageMethods.cpp
// of PyTorch.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_LEGACY_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_LEGACY_H_

#include <memory>
#include <string_view>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

// The pickle of the magic number 0x1950a86a20f9469cfc6c without its end: a file's first bytes.
inline constexpr std::string_view kTorchLegacyMagic =
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

// Errors: invalid_input, unsupported (big-endian files, storages of classes that are not read, a
// limit of torch_zip.h), io.
Result<std::unique_ptr<Checkpoint>> OpenTorchLegacy(InputFile file);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_LEGACY_H_
