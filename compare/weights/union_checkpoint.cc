// Tensors of several checkpoints in one list.
#include "compare/weights/union_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/weights/names.h"

namespace rharness {
namespace {

// "step" of a part "step." that is one value without a name; "step.lr" of one that has names.
std::string NameIn(const std::string& prefix, const std::string& name) {
  if (prefix.empty() || !name.empty()) return prefix + name;
  return prefix.substr(0, prefix.size() - 1);
}

}  // namespace

Status UnionCheckpoint::Read(std::size_t index, std::uint64_t offset,
                             std::span<std::byte> out) const {
  const Source& source = sources_.at(index);
  return parts_[source.part].checkpoint->Read(source.index, offset, out);
}

Status UnionCheckpoint::CheckUnchanged() const {
  for (const CheckpointPart& part : parts_) RETURN_IF_ERROR(part.checkpoint->CheckUnchanged());
  for (const InputFile& file : keep_) RETURN_IF_ERROR(file.CheckUnchanged());
  return {};
}

Status UnionCheckpoint::CheckStored(std::size_t index) const {
  const Source& source = sources_.at(index);
  return parts_[source.part].checkpoint->CheckStored(source.index);
}

void UnionCheckpoint::AddTensors() {
  std::vector<std::pair<TensorInfo, Source>> rows;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const std::vector<TensorInfo>& tensors = parts_[part].checkpoint->tensors();
    for (std::size_t index = 0; index < tensors.size(); ++index) {
      rows.push_back({tensors[index], {part, index}});
      if (parts_[part].prefix.empty()) continue;
      rows.back().first.name = NameIn(parts_[part].prefix, tensors[index].name);
    }
  }
  std::ranges::stable_sort(rows, {},
                           [](const auto& row) -> const std::string& { return row.first.name; });
  tensors_.reserve(rows.size());
  for (auto& [info, source] : rows) {
    tensors_.push_back(std::move(info));
    sources_.push_back(source);
  }
}

// Shards repeat the metadata of the whole ("format": "pt").
void UnionCheckpoint::AddMetadata() {
  for (const CheckpointPart& part : parts_) {
    for (const auto& [key, value] : part.checkpoint->metadata()) {
      metadata_.emplace_back(NameIn(part.prefix, key), value);
    }
  }
  std::ranges::stable_sort(metadata_);
  metadata_.erase(std::unique(metadata_.begin(), metadata_.end()), metadata_.end());
}

void UnionCheckpoint::AddUnread() {
  for (const CheckpointPart& part : parts_) {
    for (UnreadPart unread : part.checkpoint->unread()) {
      unread.name = NameIn(part.prefix, unread.name);
      unread_.push_back(std::move(unread));
    }
  }
  std::ranges::stable_sort(unread_, {}, &UnreadPart::name);
}

Result<std::unique_ptr<UnionCheckpoint>> UnionCheckpoint::Make(
    std::vector<CheckpointPart> parts, std::vector<std::pair<std::string, std::string>> metadata,
    std::vector<InputFile> keep, std::vector<UnreadPart> unread, std::string_view where) {
  std::unique_ptr<UnionCheckpoint> whole(new UnionCheckpoint(std::move(parts)));
  whole->metadata_ = std::move(metadata);
  whole->keep_ = std::move(keep);
  whole->unread_ = std::move(unread);
  whole->AddTensors();
  const auto twin = std::ranges::adjacent_find(whole->tensors_, {}, &TensorInfo::name);
  if (twin != whole->tensors_.end()) {
    const auto index = static_cast<std::size_t>(twin - whole->tensors_.begin());
    return InvalidInput(
        fmt::format("tensor {} lies in {} and in {}; expected it in one file", Quoted(twin->name),
                    Quoted(whole->FileOf(index)), Quoted(whole->FileOf(index + 1))),
        std::string(where));
  }
  whole->AddMetadata();
  whole->AddUnread();
  return whole;
}

}  // namespace rharness
