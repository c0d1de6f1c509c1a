// The configuration key: which runs differ at most in their seeds.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "harness/base/digest.h"
#include "harness/records/manifest/lineage.h"
#include "harness/records/manifest/manifest.h"
#include "harness/records/manifest/meeting_options.h"

namespace rharness {
namespace {

// One spelling a value: members sorted, whole doubles as integers (1.0 and 1 are one learning
// rate).
Json Canonical(const Json& json) {
  if (json.kind() == Json::Kind::kDouble) {
    const double value = *json.ToDouble();
    const bool whole = std::abs(value) < 0x1p53 && value == std::trunc(value);
    if (whole && !(value == 0.0 && std::signbit(value))) return static_cast<std::int64_t>(value);
  } else if (json.IsArray()) {
    Json::Array elements;
    for (const Json& element : json.AsArray()) elements.push_back(Canonical(element));
    return Json::MakeArray(std::move(elements));
  } else if (json.IsObject()) {
    Json::Members members;
    for (const auto& [name, value] : json.AsObject()) members.emplace_back(name, Canonical(value));
    std::sort(members.begin(), members.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return Json::MakeObject(std::move(members));
  }
  return json;
}

bool NamesSeed(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  // scikit-learn calls its seeds random_state.
  return lower.find("seed") != std::string::npos || lower.ends_with("random_state");
}

bool IsSeed(std::int64_t value, const Manifest& manifest) {
  return std::any_of(manifest.seeds.begin(), manifest.seeds.end(),
                     [&](const auto& seed) { return seed.second == value; });
}

bool IsSeedValue(std::string_view text, const Manifest& manifest) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  return IsSeed(value, manifest);
}

// The one argument that is a seed's value and follows no option, as in "train.py 3"; empty if there
// is none, or if there are several, since one may be something else.
std::optional<std::size_t> PositionalSeed(const Manifest& manifest) {
  std::optional<std::size_t> found;
  for (std::size_t i = 1; i < manifest.command.size(); ++i) {
    if (manifest.command[i - 1].starts_with('-') || !IsSeedValue(manifest.command[i], manifest)) {
      continue;
    }
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

// Nor where the tasks of a run met.
Json CommandWithoutSeeds(const Manifest& manifest) {
  Json command = Json::MakeArray();
  const std::optional<std::size_t> positional = PositionalSeed(manifest);
  std::map<std::size_t, std::string> places;
  for (MeetingValue& value : MeetingValuesIn(manifest.command)) {
    places.emplace(value.argument, std::move(value.fixed));
  }
  std::string_view previous;
  for (const std::string& argument : manifest.command) {
    const std::string_view text = argument;
    const std::size_t equals = text.find('=');
    const bool after_name = NamesSeed(previous) && previous.find('=') == std::string_view::npos;
    const auto number = static_cast<std::size_t>(&argument - manifest.command.data());
    const auto place = places.find(number);
    if (place != places.end()) {
      command.Append(place->second + "{place}");
    } else if (positional == number || (after_name && IsSeedValue(text, manifest))) {
      command.Append("{seed}");
    } else if (equals != std::string_view::npos && NamesSeed(text.substr(0, equals)) &&
               IsSeedValue(text.substr(equals + 1), manifest)) {
      command.Append(std::string(text.substr(0, equals)) + "={seed}");
    } else {
      command.Append(argument);
    }
    previous = text;
  }
  return command;
}

Json CodeIdentity(const Code& code) {
  if (code.files.empty()) {
    return Json::MakeObject(
        {{"commit", code.commit}, {"diff", code.dirty ? code.diff_sha256 : ""}});
  }
  std::vector<CodeFile> files = code.files;
  std::sort(files.begin(), files.end(), [](const CodeFile& a, const CodeFile& b) {
    return std::tie(a.path, a.sha256) < std::tie(b.path, b.sha256);
  });
  Json json = Json::MakeArray();
  for (const CodeFile& file : files) json.Append(Json::MakeArray({file.path, file.sha256}));
  return json;
}

Json DataIdentity(const std::vector<DataItem>& data) {
  std::vector<std::pair<std::string, std::string>> hashes;
  hashes.reserve(data.size());
  for (const DataItem& item : data) {
    std::string digest = item.sha256.empty() ? item.other_digest : item.sha256;
    // A record that says nothing of them and one that says "none" are of one configuration.
    if (item.empty_folders && !item.empty_folders->empty()) {
      digest += fmt::format(" and empty {}", fmt::join(*item.empty_folders, "\n"));
    }
    hashes.emplace_back(item.name, std::move(digest));
  }
  std::sort(hashes.begin(), hashes.end());
  Json json = Json::MakeArray();
  for (const auto& [name, sha256] : hashes) json.Append(Json::MakeArray({name, sha256}));
  return json;
}

// Metrics of one name that were measured on other sets are no draws of one number.
Json EvalSets(const Manifest& manifest) {
  std::map<std::string, std::string> sets;
  for (const Metric& metric : manifest.metrics) {
    const DataItem* set = EvalSetOf(metric, manifest.data);
    if (set != nullptr) sets[metric.name] = DigestOf(*set);
  }
  Json json = Json::MakeObject();
  for (const auto& [name, digest] : sets) json.AppendMember(name, digest);
  return json;
}

}  // namespace

std::string ConfigurationKey(const Manifest& manifest) {
  Json hyperparameters = Json::MakeObject();
  for (const auto& [name, value] : manifest.hyperparameters) {
    const auto number = value.ToInt64();
    const bool seed = NamesSeed(name) && number && IsSeed(*number, manifest);
    hyperparameters.AppendMember(name, seed ? Json("{seed}") : Canonical(value));
  }
  Json identity = Json::MakeObject({{"schema", "rharness.configuration/v1"},
                                    {"family", manifest.family},
                                    {"code", CodeIdentity(manifest.code)},
                                    {"data", DataIdentity(manifest.data)},
                                    {"hyperparameters", std::move(hyperparameters)},
                                    {"declared", manifest.determinism.declared},
                                    {"command", CommandWithoutSeeds(manifest)}});
  // Left out if not stated, so that older runs keep their key.
  if (Json sets = EvalSets(manifest); !sets.AsObject().empty()) {
    identity.AppendMember("evaluated_on", std::move(sets));
  }
  // Another number of ranks draws and sums otherwise.
  if (manifest.gang) {
    identity.AppendMember("gang",
                          Json::MakeArray({manifest.gang->nodes, manifest.gang->tasks_per_node}));
  }
  return Sha256HexOf(identity.Dump());
}

}  // namespace rharness
