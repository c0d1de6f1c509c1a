// rharness help: as --help of a verb, or a topic that belongs to several of them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "harness/base/files.h"
#include "harness/base/spelling.h"
#include "harness/cli/guide_files.h"
#include "harness/cli/help_text.h"
#include "harness/cli/help_topics.h"
#include "harness/cli/successors.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

// The title of a guide is its first line.
std::string_view TitleOf(std::string_view guide) {
  const std::string_view line = guide.substr(0, guide.find('\n'));
  return line.substr(line.find_first_not_of("# "));
}

// "guide" lists them, "guide drill" is one, as it lies beside the code.
Result<std::string> GuideText(const std::vector<std::string>& words) {
  if (words.size() == 1) {
    std::string list = "Guides; `rharness help guide NAME` prints one:\n";
    for (const auto& [name, text] : kGuideFiles) {
      list += fmt::format("\n  {:<13} {}", name, TitleOf(text));
    }
    return list;
  }
  std::vector<std::string> names;
  for (const auto& [name, text] : kGuideFiles) {
    if (words.size() == 2 && name == words[1]) return std::string(text);
    names.emplace_back(name);
  }
  return NotFound(fmt::format("no guide '{}'; expected one of {}", TerminalSafe(words[1]),
                              fmt::join(names, ", ")));
}

// Names of topics go before those of verbs; no verb has the name of a topic.
Result<std::string> TextOf(Command& root, const ProgramFacts& program,
                           const std::vector<std::string>& words) {
  const std::vector<HelpTopic> topics = HelpTopics(root);
  if (!words.empty() && words.front() == "guide") return GuideText(words);
  // "exit codes" is "exit-codes"; the words of a verb are its path.
  const std::string typed = fmt::format("{}", fmt::join(words, "-"));
  if (words.size() == 1 || std::ranges::count(topics, TopicOf(typed), &HelpTopic::name) > 0) {
    const auto topic = std::ranges::find(topics, TopicOf(typed), &HelpTopic::name);
    if (topic != topics.end()) {
      return fmt::format("{}: {}\n\n{}", topic->title, topic->summary,
                         Wrap(topic->text, kHelpColumns));
    }
    const bool is_verb = root.Find(typed) != nullptr || !SuccessorOf(typed).empty();
    const auto is_guide = [&](const auto& guide) { return guide.first == typed; };
    if (!is_verb && (typed == "guides" || std::ranges::any_of(kGuideFiles, is_guide))) {
      return typed == "guides" ? GuideText({"guide"}) : GuideText({"guide", typed});
    }
    std::vector<std::string> names;
    std::ranges::transform(topics, std::back_inserter(names), &HelpTopic::name);
    std::vector<std::string> both = root.VerbNames();
    both.insert(both.end(), names.begin(), names.end());
    const std::string nearest = NearestName(typed, both);
    if (!is_verb) {
      return NotFound(fmt::format(
          "'{}' is neither a verb nor a topic{} expected one of {}", TerminalSafe(typed),
          nearest.empty() ? ";" : fmt::format("; did you mean {}?", nearest),
          fmt::join(both, ", ")));
    }
  }
  return HelpOf(root, program, words);
}

}  // namespace

void AddHelp(Command& root, const ProgramFacts& program) {
  auto words = std::make_shared<std::vector<std::string>>();
  Command& verb = root.AddVerb("help", "Show the help of a verb, a topic or a guide");
  std::vector<std::string> names = root.VerbNames();
  std::string topics = "Topics:";
  for (const HelpTopic& topic : HelpTopics(root)) {
    names.push_back(topic.name);
    topics += fmt::format("\n  {:<27} {}", topic.name, topic.summary);
  }
  verb.Add("topic", words.get(), "A verb such as `history add`, or one of the topics below")
      .Offer(std::move(names));
  names.emplace_back("guide");
  topics += fmt::format("\n  {:<27} {}", "guide", "the guides by task; `guide NAME` prints one");
  verb.Note(topics);
  verb.Example("rharness help drill");
  verb.Example("rharness help select");
  verb.Do([words, &root, &program] {
    const auto text = TextOf(root, program, *words);
    return text.ok() ? Print(*text) : FailWith(text.error());
  });
}

}  // namespace rharness
