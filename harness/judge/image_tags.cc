// The digests of each tag, by the start of the runs that recorded them.
#include "harness/judge/image_tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/files.h"

namespace rharness {
namespace {

std::string TagOf(const Image& image) {
  return fmt::format("{}/{}:{}", image.registry, image.repository, image.tag);
}

bool IsNamed(const Image& image) {
  return image.kind == ImageKind::kOci && !image.tag.empty() && !image.digest.empty();
}

}  // namespace

std::vector<TagMove> FindTagMoves(const std::vector<Manifest>& runs) {
  std::vector<const Manifest*> by_start;
  for (const Manifest& run : runs) {
    if (IsNamed(run.image)) by_start.push_back(&run);
  }
  std::ranges::stable_sort(by_start, {}, [](const Manifest* run) { return run->started; });
  constexpr std::size_t kDateLength = 10;
  const auto day = [](WallTime time) { return FormatTime(time).substr(0, kDateLength); };
  std::map<std::string, const Manifest*> last;
  std::vector<TagMove> moves;
  for (const Manifest* run : by_start) {
    const Image& image = run->image;
    const std::string tag = TagOf(image);
    const Manifest*& before = last[tag];
    if (before != nullptr && before->image.digest != image.digest) {
      moves.push_back(
          {tag, before->image.digest, image.digest,
           TerminalSafe(fmt::format("image tag {} pointed to {} on {} (run {}), to {} on {} (run "
                                    "{})",
                                    tag, before->image.digest, day(before->started), before->run_id,
                                    image.digest, day(run->started), run->run_id))});
    }
    before = run;
  }
  return moves;
}

std::vector<std::string> TagMoves(const std::vector<Manifest>& runs) {
  std::vector<std::string> sentences;
  for (TagMove& move : FindTagMoves(runs)) sentences.push_back(std::move(move.sentence));
  return sentences;
}

std::vector<Finding> TagFindings(const Manifest& run, const std::vector<TagMove>& moves) {
  constexpr std::size_t kMost = 3;
  std::vector<Finding> findings;
  if (!IsNamed(run.image)) return findings;
  const std::string tag = TagOf(run.image);
  for (const TagMove& move : moves) {
    if (move.tag != tag) continue;
    findings.push_back({.code = "image_tag_moved",
                        .layer = Layer::kEnvironment,
                        .subject = TerminalSafe("image tag " + tag),
                        .observed = move.after,
                        .limit = move.before,
                        .rule = "a rerun goes by the digest, whatever the tag points to",
                        .message = move.sentence});
    if (findings.size() > kMost) findings.erase(findings.begin());
  }
  return findings;
}

}  // namespace rharness
