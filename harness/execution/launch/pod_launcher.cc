// The launcher inside a pod.
#include "harness/execution/launch/pod_launcher.h"

#include <fmt/format.h>

#include "harness/base/files.h"

namespace rharness {
namespace {

std::string PodImage() {
  const auto found = PickEnvironment({kPodImageVariable});
  return found.empty() ? "" : found.begin()->second;
}

}  // namespace

Status PodLauncher::Prepare(const Image& image) {
  const std::string digest = PodImage();
  if (!digest.empty() && digest == image.digest) return {};
  return IntegrityError(
      fmt::format("expected a pod of the image {}; this is {}",
                  image.digest.empty() ? "of the run, which has no digest" : image.digest,
                  digest.empty() ? "none" : TerminalSafe(digest)),
      kPodImageVariable);
}

Result<ImageProof> PodLauncher::Finish(const Job&, Outcome*) {
  return ImageProof{.digest = PodImage()};
}

}  // namespace rharness
