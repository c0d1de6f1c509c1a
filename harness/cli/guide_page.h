// A guide as a manual page of section 7: the Markdown that the guides use, as roff. Pure.
#ifndef RHARNESS_HARNESS_CLI_GUIDE_PAGE_H_
#define RHARNESS_HARNESS_CLI_GUIDE_PAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/manual.h"

namespace rharness {

// "rharness-guide-drill": no verb's page has such a name.
std::string GuidePageName(std::string_view guide);

// Headings, paragraphs, lists, tables and fenced blocks; other Markdown stands as it is written.
// `others`: the guides that SEE ALSO names.
std::string GuidePage(std::string_view guide, std::string_view markdown,
                      const std::vector<std::string>& others, const ManualFacts& facts);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_GUIDE_PAGE_H_
