// A stranger's name in a message.
#ifndef RHARNESS_COMPARE_WEIGHTS_QUOTED_H_
#define RHARNESS_COMPARE_WEIGHTS_QUOTED_H_

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

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_QUOTED_H_
