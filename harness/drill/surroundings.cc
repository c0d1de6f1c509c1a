// Splits evidence by its own JSON, so that future members are kept as well.
#include "harness/drill/surroundings.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "harness/base/json.h"

namespace rharness {
namespace {

constexpr std::array<std::string_view, 6> kParts = {
    "image_digest", "code_commit", "code_diff_sha256", "code_files", "data", "seeds"};
constexpr std::string_view kEnvironment = "environment";
constexpr std::string_view kPackagesMember = "packages";
constexpr std::string_view kObservation = "observation";

bool IsEmpty(const Json& json) {
  return json.IsNull() || (json.IsArray() && json.AsArray().empty()) ||
         (json.IsObject() && json.AsObject().empty()) ||
         (json.kind() == Json::Kind::kString && json.AsString().empty());
}

bool IsSurrounding(std::string_view name) {
  for (const std::string_view part : kParts) {
    if (name == part) return true;
  }
  return name == kObservation;
}

// The parts that are equal in every equal rerun; without sampled ones.
Observation Lasting(Observation seen) {
  seen.libraries.clear();
  seen.variables_read.reset();
  seen.unseen.clear();
  return seen;
}

// As an environment's JSON has them. A list is long, and that of the rerun before is mostly the
// same one: equal lists share their memory.
std::string PackagesText(const std::map<std::string, PackageList>& packages) {
  static std::mutex mutex;
  static std::map<std::string, PackageList> last;
  static std::string text;
  const std::lock_guard lock(mutex);
  if (text.empty() || packages != last) {
    Environment only;
    only.packages = packages;
    const Json json = ToJson(only);
    text = json.Find(kPackagesMember)->Dump();
    last = packages;
  }
  return text;
}

// Of an environment.
Surroundings PartsOf(const Json& environment) {
  Surroundings parts;
  for (const auto& [name, value] : environment.AsObject()) {
    if (!IsEmpty(value)) parts[std::string(kEnvironment) + "." + name] = value.Dump();
  }
  return parts;
}

}  // namespace

Surroundings SurroundingsOf(const Evidence& evidence) {
  Surroundings surroundings;
  Evidence without = evidence;
  without.environment.packages.clear();
  // Its place does not change its results.
  if (without.environment.python) {
    PythonEnvironment same;
    same.prefix = "/";
    same.version = without.environment.python->version;
    without.environment.python = std::move(same);
  }
  const Json json = ToJson(without);
  for (const auto& [name, value] : json.AsObject()) {
    if (IsSurrounding(name) && !IsEmpty(value)) surroundings[name] = value.Dump();
  }
  if (evidence.observation) {
    surroundings[std::string(kObservation)] = ToJson(Lasting(*evidence.observation)).Dump();
  }
  // An environment without observations says nothing.
  static const Surroundings kNothing = PartsOf(ToJson(Environment()));
  Surroundings environment = PartsOf(*json.Find(kEnvironment));
  if (!evidence.environment.packages.empty()) {
    environment[fmt::format("{}.{}", kEnvironment, kPackagesMember)] =
        PackagesText(evidence.environment.packages);
  }
  if (environment != kNothing) surroundings.merge(environment);
  return surroundings;
}

Result<Evidence> EvidenceFrom(const Surroundings& surroundings, const Manifest& manifest,
                              std::string_view where) {
  Evidence empty;
  empty.run_id = manifest.run_id;
  empty.rerun = 1;
  Json json = ToJson(empty);
  Json environment = Json::MakeObject();
  for (const auto& [name, text] : surroundings) {
    ASSIGN_OR_RETURN(Json part, ParseJson(text, where));
    const auto dot = name.find('.');
    if (dot != name.npos && name.substr(0, dot) == kEnvironment) {
      environment.Set(name.substr(dot + 1), std::move(part));
    } else if (IsSurrounding(name)) {
      json.Set(name, std::move(part));
    } else {
      return InvalidInput("'" + name + "' is no part of where a rerun ran", std::string(where));
    }
  }
  json.Set(kEnvironment, std::move(environment));
  return ParseEvidence(json, where);
}

}  // namespace rharness
