// JSON and records: parsed, read from a file, and made runs, beside nlohmann/json that only parses.
#include <benchmark/benchmark.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/records/intake/importers.h"
#include "harness/records/intake/json_items.h"
#include "harness/records/manifest/manifest.h"
#include "tests/bench/micro/records_of_runs.h"

namespace rharness {
namespace {

constexpr int kRecords = 1000;
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

std::vector<std::string> Lines() {
  std::vector<std::string> lines;
  for (int i = 0; i < kRecords; ++i) lines.push_back(bench::RecordOfRun(i));
  return lines;
}

std::int64_t BytesOf(const std::vector<std::string>& lines) {
  std::int64_t bytes = 0;
  for (const std::string& line : lines) bytes += static_cast<std::int64_t>(line.size()) + 1;
  return bytes;
}

void CountRecords(const std::vector<std::string>& lines, benchmark::State* state) {
  state->SetBytesProcessed(state->iterations() * BytesOf(lines));
  state->SetItemsProcessed(state->iterations() * static_cast<std::int64_t>(lines.size()));
}

// f(line) of each; members of a record are the proof that it was read.
template <class F>
void EachLine(benchmark::State& state, F members_of) {
  const std::vector<std::string> lines = Lines();
  for ([[maybe_unused]] auto _ : state) {
    std::size_t members = 0;
    for (const std::string& line : lines) members += members_of(line);
    if (members != 12 * lines.size()) return state.SkipWithError("not all members were read");
  }
  CountRecords(lines, &state);
}

void OfNlohmann(benchmark::State& state) {
  EachLine(state, [](const std::string& line) { return nlohmann::json::parse(line).size(); });
}
BENCHMARK(OfNlohmann)->Name("records/nlohmann");

void OfParseJson(benchmark::State& state) {
  EachLine(state, [](const std::string& line) {
    const auto json = ParseJson(line, "line");
    return json.ok() ? json->AsObject().size() : 0;
  });
}
BENCHMARK(OfParseJson)->Name("records/parse");

// A file of the records, read in each iteration by `read`, which returns their number.
template <class F>
void FromFile(benchmark::State& state, F read) {
  const auto folder = ScopedTempDir::Make("rharness-microbench-");
  if (!folder.ok()) return state.SkipWithError(folder.error().message.c_str());
  const std::vector<std::string> lines = Lines();
  const std::string path = folder->path() / "records.jsonl";
  std::ofstream file(path);
  for (const std::string& line : lines) file << line << '\n';
  file.close();
  for ([[maybe_unused]] auto _ : state) {
    if (read(path) != kRecords) return state.SkipWithError("not all records were read");
  }
  CountRecords(lines, &state);
}

int ReadItems(const std::string& path) {
  auto items = JsonItems::Open(path, kMostBytes);
  int count = 0;
  while (items.ok()) {
    const auto item = items->Next();
    if (!item.ok() || !*item) break;
    count += (*item)->json.ok() ? 1 : 0;
  }
  return count;
}
void Read(benchmark::State& state) { FromFile(state, ReadItems); }
BENCHMARK(Read)->Name("records/read");

// Every member checked and graded, as the verb does before it makes a manifest.
int ReadRuns(const std::string& path) {
  int count = 0;
  const ImportSink sink{.take =
                            [&](ImportedRun) {
                              ++count;
                              return Status();
                            },
                        .refuse = [](const std::string&, const Error&) {}};
  ImportRequest request;
  request.source = path;
  return ImportPlainRecords(request, sink).ok() ? count : 0;
}
void Validate(benchmark::State& state) { FromFile(state, ReadRuns); }
BENCHMARK(Validate)->Name("records/validate");

}  // namespace
}  // namespace rharness
