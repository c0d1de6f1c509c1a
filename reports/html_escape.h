// Escaping for HTML text, quoted attributes, links and SVG text: one function for all text.
#ifndef RHARNESS_REPORTS_HTML_ESCAPE_H_
#define RHARNESS_REPORTS_HTML_ESCAPE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "reports/text.h"

namespace rharness {

// SafeText with & < > " ' as references: safe between tags and inside quoted attribute values
// (WHATWG HTML 13.1). Never for script or style elements, which contain no untrusted text.
std::string HtmlText(std::string_view text, std::size_t limit_bytes = 2000,
                     Lines lines = Lines::kJoin);

// HtmlText of words between spaces, such as a command: a word with a hyphen moves to the next line
// as a whole ("--seed"), and is broken only if it is longer than a line. Needs the page's style.
std::string HtmlWords(std::string_view text, std::size_t limit_bytes = 2000);

// A relative link below the page's folder, "./" first and percent-encoded (RFC 3986), so that it
// can have no scheme; empty when the path leaves its folder.
std::string RelativeHref(std::string_view path);

// "sha256-<base64>" of a hex SHA-256, as a Content-Security-Policy source.
std::string CspHash(std::string_view sha256_hex);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_HTML_ESCAPE_H_
