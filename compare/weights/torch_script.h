// TorchScript: an archive of PyTorch with code beside its tensors (torch.jit.save).
//
// Role: private to this folder; a part of torch_zip. Executes nothing.
//
//   in the archive        becomes
//   data.pkl              tensors, under the names of the module's state_dict (torch_tree.h)
//   constants.pkl         tensors, as "(constants).N"
//   code/*.py and others  unread parts that are loaded with the tensors (PartKind::kModel)
//   attributes            the part "(attributes)": what the code reads beside the tensors; the
//                         training flag and hooks are none
//   *.debug_pkl, traced   unread parts that decide nothing: lines of the sources, inputs
// PyTorch numbers classes in the order in which a process compiled them ("___torch_mangle_0"): code
// of one model that was compiled after different others differs in these numbers. Source:
// torch/csrc/jit/serialization/export_module.cpp.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_SCRIPT_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_SCRIPT_H_

#include <string_view>

#include "compare/weights/view_checkpoint.h"
#include "compare/weights/zip_archive.h"

namespace rharness {

// Whether the archive at `root` ("x/") has code or constants of TorchScript.
bool IsTorchScript(const ZipDirectory& directory, std::string_view root);

// Adds constants and code to the tensors of data.pkl. Errors: those of ReadTorchTree and
// ReadZipMember.
Status AddTorchScript(const InputFile& file, const ZipDirectory& directory, std::string_view root,
                      ViewCheckpointParts* parts);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_SCRIPT_H_
