// PyTorch's .pt and .pth files: a zip archive with a pickle and one record per storage.
//
// Role: one reader of Checkpoint. Executes nothing; classes outside of its table (torch_globals.h)
// are refused by name. Source: torch/serialization.py and caffe2/serialize/inline_container.cc of
// PyTorch.
//
// Dicts, lists and tuples are flattened: {"model": {"fc.weight": T}, "optimizer": {"state": {0:
// {"exp_avg": U}}}} has the tensors "model.fc.weight" and "optimizer.state.0.exp_avg"; a plain
// state_dict has its own names, and a file that is one tensor calls it "tensor". Parameters are
// their tensors, numpy arrays are tensors. Other values become metadata under their names. Two
// names that are equal once joined are refused.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_ZIP_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_ZIP_H_

#include <memory>
#include <string_view>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"
#include "compare/weights/view_checkpoint.h"
#include "compare/weights/zip_archive.h"

namespace rharness {

// Limits of this reader.
inline constexpr std::size_t kMaxTorchDepth = 100;                    // of nested containers
inline constexpr std::size_t kMaxTorchValues = std::size_t{1} << 23;  // that are walked over
inline constexpr std::size_t kMaxTorchNameBytes = 4096;
inline constexpr std::size_t kMaxTorchMetadata = 100'000;                 // the rest is counted
inline constexpr std::size_t kMaxTorchTextBytes = std::size_t{64} << 10;  // a longer one is named
inline constexpr std::size_t kMaxTorchMetadataBytes = std::size_t{16} << 20;

// Whether an archive looks like one of torch.save: it has a data.pkl at its root, or in a folder at
// its root.
bool IsTorchZip(const ZipDirectory& directory);

// Reads the pickle of an archive in `file`; the tensors stay there. Errors: those of ParsePickle
// and ReadZipMember; invalid_input (the pickle and the records contradict each other), unsupported
// (big-endian files, a limit above). Archives of TorchScript are read as well (torch_script.h).
Result<ViewCheckpointParts> ReadTorchZip(const InputFile& file, const ZipDirectory& directory);

// One pickle of an archive, "ROOTdata.pkl" for the name "data", which is there, with its records
// "ROOTdata/KEY". Errors: as above.
Result<ViewCheckpointParts> ReadTorchTree(const InputFile& file, const ZipDirectory& directory,
                                          std::string_view root, std::string_view name);

// ReadTorchZip and MakeViewCheckpoint in one.
Result<std::unique_ptr<Checkpoint>> OpenTorchZip(InputFile file, const ZipDirectory& directory);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_ZIP_H_
