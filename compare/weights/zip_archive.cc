// The central directory, and every local header and data descriptor against it.
#include "compare/weights/zip_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "compare/weights/zip_end.h"
#include "compare/weights/zip_stream.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::uint32_t kCentralSignature = 0x02014b50;
constexpr std::uint32_t kDescriptorSignature = 0x08074b50;

constexpr std::size_t kLocalBytes = 30;  // without name and extra field

constexpr std::uint32_t kSaturated32 = 0xffffffff;  // "see the zip64 extra field"
constexpr std::uint16_t kZip64Extra = 0x0001;

constexpr std::uint64_t kFlagEncrypted = 1u << 0;
constexpr std::uint64_t kFlagDescriptor = 1u << 3;
constexpr std::uint64_t kFlagUtf8 = 1u << 11;
constexpr std::uint64_t kKnownFlags = kFlagDescriptor | kFlagUtf8 | 0b110;  // and deflate's level

constexpr std::uint64_t kMaxDeflateRatio = 1032;  // a match of 258 bytes takes two bits
constexpr std::uint64_t kMaxZstdRatio = 32768;    // a block of 128 KiB takes four bytes
constexpr std::uint64_t kDeflate = 8, kZstd = 93;

// A member, with the data for its own checks.
struct CentralEntry {
  ZipMember member;
  std::uint64_t directory_offset = 0;  // of its central header
  std::uint64_t flags = 0;
  std::uint64_t end = 0;  // of its data and descriptor
};

class DirectoryReader {
 public:
  DirectoryReader(const InputFile& file, std::uint64_t begin, std::uint64_t size,
                  ZipMethods methods)
      : file_(file), begin_(begin), end_(begin + size), methods_(methods) {}

  Result<ZipDirectory> Read() {
    ASSIGN_OR_RETURN(const ZipDirectoryPlace place, FindZipDirectory(file_, begin_, end_));
    RETURN_IF_ERROR(ReadCentral(place));
    for (CentralEntry& entry : entries_) RETURN_IF_ERROR(CheckLocal(place.offset, &entry));
    RETURN_IF_ERROR(CheckOverlaps());
    return SortedByName();
  }

 private:
  std::string At(std::uint64_t offset) const {
    return fmt::format("{}: byte {}", file_.name(), offset);
  }
  Error Refuse(const CentralEntry& entry, std::uint64_t offset, std::string_view message) const {
    return InvalidInput(fmt::format("{}: {}", ZipMemberText(entry.member), message), At(offset));
  }

  Status ReadCentral(const ZipDirectoryPlace& place);
  Status ParseCentral(std::string_view header, std::string_view extra, CentralEntry* entry) const;
  Status CheckMethod(std::uint64_t method, const CentralEntry& entry) const;
  Status CheckName(const CentralEntry& entry) const;
  Status ReadZip64Extra(std::string_view extra, const CentralEntry& entry, std::uint64_t offset,
                        std::span<std::uint64_t* const> values) const;
  Status CheckLocal(std::uint64_t directory_offset, CentralEntry* entry) const;
  Status CheckLocalNumbers(std::string_view header, const CentralEntry& entry) const;
  Status CheckDescriptor(std::uint64_t directory_offset, CentralEntry* entry) const;
  Status CheckOverlaps();
  Result<ZipDirectory> SortedByName();

  const InputFile& file_;
  std::uint64_t begin_;
  std::uint64_t end_;
  ZipMethods methods_;
  std::vector<CentralEntry> entries_;
};

Status DirectoryReader::ReadCentral(const ZipDirectoryPlace& place) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadZipBytes(file_, place.offset, place.size_bytes));
  std::string_view rest = bytes;
  entries_.reserve(place.members);
  for (std::uint64_t i = 0; i < place.members; ++i) {
    CentralEntry entry;
    entry.directory_offset = place.offset + (bytes.size() - rest.size());
    if (rest.size() < kZipCentralHeaderBytes || ZipNumber(rest, 0, 4) != kCentralSignature) {
      return InvalidInput(
          fmt::format("expected the directory's header of member {} of {}", i + 1, place.members),
          At(entry.directory_offset));
    }
    const std::size_t name = ZipNumber(rest, 28, 2), extra = ZipNumber(rest, 30, 2);
    const std::size_t size = kZipCentralHeaderBytes + name + extra + ZipNumber(rest, 32, 2);
    if (size > rest.size()) {
      return InvalidInput(fmt::format("a header of {} bytes; expected at most {}, what is left of "
                                      "the directory",
                                      size, rest.size()),
                          At(entry.directory_offset));
    }
    entry.member.name = rest.substr(kZipCentralHeaderBytes, name);
    RETURN_IF_ERROR(ParseCentral(rest.substr(0, kZipCentralHeaderBytes),
                                 rest.substr(kZipCentralHeaderBytes + name, extra), &entry));
    entries_.push_back(std::move(entry));
    rest.remove_prefix(size);
  }
  if (rest.empty()) return {};
  return InvalidInput(
      fmt::format("{} bytes after the directory's last header; expected none", rest.size()),
      At(place.offset + (bytes.size() - rest.size())));
}

Status DirectoryReader::ParseCentral(std::string_view header, std::string_view extra,
                                     CentralEntry* entry) const {
  ZipMember& member = entry->member;
  entry->flags = ZipNumber(header, 8, 2);
  RETURN_IF_ERROR(CheckName(*entry));
  RETURN_IF_ERROR(CheckMethod(ZipNumber(header, 10, 2), *entry));
  member.deflated = ZipNumber(header, 10, 2) == kDeflate;
  member.zstd = ZipNumber(header, 10, 2) == kZstd;
  member.crc32 = static_cast<std::uint32_t>(ZipNumber(header, 16, 4));
  member.stored_bytes = ZipNumber(header, 20, 4);
  member.size_bytes = ZipNumber(header, 24, 4);
  member.header_offset = ZipNumber(header, 42, 4);
  const std::uint64_t disk = ZipNumber(header, 34, 2);
  RETURN_IF_ERROR(
      ReadZip64Extra(extra, *entry, entry->directory_offset,
                     std::array{&member.size_bytes, &member.stored_bytes, &member.header_offset}));
  if (disk != 0) {
    return Unsupported(
        fmt::format("{}: on disk {}; expected one file", ZipMemberText(member), disk),
        At(entry->directory_offset));
  }
  const bool compressed = member.deflated || member.zstd;
  if (!compressed && member.stored_bytes != member.size_bytes) {
    return Refuse(*entry, entry->directory_offset,
                  fmt::format("stored in {} bytes; expected {}, its size", member.stored_bytes,
                              member.size_bytes));
  }
  const std::uint64_t most = member.zstd ? kMaxZstdRatio : kMaxDeflateRatio;
  if (compressed && member.size_bytes / most > member.stored_bytes) {
    return Refuse(
        *entry, entry->directory_offset,
        fmt::format("{} bytes {} to {}; expected no more than {} times less", member.size_bytes,
                    member.zstd ? "compressed" : "deflated", member.stored_bytes, most));
  }
  if (member.name.ends_with('/') && member.size_bytes != 0) {
    return Refuse(*entry, entry->directory_offset, "a folder with content; expected none");
  }
  return {};
}

Status DirectoryReader::CheckMethod(std::uint64_t method, const CentralEntry& entry) const {
  if ((entry.flags & kFlagEncrypted) != 0) {
    return Unsupported(
        fmt::format("{}: is encrypted; expected a plain member", ZipMemberText(entry.member)),
        At(entry.directory_offset));
  }
  if ((entry.flags & ~kKnownFlags) != 0) {
    return Unsupported(fmt::format("{}: flags {:#06x}; expected none but {:#06x}",
                                   ZipMemberText(entry.member), entry.flags, kKnownFlags),
                       At(entry.directory_offset));
  }
  const bool zstd = methods_ == ZipMethods::kDeflateAndZstd;
  if (method == 0 || method == kDeflate || (zstd && method == kZstd)) return {};
  return Unsupported(fmt::format("{}: compression method {}; expected 0 (stored) or 8 (deflate){}",
                                 ZipMemberText(entry.member), method, zstd ? " or 93 (zstd)" : ""),
                     At(entry.directory_offset));
}

Status DirectoryReader::CheckName(const CentralEntry& entry) const {
  std::string_view name = entry.member.name;
  if (name.ends_with('/')) name.remove_suffix(1);
  const auto path = SafeRelativePath(name, At(entry.directory_offset));
  if (!path.ok()) {
    return Refuse(entry, entry.directory_offset, path.error().message);
  }
  if (path->native() != name || name.find_first_of("\\\n\t") != std::string_view::npos) {
    return Refuse(entry, entry.directory_offset,
                  "its name is no plain relative path; expected parts joined by one '/' each");
  }
  const bool ascii = std::ranges::all_of(name, [](char c) { return (c & 0x80) == 0; });
  if (ascii || (entry.flags & kFlagUtf8) != 0) return {};
  return Refuse(entry, entry.directory_offset,
                "its name is not ASCII and not marked as UTF-8; expected one of the two");
}

// Replaces those of `values` that are saturated by the 64-bit numbers of the zip64 extra field.
Status DirectoryReader::ReadZip64Extra(std::string_view extra, const CentralEntry& entry,
                                       std::uint64_t offset,
                                       std::span<std::uint64_t* const> values) const {
  const auto saturated = [](const std::uint64_t* value) { return *value == kSaturated32; };
  if (std::ranges::none_of(values, saturated)) return {};
  while (extra.size() >= 4) {
    const std::uint64_t id = ZipNumber(extra, 0, 2);
    const std::size_t size = ZipNumber(extra, 2, 2);
    extra.remove_prefix(4);
    if (size > extra.size()) break;
    std::string_view field = extra.substr(0, size);
    extra.remove_prefix(size);
    if (id != kZip64Extra) continue;
    for (std::uint64_t* value : values) {
      if (!saturated(value)) continue;
      if (field.size() < 8) {
        return Refuse(entry, offset, "its zip64 extra field is too short for what refers to it");
      }
      *value = ZipNumber(field, 0, 8);
      field.remove_prefix(8);
    }
    return {};
  }
  return Refuse(entry, offset, "a size or offset of 4294967295; expected a zip64 extra field");
}

// `directory_offset` ends the room of all members.
Status DirectoryReader::CheckLocal(std::uint64_t directory_offset, CentralEntry* entry) const {
  ZipMember& member = entry->member;
  const std::uint64_t room = directory_offset - begin_;
  const std::uint64_t fixed = kLocalBytes + member.name.size();
  if (room < fixed || member.header_offset > room - fixed) {
    return Refuse(*entry, entry->directory_offset,
                  fmt::format("its local header at {} reaches beyond the {} bytes before the "
                              "directory",
                              member.header_offset, room));
  }
  member.header_offset += begin_;
  ASSIGN_OR_RETURN(const std::string header, ReadZipBytes(file_, member.header_offset, fixed));
  if (ZipNumber(header, 0, 4) != kLocalSignature) {
    return Refuse(*entry, member.header_offset, "expected a local header");
  }
  if (ZipNumber(header, 26, 2) != member.name.size() ||
      header.compare(kLocalBytes, std::string::npos, member.name) != 0) {
    return Refuse(*entry, member.header_offset, "its local header has another name");
  }
  member.data_offset = member.header_offset + fixed + ZipNumber(header, 28, 2);
  if (member.data_offset > directory_offset ||
      member.stored_bytes > directory_offset - member.data_offset) {
    return Refuse(*entry, member.header_offset,
                  fmt::format("{} bytes from byte {} on reach beyond the directory at byte {}",
                              member.stored_bytes, member.data_offset, directory_offset));
  }
  RETURN_IF_ERROR(CheckLocalNumbers(header, *entry));
  entry->end = member.data_offset + member.stored_bytes;
  return (entry->flags & kFlagDescriptor) != 0 ? CheckDescriptor(directory_offset, entry)
                                               : Status();
}

Status DirectoryReader::CheckLocalNumbers(std::string_view header,
                                          const CentralEntry& entry) const {
  const ZipMember& member = entry.member;
  const auto contradicts = [&](std::string_view what, std::uint64_t local, std::uint64_t central) {
    return Refuse(entry, member.header_offset,
                  fmt::format("its local header says {} {}; expected {}, as in the directory", what,
                              local, central));
  };
  const std::uint64_t flags = ZipNumber(header, 6, 2), method = ZipNumber(header, 8, 2);
  if (flags != entry.flags) return contradicts("flags", flags, entry.flags);
  const std::uint64_t stated = member.deflated ? kDeflate : member.zstd ? kZstd : 0;
  if (method != stated) {
    return contradicts("method", method, stated);
  }
  // With a data descriptor the numbers are there, and here whatever the writer knew by then.
  if ((entry.flags & kFlagDescriptor) != 0) return {};
  std::uint64_t stored = ZipNumber(header, 18, 4), size = ZipNumber(header, 22, 4);
  const std::uint64_t crc = ZipNumber(header, 14, 4);
  const std::uint64_t extra_offset = member.header_offset + header.size();
  ASSIGN_OR_RETURN(const std::string extra,
                   ReadZipBytes(file_, extra_offset, member.data_offset - extra_offset));
  RETURN_IF_ERROR(ReadZip64Extra(extra, entry, member.header_offset, std::array{&size, &stored}));
  if (crc != member.crc32) return contradicts("CRC-32", crc, member.crc32);
  if (stored != member.stored_bytes)
    return contradicts("stored bytes", stored, member.stored_bytes);
  if (size != member.size_bytes) return contradicts("size", size, member.size_bytes);
  return {};
}

// With or without a signature, with sizes of 4 bytes or 8: the format leaves it open.
Status DirectoryReader::CheckDescriptor(std::uint64_t directory_offset, CentralEntry* entry) const {
  const ZipMember& member = entry->member;
  const std::uint64_t room = std::min<std::uint64_t>(24, directory_offset - entry->end);
  ASSIGN_OR_RETURN(const std::string bytes, ReadZipBytes(file_, entry->end, room));
  for (const std::size_t signature : {std::size_t{4}, std::size_t{0}}) {
    for (const std::size_t width : {std::size_t{4}, std::size_t{8}}) {
      const std::size_t size = signature + 4 + 2 * width;
      if (size > bytes.size()) continue;
      if (signature != 0 && ZipNumber(bytes, 0, 4) != kDescriptorSignature) continue;
      if (ZipNumber(bytes, signature, 4) == member.crc32 &&
          ZipNumber(bytes, signature + 4, width) == member.stored_bytes &&
          ZipNumber(bytes, signature + 4 + width, width) == member.size_bytes) {
        entry->end += size;
        return {};
      }
    }
  }
  return Refuse(*entry, entry->end,
                fmt::format("expected a data descriptor with CRC-32 {:08x} and sizes {} and {}, as "
                            "in the directory",
                            member.crc32, member.stored_bytes, member.size_bytes));
}

Status DirectoryReader::CheckOverlaps() {
  std::ranges::sort(entries_, {}, [](const CentralEntry& entry) {
    return std::pair(entry.member.header_offset, entry.end);
  });
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    const CentralEntry& before = entries_[i - 1];
    if (entries_[i].member.header_offset >= before.end) continue;
    return Refuse(entries_[i], entries_[i].member.header_offset,
                  fmt::format("overlaps {}, which ends at byte {}", ZipMemberText(before.member),
                              before.end));
  }
  return {};
}

Result<ZipDirectory> DirectoryReader::SortedByName() {
  const auto name_of = [](const CentralEntry& entry) -> const std::string& {
    return entry.member.name;
  };
  std::ranges::stable_sort(entries_, {}, name_of);
  const auto twin = std::ranges::adjacent_find(entries_, {}, name_of);
  if (twin != entries_.end()) {
    return Refuse(*(twin + 1), (twin + 1)->member.header_offset,
                  "the name occurs twice; expected unique names");
  }
  ZipDirectory directory;
  directory.members.reserve(entries_.size());
  for (CentralEntry& entry : entries_) directory.members.push_back(std::move(entry.member));
  return directory;
}

}  // namespace

const ZipMember* ZipDirectory::Find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(members, name, std::less<>(), &ZipMember::name);
  return found != members.end() && found->name == name ? &*found : nullptr;
}

Result<ZipDirectory> ReadZipDirectory(const InputFile& file, std::uint64_t begin,
                                      std::uint64_t size, ZipMethods methods) {
  if (begin > file.size_bytes() || size > file.size_bytes() - begin) {
    Abort("a zip archive beyond the end of its file");
  }
  ASSIGN_OR_RETURN(ZipDirectory directory, DirectoryReader(file, begin, size, methods).Read());
  directory.begin = begin;
  directory.size_bytes = size;
  return directory;
}

Result<ZipDirectory> ReadZipDirectory(const InputFile& file, ZipMethods methods) {
  return ReadZipDirectory(file, 0, file.size_bytes(), methods);
}

Result<std::string> ReadZipMember(const InputFile& file, const ZipMember& member,
                                  std::uint64_t limit_bytes) {
  if (member.size_bytes > limit_bytes) {
    return Unsupported(fmt::format("{}: {} bytes; expected at most {}", ZipMemberText(member),
                                   member.size_bytes, limit_bytes),
                       fmt::format("{}: byte {}", file.name(), member.header_offset));
  }
  std::string content(member.size_bytes, '\0');
  ZipStream stream(file, member);
  RETURN_IF_ERROR(stream.Read(std::as_writable_bytes(std::span(content))));
  return content;
}

Status CheckZipMember(const InputFile& file, const ZipMember& member) {
  return ZipStream(file, member).Skip(member.size_bytes);
}

std::string ZipMemberText(const ZipMember& member) {
  const std::string_view name = member.name;
  return fmt::format("member '{}{}'", TerminalSafe(name.substr(0, 200)),
                     name.size() > 200 ? "..." : "");
}

}  // namespace rharness
