// rharness hash: the SHA-256 of files, the tree digest of folders, and what the tensors of either
// hash to.
//
// Every path becomes an Entry; the writers below print entries and nothing else, so that another
// kind of digest is one more member of Entry and one more line in each writer.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/roles.h"
#include "compare/weights/tensor_digest.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kHashHelp[] =
    "Prints the SHA-256 of files, one line a path, as sha256sum does. A folder is printed with a "
    "slash at its end; its digest (rharness.tree/v1) covers the names and contents of every file "
    "below it, and neither times, modes, owners nor empty folders. Where a path is a checkpoint "
    "and has the name of one, a comment line follows with the digest of its tensors "
    "(rharness.checkpoint/v1): the same whatever format, shards or metadata they were saved with. "
    "A folder with two sets of weights has no digest of tensors: both are named.";

struct Options {
  std::vector<std::string> paths;
  int threads = 0;
  bool weights_only = false;
  bool json = false;
};

// The digest of a checkpoint's tensors, or of those of one role.
struct TensorsDigest {
  std::string sha256;
  std::uint64_t tensors = 0;
  std::uint64_t size_bytes = 0;
};

struct CheckpointEntry {
  TensorsDigest all;
  TensorsDigest weights;
  TensorsDigest optimizer;
  std::string non_finite;  // a sentence; empty: all values are finite that should be
};

struct Entry {
  std::string path;
  bool is_tree = false;
  std::optional<Error> error;  // set: nothing below is
  std::string sha256;          // empty: was not asked for
  std::uint64_t size_bytes = 0;
  std::uint64_t files = 1;
  std::optional<CheckpointEntry> checkpoint;
  std::optional<Error> checkpoint_error;  // of what looks like a checkpoint and cannot be read
};

TensorsDigest DigestOf(const CheckpointDigest& digest, const std::vector<TensorInfo>& tensors,
                       std::optional<TensorRole> role) {
  TensorsDigest part;
  std::vector<TensorDigest> leaves;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (role && RoleOf(tensors[i].name) != *role) continue;
    leaves.push_back(digest.tensors[i]);
    part.size_bytes += tensors[i].size_bytes;
  }
  part.tensors = leaves.size();
  part.sha256 = CombineDigests(leaves);
  return part;
}

Result<CheckpointEntry> HashCheckpoint(const std::string& path, int threads) {
  ASSIGN_OR_RETURN(const auto checkpoint, OpenCheckpoint(path));
  ASSIGN_OR_RETURN(const CheckpointDigest digest, DigestCheckpoint(*checkpoint, threads));
  const std::vector<TensorInfo>& tensors = checkpoint->tensors();
  return CheckpointEntry{DigestOf(digest, tensors, std::nullopt),
                         DigestOf(digest, tensors, TensorRole::kWeight),
                         DigestOf(digest, tensors, TensorRole::kOptimizer),
                         DescribeNonFinite(digest.non_finite, tensors.size())};
}

// By the name alone, so that other files cost no second look.
bool HasCheckpointName(const Entry& entry) {
  if (!entry.is_tree) {
    return MayHoldTensors(entry.path) || entry.path.ends_with(".index.json");
  }
  const Result<FolderContents> contents = ListFolder(entry.path);
  return contents.ok() && !contents->empty();
}

// Many things are called .bin, and many folders hold some file of numbers.
bool IsSurelyCheckpoint(const Entry& entry) {
  if (!entry.is_tree) {
    const bool named = IsModelName(entry.path) || entry.path.ends_with(".index.json");
    return named && !entry.path.ends_with(".bin");
  }
  const Result<FolderContents> contents = ListFolder(entry.path);
  return contents.ok() && (contents->distributed || !contents->indexes.empty() ||
                           std::ranges::find(contents->safetensors, "model.safetensors") !=
                               contents->safetensors.end());
}

void FillCheckpoint(const Options& options, Entry* entry) {
  if (!options.weights_only && !HasCheckpointName(*entry)) return;
  Result<CheckpointEntry> checkpoint = HashCheckpoint(entry->path, options.threads);
  if (checkpoint.ok()) {
    entry->checkpoint = std::move(*checkpoint);
    if (options.weights_only && entry->checkpoint->weights.tensors == 0) {
      entry->error = InvalidInput(fmt::format("has no weights; expected some among its {} tensors",
                                              entry->checkpoint->all.tensors),
                                  entry->path);
    }
  } else if (options.weights_only) {
    entry->error = checkpoint.error();
  } else if (IsSurelyCheckpoint(*entry)) {
    entry->checkpoint_error = checkpoint.error();
  }
}

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

// A name as GNU sha256sum writes it, so that sha256sum --check reads it: what would break the line
// is escaped and marked by a backslash in front of the line. Beyond that, what a terminal could
// take for a command is made visible, wherever the line goes: pipes end on terminals too.
struct Name {
  std::string_view mark;
  std::string text;
};

Name NameOf(const Entry& entry) {
  Name name;
  for (const char c : entry.path) {
    switch (c) {
      case '\\':
        name.text += "\\\\";
        break;
      case '\n':
        name.text += "\\n";
        break;
      case '\r':
        name.text += "\\r";
        break;
      default:
        name.text.push_back(c);
    }
  }
  name.mark = name.text.size() == entry.path.size() ? "" : "\\";
  if (entry.is_tree && !name.text.ends_with('/')) name.text.push_back('/');
  name.text = TerminalSafe(name.text);
  return name;
}

// "<sha256>  <path>", then comments, which sha256sum passes over.
std::string LinesOf(const Entry& entry) {
  const Name name = NameOf(entry);
  std::string lines = fmt::format("{}{}  {}\n", name.mark, entry.sha256, name.text);
  if (entry.checkpoint) {
    const TensorsDigest& all = entry.checkpoint->all;
    lines += fmt::format("# {}  {} (rharness.checkpoint/v1 of {} tensors, {} bytes)\n", all.sha256,
                         name.text, all.tensors, all.size_bytes);
  }
  if (entry.checkpoint_error) {
    std::string message = TerminalSafe(entry.checkpoint_error->ToString());
    std::ranges::replace(message, '\n', ' ');
    lines += fmt::format("# no digest of tensors: {}\n", message);
  }
  return lines;
}

// "<digest>  weights|optimizer|all  <path>"; no line for what there is none of.
std::string PartLinesOf(const Entry& entry) {
  const Name name = NameOf(entry);
  std::string lines;
  const auto add = [&](const TensorsDigest& part, std::string_view title) {
    if (part.tensors == 0) return;
    lines += fmt::format("{}{}  {:<9}  {}\n", name.mark, part.sha256, title, name.text);
  };
  add(entry.checkpoint->weights, "weights");
  add(entry.checkpoint->optimizer, "optimizer");
  add(entry.checkpoint->all, "all");
  return lines;
}

Json JsonOf(const TensorsDigest& digest) {
  return Json()
      .Set("sha256", digest.sha256)
      .Set("tensors", digest.tensors)
      .Set("size_bytes", digest.size_bytes);
}

Json JsonOf(const CheckpointEntry& checkpoint) {
  Json json = JsonOf(checkpoint.all);
  if (checkpoint.weights.tensors > 0) json.Set("weights", JsonOf(checkpoint.weights));
  if (checkpoint.optimizer.tensors > 0) json.Set("optimizer", JsonOf(checkpoint.optimizer));
  if (!checkpoint.non_finite.empty()) json.Set("non_finite", checkpoint.non_finite);
  return json;
}

Json JsonOf(const Error& error) {
  return Json().Set("code", ErrorCodeName(error.code)).Set("message", error.ToString());
}

Json JsonOf(const Entry& entry) {
  Json json;
  json.Set("path", entry.path).Set("kind", entry.is_tree ? "tree" : "file");
  if (entry.error) return json.Set("error", JsonOf(*entry.error));
  if (!entry.sha256.empty()) {
    json.Set("sha256", entry.sha256).Set("size_bytes", entry.size_bytes);
    if (entry.is_tree) json.Set("files", entry.files);
  }
  if (entry.checkpoint) json.Set("checkpoint", JsonOf(*entry.checkpoint));
  if (entry.checkpoint_error) {
    json.Set("checkpoint", Json().Set("error", JsonOf(*entry.checkpoint_error)));
  }
  return json;
}

int PrintEntries(const std::vector<Entry>& entries, const Options& options) {
  if (options.json) {
    Json list = Json::MakeArray();
    for (const Entry& entry : entries) list.Append(JsonOf(entry));
    return PrintJson(Json().Set("schema", "rharness.hash/v1").Set("entries", std::move(list)));
  }
  std::string text;
  for (const Entry& entry : entries) {
    if (!entry.error) text += options.weights_only ? PartLinesOf(entry) : LinesOf(entry);
  }
  return Print(text);
}

std::vector<Entry> FileEntries(const Options& options) {
  const std::vector<fs::path> paths(options.paths.begin(), options.paths.end());
  const std::vector<Result<FileDigest>> digests = HashFiles(paths, options.threads);
  std::vector<Entry> entries;
  entries.reserve(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    entries.push_back(EntryOf(options.paths[i], digests[i], options.threads));
  }
  return entries;
}

// Without digests of files, which would read everything twice and refuse folders of links.
std::vector<Entry> CheckpointEntries(const Options& options) {
  std::vector<Entry> entries(options.paths.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::error_code ignored;
    entries[i].path = options.paths[i];
    entries[i].is_tree = fs::is_directory(options.paths[i], ignored);
  }
  return entries;
}

// Digests of these say that two checkpoints are equal, and nothing of whether they are of use.
void WarnOfNonFinite(const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    if (!entry.checkpoint || entry.checkpoint->non_finite.empty()) continue;
    LogWarning(TerminalSafe(fmt::format("{}: {}", entry.path, entry.checkpoint->non_finite)));
  }
}

int Hash(const Options& options) {
  std::vector<Entry> entries =
      options.weights_only ? CheckpointEntries(options) : FileEntries(options);
  for (Entry& entry : entries) {
    if (!entry.error) FillCheckpoint(options, &entry);
  }
  int exit_code = PrintEntries(entries, options);
  WarnOfNonFinite(entries);
  for (const Entry& entry : entries) {
    if (entry.error) exit_code = std::max(exit_code, FailWith(*entry.error));
  }
  return exit_code;
}

}  // namespace

void AddHash(Command& root) {
  auto options = std::make_shared<Options>();
  Command& verb = root.AddVerb("hash", "Print digests of files, folders and checkpoints' tensors");
  verb.Describe(kHashHelp);
  verb.Add("PATH", &options->paths, "Files and folders").Path().Required();
  verb.Add("--threads", &options->threads, "Threads to hash with; 0: one per core")
      .Between(0, 1024)
      .Env("RHARNESS_THREADS");
  verb.Add("--weights-only", &options->weights_only,
           "Print the digests of the weights, of the optimizer's state and of all tensors "
           "instead, each on a line; every path must be a checkpoint with weights");
  verb.Add("--json", &options->json, "Print one JSON document (rharness.hash/v1)");
  verb.Example("rharness hash train.csv checkpoints/1000");
  verb.Example("rharness hash --weights-only model.safetensors model.pt");
  verb.Do([options] { return Hash(*options); });
}

}  // namespace rharness
