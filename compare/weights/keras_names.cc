// Two layouts of Keras, and one name; see keras_names.h.
#include "compare/weights/keras_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "harness/base/json.h"

namespace rharness {
namespace {

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) parts.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

std::string JoinedPath(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, "/"));
}

bool IsLayerNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "dense" of "dense_12".
std::string_view WithoutNumber(std::string_view name) {
  const std::size_t line = name.rfind('_');
  return line != name.npos && IsLayerNumber(name.substr(line + 1)) ? name.substr(0, line) : name;
}

// "batch_normalization" of "BatchNormalization", as Keras's to_snake_case writes it.
std::string SnakeCase(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool upper = std::isupper(c) != 0;
    const bool after_lower = i > 0 && std::isupper(static_cast<unsigned char>(name[i - 1])) == 0;
    const bool before_lower =
        i + 1 < name.size() && std::islower(static_cast<unsigned char>(name[i + 1])) != 0;
    if (upper && i > 0 && name[i - 1] != '_' && (after_lower || before_lower)) out += '_';
    out += static_cast<char>(std::tolower(c));
  }
  return out;
}

const std::vector<std::string>* TextsAt(const Hdf5Groups& groups, std::string_view path,
                                        std::string_view attribute) {
  const auto group = groups.find(path);
  if (group == groups.end()) return nullptr;
  const auto texts = group->second.find(attribute);
  return texts == group->second.end() ? nullptr : &texts->second;
}

// Keras stores a list that does not fit an attribute in several: weight_names0, weight_names1, ...
std::vector<std::string> ListAt(const Hdf5Groups& groups, std::string_view path,
                                const std::string& attribute) {
  if (const auto* whole = TextsAt(groups, path, attribute)) return *whole;
  std::vector<std::string> list;
  for (int i = 0;; ++i) {
    const auto* part = TextsAt(groups, path, attribute + std::to_string(i));
    if (part == nullptr) return list;
    list.insert(list.end(), part->begin(), part->end());
  }
}

// A model's layers by name and by place ("dense_1", the second of its class): what they are called
// within it, and their own layers.
struct KerasLayer {
  std::string called;
  std::map<std::string, KerasLayer, std::less<>> layers;
  std::map<std::string, std::string, std::less<>> names;  // by place
};

void AddLayers(const Json& config, std::size_t depth, KerasLayer* model) {
  constexpr std::size_t kMostDepth = 32;
  const Json* layers = config.Find("layers");
  if (layers == nullptr || !layers->IsArray() || depth > kMostDepth) return;
  std::map<std::string, int> used;  // by class
  for (const Json& layer : layers->AsArray()) {
    const Json* kind = layer.Find("class_name");
    const Json* own = layer.Find("config");
    const Json* name = own == nullptr ? nullptr : own->Find("name");
    if (kind == nullptr || name == nullptr || kind->kind() != Json::Kind::kString ||
        name->kind() != Json::Kind::kString) {
      continue;
    }
    const std::string snake = SnakeCase(kind->AsString());
    const int count = used[snake]++;
    const std::string place = count == 0 ? snake : fmt::format("{}_{}", snake, count);
    model->names[place] = name->AsString();
    KerasLayer& added = model->layers[name->AsString()];
    added.called = WithoutNumber(name->AsString()) == snake ? place : name->AsString();
    AddLayers(*own, depth + 1, &added);
  }
}

// The model of a JSON text; of no layer if it is none.
KerasLayer ModelOf(const std::string& text) {
  KerasLayer model;
  const auto json = ParseJson(text, "the configuration of a model");
  const Json* config = json.ok() ? json->Find("config") : nullptr;
  if (config != nullptr) AddLayers(*config, 0, &model);
  return model;
}

// The newer layout: a dataset of a layer's "vars".
std::optional<std::string> NameByPath(const Hdf5Groups& groups, const KerasLayer& model,
                                      const std::string& path) {
  const std::vector<std::string> parts = SplitPath(path);
  if (parts.size() < 2 || parts[parts.size() - 2] != "vars") return std::nullopt;
  const std::string_view first = parts.front();
  if (first == "optimizer") return "optimizer/" + parts.back();
  const bool listed = first == "layers" || first == "_layer_checkpoint_dependencies";
  std::vector<std::string> names;
  std::string group;
  const KerasLayer* at = &model;
  for (std::size_t i = 0; i + 2 < parts.size(); ++i) {
    group += (i == 0 ? "" : "/") + parts[i];
    if (listed && (parts[i] == "layers" || parts[i] == "_layer_checkpoint_dependencies")) continue;
    const auto* own = TextsAt(groups, group + "/vars", "name");
    std::string name = own != nullptr && own->size() == 1 ? own->front() : "";
    if (at != nullptr) {
      const auto known = at->names.find(parts[i]);
      if (name.empty() && known != at->names.end()) name = known->second;
      const auto below = at->layers.find(name);
      at = below == at->layers.end() ? nullptr : &below->second;
    }
    const bool named = listed && !name.empty() && WithoutNumber(name) != WithoutNumber(parts[i]);
    names.push_back(named ? name : parts[i]);
  }
  if (names.empty()) names.push_back("vars");
  names.push_back(parts.back());
  return JoinedPath(names);
}

// The older layout: a layer's group lists the names of its weights, which are paths below it.
class NamesByLists {
 public:
  NamesByLists(const Hdf5Groups& groups, const KerasLayer& model, KerasNames* names)
      : groups_(groups), model_(model), names_(*names) {}

  void Add() {
    const std::string root = TextsAt(groups_, "", "layer_names") != nullptr ? "" : "model_weights";
    for (const std::string& layer : ListAt(groups_, root, "layer_names")) {
      const std::string group = root.empty() ? layer : root + "/" + layer;
      std::map<std::string, int> counts;  // variables of each layer below
      for (const std::string& weight : ListAt(groups_, group, "weight_names")) {
        const std::string path = LayerPath(layer, SplitPath(weight));
        names_[group + "/" + weight] = fmt::format("{}/{}", path, counts[path]++);
      }
    }
    int index = 0;
    for (const std::string& weight : ListAt(groups_, "optimizer_weights", "weight_names")) {
      names_["optimizer_weights/" + weight] = fmt::format("optimizer/{}", index++);
    }
  }

 private:
  // The layer of a weight "sequential/bn/gamma" in the group of "bn".
  std::string LayerPath(const std::string& layer, std::vector<std::string> weight) const {
    const auto own = std::ranges::find(weight, layer);
    if (own != weight.end()) weight.erase(weight.begin(), own + 1);
    if (!weight.empty()) weight.pop_back();  // the variable
    weight.insert(weight.begin(), layer);
    const KerasLayer* at = &model_;
    for (std::string& part : weight) {
      const auto known = at == nullptr ? model_.layers.end() : at->layers.find(part);
      const bool found = at != nullptr && known != at->layers.end();
      if (found) part = known->second.called;
      at = found ? &known->second : nullptr;
    }
    return JoinedPath(weight);
  }

  const Hdf5Groups& groups_;
  const KerasLayer& model_;
  KerasNames& names_;
};

}  // namespace

KerasNames NamesOfKeras(const Hdf5Groups& groups, const std::vector<std::string>& datasets,
                        const std::string& config) {
  KerasNames names;
  const auto* own = TextsAt(groups, "", "model_config");
  const KerasLayer model = ModelOf(own != nullptr && own->size() == 1 ? own->front() : config);
  NamesByLists(groups, model, &names).Add();
  for (const std::string& dataset : datasets) {
    if (auto name = NameByPath(groups, model, dataset))
      names.try_emplace(dataset, std::move(*name));
  }
  // Two variables of one name keep their paths.
  std::map<std::string_view, int> counts;
  for (const auto& [path, name] : names) ++counts[name];
  std::set<std::string> twice;
  for (const auto& [name, count] : counts) {
    if (count > 1) twice.emplace(name);
  }
  std::erase_if(names, [&](const auto& entry) { return twice.contains(entry.second); });
  return names;
}

}  // namespace rharness
