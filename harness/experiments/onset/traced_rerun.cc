// A rerun whose operators are written down.
#include "harness/experiments/onset/traced_rerun.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "compare/traces/trace.h"
#include "harness/base/file_pieces.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/drill/dispatching.h"
#include "harness/drill/plan.h"
#include "harness/execution/rerun/rerun.h"
#include "harness/records/observe/observer.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kTraceFolder[] = ".rharness-trace";

Result<Ticket> TracedTicket(const Manifest& manifest, const fs::path& workspace,
                            const std::string& steps, const DrillOptions& options) {
  const PlannedRerun planned = PlanRerun(manifest, 1, options.plan);
  Ticket ticket{.drill_id = "onset",
                .launcher = LauncherOf(manifest, options),
                .container_root = options.container_root,
                .keep_workspace = true,
                .observe = false,
                .resources = planned.resources,
                .places = options.places,
                .environment = options.environment,
                .manifest = manifest};
  if (!steps.empty()) ticket.environment["RHARNESS_TRACE_STEPS"] = steps;
  // Each operator, too, unless --env says otherwise: it costs nothing between the chosen steps.
  ticket.environment.try_emplace("RHARNESS_TRACE_OPERATORS", "1");
  const bool host = manifest.image.kind == ImageKind::kHost;
  // In a container the workspace has another name.
  ticket.environment["RHARNESS_TRACE"] =
      host ? (workspace / kTraceFolder / "").string() : fmt::format("{}/", kTraceFolder);
  if (!host) return ticket;
  ASSIGN_OR_RETURN(const ObserveParts parts, FindObserveParts());
  std::string path = parts.python.string();
  const auto given = ticket.environment.find("PYTHONPATH");
  const auto recorded = manifest.environment.variables.find("PYTHONPATH");
  if (given != ticket.environment.end()) {
    if (given->second) path += ":" + *given->second;
  } else if (recorded != manifest.environment.variables.end() && recorded->second) {
    path += ":" + *recorded->second;
  }
  ticket.environment["PYTHONPATH"] = path;
  return ticket;
}

// A file as it is, however large.
Status CopyTrace(const HeldFolder& folder, const std::string& name, const fs::path& to) {
  ASSIGN_OR_RETURN(const OpenedFile opened, folder.OpenFile(name));
  return WriteFileAtomic(to, [&](const TakePiece& take) -> Status {
    std::string block(std::size_t{1} << 20, '\0');
    std::uint64_t copied = 0;
    while (copied <= kMostTraceBytes) {
      const ssize_t size = ::read(opened.descriptor.get(), block.data(), block.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return IoErrorFromErrno("cannot read", errno, (folder.path() / name).string());
      if (size == 0) return {};
      copied += static_cast<std::uint64_t>(size);
      RETURN_IF_ERROR(take(std::string_view(block.data(), static_cast<std::size_t>(size))));
    }
    return InvalidInput(fmt::format("expected at most {} bytes", kMostTraceBytes),
                        (folder.path() / name).string());
  });
}

// The trace out of the workspace, reached by no link.
Status BringHome(const fs::path& workspace, const fs::path& home) {
  ASSIGN_OR_RETURN(const HeldFolder held, HeldFolder::Open(workspace));
  ASSIGN_OR_RETURN(const HeldFolder folder, held.OpenFolder(kTraceFolder));
  std::vector<std::string> names;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder.through(), error);
       !error && it != fs::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool traced = name.ends_with(".jsonl") || name.ends_with(".calls");
    if (traced && SafeRelativePath(name, "trace").ok()) names.push_back(name);
    if (names.size() > kMostTraces) break;
  }
  if (error) return IoErrorFromErrno("cannot list", error.value(), folder.path().string());
  for (const std::string& name : names) {
    RETURN_IF_ERROR(CopyTrace(folder, name, home / name));
  }
  return {};
}

}  // namespace

Result<fs::path> TraceRerun(const Manifest& manifest, const fs::path& folder,
                            const std::string& steps, const DrillOptions& options,
                            const std::function<bool()>& should_stop, Clock* clock,
                            std::vector<std::string>* notes) {
  const fs::path home = folder / "trace";
  if (IsTrace(home)) {
    notes->push_back(home.string() + ": is there already, and was taken");
    return home;
  }
  ContentCache cache;
  const std::unique_ptr<Executor> executor = MakeLocalExecutor();
  RerunContext context{.folder = folder,
                       .executor = executor.get(),
                       .cache = &cache,
                       .clock = clock,
                       .should_cancel = should_stop};
  const fs::path workspace = folder / RerunFolder({}, manifest.run_id, 1) / "workspace";
  ASSIGN_OR_RETURN(const Ticket ticket, TracedTicket(manifest, workspace, steps, options));
  const auto launcher = MakeLauncher(ticket.launcher.empty() ? "host" : ticket.launcher);
  if (launcher.ok()) context.launchers[ticket.launcher] = launcher->get();
  RETURN_IF_ERROR(MakeDirectories(folder));
  ASSIGN_OR_RETURN(const RerunResult result, CarryOutHere(ticket, context));
  const Evidence& evidence = result.evidence;
  if (!evidence.obstacle.empty()) {
    notes->push_back(fmt::format("{} was not traced: {}", manifest.run_id, evidence.obstacle));
    return fs::path();
  }
  if (!evidence.outcome.Succeeded()) {
    notes->push_back(
        fmt::format("{}: the traced rerun {}", manifest.run_id, evidence.outcome.ToString()));
  }
  const Status brought = BringHome(workspace, home);
  RETURN_IF_ERROR(RemoveTree(workspace));
  if (brought.ok() && IsTrace(home)) return home;
  notes->push_back(fmt::format(
      "{} left no trace: it trains no PyTorch model that the hooks see, and calls no tap itself{}",
      manifest.run_id, brought.ok() ? "" : " (" + brought.error().ToString() + ")"));
  return fs::path();
}

}  // namespace rharness
