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

// mlflow*.cc: an mlruns/ folder, the SQLite file of a tracking server, or its URL. Params, the last
// value and all points of metrics, dataset inputs (their digests are hints), git and image tags,
// and artifacts; experiments are families. Runs that were deleted are left out. Of one run at most
// 1,000,000 points and 100,000 artifacts; of a server artifacts up to 64 GiB each, answers of 64
// MiB and 120 s, 5 attempts. Credentials come from MLflow's own variables and file alone
// (mlflow_credentials.h).
bool IsMlflow(const std::string& source);
Status ImportMlflow(const ImportRequest& request, const ImportSink& sink);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INTAKE_IMPORTERS_H_
