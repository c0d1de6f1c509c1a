// Data: at its location, in the cache, or at its source.
#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/shown_url.h"
#include "harness/execution/fetch/lakefs.h"
#include "harness/execution/fetch/remote.h"
#include "harness/execution/rebuild/asked.h"
#include "harness/execution/rerun/data_cache.h"
#include "harness/execution/rerun/found_data.h"
#include "harness/execution/rerun/table_data.h"
#include "harness/records/intake/imported_run.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// A version of a table is available if the table still has its files.
Answer OfTableAt(const fs::path& path, const DataItem& item, bool verify) {
  const auto unfit = UnfitData(path, item);
  if (!unfit.ok()) return {PartState::kUnknown, unfit.error().ToString()};
  if (!unfit->empty()) return {PartState::kGone, fmt::format("at {}: {}", path.string(), *unfit)};
  if (!verify) return {PartState::kHad, fmt::format("at {}, its files not hashed", path.string())};
  const auto digest = HashData(path, item);
  if (!digest.ok()) return {PartState::kUnknown, digest.error().ToString()};
  if (digest->sha256 == item.sha256) {
    return {PartState::kHad, fmt::format("at {}, with its hash", path.string())};
  }
  return {PartState::kGone,
          fmt::format("a different file lies at {}: sha256 {}", path.string(), digest->sha256)};
}

// Of the data at a path; empty: there are none.
std::optional<Answer> OfDataAt(const fs::path& path, const DataItem& item,
                               Rebuilder::Asked* asked) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return std::nullopt;
  if (IsTable(item)) return OfTableAt(path, item, asked->options.verify);
  const bool is_file = fs::is_regular_file(status);
  if (is_file && fs::file_size(path, error) != item.size_bytes) {
    return Answer{PartState::kGone,
                  fmt::format("a different file lies at {}: {} bytes, recorded {}", path.string(),
                              fs::file_size(path, error), item.size_bytes)};
  }
  if (!asked->options.verify || item.sha256.empty()) {
    return Answer{PartState::kHad,
                  fmt::format("at {}{}", path.string(),
                              is_file ? ", with its size" : ", a folder that was not looked into")};
  }
  const auto content = asked->hashes.Hash(path);
  if (!content.ok()) return Answer{PartState::kUnknown, content.error().ToString()};
  if (content->sha256 == item.sha256) {
    // A rerun gives data of its own the recorded ones.
    const std::string folders = item.path.starts_with('/')
                                    ? OtherEmptyFolders(item.empty_folders, content->empty_folders)
                                    : "";
    if (folders.empty()) {
      return Answer{PartState::kHad, fmt::format("at {}, with its hash", path.string())};
    }
    return Answer{PartState::kGone, fmt::format("the folder at {} {}", path.string(), folders)};
  }
  return Answer{PartState::kGone, fmt::format("a different file lies at {}: sha256 {}",
                                              path.string(), content->sha256)};
}

// What a server's address has behind its '?' may be a signature.
Answer AnswerOf(const Error& error) {
  const bool absent = error.code == ErrorCode::kNotFound;
  return {absent ? PartState::kGone : PartState::kUnknown,
          fmt::format("{}: {}", WithoutCredentials(error.where), error.message)};
}

// Of another size it is another content.
Answer HeldToSize(const std::optional<std::uint64_t>& size, const DataItem& item,
                  Answer otherwise) {
  if (!size || item.size_bytes == 0 || *size == item.size_bytes) return otherwise;
  return {PartState::kGone, fmt::format("its source has a different file: {} bytes, recorded {}",
                                        *size, item.size_bytes)};
}

std::optional<std::uint64_t> LengthIn(const HttpHeaders& headers) {
  for (const auto& [name, value] : headers) {
    std::uint64_t length = 0;
    const char* end = value.data() + value.size();
    if (name == "content-length" && std::from_chars(value.data(), end, length).ptr == end) {
      return length;
    }
  }
  return std::nullopt;
}

// By HEAD, of S3 with the version that the source names.
Answer OfObject(const DataItem& item, const RemoteOptions& options) {
  auto remote = OpenRemote(item.source, options);
  if (!remote.ok()) return AnswerOf(remote.error());
  const auto there = remote->client.HeadersOf(remote->path, remote->query, "*/*");
  if (!there.ok()) return AnswerOf(there.error());
  if (!item.source.starts_with("s3://")) {
    return {PartState::kHad, "its source has it; not hashed"};
  }
  const bool versioned = item.source.find("?versionId=") != std::string::npos;
  return HeldToSize(
      LengthIn(*there), item,
      {PartState::kHad,
       versioned ? "its source has that version; not hashed"
                 : "its source has a file of that name and size without a version; not hashed"});
}

Answer OfLakefs(const DataItem& item, const RemoteOptions& options) {
  const auto stat = StatLakefs(item.source, options);
  if (!stat.ok()) return AnswerOf(stat.error());
  const auto object = ParseLakefs(item.source);
  const bool pinned = object.ok() && IsLakefsCommit(object->reference);
  return HeldToSize(stat->size_bytes, item,
                    {PartState::kHad, pinned ? "its source has it at that commit; not hashed"
                                             : "its source has it at a branch, which may move; "
                                               "not hashed"});
}

Answer OfSource(const DataItem& item, Rebuilder::Asked* asked) {
  if (!IsRemote(item.source)) {
    return {PartState::kUnknown,
            fmt::format("its source {} is not asked; expected {}",
                        TerminalSafe(WithoutCredentials(item.source)), kRemoteForms)};
  }
  if (!asked->options.network) {
    return {PartState::kUnknown, "not at its location; its source is asked with --network"};
  }
  const RemoteOptions options{.limits = asked->Limits(),
                              .should_cancel = asked->options.should_cancel};
  return item.source.starts_with("lakefs://") ? OfLakefs(item, options) : OfObject(item, options);
}

Answer OfData(const DataItem& item, Rebuilder::Asked* asked) {
  const Places& places = asked->options.places;
  const auto located = Locate(places, item.location.empty() ? item.path : item.location);
  std::optional<Answer> there;
  if (located.ok()) there = OfDataAt(*located, item, asked);
  if (there && there->state == PartState::kHad) return *there;
  const fs::path cached = places.cache.empty() ? "" : PathInCache(places.cache, item.sha256);
  if (!cached.empty()) {
    const auto in_cache = OfDataAt(cached, item, asked);
    if (in_cache && in_cache->state == PartState::kHad) return *in_cache;
  }
  if (!item.source.empty() && !IsTable(item)) {
    return asked->Once(fmt::format("data {} {}", item.size_bytes, item.source),
                       [&] { return OfSource(item, asked); });
  }
  if (there) return *there;
  if (!located.ok()) return {PartState::kUnknown, located.error().message};
  return {PartState::kGone,
          fmt::format("not at {}, and the record has no source of it", located->string())};
}

}  // namespace

void AskForData(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts) {
  for (const DataItem& item : manifest.data) {
    const Answer answer = OfData(item, asked);
    parts->push_back({"data", item.name, answer.state, answer.why});
  }
}

}  // namespace rharness
