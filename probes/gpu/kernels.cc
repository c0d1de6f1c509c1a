// Reading PTX by its entries.
#include "probes/gpu/kernels.h"

namespace rharness {
namespace {

constexpr std::string_view kEntry = ".entry ";

std::string_view NameAt(std::string_view ptx, std::size_t entry) {
  const std::size_t begin = entry + kEntry.size();
  const std::size_t end = ptx.find_first_of("( \n\t", begin);
  return end == std::string_view::npos ? std::string_view() : ptx.substr(begin, end - begin);
}

}  // namespace

std::vector<std::string> EntriesOf(std::string_view ptx) {
  std::vector<std::string> names;
  for (std::size_t at = ptx.find(kEntry); at != std::string_view::npos;
       at = ptx.find(kEntry, at + 1)) {
    names.emplace_back(NameAt(ptx, at));
  }
  return names;
}

std::string_view EntryText(std::string_view ptx, std::string_view name) {
  for (std::size_t at = ptx.find(kEntry); at != std::string_view::npos;
       at = ptx.find(kEntry, at + 1)) {
    if (NameAt(ptx, at) != name) continue;
    // The closing brace of an entry is alone at the start of a line.
    const std::size_t end = ptx.find("\n}", at);
    return end == std::string_view::npos ? std::string_view() : ptx.substr(at, end + 2 - at);
  }
  return {};
}

}  // namespace rharness
