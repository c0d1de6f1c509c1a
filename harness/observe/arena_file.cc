// Making and reading the arena; see arena.h for its layout.
#include "harness/observe/arena_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "harness/base/descriptor.h"
#include "harness/observe/arena.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

bool IsText(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

bool IsAbsolutePath(std::string_view text) {
  return IsText(text) && text.front() == '/' && text.find("/../") == text.npos &&
         !text.ends_with("/..") && !text.ends_with(" (deleted)");
}

void AddEntry(std::uint8_t kind, std::string_view text, ArenaNotes* out) {
  if (kind == kEntryVariable && IsText(text)) out->variables.emplace(text);
  if (!IsAbsolutePath(text)) return;
  if (kind == kEntryFile) out->files.emplace(text);
  if (kind == kEntryLibrary) out->libraries.emplace(text);
  if (kind == kEntryProgram) out->programs.emplace(text);
}

}  // namespace

std::string JoinNames(const std::vector<std::string>& names, bool* left_out) {
  std::string joined;
  *left_out = false;
  for (const std::string& name : names) {
    if (!IsText(name)) continue;
    if (joined.size() + name.size() + 2 > kArenaNamesBytes) {
      *left_out = true;
      continue;
    }
    joined.append(name).push_back('\0');
  }
  return joined;
}

Status MakeArena(const fs::path& folder, std::string_view names) {
  const fs::path path = folder / kArenaFile;
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return IoErrorFromErrno("cannot create", errno, path.string());
  std::string head(offsetof(Arena, names), '\0');
  std::memcpy(head.data(), &kArenaMagic, sizeof(kArenaMagic));
  head.append(names);
  // With its blocks: a hole that finds no space when it is written to would end the run (SIGBUS).
  if (const int failed = ::posix_fallocate(file.get(), 0, static_cast<off_t>(sizeof(Arena)));
      failed != 0) {
    return IoErrorFromErrno("cannot take space", failed, path.string());
  }
  if (::pwrite(file.get(), head.data(), head.size(), 0) != static_cast<ssize_t>(head.size())) {
    return IoErrorFromErrno("cannot write", errno, path.string());
  }
  return {};
}

Result<ArenaNotes> ParseArena(std::string_view bytes) {
  if (bytes.size() != sizeof(Arena) ||
      std::memcmp(bytes.data(), &kArenaMagic, sizeof(kArenaMagic)) != 0) {
    return InvalidInput("is not as it was made: the run changed it");
  }
  ArenaNotes notes;
  std::uint32_t dropped = 0;
  std::memcpy(&dropped, bytes.data() + offsetof(Arena, dropped), sizeof(dropped));
  notes.is_full = dropped > 0;
  for (std::size_t i = 0; i < kArenaEntries; ++i) {
    const std::string_view entry =
        bytes.substr(offsetof(Arena, entries) + i * sizeof(ArenaEntry), sizeof(ArenaEntry));
    if (entry[offsetof(ArenaEntry, ready)] != 1) continue;
    std::uint16_t size = 0;
    std::memcpy(&size, entry.data() + offsetof(ArenaEntry, size), sizeof(size));
    if (size == 0 || size > kArenaTextBytes) continue;
    AddEntry(static_cast<std::uint8_t>(entry[offsetof(ArenaEntry, kind)]),
             entry.substr(offsetof(ArenaEntry, text), size), &notes);
  }
  return notes;
}

Result<ArenaNotes> ReadArena(const HeldFolder& folder) {
  ASSIGN_OR_RETURN(const std::string bytes, folder.ReadFile(kArenaFile, sizeof(Arena)));
  return ParseArena(bytes);
}

}  // namespace rharness
