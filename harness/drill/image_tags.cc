// The digests of each tag, by the start of the runs that recorded them.
#include "harness/drill/image_tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/files.h"

namespace rharness {

std::vector<std::string> TagMoves(const std::vector<Manifest>& runs) {
  std::vector<const Manifest*> by_start;
  for (const Manifest& run : runs) {
    const bool is_named = run.image.kind == "oci" && !run.image.tag.empty();
    if (is_named && !run.image.digest.empty()) by_start.push_back(&run);
  }
  std::ranges::stable_sort(by_start, {}, [](const Manifest* run) { return run->started; });
  constexpr std::size_t kDateLength = 10;
  const auto day = [](WallTime time) { return FormatTime(time).substr(0, kDateLength); };
  std::map<std::string, const Manifest*> last;
  std::vector<std::string> moves;
  for (const Manifest* run : by_start) {
    const Image& image = run->image;
    const std::string tag = fmt::format("{}/{}:{}", image.registry, image.repository, image.tag);
    const Manifest*& before = last[tag];
    if (before != nullptr && before->image.digest != image.digest) {
      moves.push_back(TerminalSafe(
          fmt::format("image tag {} pointed to {} on {} (run {}), to {} on {} (run {})", tag,
                      before->image.digest, day(before->started), before->run_id, image.digest,
                      day(run->started), run->run_id)));
    }
    before = run;
  }
  return moves;
}

}  // namespace rharness
