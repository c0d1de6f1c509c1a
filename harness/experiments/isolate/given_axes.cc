// Requested axes: their text, and their meaning for a record.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "harness/base/digest.h"
#include "harness/experiments/isolate/axes.h"
#include "harness/judge/gang_facts.h"
#include "harness/records/manifest/command_arguments.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr const char* kOption = "--axis";

Error Refuse(const GivenAxis& given, const std::string& why) {
  return InvalidInput(fmt::format("'{}': {}", SafeText(given.text, 200), why), kOption);
}

// Where a text has it last; -1: nowhere.
std::ptrdiff_t PartAt(const std::string& text, std::string_view part) {
  const auto at = text.rfind(part);
  return at == text.npos ? -1 : static_cast<std::ptrdiff_t>(at);
}

bool IsOfParts(const std::string& kind) {
  return kind == "env" || kind == "argument" || kind == "seed" || kind == "hyperparameter";
}

std::vector<std::string> Split(const std::string& text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Axis StartAxis(AxisKind kind, Layer layer, std::string name, AxisValue recorded) {
  Axis axis{.kind = kind, .layer = layer, .name = std::move(name)};
  axis.values.push_back(std::move(recorded));
  return axis;
}

Result<Axis> VariableAxis(const Manifest& recorded, const GivenAxis& given) {
  if (!IsVariableName(given.name)) {
    return Refuse(given, "no name of a variable; expected letters, digits and '_'");
  }
  const auto then = recorded.environment.variables.find(given.name);
  const std::optional<std::string> before =
      then == recorded.environment.variables.end() ? std::nullopt : then->second;
  if (before && IsWithheld(*before)) {
    return Refuse(given, "its recorded value was withheld from the record");
  }
  Axis axis = StartAxis(AxisKind::kVariable, Layer::kEnvironment, "env:" + given.name,
                        {.text = before.value_or("(unset)"), .setting = before});
  axis.subject = given.name;
  const std::optional<std::string> after =
      given.values.empty() ? std::nullopt : std::optional(given.values.front());
  axis.values.push_back({.text = after.value_or("(unset)"), .setting = after});
  if (before == after) return Refuse(given, "is what was recorded");
  return axis;
}

Result<Axis> ArgumentAxis(const Manifest& recorded, const GivenAxis& given) {
  const auto found = FindArgument(recorded.command, given.name);
  if (!found) {
    const std::vector<std::string> options = OptionsOf(recorded.command);
    if (options.empty()) return Refuse(given, "the command has no options");
    return Refuse(given, fmt::format("the command has no such argument; its options are: {}",
                                     SafeText(fmt::format("{}", fmt::join(options, ", ")))));
  }
  Axis axis =
      StartAxis(AxisKind::kArgument, given.kind == "seed" ? Layer::kRandomness : Layer::kCode,
                "argument:" + ArgumentName(recorded.command, found->argument),
                {.text = found->prefix + found->value, .setting = found->prefix + found->value});
  axis.subject = given.name;
  axis.argument = found->argument;
  // "0.9,0.999" is one value, and so is its replacement.
  const bool is_list = found->value.find(',') != found->value.npos;
  const std::vector<std::string> whole = {fmt::format("{}", fmt::join(given.values, ","))};
  for (const std::string& value : is_list ? whole : given.values) {
    const std::string text = found->prefix + value;
    if (text == axis.values.back().text) return Refuse(given, "has one value twice in a row");
    axis.values.push_back({.text = text, .setting = text});
  }
  return axis;
}

Result<Axis> CommitAxis(const Manifest& recorded, const GivenAxis& given) {
  const std::string& own = recorded.code.commit;
  if (own.empty()) return Refuse(given, "the record has no commit");
  Axis axis = StartAxis(AxisKind::kCode, Layer::kCode, "commit",
                        {.text = own, .code = recorded.code, .kept = recorded.kept});
  std::vector<std::string> commits = given.values;
  const auto range = commits.size() == 1 ? commits.front().find("..") : std::string::npos;
  if (range != std::string::npos) {
    const std::string good = commits.front().substr(0, range);
    if (good.size() < 7 || !own.starts_with(good)) {
      return Refuse(given, fmt::format("begins at another commit than the recorded {}", own));
    }
    commits = {commits.front().substr(range + 2)};
  }
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  for (const std::string& commit : commits) {
    if ((commit.size() != 40 && commit.size() != 64) || !std::ranges::all_of(commit, hex)) {
      return Refuse(given, "expected commits as 40 or 64 hex digits");
    }
    if (commit == axis.values.back().text) return Refuse(given, "has one commit twice in a row");
    Code code = recorded.code;
    code.commit = commit;
    code.files.clear();
    code.dirty = false;
    code.diff_sha256 = code.kept_diff_sha256 = "";
    axis.values.push_back({.text = commit, .code = std::move(code), .kept = recorded.kept});
  }
  axis.chain_may_be_found = commits.size() == 1;
  return axis;
}

Result<Axis> DataAxis(const Manifest& recorded, const GivenAxis& given) {
  const auto item = std::ranges::find(recorded.data, given.name, &DataItem::name);
  if (item == recorded.data.end()) {
    std::vector<std::string> names;
    for (const DataItem& one : recorded.data) names.push_back(one.name);
    return Refuse(given, fmt::format("the record has no such data; it has: {}",
                                     SafeText(fmt::format("{}", fmt::join(names, ", ")))));
  }
  Axis axis = StartAxis(AxisKind::kData, Layer::kData, "data:" + given.name,
                        {.text = item->sha256, .data = *item});
  axis.subject = given.name;
  for (const std::string& value : given.values) {
    const auto at = value.find('@');
    DataItem other = *item;
    other.sha256 = value.substr(0, at);
    if (!IsSha256Hex(other.sha256)) return Refuse(given, "expected SHA256 or SHA256@LOCATION");
    if (at != value.npos) other.location = value.substr(at + 1);
    if (other.sha256 == axis.values.back().text) return Refuse(given, "is what was recorded");
    other.size_bytes = 0;  // filled in by the code that reads its location
    other.source.clear();
    other.other_digest.clear();
    axis.values.push_back({.text = other.sha256, .data = std::move(other)});
  }
  return axis;
}

Result<Axis> ImageAxis(const Manifest& recorded, const GivenAxis& given) {
  Axis axis =
      StartAxis(AxisKind::kImage, Layer::kEnvironment, "image",
                {.text = recorded.image.kind == ImageKind::kHost ? "host" : recorded.image.digest,
                 .image = recorded.image});
  for (const Image& image : given.images) {
    if (image.digest == axis.values.back().image.digest) {
      return Refuse(given, "has one image twice in a row");
    }
    axis.values.push_back({.text = image.digest, .image = image});
  }
  return axis;
}

// Environments, such as one for each version of a library; with the recorded one first.
Result<Axis> PythonAxis(const Manifest& recorded, const GivenAxis& given) {
  if (recorded.image.kind != ImageKind::kHost) {
    return Refuse(given, "the run was recorded in an image, which has a Python of its own");
  }
  const auto& own = recorded.environment.python;
  Axis axis = StartAxis(AxisKind::kPython, Layer::kEnvironment, "python",
                        {.text = own ? own->prefix : "(not recorded)"});
  for (const std::string& folder : given.values) {
    if (folder.front() != '/') return Refuse(given, "expected absolute paths of environments");
    if (folder == axis.values.back().text) {
      return Refuse(given, "has one environment twice in a row");
    }
    axis.values.push_back({.text = folder, .setting = folder});
  }
  return axis;
}

Result<Axis> CpusAxis(const Manifest& recorded, const GivenAxis& given) {
  Axis axis = StartAxis(
      AxisKind::kCpus, Layer::kEnvironment, "cpus",
      {.text = std::to_string(recorded.resources.cpus), .number = recorded.resources.cpus});
  for (const std::string& value : given.values) {
    int number = 0;
    const char* end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || number < 1 || number > 100000) {
      return Refuse(given, "expected a number of CPUs from 1 to 100000");
    }
    if (number == axis.values.back().number) return Refuse(given, "is what was recorded");
    axis.values.push_back({.text = value, .number = number});
  }
  return axis;
}

// Of a gang as many as it has nodes, in the order of their numbers, unless its command starts the
// ranks itself, and so numbers them.
Result<Axis> NodeAxis(const Manifest& recorded, const GivenAxis& given) {
  const std::vector<std::string> nodes = Split(given.values.front(), ',');
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.'; };
  const auto is_name = [&](const std::string& node) {
    return !node.empty() && node.front() != '-' && std::ranges::all_of(node, fits);
  };
  const auto wanted = static_cast<std::size_t>(recorded.gang ? recorded.gang->nodes : 1);
  const std::set<std::string> different(nodes.begin(), nodes.end());
  if (nodes.size() != wanted || different.size() != wanted ||
      !std::ranges::all_of(nodes, is_name)) {
    return Refuse(given, wanted == 1 ? "expected the name of a node"
                                     : fmt::format("expected the names of {} nodes", wanted));
  }
  std::vector<std::string> hosts;
  for (std::size_t i = 0; recorded.gang && i < recorded.gang->parts.nodes.size(); ++i) {
    hosts.push_back(recorded.gang->parts.nodes[i].host);
  }
  if (hosts == nodes) return Refuse(given, "is what was recorded");
  const bool is_once = recorded.gang && recorded.gang->start == GangStart::kOnce;
  if (is_once && std::set(hosts.begin(), hosts.end()) == different) {
    return Refuse(
        given,
        "are the recorded ones in another order: the command starts its ranks itself, and "
        "so numbers their nodes");
  }
  Axis axis = StartAxis(AxisKind::kNode, Layer::kHardware, "node", {.text = "any"});
  axis.values.push_back({.text = given.values.front(), .setting = given.values.front()});
  return axis;
}

// The tasks of " on rank 3" or " on node 1". Errors: the record has no such part, or its command
// starts them itself.
Result<std::vector<int>> RanksOf(const Manifest& recorded, const GivenAxis& given) {
  if (!recorded.gang) return Refuse(given, "the run has no ranks: it was recorded as one process");
  const Gang& gang = *recorded.gang;
  if (gang.start == GangStart::kOnce) {
    return Refuse(given, "the command starts its ranks itself: a rerun cannot set one of them");
  }
  const bool is_node = given.part.starts_with(kOnNode);
  const int each = gang.starts_on(0);
  const int parts = is_node ? gang.nodes : gang.starts();
  int number = -1;
  const char* end = given.part.data() + given.part.size();
  const auto read = std::from_chars(given.part.data() + kOnNode.size(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number < 0 || number >= parts) {
    return Refuse(given,
                  fmt::format("expected a {} from 0 to {}", is_node ? "node" : "rank", parts - 1));
  }
  if (!is_node) return std::vector{number};
  std::vector<int> ranks;
  for (int i = 0; i < each; ++i) ranks.push_back(number * each + i);
  return ranks;
}

struct GivenKind {
  bool named = true;   // KIND:NAME=VALUE
  bool chain = false;  // several values, between commas
  std::function<Result<Axis>(const Manifest&, const GivenAxis&)> make;
};

const std::map<std::string, GivenKind>& GivenKinds() {
  static const std::map<std::string, GivenKind> kinds = {
      {"env", {true, false, VariableAxis}},  {"argument", {true, true, ArgumentAxis}},
      {"seed", {true, false, ArgumentAxis}}, {"hyperparameter", {true, true, ArgumentAxis}},
      {"commit", {false, true, CommitAxis}}, {"data", {true, true, DataAxis}},
      {"image", {false, true, ImageAxis}},   {"python", {false, true, PythonAxis}},
      {"cpus", {false, true, CpusAxis}},     {"node", {false, false, NodeAxis}}};
  return kinds;
}

bool SameValues(const Axis& a, const Axis& b) {
  return std::ranges::equal(a.values, b.values, {}, &AxisValue::text, &AxisValue::text);
}

}  // namespace

Result<GivenAxis> ParseGivenAxis(const std::string& text, const ParseImageText& parse_image) {
  GivenAxis given{.text = text};
  const auto colon = text.find(':');
  given.kind = text.substr(0, colon);
  const auto kind = GivenKinds().find(given.kind);
  if (colon == text.npos || kind == GivenKinds().end()) {
    std::vector<std::string> names;
    for (const auto& [name, one] : GivenKinds()) names.push_back(name + ":");
    return Refuse(given,
                  fmt::format("expected one of {} and what it is set to", fmt::join(names, ", ")));
  }
  if (text.find_first_of(std::string("\n\r\0", 3)) != text.npos) {
    return Refuse(given, "has a line break or a NUL");
  }
  std::string rest = text.substr(colon + 1);
  const auto part = std::max(PartAt(rest, kOnRank), PartAt(rest, kOnNode));
  const bool has_parts = IsOfParts(given.kind);
  if (part > 0 && has_parts) {
    given.part = rest.substr(static_cast<std::size_t>(part));
    rest.resize(static_cast<std::size_t>(part));
  }
  if (kind->second.named) {
    const auto equals = rest.find('=');
    given.name = rest.substr(0, equals);
    if (given.name.empty()) return Refuse(given, "expected a name behind the colon");
    if (equals == rest.npos) {
      if (given.kind == "env") return given;
      return Refuse(given, "expected NAME=VALUE");
    }
    rest = rest.substr(equals + 1);
  }
  given.values = kind->second.chain ? Split(rest, ',') : std::vector{rest};
  const auto empty = [](const std::string& value) { return value.empty(); };
  if (given.kind != "env" && std::ranges::any_of(given.values, empty)) {
    return Refuse(given, "has an empty value");
  }
  for (std::size_t i = 0; given.kind == "image" && i < given.values.size(); ++i) {
    ASSIGN_OR_RETURN(Image image, parse_image(given.values[i]));
    given.images.push_back(std::move(image));
  }
  return given;
}

Status AddGivenAxis(const Manifest& recorded, const GivenAxis& given, std::vector<Axis>* axes) {
  ASSIGN_OR_RETURN(Axis axis, GivenKinds().at(given.kind).make(recorded, given));
  axis.asked_for = true;
  if (!given.part.empty()) {
    ASSIGN_OR_RETURN(axis.ranks, RanksOf(recorded, given));
    axis.name += given.part;
  }
  const auto same = std::ranges::find(*axes, axis.name, &Axis::name);
  if (same == axes->end()) {
    axes->push_back(std::move(axis));
    return {};
  }
  if (same->asked_for && !SameValues(*same, axis)) {
    return Refuse(given, fmt::format("{} was given another value before", axis.name));
  }
  *same = std::move(axis);
  return {};
}

void SetChain(const std::vector<std::string>& between, Axis* axis) {
  const AxisValue last = axis->values.back();
  axis->values.resize(1);
  for (const std::string& commit : between) {
    Code code = axis->values.front().code;
    code.commit = commit;
    code.files.clear();
    code.dirty = false;
    code.diff_sha256 = code.kept_diff_sha256 = "";
    axis->values.push_back({.text = commit, .code = std::move(code), .kept = last.kept});
  }
  // The last position is the original drifted side, with its changes of the work tree.
  if (!last.code.dirty && last.code.files.empty() && axis->values.back().text == last.code.commit) {
    axis->values.pop_back();
  }
  axis->values.push_back(last);
  axis->chain_may_be_found = false;
}

}  // namespace rharness
