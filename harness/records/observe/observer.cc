// Before a run: additions to its environment. After it: the combined notes.
#include "harness/records/observe/observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/signal_name.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/observe/arena.h"
#include "harness/records/observe/arena_file.h"
#include "harness/records/observe/door.h"
#include "harness/records/observe/files_seen.h"
#include "harness/records/observe/kernel_arena.h"
#include "harness/records/observe/kernel_notes.h"
#include "harness/records/observe/programs.h"

namespace rharness {
namespace {

// All that is said of a node on which nothing ran, or nothing with our variables.
constexpr char kNoProcessSeen[] = "what ran here: no process made notes";

namespace fs = std::filesystem;

constexpr char kInjectionTaken[] =
    "the GPU kernels: CUDA_INJECTION64_PATH names a library of another tool";

constexpr char kPreload[] = "LD_PRELOAD";
constexpr char kPythonPath[] = "PYTHONPATH";
constexpr std::size_t kMostUnseen = 8;          // programs that are named
constexpr std::size_t kMostScripts = 64;        // files that are searched
constexpr std::uint64_t kMostScript = 1 << 18;  // bytes of one

// Whether a list with these separators can contain the path.
bool FitsList(const fs::path& path, std::string_view separators) {
  return path.is_absolute() && path.string().find_first_of(separators) == std::string::npos;
}

// Of variables, for the library and the hooks alike.
std::vector<std::string> WatchedNames(const std::set<std::string>& named) {
  std::vector<std::string> names;
  for (const std::string& name : named) names.push_back(kNameExact + name);
  for (const std::string& name : WatchedVariables()) names.push_back(kNameExact + name);
  for (const std::string& prefix : WatchedPrefixes()) names.push_back(kNamePrefix + prefix);
  return names;
}

std::string NameOf(const std::string& program) {
  return TerminalSafe(fs::path(program).filename().string()).substr(0, 128);
}

}  // namespace

Result<ObserveParts> FindObserveParts() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path here = self.parent_path();
  for (const fs::path& folder : {here / "observe", here.parent_path() / "lib/rharness/observe"}) {
    ObserveParts parts{.preload = folder / "librharness-observe.so",
                       .python = folder / "python",
                       .kernels = folder / kKernelsLibrary};
    if (fs::is_regular_file(parts.preload, error) &&
        fs::is_regular_file(parts.python / "sitecustomize.py", error)) {
      return parts;
    }
  }
  return NotFound(
      "expected librharness-observe.so and python/sitecustomize.py in observe/ beside this program "
      "or in ../lib/rharness/observe",
      here.string());
}

Status PrepareNotes(const fs::path& folder, const ObserveRequest& request) {
  std::vector<std::string> names = WatchedNames(request.variables);
  std::string lines;
  for (const std::string& name : names) lines += name + "\n";
  for (const fs::path& place : request.declared) {
    std::error_code error;
    if (fs::is_directory(place, error)) names.push_back(place.string() + "/");
  }
  if (request.outputs) names.push_back(kNameHome + request.working_directory.string() + "/");
  bool left_out = false;
  RETURN_IF_ERROR(MakeArena(folder, JoinNames(names, &left_out)));
  if (request.kernels) RETURN_IF_ERROR(MakeKernelNotes(folder));
  // It lives as long as the run.
  std::ofstream out(folder / kNamesFile, std::ios::binary);
  out << lines;
  out.close();
  return out ? Status() : IoError("cannot write", (folder / kNamesFile).string());
}

Observer::Observer(fs::path folder, ObserveRequest request, const Result<ObserveParts>& parts)
    : folder_(std::move(folder)), request_(std::move(request)) {
  seen_.means.emplace(kSeenByMaps);
  if (!parts.ok()) {
    seen_.unseen.push_back("what reads variables and files: " + parts.error().ToString());
    return;
  }
  parts_ = *parts;
  request_.declared.push_back(parts_->preload.parent_path());
  request_.declared.push_back(folder_);
  auto held = HeldFolder::Open(folder_);
  const Status made = held.ok() ? PrepareNotes(folder_, request_) : Status(held.error());
  if (made.ok()) {
    held_ = std::move(*held);
  } else {
    seen_.unseen.push_back("what reads variables and files: " + made.error().ToString());
  }
}

Observer::Observer(HeldFolder notes, ObserveRequest request, ObserveParts parts, const Lent& lent)
    : request_(std::move(request)),
      parts_(std::move(parts)),
      held_(std::move(notes)),
      preload_(lent.preload),
      python_(lent.python),
      kernels_(lent.kernels) {
  seen_.means.emplace(kSeenByMaps);
  if (preload_) seen_.means.emplace(kSeenByPreload);
  if (python_) seen_.means.emplace(kSeenByPython);
  if (request_.kernels) seen_.means.emplace(kSeenByKernels);
  if (request_.kernels && !kernels_) seen_.unseen.emplace_back(kInjectionTaken);
  if (!lent.why_not_preload.empty()) {
    seen_.unseen.push_back(fmt::format("what reads variables and files: {} {}",
                                       NameOf(lent.program), lent.why_not_preload));
  }
  if (!lent.program.empty()) programs_.insert(lent.program);
  kept_ = request_.variables;
  kept_.insert(WatchedVariables().begin(), WatchedVariables().end());
  kept_.insert(lent.variables.begin(), lent.variables.end());
}

void Observer::AddTo(std::map<std::string, std::string>* environment) {
  if (!parts_ || !held_) return;
  kept_ = request_.variables;
  kept_.insert(WatchedVariables().begin(), WatchedVariables().end());
  for (const auto& [name, value] : *environment) kept_.insert(name);
  const fs::path program =
      request_.command.empty()
          ? fs::path()
          : ProgramOf(request_.command.front(), *environment, request_.working_directory);
  if (!program.empty()) programs_.insert(program.string());
  if (const std::string why = WhyNotPreload(program); !why.empty()) {
    seen_.unseen.push_back(
        fmt::format("what reads variables and files: {} {}", NameOf(program.string()), why));
  } else {
    AddPreload(environment);
  }
  if (request_.python_hooks) AddPython(environment);
  if (request_.kernels) AddKernels(environment);
  if (preload_ || python_ || kernels_) (*environment)[kObserveVariable] = folder_.string();
}

void Observer::AddPreload(std::map<std::string, std::string>* environment) {
  if (!FitsList(parts_->preload, ": \t\n$")) {
    seen_.unseen.push_back(
        fmt::format("what reads variables and files: {} has a name that {} cannot hold",
                    parts_->preload.string(), kPreload));
    return;
  }
  // Last: the run's own entries stay before it.
  std::string& list = (*environment)[kPreload];
  const std::string own = parts_->preload.string();
  // In a recording within a recording it is there already.
  if (!list.ends_with(own)) list += list.empty() ? own : ":" + own;
  preload_ = true;
  seen_.means.emplace(kSeenByPreload);
}

void Observer::AddPython(std::map<std::string, std::string>* environment) {
  if (!FitsList(parts_->python, ":")) {
    seen_.unseen.push_back(fmt::format("seeds and flags: {} has a name that {} cannot hold",
                                       parts_->python.string(), kPythonPath));
    return;
  }
  std::string& list = (*environment)[kPythonPath];
  list = list.empty() ? parts_->python.string() : parts_->python.string() + ":" + list;
  python_ = true;
  seen_.means.emplace(kSeenByPython);
}

// Its own tool keeps its place. In a recording within a recording it is ours.
void Observer::AddKernels(std::map<std::string, std::string>* environment) {
  seen_.means.emplace(kSeenByKernels);
  const std::string own = parts_->kernels.string();
  std::error_code error;
  if (!fs::is_regular_file(parts_->kernels, error)) {
    seen_.unseen.push_back("the GPU kernels: " + own + " is not there");
    return;
  }
  const auto [entry, is_new] = environment->emplace(kInjectionVariable, own);
  kernels_ = is_new || entry->second == own;
  if (!kernels_) seen_.unseen.emplace_back(kInjectionTaken);
}

void Observer::ReadKernels() {
  auto notes = ReadKernelNotes(*held_);
  if (!notes.ok()) {
    seen_.unseen.push_back("the GPU kernels: the notes: " + notes.error().message);
    return;
  }
  seen_.kernels = std::move(notes->kernels);
  std::ranges::move(notes->unseen, std::back_inserter(seen_.unseen));
  if (seen_.kernels || !notes->unseen.empty()) return;
  seen_.unseen.emplace_back(
      "the GPU kernels: no process started a CUDA driver that loads a library");
}

void Observer::ReadNotes() {
  if (std::exchange(are_read_, true) || !held_) return;
  if (python_) python_notes_ = ReadPythonNotes(*held_);
  if (kernels_) ReadKernels();
  if (!preload_) return;
  auto notes = ReadArena(*held_);
  if (!notes.ok()) {
    seen_.unseen.push_back("what reads variables and files: the notes: " + notes.error().message);
    preload_ = false;
    return;
  }
  variables_ = std::move(notes->variables);
  files_ = std::move(notes->files);
  begun_from_ = std::move(notes->begun_from);
  links_ = std::move(notes->links);
  outputs_ = std::move(notes->outputs);
  noted_libraries_ = std::move(notes->libraries);
  programs_.insert(notes->programs.begin(), notes->programs.end());
  noted_pythons_ = std::move(notes->pythons);
  is_full_ = notes->is_full;
  child_ends_ = std::move(notes->child_ends);
  shell_ends_ = std::move(notes->shell_ends);
  not_written_ = std::move(notes->not_written);
}

// Samples may miss a program that lives for milliseconds; notes do not.
void Observer::Complete(Footprint* footprint) {
  ReadNotes();
  if (!preload_) return;
  const auto add = [&](const std::string& file) {
    std::error_code error;
    const fs::path real = fs::canonical(file, error);
    if (!error && real != parts_->preload && real != parts_->kernels)
      footprint->mapped.insert(real.string());
  };
  for (const std::string& library : noted_libraries_) add(library);
  for (const std::string& program : programs_) add(program);
  footprint->programs.insert(noted_pythons_.begin(), noted_pythons_.end());
  footprint->mapped.erase(parts_->preload.string());
  footprint->mapped.erase(parts_->kernels.string());
}

// Which programs there were, and which of them could be looked at.
void Observer::CollectPython(const std::set<std::string>& programs) {
  if (!python_) return;
  PythonNotes notes = std::move(python_notes_);
  variables_.insert(notes.all.variables.begin(), notes.all.variables.end());
  hooked_ = notes.all.programs;
  hooked_processes_ = std::move(notes.processes);
  seen_.seeds = std::move(notes.all.seeds);
  seen_.flags = std::move(notes.all.flags);
  seen_.nondeterministic = std::move(notes.all.nondeterministic);
  for (std::string& trouble : notes.troubles) seen_.unseen.push_back(std::move(trouble));
  for (const std::string& program : programs) {
    if (KindOf(program) != ProgramKind::kPython || hooked_.contains(program)) continue;
    seen_.unseen.push_back(
        fmt::format("{} ran without the hooks (-I, -E and -S leave them out): its seeds and flags",
                    NameOf(program)));
  }
}

// A shell uses the names in its script: searches the text of its arguments.
void Observer::AddMentioned() {
  std::set<std::string> names;
  std::ranges::set_difference(request_.variables, variables_, std::inserter(names, names.end()));
  const auto search = [&](std::string_view text) {
    for (auto name = names.begin(); name != names.end();) {
      const bool is_there = text.find(*name) != text.npos;
      if (is_there) variables_.insert(*name);
      name = is_there ? names.erase(name) : std::next(name);
    }
  };
  for (const std::string& argument : request_.command) search(argument);
  std::size_t read = 0;
  std::set<std::string> files = files_;
  for (const auto& [name, file] : links_) files.insert(file);
  for (const std::string& file : files) {
    if (names.empty() || ++read > kMostScripts) return;
    const auto text = ReadFile(file, kMostScript);
    if (text.ok()) search(*text);
  }
}

void Observer::CollectVariables(const std::set<std::string>& programs) {
  if (!preload_) return;
  bool blind = false, shells = false;
  std::set<std::string> unseen;
  for (const std::string& program : programs) {
    const ProgramKind kind = KindOf(program);
    shells = shells || kind == ProgramKind::kShell;
    const bool hidden = kind == ProgramKind::kOther || kind == ProgramKind::kUnlinked ||
                        (kind == ProgramKind::kPython && !hooked_.contains(program));
    blind = blind || hidden;
    if (!hidden || unseen.size() == kMostUnseen) continue;
    const std::string name = NameOf(program);
    unseen.insert(kind == ProgramKind::kUnlinked
                      ? name + " is statically linked or of another machine: what it reads"
                  : kind == ProgramKind::kPython && !python_
                      ? name +
                            " takes its environment as a whole: which variables it reads is "
                            "seen with --python-hooks"
                      : name + " takes its environment as a whole: which variables it reads");
  }
  seen_.unseen.insert(seen_.unseen.end(), unseen.begin(), unseen.end());
  if (is_full_) seen_.unseen.emplace_back(kTooManyFiles);
  if (blind || is_full_) return;
  if (shells) AddMentioned();
  // An unset one was only looked up: it is kept if a record keeps it.
  seen_.variables_read.emplace();
  std::ranges::set_intersection(variables_, kept_,
                                std::inserter(*seen_.variables_read, seen_.variables_read->end()));
}

void Observer::CollectLosses() {
  constexpr std::size_t kMost = 8;
  std::string ends;
  for (const auto& [number, count] : child_ends_) {
    const bool exited = number >= kExitCodes;
    const std::string how =
        exited ? fmt::format("with {}", number - kExitCodes) : "by " + SignalName(number);
    ends += ends.empty() ? "" : ", ";
    ends += exited ? how : fmt::format("{} {}", count, how);
    if (exited) continue;
    seen_.losses.push_back(
        fmt::format("{} of its processes {} ended {}", count, count == 1 ? "was" : "were", how));
  }
  if (!ends.empty()) seen_.flags.emplace(kChildEndsFlag, ends.substr(0, 256));
  for (const auto& [process, code] : shell_ends_) {
    if (!hooked_processes_.contains(process)) continue;
    seen_.losses.push_back(fmt::format(
        "a Python of the run ended with {}, and the shell that started it went on", code));
    break;
  }
  for (const auto& [error, file] : not_written_) {
    if (seen_.losses.size() >= kMost) return;
    seen_.losses.push_back(
        fmt::format("{} could not be written to its end: {}", file, std::strerror(error)));
  }
}

Observation Observer::Collect(const Footprint& footprint, const PackageOwners& owners,
                              WallTime started) {
  std::set<std::string> programs = programs_;
  for (const SeenProgram& program : footprint.programs) {
    if (program.executable.empty()) continue;
    // For a script started as a program: its interpreter.
    const std::string real = ProgramOf(program.executable, {}, "/").string();
    programs.insert(real.empty() ? program.executable : real);
  }
  // Of a command on another node: it started nothing here, or without our variables.
  if (request_.command.empty() && programs.empty()) {
    Observation none;
    none.unseen.emplace_back(kNoProcessSeen);
    return none;
  }
  CollectPython(programs);
  CollectVariables(programs);
  CollectLosses();
  seen_.outputs = std::move(outputs_);
  seen_.libraries = LibrariesOf(footprint, owners, request_, started);
  if (preload_) {
    std::size_t more = 0;
    seen_.inputs = UndeclaredInputs(files_, links_, request_, footprint, started, &more);
    if (more > 0) seen_.unseen.push_back(fmt::format("{} more undeclared inputs", more));
    seen_.overwritten = OverwrittenInputs(begun_from_, request_, started);
  }
  return std::move(seen_);
}

}  // namespace rharness
