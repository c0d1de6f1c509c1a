// Reading traces, line by line.
#include "compare/traces/trace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/json.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamedBadLines = 5;
constexpr std::size_t kMostName = 4096;
constexpr std::array<std::string_view, 12> kKinds = {
    "setting", "rng",    "parameter", "buffer",          "state",    "batch",
    "input",   "output", "loss",      "output_gradient", "gradient", "updated"};

std::optional<TraceKind> FindKind(std::string_view name) {
  const auto found = std::ranges::find(kKinds, name);
  if (found == kKinds.end()) return std::nullopt;
  return static_cast<TraceKind>(found - kKinds.begin());
}

Result<TraceRecord> ReadRecord(const Json& json, const std::string& file) {
  TraceRecord record;
  JsonReader reader(json, file);
  std::string kind;
  record.norm = record.max = std::numeric_limits<double>::quiet_NaN();
  reader.Read("step", &record.step);
  reader.ReadOptional("order", &record.order);
  reader.Read("kind", &kind);
  reader.Read("name", &record.name);
  reader.ReadOptional("type", &record.type);
  reader.ReadOptional("index", &record.index);
  reader.ReadOptional("call", &record.call);
  reader.ReadArray("shape", &record.shape);
  reader.ReadOptional("dtype", &record.dtype);
  reader.ReadOptional("digest", &record.digest);
  reader.ReadOptional("norm", &record.norm);
  reader.ReadOptional("max", &record.max);
  reader.ReadOptional("nonfinite", &record.nonfinite);
  reader.ReadArray("sketch", &record.sketch);
  reader.ReadOptional("random", &record.random);
  reader.ReadOptional("value", &record.value);
  const auto found = FindKind(kind);
  if (!found) reader.Fail("expected a kind of record", "kind");
  if (record.name.size() > kMostName) reader.Fail("expected a shorter name", "name");
  if (record.shape.size() > 64) reader.Fail("expected at most 64 dimensions", "shape");
  if (record.sketch.size() > 64) reader.Fail("expected at most 64 sums", "sketch");
  RETURN_IF_ERROR(reader.status());
  record.kind = *found;
  return record;
}

class TraceReader {
 public:
  TraceReader(std::string_view text, std::string_view file) : text_(text), file_(file) {
    trace_.path = file;
  }

  Result<Trace> Read() {
    while (!text_.empty()) RETURN_IF_ERROR(TakeLine());
    if (!header_) return InvalidInput("expected a header line: rharness.trace/v1", file_);
    if (trace_.bad_lines > kNamedBadLines) {
      trace_.notes.push_back(fmt::format("{}: and {} more lines are left out", file_,
                                         trace_.bad_lines - kNamedBadLines));
    }
    std::ranges::stable_sort(trace_.records, [](const TraceRecord& a, const TraceRecord& b) {
      return std::pair(a.step, a.order) < std::pair(b.step, b.order);
    });
    TakeOffPrefixes();
    return std::move(trace_);
  }

 private:
  Status TakeLine() {
    ++number_;
    const std::size_t end = text_.find('\n');
    const std::string_view line = text_.substr(0, end);
    const bool whole = end != std::string_view::npos;
    text_.remove_prefix(whole ? end + 1 : text_.size());
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
    if (line.size() > kMostTraceLine) {
      if (!header_) return InvalidInput("expected a header line: rharness.trace/v1", file_);
      return Bad(fmt::format("has {} bytes, more than {}", line.size(), kMostTraceLine));
    }
    const std::string where = fmt::format("{}: line {}", file_, number_);
    const auto json = ParseJson(line, where);
    if (!header_) {
      if (!json.ok()) return json.error();
      return ReadHeader(*json);
    }
    if (!json.ok() && !whole) {
      trace_.notes.push_back(fmt::format("{}: is cut off within line {}", file_, number_));
      return {};
    }
    if (!json.ok()) return Bad(json.error().message);
    if (json->Find("end") != nullptr) {
      trace_.ended = true;
      return {};
    }
    if (const Json* trouble = json->Find("error")) {
      const bool text = trouble->kind() == Json::Kind::kString;
      trace_.trouble = text ? trouble->AsString() : "an error without words";
      return {};
    }
    auto record = ReadRecord(*json, where);
    if (!record.ok()) return Bad(record.error().message);
    trace_.records.push_back(std::move(*record));
    return {};
  }

  Status Bad(const std::string& why) {
    if (++trace_.bad_lines <= kNamedBadLines) {
      trace_.notes.push_back(fmt::format("{}: line {} is left out: {}", file_, number_, why));
    }
    return {};
  }

  Status ReadHeader(const Json& json) {
    JsonReader reader(json, file_);
    reader.ReadSchema("rharness.trace", 1);
    reader.ReadOptional("rank", &trace_.rank);
    reader.ReadOptional("world", &trace_.world);
    reader.ReadOptional("framework", &trace_.framework);
    reader.ReadOptional("framework_version", &trace_.framework_version);
    reader.ForEachMember("flags", [this](const std::string& name, JsonReader& value) {
      value.Get(&trace_.flags[name]);
    });
    header_ = true;
    return reader.status();
  }

  void TakeOffPrefixes() {
    constexpr std::string_view kWrapper = "module.";
    constexpr std::string_view kCompiler = "_orig_mod.";
    bool wrapped = false, own = false;  // of parameters
    for (TraceRecord& record : trace_.records) {
      for (auto at = record.name.find(kCompiler); at != std::string::npos;
           at = record.name.find(kCompiler)) {
        record.name.erase(at, kCompiler.size());
      }
      if (record.kind == TraceKind::kParameter) {
        (record.name.starts_with(kWrapper) ? wrapped : own) = true;
      }
    }
    if (!wrapped || own) return;
    for (TraceRecord& record : trace_.records) {
      if (record.name.starts_with(kWrapper)) record.name.erase(0, kWrapper.size());
    }
  }

  std::string_view text_;
  std::string file_;
  Trace trace_;
  std::size_t number_ = 0;
  bool header_ = false;
};

// "rank-0.jsonl" before "rank-0.1.jsonl" before "rank-0.10.jsonl".
bool NameBefore(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

// The file of a later process of a rank continues the earlier one.
void Join(Trace later, Trace* trace) {
  if (later.records.empty()) return;
  if (trace->records.empty()) {
    *trace = std::move(later);
    return;
  }
  const std::int64_t from = later.records.front().step;
  std::erase_if(trace->records, [&](const TraceRecord& record) { return record.step >= from; });
  std::ranges::move(later.records, std::back_inserter(trace->records));
  trace->ended = later.ended;
  trace->trouble = later.trouble;
  trace->bad_lines += later.bad_lines;
  std::ranges::move(later.notes, std::back_inserter(trace->notes));
  trace->notes.push_back(
      fmt::format("{}: goes on at step {} in {}", trace->path, from, later.path));
}

Result<std::vector<std::string>> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    if (it->path().extension() == ".jsonl") names.push_back(it->path().filename().string());
    if (names.size() > kMostTraces) {
      return InvalidInput(fmt::format("expected at most {} traces", kMostTraces), folder.string());
    }
  }
  if (error) return IoErrorFromErrno("cannot list", error.value(), folder.string());
  std::ranges::sort(names, NameBefore);
  return names;
}

}  // namespace

std::string_view TraceKindName(TraceKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

Result<Trace> ParseTrace(std::string_view text, std::string_view file) {
  return TraceReader(text, file).Read();
}

Result<std::vector<Trace>> LoadTraces(const fs::path& path) {
  std::error_code error;
  std::vector<Trace> traces;
  if (!fs::is_directory(path, error)) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostTraceBytes));
    ASSIGN_OR_RETURN(Trace trace, ParseTrace(text, path.string()));
    traces.push_back(std::move(trace));
    return traces;
  }
  ASSIGN_OR_RETURN(const HeldFolder folder, HeldFolder::Open(path));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(path));
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const std::string text, folder.ReadFile(name, kMostTraceBytes));
    ASSIGN_OR_RETURN(Trace trace, ParseTrace(text, (path / name).string()));
    const auto same = std::ranges::find(traces, trace.rank, &Trace::rank);
    if (same == traces.end()) {
      traces.push_back(std::move(trace));
    } else {
      Join(std::move(trace), &*same);
    }
  }
  if (traces.empty()) {
    return NotFound("holds no trace; expected files *.jsonl of rharness_trace", path.string());
  }
  std::ranges::sort(traces, {}, &Trace::rank);
  return traces;
}

bool IsTrace(const fs::path& path) {
  std::error_code error;
  fs::path file = path;
  if (fs::is_directory(path, error)) {
    const auto names = NamesIn(path);
    if (!names.ok() || names->empty()) return false;
    file = path / names->front();
  }
  const auto opened = OpenRegularFile(file);
  if (!opened.ok()) return false;
  std::array<char, 400> head{};
  const ssize_t size = ::pread(opened->descriptor.get(), head.data(), head.size(), 0);
  const std::string_view text(head.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return text.substr(0, text.find('\n')).find("\"rharness.trace/") != std::string_view::npos;
}

}  // namespace rharness
