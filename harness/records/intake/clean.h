// Untrusted text of a record: made safe for a manifest, or refused.
//
// Role: for importers and for code that writes back. Pure.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_CLEAN_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_CLEAN_H_

#include <optional>
#include <string>
#include <string_view>

#include "harness/base/clean_text.h"

namespace rharness {

// A name of 1 to 256 bytes; empty if nothing is left.
std::string CleanName(std::string_view text);
// Lower-case hexadecimal digits, upper case lowered; empty for anything else.
std::optional<std::string> CleanHex(std::string_view text);
// A path as in manifests: relative below its folder, or absolute, in normal form.
std::optional<std::string> CleanPath(std::string_view text);
// The same, relative only.
std::optional<std::string> CleanRelativePath(std::string_view text);
// A word for an image's name: printable ASCII, no blank, no leading '-'.
bool IsCleanWord(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_CLEAN_H_
