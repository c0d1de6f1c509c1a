// The statistics as a calculator: every method by its name, from a JSON object to a JSON object.
#include "compare/methods/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "compare/methods/families.h"
#include "harness/base/spelling.h"

namespace rharness {
namespace {

constexpr std::size_t kNearest = 3;
constexpr std::size_t kLongestName = 100;

// The path of the first number that is no answer.
std::optional<std::string> NoAnswer(const Json& value, const std::string& path,
                                    bool may_be_infinite) {
  if (value.IsArray()) {
    for (std::size_t i = 0; i < value.AsArray().size(); ++i) {
      auto inner = NoAnswer(value.AsArray()[i], fmt::format("{}[{}]", path, i), may_be_infinite);
      if (inner) return inner;
    }
  } else if (value.IsObject()) {
    for (const auto& [name, member] : value.AsObject()) {
      auto inner =
          NoAnswer(member, path.empty() ? name : fmt::format("{}.{}", path, name), may_be_infinite);
      if (inner) return inner;
    }
  } else if (value.kind() == Json::Kind::kDouble) {
    const double number = value.ToDouble().value_or(std::nan(""));
    if (std::isnan(number) || (std::isinf(number) && !may_be_infinite)) return path;
  }
  return std::nullopt;
}

}  // namespace

const std::vector<Method>& Methods() {
  static const std::vector<Method> methods = [] {
    std::vector<Method> all;
    for (auto* family : {TestMethods, ManyTestsMethods, PlanningMethods, DescriptiveMethods,
                         BandMethods, SequentialMethods, DecisionMethods}) {
      std::vector<Method> some = family();
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    std::sort(all.begin(), all.end(),
              [](const Method& a, const Method& b) { return a.name < b.name; });
    return all;
  }();
  return methods;
}

const Method* FindMethod(std::string_view name) {
  for (const Method& method : Methods()) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

std::vector<std::string> NearestMethods(std::string_view name) {
  const std::string_view typed = name.substr(0, kLongestName);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const Method& method : Methods()) {
    // What contains the typed word is near, however long it is.
    const bool contains = typed.size() > 2 && method.name.find(typed) != std::string::npos;
    ranked.emplace_back(contains ? 0 : EditDistance(typed, method.name), method.name);
  }
  const std::size_t shown = std::min(kNearest, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(shown),
                    ranked.end());
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < shown; ++i) nearest.push_back(ranked[i].second);
  return nearest;
}

Result<Json> RunMethod(std::string_view name, const Json& inputs) {
  const Method* method = FindMethod(name);
  if (method == nullptr) {
    return NotFound(fmt::format("'{}' is no method; the nearest are {}",
                                name.substr(0, kLongestName),
                                fmt::join(NearestMethods(name), ", ")));
  }
  ASSIGN_OR_RETURN(const Inputs read, Inputs::Read(inputs, method->inputs));
  ASSIGN_OR_RETURN(Json results, method->run(read));
  if (const auto path = NoAnswer(results, "", method->may_be_infinite)) {
    return InvalidInput(fmt::format("{} has no finite answer for these inputs: {} is out of the "
                                    "range of a double, or undefined",
                                    method->name, *path),
                        "$");
  }
  return results;
}

}  // namespace rharness
