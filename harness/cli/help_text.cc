// Breaks lines at the last blank that fits.
#include "harness/cli/help_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace rharness {
namespace {

std::string WrapLine(std::string_view line, std::size_t columns) {
  std::string wrapped;
  while (line.size() > columns) {
    std::size_t at = line.rfind(' ', columns);
    // A blank of the indent is no place to break at.
    if (at == line.npos || line.find_first_not_of(' ') > at) at = line.find(' ', columns);
    if (at == line.npos) break;
    wrapped += line.substr(0, at);
    wrapped += '\n';
    line.remove_prefix(at + 1);
  }
  return wrapped.append(line);
}

}  // namespace

std::string Wrap(std::string_view text, std::size_t columns) {
  std::string wrapped;
  while (true) {
    const std::size_t end = text.find('\n');
    wrapped += WrapLine(text.substr(0, end), columns);
    if (end == text.npos) return wrapped;
    wrapped += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string ValueText(const OptionFacts& option) {
  return option.value.empty() && !option.label.empty() ? option.label : option.ValueWord();
}

std::string NotesText(const CommandNotes& notes) {
  std::string text;
  const auto add = [&text](const std::string& paragraph) {
    if (!text.empty()) text += "\n\n";
    text += Wrap(paragraph, kHelpColumns);
  };
  for (const std::string& paragraph : notes.paragraphs) add(paragraph);
  if (!notes.exit_codes.empty()) {
    std::string codes = "Exit codes:";
    const char* separator = "";
    for (const auto& [code, meaning] : notes.exit_codes) {
      codes += fmt::format("{} {} {}", separator, code, meaning);
      separator = ";";
    }
    add(codes + ".");
  }
  if (!notes.examples.empty()) {
    std::string examples = "Examples:";
    for (const std::string& example : notes.examples) examples += "\n  " + example;
    add(examples);
  }
  return text;
}

}  // namespace rharness
