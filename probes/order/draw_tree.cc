// A tree as SVG: leaves below, the root on top.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "probes/order/at.h"
#include "probes/order/tree_name.h"

namespace rharness {
namespace {

constexpr double kWidth = 720, kHeight = 360, kMargin = 24;
constexpr int kDrawnLeaves = 64;

// What is drawn as one: a leaf, or a subtree that is too fine to show.
std::vector<int> FrontierOf(const SumTree& tree) {
  const int finest = tree.leaves() <= kDrawnLeaves ? 1 : tree.leaves() / 24;
  std::vector<int> frontier, stack = {tree.root()};
  while (!stack.empty() && frontier.size() + stack.size() <= kDrawnLeaves * 2) {
    const int node = stack.back();
    stack.pop_back();
    if (tree.IsLeaf(node) || (finest > 1 && tree.count(node) <= finest)) {
      frontier.push_back(node);
    } else {
      for (const int child : tree.children(node)) stack.push_back(child);
    }
  }
  frontier.insert(frontier.end(), stack.begin(), stack.end());
  return frontier;
}

struct Point {
  double x = 0.0;
  double y = 0.0;
};

// Children beside one another in their order, a node above the middle of its children, and all of
// one height in one row.
std::vector<Point> Layout(const SumTree& tree) {
  std::vector<Point> points(At(tree.nodes()));
  std::vector<int> stack = {tree.root()};
  const double step = (kWidth - 2 * kMargin) / std::max(1, tree.leaves() - 1);
  const double row = (kHeight - 3 * kMargin) / std::max(1, tree.height(tree.root()));
  int next = 0;
  while (!stack.empty()) {
    const int node = stack.back();
    stack.pop_back();
    if (tree.IsLeaf(node)) {
      points[At(node)] = {kMargin + step * next++, kHeight - 2 * kMargin};
      continue;
    }
    const auto children = tree.children(node);
    for (std::size_t i = children.size(); i-- > 0;) stack.push_back(children[i]);
  }
  for (int node = tree.leaves(); node < tree.nodes(); ++node) {
    const auto children = tree.children(node);
    double sum = 0.0;
    for (const int child : children) sum += points[At(child)].x;
    points[At(node)] = {sum / static_cast<double>(children.size()),
                        kHeight - 2 * kMargin - row * tree.height(node)};
  }
  return points;
}

// A frontier node: a dot for a summand, a triangle with its count for a subtree.
std::string Foot(const SumTree& whole, int node, Point at) {
  if (whole.IsLeaf(node)) {
    return fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="2.5"><title>term {}</title></circle>)",
                       at.x, at.y, node);
  }
  return fmt::format(
      R"(<path d="M{:.1f} {:.1f}l-6 12h12z"/><text x="{:.1f}" y="{:.1f}" text-anchor="middle" )"
      R"(font-size="9">{}<title>{} terms: {}</title></text>)",
      at.x, at.y, at.x, at.y + 22, whole.count(node), whole.count(node),
      NameOf(whole.Subtree(node)));
}

}  // namespace

std::string DrawTree(const SumTree& tree, std::string_view id) {
  std::vector<int> frontier = FrontierOf(tree);
  std::ranges::sort(frontier, {}, [&](int node) { return tree.smallest(node); });
  const SumTree drawn = tree.Above(frontier);
  const std::vector<Point> points = Layout(drawn);
  std::string svg = fmt::format(
      R"(<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-labelledby="{}-t" fill="currentColor" )"
      R"(stroke="currentColor"><title id="{}-t">Order of addition of {} terms: {}</title>)",
      kWidth, kHeight, id, id, tree.leaves(), NameOf(tree));
  for (int node = drawn.leaves(); node < drawn.nodes(); ++node) {
    const Point from = points[At(node)];
    for (const int child : drawn.children(node)) {
      const Point to = points[At(child)];
      svg += fmt::format(R"(<path fill="none" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>)", from.x, from.y,
                         to.x, to.y);
    }
  }
  for (int foot = 0; foot < drawn.leaves(); ++foot) {
    svg += Foot(tree, frontier[At(foot)], points[At(foot)]);
  }
  return svg + "</svg>";
}

}  // namespace rharness
