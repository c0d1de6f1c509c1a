// Environments in a few words; see stack.h.
#include "harness/insight/trends/stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/glob.h"
#include "harness/base/json.h"
#include "harness/base/json_reader.h"
#include "harness/records/manifest/environment.h"

namespace rharness {
namespace {

constexpr std::string_view kEnvironmentDot = "environment.";

std::string GpusOf(const Hardware& hardware) {
  std::set<std::string> models;
  for (const Gpu& gpu : hardware.gpus) models.insert(gpu.model);
  return models.empty() ? std::string(kNone) : fmt::format("{}", fmt::join(models, ", "));
}

std::string SystemOf(const std::map<std::string, std::string>& software) {
  std::vector<std::string> parts;
  for (const char* name : {"os", "kernel", "glibc"}) {
    const auto found = software.find(name);
    if (found != software.end() && !found->second.empty()) {
      parts.push_back(fmt::format("{} {}", name, found->second));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void Fill(const Environment& environment, Stack* stack) {
  const Hardware& hardware = environment.hardware;
  const bool known =
      !hardware.cpu.architecture.empty() || !hardware.cpu.model.empty() || !hardware.gpus.empty();
  if (known) {
    (*stack)[StackAxis::kGpu] = GpusOf(hardware);
    (*stack)[StackAxis::kDriver] =
        hardware.gpu_driver.empty() ? std::string(kNone) : hardware.gpu_driver;
    (*stack)[StackAxis::kCpu] =
        hardware.cpu.model.empty() ? hardware.cpu.architecture : hardware.cpu.model;
  }
  (*stack)[StackAxis::kSystem] = SystemOf(environment.software);
}

void FillPackages(std::string text, Stack* stack) {
  constexpr std::size_t kShown = 12;
  if (text.empty() || text == "{}") return;
  (*stack)[StackAxis::kPackages] = Sha256HexOf(text).substr(0, kShown);
  stack->packages = std::move(text);
}

// By "python numpy"; empty where the text is no list.
// "libc6:amd64" of "dpkg libc6:amd64".
std::string_view WithoutManager(std::string_view name) { return name.substr(name.find(' ') + 1); }

// By its name, or by the name without the architecture suffix of Debian's tools.
bool NamesPackage(const std::string& pattern, std::string_view name) {
  name = WithoutManager(name);
  return GlobMatches(pattern, name) || GlobMatches(pattern, name.substr(0, name.find(':')));
}

std::map<std::string, Package> PackagesOf(const std::string& text) {
  std::map<std::string, Package> all;
  if (text.empty()) return all;
  auto json = ParseJson(text, "packages");
  if (!json.ok()) return all;
  Json whole = Json::MakeObject();
  whole.Set("packages", std::move(*json));
  Environment environment;
  JsonReader reader(whole, "packages");
  ReadEnvironment(reader, &environment);
  for (const auto& [manager, list] : environment.packages) {
    for (const auto& [name, package] : list) all[manager + " " + name] = package;
  }
  return all;
}

}  // namespace

Result<Stack> StackOf(const Surroundings& environment, std::string_view where) {
  Stack stack;
  Json whole = Json::MakeObject();
  for (const auto& [name, text] : environment) {
    if (name == "environment.packages") {
      FillPackages(text, &stack);
      continue;
    }
    ASSIGN_OR_RETURN(Json part, ParseJson(text, where));
    if (name == "image_digest" && part.kind() == Json::Kind::kString) {
      stack[StackAxis::kImage] = part.AsString();
    } else if (name == "environment.hardware" || name == "environment.software") {
      whole.Set(name.substr(kEnvironmentDot.size()), std::move(part));
    }
  }
  if (stack[StackAxis::kImage].empty() && !environment.empty()) stack[StackAxis::kImage] = kHost;
  Environment read;
  JsonReader reader(whole, std::string(where));
  ReadEnvironment(reader, &read);
  if (!reader.ok()) return reader.status().error();
  Fill(read, &stack);
  return stack;
}

Stack StackOf(const Manifest& manifest) {
  Stack stack;
  if (manifest.image.kind == ImageKind::kHost) {
    stack[StackAxis::kImage] = kHost;
  } else {
    stack[StackAxis::kImage] = manifest.image.digest;
  }
  Fill(manifest.environment, &stack);
  if (!manifest.environment.packages.empty()) {
    const Json json = ToJson(manifest.environment);
    if (const Json* packages = json.Find("packages")) FillPackages(packages->Dump(), &stack);
  }
  return stack;
}

std::string PackageChanges(const std::string& before, const std::string& after) {
  constexpr std::size_t kMostNamed = 5;
  const auto then = PackagesOf(before);
  const auto now = PackagesOf(after);
  if (then.empty() || now.empty()) return "";
  std::vector<std::string> moved;
  for (const auto& [name, package] : then) {
    const auto found = now.find(name);
    if (found == now.end()) {
      moved.push_back(name + " gone");
    } else if (found->second.version != package.version) {
      moved.push_back(fmt::format("{} {} -> {}", name, package.version, found->second.version));
    }
  }
  for (const auto& [name, package] : now) {
    if (!then.contains(name)) moved.push_back(fmt::format("{} {} new", name, package.version));
  }
  const std::size_t more = moved.size() > kMostNamed ? moved.size() - kMostNamed : 0;
  moved.resize(moved.size() - more);
  return fmt::format("{}{}", fmt::join(moved, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

Result<Gone> Gone::Parse(std::string_view text) {
  constexpr std::string_view kPackage = "package";
  const std::size_t equal = text.find('=');
  const std::string_view name = text.substr(0, std::min(equal, text.size()));
  Gone gone;
  gone.text_ = std::string(text);
  if (equal != text.npos) gone.value_ = std::string(text.substr(equal + 1));
  const auto axis = std::ranges::find(kAxisNames, name);
  const bool is_axis = axis != kAxisNames.end() && *axis != "packages" && *axis != "system";
  if (gone.value_.empty() || text.size() > 1000 || (!is_axis && name != kPackage)) {
    return InvalidInput(
        fmt::format(
            "'{}' names nothing to remove; expected image=, driver=, gpu=, cpu=, node= or package= "
            "and a value, with * and ? as wildcards; package=NAME=VERSION for one version",
            text.substr(0, 200)),
        "--if-gone");
  }
  if (is_axis) {
    gone.axis_ = static_cast<StackAxis>(axis - kAxisNames.begin());
    return gone;
  }
  gone.axis_ = StackAxis::kPackages;
  gone.version_ = "*";
  if (const std::size_t version = gone.value_.find('='); version != std::string::npos) {
    gone.version_ = gone.value_.substr(version + 1);
    gone.value_.resize(version);
  }
  return gone;
}

bool Gone::Has(const Stack& stack) const {
  if (axis_ == StackAxis::kGpu || axis_ == StackAxis::kDriver) {
    return Knows(stack) && stack[axis_] != kNone && GlobMatches(value_, stack[axis_]);
  }
  if (axis_ == StackAxis::kImage && stack[axis_] == kHost) return value_ == kHost;
  if (axis_ != StackAxis::kPackages) return Knows(stack) && GlobMatches(value_, stack[axis_]);
  const auto packages = PackagesOf(stack.packages);
  return std::ranges::any_of(packages, [&](const auto& one) {
    const auto& [name, package] = one;
    return package.use != PackageUse::kNotUsed && NamesPackage(value_, name) &&
           GlobMatches(version_, package.version);
  });
}

std::vector<std::string> Gone::NamesIn(const Stack& stack) const {
  if (axis_ != StackAxis::kPackages) {
    if (!Knows(stack) || stack[axis_] == kNone) return {};
    return {stack[axis_]};
  }
  std::vector<std::string> names;
  for (const auto& [name, package] : PackagesOf(stack.packages)) {
    if (package.use != PackageUse::kNotUsed) names.emplace_back(WithoutManager(name));
  }
  return names;
}

bool Gone::Knows(const Stack& stack) const { return !stack[axis_].empty(); }

}  // namespace rharness
