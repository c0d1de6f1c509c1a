// Text of strangers, brought to what may be kept and shown.
//
// Role: for readers of other tools' records and for what servers and parsers say. Pure.
#ifndef RHARNESS_HARNESS_BASE_CLEAN_TEXT_H_
#define RHARNESS_HARNESS_BASE_CLEAN_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace rharness {

// Without control characters, and valid UTF-8: what is neither becomes U+FFFD or goes. At most
// `most` bytes, cut between characters.
std::string CleanText(std::string_view text, std::size_t most = 4096);
// At most 60 bytes of it in quotes, for a message.
std::string QuotedShort(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_CLEAN_TEXT_H_
