// A pickle's root object and its members; nothing is imported or called.
// Source: Python's pickle protocol 2 as copyreg.__newobj__ writes objects, and enum.Enum, which
// pickles a member as its class called with its value.
#include "harness/records/intake/training_args.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "compare/weights/input_file.h"
#include "compare/weights/pickle.h"
#include "compare/weights/zip_archive.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMostPickleBytes = std::uint64_t{16} << 20;
constexpr std::size_t kMostMembers = 4096;

// Empty for anything but a scalar.
std::optional<Json> PickledScalarOf(const Pickle& pickle, PickleId id) {
  switch (pickle.kind(id)) {
    case PickleKind::kBool:
      return Json(pickle.Bool(id));
    case PickleKind::kInt:
      return Json(pickle.Int(id));
    case PickleKind::kFloat:
      return Json(pickle.Float(id));
    case PickleKind::kString:
      return Json(std::string(pickle.Text(id)));
    default:
      return std::nullopt;
  }
}

// SchedulerType("linear") is "linear".
std::optional<Json> PickledMemberOf(const Pickle& pickle, PickleId id) {
  if (pickle.kind(id) != PickleKind::kObject) return PickledScalarOf(pickle, id);
  const auto arguments = pickle.Arguments(id);
  const PickleId callable = pickle.Callable(id);
  const bool known = pickle.kind(callable) == PickleKind::kGlobal &&
                     pickle.GlobalName(callable).starts_with("transformers.");
  if (!known || arguments.size() != 1 || pickle.State(id)) return std::nullopt;
  return PickledScalarOf(pickle, arguments.front());
}

}  // namespace

Result<TrainingArgs> ParseTrainingArgs(std::string bytes, std::string_view where) {
  // No global means anything here.
  constexpr std::array<std::string_view, 1> kGlobals = {"collections OrderedDict"};
  ASSIGN_OR_RETURN(const Pickle pickle, ParsePickle(std::move(bytes), kGlobals, where));
  const auto state = pickle.kind(pickle.root()) == PickleKind::kObject ? pickle.State(pickle.root())
                                                                       : std::optional<PickleId>();
  if (!state || pickle.kind(*state) != PickleKind::kDict) {
    return Unsupported("its pickle is no object with members", std::string(where));
  }
  TrainingArgs args;
  const auto entries = pickle.Entries(*state);
  if (entries.size() > 2 * kMostMembers) {
    return Unsupported(fmt::format("more than {} members", kMostMembers), std::string(where));
  }
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    if (pickle.kind(entries[i]) != PickleKind::kString) continue;
    const std::string name(pickle.Text(entries[i]));
    if (pickle.kind(entries[i + 1]) == PickleKind::kNone) continue;
    if (auto value = PickledMemberOf(pickle, entries[i + 1])) {
      args.members.Set(name, std::move(*value));
    } else {
      args.unread.push_back(name);
    }
  }
  return args;
}

Result<TrainingArgs> ReadTrainingArgs(const HeldFolder& folder, const std::string& relative) {
  ASSIGN_OR_RETURN(HeldFolder second, folder.OpenFolder(""));
  const auto held = std::make_shared<const HeldFolder>(std::move(second));
  ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(held->path() / relative, nullptr, held));
  const auto directory = ReadZipDirectory(file);
  if (!directory.ok()) return directory.error();
  for (const ZipMember& member : directory->members) {
    if (member.name != "data.pkl" && !member.name.ends_with("/data.pkl")) continue;
    ASSIGN_OR_RETURN(std::string pickle, ReadZipMember(file, member, kMostPickleBytes));
    return ParseTrainingArgs(std::move(pickle), relative);
  }
  return Unsupported("the archive holds no data.pkl", relative);
}

}  // namespace rharness
