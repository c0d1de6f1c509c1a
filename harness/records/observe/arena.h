// The file in which the processes of a run note what they read: its layout in memory.
//
// Role: shared by the library that is loaded into those processes (preload.cc), which writes it,
// and by arena_file.cc, which makes it and reads it. Plain memory, mapped by every process: nothing
// is written at the end of a process, so that the notes of a killed process survive. The notes are
// untrusted.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_ARENA_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_ARENA_H_

#include <cstddef>
#include <cstdint>

namespace rharness {

inline constexpr std::uint64_t kArenaMagic = 0x32304e4545534852;  // "RHSEEN02"
inline constexpr std::size_t kArenaEntries = 8192;
inline constexpr std::size_t kArenaTextBytes = 500;
inline constexpr std::size_t kArenaNamesBytes = 65536 - 24;

// Prefixes of names: a variable, the beginning of variables, a folder whose files are declared, the
// run's own folder (with it, files that are opened for writing are noted).
inline constexpr char kNameExact = '=';
inline constexpr char kNamePrefix = '^';
inline constexpr char kNameFolder = '/';
inline constexpr char kNameHome = '~';

// What an entry notes, each thing once.
inline constexpr std::uint8_t kEntryVariable = 'E';  // asked for by name
inline constexpr std::uint8_t kEntryFile = 'F';      // opened for reading
inline constexpr std::uint8_t kEntryOwnFile = 'G';   // the same after the run changed it
// Opened for reading through a link: the name, NUL, the file.
inline constexpr std::uint8_t kEntryLink = 'N';
inline constexpr std::uint8_t kEntryOutput = 'O';   // opened for writing, if there is a kNameHome
inline constexpr std::uint8_t kEntryLibrary = 'L';  // mapped at the start or end of a process
inline constexpr std::uint8_t kEntryProgram = 'X';  // has the library in it
// How a Python started: its file, its invoked name, its folder, HOME and PYTHONPATH, with NUL
// between them.
inline constexpr std::uint8_t kEntryPython = 'P';
inline constexpr std::size_t kPythonTexts = 5;
// A child that did not end with 0: "SIGNAL PID", unless its parent sent the signal, or, once per
// exit code, kExitCodes plus the code, and 0; of a shell's child its PID.
inline constexpr std::uint8_t kEntrySignalled = 'S';
inline constexpr int kExitCodes = 1000;
// A write that found no space or was too long: "ERRNO FILE".
inline constexpr std::uint8_t kEntryNotWritten = 'W';

struct ArenaEntry {
  std::uint64_t hash;  // 0: free
  std::uint8_t kind;
  std::uint8_t ready;  // 1: written to its end
  std::uint16_t size;
  char text[kArenaTextBytes];
};
static_assert(sizeof(ArenaEntry) == 512);

struct Arena {
  std::uint64_t magic;
  std::uint32_t dropped;  // what found no place
  std::uint32_t reserved;
  std::uint64_t made_ns;         // when, by the time of files
  char names[kArenaNamesBytes];  // each ends with NUL; an empty one is the last
  ArenaEntry entries[kArenaEntries];
};
static_assert(sizeof(Arena) == 65536 + 512 * kArenaEntries);

// In the folder that kObserveVariable names.
inline constexpr char kArenaFile[] = "seen";
inline constexpr char kObserveVariable[] = "RHARNESS_OBSERVE";

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_ARENA_H_
