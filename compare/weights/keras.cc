// Datasets of HDF5 as the variables of a model; see keras.h.
#include "compare/weights/keras.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
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
// Of its writer: they say nothing of the model.
constexpr std::array<std::string_view, 2> kKerasWriter = {"backend", "keras_version"};

enum class AttributeUse { kModel, kWriter, kElsewhere };

// What Keras says in an attribute; `object` is the path of what has it.
AttributeUse UseOf(std::string_view object, std::string_view name) {
  const bool of_file = object.empty() || object == "model_weights";
  if (of_file && std::ranges::find(kKerasWriter, name) != kKerasWriter.end()) {
    return AttributeUse::kWriter;
  }
  // The names of tensors say the same.
  const bool names = name.starts_with("layer_names") || name.starts_with("weight_names") ||
                     (name == "name" && (object == "vars" || object.ends_with("/vars")));
  return names ? AttributeUse::kElsewhere : AttributeUse::kModel;
}

bool IsKerasConfig(const Hdf5Contents& contents, std::string_view object, std::string_view name) {
  if (!object.empty() || std::ranges::find(kKerasConfigs, name) == kKerasConfigs.end()) {
    return false;
  }
  const auto root = contents.groups.find("");
  if (root == contents.groups.end()) return false;
  const auto texts = root->second.find(name);
  return texts != root->second.end() && texts->second.size() == 1;
}

// The other attributes, by object and name. A file that is not Keras's has this part even without
// attributes: it is no file of a format that cannot have them.
void AddAttributes(const Hdf5Contents& contents, bool is_keras, ViewCheckpointParts* parts) {
  std::array<Json, 2> of_use = {Json::MakeObject(), Json::MakeObject()};
  for (const auto& [object, attributes] : contents.attributes) {
    std::array<Json, 2> here = {Json::MakeObject(), Json::MakeObject()};
    for (const auto& [name, value] : attributes) {
      if (IsKerasConfig(contents, object, name)) continue;
      const AttributeUse use = is_keras ? UseOf(object, name) : AttributeUse::kModel;
      if (use != AttributeUse::kElsewhere) {
        here[static_cast<std::size_t>(use)].AppendMember(name, value);
      }
    }
    for (const std::size_t use : {0, 1}) {
      if (!here[use].AsObject().empty()) {
        of_use[use].AppendMember(object, std::move(here[use]));
      }
    }
  }
  if (!is_keras || !of_use[0].AsObject().empty()) {
    parts->unread.push_back({.name = "attributes",
                             .why = "they are loaded with the tensors",
                             .content = of_use[0].Dump(),
                             .kind = PartKind::kModel});
  }
  if (!of_use[1].AsObject().empty()) {
    parts->unread.push_back({.name = "attributes of the writer",
                             .why = "they say which Keras saved it",
                             .content = of_use[1].Dump(),
                             .kind = PartKind::kAside});
  }
}

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
    if (!IsKerasConfig(contents, "", attribute)) continue;
    parts->unread.push_back({.name = std::string(attribute),
                             .why = "is loaded with the weights",
                             .content = contents.groups[""].find(attribute)->second.front(),
                             .kind = PartKind::kModel});
  }
  AddAttributes(contents, !names.empty(), parts);
  std::ranges::move(contents.unread, std::back_inserter(parts->unread));
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
  for (UnreadPart& part : unread) {
    if (part.file != nullptr || !part.content.empty()) continue;
    part.file = std::make_shared<const InputFile>(file);
    part.begin = views.begin;
    part.size_bytes = views.size_bytes.value_or(file.size_bytes());
  }
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
