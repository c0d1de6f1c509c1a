// Fuzzes what an observed run leaves of itself: one input is the entries of its arena, and the
// notes of a Python. The run may write there what it likes; what is taken is a path or a word
// without control characters.
//
// Run: rharness-seen-fuzz -max_total_time=60 CORPUS seen_seeds
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "harness/records/observe/arena.h"
#include "harness/records/observe/arena_file.h"
#include "harness/records/observe/python_notes.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

bool HasControl(const std::string& text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

void CheckPaths(const std::set<std::string>& paths) {
  for (const std::filesystem::path path : paths) {
    Require(path.is_absolute() && path.lexically_normal() == path && !HasControl(path.string()));
  }
}

void CheckArena(std::string_view entries) {
  Require(!ParseArena(entries).ok());
  static std::string bytes(sizeof(Arena), '\0');
  std::memcpy(bytes.data(), &kArenaMagic, sizeof(kArenaMagic));
  const std::size_t size = std::min(entries.size(), bytes.size() - offsetof(Arena, entries));
  bytes.replace(offsetof(Arena, entries), size, entries.substr(0, size));
  const auto notes = ParseArena(bytes);
  bytes.replace(offsetof(Arena, entries), size, size, '\0');
  Require(notes.ok());
  for (const std::string& name : notes->variables) Require(!HasControl(name));
  CheckPaths(notes->files);
  CheckPaths(notes->libraries);
  CheckPaths(notes->programs);
}

void CheckNotes(std::string_view text) {
  const ProcessNotes notes = ParseProcessNotes(text);
  for (const auto& [source, values] : notes.seeds) {
    Require(!HasControl(source) && std::ranges::none_of(values, HasControl));
  }
  for (const auto& [flag, value] : notes.flags) Require(!HasControl(flag) && !HasControl(value));
  Require(notes.unread_lines <= text.size());
  const ProcessNotes merged = MergeProcessNotes({notes, notes});
  Require(merged.flags == notes.flags && merged.variables == notes.variables);
  Require(merged.seeds.size() == notes.seeds.size() && merged.programs == notes.programs);
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::CheckArena(rharness::TextOf(data, size));
  rharness::CheckNotes(rharness::TextOf(data, size));
  return 0;
}
