// The files that DVC keeps beside code: dvc.lock, dvc.yaml, *.dvc, .dvc/config, and the listing of
// a directory.
//
// Role: private to DVC's importer, except listings, which harness/execution/fetch also reads. Pure.
// Not here: the places of contents (dvc_contents.h). Sources:
// dvc.org/doc/user-guide/project-structure; dvc/schema.py, dvc/output.py and
// dvc_data/hashfile/tree.py of DVC 3.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_DVC_FILES_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_DVC_FILES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

inline constexpr std::size_t kMostDvcBytes = std::size_t{64} << 20;   // of each file, listings too
inline constexpr std::size_t kMostDvcListing = std::size_t{1} << 19;  // files of one directory
inline constexpr std::size_t kMostDvcEntries = 10'000;                // deps or outs of a stage
inline constexpr std::size_t kMostDvcStages = 100'000;                // of one dvc.lock

// What DVC knows of the content of a path.
struct DvcEntry {
  std::string path;       // as written: relative to the stage's folder, absolute, or a URL
  std::string algorithm;  // "md5", "md5-dos2unix" (before DVC 3), "etag", "checksum"; "": none
  std::string hash;       // lower-case digits of an MD5, without ".dir"; else as written
  bool directory = false;
  std::uint64_t size_bytes = 0;
  // "md5:2306...", "md5:4c9b....dir"; "" without a hash.
  std::string Digest() const;
  bool IsMd5() const { return algorithm.starts_with("md5"); }
};

struct DvcStage {
  std::string name;
  std::vector<std::string> commands;  // one line each, for a shell of its own, in order
  std::vector<DvcEntry> deps, outs;
  Json params;         // by file, each an object by (dotted) name
  std::string sha256;  // of the stage's entry in dvc.lock
};

struct DvcLock {
  std::vector<DvcStage> stages;
  std::vector<std::pair<std::string, Error>> refused;  // stages: by name, why
};

// Schema 2.0, and 1.0, which has the stages alone. Errors: those of ParseYamlAsJson; invalid_input,
// unsupported (another schema).
Result<DvcLock> ParseDvcLock(std::string_view text, const std::string& file);

struct DvcTracked {            // *.dvc: data without a stage
  std::string folder;          // `wdir`, relative to the file's own
  std::vector<DvcEntry> outs;  // paths relative to `folder`
  std::string url;             // source of `dvc import-url`
};

// Errors: as ParseDvcLock; unsupported: stages of before DVC 1.0 ("cmd" in a .dvc file).
Result<DvcTracked> ParseDvcFile(std::string_view text, const std::string& file);

struct DvcPlot {
  std::string path;
  std::string x;  // the column of steps, if one is named
};

struct DvcPipelineStage {
  std::string folder;                // `wdir`, relative to dvc.yaml's own
  std::vector<std::string> metrics;  // relative to `folder`; may hold "${...}"
  std::vector<DvcPlot> plots;
};

struct DvcPipeline {  // dvc.yaml
  // Stages of `foreach` and `matrix` under the name before "@".
  std::map<std::string, DvcPipelineStage> stages;
  std::vector<std::string> metrics;  // of the whole file, relative to it
  std::vector<DvcPlot> plots;
};

// Ignores entries of other forms. Errors: those of ParseYamlAsJson; invalid_input.
Result<DvcPipeline> ParseDvcYaml(std::string_view text, const std::string& file);

struct DvcConfig {
  std::string remote_url;    // of the default remote, without credentials; may be a folder
  std::string cache_folder;  // as written; empty: .dvc/cache
};

// INI of .dvc/config; later texts (config.local) override earlier ones. Never an error: ignores
// lines that are no settings, and reads no credentials.
DvcConfig ParseDvcConfig(const std::vector<std::string>& texts);

struct DvcListed {
  std::string path;  // relative to the directory
  std::string md5;
};

// The JSON array in a ".dir" object. Errors: invalid_input (another form, a path that leaves the
// directory or is repeated, more than kMostDvcListing).
Result<std::vector<DvcListed>> ParseDvcListing(std::string_view text, const std::string& file);
// The same array as DVC writes it, by path: the MD5 of this text is the directory's. Paths are
// UTF-8; other bytes become Python's lone surrogates.
std::string WriteDvcListing(std::vector<DvcListed> files);

// Whether a path is no local file: "s3://...", "remote://...".
bool IsDvcUrl(std::string_view path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_DVC_FILES_H_
