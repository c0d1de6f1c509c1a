// Writes a run's files without any library, so that their bytes are ours to promise.
#include "scenarios/common/outputs.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace rharness::scenarios {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data are little-endian");

// An object of strings; names and values need no escapes.
std::string TextsJson(const Metadata& texts) {
  std::string text = "{";
  const char* comma = "";
  for (const auto& [key, value] : texts) {
    text += fmt::format("{}\"{}\":\"{}\"", comma, key, value);
    comma = ",";
  }
  return text + "}";
}

std::string Number(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return std::string(digits.data(), end);
}

std::string ShapeText(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t size : shape) text += (text.empty() ? "" : ",") + std::to_string(size);
  return text;
}

std::string NumbersJson(const std::map<std::string, double>& numbers) {
  std::string text = "{";
  const char* comma = "";
  for (const auto& [key, value] : numbers) {
    text += fmt::format("{}\"{}\": {}", comma, key, Number(value));
    comma = ", ";
  }
  return text + "}";
}

}  // namespace

std::string SafetensorsBytes(const std::vector<Tensor>& tensors, const Metadata& metadata) {
  std::string header = "{";
  if (!metadata.empty()) header += "\"__metadata__\":" + TextsJson(metadata) + ",";
  std::string data;
  const char* comma = "";
  for (const Tensor& tensor : tensors) {
    const std::size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(tensor.values.data()),
                tensor.values.size() * sizeof(float));
    header += fmt::format("{}\"{}\":{{\"dtype\":\"F32\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                          comma, tensor.name, ShapeText(tensor.shape), begin, data.size());
    comma = ",";
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = header.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + header + data;
}

std::string MetricsJson(const Metrics& metrics, const Metadata& software) {
  std::string steps;
  std::string values;
  for (std::size_t i = 0; i < metrics.train_loss_curve.size(); ++i) {
    const char* comma = i == 0 ? "" : ", ";
    steps += fmt::format("{}{}", comma, i + 1);
    values += fmt::format("{}{}", comma, Number(metrics.train_loss_curve[i]));
  }
  return fmt::format(
      "{{\n  \"metrics\": {{\"test_accuracy\": {}, \"test_loss\": {}, \"train_loss\": {}}},\n"
      "  \"curves\": {{\"train_loss\": {{\"steps\": [{}], \"values\": [{}]}}}}{}{}\n}}\n",
      Number(metrics.test_accuracy), Number(metrics.test_loss),
      Number(metrics.train_loss_curve.back()), steps, values,
      software.empty() ? "" : ",\n  \"software\": " + TextsJson(software),
      metrics.resources.empty() ? "" : ",\n  \"x-resources\": " + NumbersJson(metrics.resources));
}

bool WriteFile(const std::filesystem::path& path, const std::string& content, std::string* error) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) *error = fmt::format("{}: cannot be written", path.string());
  return static_cast<bool>(file);
}

}  // namespace rharness::scenarios
