// Names from untrusted sources: in messages, and as files of a folder.
#ifndef RHARNESS_COMPARE_WEIGHTS_NAMES_H_
#define RHARNESS_COMPARE_WEIGHTS_NAMES_H_

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "harness/base/files.h"

namespace rharness {

// 'NAME', safe on a terminal and cut after 200 bytes.
inline std::string Quoted(std::string_view name) {
  const bool cut = name.size() > 200;
  return fmt::format("'{}{}'", TerminalSafe(name.substr(0, 200)), cut ? "..." : "");
}

// The name of a file in this folder, and of nothing above or below it.
inline bool IsPlainFileName(std::string_view name) {
  return name.find('/') == std::string_view::npos && SafeRelativePath(name, "").ok();
}

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_NAMES_H_
