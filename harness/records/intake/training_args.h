// The arguments of a Hugging Face Trainer from training_args.bin.
//
// Role: private to trainer.cc. The file is a pickle in a zip archive, as torch.save writes it;
// loading it would execute code, so it is read as inert values.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_TRAINING_ARGS_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_TRAINING_ARGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/held_folder.h"
#include "harness/base/json.h"

namespace rharness {

struct TrainingArgs {
  Json members = Json::MakeObject();  // numbers, texts, booleans; an enumeration's member its value
  std::vector<std::string> unread;    // names of the others; None is in neither
};

// Errors: those of ReadZipDirectory and ParsePickle; unsupported if it is no zip archive (PyTorch
// before 1.6) or its pickle is no object with members; 16 MiB of pickle at most.
Result<TrainingArgs> ReadTrainingArgs(const HeldFolder& folder, const std::string& relative);

// Pure: of the pickle itself.
Result<TrainingArgs> ParseTrainingArgs(std::string pickle, std::string_view where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_TRAINING_ARGS_H_
