// A digest in a sentence; the data have the whole one.
#ifndef RHARNESS_REPORTS_SHORT_DIGEST_H_
#define RHARNESS_REPORTS_SHORT_DIGEST_H_

#include <string>
#include <string_view>

namespace rharness {

// "64f607cdd56b…": the first twelve digits of a SHA-256 or a commit in hexadecimal digits, also
// after "sha256:"; any other text unchanged.
std::string ShortDigest(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SHORT_DIGEST_H_
