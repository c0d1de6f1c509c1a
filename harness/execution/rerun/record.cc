// The effects of recording, as a list of passes: look, check, run, look again, measure, keep.
#include "harness/execution/rerun/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "harness/base/cgroup.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/execution/launch/container_launcher.h"
#include "harness/execution/launch/image_reference.h"
#include "harness/execution/rerun/found_data.h"
#include "harness/execution/rerun/git_tree.h"
#include "harness/execution/rerun/image_file.h"
#include "harness/execution/rerun/nccl_seen.h"
#include "harness/execution/rerun/observed_run.h"
#include "harness/execution/rerun/record_find.h"
#include "harness/execution/rerun/record_items.h"
#include "harness/execution/rerun/record_kept.h"
#include "harness/execution/rerun/record_outputs.h"
#include "harness/execution/rerun/record_places.h"
#include "harness/execution/rerun/table_data.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Result<fs::path> CurrentFolder() {
  std::error_code error;
  fs::path folder = fs::current_path(error);
  if (!error) folder = fs::canonical(folder, error);
  if (error) return IoError("the current folder cannot be read: " + error.message());
  return folder;
}

// `text` as typed in `folder`, relative to `base`. Errors: invalid_input when it is not below.
Result<std::string> RelativeTo(const fs::path& base, const fs::path& folder,
                               const std::string& text) {
  const fs::path below = (folder / text).lexically_normal().lexically_relative(base);
  ASSIGN_OR_RETURN(const fs::path safe, SafeRelativePath(below.string(), text));
  return safe.string();
}

// The sources that the command names, as "train.py" or "--config=train.yaml", relative to `base`.
std::vector<fs::path> SourcesOf(const std::vector<std::string>& command, const fs::path& base,
                                const fs::path& folder) {
  std::vector<fs::path> sources;
  for (const std::string& argument : command) {
    const auto equals = argument.starts_with('-') ? argument.find('=') : std::string::npos;
    const fs::path named = equals == std::string::npos ? argument : argument.substr(equals + 1);
    std::error_code error;
    if (named.is_absolute() || !IsSourceName(named.string())) continue;
    if (!fs::is_regular_file(folder / named, error)) continue;
    fs::path below = (folder / named).lexically_normal().lexically_relative(base);
    if (!below.empty() && *below.begin() != "..") sources.push_back(std::move(below));
  }
  return sources;
}

// A rerun has the listed files, or else those of the commit, and the data: it would miss any other
// source.
void NoteMissingSources(const RecordRequest& request, const std::optional<GitTree>& tree,
                        const fs::path& base, const fs::path& folder, Recording* out) {
  // Of no commit: then nothing of the code is recorded yet. What a run that is looked at reads
  // beside the commit is kept after it (FindInputs); other words may be its outputs.
  const bool is_found = request.find && request.observe;
  if (out->code.files.empty() && (is_found || !tree || tree->commit.empty())) return;
  for (const fs::path& source : SourcesOf(request.command, base, folder)) {
    const bool listed = std::ranges::find(out->code.files, source.string(), &CodeFile::path) !=
                        out->code.files.end();
    const bool data = std::ranges::any_of(request.data, [&](const DataItem& item) {
      const fs::path rest =
          (base / source).lexically_relative((folder / item.path).lexically_normal());
      return !rest.empty() && *rest.begin() != "..";
    });
    const bool in_commit = out->code.files.empty() && tree && IsTracked(*tree, source);
    if (listed || data || in_commit) continue;
    out->remarks.push_back(fmt::format(
        "the command's '{}' {}: {}; expected it among --code-file", source.string(), kNotRecorded,
        out->code.files.empty() ? "it is in no commit"
                                : "other code files are, and a rerun has no more"));
  }
}

Status CaptureCode(const RecordRequest& request, const fs::path& folder, Recording* out) {
  const std::optional<GitTree> tree = DescribeGitTree(folder);
  const fs::path base = tree ? tree->root : folder;
  out->code.repository = PlaceOf(base, request.root);
  if (tree) {
    out->code.commit = tree->commit;
    out->code.dirty = tree->dirty;
    out->code.diff_sha256 = tree->diff_sha256;
    if (!tree->complaint.empty()) out->remarks.push_back(tree->complaint);
    const fs::path below = folder.lexically_relative(base);
    if (below != ".") out->working_directory = below.string();
  }
  KeepSources(request, tree, base, out);
  for (const std::string& text : request.code_files) {
    ASSIGN_OR_RETURN(std::string path, RelativeTo(base, folder, text));
    ASSIGN_OR_RETURN(FileDigest digest, HashFile(base / path));
    out->code.files.push_back(CodeFile{std::move(path), std::move(digest.sha256)});
  }
  NoteMissingSources(request, tree, base, folder, out);
  return {};
}

void AddRemark(std::string sentence, Recording* out) {
  if (!sentence.empty()) out->remarks.push_back(std::move(sentence));
}

Status CaptureData(const RecordRequest& request, const fs::path& folder, Recording* out) {
  for (DataItem item : request.data) {
    if (request.made_by.contains(item.name)) item.made_by = request.made_by.at(item.name);
    const fs::path path = folder / item.path;
    std::error_code error;
    // A link may lead elsewhere by the time of a rerun.
    item.location = PlaceOf(fs::weakly_canonical(path, error), request.root);
    if (IsTable(item)) {
      ASSIGN_OR_RETURN(CapturedTable table, CaptureTable(std::move(item), path));
      out->newest[table.item.name] = table.newest;
      const std::string newer = NewerVersions(path, table.item);
      if (!newer.empty()) out->remarks.push_back(newer);
      out->data.push_back(std::move(table.item));
      continue;
    }
    item.kind = fs::is_directory(path, error) ? DataKind::kDirectory : DataKind::kFile;
    ASSIGN_OR_RETURN(TreeDigest digest, HashTree(path));
    item.sha256 = std::move(digest.sha256);
    item.size_bytes = digest.size_bytes;
    if (item.kind == DataKind::kDirectory)
      AddRemark(NoteEmptyFolders(digest.empty_folders, &item), out);
    out->data.push_back(std::move(item));
  }
  return {};
}

// The parts of the image, if an engine here knows it: there is none inside the image.
void DescribeImage(Image* image) {
  for (const char* name : {"podman", "docker"}) {
    const auto facts = ContainerLauncher(*FindEngine(name)).Describe(*image);
    if (!facts.ok()) continue;
    image->layers = facts->layers;
    image->base_name = facts->base_name;
    image->base_digest = facts->base_digest;
    return;
  }
}

Status CaptureImage(const RecordRequest& request, Recording* out) {
  out->image = request.image;
  if (request.image.kind == ImageKind::kOci) DescribeImage(&out->image);
  if (!IsImageFile(request.image)) return {};
  ASSIGN_OR_RETURN(out->image, CaptureImageFile(request.image));
  std::error_code error;
  out->image_was_here = fs::exists(request.image.location, error);
  const fs::path path = fs::weakly_canonical(out->image.location, error);
  if (error) return PathError("cannot be reached", error.value(), out->image.location);
  out->image.location = PlaceOf(path, request.root);
  return {};
}

// Statements on data must name data of the run.
Status CheckLineage(const RecordRequest& request) {
  const auto is_data = [&](const std::string& name) {
    return std::ranges::find(request.data, name, &DataItem::name) != request.data.end();
  };
  for (const Metric& metric : request.metrics) {
    if (metric.evaluated_on.empty() || is_data(metric.evaluated_on)) continue;
    return InvalidInput(fmt::format("'{}' is measured on '{}'; expected the name of a --data",
                                    metric.name, metric.evaluated_on),
                        "--metric");
  }
  for (const auto& [name, made_by] : request.made_by) {
    if (is_data(name)) continue;
    return InvalidInput(fmt::format("expected the name of a --data first, found '{}'", name),
                        "--made-by");
  }
  return {};
}

// What a reader would refuse later is refused now, before hours of training.
Status CheckRequest(const RecordRequest& request) {
  Recording preview;
  preview.data = request.data;
  for (DataItem& item : preview.data) {
    if (request.made_by.contains(item.name)) item.made_by = request.made_by.at(item.name);
  }
  preview.artifacts = request.artifacts;
  preview.image = request.image;
  const auto manifest = ParseManifest(ToJson(BuildManifest(request, preview)), "the request");
  if (!manifest.ok()) {
    Error error = manifest.error();
    if (error.where.ends_with("$.run_id")) {
      error.message += " (--run-id; without it the name of --out)";
    }
    return error;
  }
  RETURN_IF_ERROR(CheckLineage(request));
  const bool items = std::ranges::any_of(
      request.artifacts, [](const Artifact& artifact) { return artifact.role == kItemsRole; });
  if (!request.metrics.empty() && request.metrics_path.empty() && !items) {
    return InvalidInput(
        fmt::format("metric '{}' is declared, but no metrics file is named; expected "
                    "one (--metrics FILE)",
                    request.metrics.front().name));
  }
  std::error_code error;
  const fs::path home = request.keep / request.run_id;
  if (!request.keep.empty() && fs::exists(home, error)) {
    return InvalidInput("is there already; expected a new folder to keep artifacts in",
                        home.string());
  }
  return {};
}

// In place of a command that runs on another node.
ProcessResult WaitForEnd(const std::function<bool()>& is_over) {
  while (!is_over()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ProcessResult result;
  result.outcome.kind = OutcomeKind::kExited;
  return result;
}

void RunCommand(const RecordRequest& request, const fs::path& folder,
                const std::function<bool()>& should_cancel, Recording* out) {
  ProcessSpec spec;
  spec.argv = request.command;
  spec.environment = ProcessEnvironment();
  ObservedRun observed(request, *out, folder);
  observed.AddTo(&spec.environment);
  spec.inherit_stdio = true;
  ProcessLimits limits;
  limits.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(
      Seconds(request.resources.timeout_seconds));
  limits.footprint = true;
  limits.footprint_variables = FootprintVariables();
  if (request.before_command) request.before_command();
  const auto kills_before = OwnMemoryKills();
  const OwnOutput output;
  out->started = SystemClock().Now();
  const ProcessResult result = request.notes.starts_command
                                   ? RunProcess(spec, limits, {}, should_cancel)
                                   : WaitForEnd(should_cancel);
  out->ended = SystemClock().Now();
  out->outcome = result.outcome;
  observed.Collect(result.footprint, out->started, &out->environment, &out->observation);
  observed.AddNccl(output.Text(), out->started, &out->observation);
  out->duration = out->outcome.wall;
  NoteMemoryKills(kills_before, out);
}

void CompareInput(std::string_view what, const std::string& before, const Result<TreeDigest>& after,
                  Recording* out) {
  const std::string now = after.ok() ? after->sha256 : after.error().ToString();
  if (now == before) return;
  out->changed_inputs.push_back(
      fmt::format("{} {}: sha256 {} before, {} after", what, kChangedDuringRun, before, now));
}

// Those of before the run are its input. A rerun makes them in its own place; where data are
// mounted it would find them changed, whatever it does.
void HoldFoldersAgain(const std::vector<std::string>& after, DataItem* item, Recording* out) {
  if (OtherEmptyFolders(item->empty_folders, after).empty()) return;
  const bool mounted = item->path.starts_with('/');
  if (mounted) item->empty_folders.reset();
  AddRemark(fmt::format("data '{}': empty folders in it were made or removed during the run{}",
                        item->name, mounted ? ", so that the record leaves them out" : ""),
            out);
}

// A checkpoint that the run went on from. Other files may be of no consequence, as a test's cache.
void NoteUnknownStart(Recording* out) {
  if (!out->observation) return;
  for (const std::string& path : out->observation->overwritten) {
    const auto is_this = [&](const std::string& output) {
      return (fs::path(out->working_directory) / output).lexically_normal() == path;
    };
    const bool is_compared =
        is_this(out->metrics_path) || std::ranges::any_of(out->artifacts, is_this, &Artifact::path);
    out->remarks.push_back(fmt::format(
        "{}: the run read it as it was before, and then wrote over it; what it began from {}", path,
        is_compared ? kNotRecorded : "is not in the record"));
    if (is_compared)
      out->remarks.back() +=
          ": record a run that begins without it, or from a copy "
          "under another name (--data)";
  }
}

void HashInputsAgain(const RecordRequest& request, const fs::path& folder, Recording* out) {
  const fs::path image = request.image.location;
  if (out->image_was_here) {
    CompareInput("image", out->image.digest.substr(out->image.digest.find(':') + 1),
                 HashTree(image), out);
  }
  for (std::size_t i = 0; i < out->data.size(); ++i) {
    DataItem& item = out->data[i];
    const fs::path path = folder / item.path;
    const auto after = HashData(path, item);
    CompareInput(fmt::format("data '{}'", item.name), item.sha256, after, out);
    if (after.ok()) HoldFoldersAgain(after->empty_folders, &item, out);
    if (!IsTable(item)) continue;
    const bool stated = NamesVersion(request.data[i].source);
    const std::string gained = GainedDuringRun(path, item, out->newest[item.name], stated);
    if (!gained.empty()) (stated ? out->remarks : out->changed_inputs).push_back(gained);
  }
  fs::path base = folder;
  const fs::path below(out->working_directory);
  for (auto step = below.begin(); step != below.end(); ++step) base = base.parent_path();
  for (const CodeFile& file : out->code.files) {
    CompareInput(fmt::format("code file '{}'", file.path), file.sha256, HashTree(base / file.path),
                 out);
  }
}

// The outputs go to the request, which measures them.
std::vector<NamedPlace> FindPlacesAndOutputs(const fs::path& folder, const OutputIdentities& before,
                                             RecordRequest* request, Recording* out) {
  KeepStartsOfCommand(*request, out);
  std::vector<NamedPlace> places = FindNamedPlaces(*request, folder, *out);
  if (!request->artifacts.empty()) return places;
  request->artifacts = FindOutputs(folder, before, out);
  if (request->artifacts.empty()) request->artifacts = FindOutputsAt(places, folder, out);
  NoteOutputsOutside(request->artifacts, folder, out);
  out->found.artifacts = request->artifacts.size();
  if (auto items = FindItems(folder, before, out)) request->artifacts.push_back(std::move(*items));
  return places;
}

}  // namespace

Result<Recording> RecordRun(const RecordRequest& stated,
                            const std::function<bool()>& should_cancel) {
  ASSIGN_OR_RETURN(const fs::path folder, CurrentFolder());
  RecordRequest request = WithFinding(stated);
  RETURN_IF_ERROR(CheckRequest(request));
  Recording recording;
  RETURN_IF_ERROR(CaptureCode(request, folder, &recording));
  RETURN_IF_ERROR(CaptureData(request, folder, &recording));
  RETURN_IF_ERROR(CaptureImage(request, &recording));
  recording.environment = CaptureEnvironment(nullptr, request.variables);
  recording.environment.lock_files = recording.lock_files;
  if (!recording.to_keep.empty()) recording.kept = PlaceOf(request.kept, request.root);
  if (recording.image.kind == ImageKind::kHost) {
    recording.command = CommandOfTree(request.command, folder, recording.working_directory);
  }
  recording.packages_sha256 = HostPackagesSha256();
  auto outputs_before = IdentifyOutputs(request, folder);
  RunCommand(request, folder, should_cancel, &recording);
  if (request.after_command) request.after_command(&recording);
  HashInputsAgain(request, folder, &recording);
  if (request.find) {
    if (!recording.command.empty() && recording.command != request.command) {
      MarkFound("command", "sources below the code's root are recorded relative to it", &recording);
    }
    FindInputs(request, folder, !recording.code.commit.empty(), &recording);
    FindRandomness(request, folder, &recording);
    FindFamily(request, folder, &recording);
  }
  if (!request.measures) {
    AddFindings(request, &recording);
    return recording;
  }
  std::vector<NamedPlace> places;
  if (request.find) places = FindPlacesAndOutputs(folder, outputs_before, &request, &recording);
  MeasureOutputs(request, folder, outputs_before, &recording);
  MeasureMetricsAt(request, places, folder, &recording);
  recording.metrics.metrics.insert(recording.item_means.begin(), recording.item_means.end());
  if (request.find) {
    ProposeItemMetrics(request, &recording);
    if (recording.found.metrics.empty()) ProposeMetrics(request, &recording);
    NoteUncompared(places, folder, &recording);
  }
  KeepArtifacts(request, folder, &recording);
  TakePlacesOfRerun(request, places, folder, &recording);
  NoteUnknownStart(&recording);
  outputs_before.merge(OlderAt(places, folder, recording.started));
  if (request.find) RenumberVersions(outputs_before, &recording);
  AddFindings(request, &recording);
  return recording;
}

}  // namespace rharness
