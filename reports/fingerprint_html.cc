// The parts of pages about fingerprints, and the page of a difference.
#include <fmt/format.h>

#include <algorithm>

#include "probes/order/tree_name.h"
#include "reports/fingerprint_grid.h"
#include "reports/fingerprint_report.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"

namespace rharness {
namespace {

constexpr std::size_t kMostGridRows = 400;    // of the grid
constexpr std::size_t kMostStackFacts = 200;  // of the stack
constexpr std::size_t kMostTrees = 16;        // pairs drawn
constexpr std::size_t kTreeBytes = 1'500'000;

std::string CellHtml(std::string_view layer, const GridCell& cell) {
  if (cell.state == GridCell::State::kNotShown) {
    return fmt::format("<td data-l=\"{}\"><span class=\"soft\">–</span></td>", layer);
  }
  return fmt::format("<td data-l=\"{}\" class=\"{}\"><span class=\"b\">{}</span></td>", layer,
                     cell.state == GridCell::State::kSame ? "identical" : "drifted", cell.Words());
}

std::string WhatChanged(const GridRow& row) {
  if (row.difference == nullptr) {
    return row.status == "ok"
               ? "<span class=\"soft\">nothing</span>"
               : fmt::format("<span class=\"soft\">{}</span>", HtmlText(row.status, 200));
  }
  return fmt::format("<b>{}</b><br>{}", ChangeWords(row.difference->change),
                     HtmlText(row.difference->sentence, 1000));
}

std::string RowHtml(const GridRow& row) {
  std::string cells;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    cells += CellHtml(kGridLayers[i], row.cells[i]);
  }
  return fmt::format(
      "<tr><th scope=\"row\">{}<br><span class=\"soft\">{}</span></th>{}<td data-l=\"What "
      "changed\">{}</td></tr>\n",
      HtmlName(row.probe), HtmlText(row.family, 60), cells, WhatChanged(row));
}

// The stack as a separate row: it has an identity and no behaviour.
std::string StackRow(const FingerprintDifference& difference) {
  const bool changed = !difference.stack.empty();
  const std::string words =
      changed ? fmt::format("≠ {}", difference.stack.size()) : std::string("=");
  std::string cells;
  for (std::size_t i = 1; i < kGridLayers.size(); ++i) cells += CellHtml(kGridLayers[i], {});
  return fmt::format(
      "<tr><th scope=\"row\">the stack<br><span class=\"soft\">versions, builds, devices</span>"
      "</th><td data-l=\"Identity\" class=\"{}\"><span class=\"b\">{}</span></td>{}"
      "<td data-l=\"What changed\">{}</td></tr>\n",
      changed ? "inconclusive" : "identical", words, cells,
      changed ? "<a href=\"#stack\">the facts below</a>" : "<span class=\"soft\">nothing</span>");
}

std::string TreeFigure(std::string_view side, const FingerprintTree& tree, const std::string& id) {
  return fmt::format("<figure>{}<figcaption>{}: {} over {} terms</figcaption></figure>",
                     DrawTree(*tree.tree, id), side, HtmlText(tree.name, 200), tree.leaves);
}

const FingerprintProbe* Find(const Fingerprint& fingerprint, const std::string& name) {
  const auto found =
      std::ranges::lower_bound(fingerprint.probes, name, {}, &FingerprintProbe::name);
  return found == fingerprint.probes.end() || found->name != name ? nullptr : &*found;
}

// The first changed case of the probe with both trees kept; empty without one.
std::string TreePair(const ProbeDifference& probe, const Fingerprint& before,
                     const Fingerprint& after, std::size_t place) {
  const FingerprintProbe* was = Find(before, probe.probe);
  const FingerprintProbe* is = Find(after, probe.probe);
  if (was == nullptr || is == nullptr) return "";
  for (const std::string& name : probe.tree_cases) {
    const FingerprintTree& old_tree = was->trees.at(name);
    const FingerprintTree& new_tree = is->trees.at(name);
    if (!old_tree.tree || !new_tree.tree || old_tree.sha256 == new_tree.sha256) continue;
    return fmt::format("<h3>{} · {}</h3>\n<div class=\"plots\">{}{}</div>\n",
                       HtmlText(probe.probe, 120), HtmlText(name, 200),
                       TreeFigure("Before", old_tree, fmt::format("tree-{}-a", place)),
                       TreeFigure("Now", new_tree, fmt::format("tree-{}-b", place)));
  }
  return "";
}

}  // namespace

std::string HtmlGrid(const FingerprintDifference& difference, const Fingerprint& before,
                     const Fingerprint& after) {
  const std::vector<GridRow> rows = BuildGrid(difference, before, after);
  std::string body = StackRow(difference);
  const std::size_t shown = std::min(rows.size(), kMostGridRows);
  for (std::size_t i = 0; i < shown; ++i) body += RowHtml(rows[i]);
  std::string heads = "<th scope=\"col\">Probe</th>";
  for (const std::string_view layer : kGridLayers) {
    heads += fmt::format("<th scope=\"col\">{}</th>", layer);
  }
  const std::string left_out =
      rows.size() > shown
          ? fmt::format("<p class=\"soft\">{} more probes, unchanged, are not shown.</p>\n",
                        rows.size() - shown)
          : "";
  return fmt::format(
      "<h2 id=\"grid\">What changed</h2>\n<p class=\"soft\">Probe by layer, in the order in which "
      "a cause is looked for: the leftmost change explains those to its right. = cases that are "
      "the "
      "same, ≠ cases that changed, – nothing shown on both sides.</p>\n"
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-labelledby=\"grid\"><table "
      "class=\"stack\"><thead><tr>{}<th scope=\"col\">What changed</th></tr></thead><tbody>\n{}"
      "</tbody></table></div>\n{}",
      heads, body, left_out);
}

std::string HtmlTrees(const FingerprintDifference& difference, const Fingerprint& before,
                      const Fingerprint& after) {
  std::string out;
  std::size_t drawn = 0;
  std::size_t left_out = 0;
  for (const ProbeDifference& probe : difference.probes) {
    if (probe.tree_cases.empty()) continue;
    std::string pair;
    if (drawn < kMostTrees && out.size() < kTreeBytes) {
      pair = TreePair(probe, before, after, ++drawn);
    }
    if (pair.empty()) ++left_out;
    out += pair;
  }
  if (out.empty() && left_out == 0) return "";
  if (left_out > 0) {
    out += fmt::format(
        "<p class=\"soft\">Of {} more probes the order changed, and it is not drawn.</p>\n",
        left_out);
  }
  return "<h2 id=\"trees\">Orders of addition, before and now</h2>\n" + out;
}

std::string HtmlStack(const FingerprintDifference& difference, std::string_view record) {
  if (difference.stack.empty()) return "";
  std::string rows;
  const std::size_t shown = std::min(difference.stack.size(), kMostStackFacts);
  for (std::size_t i = 0; i < shown; ++i) {
    const FactDifference& fact = difference.stack[i];
    rows += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code></th><td data-l=\"Before\">{}</td>"
        "<td data-l=\"Now\">{}</td><td data-l=\"Layer\">{}</td></tr>\n",
        HtmlText(fact.key, 300), HtmlFactValue(fact.recorded), HtmlFactValue(fact.observed),
        LayerName(fact.layer));
  }
  return fmt::format(
      "<h2 id=\"stack\">The stack, before and now</h2>\n<div class=\"wide\" tabindex=\"0\" "
      "role=\"region\" aria-labelledby=\"stack\"><table class=\"stack\"><thead><tr>{}</tr></thead>"
      "<tbody>\n{}</tbody></table></div>\n{}",
      HtmlHeads({"Fact", "Before", "Now", "Layer"}), rows,
      HtmlLeftOut(difference.stack.size(), shown, record));
}

std::string WriteHtml(const FingerprintDifference& difference, const Fingerprint& before,
                      const Fingerprint& after, std::string_view version) {
  const int code = ExitCodeOf(difference);
  const std::string_view next =
      code == 0   ? "nothing to do: everything probed computes as before."
      : code == 1 ? "rharness gate says whether this may roll out, and which runs depend on it."
                  : "run the probes again on both stacks; nothing is known so far.";
  std::string out = HtmlHead(difference.summary);
  out += HtmlTop({.page_class = code == 0   ? "identical"
                                : code == 1 ? "drifted"
                                            : "not_comparable",
                  .eyebrow_html =
                      fmt::format("{} → {}", HtmlText(before.file, 200), HtmlText(after.file, 200)),
                  .answer = difference.summary,
                  .next_html = std::string(next),
                  .skip_id = "grid",
                  .skip_words = "Skip to what changed"});
  out += HtmlGrid(difference, before, after);
  out += HtmlTrees(difference, before, after);
  out += HtmlStack(difference, "the output of --json");
  return out + HtmlEnd(version, "the output of --json", false);
}

}  // namespace rharness
