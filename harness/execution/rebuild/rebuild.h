// Checks which parts of a run are still available, before a drill needs them.
//
// Role: queries the source of each part, in the order in which a rerun needs them: image, code,
// data, Python environment, packages, hardware. Its only effects are queries; a state is an answer
// and never an Error. Not here: obtaining parts (fetch, drill), and storing the answers (store.h).
#ifndef RHARNESS_HARNESS_EXECUTION_REBUILD_REBUILD_H_
#define RHARNESS_HARNESS_EXECUTION_REBUILD_REBUILD_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/execution/rerun/places.h"
#include "harness/records/manifest/manifest.h"
#include "harness/verdict/states.h"

namespace rharness {

struct Part {
  std::string kind;  // "image", "commit", "diff", "code file", "lock file", "data", "packages", ...
  std::string name;
  PartState state = PartState::kUnknown;
  std::string why;  // where it is, or who reports that it is missing
};

struct RunParts {
  std::string run_id;
  std::vector<Part> parts;
  PartState State() const;  // the worst of its parts; a run without any: unknown
};

struct RebuildOptions {
  Places places;
  bool network = false;   // query registries, sources of data and remote repositories
  bool packages = false;  // query package indexes, for at most `most_packages` of each
  bool verify = false;    // hash data and images that are files, instead of looking at sizes
  std::size_t most_packages = 300;
  std::chrono::milliseconds limit{20'000};  // of one question
  std::function<bool()> should_cancel;      // may be empty
};

class Rebuilder {
 public:
  explicit Rebuilder(RebuildOptions options);
  Rebuilder(Rebuilder&&) noexcept;
  ~Rebuilder();
  // Cost: a look at each part; with the network, one query per part that no run had before it.
  RunParts Ask(const Manifest& manifest);

  struct Asked;  // the answers of before

 private:
  std::unique_ptr<Asked> asked_;
};

// "rharness.rebuild/v1".
Json ToJson(const std::vector<RunParts>& runs);
Json PartsToJson(const std::vector<Part>& parts);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_REBUILD_REBUILD_H_
