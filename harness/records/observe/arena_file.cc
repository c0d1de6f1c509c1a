// Making and reading the arena; see arena.h for its layout.
#include "harness/records/observe/arena_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <system_error>

#include "harness/base/descriptor.h"
#include "harness/records/observe/arena.h"

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

// The texts of a note on a Python's start; nothing if malformed.
void AddPython(std::string_view text, std::set<SeenProgram>* out) {
  std::array<std::string_view, kPythonTexts> texts;
  for (std::string_view& one : texts) {
    one = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  const auto& [program, invoked_as, folder, home, python_path] = texts;
  if (!text.empty() || !IsAbsolutePath(program) || !IsAbsolutePath(folder)) return;
  SeenProgram python{.executable = std::string(program),
                     .invoked_as = {},
                     .working_directory = std::string(folder),
                     .variables = {}};
  if (IsText(invoked_as)) python.invoked_as = invoked_as;
  if (IsText(home)) python.variables.emplace("HOME", home);
  if (IsText(python_path)) python.variables.emplace("PYTHONPATH", python_path);
  out->insert(std::move(python));
}

// "NUMBER REST".
bool TakeNumber(std::string_view* text, int* number) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (error != std::errc{} || end == text->data() + text->size() || *end != ' ') return false;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()) + 1);
  return *number > 0 && *number < 4096;
}

void AddLoss(std::uint8_t kind, std::string_view text, ArenaNotes* out) {
  int number = 0;
  if (!TakeNumber(&text, &number)) return;
  if (kind == kEntrySignalled && number > kExitCodes && text != "0") {
    out->shell_ends.emplace(text, number - kExitCodes);
  } else if (kind == kEntrySignalled) {
    ++out->child_ends[number];
  }
  if (kind == kEntryNotWritten && IsAbsolutePath(text)) {
    out->not_written.emplace(number, std::string(text));
  }
}

void AddLink(std::string_view text, ArenaNotes* out) {
  const std::string_view name = text.substr(0, text.find('\0'));
  const std::string_view file = text.substr(std::min(text.size(), name.size() + 1));
  if (!IsAbsolutePath(name) || !IsAbsolutePath(file)) return;
  out->links.emplace(name, file);
  out->begun_from.emplace(file);
}

void AddEntry(std::uint8_t kind, std::string_view text, ArenaNotes* out) {
  if (kind == kEntryPython) return AddPython(text, &out->pythons);
  if (kind == kEntrySignalled || kind == kEntryNotWritten) return AddLoss(kind, text, out);
  if (kind == kEntryLink) return AddLink(text, out);
  if (kind == kEntryVariable && IsText(text)) out->variables.emplace(text);
  if (!IsAbsolutePath(text)) return;
  if (kind == kEntryFile || kind == kEntryOwnFile) out->files.emplace(text);
  if (kind == kEntryFile) out->begun_from.emplace(text);
  if (kind == kEntryOutput) out->outputs.emplace(text);
  if (kind == kEntryLibrary) out->libraries.emplace(text);
  if (kind == kEntryProgram) out->programs.emplace(text);
}

Error NotAsMade() { return InvalidInput("is not as it was made: the run changed it"); }

// `bytes`: of the arena, up to its names at least.
Result<ArenaNotes> ParseHead(std::string_view bytes) {
  if (std::memcmp(bytes.data(), &kArenaMagic, sizeof(kArenaMagic)) != 0) return NotAsMade();
  std::uint32_t dropped = 0;
  std::memcpy(&dropped, bytes.data() + offsetof(Arena, dropped), sizeof(dropped));
  ArenaNotes notes;
  notes.is_full = dropped > 0;
  return notes;
}

// Whole entries, one after the other.
void AddEntries(std::string_view bytes, ArenaNotes* out) {
  for (; bytes.size() >= sizeof(ArenaEntry); bytes.remove_prefix(sizeof(ArenaEntry))) {
    if (bytes[offsetof(ArenaEntry, ready)] != 1) continue;
    std::uint16_t size = 0;
    std::memcpy(&size, bytes.data() + offsetof(ArenaEntry, size), sizeof(size));
    if (size == 0 || size > kArenaTextBytes) continue;
    AddEntry(static_cast<std::uint8_t>(bytes[offsetof(ArenaEntry, kind)]),
             bytes.substr(offsetof(ArenaEntry, text), size), out);
  }
}

// Where the entry begins that this byte is of.
std::size_t EntryBefore(std::size_t at) {
  const std::size_t entries = offsetof(Arena, entries);
  return at < entries ? entries : at - (at - entries) % sizeof(ArenaEntry);
}

// Shorter at the end of the file, which happens only if the run cut it.
Result<std::string> ReadPiece(int fd, std::size_t at, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count =
        ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(at + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return IoErrorFromErrno("cannot read", errno, kArenaFile);
    if (count == 0) return NotAsMade();
    done += static_cast<std::size_t>(count);
  }
  return bytes;
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

Status MakeNotesFile(const fs::path& path, std::string_view head, std::size_t size) {
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return IoErrorFromErrno("cannot create", errno, path.string());
  // With its blocks: a hole that finds no space when it is written to would end the run (SIGBUS).
  if (const int failed = ::posix_fallocate(file.get(), 0, static_cast<off_t>(size)); failed != 0) {
    return IoErrorFromErrno("cannot take space", failed, path.string());
  }
  if (::pwrite(file.get(), head.data(), head.size(), 0) != static_cast<ssize_t>(head.size())) {
    return IoErrorFromErrno("cannot write", errno, path.string());
  }
  return {};
}

Status MakeArena(const fs::path& folder, std::string_view names) {
  std::string head(offsetof(Arena, names), '\0');
  std::memcpy(head.data(), &kArenaMagic, sizeof(kArenaMagic));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::uint64_t made = static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
  std::memcpy(head.data() + offsetof(Arena, made_ns), &made, sizeof(made));
  head.append(names);
  return MakeNotesFile(folder / kArenaFile, head, sizeof(Arena));
}

Result<ArenaNotes> ParseArena(std::string_view bytes) {
  if (bytes.size() != sizeof(Arena)) return NotAsMade();
  ASSIGN_OR_RETURN(ArenaNotes notes, ParseHead(bytes));
  AddEntries(bytes.substr(offsetof(Arena, entries)), &notes);
  return notes;
}

// Reads only written parts: most of it is a hole, and reading that costs more than the run of a
// small command.
Result<ArenaNotes> ReadArena(const HeldFolder& folder) {
  ASSIGN_OR_RETURN(const OpenedFile file, folder.OpenFile(kArenaFile));
  if (file.size_bytes != sizeof(Arena)) return NotAsMade();
  const int fd = file.descriptor.get();
  ASSIGN_OR_RETURN(const std::string head, ReadPiece(fd, 0, offsetof(Arena, names)));
  ASSIGN_OR_RETURN(ArenaNotes notes, ParseHead(head));
  std::size_t at = offsetof(Arena, entries);
  while (at < sizeof(Arena)) {
    const off_t data = ::lseek(fd, static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // nothing but a hole follows
    // A file system without this query returns EINVAL: then all of it is read.
    const off_t hole = data < 0 ? -1 : ::lseek(fd, data, SEEK_HOLE);
    const std::size_t first = data < 0 ? at : EntryBefore(static_cast<std::size_t>(data));
    const std::size_t end = hole < 0 ? sizeof(Arena) : EntryBefore(static_cast<std::size_t>(hole));
    const std::size_t last = std::clamp(end, first + sizeof(ArenaEntry), sizeof(Arena));
    ASSIGN_OR_RETURN(const std::string piece, ReadPiece(fd, first, last - first));
    AddEntries(piece, &notes);
    at = last;
  }
  return notes;
}

}  // namespace rharness
