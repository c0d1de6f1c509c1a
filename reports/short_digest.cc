// The beginning of a digest; see short_digest.h.
#include "reports/short_digest.h"

#include <fmt/format.h>

namespace rharness {

std::string ShortDigest(std::string_view text) {
  constexpr std::string_view kAlgorithm = "sha256:";
  const std::size_t begin = text.starts_with(kAlgorithm) ? kAlgorithm.size() : 0;
  const std::string_view hex = text.substr(begin);
  const bool digest = (hex.size() == 64 || hex.size() == 40) &&
                      hex.find_first_not_of("0123456789abcdef") == hex.npos;
  return digest ? fmt::format("{}…", text.substr(0, begin + 12)) : std::string(text);
}

}  // namespace rharness
