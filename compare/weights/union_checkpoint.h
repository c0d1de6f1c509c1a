// Several checkpoints as one: their tensors side by side.
//
// Role: private to this folder; the result of sharded checkpoints, folders and distributed
// checkpoints.
#ifndef RHARNESS_COMPARE_WEIGHTS_UNION_CHECKPOINT_H_
#define RHARNESS_COMPARE_WEIGHTS_UNION_CHECKPOINT_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

struct CheckpointPart {
  std::string name;  // of the file, without its folder
  std::string
      prefix;  // of everything in it: "adapter.pt/"; what has no name is called PREFIX alone
  std::unique_ptr<Checkpoint> checkpoint;
};

class UnionCheckpoint : public Checkpoint {
 public:
  // `metadata` and `unread` join those of the parts; equal ones count once. `keep` are further
  // files that must not change; `where` names the whole in errors. Errors: invalid_input when a
  // tensor's name occurs twice, naming both parts.
  static Result<std::unique_ptr<UnionCheckpoint>> Make(
      std::vector<CheckpointPart> parts, std::vector<std::pair<std::string, std::string>> metadata,
      std::vector<InputFile> keep, std::vector<UnreadPart> unread, std::string_view where);

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const override {
    return metadata_;
  }
  const std::vector<UnreadPart>& unread() const override { return unread_; }
  Status Read(std::size_t index, std::uint64_t offset, std::span<std::byte> out) const override;
  Status CheckUnchanged() const override;
  Status CheckStored(std::size_t index) const override;

  // Of a tensor: the name of its part.
  const std::string& FileOf(std::size_t index) const { return parts_[sources_[index].part].name; }

 private:
  // Where a tensor of the whole lies.
  struct Source {
    std::size_t part = 0;
    std::size_t index = 0;
  };

  explicit UnionCheckpoint(std::vector<CheckpointPart> parts) : parts_(std::move(parts)) {}
  void AddTensors();
  void AddMetadata();
  void AddUnread();

  std::vector<CheckpointPart> parts_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<InputFile> keep_;
  std::vector<UnreadPart> unread_;
  std::vector<Source> sources_;  // of each tensor
  std::vector<TensorInfo> tensors_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_UNION_CHECKPOINT_H_
