// Notes of a gang to JSON and back.
#include "harness/execution/rerun/gang_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/clean_text.h"
#include "harness/base/json_reader.h"
#include "harness/base/strict_member_reader.h"
#include "harness/records/manifest/evidence_members.h"

namespace rharness {

struct PathKind {
  static void Read(JsonReader& reader, std::string_view key, bool, std::filesystem::path* out) {
    std::string text;
    ReadText(reader, key, &text);
    *out = text;
  }
  static Json Write(const std::filesystem::path& path) { return path.string(); }
};
inline constexpr PathKind kPathText;

template <class Io, Is<Mount> T>
void Members(Io& io, T& mount) {
  io.Must(kPathText, "source", mount.source);
  io.Must(kPlainText, "target", mount.target);
}

template <class Io, Is<NodeReady> T>
void Members(Io& io, T& ready) {
  io.Object("machine", ready.machine);
  io.May(kPlainText, "address", ready.address);
  io.May(kCountNumber, "port", ready.port);
  io.May(kPlainText, "workspace", ready.workspace);
  io.List("mounts", ready.mounts);
  io.May(kPlainText, "notes", ready.notes);
  io.May("obstacle", ready.obstacle);
  io.May(kLayerOrNone, "layer", ready.layer);
  io.May("infrastructure", ready.infrastructure);
}

template <class Io, Is<FirstFailure> T>
void Members(Io& io, T& failure) {
  io.Must(kCountNumber, "node", failure.node);
  io.Must(kCountNumber, "rank", failure.rank);
  io.May(kPlainText, "host", failure.host);
  io.Object("outcome", failure.outcome);
  io.May("last_line", failure.last_line);
}

template <class Io, Is<Rendezvous> T>
void Members(Io& io, T& start) {
  io.Must(kPlainText, "address", start.address);
  io.Must(kCountNumber, "port", start.port);
  io.May(kNames, "hosts", start.hosts);
  io.Must(kPlainText, "id", start.id);
}

template <class Io, Is<TaskEnd> T>
void Members(Io& io, T& task) {
  io.Must(kCountNumber, "rank", task.rank);
  io.Object("outcome", task.outcome);
  io.May("stopped", task.stopped);
  io.May(kSeconds, "silent_seconds", task.silence);
  io.May("last_line", task.last_line);
  io.ObjectUnlessEmpty("observation", task.observation);
}

template <class Io, Is<PartEnd> T>
void Members(Io& io, T& end) {
  io.Object("evidence", end.evidence);
  io.May("infrastructure", end.infrastructure);
  io.List("tasks", end.tasks);
  io.May("peak_memory_bytes", end.peak_memory_bytes);
}

Json ToJson(const NodeReady& ready) { return StrictWriter::Written(ready); }
Json ToJson(const FirstFailure& failure) { return StrictWriter::Written(failure); }
Json ToJson(const Rendezvous& start) { return StrictWriter::Written(start); }
Json ToJson(const PartEnd& end) { return StrictWriter::Written(end); }

Result<NodeReady> ParseNodeReady(const Json& json, std::string_view file) {
  return ParseStrictly<NodeReady>(json, file);
}
Result<FirstFailure> ParseFirstFailure(const Json& json, std::string_view file) {
  return ParseStrictly<FirstFailure>(json, file);
}
Result<Rendezvous> ParseRendezvous(const Json& json, std::string_view file) {
  return ParseStrictly<Rendezvous>(json, file);
}
Result<PartEnd> ParsePartEnd(const Json& json, std::string_view file) {
  return ParseStrictly<PartEnd>(json, file);
}

std::string InRanges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (last > i) text += fmt::format("-{}", numbers[last]);
    i = last;
  }
  return text;
}

StepWord ReadStepLog(std::string_view text) {
  StepWord word;
  std::string other;    // of a node
  bool failed = false;  // the first error has the cause
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("srun: ")) {
      const bool is_error = line.starts_with("srun: error: ");
      if (!failed) word.why = LastLine(line);
      failed |= is_error;
      word.is_final |= is_error || line.starts_with("srun: ended with ");
    } else if (!line.empty()) {
      other = LastLine(line);
    }
  }
  if (!word.why.empty() && !other.empty()) word.why += fmt::format(" ({})", other);
  return word;
}

std::string InWords(const FirstFailure& failure) {
  return fmt::format("rank {} on {} {}{}{}", failure.rank, failure.host, failure.outcome.ToString(),
                     failure.last_line.empty() ? "" : ": ", failure.last_line);
}

}  // namespace rharness
