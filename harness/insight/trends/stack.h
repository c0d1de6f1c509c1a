// What a verdict was reached on, in the words that trends are told by. Pure.
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

inline constexpr std::string_view kHost = "host";  // the image of what runs in none
inline constexpr std::string_view kNone = "none";  // the driver, or GPU, of what has none

// By axis; empty: not known.
struct Stack {
  std::array<std::string, kAxes> values;
  std::string packages;  // the text that lists them; its digest is the value of that axis

  std::string& operator[](StackAxis axis) { return values[static_cast<std::size_t>(axis)]; }
  const std::string& operator[](StackAxis axis) const {
    return values[static_cast<std::size_t>(axis)];
  }
};

// Of an environment as the history keeps it (kEnvironmentParts); the node is not of it. Errors:
// invalid_input where a part cannot be read; `where` names it.
Result<Stack> StackOf(const Surroundings& environment, std::string_view where);
// Of what a run was recorded on.
Stack StackOf(const Manifest& manifest);

// "numpy 1.26.0 -> 1.26.4, torch gone and 3 more" between two lists as Stack::packages has them;
// empty where nothing can be said.
std::string PackageChanges(const std::string& before, const std::string& after);

// What is to go: "image=sha256:12*", "driver=550.*", "gpu=*H100*", "node=gpu-7",
// "package=numpy=1.26.*", "package=numpy". Globs (harness/base/glob.h). "none" is nothing that
// could go, and "host" goes where it is named by all its letters.
class Gone {
 public:
  // Errors: invalid_input.
  static Result<Gone> Parse(std::string_view text);
  bool Has(const Stack& stack) const;
  bool Knows(const Stack& stack) const;  // whether anything is known of its axis
  // What a stack has of its kind: an image, a driver, ..., or the names of packages that are used.
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
