// Event files folder by folder, tag by tag, into curves.
#include "compare/curves/tensorboard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "compare/curves/curve_builder.h"
#include "compare/curves/curve_readers.h"
#include "compare/curves/event_file.h"
#include "harness/base/source_folder.h"
#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEventName = "tfevents";
constexpr std::size_t kMostRemarks = 20;

// The seconds in "events.out.tfevents.1732770000.host"; 0 without them.
std::uint64_t TimeInName(std::string_view name) {
  const auto at = name.find(kEventName);
  std::uint64_t seconds = 0;
  if (at == name.npos) return seconds;
  const std::string_view rest = name.substr(std::min(at + kEventName.size() + 1, name.size()));
  std::from_chars(rest.data(), rest.data() + rest.size(), seconds);
  return seconds;
}

// "1732770000" or "1732770000.25", as add_hparams of PyTorch calls its folders.
bool IsUnixTime(std::string_view part) {
  constexpr std::size_t kDigits = 10;
  const auto digits = [](std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (part.size() < kDigits || !digits(part.substr(0, kDigits))) return false;
  return part.size() == kDigits || (part[kDigits] == '.' && digits(part.substr(kDigits + 1)));
}

// The parts that all folders have in common.
std::size_t SharedParts(const std::vector<fs::path>& files) {
  std::optional<std::vector<fs::path>> shared;
  for (const fs::path& file : files) {
    const fs::path folder = file.parent_path();
    const std::vector<fs::path> parts(folder.begin(), folder.end());
    if (!shared) {
      shared = parts;
      continue;
    }
    const auto [end, unused] = std::ranges::mismatch(*shared, parts);
    shared->erase(end, shared->end());
  }
  return shared ? shared->size() : 0;
}

// "train/" for the folder behind the shared parts; "" for the shared folder itself.
std::string PrefixOf(const fs::path& folder, std::size_t shared) {
  std::string prefix;
  std::size_t at = 0;
  for (const fs::path& part : folder) {
    if (at++ < shared || IsUnixTime(part.string())) continue;
    prefix += part.string() + "/";
  }
  return prefix;
}

struct Points {
  std::vector<std::int64_t> steps;
  std::vector<double> values;
  // Of steps that are there twice in a row: their second values, third, ...
  std::vector<Points> again;
  std::size_t at_step = 0;

  void Add(std::int64_t step, double value) {
    steps.push_back(step);
    values.push_back(value);
  }
};

// The points of one file by step, the last of a step; returns how many others there were.
std::size_t SortPoints(Points* points) {
  std::vector<std::size_t> order(points->steps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto step = [&](std::size_t i) { return points->steps[i]; };
  if (std::ranges::is_sorted(order, std::less_equal<>(), step) &&
      std::ranges::adjacent_find(points->steps) == points->steps.end()) {
    return 0;
  }
  std::ranges::stable_sort(order, std::less<>(), step);
  Points sorted;
  std::size_t again = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + 1 < order.size() && step(order[i]) == step(order[i + 1])) {
      ++again;
      continue;
    }
    sorted.steps.push_back(step(order[i]));
    sorted.values.push_back(points->values[order[i]]);
  }
  *points = std::move(sorted);
  return again;
}

Error NoScalar(std::string where) {
  return InvalidInput("no scalar in its events; expected values by step", std::move(where));
}

// Collects the curves of several files.
class EventJoin {
 public:
  explicit EventJoin(std::size_t shared_parts) : shared_parts_(shared_parts) {}

  Status Read(const fs::path& file, const ReadBytes& read) {
    const std::string prefix = PrefixOf(file.parent_path(), shared_parts_);
    std::map<std::string, Points, std::less<>> points;
    EventFileReader reader(&scalar_tags_[file.parent_path()]);
    ASSIGN_OR_RETURN(const EventFileEnd end,
                     reader.Read(read, file.string(), [&](const EventScalar& scalar) {
                       return AddPoint(scalar, prefix, &points);
                     }));
    if (!end.damage.empty()) {
      Remark(fmt::format("{}: {}; the {} records before that are read", file.string(), end.damage,
                         end.records));
    }
    for (auto& [tag, added] : points) JoinAll(file, prefix + tag, std::move(added));
    return {};
  }

  Result<EventCurves> Take() && {
    for (auto& [name, points] : curves_) {
      out_.curves.push_back({name, std::move(points.steps), std::move(points.values), 0.0});
    }
    NoNumbers others;
    for (const auto& [folder, tags] : scalar_tags_) {
      for (const auto& [tag, is_scalar] : tags) {
        const std::string name = PrefixOf(folder, shared_parts_) + tag;
        if (!is_scalar && !curves_.contains(name)) others.emplace(name, "no scalar");
      }
    }
    if (!others.empty()) out_.remarks.push_back(NotCompared("event files", others));
    return std::move(out_);
  }

 private:
  void Remark(std::string sentence) {
    if (remarks_++ < kMostRemarks) out_.remarks.push_back(std::move(sentence));
    if (remarks_ == kMostRemarks) out_.remarks.emplace_back("further remarks are left out");
  }

  Status AddPoint(const EventScalar& scalar, const std::string& prefix,
                  std::map<std::string, Points, std::less<>>* points) {
    auto found = points->find(scalar.tag);
    if (found == points->end()) {
      const std::string name = prefix + std::string(scalar.tag);
      if (name.size() > kMaxCurveNameBytes) {
        return InvalidInput(
            fmt::format("a tag of {} bytes; at most {} are read", name.size(), kMaxCurveNameBytes));
      }
      curves_.try_emplace(name);
      if (curves_.size() > kMaxCurves) {
        return InvalidInput(fmt::format("more than {} tags", kMaxCurves));
      }
      found = points->emplace(scalar.tag, Points{}).first;
    }
    if (++points_ > kMaxCurvePoints) {
      return InvalidInput(fmt::format("more than {} points", kMaxCurvePoints));
    }
    Points& own = found->second;
    if (own.steps.empty() || own.steps.back() != scalar.step) {
      own.at_step = 0;
      own.Add(scalar.step, scalar.value);
      return {};
    }
    const bool same = scalar.value == own.values.back() ||
                      (std::isnan(scalar.value) && std::isnan(own.values.back()));
    if (same) return {};
    if (own.at_step + 2 > kMaxValuesAtOneStep) {
      return InvalidInput(TooManyAtOneStep(scalar.tag, scalar.step));
    }
    if (own.again.size() <= own.at_step) own.again.emplace_back();
    own.again[own.at_step++].Add(scalar.step, scalar.value);
    return {};
  }

  // Second values of several steps, as of two phases, are a curve of their own; that of one step is
  // that of a restart (CurveBuilder does alike).
  void JoinAll(const fs::path& file, const std::string& name, Points added) {
    std::vector<Points> again = std::move(added.again);
    if (again.size() == 1 && again[0].steps.size() == 1) {
      added.Add(again[0].steps[0], again[0].values[0]);
      again.clear();
    }
    Join(file, name, std::move(added));
    for (std::size_t i = 0; i < again.size(); ++i) {
      const std::string further = fmt::format("{} #{}", name, i + 2);
      if (!curves_.contains(further)) {
        Remark(fmt::format("{}: {} has several values at one step: further ones are those of {}",
                           file.string(), QuoteForError(name), QuoteForError(further)));
      }
      Join(file, further, std::move(again[i]));
    }
  }

  void Join(const fs::path& file, const std::string& name, Points added) {
    if (const std::size_t again = SortPoints(&added); again > 0) {
      Remark(
          fmt::format("{}: {} has {} further values at steps that it has already; the last of a "
                      "step is read",
                      file.string(), QuoteForError(name), again));
    }
    Points& points = curves_[name];
    const auto first = std::ranges::lower_bound(points.steps, added.steps.front());
    const auto kept = first - points.steps.begin();
    if (first != points.steps.end()) {
      Remark(fmt::format(
          "{}: {} goes back to step {}; of {} values from there on in earlier files "
          "none is read",
          file.string(), QuoteForError(name), added.steps.front(), points.steps.end() - first));
      points.steps.erase(first, points.steps.end());
      points.values.erase(points.values.begin() + kept, points.values.end());
    }
    points.steps.insert(points.steps.end(), added.steps.begin(), added.steps.end());
    points.values.insert(points.values.end(), added.values.begin(), added.values.end());
  }

  const std::size_t shared_parts_;
  EventCurves out_;
  std::map<fs::path, std::map<std::string, bool, std::less<>>> scalar_tags_;  // by folder
  std::map<std::string, Points> curves_;
  std::size_t points_ = 0;
  std::size_t remarks_ = 0;
};

}  // namespace

bool IsEventFileName(std::string_view name) { return name.find(kEventName) != name.npos; }

Result<EventCurves> ReadEventFiles(std::vector<fs::path> files,
                                   const std::function<Result<OpenedFile>(const fs::path&)>& open) {
  std::ranges::sort(files, {}, [](const fs::path& file) {
    const std::string name = file.filename().string();
    return std::tuple(file.parent_path(), TimeInName(name), name);
  });
  EventJoin join(SharedParts(files));
  for (const fs::path& file : files) {
    ASSIGN_OR_RETURN(const OpenedFile opened, open(file));
    RETURN_IF_ERROR(join.Read(file, [&](char* bytes, std::size_t size) -> Result<std::size_t> {
      for (;;) {
        const ssize_t got = ::read(opened.descriptor.get(), bytes, size);
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EINTR) return PathError("cannot read", errno, file);
      }
    }));
  }
  return std::move(join).Take();
}

Result<std::vector<CurveSeries>> ParseEventFile(std::string_view text, std::string_view file,
                                                std::vector<std::string>* remarks) {
  EventJoin join(0);
  RETURN_IF_ERROR(join.Read(fs::path(file).filename(), [&](char* bytes, std::size_t size) {
    const std::size_t got = text.copy(bytes, size);
    text.remove_prefix(got);
    return Result<std::size_t>(got);
  }));
  ASSIGN_OR_RETURN(EventCurves read, std::move(join).Take());
  if (remarks != nullptr) std::ranges::move(read.remarks, std::back_inserter(*remarks));
  if (read.curves.empty()) return NoScalar(std::string(file));
  return std::move(read.curves);
}

bool HoldsEventFiles(const fs::path& folder) {
  const auto source = SourceFolder::Open(folder.string());
  if (!source.ok()) return false;
  std::size_t left = 2000;
  bool found = false;
  const Status status =
      source->ForEachFile([&](const std::string& relative, EntryKind) -> Result<bool> {
        found = IsEventFileName(fs::path(relative).filename().string());
        return !found && --left > 0;
      });
  return status.ok() && found;
}

Result<EventCurves> LoadEventCurves(const fs::path& path) {
  ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::Open(path.string()));
  std::vector<fs::path> files;
  RETURN_IF_ERROR(
      source.ForEachFile([&](const std::string& relative, EntryKind kind) -> Result<bool> {
        const bool named =
            !source.file().empty() || IsEventFileName(fs::path(relative).filename().string());
        if (kind == EntryKind::kFile && named) files.emplace_back(relative);
        return true;
      }));
  if (files.empty()) return NotFound("holds no event files of TensorBoard", path.string());
  ASSIGN_OR_RETURN(EventCurves read, ReadEventFiles(std::move(files), [&](const fs::path& file) {
                     return source.folder().OpenFile(file);
                   }));
  if (read.curves.empty()) return NoScalar(path.string());
  return read;
}

}  // namespace rharness
