// Reading and merging the notes of Python processes.
#include "harness/records/observe/python_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "harness/records/manifest/observation.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestField = 512;

std::string_view TakeUntil(std::string_view* text, char end) {
  const std::string_view first = text->substr(0, text->find(end));
  text->remove_prefix(std::min(text->size(), first.size() + 1));
  return first;
}

bool IsField(std::string_view text) {
  return !text.empty() && text.size() <= kLongestField &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

using Line = std::array<std::string_view, 3>;

std::optional<Line> ParseLine(std::string_view line) {
  Line fields;
  for (std::string_view& field : fields) {
    field = TakeUntil(&line, '\t');
    if (!IsField(field)) return std::nullopt;
  }
  if (!line.empty()) return std::nullopt;
  return fields;
}

// False: of unknown kind, or beyond the limit.
bool AddLine(const Line& line, ProcessNotes* out) {
  const auto& [kind, name, value] = line;
  constexpr std::size_t kLongestName = 128;
  if (kind == "program") return out->programs.emplace(name), true;
  if (name.size() > kLongestName || value.size() > kLongestName) return false;
  if (kind == "python") return true;
  if (kind == "variable") {
    if (out->variables.size() < kMostSeenNames) out->variables.emplace(name);
  } else if (kind == "flag") {
    if (out->flags.size() < kMostSeenNames) out->flags[std::string(name)] = value;
  } else if (kind == "seed") {
    if (out->seeds.size() >= kMostSeenNames && !out->seeds.contains(std::string(name))) return true;
    auto& values = out->seeds[std::string(name)];
    if (std::ranges::find(values, value) == values.end()) values.emplace_back(value);
  } else if (kind == "warned") {
    int count = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
    if (error != std::errc{} || end != value.data() + value.size() || count < 1) return false;
    if (out->nondeterministic.size() < kMostSeenNames) {
      out->nondeterministic[std::string(name)] = std::min(count, 1'000'000);
    }
  } else {
    return false;
  }
  return true;
}

// 2 before 10.
bool ComesBefore(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

void Cut(std::vector<std::string>* values) {
  if (values->size() <= kMostSeenValues) return;
  const std::size_t more = values->size() - kMostSeenValues;
  values->resize(kMostSeenValues);
  values->push_back(fmt::format("({} more)", more));
}

void AddSeeds(const ProcessNotes& process, std::map<std::string, int>* processes_of,
              ProcessNotes* all) {
  for (const auto& [source, values] : process.seeds) {
    auto& merged = all->seeds[source];
    ++(*processes_of)[source];
    merged.insert(merged.end(), values.begin(), values.end());
  }
}

// Workers that were started with one state of a generator and draw from it draw the same numbers.
void CountInherited(const std::vector<ProcessNotes>& processes, ProcessNotes* all) {
  std::map<std::pair<std::string, std::string>, int> workers;
  for (const ProcessNotes& process : processes) {
    for (const auto& [source, values] : process.seeds) {
      for (const std::string& value : values) {
        if (value.starts_with(kInheritedState)) ++workers[{source, value}];
      }
    }
  }
  for (const auto& [of, count] : workers) {
    if (count < 2) continue;
    std::ranges::replace(all->seeds[of.first], of.second,
                         fmt::format("{} ({} workers)", of.second, count));
  }
}

void AddFlags(const ProcessNotes& process, std::map<std::string, std::set<std::string>>* flags) {
  for (const auto& [name, value] : process.flags) (*flags)[name].insert(value);
}

// The names of the files, sorted; a folder of a million is not read to its end.
std::vector<std::string> NotesIn(const HeldFolder& folder, std::vector<std::string>* troubles) {
  std::vector<std::string> names;
  std::error_code error;
  std::size_t seen = 0;
  for (fs::directory_iterator it(folder.through(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (++seen > 8 * kMostPythonFiles) break;
    if (name.starts_with("python-") && name.ends_with(".txt") && name.size() < 64) {
      names.push_back(name);
    }
  }
  std::ranges::sort(names);
  if (seen > 8 * kMostPythonFiles || names.size() > kMostPythonFiles) {
    names.resize(std::min(names.size(), kMostPythonFiles));
    troubles->push_back(fmt::format(
        "more than {} processes wrote notes, and only as many were read", kMostPythonFiles));
  }
  return names;
}

}  // namespace

ProcessNotes ParseProcessNotes(std::string_view text) {
  ProcessNotes notes;
  for (std::size_t lines = 0; text.find('\n') != text.npos; ++lines) {
    if (lines == kMostPythonLines) {
      notes.unread_lines += static_cast<std::size_t>(std::ranges::count(text, '\n'));
      break;
    }
    const auto line = ParseLine(TakeUntil(&text, '\n'));
    if (!line || !AddLine(*line, &notes)) ++notes.unread_lines;
  }
  return notes;
}

ProcessNotes MergeProcessNotes(const std::vector<ProcessNotes>& processes) {
  ProcessNotes all;
  std::map<std::string, int> processes_of;
  std::map<std::string, std::set<std::string>> flags;
  for (const ProcessNotes& process : processes) {
    AddSeeds(process, &processes_of, &all);
    AddFlags(process, &flags);
    for (const auto& [name, count] : process.nondeterministic) all.nondeterministic[name] += count;
    all.variables.insert(process.variables.begin(), process.variables.end());
    all.programs.insert(process.programs.begin(), process.programs.end());
    all.unread_lines += process.unread_lines;
  }
  CountInherited(processes, &all);
  for (auto& [source, values] : all.seeds) {
    if (processes_of[source] > 1) {
      std::ranges::sort(values, ComesBefore);
      values.erase(std::unique(values.begin(), values.end()), values.end());
    }
    Cut(&values);
  }
  for (const auto& [name, values] : flags) {
    all.flags[name] = fmt::format("{}", fmt::join(values, ", ")).substr(0, 256);
  }
  return all;
}

PythonNotes ReadPythonNotes(const HeldFolder& folder) {
  PythonNotes notes;
  std::vector<ProcessNotes> processes;
  std::string first_trouble;
  std::size_t unread = 0;
  for (const std::string& name : NotesIn(folder, &notes.troubles)) {
    const auto text = folder.ReadFile(name, kMostPythonFileBytes);
    const std::string_view number =
        std::string_view(name).substr(std::string_view("python-").size());
    notes.processes.emplace(number.substr(0, number.find_first_of(".-")));
    if (text.ok()) {
      processes.push_back(ParseProcessNotes(*text));
    } else if (++unread == 1) {
      first_trouble = text.error().message;
    }
  }
  notes.all = MergeProcessNotes(processes);
  if (unread > 0) {
    notes.troubles.push_back(fmt::format("the notes of {} Python process{} could not be read: {}",
                                         unread, unread == 1 ? "" : "es", first_trouble));
  }
  if (notes.all.unread_lines > 0) {
    notes.troubles.push_back(
        fmt::format("{} lines that no hook writes were among the notes", notes.all.unread_lines));
  }
  return notes;
}

}  // namespace rharness
