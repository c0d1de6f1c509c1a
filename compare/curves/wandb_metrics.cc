// History and summary by the numbers of their fields.
// Source: wandb/proto/wandb_internal.proto of wandb 0.31.
#include "compare/curves/wandb_metrics.h"

#include <algorithm>
#include <utility>

#include "compare/curves/printed_number.h"
#include "harness/base/protobuf_reader.h"

namespace rharness {
namespace {

// Of a Record; a run begins with a summary where it goes on.
enum WandbField : std::uint32_t { kWandbHistory = 2, kWandbSummary = 3, kWandbRun = 17 };
constexpr std::uint32_t kSummaryOfRun = 5;

// A value by its name: {key 1 or nested_key 2, value_json 16}. Names of parts are joined by '.'.
struct LoggedItem {
  std::string name;
  std::string_view json;
};

bool ReadItem(std::string_view message, LoggedItem* item) {
  return ForProtobufFields(message, [&](const ProtobufField& field) {
    if (field.number == 1) item->name = std::string(field.content);
    if (field.number == 2)
      item->name += (item->name.empty() ? "" : ".") + std::string(field.content);
    if (field.number == 16) item->json = field.content;
  });
}

std::optional<std::int64_t> StepOf(std::string_view message) {
  std::int64_t step = 0;  // which is not written
  const bool good = ForProtobufFields(message, [&](const ProtobufField& field) {
    if (field.number == 1) step = field.AsInt();
  });
  return good ? std::optional(step) : std::nullopt;
}

void AddPoint(const std::string& name, std::int64_t step, std::optional<double> number,
              WandbMetrics* metrics) {
  if (!number) {
    ++metrics->other_values;
  } else if (++metrics->points <= kMostWandbPoints) {
    WandbCurve& curve = metrics->history[name];
    curve.steps.push_back(step);
    curve.values.push_back(*number);
  }
}

// A dict is one value in old logs, and one value a leaf in later ones. Pictures, tables and
// histograms are objects with "_type".
void AddItem(const LoggedItem& item, std::int64_t step, WandbMetrics* metrics) {
  if (item.json.starts_with('{')) {
    const auto json = ParseJsonWithNonFinite(item.json, "");
    if (json.ok() && json->IsObject() && json->Find("_type") == nullptr) {
      return ForWandbLeaves(item.name, *json, [&](const std::string& leaf, const Json& value) {
        const bool scalar = value.kind() == Json::Kind::kString || value.ToDouble().has_value();
        const auto number = scalar ? PrintedOf(value) : std::nullopt;
        AddPoint(leaf, step, number ? std::optional(number->value) : std::nullopt, metrics);
      });
    }
  }
  AddPoint(item.name, step, NumberOfText(item.json), metrics);
}

bool AddHistory(std::string_view message, WandbMetrics* metrics) {
  std::optional<std::int64_t> step;
  std::vector<LoggedItem> items;
  bool good = true;
  good &= ForProtobufFields(message, [&](const ProtobufField& field) {
    if (field.number == 1) good &= ReadItem(field.content, &items.emplace_back());
    if (field.number == 2) step = StepOf(field.content);
  });
  for (const LoggedItem& item : items) {
    const auto number = NumberOfText(item.json);
    constexpr double kMostSeconds = 1e11;
    if (item.name == "_step" && number && !step && *number >= 0 && *number < kMostSeconds) {
      step = static_cast<std::int64_t>(*number);
    }
    if (item.name == "_timestamp" && number && *number > 0 && *number < kMostSeconds) {
      const WallTime time(std::chrono::milliseconds(static_cast<std::int64_t>(*number * 1000)));
      metrics->last_seen = std::max(metrics->last_seen, time);
    }
  }
  if (!step) return false;
  for (const LoggedItem& item : items) {
    if (!item.name.empty() && !item.name.starts_with('_')) AddItem(item, *step, metrics);
  }
  return good;
}

}  // namespace

bool AddWandbValues(std::string_view message, std::map<std::string, Json>* values) {
  bool good = true;
  good &= ForProtobufFields(message, [&](const ProtobufField& field) {
    LoggedItem item;
    if (field.number != 1 && field.number != 2) return;
    good &= ReadItem(field.content, &item);
    if (item.name.empty() || item.name.starts_with('_')) return;
    if (field.number == 2) {
      values->erase(item.name);
    } else if (auto value = ParseJsonWithNonFinite(item.json, ""); value.ok()) {
      (*values)[item.name] = std::move(*value);
    } else {
      good = false;
    }
  });
  return good;
}

bool AddWandbMetrics(std::string_view record, WandbMetrics* metrics) {
  bool good = true;
  good &= ForProtobufFields(record, [&](const ProtobufField& field) {
    if (field.number == kWandbHistory) good &= AddHistory(field.content, metrics);
    if (field.number == kWandbSummary) good &= AddWandbValues(field.content, &metrics->summary);
    if (field.number != kWandbRun) return;
    good &= ForProtobufFields(field.content, [&](const ProtobufField& inner) {
      if (inner.number == kSummaryOfRun) good &= AddWandbValues(inner.content, &metrics->summary);
    });
  });
  return good;
}

std::map<std::string, double> WandbSummaryNumbers(const WandbMetrics& metrics) {
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : metrics.summary) {
    ForWandbLeaves(name, value, [&](const std::string& leaf, const Json& json) {
      const auto number = json.kind() == Json::Kind::kBool ? std::nullopt : json.ToDouble();
      if (number) numbers[leaf] = *number;
    });
  }
  return numbers;
}

}  // namespace rharness
