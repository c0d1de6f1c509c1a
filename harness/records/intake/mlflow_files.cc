// Lists and hashes the files that an MLflow server serves.
// Source: mlflow/server/handlers.py and mlflow/protos of MLflow 3.
#include "harness/records/intake/mlflow_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/digest.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/loose_json.h"
#include "harness/records/intake/server_pages.h"

namespace rharness {
namespace {

constexpr std::size_t kMostFolders = 10'000;                           // of one run or model
constexpr std::uint64_t kMostArtifactBytes = std::uint64_t{64} << 30;  // to be hashed
constexpr int kMostFailures = 3;  // of downloads that a server fails

// For a server that stores files itself ("mlflow-artifacts:/1/RUN/artifacts"), its interface for
// them; for others, the address used by its own pages.
std::pair<std::string, HttpQuery> AddressOf(const MlflowServed& served, const std::string& path) {
  constexpr std::string_view kKept = "mlflow-artifacts:";
  std::string_view rest = served.root;
  if (!rest.starts_with(kKept)) {
    HttpQuery query = served.file_query;
    query.emplace_back(served.file_key, path);
    return {served.file, std::move(query)};
  }
  rest.remove_prefix(kKept.size());
  if (rest.starts_with("//")) rest.remove_prefix(std::min(rest.find('/', 2), rest.size()));
  std::string address = "/api/2.0/mlflow-artifacts/artifacts";
  for (const auto& part : std::filesystem::path(rest).relative_path() / path) {
    address += "/" + EscapedForUrl(part.string());
  }
  return {address, {}};
}

}  // namespace

struct MlflowFiles::Listing {
  std::vector<Artifact>* artifacts;
  std::vector<std::string>* remarks;
  std::vector<std::string> folders;
  std::set<std::string> visited;
  std::size_t known_folders = 1;
  bool cut = false;  // there is more than is taken

  // A server's entries must lie below the requested folder.
  void Add(const std::string& folder, const Json& file) {
    const std::string path = LooseText(file, "path");
    const auto clean = CleanRelativePath(path);
    if (!clean || *clean != path || (!folder.empty() && !path.starts_with(folder + "/"))) {
      remarks->push_back(fmt::format("artifacts: {} was left out; expected a path below {}",
                                     QuotedShort(path), QuotedShort(folder)));
      return;
    }
    if (!visited.insert(path).second) return;
    const Json* is_folder = file.Find("is_dir");
    if (is_folder != nullptr && is_folder->kind() == Json::Kind::kBool && is_folder->AsBool()) {
      cut = cut || known_folders == kMostFolders;
      if (known_folders == kMostFolders) return;
      ++known_folders;
      folders.push_back(path);
    } else if (artifacts->size() == kMostMlflowArtifacts) {
      cut = true;
    } else {
      Artifact& artifact = artifacts->emplace_back();
      artifact.path = path;
      const auto size = MlflowInteger(file.Find("file_size"));
      artifact.size_bytes = size && *size > 0 ? static_cast<std::uint64_t>(*size) : 0;
    }
  }
};

MlflowServed ServedOfRun(const std::string& run_id, const std::string& root) {
  return {"/api/2.0/mlflow/artifacts/list",
          {{"run_id", run_id}},
          "path",
          root,
          "/get-artifact",
          {{"run_uuid", run_id}},
          "path"};
}

MlflowServed ServedOfModel(const std::string& model_id, const std::string& root) {
  const std::string id = EscapedForUrl(model_id);
  return {fmt::format("/api/2.0/mlflow/logged-models/{}/artifacts/directories", id),
          {},
          "artifact_directory_path",
          root,
          fmt::format("/ajax-api/2.0/mlflow/logged-models/{}/artifacts/files", id),
          {},
          "artifact_file_path"};
}

Status MlflowFiles::Read(const MlflowServed& served, std::vector<Artifact>* artifacts,
                         std::vector<std::string>* remarks) {
  Listing listing{artifacts, remarks, {""}, {""}};
  while (!listing.folders.empty()) {
    const std::string folder = std::move(listing.folders.back());
    listing.folders.pop_back();
    RETURN_IF_ERROR(List(folder, served, &listing));
  }
  if (listing.cut) {
    remarks->push_back(
        fmt::format("artifacts: more than {} files or {} folders; what is behind "
                    "them was left out",
                    kMostMlflowArtifacts, kMostFolders));
  }
  std::ranges::sort(*artifacts, {}, &Artifact::path);
  if (!import_->request().artifacts) return {};
  for (Artifact& artifact : *artifacts) {
    if (import_->Cancelled()) return {};
    Hash(served, &artifact, remarks);
  }
  return {};
}

Status MlflowFiles::List(const std::string& folder, const MlflowServed& served, Listing* listing) {
  ServerPages pages(client_->url() + served.list);
  for (bool more = true; more;) {
    HttpQuery query = served.list_query;
    if (!folder.empty()) query.emplace_back(served.folder_key, folder);
    if (!pages.token().empty()) query.emplace_back("page_token", pages.token());
    ASSIGN_OR_RETURN(const Json page, client_->Get(served.list, query));
    std::size_t elements = 0;
    ForEachElement(page.Find("files"), [&](const Json& file) {
      if (!file.IsObject()) return;
      ++elements;
      listing->Add(folder, file);
    });
    ASSIGN_OR_RETURN(more, pages.Next(page, elements));
  }
  return {};
}

void MlflowFiles::Hash(const MlflowServed& served, Artifact* artifact,
                       std::vector<std::string>* remarks) {
  const std::string name = QuotedShort(artifact->path);
  if (failures_ >= kMostFailures) {
    remarks->push_back(fmt::format("artifacts: {} was not read, after other failures", name));
    return;
  }
  const auto [path, query] = AddressOf(served, artifact->path);
  Sha256 hash;
  std::uint64_t bytes = 0;
  const auto restart = [&] { hash = Sha256(), bytes = 0; };
  const auto take = [&](std::string_view piece) {
    hash.Update(piece);
    bytes += piece.size();
  };
  // What does not end is read no further than the listed size.
  const std::uint64_t most = artifact->size_bytes == 0 ? kMostArtifactBytes : artifact->size_bytes;
  const Status status = client_->Fetch(path, query, most, restart, take);
  if (!status.ok()) {
    if (status.error().code == ErrorCode::kIo || status.error().code == ErrorCode::kTimeout) {
      ++failures_;
    }
    remarks->push_back(fmt::format("artifacts: {}: {}", name,
                                   Unread(import_->request(), status.error()).ToString()));
  } else if (artifact->size_bytes != 0 && bytes != artifact->size_bytes) {
    remarks->push_back(fmt::format("artifacts: {}: {} bytes came; expected {}", name, bytes,
                                   artifact->size_bytes));
  } else {
    artifact->size_bytes = bytes;
    artifact->sha256 = ToHex(hash.Finish());
  }
}

}  // namespace rharness
