// Options that name a place to meet, and where a command has them.
#include "harness/records/manifest/meeting_options.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace rharness {
namespace {

constexpr std::array<std::pair<std::string_view, MeetingOption>, 10> kMeetingOptions = {{
    {"--master_addr", MeetingOption::kAddress},
    {"--main_process_ip", MeetingOption::kAddress},
    {"--master_port", MeetingOption::kPort},
    {"--main_process_port", MeetingOption::kPort},
    {"--rdzv_endpoint", MeetingOption::kEndpoint},
    {"--dist_url", MeetingOption::kEndpoint},
    {"--node_rank", MeetingOption::kNode},
    {"--machine_rank", MeetingOption::kNode},
    {"--rdzv_id", MeetingOption::kId},
    {"--local_addr", MeetingOption::kOwnAddress},
}};

// A launcher whose own options stand before the program.
struct Launcher {
  std::string_view name;
  std::span<const std::string_view> places;  // options with hosts or a job behind them
  std::span<const std::string_view> alone;   // options without a value
};
constexpr std::array<std::string_view, 8> kMpiPlaces = {
    "-H", "-host", "--host", "-hosts", "-hostfile", "--hostfile", "-machinefile", "--machinefile"};
constexpr std::array<std::string_view, 12> kMpiAlone = {
    "--oversubscribe", "-oversubscribe",   "--allow-run-as-root", "--tag-output", "-tag-output",
    "--bynode",        "--bind-to-core",   "--report-bindings",   "-q",           "-v",
    "--display-map",   "--nooversubscribe"};
constexpr std::array<std::string_view, 3> kSrunPlaces = {"-w", "--nodelist", "--jobid"};
constexpr std::array<std::string_view, 12> kSrunAlone = {
    "-l", "--label",   "-u", "--unbuffered", "-v",          "--verbose",
    "-Q", "--overlap", "-O", "--overcommit", "--exclusive", "--exact"};
constexpr std::array<Launcher, 5> kLaunchers = {{{"mpirun", kMpiPlaces, kMpiAlone},
                                                 {"mpiexec", kMpiPlaces, kMpiAlone},
                                                 {"orterun", kMpiPlaces, kMpiAlone},
                                                 {"prterun", kMpiPlaces, kMpiAlone},
                                                 {"srun", kSrunPlaces, kSrunAlone}}};

bool IsIn(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// How many values follow an option that has none in itself.
std::size_t ValuesOf(const Launcher& launcher, std::string_view option) {
  if (option.find('=') != option.npos || IsIn(launcher.alone, option)) return 0;
  if (option.ends_with("-mca")) return 2;  // --mca NAME VALUE, --gmca likewise
  // "-wn1", "-N2": srun's short options have their values in them.
  const bool joined = launcher.name == "srun" && option.size() > 2 && option[1] != '-';
  return joined ? 0 : 1;
}

std::optional<MeetingValue> PlaceIn(const Launcher& launcher, std::size_t at,
                                    const std::vector<std::string>& command) {
  const std::string_view text = command[at];
  const auto equals = text.find('=');
  if (equals != text.npos && IsIn(launcher.places, text.substr(0, equals))) {
    return MeetingValue{at, std::string(text.substr(0, equals + 1))};
  }
  if (IsIn(launcher.places, text) && at + 1 < command.size()) return MeetingValue{at + 1, ""};
  const bool joined = launcher.name == "srun" && text.starts_with("-w") && text.size() > 2;
  if (joined) return MeetingValue{at, "-w"};
  return std::nullopt;
}

void AddLauncherPlaces(const std::vector<std::string>& command, std::vector<MeetingValue>* out) {
  if (command.empty()) return;
  const std::string_view program = std::string_view(command[0]);
  const std::string_view name = program.substr(program.rfind('/') + 1);
  const auto* launcher = std::ranges::find(kLaunchers, name, &Launcher::name);
  if (launcher == kLaunchers.end()) return;
  for (std::size_t i = 1; i < command.size() && command[i].starts_with('-'); ++i) {
    if (command[i] == "--") return;
    if (auto place = PlaceIn(*launcher, i, command)) out->push_back(std::move(*place));
    i += ValuesOf(*launcher, command[i]);
  }
}

}  // namespace

std::optional<MeetingOption> MeetingOptionOf(std::string_view name) {
  if (!name.starts_with("--")) return std::nullopt;
  std::string plain(name);
  std::replace(plain.begin() + 2, plain.end(), '-', '_');
  const auto* found = std::ranges::find(kMeetingOptions, std::string_view(plain),
                                        &std::pair<std::string_view, MeetingOption>::first);
  return found == kMeetingOptions.end() ? std::nullopt : std::optional(found->second);
}

std::vector<MeetingValue> MeetingValuesIn(const std::vector<std::string>& command) {
  std::vector<MeetingValue> values;
  AddLauncherPlaces(command, &values);
  for (std::size_t i = 0; i < command.size(); ++i) {
    const auto equals = command[i].find('=');
    if (!MeetingOptionOf(std::string_view(command[i]).substr(0, equals))) continue;
    if (equals != std::string::npos) {
      values.push_back({i, command[i].substr(0, equals + 1)});
    } else if (i + 1 < command.size()) {
      values.push_back({++i, ""});
    }
  }
  return values;
}

}  // namespace rharness
