// Verdicts as columns hold them: their words; empty for a run that no drill has judged.
//
// Role: private to this folder; the one conversion between SQL and Verdict, for SOCI's into and
// use. Source: https://soci.sourceforge.net/doc/release/4.0/types/ ("User-defined C++ types").
#ifndef RHARNESS_HARNESS_HISTORY_VERDICT_COLUMN_H_
#define RHARNESS_HARNESS_HISTORY_VERDICT_COLUMN_H_

#include <soci/soci.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "harness/verdict/verdict.h"

namespace rharness {

// Thrown within Database::Guard alone, which says whom the word is about.
struct UnknownVerdict : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace rharness

namespace soci {

template <>
struct type_conversion<rharness::Verdict> {
  using base_type = std::string;
  // Opening refuses a history with other words; one may be written while it is open.
  static void from_base(const std::string& word, indicator state, rharness::Verdict& verdict) {
    const auto known = rharness::ParseVerdict(state == i_null ? std::string() : word);
    if (!known.ok()) throw rharness::UnknownVerdict(known.error().message);
    verdict = *known;
  }
  static void to_base(const rharness::Verdict& verdict, std::string& word, indicator& state) {
    word = rharness::VerdictName(verdict);
    state = i_ok;
  }
};

template <>
struct type_conversion<std::optional<rharness::Verdict>> {
  using base_type = std::string;
  static void from_base(const std::string& word, indicator state,
                        std::optional<rharness::Verdict>& verdict) {
    verdict.reset();
    if (state == i_null || word.empty()) return;
    type_conversion<rharness::Verdict>::from_base(word, state, verdict.emplace());
  }
};

}  // namespace soci

#endif  // RHARNESS_HARNESS_HISTORY_VERDICT_COLUMN_H_
