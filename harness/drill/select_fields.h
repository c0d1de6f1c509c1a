// The fields of a selection: what they are called, and which value of a run those of text have.
//
// Role: private to select.cc. Pure.
#ifndef RHARNESS_HARNESS_DRILL_SELECT_FIELDS_H_
#define RHARNESS_HARNESS_DRILL_SELECT_FIELDS_H_

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "harness/history/records.h"

namespace rharness {

using TextField = std::string_view (*)(const HistoryEntry&);
inline constexpr std::array<std::pair<std::string_view, TextField>, 6> kTextFields = {{
    {"run_id", [](const HistoryEntry& run) -> std::string_view { return run.run_id; }},
    {"family", [](const HistoryEntry& run) -> std::string_view { return run.family; }},
    {"configuration",
     [](const HistoryEntry& run) -> std::string_view { return run.configuration; }},
    {"declared", [](const HistoryEntry& run) -> std::string_view { return run.declared; }},
    {"last_verdict",
     [](const HistoryEntry& run) -> std::string_view {
       return run.last_verdict ? VerdictName(*run.last_verdict) : "";
     }},
    {"rebuild",
     [](const HistoryEntry& run) -> std::string_view {
       return run.rebuild ? PartStateName(*run.rebuild) : "";
     }},
}};

inline constexpr std::string_view kFieldsExpected =
    "run_id, family, configuration, declared, started, duration_seconds, verified, last_verdict, "
    "rebuild, artifact, 'not' or '('";

// The same, with suggestions for `typed`.
std::string FieldExpected(const std::string& typed);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SELECT_FIELDS_H_
