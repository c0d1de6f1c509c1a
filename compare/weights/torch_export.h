// Programs of torch.export (.pt2): archives of weights, constants and a graph.
//
// Role: one reader of Checkpoint. Executes nothing. Three layouts are read: since PyTorch 2.9 a
// file a tensor and a list of them; in 2.8 a .pt file of all weights in the same folders; before,
// the files serialized_exported_program.json, serialized_state_dict and serialized_constants.
//
//   in the archive             becomes
//   weights                    tensors, under the names of the state_dict
//   constants                  tensors, as "(constants).NAME"
//   the graph, and all others  unread parts that are loaded with the tensors (PartKind::kModel); of
//                              the JSON of a graph what computes: not the places in the sources
//                              ("metadata" of nodes) and not PyTorch's version
//   sample inputs              unread parts that decide nothing
// Source: torch/export/pt2_archive/_package.py, torch/_export/serde/serialize.py, schema.py.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_EXPORT_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_EXPORT_H_

#include <memory>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"
#include "compare/weights/zip_archive.h"

namespace rharness {

// Whether an archive has the marks of one of the layouts.
bool IsTorchExport(const ZipDirectory& directory);

// Errors: those of ReadTorchZip and ReadZipMember; invalid_input (a list of tensors that
// contradicts the archive), unsupported (symbolic sizes, big-endian files).
Result<std::unique_ptr<Checkpoint>> OpenTorchExport(InputFile file, const ZipDirectory& directory);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_EXPORT_H_
