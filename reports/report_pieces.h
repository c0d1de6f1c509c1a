// A report's JSON as text, a run at a time, for a drill of very many runs.
#ifndef RHARNESS_REPORTS_REPORT_PIECES_H_
#define RHARNESS_REPORTS_REPORT_PIECES_H_

#include <cstddef>
#include <functional>
#include <string_view>

#include "harness/base/file_pieces.h"
#include "reports/model.h"

namespace rharness {

// Beyond so many runs each has a line of its own, which takes two thirds of the room.
inline constexpr std::size_t kMostIndentedRuns = 1000;

// The text of ToJson(report), indented by 2, and a line's end: `take` gets each piece in order,
// `run` the text of each run without white space before. Errors: those of `take`.
Status WriteJson(const Report& report, const TakePiece& take,
                 const std::function<void(std::string_view)>& run);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_REPORT_PIECES_H_
