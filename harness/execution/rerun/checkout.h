// The files of a commit, and nothing of its repository.
//
// Role: gives a rerun its code. An untrusted manifest names repository and commit, and the commit's
// content is untrusted: no part of it, of the repository's configuration or of the user's runs or
// filters anything, and the run shares no file with the repository.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_CHECKOUT_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_CHECKOUT_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/held_folder.h"
#include "harness/base/result.h"
#include "harness/execution/rerun/places.h"

namespace rharness {

// A regular file or a symbolic link of a commit.
struct TreeFile {
  std::string path;  // relative to the checkout
  bool link = false;
  std::string name;  // of git, for the file's content or the link's target
};

struct Checkout {
  std::vector<TreeFile> files;                 // those of submodules too
  std::vector<std::string> absent_submodules;  // missing from the repository: empty folders
};

// The operator's limits on a checkout.
struct CheckoutLimits {
  // Limit on all written data, each file, link and folder taking whole blocks of 4 KiB; 0: none.
  std::uint64_t disk_bytes = 0;
  std::uint64_t listing_bytes = std::uint64_t{256} << 20;  // of git's list of the commit's files
  std::function<bool()> should_cancel;  // polled about ten times a second; may be empty
};

// Writes the commit's files into `folder`, which exists and is empty: their bytes as they are in
// the commit (attributes of the commit, the repository or the machine change nothing: no filters,
// line ends, export rules), no .git, no inode shared. Includes submodules that the repository's
// work tree has. Every file, link and folder is then hashed and compared with the names in the
// commit, and the commit with its own. Writes nothing beyond the limits. Errors: not_found (no
// repository, no such commit), invalid_input (the commit's name is cut short, its files take more
// than the limit, its objects lie outside of the declared places), unsupported (more files than can
// be listed), integrity (an object does not match its name, or the tree cannot be written);
// process, timeout, io: git or the disk failed or git was cancelled, which says nothing about the
// commit.
Result<Checkout> CheckOutCommit(const std::filesystem::path& repository, const std::string& commit,
                                const std::filesystem::path& folder, const Places& places,
                                const CheckoutLimits& limits = {});

// The current content of a checked-out file, by git's name. Errors: those of HeldFolder.
Result<std::string> NameOf(const TreeFile& file, const HeldFolder& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_CHECKOUT_H_
