// Walks a model, hashes its files whole or by shards, and compares with the signed state.
#include "harness/trust/attestation/model_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "compare/weights/checkpoint.h"
#include "compare/weights/tensor_digest.h"
#include "harness/base/descriptor.h"
#include "harness/base/digest.h"
#include "harness/base/digest_files.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 1'000'000;
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

// What of an entry is signed: a file; nothing, and its content is looked at; or neither.
enum class EntryKind { kFile, kFolder, kSkipped };

Result<EntryKind> KindOf(const fs::directory_entry& entry, bool allow_symlinks) {
  std::error_code error;
  const std::string where = TerminalSafe(entry.path().string());
  const bool is_link = entry.is_symlink(error);
  if (is_link && !allow_symlinks) {
    return InvalidInput("is a symbolic link; expected a model of files and folders alone", where);
  }
  const fs::file_status status = entry.status(error);
  if (fs::is_regular_file(status)) return EntryKind::kFile;
  // Folders behind links are not entered, as model-signing has it.
  if (fs::is_directory(status)) return is_link ? EntryKind::kSkipped : EntryKind::kFolder;
  return InvalidInput("is neither a file nor a folder", where);
}

// As model-signing has it, also of the model itself.
Status RefuseLink(const fs::path& model, const ModelSerialization& serialization) {
  const fs::path plain = model.has_filename() ? model : model.parent_path();
  std::error_code error;
  if (serialization.allow_symlinks || !fs::is_symlink(plain, error)) return {};
  const fs::path target = fs::canonical(plain, error);
  return InvalidInput(
      error ? std::string("is a symbolic link; expected the model itself")
            : fmt::format("is a symbolic link; expected the model itself, which is {}",
                          TerminalSafe(target.string())),
      TerminalSafe(plain.string()));
}

Result<std::vector<std::string>> ListModel(const fs::path& model,
                                           const ModelSerialization& serialization) {
  RETURN_IF_ERROR(RefuseLink(model, serialization));
  std::error_code error;
  if (!fs::is_directory(model, error)) return std::vector<std::string>{"."};
  std::vector<std::string> names;
  fs::recursive_directory_iterator entry(model, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().lexically_relative(model).generic_string();
    if (IsIgnored(serialization, name)) {
      entry.disable_recursion_pending();
      continue;
    }
    ASSIGN_OR_RETURN(const EntryKind kind, KindOf(*entry, serialization.allow_symlinks));
    if (kind != EntryKind::kFile) continue;
    RETURN_IF_ERROR(SafeRelativePath(name, TerminalSafe(entry->path().string())));
    names.push_back(name);
    if (names.size() > kMostFiles) {
      return InvalidInput(fmt::format("has more than {} files", kMostFiles), model.string());
    }
  }
  if (error) return IoError("cannot be listed: " + error.message(), model.string());
  if (names.empty()) return InvalidInput("has no file to sign", model.string());
  return names;
}

fs::path PathOf(const fs::path& model, const std::string& name) {
  return name == "." ? model : model / name;
}

Result<std::vector<ModelResource>> HashWhole(const fs::path& model,
                                             const std::vector<std::string>& names,
                                             bool allow_symlinks) {
  std::vector<fs::path> paths;
  paths.reserve(names.size());
  for (const std::string& name : names) paths.push_back(PathOf(model, name));
  const auto digests =
      HashFileContents(paths, 0, allow_symlinks ? LinkPolicy::kFollow : LinkPolicy::kRefuse);
  std::vector<ModelResource> resources;
  resources.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!digests[i].ok()) return digests[i].error();
    resources.push_back({.path = names[i], .sha256 = ToHex(digests[i]->sha256)});
  }
  return resources;
}

Result<std::string> HashRange(const OpenedFile& file, std::uint64_t begin, std::uint64_t end,
                              const fs::path& path) {
  std::vector<std::byte> block(std::min<std::uint64_t>(kBlockBytes, end - begin));
  Sha256 hash;
  while (begin < end) {
    const std::size_t wanted = std::min<std::uint64_t>(block.size(), end - begin);
    const ssize_t got =
        ::pread(file.descriptor.get(), block.data(), wanted, static_cast<off_t>(begin));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return IoErrorFromErrno("cannot be read", errno, path.string());
    if (got == 0) return IntegrityError("became shorter while it was read", path.string());
    hash.Update(std::span(block).first(static_cast<std::size_t>(got)));
    begin += static_cast<std::uint64_t>(got);
  }
  return ToHex(hash.Finish());
}

Status AddShards(const fs::path& path, const std::string& name,
                 const ModelSerialization& serialization, std::vector<ModelResource>* resources) {
  ASSIGN_OR_RETURN(const OpenedFile file, OpenRegularFile(path, serialization.allow_symlinks));
  const std::uint64_t shard = serialization.shard_bytes;
  for (std::uint64_t begin = 0; begin < file.size_bytes;) {
    const std::uint64_t end = begin + std::min(shard, file.size_bytes - begin);
    ASSIGN_OR_RETURN(std::string sha256, HashRange(file, begin, end, path));
    resources->push_back({name, begin, end, std::move(sha256)});
    begin = end;
  }
  return {};
}

using Digests = std::map<std::string, std::string>;

Digests DigestsOf(const std::vector<ModelResource>& resources) {
  Digests digests;
  for (const ModelResource& one : resources) digests.emplace(ResourceName(one), one.sha256);
  return digests;
}

std::size_t CountFiles(const std::vector<ModelResource>& resources) {
  std::set<std::string_view> names;
  for (const ModelResource& one : resources) names.insert(one.path);
  return names.size();
}

Status CompareResources(const SignedModel& model, const std::vector<ModelResource>& found,
                        const fs::path& path) {
  const Digests there = DigestsOf(found);
  Digests wanted = DigestsOf(model.resources);
  for (const ModelResource& one : model.resources) {
    const std::string name = ResourceName(one);
    const std::string where = PathOf(path, Shown(name)).string();
    const auto same = there.find(name);
    if (same == there.end()) {
      return IntegrityError(fmt::format("is not there; with sha256 {} it was signed", one.sha256),
                            where);
    }
    if (same->second != one.sha256) {
      return IntegrityError(fmt::format("has sha256 {}; {} was signed", same->second, one.sha256),
                            where);
    }
  }
  for (const auto& [name, digest] : there) {
    if (wanted.contains(name)) continue;
    return IntegrityError("is none of the signed files of the model",
                          PathOf(path, Shown(name)).string());
  }
  return {};
}

// What cannot be looked at as a model is not the one that was signed.
Error NotTheSigned(const Error& error) {
  if (error.code != ErrorCode::kInvalidInput) return error;
  return IntegrityError(error.message, error.where);
}

Result<std::size_t> HoldOneOf(const SignedModel& model, const fs::path& file) {
  if (model.serialization.shard_bytes != 0) {
    return InvalidInput(
        fmt::format("is one file; model '{}' was signed by shards: expected its folder",
                    Shown(model.name)),
        file.string());
  }
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(file));
  if (std::ranges::find(model.resources, digest.sha256, &ModelResource::sha256) !=
      model.resources.end()) {
    return std::size_t{1};
  }
  return IntegrityError(
      fmt::format("has sha256 {}, which is none of the {} signed files of model '{}'",
                  digest.sha256, model.resources.size(), Shown(model.name)),
      file.string());
}

}  // namespace

Result<std::vector<ModelResource>> HashModel(const fs::path& model,
                                             const ModelSerialization& serialization) {
  ASSIGN_OR_RETURN(const auto names, ListModel(model, serialization));
  std::vector<ModelResource> resources;
  if (serialization.shard_bytes == 0) {
    ASSIGN_OR_RETURN(resources, HashWhole(model, names, serialization.allow_symlinks));
  }
  for (const std::string& name : names) {
    if (serialization.shard_bytes == 0) break;
    RETURN_IF_ERROR(AddShards(PathOf(model, name), name, serialization, &resources));
  }
  std::ranges::sort(resources, ModelOrder);
  return resources;
}

Result<ModelStamp> StampModel(const fs::path& model, const ModelSerialization& serialization) {
  ASSIGN_OR_RETURN(const auto names, ListModel(model, serialization));
  ModelStamp stamp;
  for (const std::string& name : names) {
    const fs::path path = PathOf(model, name);
    std::error_code error;
    const auto size = fs::file_size(path, error);
    const auto written = error ? fs::file_time_type() : fs::last_write_time(path, error);
    if (error == std::errc::no_such_file_or_directory) {
      return NotFound("is not there", path.string());
    }
    if (error) return IoError("cannot be looked at: " + error.message(), path.string());
    stamp.push_back({name, size, written});
  }
  std::ranges::sort(stamp, {}, &FileStamp::name);
  return stamp;
}

Result<SignedTensors> DigestTensors(const fs::path& path) {
  ASSIGN_OR_RETURN(const auto checkpoint, OpenCheckpoint(path));
  ASSIGN_OR_RETURN(const CheckpointDigest digest, DigestCheckpoint(*checkpoint));
  if (digest.tensors.empty()) {
    return InvalidInput("has no tensors; expected a checkpoint", path.string());
  }
  return SignedTensors{digest.sha256, digest.tensors.size(), digest.size_bytes};
}

Result<std::size_t> HoldModel(const SignedModel& model, const fs::path& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  const bool of_one_file = model.resources[0].path == ".";
  if (of_one_file && is_folder) {
    return IntegrityError(
        fmt::format("is a folder; model '{}' was signed as one file", Shown(model.name)),
        path.string());
  }
  if (!of_one_file && !is_folder) return HoldOneOf(model, path);
  const auto found = HashModel(path, model.serialization);
  if (!found.ok()) return NotTheSigned(found.error());
  RETURN_IF_ERROR(CompareResources(model, *found, path));
  return CountFiles(model.resources);
}

Status HoldTensors(const SignedModel& model, const fs::path& path) {
  if (!model.tensors) {
    return IntegrityError(fmt::format("the signature of model '{}' says nothing of its tensors; "
                                      "`rharness sign --model` signs their digest",
                                      Shown(model.name)),
                          path.string());
  }
  const auto found = DigestTensors(path);
  if (!found.ok()) return NotTheSigned(found.error());
  if (*found == *model.tensors) return {};
  return IntegrityError(
      fmt::format("its {} tensors have the digest {}; {} with {} were signed", found->tensors,
                  found->sha256, model.tensors->tensors, model.tensors->sha256),
      path.string());
}

}  // namespace rharness
