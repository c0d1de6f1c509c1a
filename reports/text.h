// Makes untrusted text safe, and numbers readable, before any format's own escaping.
//
// Role: every writer passes every string of a run through SafeText first and then escapes it for
// its format. Not here: HTML, XML, Markdown or terminal escaping.
#ifndef RHARNESS_REPORTS_TEXT_H_
#define RHARNESS_REPORTS_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"

namespace rharness {

enum class Lines { kJoin, kKeep };  // line breaks become spaces, or stay

// `text` as valid UTF-8 without active characters: invalid bytes and control characters become
// \xNN; bidirectional controls (Trojan Source, CVE-2021-42574), line and paragraph separators, byte
// order marks and noncharacters become \u{NNNN}. ANSI colour sequences are dropped, since they
// carry nothing but colour; CR and CRLF count as a line break. Cut at `limit_bytes` of output, on a
// character boundary, followed by the full size in words.
std::string SafeText(std::string_view text, std::size_t limit_bytes = 2000,
                     Lines lines = Lines::kJoin);

// A name of the program's own as words: "not_comparable" is "not comparable".
std::string SpacedName(std::string_view name);

// The last `limit_bytes` of `text` on a character boundary, for logs whose end matters; the caller
// still passes it through SafeText.
std::string_view Tail(std::string_view text, std::size_t limit_bytes);

// Columns that safe text takes on a terminal: 2 for East Asian wide characters and emoji, 0 for
// combining marks, else 1.
int DisplayWidth(std::string_view text);
// At most `columns` wide, with "…" for the middle: the ends of names distinguish runs.
std::string ElideMiddle(std::string_view text, int columns);
// Each by ElideMiddle; if different ones would look the same, their common prefix is cut first, and
// if that is not enough they are numbered: "name…end #2".
std::vector<std::string> ElideApart(const std::vector<std::string>& texts, int columns);
// At most `columns` wide: a path in it loses folders, "random (/tmp/…/train.py:7)", then the end is
// "…". For sentences.
std::string ElideEnd(std::string_view text, int columns);

// `digits` significant digits: "0.97125", "1.5e-07", "NaN", "inf".
std::string FormatNumber(double value, int digits = 6);
// "12,345"
std::string FormatCount(std::uint64_t value);
// "512 B", "1.5 KiB", "3.0 GiB"
std::string FormatBytes(std::uint64_t bytes);
// "1 run", "3 runs": adds an s.
std::string Counted(std::uint64_t count, std::string_view noun);
// "3 to 7"; "3" where both are.
std::string FromTo(int from, int to);
// "2026-11-20 08:03 UTC"; the epoch itself is "not recorded".
std::string FormatMinute(WallTime time);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_TEXT_H_
