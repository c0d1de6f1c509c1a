// Breaks lines at the last blank that fits.
#include "harness/cli/help_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

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

// The words of a command, as far as its quotes and brackets tell them; an option with what follows
// it is one.
std::vector<std::string_view> WordsOf(std::string_view command) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  char quote = 0;
  int brackets = 0;
  for (std::size_t i = 0; i <= command.size(); ++i) {
    const bool ends = i == command.size();
    const char c = ends ? ' ' : command[i];
    if (c == ' ' && (ends || (quote == 0 && brackets == 0))) {
      const std::string_view word = command.substr(begin, i - begin);
      const bool is_option = word.starts_with("--") && word.find(' ') == word.npos;
      if (is_option && !ends && command[i + 1] != '-') continue;
      if (!word.empty()) words.push_back(word);
      begin = i + 1;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else {
      brackets += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
  }
  return words;
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

std::string WrapCommand(std::string_view command, std::size_t columns) {
  constexpr std::string_view kBreak = " \\\n    ";
  const std::vector<std::string_view> words = WordsOf(command);
  std::string wrapped;
  std::size_t line = 0;  // bytes of the line that is being written
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t room = columns - (i + 1 < words.size() ? 2 : 0);  // for a backslash
    if (i > 0 && line + 1 + words[i].size() > room) {
      wrapped += kBreak;
      line = 4;
    } else if (i > 0) {
      wrapped += ' ';
      ++line;
    }
    wrapped += words[i];
    line += words[i].size();
  }
  return wrapped;
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
    auto sorted = notes.exit_codes;
    std::ranges::stable_sort(sorted, {}, [](const auto& one) { return one.first; });
    for (const auto& [code, meaning] : sorted) {
      codes += fmt::format("{} {} {}", separator, code, meaning);
      separator = ";";
    }
    add(codes + ".");
  }
  if (!notes.examples.empty()) {
    text += text.empty() ? "Examples:" : "\n\nExamples:";
    for (const std::string& example : notes.examples) {
      text += "\n  " + WrapCommand(example, kExampleColumns);
    }
  }
  return text;
}

}  // namespace rharness
