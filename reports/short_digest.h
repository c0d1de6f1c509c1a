// A digest in a sentence, where the whole one stands in the data.
#ifndef RHARNESS_REPORTS_SHORT_DIGEST_H_
#define RHARNESS_REPORTS_SHORT_DIGEST_H_

#include <string>
#include <string_view>

namespace rharness {

// "64f607cdd56b…": of a SHA-256 or a commit in hexadecimal digits, also behind "sha256:", the first
// twelve; any other text as it is.
std::string ShortDigest(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SHORT_DIGEST_H_
