// The importers of this folder: for each kind, whether a source is one of it, and reading it.
//
// Role: private to kinds.cc and the importers' own files.
#ifndef RHARNESS_HARNESS_INTAKE_IMPORTERS_H_
#define RHARNESS_HARNESS_INTAKE_IMPORTERS_H_

#include <string>

#include "harness/intake/intake.h"

namespace rharness {

// plain_record.cc: a reproducibility record in one JSON object or an array of them; 64 MiB at most.
// Members, all but run_id optional: run_id, family, code {git_sha, repo, dirty}, container, data
// (name to "PATH content=sha256:HEX", or objects with name, path, content), command, hardware {cpu,
// gpus, driver}, env, seeds, hyperparams, metrics, output_model {path, sha256}. What is none of
// these is named in a remark.
bool IsPlainRecord(const std::string& source);
Status ImportPlainRecords(const ImportRequest& request, const ImportSink& sink);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INTAKE_IMPORTERS_H_
