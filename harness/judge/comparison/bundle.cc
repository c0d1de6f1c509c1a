// The only file with libarchive.
#include "harness/judge/comparison/bundle.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <memory>

#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::string_view kExtension = ".tar.zst";

using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

la_ssize_t Append(archive*, void* out, const void* data, std::size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

Error Failure(archive* writer, const std::string& where) {
  const char* text = archive_error_string(writer);
  return IoError(fmt::format("libarchive: {}", text == nullptr ? "unknown error" : text), where);
}

Status AddMember(archive* writer, const std::string& name, const std::string& content) {
  const Entry entry(archive_entry_new(), archive_entry_free);
  archive_entry_set_pathname_utf8(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), 0, 0);
  if (archive_write_header(writer, entry.get()) != ARCHIVE_OK) return Failure(writer, name);
  const la_ssize_t written = archive_write_data(writer, content.data(), content.size());
  if (written != static_cast<la_ssize_t>(content.size())) return Failure(writer, name);
  return {};
}

// The folder of all members: the file's name without its extensions.
std::string TopOf(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.substr(0, name.size() - kExtension.size());
}

Result<std::string> Pack(const std::string& top, const std::vector<BundleMember>& members) {
  std::string bytes;
  const Writer writer(archive_write_new(), archive_write_free);
  if (archive_write_add_filter_zstd(writer.get()) != ARCHIVE_OK ||
      archive_write_set_format_pax_restricted(writer.get()) != ARCHIVE_OK ||
      archive_write_set_bytes_in_last_block(writer.get(), 1) != ARCHIVE_OK ||
      archive_write_open2(writer.get(), &bytes, nullptr, Append, nullptr, nullptr) != ARCHIVE_OK) {
    return Failure(writer.get(), top);
  }
  for (const BundleMember& member : members) {
    ASSIGN_OR_RETURN(const auto name, SafeRelativePath(member.name, "bundle member"));
    RETURN_IF_ERROR(AddMember(writer.get(), top + "/" + name.string(), member.content));
  }
  if (archive_write_close(writer.get()) != ARCHIVE_OK) return Failure(writer.get(), top);
  return bytes;
}

}  // namespace

Status CheckBundlePath(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (!name.ends_with(kExtension)) {
    return InvalidInput(fmt::format("expected a bundle's name to end in {}", kExtension),
                        path.string());
  }
  const auto top = SafeRelativePath(TopOf(path), path.string());
  if (!top.ok() || *top == ".") {
    return InvalidInput(fmt::format("expected a plain name before {}", kExtension), path.string());
  }
  return {};
}

Status WriteBundle(const std::filesystem::path& path, const std::vector<BundleMember>& members) {
  RETURN_IF_ERROR(CheckBundlePath(path));
  ASSIGN_OR_RETURN(const std::string bytes, Pack(TopOf(path), members));
  return WriteFileAtomic(path, bytes);
}

}  // namespace rharness
