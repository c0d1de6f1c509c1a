// The families of methods, one per source file, and what these files share.
#ifndef RHARNESS_COMPARE_METHODS_FAMILIES_H_
#define RHARNESS_COMPARE_METHODS_FAMILIES_H_

#include <string>
#include <utility>
#include <vector>

#include "compare/methods/methods.h"

namespace rharness {

std::vector<Method> TestMethods();
std::vector<Method> ManyTestsMethods();
std::vector<Method> PlanningMethods();
std::vector<Method> DescriptiveMethods();
std::vector<Method> BandMethods();
std::vector<Method> SequentialMethods();
std::vector<Method> DecisionMethods();

inline Json Numbers(const std::vector<double>& values) {
  Json array = Json::MakeArray();
  for (const double value : values) array.Append(value);
  return array;
}

inline Json Object(Json::Members members) { return Json::MakeObject(std::move(members)); }

}  // namespace rharness

#endif  // RHARNESS_COMPARE_METHODS_FAMILIES_H_
