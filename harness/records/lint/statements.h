// Statements: what each part of a run's record says about one subject, such as its batch size.
//
// Role: start here. A run is described in several places: its manifest, its command, its logs, its
// script, its image. Each extractor below turns one place into statements; contradictions.h
// compares them. Pure. Not here: files (the verb reads them).
#ifndef RHARNESS_HARNESS_RECORDS_LINT_STATEMENTS_H_
#define RHARNESS_HARNESS_RECORDS_LINT_STATEMENTS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// The source of a statement, the most trusted first: of two that differ, the less trusted is
// reported as the contradiction.
enum class Witness { kManifest, kCommand, kImage, kScript, kLog };

struct Statement {
  std::string subject;  // "batch_size", "seed", "devices", "steps", "version of torch"
  std::string value;    // as it was written
  Witness witness = Witness::kManifest;
  std::string place;  // "$.hyperparameters.lr", "command: --lr 0.1", "train.log: line 17"
};

// One word for a subject with several names: "--learning-rate", "lr" and "base_lr" are
// "learning_rate", "world_size" and "n_gpu" are "devices". Others: lower case, '-' as '_', without
// leading dashes.
std::string SubjectOf(std::string_view name);

// Hyperparameters, seeds, software, packages of Python in use, variables, GPUs, steps of curves
// ("steps done") and of checkpoint names.
std::vector<Statement> StatementsOf(const Manifest& manifest);

// "--name value", "--name=value", "name=value" and "NAME=value" before the program.
std::vector<Statement> StatementsOfCommand(const std::vector<std::string>& command);

// Versions in the name and tag of an image: "pytorch:2.1.0-cuda12.1-cudnn8".
std::vector<Statement> StatementsOfImage(const Image& image);
// Variables of `podman image inspect` or `docker image inspect`: versions and settings in
// Config.Env. Empty for other JSON.
std::vector<Statement> StatementsOfInspection(const Json& inspection, std::string_view file);

// Of a Python script: seeds set as plain integers (torch.manual_seed(42)) and constants (batch_size
// = 64) of these subjects at the start of a line.
std::vector<Statement> StatementsOfScript(std::string_view text, std::string_view file,
                                          const std::set<std::string>& subjects);

// Of a log: "name: value", "name=value", "'name': value" of these subjects, MLPerf's events, and
// versions ("PyTorch version: 2.1.0", "torch==2.1.0", "CUDA 12.1"). A name with several values in
// one log is a measurement and no setting: it has no statement. Skips lines beyond 64 KiB.
std::vector<Statement> StatementsOfLog(std::string_view text, std::string_view file,
                                       const std::set<std::string>& subjects);

// The subjects to search for in logs and scripts: those of these statements, and those always worth
// a look (seed, batch sizes, learning rate, steps, epochs, devices).
std::set<std::string> SubjectsOf(const std::vector<Statement>& statements);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_LINT_STATEMENTS_H_
