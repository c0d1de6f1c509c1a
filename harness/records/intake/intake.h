// Import: the records that other tools keep of runs, as manifests.
//
// Role: start here. A source (a folder, a file, a server) is read by the importer of its kind, one
// file each in this folder; every run that it holds goes to the caller as it is read, so that a
// hundred thousand need no more memory than one. Not here: where manifests are put (the verb), and
// whether they are complete (admission).
//
// Rules for an importer: nothing is guessed silently (a heuristic is a hint that says so); nothing
// of the source is executed or unpickled; a malformed line or file is a remark or a refusal that
// names it, with its number, and the rest is kept; reading changes nothing at the source; limits on
// sizes and counts are stated in the importer's header.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_INTAKE_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_INTAKE_H_

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/records/intake/imported_run.h"

namespace rharness {

struct ImportRequest {
  std::string source;             // a folder, a file, or a URL
  std::string family;             // of all its runs; empty: what the source groups by, as a hint
  std::vector<std::string> runs;  // ids there; empty: all
  // Whether artifacts that can be read are hashed, which reads all of them (a server's: fetches).
  bool artifacts = true;
  std::function<bool()> should_cancel;

  bool Wants(std::string_view run) const {
    return runs.empty() || std::find(runs.begin(), runs.end(), run) != runs.end();
  }
};

struct ImportSink {
  std::function<Status(ImportedRun)> take;
  // A run, file or line that gave no run: where, and why.
  std::function<void(std::string where, const Error& why)> refuse;
};

struct SourceKind {
  std::string_view name;      // "mlflow", as --from and run ids have it
  std::string_view describe;  // one line for --help: "MLflow: a server, its SQLite file, mlruns/"
  // By its content; reads little of it. URLs come here, too.
  bool (*recognises)(const std::string& source);
  // Errors: not_found, io, invalid_input where the source as a whole cannot be read, and whatever
  // `take` returned. A source without one run is not_found.
  Status (*import)(const ImportRequest& request, const ImportSink& sink);
};

// In the order in which they are asked. (kinds.cc)
std::span<const SourceKind> SourceKinds();

// The kind by its name, or the first that recognises the source. Errors: invalid_input with the
// names there are.
Result<const SourceKind*> FindSourceKind(std::string_view name, const std::string& source);
// The kinds behind this one that recognise the source as well, as a repository with runs of MLflow
// and a dvc.lock.
std::vector<const SourceKind*> OtherKindsIn(const std::string& source, const SourceKind& taken);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_INTAKE_H_
