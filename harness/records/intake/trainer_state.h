// A Hugging Face Trainer's record of a run, in JSON.
//
// Role: private to trainer.cc. Pure. Source: the documentation of transformers, TrainerState,
// TrainingArguments and PretrainedConfig.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_TRAINER_STATE_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_TRAINER_STATE_H_

#include <string>

#include "harness/records/intake/imported_run.h"

namespace rharness {

// trainer_state.json: log_history as curves by step, its summary and the last evaluation as
// metrics, its settings as hyperparameters. Entries of another form are remarks with their index.
void AddTrainerState(const Json& state, ImportedRun* run);
// The members of TrainingArguments; seed and data_seed are seeds. `from` is the file's name.
void AddTrainingArgs(const Json& args, const std::string& from, ImportedRun* run);
// config.json of the model: hyperparameters "config.NAME", the version of transformers, the family.
void AddModelConfig(const Json& config, ImportedRun* run);
// all_results.json and the like: metrics.
void AddResults(const Json& results, const std::string& from, ImportedRun* run);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_TRAINER_STATE_H_
