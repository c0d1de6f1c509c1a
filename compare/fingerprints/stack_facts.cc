// By the words of the key alone.
#include "compare/fingerprints/stack_facts.h"

#include <algorithm>
#include <array>

namespace rharness {
namespace {

std::string_view LastPart(std::string_view key) { return key.substr(key.rfind('.') + 1); }

}  // namespace

bool NamesOneMachine(std::string_view key) {
  static constexpr std::array<std::string_view, 10> kWords = {
      "uuid",       "serial", "hostname", "nodename", "node",
      "machine_id", "pci",    "bus_id",   "address",  "boot_id"};
  if (key == "host" || key == "host.name") return true;
  const std::string_view last = LastPart(key);
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    return last == word || last.starts_with(std::string(word) + "_") ||
           last.ends_with("_" + std::string(word));
  });
}

bool IsOfMachine(std::string_view key) {
  return key.starts_with("cpu.") || key.starts_with("gpus.") || key.starts_with("memory") ||
         key.find(".device.") != key.npos;
}

bool IsDigest(std::string_view key) {
  static constexpr std::array<std::string_view, 5> kDigests = {"build_id", "sha256", "path",
                                                               "soname", "digest"};
  return std::ranges::find(kDigests, LastPart(key)) != kDigests.end();
}

bool IsWithheldNote(std::string_view value) { return value.starts_with("withheld:"); }

bool CannotCompare(const std::optional<std::string>& a, const std::optional<std::string>& b) {
  if (!a || !b || !IsWithheldNote(*a) || !IsWithheldNote(*b)) return false;
  return a->substr(0, a->rfind(':')) != b->substr(0, b->rfind(':'));
}

int TellingRank(std::string_view key) {
  if (IsDigest(key)) return 3;
  const std::string_view last = LastPart(key);
  if (key.starts_with("environment.")) return 0;
  if (last == "version" || last.ends_with("driver") || last.ends_with("model")) return 1;
  return 2;
}

}  // namespace rharness
