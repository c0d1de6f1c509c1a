// Makes untrusted text safe to keep and show.
//
// Role: for readers of other tools' records and for messages of servers and parsers. Pure.
#ifndef RHARNESS_HARNESS_BASE_CLEAN_TEXT_H_
#define RHARNESS_HARNESS_BASE_CLEAN_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace rharness {

// Without control characters, and valid UTF-8: others become U+FFFD or are dropped. At most `most`
// bytes, cut between characters.
std::string CleanText(std::string_view text, std::size_t most = 4096);
// At most 60 bytes of it in quotes, for a message.
std::string QuotedShort(std::string_view text);
// The last line that is not blank, cleaned; at most 200 bytes. Empty: none.
std::string LastLine(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_CLEAN_TEXT_H_
