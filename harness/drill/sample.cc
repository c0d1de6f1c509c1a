// The order in which runs have waited for a drill, so that successive nights go round the history.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "harness/drill/select.h"

namespace rharness {
namespace {

// Source: Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators", SplitMix64.
std::uint64_t SplitMix64(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

// A number that depends on the seed and the run alone, not on the entry's place. The run enters
// through FNV-1a.
std::uint64_t Draw(std::uint64_t seed, const std::string& run_id) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : run_id) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  }
  return SplitMix64(SplitMix64(seed) ^ SplitMix64(hash));
}

}  // namespace

std::vector<HistoryEntry> OrderByWait(std::vector<HistoryEntry> entries, std::uint64_t seed) {
  std::sort(entries.begin(), entries.end(), [seed](const HistoryEntry& a, const HistoryEntry& b) {
    // An empty optional is before every time.
    if (a.judged != b.judged) return a.judged < b.judged;
    const std::uint64_t left = Draw(seed, a.run_id), right = Draw(seed, b.run_id);
    return left != right ? left < right : a.run_id < b.run_id;
  });
  return entries;
}

std::vector<HistoryEntry> SampleLongestWaiting(const std::vector<HistoryEntry>& entries,
                                               std::size_t size, std::uint64_t seed) {
  if (size >= entries.size()) return entries;
  const std::vector<HistoryEntry> order = OrderByWait(entries, seed);
  std::set<std::string> chosen;
  for (std::size_t i = 0; i < size; ++i) chosen.insert(order[i].run_id);
  std::vector<HistoryEntry> sample;
  for (const HistoryEntry& entry : entries) {
    if (chosen.contains(entry.run_id)) sample.push_back(entry);
  }
  return sample;
}

}  // namespace rharness
