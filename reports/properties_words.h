// What every page of properties says alike.
#ifndef RHARNESS_REPORTS_PROPERTIES_WORDS_H_
#define RHARNESS_REPORTS_PROPERTIES_WORDS_H_

#include <string>

#include "compare/verdict.h"
#include "reports/properties_report.h"

namespace rharness {

// The verdict whose colour and kind a state takes.
Verdict ToneOf(const PropertyResult& result);
// "held", "within", "LOST", "not judged"
std::string StateWord(PropertyState state);
// "it held on 2026-11-20 08:03 UTC (drill 2026...)"; empty without an earlier drill.
std::string BeforeWords(const PropertyResult& result);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_PROPERTIES_WORDS_H_
