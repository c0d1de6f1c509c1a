// What a run leaves behind: model.safetensors and metrics.json.
#ifndef RHARNESS_SCENARIOS_COMMON_OUTPUTS_H_
#define RHARNESS_SCENARIOS_COMMON_OUTPUTS_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "scenarios/common/network.h"

namespace rharness::scenarios {

// The __metadata__ of a checkpoint, or the versions of libraries; left out when empty.
using Metadata = std::map<std::string, std::string>;

struct Metrics {
  double test_accuracy = 0;
  double test_loss = 0;                     // mean cross-entropy in nats
  std::vector<double> train_loss_curve;     // one running mean an epoch, not empty
  std::map<std::string, double> resources;  // what the run cost; left out when empty
};

// Tensors as safetensors: F32, in the order given, header padded with spaces to 8 bytes. The bytes
// depend on the tensors and the metadata alone.
std::string SafetensorsBytes(const std::vector<Tensor>& tensors, const Metadata& metadata);

// {"metrics": {...}, "curves": {"train_loss": {"steps": [1..], "values": [...]}}, "software":
// {...}, "x-resources": {...}}. Numbers are the shortest decimal that reads back to the same
// double; NaN and infinities are the strings "nan", "inf", "-inf".
std::string MetricsJson(const Metrics& metrics, const Metadata& software);

// False and an error that names the file when it cannot be written whole.
bool WriteFile(const std::filesystem::path& path, const std::string& content, std::string* error);

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_COMMON_OUTPUTS_H_
