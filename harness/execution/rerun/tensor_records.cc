// From the vocabulary of compare/weights to that of the manifest.
#include "harness/execution/rerun/tensor_records.h"

#include <algorithm>

#include "compare/weights/checkpoint.h"
#include "compare/weights/loaded_files.h"
#include "compare/weights/tensor_digest.h"
#include "harness/base/digest.h"
#include "harness/base/disk_meter.h"
#include "harness/base/json.h"
#include "harness/records/manifest/environment_secrets.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Refuses to read on when its time is over.
class TimedCheckpoint : public Checkpoint {
 public:
  TimedCheckpoint(std::unique_ptr<Checkpoint> whole, Seconds limit, std::string name)
      : whole_(std::move(whole)),
        limit_(limit),
        until_(SystemClock().Monotonic() +
               std::chrono::duration_cast<std::chrono::nanoseconds>(limit)),
        name_(std::move(name)) {}
  const std::vector<TensorInfo>& tensors() const override { return whole_->tensors(); }
  const std::vector<std::pair<std::string, std::string>>& metadata() const override {
    return whole_->metadata();
  }
  Status Read(std::size_t index, std::uint64_t offset, std::span<std::byte> out) const override {
    if (SystemClock().Monotonic() >= until_) {
      // No trouble of the machine, which would be tried again: the run made it so.
      return Unsupported("takes longer to read than " + FormatDuration(limit_), name_);
    }
    return whole_->Read(index, offset, out);
  }
  const std::vector<UnreadPart>& unread() const override { return whole_->unread(); }
  Status CheckUnchanged() const override { return whole_->CheckUnchanged(); }
  Status CheckStored(std::size_t index) const override { return whole_->CheckStored(index); }

 private:
  std::unique_ptr<Checkpoint> whole_;
  Seconds limit_;
  std::chrono::nanoseconds until_;
  std::string name_;
};

bool HoldsSecret(std::string_view name, const Json& value) {
  if (value.IsArray()) {
    return std::ranges::any_of(value.AsArray(),
                               [&](const Json& element) { return HoldsSecret(name, element); });
  }
  if (value.IsObject()) {
    return std::ranges::any_of(value.AsObject(), [](const Json::Member& member) {
      return HoldsSecret(member.first, member.second);
    });
  }
  const bool text = value.kind() == Json::Kind::kString;
  return IsSecret(name, text ? value.AsString() : value.Dump());
}

Status Fill(const Checkpoint& checkpoint, Artifact* artifact) {
  ASSIGN_OR_RETURN(CheckpointDigest digest, DigestCheckpoint(checkpoint));
  artifact->tensor_digest = std::move(digest.sha256);
  artifact->beside_digest = std::move(digest.beside);
  artifact->beside.clear();
  for (PartDigest& part : digest.beside_parts) {
    const auto json = part.text.empty() ? Result<Json>(Json()) : ParseJson(part.text, part.name);
    if (!json.ok() || HoldsSecret("", *json)) part.text.clear();
    artifact->beside.push_back(
        {std::move(part.name), std::move(part.sha256), std::move(part.text)});
  }
  artifact->tensors.clear();
  for (TensorDigest& tensor : digest.tensors) {
    artifact->tensors.push_back(
        TensorRecord{std::move(tensor.name), std::string(DTypeName(tensor.dtype)),
                     std::move(tensor.shape), std::move(tensor.sha256), tensor.non_finite});
  }
  return {};
}

// `hash` measures a file by its name in the folder of the artifact.
template <class Hash>
Status FillParts(const std::vector<std::string>& names, Hash hash, Artifact* artifact) {
  const std::vector<std::string> loaded = LoadedPartsOf(*artifact);
  artifact->parts.clear();
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(FileDigest digest, hash(name));
    artifact->parts.push_back({name, digest.size_bytes, std::move(digest.sha256)});
  }
  for (const std::string& name : loaded) {
    auto digest = hash(name);
    if (!digest.ok() && digest.error().code == ErrorCode::kNotFound) continue;
    if (!digest.ok()) return digest.error();
    artifact->parts.push_back({name, digest->size_bytes, std::move(digest->sha256), true});
  }
  return {};
}

}  // namespace

Status ReadTensorRecords(const std::filesystem::path& path, Artifact* artifact) {
  ASSIGN_OR_RETURN(auto alone, OpenCheckpoint(path));
  ASSIGN_OR_RETURN(const auto checkpoint,
                   WithLoadedFiles(std::move(alone), path, LoadedPartsOf(*artifact)));
  RETURN_IF_ERROR(Fill(*checkpoint, artifact));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, PartsOfCheckpoint(path));
  const auto hash = [&](const std::string& name) { return HashFile(path.parent_path() / name); };
  return FillParts(names, hash, artifact);
}

Status ReadTensorRecords(const HeldFolder& folder, Artifact* artifact, Seconds limit) {
  // A second handle, which the checkpoint keeps.
  ASSIGN_OR_RETURN(HeldFolder below, folder.OpenFolder(""));
  const auto held = std::make_shared<const HeldFolder>(std::move(below));
  const std::filesystem::path path = held->path() / artifact->path;
  ASSIGN_OR_RETURN(auto alone, OpenCheckpoint(path, held));
  ASSIGN_OR_RETURN(auto checkpoint,
                   WithLoadedFiles(std::move(alone), path, LoadedPartsOf(*artifact), held));
  if (limit == Seconds(0)) {
    const std::uint64_t stored_bytes = DiskMeter(folder.through()).MeasureNamed();
    limit = Seconds(600.0 + 1e-6 * static_cast<double>(stored_bytes));
  }
  RETURN_IF_ERROR(Fill(TimedCheckpoint(std::move(checkpoint), limit, path.string()), artifact));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, PartsOfCheckpoint(path, held));
  const fs::path home = fs::path(artifact->path).parent_path();
  const auto hash = [&](const std::string& name) { return held->HashFile(home / name); };
  return FillParts(names, hash, artifact);
}

}  // namespace rharness
