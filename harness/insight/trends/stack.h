// The environment of a verdict, in the terms of trends. Pure.
#ifndef RHARNESS_HARNESS_INSIGHT_TRENDS_STACK_H_
#define RHARNESS_HARNESS_INSIGHT_TRENDS_STACK_H_

#include <array>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/history/records.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

enum class StackAxis { kImage, kDriver, kGpu, kCpu, kSystem, kPackages, kNode };
inline constexpr std::size_t kAxes = 7;
inline constexpr std::array<std::string_view, kAxes> kAxisNames = {
    "image", "driver", "gpu", "cpu", "system", "packages", "node"};

inline constexpr std::string_view kHost = "host";  // the image of host runs
inline constexpr std::string_view kNone = "none";  // the driver, or GPU, of machines without one

// By axis; empty: not known.
struct Stack {
  std::array<std::string, kAxes> values;
  std::string packages;  // the text that lists them; its digest is the value of that axis

  std::string& operator[](StackAxis axis) { return values[static_cast<std::size_t>(axis)]; }
  const std::string& operator[](StackAxis axis) const {
    return values[static_cast<std::size_t>(axis)];
  }
};

// From an environment in the history (kEnvironmentParts), which has no node. Errors: invalid_input
// for an unreadable part; `where` names it.
Result<Stack> StackOf(const Surroundings& environment, std::string_view where);
// From the recorded environment of a run.
Stack StackOf(const Manifest& manifest);

// "numpy 1.26.0 -> 1.26.4, torch gone and 3 more" between two lists in the form of Stack::packages;
// empty if not known.
std::string PackageChanges(const std::string& before, const std::string& after);

// What goes away: "image=sha256:12*", "driver=550.*", "gpu=*H100*", "node=gpu-7",
// "package=numpy=1.26.*", "package=numpy". Globs (harness/base/glob.h). "none" cannot go, and
// "host" only matches its full name.
class Gone {
 public:
  // Errors: invalid_input.
  static Result<Gone> Parse(std::string_view text);
  bool Has(const Stack& stack) const;
  bool Knows(const Stack& stack) const;  // whether anything is known of its axis
  // The stack's values of its kind: an image, a driver, ..., or the names of used packages.
  std::vector<std::string> NamesIn(const Stack& stack) const;
  const std::string& value() const { return value_; }
  const std::string& text() const { return text_; }

 private:
  StackAxis axis_ = StackAxis::kImage;
  std::string value_;
  std::string version_;  // of a package
  std::string text_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_TRENDS_STACK_H_
