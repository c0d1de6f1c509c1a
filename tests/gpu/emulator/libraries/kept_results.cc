// Results by key, in memory and in files.
#include "tests/gpu/emulator/libraries/kept_results.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace rharness {
namespace {

constexpr std::size_t kMostBytes = std::size_t{128} << 20;

struct Kept {
  std::map<std::string, std::vector<double>> values;
  std::size_t bytes = 0;
};
Kept& InMemory() {
  static Kept kept;
  return kept;
}

std::string FileOf(const std::string& key) {
  const char* folder = std::getenv("EMULATED_RESULTS");
  return folder == nullptr ? "" : fmt::format("{}/{}", folder, key);
}

std::optional<std::vector<double>> ReadValues(const std::string& path) {
  std::FILE* file = path.empty() ? nullptr : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  std::fseek(file, 0, SEEK_END);
  std::vector<double> values(static_cast<std::size_t>(std::ftell(file)) / sizeof(double));
  std::rewind(file);
  const bool whole =
      std::fread(values.data(), sizeof(double), values.size(), file) == values.size();
  std::fclose(file);
  return whole ? std::optional(std::move(values)) : std::nullopt;
}

// Renamed when it is whole: two processes may keep the same.
void WriteValues(const std::string& path, const std::vector<double>& values) {
  const std::string part = fmt::format("{}.{}", path, ::getpid());
  std::FILE* file = path.empty() ? nullptr : std::fopen(part.c_str(), "wb");
  if (file == nullptr) return;
  const bool whole =
      std::fwrite(values.data(), sizeof(double), values.size(), file) == values.size();
  if (std::fclose(file) != 0 || !whole || std::rename(part.c_str(), path.c_str()) != 0) {
    std::remove(part.c_str());
  }
}

void KeepInMemory(const std::string& key, const std::vector<double>& values) {
  Kept& kept = InMemory();
  const std::size_t bytes = values.size() * sizeof(double);
  if (kept.bytes + bytes > kMostBytes) kept = Kept();
  if (kept.values.emplace(key, values).second) kept.bytes += bytes;
}

}  // namespace

void ResultKey::Add(const void* bytes, std::size_t size) {
  const auto* at = static_cast<const char*>(bytes);
  low_ ^= size;
  for (; size > 0; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    const std::size_t part = size < sizeof(word) ? size : sizeof(word);
    std::memcpy(&word, at, part);
    size -= part;
    low_ = (low_ ^ word) * 0xff51afd7ed558ccdU;
    low_ ^= low_ >> 32;
    high_ = (high_ + word) * 0xc4ceb9fe1a85ec53U;
    high_ ^= high_ >> 29;
  }
}

std::string ResultKey::Text() const { return fmt::format("{:016x}{:016x}", low_, high_); }

std::optional<std::vector<double>> KeptResult(const ResultKey& key) {
  const std::string text = key.Text();
  const auto found = InMemory().values.find(text);
  if (found != InMemory().values.end()) return found->second;
  auto values = ReadValues(FileOf(text));
  if (values) KeepInMemory(text, *values);
  return values;
}

void KeepResult(const ResultKey& key, const std::vector<double>& values) {
  KeepInMemory(key.Text(), values);
  WriteValues(FileOf(key.Text()), values);
}

}  // namespace rharness
