// Datasets of HDF5 as the variables of a model; see keras.h.
#include "compare/weights/keras.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "compare/weights/hdf5.h"
#include "compare/weights/keras_names.h"
#include "compare/weights/union_checkpoint.h"
#include "compare/weights/view_checkpoint.h"

namespace rharness {
namespace {

constexpr std::string_view kKerasWeights = "model.weights.h5";
constexpr std::uint64_t kMostConfigBytes = std::uint64_t{64} << 20;
constexpr std::array<std::string_view, 2> kKerasConfigs = {"model_config", "training_config"};

// The variables of a file, under their names; what its root says of the model.
std::vector<ChunkedTensor> TakeHdf5(Hdf5Contents contents, const std::string& config,
                                    ViewCheckpointParts* parts) {
  std::vector<std::string> paths;
  for (const ChunkedTensor& tensor : contents.chunked) paths.push_back(tensor.info.name);
  for (const View& view : contents.views) paths.push_back(view.name);
  const KerasNames names = NamesOfKeras(contents.groups, paths, config);
  for (View& view : contents.views) {
    if (const auto name = names.find(view.name); name != names.end()) view.name = name->second;
  }
  for (ChunkedTensor& tensor : contents.chunked) {
    const auto name = names.find(tensor.info.name);
    if (name != names.end()) tensor.info.name = name->second;
  }
  parts->views = std::move(contents.views);
  for (const std::string_view attribute : kKerasConfigs) {
    const Hdf5Texts& root = contents.groups[""];
    const auto config = root.find(attribute);
    if (config == root.end() || config->second.size() != 1) continue;
    parts->unread.push_back({.name = std::string(attribute),
                             .why = "is loaded with the weights",
                             .content = config->second.front(),
                             .kind = PartKind::kModel});
  }
  return std::move(contents.chunked);
}

// Values in one piece and values in chunks have a checkpoint each.
Result<std::unique_ptr<Checkpoint>> Join(InputFile file, ViewCheckpointParts views,
                                         std::vector<ChunkedTensor> chunked) {
  if (chunked.empty()) return MakeViewCheckpoint(std::move(file), std::move(views));
  ChunkedParts chunks;
  chunks.files.push_back(std::make_unique<const InputFile>(file));
  for (ChunkedTensor& tensor : chunked) {
    for (auto& chunk : tensor.chunks) {
      if (chunk) chunk->file = chunks.files.front().get();
    }
  }
  chunks.tensors = std::move(chunked);
  const std::string name = file.name();
  std::vector<CheckpointPart> parts;
  ASSIGN_OR_RETURN(auto made, MakeChunkedCheckpoint(std::move(chunks)));
  parts.push_back({"its chunks", "", std::move(made)});
  std::vector<UnreadPart> unread = std::move(views.unread);
  views.unread.clear();
  if (!views.views.empty()) {
    ASSIGN_OR_RETURN(made, MakeViewCheckpoint(std::move(file), std::move(views)));
    parts.push_back({"its arrays", "", std::move(made)});
  }
  ASSIGN_OR_RETURN(auto whole,
                   UnionCheckpoint::Make(std::move(parts), {}, {}, std::move(unread), name));
  return std::unique_ptr<Checkpoint>(std::move(whole));
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> OpenHdf5(InputFile file) {
  ViewCheckpointParts parts{.where = file.name()};
  ASSIGN_OR_RETURN(Hdf5Contents contents, ReadHdf5(file, 0, file.size_bytes(), file.name()));
  auto chunked = TakeHdf5(std::move(contents), "", &parts);
  parts.sources.push_back({.begin = 0, .size_bytes = file.size_bytes()});
  return Join(std::move(file), std::move(parts), std::move(chunked));
}

bool IsKeras(const ZipDirectory& directory) { return directory.Find(kKerasWeights) != nullptr; }

Result<std::unique_ptr<Checkpoint>> OpenKeras(InputFile file, const ZipDirectory& directory) {
  const ZipMember& weights = *directory.Find(kKerasWeights);
  ViewCheckpointParts parts{.where = fmt::format("{}: {}", file.name(), ZipMemberText(weights))};
  if (weights.deflated) {
    return Unsupported(fmt::format("{} is deflated; expected it stored, as Keras writes it",
                                   ZipMemberText(weights)),
                       file.name());
  }
  ASSIGN_OR_RETURN(Hdf5Contents contents,
                   ReadHdf5(file, weights.data_offset, weights.size_bytes, parts.where));
  parts.sources.push_back(SourceOf(weights));
  std::string config;
  for (const ZipMember& member : directory.members) {
    if (member.name == kKerasWeights || member.name.ends_with('/')) continue;
    const bool aside = member.name == "metadata.json";
    ASSIGN_OR_RETURN(std::string content, ReadZipMember(file, member, kMostConfigBytes));
    if (member.name == "config.json") config = content;
    parts.unread.push_back({.name = member.name,
                            .why = aside ? "says when the model was saved, and by which Keras"
                                         : "is loaded with the weights",
                            .content = std::move(content),
                            .kind = aside ? PartKind::kAside : PartKind::kModel});
  }
  auto chunked = TakeHdf5(std::move(contents), config, &parts);
  return Join(std::move(file), std::move(parts), std::move(chunked));
}

}  // namespace rharness
