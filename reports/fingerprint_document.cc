// A difference of fingerprints as a document, and the sections that it shares with that of a gate.
#include <fmt/format.h>

#include <algorithm>

#include "probes/order/tree_name.h"
#include "reports/fingerprint_grid.h"
#include "reports/fingerprint_report.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

using As = DocumentCell::As;

constexpr std::size_t kMostTrees = 16;  // pairs drawn
constexpr std::size_t kNamedFacts = 3;
constexpr std::size_t kTreeBytes = 1'500'000;

DocumentCell GridCellOf(const GridCell& cell) {
  if (cell.state == GridCell::State::kNotShown) return "";
  DocumentCell shown(cell.Words(), As::kBadge);
  shown.tone = cell.state == GridCell::State::kSame ? Verdict::kIdentical : Verdict::kDrifted;
  return shown;
}

DocumentSection EmptyGrid(std::string title) {
  DocumentSection section{.title = std::move(title), .columns = {{"Probe"}, {"Family"}}};
  for (const std::string_view layer : kGridLayers) section.columns.push_back({layer});
  section.columns.push_back({"What changed"});
  return section;
}

DocumentRow GridRowOf(const GridRow& row) {
  DocumentRow shown{.tone = Verdict::kIdentical, .cells = {row.probe, row.family}};
  for (const GridCell& cell : row.cells) shown.cells.push_back(GridCellOf(cell));
  if (row.changed) {
    shown.tone = Verdict::kDrifted;
    shown.cells.emplace_back(ChangeWords(row.difference->change));
    shown.details = {row.difference->sentence};
  } else if (row.status != "ok") {
    shown.tone = Verdict::kNotComparable;
    shown.cells.emplace_back(row.status);
  }
  return shown;
}

// "cuda.driver, os.kernel and 3 more"
std::string FactNames(const std::vector<FactDifference>& facts) {
  const std::size_t shown = std::min(facts.size(), kNamedFacts);
  std::string names;
  for (std::size_t i = 0; i < shown; ++i) names += (i == 0 ? "" : ", ") + facts[i].key;
  return facts.size() == shown ? names : fmt::format("{} and {} more", names, facts.size() - shown);
}

// The stack has an identity and no behaviour.
DocumentRow StackRow(const FingerprintDifference& difference) {
  const bool changed = !difference.stack.empty();
  DocumentCell identity(changed ? fmt::format("≠ {}", difference.stack.size()) : "=", As::kBadge);
  identity.tone = changed ? Verdict::kInconclusive : Verdict::kIdentical;
  DocumentRow row{.tone = *identity.tone,
                  .cells = {"the stack", "versions, builds, devices", std::move(identity)}};
  row.cells.resize(2 + kGridLayers.size(), "");
  row.cells.emplace_back(changed ? FactNames(difference.stack) : "nothing");
  return row;
}

DocumentPicture TreePicture(std::string_view side, const FingerprintTree& tree,
                            const std::string& id) {
  return {DrawTree(*tree.tree, id),
          fmt::format("{}: {} over {} terms", side, tree.name, tree.leaves)};
}

const FingerprintProbe* FindProbe(const Fingerprint& fingerprint, const std::string& name) {
  const auto found =
      std::ranges::lower_bound(fingerprint.probes, name, {}, &FingerprintProbe::name);
  return found == fingerprint.probes.end() || found->name != name ? nullptr : &*found;
}

// The first changed case of the probe with both trees kept; empty without one.
DocumentSection TreePair(const ProbeDifference& probe, const Fingerprint& before,
                         const Fingerprint& after, std::size_t place) {
  const FingerprintProbe* was = FindProbe(before, probe.probe);
  const FingerprintProbe* is = FindProbe(after, probe.probe);
  if (was == nullptr || is == nullptr) return {};
  for (const std::string& name : probe.tree_cases) {
    const FingerprintTree& old_tree = was->trees.at(name);
    const FingerprintTree& new_tree = is->trees.at(name);
    if (!old_tree.tree || !new_tree.tree || old_tree.sha256 == new_tree.sha256) continue;
    return {.title = fmt::format("Order of addition: {} · {}", probe.probe, name),
            .pictures = {TreePicture("Before", old_tree, fmt::format("tree-{}-a", place)),
                         TreePicture("Now", new_tree, fmt::format("tree-{}-b", place))}};
  }
  return {};
}

std::size_t BytesOf(const DocumentSection& section) {
  std::size_t bytes = 0;
  for (const DocumentPicture& picture : section.pictures) bytes += picture.svg.size();
  return bytes;
}

}  // namespace

std::vector<DocumentSection> GridSections(const FingerprintDifference& difference,
                                          const Fingerprint& before, const Fingerprint& after) {
  DocumentSection changed = EmptyGrid("What changed");
  DocumentSection same = EmptyGrid("What did not change");
  changed.words =
      "Probe by layer, in the order in which a cause is looked for: the leftmost change explains "
      "those to its right. = cases that are the same, ≠ cases that changed; empty where nothing is "
      "shown on both sides.";
  (difference.stack.empty() ? same : changed).rows.push_back(StackRow(difference));
  for (const GridRow& row : BuildGrid(difference, before, after)) {
    (row.changed ? changed : same).rows.push_back(GridRowOf(row));
  }
  if (changed.rows.empty()) changed.words = "Nothing.";
  return {std::move(changed), std::move(same)};
}

std::vector<DocumentSection> TreeSections(const FingerprintDifference& difference,
                                          const Fingerprint& before, const Fingerprint& after) {
  std::vector<DocumentSection> sections;
  std::size_t bytes = 0;
  std::size_t left_out = 0;
  for (const ProbeDifference& probe : difference.probes) {
    if (probe.tree_cases.empty()) continue;
    DocumentSection pair;
    if (sections.size() < kMostTrees && bytes < kTreeBytes) {
      pair = TreePair(probe, before, after, sections.size() + 1);
    }
    bytes += BytesOf(pair);
    if (IsEmpty(pair)) {
      ++left_out;
    } else {
      sections.push_back(std::move(pair));
    }
  }
  if (left_out > 0) {
    sections.push_back(
        {.title = "Orders of addition that are not drawn",
         .words = fmt::format("The order changed in {}, and both trees are not kept, or too many.",
                              Counted(left_out, sections.empty() ? "probe" : "more probe"))});
  }
  return sections;
}

DocumentSection StackSection(const FingerprintDifference& difference) {
  DocumentSection section{
      .title = fmt::format("The stack: {} {}", Counted(difference.stack.size(), "fact"),
                           difference.stack.size() == 1 ? "differs" : "differ"),
      .columns = {{"Fact"}, {"Layer"}, {"Before"}, {"Now"}}};
  for (const FactDifference& fact : difference.stack) {
    const auto value = [](const std::optional<std::string>& one) {
      return DocumentCell(FactWords(one), one ? As::kCode : As::kText);
    };
    section.rows.push_back({.tone = Verdict::kInconclusive,
                            .cells = {{fact.key, As::kCode},
                                      std::string(LayerName(fact.layer)),
                                      value(fact.recorded),
                                      value(fact.observed)}});
  }
  return section;
}

Document DocumentOf(const FingerprintDifference& difference, const Fingerprint& before,
                    const Fingerprint& after, std::string_view version) {
  const int code = ExitCodeOf(difference);
  Document document{
      .name = "probe-diff",
      .about = fmt::format("{} → {}", before.file, after.file),
      .version = std::string(version),
      .tone = code == 0   ? Verdict::kIdentical
              : code == 1 ? Verdict::kDrifted
                          : Verdict::kNotComparable,
      .headline = difference.summary,
      .next = code == 0 ? "nothing to do: everything probed computes as before."
              : code == 1
                  ? "rharness gate says whether this may roll out, and which runs depend on it."
                  : "run the probes again on both stacks; nothing is known so far.",
      .record = "the output of --json",
      .exit_code = code};
  const std::vector<DocumentSection> grid = GridSections(difference, before, after);
  document.sections = {grid[0]};
  std::ranges::move(TreeSections(difference, before, after), std::back_inserter(document.sections));
  document.sections.push_back(StackSection(difference));
  document.sections.push_back(grid[1]);
  document.sections.front().cases = document.sections.back().cases = true;
  std::erase_if(document.sections, IsEmpty);
  return document;
}

}  // namespace rharness
