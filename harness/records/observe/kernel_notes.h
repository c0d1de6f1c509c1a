// The file of notes of the library in the CUDA driver (kernels.cc): made before a run, read after
// it.
//
// Role: as arena_file.h, for kernel_arena.h. The notes are untrusted.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_KERNEL_NOTES_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_KERNEL_NOTES_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/held_folder.h"
#include "harness/base/result.h"
#include "harness/records/manifest/observation.h"

namespace rharness {

struct KernelNotes {
  std::optional<SeenKernels> kernels;  // empty: no process had a CUDA driver that was watched
  std::vector<std::string> unseen;     // what was missed, one sentence each
};

// Makes folder/kernels, with all space that it needs (2 MiB). Errors: io.
Status MakeKernelNotes(const std::filesystem::path& folder);

// Errors: an invalid file (invalid_input), io.
Result<KernelNotes> ReadKernelNotes(const HeldFolder& folder);

// Pure: from the bytes of the file. Names lose control characters; shapes that no launch can have
// are left out.
Result<KernelNotes> ParseKernelNotes(std::string_view bytes);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_KERNEL_NOTES_H_
