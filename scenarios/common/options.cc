// Options as a table of flags.
#include "scenarios/common/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace rharness::scenarios {
namespace {

struct Draft {
  Options* options;
  std::optional<std::uint64_t> init_seed;
  std::optional<std::uint64_t> shuffle_seed;
};

// The whole text as a number within [low, high]. A NaN is in no range.
template <typename T>
bool ParseNumber(std::string_view text, T low, T high, T* value) {
  T parsed{};
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (status != std::errc() || stop != text.data() + text.size()) return false;
  if (!(parsed >= low && parsed <= high)) return false;
  *value = parsed;
  return true;
}

bool ParseSeed(std::string_view text, std::optional<std::uint64_t>* seed) {
  std::uint64_t value = 0;
  if (!ParseNumber<std::uint64_t>(text, 0, UINT64_MAX, &value)) return false;
  *seed = value;
  return true;
}

bool SetBothSeeds(std::string_view text, Draft* draft) {
  std::optional<std::uint64_t> seed;
  if (!ParseSeed(text, &seed)) return false;
  draft->options->init_seed = draft->options->shuffle_seed = *seed;
  return true;
}

bool SetPlant(std::string_view text, Draft* draft) {
  const std::optional<Plant> plant = PlantNamed(text);
  if (plant) draft->options->plant = *plant;
  return plant.has_value();
}

bool SetPath(std::string_view text, std::filesystem::path* path) {
  *path = text;
  return !text.empty();
}

struct Flag {
  std::string_view name;
  std::string_view expected;
  bool (*set)(std::string_view, Draft*);
};

constexpr std::array<Flag, 11> kFlags = {{
    {"--data", "a CSV file, or a folder of *.csv shards (required)",
     [](std::string_view text, Draft* d) { return SetPath(text, &d->options->data); }},
    {"--out", "the folder for model.safetensors and metrics.json (default .)",
     [](std::string_view text, Draft* d) { return SetPath(text, &d->options->out); }},
    {"--seed", "an unsigned integer for both streams (default 1)", SetBothSeeds},
    {"--init-seed", "an unsigned integer for the initial weights",
     [](std::string_view text, Draft* d) { return ParseSeed(text, &d->init_seed); }},
    {"--shuffle-seed", "an unsigned integer for the order of the images",
     [](std::string_view text, Draft* d) { return ParseSeed(text, &d->shuffle_seed); }},
    {"--epochs", "an integer 1..100000 (default 15)",
     [](std::string_view text, Draft* d) {
       return ParseNumber<std::size_t>(text, 1, 100'000, &d->options->epochs);
     }},
    {"--batch", "an integer 1..100000 (default 32)",
     [](std::string_view text, Draft* d) {
       return ParseNumber<std::size_t>(text, 1, 100'000, &d->options->batch);
     }},
    {"--hidden", "an integer 1..4096 (default 64)",
     [](std::string_view text, Draft* d) {
       return ParseNumber<std::size_t>(text, 1, 4096, &d->options->hidden);
     }},
    {"--lr", "a learning rate 0..1e6 (default 0.1; 0.02 suits a convolutional network)",
     [](std::string_view text, Draft* d) {
       return ParseNumber<float>(text, 0, 1e6f, &d->options->step.learning_rate);
     }},
    {"--momentum", "a number 0..1 (default 0.9)",
     [](std::string_view text, Draft* d) {
       return ParseNumber<float>(text, 0, 1, &d->options->step.momentum);
     }},
    {"--plant", "a planted fault, one of those below", SetPlant},
}};

// The flag of that name; null when there is none.
template <typename Flags>
auto FlagNamed(const Flags& flags, std::string_view name) {
  const auto flag = std::find_if(flags.begin(), flags.end(),
                                 [name](const auto& candidate) { return candidate.name == name; });
  return flag == flags.end() ? nullptr : &*flag;
}

bool Refuse(std::string_view name, std::string_view expected, std::optional<std::string_view> value,
            std::string* error) {
  *error = fmt::format("{}: expected {}, {}", name, expected,
                       value ? fmt::format("got '{}'", *value) : "got nothing");
  return false;
}

bool ApplyFlag(std::string_view name, std::optional<std::string_view> value,
               std::span<const ExtraFlag> extra, Draft* draft, std::string* error) {
  if (const ExtraFlag* flag = FlagNamed(extra, name)) {
    return (value && flag->set(*value)) || Refuse(name, flag->expected, value, error);
  }
  if (const Flag* flag = FlagNamed(kFlags, name)) {
    return (value && flag->set(*value, draft)) || Refuse(name, flag->expected, value, error);
  }
  *error = fmt::format("unknown option '{}'", name);
  return false;
}

}  // namespace

bool ParseOptions(std::span<char* const> arguments, std::span<const ExtraFlag> extra,
                  Options* options, std::string* error) {
  Draft draft{options, std::nullopt, std::nullopt};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (name == "--help") {
      options->help = true;
      return true;
    }
    const ExtraFlag* own = FlagNamed(extra, name);
    std::optional<std::string_view> value;
    if (own != nullptr && own->is_switch) {
      value = "";
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    }
    if (!ApplyFlag(name, value, extra, &draft, error)) return false;
  }
  if (draft.init_seed) options->init_seed = *draft.init_seed;
  if (draft.shuffle_seed) options->shuffle_seed = *draft.shuffle_seed;
  if (options->data.empty()) *error = fmt::format("--data: expected {}", kFlags[0].expected);
  return !options->data.empty();
}

std::string Usage(const std::string& program, std::span<const ExtraFlag> extra) {
  std::string text = fmt::format("usage: {} --data PATH [OPTION VALUE]...\n", program);
  for (const Flag& flag : kFlags) text += fmt::format("  {:<18} {}\n", flag.name, flag.expected);
  for (const ExtraFlag& flag : extra) {
    text += fmt::format("  {:<18} {}\n", flag.name, flag.expected);
  }
  text += "planted faults:\n";
  for (const PlantInfo& info : AllPlants()) {
    text += fmt::format("  {:<21} {}\n", info.name, info.effect);
  }
  return text;
}

}  // namespace rharness::scenarios
