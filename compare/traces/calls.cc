// Reading traces of calls.
#include "compare/traces/calls.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "compare/traces/call_line.h"
#include "compare/traces/foreign_calls.h"
#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/json.h"
#include "harness/base/json_events.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCallLine = std::size_t{1} << 20;
constexpr std::size_t kNamedBadCalls = 5;
constexpr std::size_t kMostCallFiles = 65535;
constexpr std::uint64_t kMostForeignBytes = std::uint64_t{1} << 30;
constexpr std::size_t kReadBytes = std::size_t{1} << 20;

std::vector<CallTensor> ReadTensors(JsonReader& call, std::string_view list) {
  std::vector<CallTensor> tensors;
  call.ForEach(list, [&tensors](JsonReader& json) {
    CallTensor& tensor = tensors.emplace_back();
    json.ReadArray("shape", &tensor.shape);
    json.ReadOptional("dtype", &tensor.dtype);
    json.ReadOptional("digest", &tensor.digest);
    json.ReadOptional("norm", &tensor.norm);
    json.ReadOptional("nonfinite", &tensor.nonfinite);
    json.ReadOptional("from", &tensor.from);
    json.ReadOptional("name", &tensor.name);
    json.ReadOptional("unseen", &tensor.unseen);
    json.ReadOptional("count", &tensor.count);
  });
  return tensors;
}

// Reads one file, line by line, into a trace.
class CallReader {
 public:
  CallReader(int fd, std::string path, std::uint16_t file, CallTrace* trace)
      : fd_(fd), path_(std::move(path)), file_(file), trace_(*trace) {}

  Status Read() {
    // A line that goes on in the next block is moved to the front.
    std::string block(kMostCallLine + kReadBytes + kJsonEventPadding, '\0');
    std::size_t held = 0;
    bool skipping = false;  // the rest of a line that is too long
    while (true) {
      const ssize_t size = ::read(fd_, block.data() + held, kReadBytes);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return IoErrorFromErrno("cannot read", errno, path_);
      if (size == 0) break;
      char* const from = block.data();
      char* const to = from + held + size;
      char* line = from;
      for (char* at = NextEnd(from + held, to); at != nullptr; at = NextEnd(line, to)) {
        *at = '\0';
        const auto length = static_cast<std::size_t>(at - line);
        RETURN_IF_ERROR(skipping ? EndLong(length) : TakeLine(line, length, true));
        skipping = false;
        line = at + 1;
      }
      held = static_cast<std::size_t>(to - line);
      std::memmove(from, line, held);
      if (held <= kMostCallLine) continue;
      skipping = true;
      offset_ += std::exchange(held, 0);
    }
    if (skipping) RETURN_IF_ERROR(EndLong(0));
    block[held] = '\0';
    if (held > 0 && !skipping) RETURN_IF_ERROR(TakeLine(block.data(), held, false));
    if (!header_) return InvalidInput("expected a header line: rharness.calls/v1", path_);
    if (trace_.bad_lines > kNamedBadCalls) {
      trace_.notes.push_back(fmt::format("{}: and {} more lines are left out", path_,
                                         trace_.bad_lines - kNamedBadCalls));
    }
    return {};
  }

 private:
  static char* NextEnd(char* from, char* to) {
    return static_cast<char*>(std::memchr(from, '\n', static_cast<std::size_t>(to - from)));
  }

  Status EndLong(std::size_t length) {
    ++number_;
    offset_ += length + 1;
    if (!header_) return InvalidInput("expected a header line: rharness.calls/v1", path_);
    return Bad(fmt::format("is longer than {} bytes", kMostCallLine));
  }

  Status TakeLine(char* line, std::size_t length, bool whole) {
    ++number_;
    const std::uint64_t offset = offset_;
    offset_ += length + 1;
    const std::string_view text(line, length);
    if (text.find_first_not_of(" \t\r") == text.npos) return {};
    if (!header_) return ReadHeader(text);
    const bool trouble = text.starts_with("{\"error\"");
    if (trouble) return TakeTrouble(text);
    const bool readable = std::memchr(line, 0, length) == nullptr;
    const auto scanned = readable ? ScanCallLine(line) : std::optional<CallLine>();
    if (!scanned && !whole) {
      trace_.notes.push_back(fmt::format("{}: is cut off within line {}", path_, number_));
      return {};
    }
    if (!scanned) return Bad("expected a call with step, order and op");
    if (scanned->kind == CallLine::Kind::kEnd) {
      trace_.ended = true;
      return {};
    }
    return Add(*scanned, offset);
  }

  Status Add(const CallLine& line, std::uint64_t offset) {
    std::vector<CallStep>& steps = trace_.steps;
    if (!began_) {
      // A later process of the rank goes on here: what it repeats replaces the earlier one's.
      while (!steps.empty() && steps.back().step >= line.step) {
        trace_.entries.resize(steps.back().first);
        steps.pop_back();
      }
      if (file_ > 0 && !steps.empty()) {
        trace_.notes.push_back(
            fmt::format("{}: goes on at step {} in {}", trace_.paths.front(), line.step, path_));
      }
      began_ = true;
    }
    if (!steps.empty() && line.step < steps.back().step) {
      return Bad(fmt::format("step {} comes after step {}", line.step, steps.back().step));
    }
    const bool known = !steps.empty() && line.step == steps.back().step;
    if (known && line.entry.order <= trace_.entries.back().order) {
      return Bad(fmt::format("call {} of step {} comes after call {}", line.entry.order, line.step,
                             trace_.entries.back().order));
    }
    if (trace_.entries.size() == kMostCalls) {
      return InvalidInput(
          fmt::format("expected at most {} calls of a rank; trace fewer steps", kMostCalls), path_);
    }
    if (!known) steps.push_back({.step = line.step, .first = trace_.entries.size()});
    ++steps.back().count;
    CallEntry entry = line.entry;
    entry.offset = offset;
    entry.file = file_;
    trace_.entries.push_back(entry);
    return {};
  }

  Status TakeTrouble(std::string_view line) {
    const auto json = ParseJson(line, path_);
    const Json* trouble = json.ok() ? json->Find("error") : nullptr;
    const bool text = trouble != nullptr && trouble->kind() == Json::Kind::kString;
    trace_.trouble = text ? trouble->AsString() : "an error without words";
    return {};
  }

  Status Bad(const std::string& why) {
    if (++trace_.bad_lines <= kNamedBadCalls) {
      trace_.notes.push_back(fmt::format("{}: line {} is left out: {}", path_, number_, why));
    }
    return {};
  }

  Status ReadHeader(std::string_view line) {
    ASSIGN_OR_RETURN(const Json json, ParseJson(line, fmt::format("{}: line {}", path_, number_)));
    JsonReader reader(json, path_);
    reader.ReadSchema("rharness.calls", 1);
    reader.ReadOptional("rank", &trace_.rank);
    reader.ReadOptional("world", &trace_.world);
    reader.ReadOptional("framework", &trace_.framework);
    reader.ReadOptional("framework_version", &trace_.framework_version);
    reader.ReadOptional("digest", &trace_.digest);
    reader.ForEachMember("flags", [this](const std::string& name, JsonReader& value) {
      value.Get(&trace_.flags[name]);
    });
    header_ = true;
    trace_.ended = false;
    trace_.trouble.clear();
    return reader.status();
  }

  int fd_;
  std::string path_;
  std::uint16_t file_;
  CallTrace& trace_;
  std::uint64_t offset_ = 0;  // of the next line
  std::size_t number_ = 0;
  bool header_ = false;
  bool began_ = false;
};

Result<std::string> HeadOf(const OpenedFile& opened, const std::string& path) {
  std::string head(1 << 16, '\0');
  const ssize_t size = ::pread(opened.descriptor.get(), head.data(), head.size(), 0);
  if (size < 0) return IoErrorFromErrno("cannot read", errno, path);
  head.resize(static_cast<std::size_t>(size));
  return head;
}

// Reads a file of ours into the trace of its rank, or into a new one.
Status AddOwnCalls(OpenedFile opened, const std::string& head, const std::string& path,
                   std::vector<CallTrace>* traces) {
  int rank = 0;
  if (const auto json = ParseJson(head.substr(0, head.find('\n')), path); json.ok()) {
    JsonReader reader(*json, path);
    reader.ReadOptional("rank", &rank);
  }
  const auto same = std::ranges::find(*traces, rank, &CallTrace::rank);
  CallTrace* into = same == traces->end() ? nullptr : &*same;
  if (into == nullptr) {
    into = &traces->emplace_back();
    // Memory that is not written takes none; growing it would take half as much again.
    into->entries.reserve(std::min<std::uint64_t>(opened.size_bytes / 128, kMostCalls));
  }
  if (!into->held.empty()) return InvalidInput("expected traces of one tool in a folder", path);
  const std::size_t number = into->paths.size();
  if (number >= kMostCallFiles) return InvalidInput("expected fewer files of a rank", path);
  into->paths.push_back(path);
  CallReader reader(opened.descriptor.get(), path, static_cast<std::uint16_t>(number), into);
  return reader.Read();
}

Status AddCallFile(OpenedFile opened, const std::string& path, std::vector<CallTrace>* traces) {
  ASSIGN_OR_RETURN(const std::string head, HeadOf(opened, path));
  const CallFormat format = CallFormatOf(head);
  if (format != CallFormat::kDebugMode && format != CallFormat::kTorchtitan) {
    return AddOwnCalls(std::move(opened), head, path, traces);
  }
  // The file that was opened, whatever its name has become.
  const std::string through = fmt::format("/proc/self/fd/{}", opened.descriptor.get());
  ASSIGN_OR_RETURN(const std::string text, ReadFile(through, kMostForeignBytes));
  ASSIGN_OR_RETURN(CallTrace trace, format == CallFormat::kDebugMode
                                        ? ParseDebugModeLogs(text, path)
                                        : ParseTorchtitanDump(text, path));
  if (std::ranges::find(*traces, trace.rank, &CallTrace::rank) != traces->end()) {
    return InvalidInput(fmt::format("expected one trace of rank {}", trace.rank), path);
  }
  traces->push_back(std::move(trace));
  return {};
}

Result<std::vector<std::string>> CallNamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool torchtitan = name.starts_with("rank_") && name.ends_with("_activations.log");
    if (it->path().extension() == ".calls" || torchtitan)
      names.push_back(it->path().filename().string());
    if (names.size() > kMostCallFiles) {
      return InvalidInput(fmt::format("expected at most {} files *.calls", kMostCallFiles),
                          folder.string());
    }
  }
  if (error) return IoErrorFromErrno("cannot list", error.value(), folder.string());
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return names;
}

Result<std::string> LineAt(const std::string& path, bool follow_links, std::uint64_t offset) {
  ASSIGN_OR_RETURN(const OpenedFile opened, OpenRegularFile(path, follow_links));
  std::string line;
  std::array<char, 8192> block{};
  while (line.size() <= kMostCallLine) {
    const auto at = static_cast<off_t>(offset + line.size());
    const ssize_t size = ::pread(opened.descriptor.get(), block.data(), block.size(), at);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return IoErrorFromErrno("cannot read", errno, path);
    const std::string_view part(block.data(), static_cast<std::size_t>(size));
    const auto end = part.find('\n');
    line += part.substr(0, end);
    if (size == 0 || end != part.npos) break;
  }
  return line;
}

}  // namespace

Result<Call> ParseCall(std::string_view line, std::string_view where) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(line, where));
  Call call;
  JsonReader reader(json, std::string(where));
  reader.Read("step", &call.step);
  reader.Read("order", &call.order);
  reader.ReadOptional("phase", &call.phase);
  reader.ReadOptional("module", &call.module);
  reader.Read("op", &call.op);
  reader.ReadOptional("site", &call.site);
  reader.ReadOptional("args", &call.args);
  reader.ReadOptional("rng", &call.rng);
  reader.ReadOptional("group", &call.group);
  reader.ReadOptional("unit", &call.unit);
  reader.ReadOptional("view", &call.view);
  call.inputs = ReadTensors(reader, "in");
  call.outputs = ReadTensors(reader, "out");
  RETURN_IF_ERROR(reader.status());
  return call;
}

Result<Call> CallTrace::Read(const CallEntry& entry) const {
  const std::string& path = paths[entry.file];
  const std::string where = fmt::format("{}: call {}", path, entry.order);
  std::string line;
  if (!held.empty()) {
    const std::string_view rest = std::string_view(held).substr(entry.offset);
    line = rest.substr(0, rest.find('\n'));
  } else {
    ASSIGN_OR_RETURN(line, LineAt(path, given, entry.offset));
  }
  ASSIGN_OR_RETURN(Call call, ParseCall(line, where));
  if (call.order != entry.order) {
    return InvalidInput("expected this call, as it was read before: the file has changed", where);
  }
  return call;
}

Result<std::vector<CallTrace>> LoadCalls(const fs::path& path) {
  std::vector<CallTrace> traces;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    if (!HasCalls(path)) return traces;
    ASSIGN_OR_RETURN(OpenedFile opened, OpenRegularFile(path));
    RETURN_IF_ERROR(AddCallFile(std::move(opened), path.string(), &traces));
    for (CallTrace& trace : traces) trace.given = true;
    return traces;
  }
  ASSIGN_OR_RETURN(const HeldFolder folder, HeldFolder::Open(path));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, CallNamesIn(path));
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(OpenedFile opened, folder.OpenFile(name));
    RETURN_IF_ERROR(AddCallFile(std::move(opened), (path / name).string(), &traces));
  }
  std::ranges::sort(traces, {}, &CallTrace::rank);
  return traces;
}

bool HasCalls(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const auto opened = OpenRegularFile(path);
    if (!opened.ok()) return false;
    const auto head = HeadOf(*opened, path.string());
    return head.ok() && (path.extension() == ".calls" || CallFormatOf(*head) != CallFormat::kNone);
  }
  const auto names = CallNamesIn(path);
  return names.ok() && !names->empty();
}

}  // namespace rharness
