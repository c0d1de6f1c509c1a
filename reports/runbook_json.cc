// The runbook as JSON, and its schema.
#include <algorithm>

#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"
#include "reports/runbook_page.h"
#include "reports/schemas.h"

namespace rharness {

struct RunbookDocument {
  std::string version;
  std::vector<RunbookPage> pages;
};

namespace {

const std::string& PartOf(const RunbookPage& page, std::string_view name) {
  static const std::string kNone;
  const auto part = std::ranges::find(page.parts, name, [](const auto& one) { return one.first; });
  return part == page.parts.end() ? kNone : part->second;
}

}  // namespace

template <class Io, Is<RunbookPage> T>
void Members(Io& io, T& page) {
  io.Must("code", page.code,
          About("As findings, reasons, causes and alerts have it.").Pattern("^[A-Za-z_]+$"));
  io.Must("area", page.area,
          About("Where codes of this kind are met.")
              .OneOf("verdict comparison results record gate alert cause"));
  io.Must("means", PartOf(page, "Means"), "Text here and below may have code in backticks.");
  io.Must("check", PartOf(page, "Check"));
  io.Must("causes", PartOf(page, "Causes"), "Likely ones, by layer.");
  io.Must("do", PartOf(page, "Do"));
  io.Must("next", PartOf(page, "Next"), "A command of rharness.");
}

template <class Io, Is<RunbookDocument> T>
void Members(Io& io, T& runbook) {
  io.Schema("rharness.runbook", 1);
  io.Must("version", runbook.version, "Of rharness, and so of its runbook.");
  io.MustList("pages", runbook.pages);
}

Json ToJson(const std::vector<RunbookPage>& pages, std::string_view version) {
  return MemberWriter::Written(RunbookDocument{std::string(version), pages});
}

Json RunbookSchema() {
  return SchemaOf<RunbookDocument>(
      {.id = "rharness.runbook/v1",
       .title = "What the codes of findings, reasons and alerts mean, and what to do",
       .description = "Printed by rharness explain --json.",
       .closed = true});
}

}  // namespace rharness
