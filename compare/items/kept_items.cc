// Items as JSON Lines of our own.
#include "compare/items/kept_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/curves/printed_number.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

constexpr std::size_t kMostKeptLine = std::size_t{1} << 20;

std::string Quoted(const std::string& text) { return Json(text).Dump(); }

std::string NumberOf(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0.0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);
}

std::string LineOf(const std::string& task, const std::string& id, const EvalItem& item) {
  std::string line = fmt::format(R"({{"task":{},"id":{},"scores":{{)", Quoted(task), Quoted(id));
  std::string_view separator;
  for (const auto& [name, value] : item.scores) {
    line += fmt::format("{}{}:{}", std::exchange(separator, ","), Quoted(name), NumberOf(value));
  }
  line += "}";
  for (const auto& [name, value] : {std::pair{"cluster", &item.cluster},
                                    {"prompt", &item.prompt},
                                    {"arguments", &item.arguments},
                                    {"target", &item.target},
                                    {"answer", &item.answer}}) {
    if (!value->empty()) line += fmt::format(R"(,"{}":{})", name, Quoted(*value));
  }
  return line + "}\n";
}

Result<std::string> TextAt(const Json& line, std::string_view member) {
  const Json* value = line.Find(member);
  if (value == nullptr) return std::string();
  if (value->kind() == Json::Kind::kString) return value->AsString();
  return InvalidInput(fmt::format("'{}' is {}; expected a string", member, value->KindName()));
}

Status ReadKeptItem(const Json& line, EvalItems* items) {
  const Json* scores = line.IsObject() ? line.Find("scores") : nullptr;
  if (scores == nullptr || !scores->IsObject()) {
    return InvalidInput("expected an object with an object 'scores'");
  }
  EvalItem item;
  for (const auto& [name, value] : scores->AsObject()) {
    const auto number = PrintedOf(value);
    if (!number) return InvalidInput(fmt::format("a score is {}", value.KindName()));
    item.scores[name] = number->value;
  }
  ASSIGN_OR_RETURN(const std::string task, TextAt(line, "task"));
  ASSIGN_OR_RETURN(const std::string id, TextAt(line, "id"));
  ASSIGN_OR_RETURN(item.cluster, TextAt(line, "cluster"));
  ASSIGN_OR_RETURN(item.prompt, TextAt(line, "prompt"));
  ASSIGN_OR_RETURN(item.arguments, TextAt(line, "arguments"));
  ASSIGN_OR_RETURN(item.target, TextAt(line, "target"));
  ASSIGN_OR_RETURN(item.answer, TextAt(line, "answer"));
  items->tasks[task].insert_or_assign(id, std::move(item));
  return {};
}

Status ReadKeptFacts(const Json& line, EvalItems* items) {
  const Json* facts = line.IsObject() ? line.Find("facts") : nullptr;
  if (facts == nullptr || !facts->IsObject()) {
    return InvalidInput("expected an object with an object 'facts'");
  }
  for (const auto& [key, value] : facts->AsObject()) {
    if (value.kind() != Json::Kind::kString) return InvalidInput("a fact is no string");
    items->facts.push_back({Layer::kData, key, value.AsString(), FactWeight::kIdentity});
  }
  return {};
}

}  // namespace

std::string KeptTextOf(const EvalItems& items) {
  std::map<std::string, std::string> facts;
  for (const Fact& fact : items.facts) {
    if (fact.weight == FactWeight::kIdentity && fact.value) facts[fact.key] = *fact.value;
  }
  std::string text = R"({"facts":{)";
  std::string_view separator;
  for (const auto& [key, value] : facts) {
    text += fmt::format("{}{}:{}", std::exchange(separator, ","), Quoted(key), Quoted(value));
  }
  text += "}}\n";
  for (const auto& [task, each] : items.tasks) {
    for (const auto& [id, item] : each) text += LineOf(task, id, item);
  }
  return text;
}

Result<EvalItems> ParseKeptItems(std::string_view text, std::string_view where) {
  EvalItems items;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string at = fmt::format("{}: line {}", where, number);
    if (line.size() > kMostKeptLine) return InvalidInput("the line is too long", at);
    ASSIGN_OR_RETURN(const Json json, ParseJsonWithNonFinite(line, at));
    const Status read = number == 1 ? ReadKeptFacts(json, &items) : ReadKeptItem(json, &items);
    if (!read.ok()) return InvalidInput(read.error().message, at);
  }
  if (items.tasks.empty()) return InvalidInput("holds no item", std::string(where));
  return items;
}

std::map<std::string, double> MeansOf(const EvalItems& items) {
  std::map<std::string, std::pair<double, double>> sums;
  for (const auto& [task, each] : items.tasks) {
    for (const auto& [id, item] : each) {
      for (const auto& [score, value] : item.scores) {
        if (!std::isfinite(value)) continue;
        auto& [sum, count] = sums[task.empty() ? score : task + "/" + score];
        sum += value;
        count += 1.0;
      }
    }
  }
  std::map<std::string, double> means;
  for (const auto& [name, one] : sums) means[name] = one.first / one.second;
  return means;
}

}  // namespace rharness
