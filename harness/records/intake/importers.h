// The importers of this folder: for each kind, whether a source is one of it, and reading it.
//
// Role: private to kinds.cc and the importers' own files.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_IMPORTERS_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_IMPORTERS_H_

#include <string>

#include "harness/records/intake/intake.h"

namespace rharness {

// plain_record.cc: reproducibility records: one JSON object, an array of them, or JSON Lines; 64
// MiB at most each. Members, all but run_id optional: run_id, family, code {git_sha, repo, dirty},
// container, data (name to "PATH content=sha256:HEX", or objects with name, path, content),
// command, hardware {cpu, gpus, driver}, env, seeds, hyperparams, metrics, output_model {path,
// sha256}. Other members are named in a remark.
bool IsPlainRecord(const std::string& source);
Status ImportPlainRecords(const ImportRequest& request, const ImportSink& sink);

// mlperf.cc: result logs of MLPerf, 256 MiB each: the source itself, or every file below it named
// result_*.txt or with ":::MLLOG " in its first 64 KiB. The system's description at
// systems/SYSTEM.json of the same submission is a hint. A run's id is BENCHMARK-DIGEST of its log;
// --run also takes a log's path below the source. A line that is no event is left out with a remark
// (100 per log); a log that contradicts itself is refused, as is a repeated one.
bool IsMlperf(const std::string& source);
Status ImportMlperf(const ImportRequest& request, const ImportSink& sink);

// megatron.cc: golden values of Megatron's functional tests, 64 MiB each: the source itself, or
// every .json below it of their form. They hold curves alone. --run also takes paths.
bool IsMegatron(const std::string& source);
Status ImportMegatron(const ImportRequest& request, const ImportSink& sink);

// trainer.cc: folders of a Hugging Face Trainer, one run each: trainer_state.json (64 MiB),
// training_args.json or .bin, config.json, all_results.json (4 MiB each), and the weights and
// optimizer states there and in checkpoint-N/. Pickles are read as inert values.
bool IsTrainer(const std::string& source);
Status ImportTrainer(const ImportRequest& request, const ImportSink& sink);

// tensorboard_import.cc: event files of TensorBoard: each folder of them is a run, folders within
// it and those called train, validation or the like are its writers. Curves, and their last values
// as metrics; times, rates and memory are left out. Limits: those of compare/curves/tensorboard.h.
bool IsTensorboard(const std::string& source);
Status ImportTensorboard(const ImportRequest& request, const ImportSink& sink);

// mlflow*.cc: an mlruns/ folder, the SQLite file of a tracking server, or its URL. Params, the last
// value and all points of metrics, dataset inputs (their digests are hints), git and image tags,
// and artifacts; experiments are families. Deleted runs are left out. Limits: 1,000,000 points and
// 100,000 artifacts per run; from a server artifacts up to 64 GiB each, answers of 64 MiB and 120
// s, 5 attempts. Credentials come only from MLflow's own variables and file (mlflow_credentials.h).
bool IsMlflow(const std::string& source);
Status ImportMlflow(const ImportRequest& request, const ImportSink& sink);

// wandb*.cc: folders of Weights & Biases' client, one run each: the transaction log (2 GiB) and, if
// present, files/{wandb-metadata.json,config.yaml,wandb-summary.json,requirements.txt, diff.patch}
// (64 MiB each); other files in files/ are artifacts. A damaged or cut log yields the records
// before the damage, and those after it from the next block on. At most 1,000,000 values per run.
bool IsWandb(const std::string& source);
Status ImportWandb(const ImportRequest& request, const ImportSink& sink);

// dvc*.cc: a DVC repository (its folder, one in it, or a dvc.lock), without DVC: each stage of a
// dvc.lock that has outputs is a run, and each stage of an experiment (refs/exps of git) that
// differs from its baseline commit. Its id is the stage's address and a prefix of a hash of its
// entry: another result is another run; --run also takes addresses and experiments' names. Deps
// that git has as recorded are code, all others data. Contents are searched in the workspace, the
// cache (also one outside that .dvc/config names) and a default remote that is a folder, and count
// if their MD5 is the recorded one; without `artifacts` none are. HEAD is a hint for the commit,
// and left out if it has another version of a dep or a parameter. 64 MiB of each file and listing,
// 524,288 files of a directory, 10,000 deps and outs of a stage, 10,000 experiments.
bool IsDvc(const std::string& source);
Status ImportDvc(const ImportRequest& request, const ImportSink& sink);

// clearml*.cc: offline sessions of ClearML's library, each a folder or its zip archive, or a folder
// of these: task.json (64 MiB), metrics.jsonl and log.jsonl (1 GiB each) and artifacts (in an
// archive up to 1 GiB each). At most 1,000,000 values and 10,000 artifacts per task. Archives are
// not unpacked.
bool IsClearml(const std::string& source);
Status ImportClearml(const ImportRequest& request, const ImportSink& sink);

// ro_crate_import.cc: a folder with ro-crate-metadata.json (64 MiB), or that file: each
// CreateAction of a Process or Workflow Run Crate is a run, named by its id and the metadata's
// digest. Times, tools, images, files (hashed if the crate contains them) and values; it has no
// command.
bool IsRoCrate(const std::string& source);
Status ImportRoCrate(const ImportRequest& request, const ImportSink& sink);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_IMPORTERS_H_
