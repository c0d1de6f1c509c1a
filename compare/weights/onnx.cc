// From the tensors of a model to places in its file and in the files of external data.
#include "compare/weights/onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "compare/weights/names.h"
#include "compare/weights/onnx_graph.h"
#include "compare/weights/placed_checkpoint.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Result<OnnxModel> ReadWholeModel(const InputFile& file) {
  if (file.size_bytes() > kMaxOnnxBytes) {
    return Unsupported(fmt::format("an ONNX model of {} bytes; expected at most {}, the limit of "
                                   "Protocol Buffers",
                                   file.size_bytes(), kMaxOnnxBytes),
                       file.name());
  }
  ASSIGN_OR_RETURN(OnnxModel model, ReadOnnxModel(file));
  if (!model.tensors.empty() || !model.graph.empty()) return model;
  return InvalidInput("an ONNX model without a graph", file.name());
}

bool LiesBelow(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

// Hugging Face's cache: MODEL/snapshots/REVISION/FILE is a link to MODEL/blobs/HASH.
bool IsBlobOf(const fs::path& folder, const fs::path& file) {
  const fs::path blobs = file.parent_path();
  return blobs.filename() == "blobs" && LiesBelow(folder, blobs.parent_path() / "snapshots");
}

// Where external data of a model lie: beside it, or beside the file that it is a link to. The path
// is the model's word, so that no link leads out of the folder but to a blob of the same cache.
Result<fs::path> DataPath(const fs::path& model, const std::string& location) {
  std::error_code error;
  const fs::path target = fs::canonical(model, error);
  const fs::path beside = model.parent_path() / location;
  for (const fs::path& path : {beside, target.parent_path() / location}) {
    const fs::path folder = fs::canonical(
        path == beside ? fs::absolute(model, error).parent_path() : target.parent_path(), error);
    const fs::path file = fs::canonical(path, error);
    if (error) continue;  // not here: InputFile says why
    if (LiesBelow(file, folder) || IsBlobOf(folder, file)) return path;
    return IntegrityError(fmt::format("leads out of its folder, to {}", file.string()),
                          path.string());
  }
  return beside;
}

class OnnxBuilder {
 public:
  explicit OnnxBuilder(const InputFile& file) : name_(file.name()), below_(file.below()) {
    parts_.files.push_back(file);
  }

  Result<std::unique_ptr<Checkpoint>> Build(OnnxModel model) {
    for (OnnxTensor& tensor : model.tensors) RETURN_IF_ERROR(Add(std::move(tensor)));
    Json graph = Json::MakeObject();
    for (auto& [key, text] : model.graph) graph.AppendMember(key, std::move(text));
    parts_.unread.push_back({.name = "graph.json",
                             .why = "the nodes of an ONNX model are loaded with its tensors",
                             .file = {},
                             .content = graph.Dump(),
                             .kind = PartKind::kModel});
    parts_.metadata = std::move(model.metadata);
    return MakePlacedCheckpoint(std::move(parts_));
  }

 private:
  Status Add(OnnxTensor tensor) {
    PlacedTensor placed{.name = std::move(tensor.name),
                        .dtype = tensor.dtype.value_or(DType::kU8),
                        .shape = tensor.shape,
                        .runs = {},
                        .content = std::move(tensor.content),
                        .crc32c = {},
                        .stated_at = fmt::format("{}: byte {}", name_, tensor.at)};
    for (const FileSpan& span : tensor.spans) {
      placed.runs.push_back({0, span.begin, span.size()});
    }
    if (tensor.elsewhere) {
      ASSIGN_OR_RETURN(const PlacedRun run, RunOf(*tensor.elsewhere, placed));
      placed.runs = {run};
    }
    if (tensor.dtype) {
      parts_.tensors.push_back(std::move(placed));
      return {};
    }
    return AddUnread(std::move(placed), OnnxTypeText(tensor));
  }

  // Numbers of 2 or 4 bits, and texts.
  Status AddUnread(PlacedTensor tensor, const std::string& type) {
    UnreadPart part{.name = std::move(tensor.name),
                    .why = fmt::format("has the type {}, which is compared by its bytes", type),
                    .file = {},
                    .content = std::move(tensor.content)};
    if (tensor.runs.empty()) {
      part.content = type + "\n" + part.content;
    } else {
      const PlacedRun& run = tensor.runs.front();
      const InputFile& file = parts_.files[run.file];
      if (run.begin > file.size_bytes() || run.size_bytes > file.size_bytes() - run.begin) {
        return InvalidInput(fmt::format("tensor {}: ends beyond the end of {}", Quoted(part.name),
                                        Quoted(file.name())),
                            tensor.stated_at);
      }
      part.file = std::make_shared<const InputFile>(file);
      part.begin = run.begin;
      part.size_bytes = run.size_bytes;
    }
    parts_.unread.push_back(std::move(part));
    return {};
  }

  Result<PlacedRun> RunOf(const OnnxExternalData& data, const PlacedTensor& tensor) {
    const auto known = opened_.find(data.location);
    std::size_t file = parts_.files.size();
    if (known != opened_.end()) {
      file = known->second;
    } else {
      RETURN_IF_ERROR(OpenData(data.location, tensor));
      opened_.emplace(data.location, file);
    }
    const std::uint64_t bytes = parts_.files[file].size_bytes();
    const std::uint64_t begin = std::min(data.offset, bytes);
    return PlacedRun{file, data.offset, data.length.value_or(bytes - begin)};
  }

  Status OpenData(const std::string& location, const PlacedTensor& tensor) {
    fs::path path = fs::path(name_).parent_path() / location;
    if (below_ == nullptr) {
      ASSIGN_OR_RETURN(path, DataPath(name_, location));
    }
    auto data = InputFile::Open(path, pool_, below_);
    if (!data.ok() && data.error().code == ErrorCode::kNotFound) {
      return NotFound(fmt::format("tensor {}: the file {} of its data is missing",
                                  Quoted(tensor.name), Quoted(location)),
                      tensor.stated_at);
    }
    if (!data.ok()) return data.error();
    parts_.files.push_back(std::move(*data));
    return {};
  }

  const std::string name_;
  const std::shared_ptr<const HeldFolder> below_;
  std::shared_ptr<DescriptorPool> pool_ = std::make_shared<DescriptorPool>();
  PlacedParts parts_;
  std::map<std::string, std::size_t> opened_;  // files of external data
};

}  // namespace

bool LooksLikeOnnx(std::string_view head) {
  // ir_version = 1; then a name, a graph or the like.
  constexpr std::string_view kTags = "\x12\x1a\x22\x28\x32\x3a\x42";
  return head.size() > 2 && head[0] == 8 && head[1] > 1 && head[1] < 64 &&
         kTags.find(head[2]) != kTags.npos;
}

Result<std::vector<std::string>> OnnxDataFiles(const InputFile& file) {
  ASSIGN_OR_RETURN(const OnnxModel model, ReadWholeModel(file));
  std::set<std::string> files;
  for (const OnnxTensor& tensor : model.tensors) {
    if (tensor.elsewhere) files.insert(tensor.elsewhere->location);
  }
  return std::vector<std::string>(files.begin(), files.end());
}

Result<std::unique_ptr<Checkpoint>> OpenOnnx(InputFile file) {
  ASSIGN_OR_RETURN(OnnxModel model, ReadWholeModel(file));
  return OnnxBuilder(file).Build(std::move(model));
}

}  // namespace rharness
