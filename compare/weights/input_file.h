// A regular file, possibly of another owner, opened for reading at offsets.
//
// Role: the only system calls of this folder. Not here: any knowledge of a format.
#ifndef RHARNESS_COMPARE_WEIGHTS_INPUT_FILE_H_
#define RHARNESS_COMPARE_WEIGHTS_INPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "compare/weights/descriptor_pool.h"
#include "harness/base/held_folder.h"
#include "harness/base/result.h"

namespace rharness {

class InputFile {
 public:
  // Follows symbolic links, but none with `below`, which contains `path` (integrity); never blocks
  // on a pipe. With a pool the descriptor may be closed between reads and opened again. Errors:
  // not_found, io, invalid_input (no regular file), unsupported (a folder).
  static Result<InputFile> Open(const std::filesystem::path& path,
                                std::shared_ptr<DescriptorPool> pool = nullptr,
                                std::shared_ptr<const HeldFolder> below = nullptr);

  // The size when the file was opened.
  std::uint64_t size_bytes() const { return identity_.size_bytes; }
  const std::string& name() const { return name_; }
  // As given to Open.
  const std::shared_ptr<const HeldFolder>& below() const { return below_; }
  // Fills `out` from `offset`. Safe from several threads. Errors: io; integrity when the file ends
  // before, with the byte offset, and when another file has replaced it.
  Status ReadAt(std::uint64_t offset, std::span<std::byte> out) const;
  // integrity when size or modification time differ from those at opening. A change within the file
  // system's time resolution (4 ms on many kernels) that keeps the size is not seen.
  Status CheckUnchanged() const;

 private:
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size_bytes = 0;
    std::int64_t modified_seconds = 0;
    std::int64_t modified_nanoseconds = 0;
    bool operator==(const Identity&) const = default;
  };
  struct Opened {
    std::shared_ptr<const Descriptor> descriptor;
    Identity identity;
  };

  explicit InputFile(std::string name) : name_(std::move(name)) {}
  Result<Opened> OpenNow() const;
  Result<Identity> IdentityOf(const Descriptor& descriptor) const;
  Result<std::shared_ptr<const Descriptor>> Acquire() const;

  std::string name_;
  std::shared_ptr<const HeldFolder> below_;
  Identity identity_;
  std::shared_ptr<const Descriptor> held_;  // without a pool
  std::shared_ptr<DescriptorPool> pool_;
  std::uint64_t key_ = 0;  // in the pool
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_INPUT_FILE_H_
