// Compares servers' data on an object with the file that should be the same.
#include "harness/execution/fetch/pin.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "harness/base/base64.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/shown_url.h"
#include "harness/execution/fetch/lakefs.h"
#include "harness/execution/fetch/s3.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::string HeaderIn(const HttpHeaders& headers, std::string_view name) {
  const auto found = std::ranges::find_if(headers, [&](const auto& h) { return h.first == name; });
  return found == headers.end() ? std::string() : found->second;
}

// Of 64 hexadecimal digits, as S3 writes a digest.
std::string Base64OfHex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    bytes += static_cast<char>(value);
  }
  return ToBase64Text(bytes);
}

Status HoldSize(const std::string& source, std::uint64_t there, const fs::path& path) {
  std::error_code error;
  const auto here = fs::file_size(path, error);
  if (error) return InvalidInput("is no file; expected one, whose source is stated", path.string());
  if (here == there) return {};
  return InvalidInput(fmt::format("has {} bytes; {} has {}", there, path.string(), here),
                      ShownUrl(source));
}

Status HoldLength(const std::string& source, const HttpHeaders& headers, const fs::path& path) {
  const std::string text = HeaderIn(headers, "content-length");
  std::uint64_t length = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, length);
  if (error != std::errc{} || at != end) return {};  // it does not say
  return HoldSize(source, length, path);
}

std::string EtagOf(const HttpHeaders& headers) {
  std::string etag = HeaderIn(headers, "etag");
  std::erase(etag, '"');
  etag = TerminalSafe(etag.substr(0, 200));
  return etag.empty() ? etag : "etag:" + etag;
}

Result<Pinned> PinS3(const std::string& source, const HttpHeaders& headers, const fs::path& path) {
  ASSIGN_OR_RETURN(S3Object object, ParseS3(source));
  const std::string version = HeaderIn(headers, "x-amz-version-id");
  const bool versioned = !version.empty() && version != "null";
  if (versioned) object.version_id = version;
  Pinned pinned{S3Text(object), EtagOf(headers), Grade::kHint,
                versioned
                    ? "its version now; the server keeps no SHA-256 of it, its size is the same"
                    : "the bucket keeps no versions; its size is the same"};
  RETURN_IF_ERROR(ParseS3(pinned.source));  // the version is a server's word
  const std::string checksum = HeaderIn(headers, "x-amz-checksum-sha256");
  // For a multipart upload it is a digest of digests. Some servers show that by the number of parts
  // after it, some by its type, some by the ETag alone.
  const bool of_parts = checksum.find('-') != checksum.npos ||
                        HeaderIn(headers, "x-amz-checksum-type") == "COMPOSITE" ||
                        pinned.other_digest.find('-') != std::string::npos;
  if (checksum.empty() || of_parts) return pinned;
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(path));
  if (Base64OfHex(digest.sha256) != checksum) {
    return InvalidInput(fmt::format("has another content than {}: its SHA-256 is {} in base 64",
                                    path.string(), TerminalSafe(checksum.substr(0, 100))),
                        source);
  }
  pinned.grade = Grade::kExact;
  pinned.how = versioned
                   ? "its version now; the server's own SHA-256 is that of the file"
                   : "the server's own SHA-256 is that of the file; the bucket keeps no versions";
  return pinned;
}

Result<Pinned> PinLakefs(const std::string& source, const fs::path& path,
                         const RemoteOptions& options) {
  ASSIGN_OR_RETURN(LakefsObject object, ParseLakefs(source));
  ASSIGN_OR_RETURN(const LakefsStat stat, StatLakefs(source, options));
  RETURN_IF_ERROR(HoldSize(source, stat.size_bytes, path));
  const std::string was = std::exchange(object.reference, stat.commit);
  return Pinned{
      LakefsText(object), "etag:" + TerminalSafe(stat.checksum.substr(0, 200)), Grade::kHint,
      was == stat.commit ? "a commit; its size is the same"
                         : fmt::format("the commit that {} is now; its size is the same", was)};
}

}  // namespace

Result<Pinned> PinSource(const std::string& source, const fs::path& path,
                         const RemoteOptions& options) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return InvalidInput("is no file; a source is that of one file", path.string());
  }
  if (source.starts_with("lakefs://")) return PinLakefs(source, path, options);
  ASSIGN_OR_RETURN(Remote remote, OpenRemote(source, options));
  ASSIGN_OR_RETURN(const HttpHeaders headers, remote.client.HeadersOf(remote.path, remote.query));
  RETURN_IF_ERROR(HoldLength(source, headers, path));
  if (source.starts_with("s3://")) return PinS3(source, headers, path);
  return Pinned{source, EtagOf(headers), Grade::kHint, "may change; its size is the same"};
}

Result<std::vector<PinnedItem>> PinSources(const std::vector<std::string>& named,
                                           std::vector<DataItem>* data,
                                           const RemoteOptions& options) {
  std::vector<PinnedItem> pins;
  for (const std::string& text : named) {
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto item = std::ranges::find(*data, name, &DataItem::name);
    if (equals == text.npos || item == data->end()) {
      return InvalidInput(fmt::format("expected NAME=URL with the name of a --data, found '{}'",
                                      TerminalSafe(ShownUrl(text).substr(0, 200))),
                          "--source");
    }
    ASSIGN_OR_RETURN(Pinned pinned, PinSource(text.substr(equals + 1), item->path, options));
    item->source = std::move(pinned.source);
    item->other_digest = std::move(pinned.other_digest);
    pins.push_back({name, pinned.grade, std::move(pinned.how)});
  }
  return pins;
}

void SayPins(const std::vector<PinnedItem>& pins, Manifest* manifest) {
  for (const PinnedItem& pin : pins) {
    const auto item = std::ranges::find(manifest->data, pin.name, &DataItem::name);
    if (item == manifest->data.end()) continue;
    if (!manifest->origin) manifest->origin = Origin{"record", "", manifest->run_id, {}, {}};
    const std::string path = fmt::format("data[{}].source", item - manifest->data.begin());
    auto& fields = manifest->origin->fields;
    std::erase_if(fields, [&](const FieldOrigin& field) { return field.path == path; });
    fields.push_back({path, pin.grade, "--source: " + pin.how});
    std::ranges::sort(fields, {}, &FieldOrigin::path);
  }
}

}  // namespace rharness
