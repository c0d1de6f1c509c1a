// The end record, its zip64 twin, and the check of their contents against their places.
#include "compare/weights/zip_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compare/weights/zip_archive.h"

namespace rharness {
namespace {

constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kZip64EndSignature = 0x06064b50;
constexpr std::uint32_t kZip64LocatorSignature = 0x07064b50;

constexpr std::size_t kEndBytes = 22;  // without comment
constexpr std::size_t kZip64EndBytes = 56;
constexpr std::size_t kZip64LocatorBytes = 20;
constexpr std::size_t kMaxCommentBytes = 0xffff;

constexpr std::uint32_t kSeeZip64Record = 0xffffffff;  // "see the zip64 record"

class EndReader {
 public:
  EndReader(const InputFile& file, std::uint64_t begin, std::uint64_t end)
      : file_(file), begin_(begin), end_(end) {}

  Result<ZipDirectoryPlace> FindDirectory() const;

 private:
  std::string At(std::uint64_t offset) const {
    return fmt::format("{}: byte {}", file_.name(), offset);
  }
  Result<std::uint64_t> FindEnd(std::string* record) const;
  Result<ZipDirectoryPlace> ReadZip64End(std::uint64_t locator_offset, std::string_view locator,
                                         ZipDirectoryPlace stated) const;
  Status CheckPlace(const ZipDirectoryPlace& place, std::uint64_t expected_end) const;

  const InputFile& file_;
  std::uint64_t begin_;
  std::uint64_t end_;
};

// Offset of the end record, whose content goes to `record`: the last one whose comment ends the
// archive.
Result<std::uint64_t> EndReader::FindEnd(std::string* record) const {
  const std::uint64_t tail = std::min<std::uint64_t>(end_ - begin_, kEndBytes + kMaxCommentBytes);
  ASSIGN_OR_RETURN(const std::string bytes, ReadZipBytes(file_, end_ - tail, tail));
  for (std::size_t back = kEndBytes; back <= bytes.size(); ++back) {
    const std::size_t at = bytes.size() - back;
    if (ZipNumber(bytes, at, 4) != kEndSignature) continue;
    if (ZipNumber(bytes, at + 20, 2) != back - kEndBytes) continue;
    *record = bytes.substr(at, kEndBytes);
    return end_ - back;
  }
  return InvalidInput(
      "no end record of a zip archive whose comment ends the file; expected one (the file may be "
      "cut short)",
      At(end_));
}

Result<ZipDirectoryPlace> EndReader::FindDirectory() const {
  std::string record;
  ASSIGN_OR_RETURN(const std::uint64_t end_offset, FindEnd(&record));
  if (ZipNumber(record, 4, 2) != 0 || ZipNumber(record, 6, 2) != 0 ||
      ZipNumber(record, 8, 2) != ZipNumber(record, 10, 2)) {
    return Unsupported("a zip archive on several disks; expected one file", At(end_offset));
  }
  ZipDirectoryPlace place{.offset = ZipNumber(record, 16, 4),
                          .size_bytes = ZipNumber(record, 12, 4),
                          .members = ZipNumber(record, 10, 2)};
  if (end_offset - begin_ >= kZip64LocatorBytes) {
    const std::uint64_t locator_offset = end_offset - kZip64LocatorBytes;
    ASSIGN_OR_RETURN(const std::string locator,
                     ReadZipBytes(file_, locator_offset, kZip64LocatorBytes));
    if (ZipNumber(locator, 0, 4) == kZip64LocatorSignature) {
      return ReadZip64End(locator_offset, locator, place);
    }
  }
  RETURN_IF_ERROR(CheckPlace(place, end_offset));
  place.offset += begin_;
  return place;
}

// `stated`: content of the plain end record: the same numbers, or saturated ones.
Result<ZipDirectoryPlace> EndReader::ReadZip64End(std::uint64_t locator_offset,
                                                  std::string_view locator,
                                                  ZipDirectoryPlace stated) const {
  if (ZipNumber(locator, 4, 4) != 0 || ZipNumber(locator, 16, 4) > 1) {
    return Unsupported("a zip archive on several disks; expected one file", At(locator_offset));
  }
  const std::uint64_t relative = ZipNumber(locator, 8, 8);
  const std::uint64_t room = locator_offset - begin_;
  if (room < kZip64EndBytes || relative > room - kZip64EndBytes) {
    return InvalidInput(fmt::format("the zip64 end record is said to be at {}; expected at most {}",
                                    relative, room),
                        At(locator_offset));
  }
  const std::uint64_t offset = begin_ + relative;
  ASSIGN_OR_RETURN(const std::string record, ReadZipBytes(file_, offset, kZip64EndBytes));
  if (ZipNumber(record, 0, 4) != kZip64EndSignature ||
      ZipNumber(record, 4, 8) != locator_offset - offset - 12) {
    return InvalidInput("expected a zip64 end record that reaches to its locator", At(offset));
  }
  if (ZipNumber(record, 16, 4) != 0 || ZipNumber(record, 20, 4) != 0 ||
      ZipNumber(record, 24, 8) != ZipNumber(record, 32, 8)) {
    return Unsupported("a zip archive on several disks; expected one file", At(offset));
  }
  ZipDirectoryPlace place{.offset = ZipNumber(record, 48, 8),
                          .size_bytes = ZipNumber(record, 40, 8),
                          .members = ZipNumber(record, 32, 8)};
  const auto agrees = [](std::uint64_t plain, std::uint64_t wide, std::uint64_t saturated) {
    return plain == wide || plain == saturated;
  };
  if (!agrees(stated.offset, place.offset, kSeeZip64Record) ||
      !agrees(stated.size_bytes, place.size_bytes, kSeeZip64Record) ||
      !agrees(stated.members, place.members, 0xffff)) {
    return InvalidInput("the zip64 end record contradicts the plain one; expected the same numbers",
                        At(offset));
  }
  RETURN_IF_ERROR(CheckPlace(place, offset));
  place.offset += begin_;
  return place;
}

// The directory reaches to the end record; its offset still counts from the archive's start.
Status EndReader::CheckPlace(const ZipDirectoryPlace& place, std::uint64_t expected_end) const {
  const std::uint64_t room = expected_end - begin_;
  if (place.size_bytes > room || place.offset != room - place.size_bytes) {
    return InvalidInput(
        fmt::format("a directory of {} bytes at {}; expected it to end at {}, before the end "
                    "record",
                    place.size_bytes, place.offset, room),
        At(expected_end));
  }
  if (place.size_bytes > kMaxZipDirectoryBytes || place.members > kMaxZipMembers) {
    return Unsupported(
        fmt::format("a directory of {} members in {} bytes; expected at most {} in "
                    "{}",
                    place.members, place.size_bytes, kMaxZipMembers, kMaxZipDirectoryBytes),
        At(expected_end));
  }
  if (place.members > place.size_bytes / kZipCentralHeaderBytes) {
    return InvalidInput(
        fmt::format("{} members in a directory of {} bytes; expected at most {}", place.members,
                    place.size_bytes, place.size_bytes / kZipCentralHeaderBytes),
        At(expected_end));
  }
  return {};
}

}  // namespace

Result<ZipDirectoryPlace> FindZipDirectory(const InputFile& file, std::uint64_t begin,
                                           std::uint64_t end) {
  return EndReader(file, begin, end).FindDirectory();
}

Result<std::string> ReadZipBytes(const InputFile& file, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(size, '\0');
  RETURN_IF_ERROR(file.ReadAt(offset, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

}  // namespace rharness
