// A page of a longer list: its rows, and whether there are more on either side.
//
// Role: pure. A page is read towards the end or the start of its list, with one row more than it
// shows, to see whether the list continues.
#ifndef RHARNESS_HARNESS_INSIGHT_SERVE_PAGING_H_
#define RHARNESS_HARNESS_INSIGHT_SERVE_PAGING_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/browser.h"
#include "reports/site_rows.h"

namespace rharness {

// The start of a page of a list, from its address; not given: the start of the list.
struct PageMark {
  bool given = false;
  Toward toward = Toward::kEnd;
  std::optional<WallTime> time = {};
  std::string name = {};
  std::string commit = {};
  bool ends = false;  // towards the start from behind the last row: the page is the last one
};
// "after" or "before", a name; "t", milliseconds since 1970; "commit". Errors: invalid_input.
Result<PageMark> PageMarkOf(const std::map<std::string, std::string>& query);

inline NameStart NameStartOf(const PageMark& mark) { return {mark.name, mark.toward}; }
std::optional<PageStart> PageStartOf(const PageMark& mark);

// The start to read from instead, given the number of rows read. Back at the start: reads the first
// page, which may have more rows than those before the start row. After the last row, as for a
// stored address: reads the last page.
std::optional<PageMark> ReadInstead(const PageMark& mark, std::size_t rows, std::size_t limit);

// Leaves `limit` rows. `address` makes the address of the page beside a row: for (row, "before")
// and (row, "after").
template <class Row, class Address>
SitePager CutPage(const PageMark& mark, std::size_t limit, std::vector<Row>* rows,
                  const Address& address) {
  const bool back = mark.toward == Toward::kStart;
  const bool more = rows->size() > limit;
  if (more) rows->erase(back ? rows->begin() : rows->end() - 1);
  SitePager pager;
  if (rows->empty()) return pager;
  if (back ? more : mark.given) pager.previous = address(rows->front(), "before");
  if (back ? !mark.ends : more) pager.next = address(rows->back(), "after");
  return pager;
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_PAGING_H_
