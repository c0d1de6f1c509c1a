// rharness fetch: the data of runs into a cache, before a drill needs them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/manifest_files.h"
#include "harness/cli/verb.h"
#include "harness/execution/fetch/fetch.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct FetchArguments {
  std::vector<std::string> paths;
  std::string cache;
  std::vector<std::string> dvc_caches;
  std::string root = ".";
  std::vector<std::string> maps;
  std::uint64_t budget = 0;
  bool copy = false;
  bool dry_run = false;
  bool json = false;
};

Result<FetchOptions> OptionsOf(const FetchArguments& arguments) {
  FetchOptions options;
  options.cache = arguments.cache;
  options.dvc_caches.assign(arguments.dvc_caches.begin(), arguments.dvc_caches.end());
  options.places.root = arguments.root;
  for (const std::string& text : arguments.maps) {
    const auto equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      return InvalidInput(fmt::format("expected FROM=TO, found '{}'", text), "--map");
    }
    options.places.maps.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  options.budget_bytes = arguments.budget;
  options.copy = arguments.copy;
  options.dry_run = arguments.dry_run;
  options.should_cancel = Interrupted;
  return options;
}

Result<std::vector<std::string>> FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    ASSIGN_OR_RETURN(const ManifestFiles found, FindManifests(path));
    files.insert(files.end(), found.files.begin(), found.files.end());
  }
  return files;
}

bool IsHad(FetchState state) {
  return state == FetchState::kCached || state == FetchState::kInPlace ||
         state == FetchState::kFetched;
}

Json JsonOf(const std::vector<Fetched>& all, std::uint64_t brought) {
  Json list = Json::MakeArray();
  for (const Fetched& one : all) {
    list.Append(Json::MakeObject({{"run_id", one.run_id},
                                  {"name", one.name},
                                  {"state", FetchStateName(one.state)},
                                  {"size_bytes", one.size_bytes},
                                  {"detail", one.detail}}));
  }
  return Json::MakeObject(
      {{"schema", "rharness.fetch/v1"}, {"brought_bytes", brought}, {"data", std::move(list)}});
}

std::string TextOf(const std::vector<Fetched>& all, std::uint64_t brought, bool dry_run) {
  std::string text;
  std::map<FetchState, std::size_t> counts;
  for (const Fetched& one : all) {
    ++counts[one.state];
    if (IsHad(one.state)) continue;
    text += fmt::format("{} of {}: {}{}{}\n", one.name, one.run_id, FetchStateName(one.state),
                        one.detail.empty() ? "" : ": ", one.detail);
  }
  text += fmt::format("{} data {}", all.size(), all.size() == 1 ? "item" : "items");
  for (const auto& [state, count] : counts) {
    text += fmt::format(", {} {}", count, FetchStateName(state));
  }
  text += fmt::format("; {} {} bytes\n", dry_run ? "would bring" : "brought", brought);
  return TerminalSafe(text);
}

Result<int> Fetch(const FetchArguments& arguments) {
  ASSIGN_OR_RETURN(FetchOptions options, OptionsOf(arguments));
  ASSIGN_OR_RETURN(const std::vector<std::string> files, FilesOf(arguments.paths));
  RETURN_IF_ERROR(RequireUsedMaps(options.places, files));
  if (!arguments.dry_run) RETURN_IF_ERROR(MakeDirectories(arguments.cache));
  CountInterrupts();
  Fetcher fetcher(std::move(options));
  std::vector<Fetched> all;
  for (const std::string& file : files) {
    if (Interrupted()) break;
    ASSIGN_OR_RETURN(const Manifest manifest, LoadManifest(file));
    ASSIGN_OR_RETURN(std::vector<Fetched> of_run, fetcher.Fetch(manifest));
    all.insert(all.end(), of_run.begin(), of_run.end());
  }
  const bool missing =
      std::any_of(all.begin(), all.end(), [](const Fetched& one) { return !IsHad(one.state); });
  int code = kExitOk;
  if (arguments.json) {
    code = PrintJson(JsonOf(all, fetcher.brought_bytes()));
  } else if (!Globals().quiet || missing) {
    code = Print(TextOf(all, fetcher.brought_bytes(), arguments.dry_run));
  }
  if (code != kExitOk) return code;
  if (Interrupted()) return kExitInfrastructure;
  return missing ? kExitInconclusive : kExitOk;
}

}  // namespace

void AddFetch(Command& root) {
  auto options = std::make_shared<FetchArguments>();
  Command& verb = root.AddVerb("fetch", "Fetch data into a cache before a drill");
  verb.Add("manifests", &options->paths, "Manifests, or folders of them, however deep")
      .Path()
      .Required();
  verb.Add("--cache", &options->cache, "Folder of data by their SHA-256 (drill --data-cache)")
      .Folder()
      .Required();
  verb.Add("--dvc-cache", &options->dvc_caches,
           "DVC's cache (.dvc/cache) or a DVC remote that is a folder; repeatable")
      .Folder()
      .OneEach();
  verb.Add("--root", &options->root, "Where relative locations lie").Folder().ShowDefault();
  verb.Add("--map", &options->maps, "FROM=TO: a recorded location lies here at TO; repeatable")
      .OneEach();
  verb.Add("--budget", &options->budget, "Copy at most this much; 0: no limit").Size();
  verb.Add("--copy", &options->copy, "Copy files at their location, too, before they change");
  verb.Add("--dry-run", &options->dry_run, "List what would be copied");
  verb.Add("--json", &options->json, "Print the outcome as JSON");
  verb.Note(
      "Files in the cache, and files at their location with the recorded size, are not copied. "
      "Files that --dvc-cache has under DVC's MD5 are copied from there; a directory is rebuilt "
      "from its listing. The rest comes from the record's source (files: http, https, s3, lakefs; "
      "no redirect is followed). Only content with the recorded SHA-256 enters the cache. Versions "
      "of Delta tables are copied with --copy.");
  verb.Note(
      "Keys of S3 are those of the AWS tools: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
      "AWS_PROFILE in ~/.aws/credentials, with AWS_REGION and, for other servers, "
      "AWS_ENDPOINT_URL. Those of lakeFS are lakectl's: LAKECTL_SERVER_ENDPOINT_URL and "
      "LAKECTL_CREDENTIALS_..., or ~/.lakectl.yaml. http and https send none.");
  verb.ExitCode(kExitOk, "all data are available");
  verb.ExitCode(kExitInconclusive, "some are not, or are over the budget; each is named");
  verb.ExitCode(kExitInfrastructure, "the cache cannot be written, or it was interrupted");
  verb.Example("rharness fetch --cache /shared/data --budget 100GiB runs");
  verb.Do([options] {
    const auto code = Fetch(*options);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
