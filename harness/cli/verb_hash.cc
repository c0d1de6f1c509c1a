// rharness hash: the SHA-256 of files, and the tree digest of folders.
//
// Every path becomes an Entry; the writers below print entries and nothing else, so that another
// kind of digest is one more member of Entry and one more line in each writer.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kHelp[] =
    "Prints the SHA-256 of files, one line a path, as sha256sum does. A folder is printed with a "
    "slash at its end; its digest (rharness.tree/v1) covers the names and contents of every file "
    "below it, and neither times, modes, owners nor empty folders.";

struct Options {
  std::vector<std::string> paths;
  int threads = 0;
  bool json = false;
};

struct Entry {
  std::string path;
  bool is_tree = false;
  std::optional<Error> error;  // set: nothing below is
  std::string sha256;
  std::uint64_t size_bytes = 0;
  std::uint64_t files = 1;
};

void FillTree(const Result<TreeDigest>& digest, Entry* entry) {
  entry->is_tree = true;
  if (!digest.ok()) {
    entry->error = digest.error();
    return;
  }
  entry->sha256 = digest->sha256;
  entry->size_bytes = digest->size_bytes;
  entry->files = digest->files;
}

Entry EntryOf(const std::string& path, const Result<FileDigest>& digest, int threads) {
  Entry entry;
  entry.path = path;
  std::error_code ignored;
  if (digest.ok()) {
    entry.sha256 = digest->sha256;
    entry.size_bytes = digest->size_bytes;
  } else if (fs::is_directory(path, ignored)) {
    // Asked only of what could not be hashed as a file, so that files cost no second look.
    FillTree(HashTree(path, threads), &entry);
  } else {
    entry.error = digest.error();
  }
  return entry;
}

// "<sha256>  <path>"; a name that would break the line is escaped and marked by a backslash in
// front, as GNU sha256sum does, so that sha256sum --check reads it.
std::string LineOf(const Entry& entry, bool terminal) {
  std::string name;
  for (const char c : entry.path) {
    switch (c) {
      case '\\':
        name += "\\\\";
        break;
      case '\n':
        name += "\\n";
        break;
      case '\r':
        name += "\\r";
        break;
      default:
        name.push_back(c);
    }
  }
  const std::string_view mark = name.size() == entry.path.size() ? "" : "\\";
  if (entry.is_tree && !name.ends_with('/')) name.push_back('/');
  if (terminal) name = TerminalSafe(name);
  return fmt::format("{}{}  {}\n", mark, entry.sha256, name);
}

Json JsonOf(const Entry& entry) {
  Json json;
  json.Set("path", entry.path).Set("kind", entry.is_tree ? "tree" : "file");
  if (entry.error) {
    Json error;
    error.Set("code", ErrorCodeName(entry.error->code)).Set("message", entry.error->ToString());
    return json.Set("error", std::move(error));
  }
  json.Set("sha256", entry.sha256).Set("size_bytes", entry.size_bytes);
  if (entry.is_tree) json.Set("files", entry.files);
  return json;
}

int PrintEntries(const std::vector<Entry>& entries, bool as_json) {
  if (as_json) {
    Json list = Json::MakeArray();
    for (const Entry& entry : entries) list.Append(JsonOf(entry));
    return PrintJson(Json().Set("schema", "rharness.hash/v1").Set("entries", std::move(list)));
  }
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  std::string text;
  for (const Entry& entry : entries) {
    if (!entry.error) text += LineOf(entry, terminal);
  }
  return Print(text);
}

int Hash(const Options& options) {
  const std::vector<fs::path> paths(options.paths.begin(), options.paths.end());
  const std::vector<Result<FileDigest>> digests = HashFiles(paths, options.threads);
  std::vector<Entry> entries;
  entries.reserve(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    entries.push_back(EntryOf(options.paths[i], digests[i], options.threads));
  }
  int exit_code = PrintEntries(entries, options.json);
  for (const Entry& entry : entries) {
    if (entry.error) exit_code = std::max(exit_code, FailWith(*entry.error));
  }
  return exit_code;
}

}  // namespace

void AddHash(CLI::App& app, Action* action) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("hash", kHelp);
  verb->add_option("PATH", options->paths, "Files and folders")->required();
  verb->add_option("--threads", options->threads, "Threads to hash with; 0: one per core")
      ->check(CLI::Range(0, 1024))
      ->envname("RHARNESS_THREADS");
  verb->add_flag("--json", options->json, "Print one JSON document (rharness.hash/v1)");
  verb->callback([options, action] { *action = [options] { return Hash(*options); }; });
}

}  // namespace rharness
