// The parts put into a container to observe a run there, and the first program's messages.
//
// Role: shared by enter.cc, which is that first program, look.cc, which listens on this host, and
// image_observer.cc, which starts the two. A run in a container sees three folders below
// kInsideFolder:
//   parts  read-only: the library, the Python hooks, rharness-enter
//   door   read-only: the socket on which look listens, and the initial notes
//   notes  a file system in memory, of kNotesBytes and of nothing of this host: the one folder
//          of these that it can write to
// rharness-enter passes the root, the notes and the mount namespace to look as descriptors and then
// becomes the run's command. So look has them however soon the run ends, needs no engine, and none
// of the run's own code has run before.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_DOOR_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_DOOR_H_

#include <cstdint>

namespace rharness {

// System folders in preload.cc's sense: files opened there are nobody's input.
inline constexpr char kInsideFolder[] = "/run/rharness-observe";
inline constexpr char kInsideParts[] = "/run/rharness-observe/parts";
inline constexpr char kInsideDoor[] = "/run/rharness-observe/door";
inline constexpr char kInsideNotes[] = "/run/rharness-observe/notes";
inline constexpr std::uint64_t kNotesBytes = std::uint64_t{16} << 20;

inline constexpr char kEnterProgram[] = "rharness-enter";
inline constexpr char kLookProgram[] = "rharness-look";
inline constexpr char kDoorSocket[] = "door";  // in the folder of that name
inline constexpr char kNamesFile[] = "names";  // for the Python hooks

// rharness-enter's first argument: the parts to give the run. The rest is the run's command.
inline constexpr char kLendPreload[] = "preload";
inline constexpr char kLendPython[] = "preload+python";

inline constexpr std::uint64_t kDoorMagic = 0x31524f4f44524852;  // "RHRDOOR1"

enum class DoorEvent : std::uint8_t {
  kEntered = 1,     // with the descriptors: root, notes, and, if available, mount namespace
  kNotStarted = 2,  // the command could not be started: `error`
};

// Why the library was not lent.
enum class DoorWhy : std::uint8_t { kNone = 0, kNotes, kNotGlibc, kAddressSanitizer };

struct DoorMessage {
  std::uint64_t magic = 0;
  DoorEvent event{};
  std::uint8_t preload = 0;  // lent
  std::uint8_t python = 0;
  std::uint8_t kernels = 0;
  DoorWhy why{};
  std::int32_t error = 0;
  char program[1024] =
      {};  // the command's file, interpreters of scripts followed; empty: not found
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_DOOR_H_
