// The Python environment of a run on the host.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/execution/rebuild/asked.h"
#include "harness/execution/rerun/python_place.h"

namespace rharness {
namespace {

constexpr std::size_t kMostOthersNamed = 3;

Answer OfEnvironment(const Manifest& manifest, const Places& places) {
  const std::filesystem::path here = LocatePython(manifest, places);
  const std::string why = WhyNoPython(here);
  if (!why.empty()) {
    return {PartState::kGone, why +
                                  "; --make-environments of a drill makes it from the recorded "
                                  "versions"};
  }
  std::vector<std::string> others = OtherPackages(manifest, here);
  if (others.empty())
    return {PartState::kHad, fmt::format("at {}, with its packages", here.string())};
  const std::size_t all = others.size();
  others.resize(std::min(all, kMostOthersNamed));
  return {PartState::kUnknown,
          fmt::format(
              "at {}, with other packages: {}{}", here.string(), fmt::join(others, ", "),
              all > kMostOthersNamed ? fmt::format(" and {} more", all - kMostOthersNamed) : "")};
}

}  // namespace

void AskForPython(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts) {
  const auto& python = manifest.environment.python;
  if (manifest.image.kind != ImageKind::kHost || !python || !IsIsolated(python->kind)) return;
  const Answer answer = OfEnvironment(manifest, asked->options.places);
  parts->push_back({"Python environment", python->prefix, answer.state, answer.why});
}

}  // namespace rharness
