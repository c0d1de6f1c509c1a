// One pass over the text with a stack of open additions.
#include "compare/fingerprints/canonical_tree.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <vector>

namespace rharness {
namespace {

struct Builder {
  std::vector<std::vector<int>> open;       // children of the additions still open
  std::vector<std::vector<int>> additions;  // closed ones; children >= 0: leaves, < 0: ~addition
  std::vector<int> top;                     // nodes outside of every parenthesis
  int leaves = 0;

  void Add(int child) { (open.empty() ? top : open.back()).push_back(child); }
  bool Close() {
    if (open.empty()) return false;
    additions.push_back(std::move(open.back()));
    open.pop_back();
    Add(~static_cast<int>(additions.size() - 1));
    return true;
  }
};

Error At(std::size_t offset, std::string_view what) {
  return InvalidInput(fmt::format("byte {} of a summation tree: {}", offset, what));
}

Result<Builder> Scan(std::string_view text) {
  Builder builder;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') {
      builder.open.emplace_back();
    } else if (text[i] == ')') {
      if (!builder.Close()) return At(i, "a closing parenthesis without an opening one");
    } else if (text[i] >= '0' && text[i] <= '9') {
      int leaf = 0;
      const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), leaf);
      if (error != std::errc()) return At(i, "expected the number of a summand");
      builder.Add(leaf);
      ++builder.leaves;
      i = static_cast<std::size_t>(end - text.data()) - 1;
    } else if (text[i] != ' ') {
      return At(i, "expected a parenthesis, a number or a blank");
    }
  }
  if (!builder.open.empty()) return At(text.size(), "a parenthesis is still open");
  if (builder.top.size() != 1) return At(text.size(), "expected one tree");
  return builder;
}

}  // namespace

Result<SumTree> ParseCanonicalTree(std::string_view text) {
  if (text.size() > kLongestCanonicalBytes) {
    return InvalidInput(fmt::format("a summation tree's text of {} bytes; expected at most {}",
                                    text.size(), kLongestCanonicalBytes));
  }
  ASSIGN_OR_RETURN(Builder builder, Scan(text));
  for (auto& children : builder.additions) {
    for (int& child : children) {
      if (child >= builder.leaves) {
        return InvalidInput(
            fmt::format("summand {} in a summation tree of {}", child, builder.leaves));
      }
      if (child < 0) child = builder.leaves + ~child;
    }
  }
  ASSIGN_OR_RETURN(SumTree tree, SumTree::Build(builder.leaves, std::move(builder.additions)));
  if (tree.Canonical() != text) {
    return InvalidInput("a summation tree's text is not in canonical order");
  }
  return tree;
}

}  // namespace rharness
