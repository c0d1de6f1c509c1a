// One table of the commands, written down for each shell.
#include "harness/cli/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace rharness {
namespace {

struct Place {
  std::string path;  // "rharness history add"
  const Command* command;
  std::vector<const OptionFacts*> options;  // of the command, and of the whole program
  const OptionFacts* positional = nullptr;  // the last one: it may be repeated
};

void CollectPlaces(const Command& command, const std::string& above,
                   const std::vector<const OptionFacts*>& everywhere, std::vector<Place>* places) {
  Place place{above + command.name(), &command, {}, nullptr};
  for (const auto& option : command.options()) {
    if (option->facts().IsPositional()) {
      place.positional = &option->facts();
    } else {
      place.options.push_back(&option->facts());
    }
  }
  for (const OptionFacts* option : everywhere) {
    if (std::ranges::find(place.options, option) == place.options.end()) {
      place.options.push_back(option);
    }
  }
  places->push_back(place);
  for (const auto& verb : command.verbs()) {
    if (!verb->hidden()) CollectPlaces(*verb, place.path + " ", everywhere, places);
  }
}

std::vector<Place> PlacesOf(const Command& root, const std::vector<OptionFacts>& builtin) {
  std::vector<const OptionFacts*> everywhere;
  for (const auto& option : root.options()) everywhere.push_back(&option->facts());
  for (const OptionFacts& option : builtin) everywhere.push_back(&option);
  std::vector<Place> places;
  CollectPlaces(root, "", everywhere, &places);
  return places;
}

// What is written in single quotes, in every of the three shells.
std::string Quoted(std::string_view text, std::string_view quote = "'\\''") {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += quote;
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// The words of a shell function's name.
std::string FunctionOf(std::string path) {
  std::ranges::replace_if(
      path, [](char c) { return c == ' ' || c == '-'; }, '_');
  return "_" + path;
}

std::string BashValue(const OptionFacts& option) {
  if (!option.choices.empty()) {
    return fmt::format("COMPREPLY=($(compgen -W {} -- \"$current\"))",
                       Quoted(fmt::format("{}", fmt::join(option.choices, " "))));
  }
  switch (option.completes) {
    case Completes::kFiles:
      return "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "
             "\"$current\")";
    case Completes::kFolders:
      return "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "
             "\"$current\")";
    case Completes::kNothing:
      return "COMPREPLY=()";
  }
  return "";
}

std::string Words(const Place& place) {
  std::string words;
  for (const OptionFacts* option : place.options) {
    for (const std::string& name : option->Names()) words += (words.empty() ? "" : " ") + name;
  }
  return words;
}

constexpr char kBashEnd[] = R"(  esac
}

_@NAME@() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local path=@PROGRAM@ before= word i
  COMPREPLY=()
  # "--option=value" is three words here.
  if [ "$current" = = ]; then
    current=
  elif [ "$previous" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [ "$word" = -- ]; then
      compopt -o default 2>/dev/null
      return
    fi
    _@NAME@_takes_value "$path $before" || case " ${_@NAME@_places[*]} " in
      *" ${path// /_}_$word "*) path="$path $word" ;;
    esac
    before=$word
  done
  _@NAME@_complete
}
complete -F _@NAME@ @PROGRAM@
)";

std::string Replaced(std::string text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// The commands as words without blanks, and the options that a value follows.
std::string BashTables(const std::vector<Place>& places, const std::string& function) {
  std::string known;
  std::string valued;
  for (const Place& place : places) {
    known += " " + Replaced(place.path, " ", "_");
    for (const OptionFacts* option : place.options) {
      if (option->IsFlag()) continue;
      for (const std::string& name : option->Names()) {
        valued +=
            fmt::format("{}\"{} {}\"", valued.empty() ? "    " : " | \\\n    ", place.path, name);
      }
    }
  }
  return fmt::format(
      "{0}_places=({1})\n\n{0}_takes_value() {{\n  case $1 in\n{2}) return 0 ;;\n  esac\n  return "
      "1\n}}\n\n",
      function, known.substr(1), valued);
}

}  // namespace

std::string BashCompletion(const Command& root, const std::vector<OptionFacts>& everywhere) {
  const std::vector<Place> places = PlacesOf(root, everywhere);
  const std::string function = FunctionOf(root.name());
  std::string text = fmt::format("# bash completion for {}\n\n", root.name()) +
                     BashTables(places, function) + function +
                     "_complete() {\n  case \"$path $previous\" in\n";
  for (const Place& place : places) {
    for (const OptionFacts* option : place.options) {
      if (option->IsFlag()) continue;
      for (const std::string& name : option->Names()) {
        text += fmt::format("    \"{} {}\") {}; return ;;\n", place.path, name, BashValue(*option));
      }
    }
  }
  text += "  esac\n  case $path in\n";
  for (const Place& place : places) {
    text += fmt::format(
        "    \"{}\")\n      case $current in\n"
        "        -*) COMPREPLY=($(compgen -W {} -- \"$current\")) ;;\n        *) {} ;;\n      esac "
        ";;\n",
        place.path, Quoted(Words(place)),
        !place.command->verbs().empty()
            ? fmt::format("COMPREPLY=($(compgen -W {} -- \"$current\"))",
                          Quoted(fmt::format("{}", fmt::join(place.command->VerbNames(), " "))))
        : place.positional != nullptr ? BashValue(*place.positional)
                                      : "COMPREPLY=()");
  }
  return text + Replaced(Replaced(kBashEnd, "@PROGRAM@", root.name()), "_@NAME@", function);
}

namespace {

// In an _arguments specification, a colon ends a part and a bracket the explanation.
std::string ZshEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string ZshAction(const OptionFacts& option) {
  if (!option.choices.empty()) return fmt::format("({})", fmt::join(option.choices, " "));
  switch (option.completes) {
    case Completes::kFiles:
      return "_files";
    case Completes::kFolders:
      return "_files -/";
    case Completes::kNothing:
      return " ";
  }
  return "";
}

std::string ZshOption(const OptionFacts& option) {
  std::string lines;
  const std::vector<std::string> names = option.Names();
  for (const std::string& name : names) {
    const std::string others =
        option.IsRepeatable() ? "*" : fmt::format("({})", fmt::join(names, " "));
    std::string spec = fmt::format("{}{}{}[{}]", others, name,
                                   option.IsFlag() ? "" : (name.starts_with("--") ? "=" : "+"),
                                   ZshEscaped(option.help));
    if (!option.IsFlag()) {
      spec += fmt::format(":{}:{}", ZshEscaped(option.ValueWord()), ZshAction(option));
    }
    lines += fmt::format("    {} \\\n", Quoted(spec));
  }
  return lines;
}

std::string ZshFunction(const Place& place) {
  const std::string name = FunctionOf(place.path);
  std::string text = name + "() {\n";
  if (place.command->verbs().empty()) {
    text += "  _arguments -s -S \\\n";
  } else {
    text += "  local state line\n  local -a verbs\n  _arguments -s -S -C \\\n";
  }
  for (const OptionFacts* option : place.options) text += ZshOption(*option);
  if (place.command->verbs().empty()) {
    return text +
           fmt::format("    {}\n}}\n\n",
                       Quoted(place.positional == nullptr
                                  ? std::string("*: : ")
                                  : fmt::format("*:{}:{}", ZshEscaped(place.positional->names),
                                                ZshAction(*place.positional))));
  }
  text += "    '1: :->verb' '*:: :->rest'\n  case $state in\n    verb)\n      verbs=(\n";
  for (const auto& verb : place.command->verbs()) {
    if (verb->hidden()) continue;
    text += fmt::format("        {}\n", Quoted(verb->name() + ":" + ZshEscaped(verb->summary())));
  }
  text += "      )\n      _describe -t verbs verb verbs ;;\n    rest)\n      case $words[1] in\n";
  for (const std::string& verb : place.command->VerbNames()) {
    text += fmt::format("        {}) {}_{} ;;\n", verb, name, verb);
  }
  return text + "      esac ;;\n  esac\n}\n\n";
}

// The path without the program: "history add".
std::string Below(const Place& place) {
  const std::size_t blank = place.path.find(' ');
  return blank == std::string::npos ? "" : place.path.substr(blank + 1);
}

std::string FishOption(const std::string& program, const std::string& at,
                       const OptionFacts& option) {
  std::string line = fmt::format("complete -c {} -n {}", program, at);
  for (const std::string& name : option.Names()) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.IsFlag()) line += " -r";
  if (!option.choices.empty()) {
    line += " -f -a " + Quoted(fmt::format("{}", fmt::join(option.choices, " ")), "\\'");
  } else if (option.completes == Completes::kFolders) {
    line += " -f -a '(__fish_complete_directories)'";
  } else if (option.completes == Completes::kFiles) {
    line += " -F";
  } else {
    line += " -f";
  }
  return line + " -d " + Quoted(option.help, "\\'") + "\n";
}

constexpr char kFishStart[] = R"(# fish completion for @PROGRAM@

# True when the verbs on the command line so far are these.
function __@PROGRAM@_at
    set -l path
    set -l words (commandline -opc)
    for word in $words[2..-1]
        set -l longer (string trim "$path $word")
        if contains -- "$longer" @PLACES@
            set path $longer
        end
    end
    test "$path" = "$argv"
end

complete -c @PROGRAM@ -f
)";

}  // namespace

std::string ZshCompletion(const Command& root, const std::vector<OptionFacts>& everywhere) {
  std::string text = fmt::format("#compdef {}\n\n", root.name());
  for (const Place& place : PlacesOf(root, everywhere)) text += ZshFunction(place);
  // Autoloaded, the file is the body of the function: it defines and calls.
  return text + fmt::format("{} \"$@\"\n", FunctionOf(root.name()));
}

std::string FishCompletion(const Command& root, const std::vector<OptionFacts>& everywhere) {
  const std::vector<Place> places = PlacesOf(root, everywhere);
  std::string known;
  std::string lines;
  for (const Place& place : places) {
    const std::string below = Below(place);
    if (!below.empty()) known += " " + Quoted(below, "\\'");
    const std::string at = Quoted(fmt::format("__{}_at {}", root.name(), below), "\\'");
    for (const auto& verb : place.command->verbs()) {
      if (verb->hidden()) continue;
      lines += fmt::format("complete -c {} -n {} -a {} -d {}\n", root.name(), at, verb->name(),
                           Quoted(verb->summary(), "\\'"));
    }
    if (place.positional != nullptr) {
      const OptionFacts& positional = *place.positional;
      if (!positional.choices.empty()) {
        lines += fmt::format("complete -c {} -n {} -a {}\n", root.name(), at,
                             Quoted(fmt::format("{}", fmt::join(positional.choices, " ")), "\\'"));
      } else if (positional.completes != Completes::kNothing) {
        lines += fmt::format("complete -c {} -n {} -F\n", root.name(), at);
      }
    }
    for (const OptionFacts* option : place.options) {
      lines += FishOption(root.name(), at, *option);
    }
  }
  return Replaced(Replaced(kFishStart, "@PROGRAM@", root.name()), "@PLACES@",
                  known.empty() ? "''" : known.substr(1)) +
         "\n" + lines;
}

}  // namespace rharness
