// Import: other tools' records of runs, as manifests.
//
// Role: start here. A source (a folder, a file, a server) is read by the importer of its kind, one
// file each in this folder; it passes every run to the caller as it is read, so that a hundred
// thousand need no more memory than one. Not here: where manifests are stored (the verb), and
// whether they are complete (admission).
//
// Rules for an importer: nothing is guessed silently (a heuristic is a hint that says so); nothing
// of the source is executed or unpickled; a malformed line or file is a remark or a refusal that
// names it, with its number, and the rest stays; reading changes nothing at the source; limits on
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
#include "harness/base/trouble.h"
#include "harness/records/intake/imported_run.h"

namespace rharness {

struct ImportRequest {
  std::string source;             // a folder, a file, or a URL
  std::string family;             // of all its runs; empty: the source's own grouping, as a hint
  std::vector<std::string> runs;  // ids there; empty: all
  // Whether to hash readable artifacts, which reads all of them (a server's: fetches).
  bool artifacts = true;
  std::function<bool()> should_cancel;
  // Of trouble of the machine (IsTrouble) in a part of the run that is taken next: what is read of
  // it is poorer than the source is.
  std::function<void(const Error&)> on_trouble;

  bool Wants(std::string_view run) const {
    return runs.empty() || std::find(runs.begin(), runs.end(), run) != runs.end();
  }
};

// The error of a part that becomes a remark. Reports trouble.
inline const Error& Unread(const ImportRequest& request, const Error& error) {
  if (request.on_trouble && IsTrouble(error)) request.on_trouble(error);
  return error;
}

struct ImportSink {
  std::function<Status(ImportedRun)> take;
  // A run, file or line that yielded no run: its place, and the reason.
  std::function<void(std::string where, const Error& why)> refuse;
};

struct SourceKind {
  std::string_view name;      // "mlflow", as in --from and run ids
  std::string_view describe;  // one line for --help: "MLflow: a server, its SQLite file, mlruns/"
  // By its content; reads little of it. Also gets URLs.
  bool (*recognises)(const std::string& source);
  // Errors: not_found, io, invalid_input if the source as a whole cannot be read, and those of
  // `take`. A source without any run is not_found.
  Status (*import)(const ImportRequest& request, const ImportSink& sink);
};

// In the order of the search. (kinds.cc)
std::span<const SourceKind> SourceKinds();

// The kind by its name, or the first that recognises the source. Errors: invalid_input with the
// known names.
Result<const SourceKind*> FindSourceKind(std::string_view name, const std::string& source);
// Further kinds that recognise the source, as a repository with runs of MLflow and a dvc.lock.
std::vector<const SourceKind*> OtherKindsIn(const std::string& source, const SourceKind& taken);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_INTAKE_H_
