// The checkpoints of a comparison on the page; see comparison_html_parts.h.
#include <fmt/format.h>

#include <algorithm>

#include "reports/comparison_html_parts.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/svg_plots.h"

namespace rharness {
namespace {

constexpr std::size_t kMostTensors = 50;  // rows of one table
constexpr std::size_t kMostNames = 20;    // of tensors on one side only
constexpr std::size_t kMostCheckpoints = 16;

std::string WeightRow(std::string_view name, std::string_view value_html) {
  return value_html.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>", name, value_html);
}

std::string Names(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    out += (i == 0 ? "" : ", ") + HtmlCode(names[i], 200);
  }
  if (names.size() > kMostNames) {
    out += fmt::format(" and {} more", FormatCount(names.size() - kMostNames));
  }
  return out;
}

std::string Numbers(const CheckpointComparison& checkpoint) {
  const CheckpointDifference& difference = checkpoint.difference;
  const CheckpointTotals totals = TotalsOf(difference);
  std::string out = "<dl class=\"numbers\">";
  out += WeightRow("Compared", HtmlText(CheckpointWords(checkpoint)));
  out += WeightRow("First difference", HtmlCode(FirstTensor(difference)));
  if (totals.measured) {
    out += WeightRow("Values that differ", fmt::format("{} of {}", FormatCount(totals.differing),
                                                       FormatCount(difference.elements)));
    out +=
        WeightRow("Largest distance",
                  fmt::format("{} absolute, {} relative, {} ULP", FormatNumber(totals.max_abs, 4),
                              FormatNumber(totals.max_rel, 4), FormatCount(totals.max_ulp)));
  }
  if (totals.non_finite_changes > 0) {
    out += WeightRow("Became or ceased to be finite", FormatCount(totals.non_finite_changes));
  }
  out += WeightRow("Only in A", Names(difference.only_a));
  out += WeightRow("Only in B", Names(difference.only_b));
  out += WeightRow("Other shape or type", Names(difference.shape_or_dtype));
  if (!checkpoint.digest_a.empty() && checkpoint.digest_a == checkpoint.digest_b) {
    out += WeightRow("Digest of both", HtmlCode(checkpoint.digest_a, 200));
  } else {
    out += WeightRow("Digest of A", HtmlCode(checkpoint.digest_a, 200));
    out += WeightRow("Digest of B", HtmlCode(checkpoint.digest_b, 200));
  }
  out += WeightRow("Metadata that differ", Names(checkpoint.metadata));
  return out + "</dl>";
}

std::string TensorRow(const TensorDifference& tensor) {
  const std::string type =
      fmt::format("{} [{}]", DTypeName(tensor.dtype), fmt::join(tensor.shape, ", "));
  if (tensor.elements == 0) {
    return fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td colspan=\"6\">known by digest alone</td></tr>",
        HtmlCode(tensor.name, 300), HtmlText(type, 120));
  }
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"n\">{} of {}</td><td class=\"n\">{}</td>"
      "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
      "class=\"n\">{}</td></tr>",
      HtmlCode(tensor.name, 300), HtmlText(type, 120), FormatCount(tensor.differing),
      FormatCount(tensor.elements), FormatCount(tensor.first_index),
      FormatNumber(tensor.max_abs, 4), FormatNumber(tensor.max_rel, 4), FormatCount(tensor.max_ulp),
      FormatCount(tensor.non_finite_changes));
}

// The tensors that moved furthest would need sorting; by name those of one layer stay together.
std::string Tensors(const CheckpointDifference& difference, std::string_view record) {
  if (difference.differing.empty()) return "";
  std::string rows;
  const std::size_t shown = std::min(difference.differing.size(), kMostTensors);
  for (std::size_t i = 0; i < shown; ++i) rows += TensorRow(difference.differing[i]);
  std::string head = HtmlHeads({"Tensor", "Type"});
  for (const std::string_view name :
       {"Differ", "First at", "Max abs", "Max rel", "Max ULP", "Not finite"}) {
    head += fmt::format("<th scope=\"col\" class=\"n\">{}</th>", name);
  }
  return fmt::format("<details><summary>{}</summary>{}{}</details>",
                     shown == 1 ? "The tensor that differs"
                                : fmt::format("The {} that differ",
                                              Counted(difference.differing.size(), "tensor")),
                     HtmlTable("Differing tensors, by name", head, rows),
                     HtmlLeftOut(difference.differing.size(), shown, record));
}

std::string Figure(const std::string& svg, std::string_view caption) {
  if (svg.empty()) return "";
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>", svg, caption);
}

std::string CheckpointPart(const CheckpointComparison& checkpoint, const Comparison& comparison,
                           const std::string& id) {
  std::string plots;
  if (!checkpoint.difference.bit_equal) {
    plots = Figure(SvgHistogram(TotalsOf(checkpoint.difference).histogram, id + "h"),
                   "How far differing values lie apart, in steps between representable values.") +
            Figure(SvgHeatStrip(checkpoint.difference.groups, id + "s"),
                   "Layers from first to last; the higher a cell, the further apart.");
  }
  return fmt::format(
      "<div class=\"subject\"><h4>{} {}{}</h4>{}{}{}</div>", HtmlCode(checkpoint.subject, 200),
      HtmlStateBadge(StateOf(checkpoint, comparison)),
      checkpoint.weights || (checkpoint.is_file && checkpoint.matters)
          ? ""
          : " <span class=\"soft\">explains, does not decide</span>",
      Numbers(checkpoint), plots.empty() ? "" : fmt::format("<div class=\"plots\">{}</div>", plots),
      Tensors(checkpoint.difference, WordsOf(comparison).record));
}

}  // namespace

std::string HtmlWeights(const Comparison& comparison, std::string_view id) {
  if (comparison.checkpoints.empty()) return "";
  std::string out = "<h3>Weights</h3>";
  const std::size_t shown = std::min(comparison.checkpoints.size(), kMostCheckpoints);
  for (std::size_t i = 0; i < shown; ++i) {
    out += CheckpointPart(comparison.checkpoints[i], comparison, fmt::format("{}-w{}", id, i + 1));
  }
  return out + HtmlLeftOut(comparison.checkpoints.size(), shown, WordsOf(comparison).record);
}

}  // namespace rharness
