// Making and reading the notes on kernels; see kernel_arena.h for their layout.
#include "harness/records/observe/kernel_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "harness/records/observe/arena_file.h"
#include "harness/records/observe/cupti.h"
#include "harness/records/observe/kernel_arena.h"

namespace rharness {
namespace {

static_assert(kSeenGraphLaunch == kGraphLaunch);

constexpr std::size_t kLongestKernel = 256;  // in a record

Error NotAsMadeKernels() { return InvalidInput("is not as it was made: the run changed it"); }

template <class T>
T At(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// The symbol; a long one by its beginning and the hash of the whole.
std::string NameOf(const KernelEntry& entry) {
  const std::size_t here = std::min<std::size_t>(entry.size, sizeof(entry.name));
  std::string name(entry.name, here);
  std::erase_if(name, [](unsigned char c) { return c < 0x20 || c >= 0x7f; });
  const std::string digest = fmt::format("~{:016x}", entry.hash);
  if (name.size() == entry.size && name.size() <= kLongestKernel) return name;
  return name.substr(0, kLongestKernel - digest.size()) + digest;
}

std::string InWords(const KernelShape& shape) {
  const auto extent = [](const std::uint32_t* of) {
    return fmt::format("{}x{}x{}", of[0], of[1], of[2]);
  };
  std::string words = extent(shape.grid) + " of " + extent(shape.block);
  if (shape.shared_bytes > 0) words += fmt::format(" + {} bytes", shape.shared_bytes);
  return words;
}

bool IsPossible(const KernelShape& shape) {
  const auto none = [](const std::uint32_t* of) { return of[0] == 0 || of[1] == 0 || of[2] == 0; };
  return shape.ready == 1 && !none(shape.grid) && !none(shape.block);
}

SeenKernel KernelOf(const KernelEntry& entry) {
  SeenKernel kernel{.name = NameOf(entry), .launches = entry.launches};
  std::set<std::string> shapes;
  for (const KernelShape& shape : entry.shapes) {
    if (IsPossible(shape)) shapes.insert(InWords(shape));
  }
  kernel.shapes.assign(shapes.begin(), shapes.end());
  if (entry.more_shapes != 0) kernel.shapes.emplace_back("other shapes");
  return kernel;
}

std::string WhyNot(const KernelProcess& process) {
  if (process.state == kKernelsNoCupti) {
    return "there is no libcupti.so.11 to 13 that its CUDA driver can use";
  }
  if (process.state != kKernelsRefused) return "its driver did not come to the end of its start";
  switch (static_cast<int>(process.error)) {
    case cupti::kMaxLimitReached:
    case cupti::kMultipleSubscribers:
      return "another tool has subscribed to CUPTI already";
    case cupti::kInsufficientPrivileges:
    case cupti::kVirtualizedInsufficientPrivileges:
      return "CUPTI refuses it: no permission";
    default:
      return fmt::format("CUPTI refuses it: error {}", process.error);
  }
}

void AddProcesses(std::string_view bytes, SeenKernels* kernels, KernelNotes* out) {
  std::set<std::string> reasons;
  for (std::size_t i = 0; i < kKernelProcesses; ++i) {
    const auto process =
        At<KernelProcess>(bytes, offsetof(KernelArena, processes) + i * sizeof(KernelProcess));
    if (process.state == 0) continue;
    if (process.state != kKernelsWatched) {
      reasons.insert(WhyNot(process));
      continue;
    }
    out->kernels.emplace();
    if (process.launches == 0) continue;
    kernels->orders.push_back(fmt::format("{:016x} of {} launch{}", process.order, process.launches,
                                          process.launches == 1 ? "" : "es"));
  }
  std::ranges::sort(kernels->orders);
  for (const std::string& reason : reasons) {
    out->unseen.push_back("the GPU kernels of a process: " + reason);
  }
}

}  // namespace

Status MakeKernelNotes(const std::filesystem::path& folder) {
  return MakeNotesFile(folder / kKernelArenaFile,
                       std::string_view(reinterpret_cast<const char*>(&kKernelArenaMagic),
                                        sizeof(kKernelArenaMagic)),
                       sizeof(KernelArena));
}

Result<KernelNotes> ParseKernelNotes(std::string_view bytes) {
  if (bytes.size() != sizeof(KernelArena) ||
      At<std::uint64_t>(bytes, offsetof(KernelArena, magic)) != kKernelArenaMagic) {
    return NotAsMadeKernels();
  }
  KernelNotes notes;
  SeenKernels kernels;
  std::uint64_t graphs = 0;
  AddProcesses(bytes, &kernels, &notes);
  for (std::size_t i = 0; i < kKernelEntries; ++i) {
    const auto entry =
        At<KernelEntry>(bytes, offsetof(KernelArena, entries) + i * sizeof(KernelEntry));
    if (entry.ready != 1 || entry.size == 0 || entry.launches == 0) continue;
    kernels.launched.push_back(KernelOf(entry));
    if (kernels.launched.back().name == kGraphLaunch) graphs = entry.launches;
  }
  std::ranges::sort(kernels.launched, {}, &SeenKernel::name);
  if (const auto dropped = At<std::uint32_t>(bytes, offsetof(KernelArena, dropped)); dropped > 0) {
    notes.unseen.push_back(fmt::format(
        "all GPU kernels: {} launches or processes found no place in the notes", dropped));
  }
  kernels.is_all = notes.unseen.empty();
  if (graphs > 0) {
    notes.unseen.push_back(fmt::format(
        "the GPU kernels of {} graph launches, but where the run captured them", graphs));
  }
  if (notes.kernels) notes.kernels = std::move(kernels);
  return notes;
}

Result<KernelNotes> ReadKernelNotes(const HeldFolder& folder) {
  ASSIGN_OR_RETURN(const std::string bytes, folder.ReadFile(kKernelArenaFile, sizeof(KernelArena)));
  return ParseKernelNotes(bytes);
}

}  // namespace rharness
