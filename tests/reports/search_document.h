// A small document with what most have: facts, a list, and a table with a bad and a good row.
#ifndef RHARNESS_TESTS_REPORTS_SEARCH_DOCUMENT_H_
#define RHARNESS_TESTS_REPORTS_SEARCH_DOCUMENT_H_

#include "reports/document.h"

namespace rharness {

inline Document SearchDocument() {
  Document document{.name = "search",
                    .about = "Search of np-1",
                    .version = "1",
                    .tone = Verdict::kDrifted,
                    .headline = "the driver makes np-1 drift",
                    .next = "set it back",
                    .notes = {"a note"},
                    .facts = {{"Reruns", "8 of 20"}},
                    .exit_code = 1};
  document.sections = {
      {.title = "Shown by", .words = "In words.", .items = {"rerun 4", "rerun 7"}},
      {.title = "Trials",
       .columns = {{"Trial"}, {"Answer"}, {"Time", true}, {"Never filled"}},
       .rows = {{.tone = Verdict::kDrifted,
                 .cells = {"first", {"drifts", DocumentCell::As::kBadge}, "3 s"},
                 .details = {"it drifted by 0.3"}},
                {.tone = Verdict::kIdentical,
                 .cells = {{"second", DocumentCell::As::kText, "runs/2/evidence.json"},
                           {"as recorded", DocumentCell::As::kCode}}}}}};
  return document;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_REPORTS_SEARCH_DOCUMENT_H_
