// Rows H1 to H5: rharness hash beside openssl, sha256sum and a plain read.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

constexpr std::uint64_t kLargeBytes = std::uint64_t{256} << 20;
constexpr std::size_t kSmallFiles = 100000;

std::string Harness(const Context& context) { return (context.bin / "rharness").string(); }

Result<std::vector<std::string>> LargeFiles(const Context& context, std::size_t count) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const fs::path path,
                     RandomFile(context, fmt::format("large{}", i), kLargeBytes));
    paths.push_back(path.string());
  }
  return paths;
}

Command With(Command command, const std::vector<std::string>& paths) {
  command.insert(command.end(), paths.begin(), paths.end());
  return command;
}

// The digests that a command prints, without the names, which peers mark differently.
Result<std::vector<std::string>> DigestsOf(const Context& context, const Command& command) {
  const fs::path out = context.scratch / "digests";
  ASSIGN_OR_RETURN([[maybe_unused]] const Usage usage, RunChild(command, out));
  std::ifstream lines(out);
  std::vector<std::string> digests;
  for (std::string line; std::getline(lines, line);) digests.push_back(line.substr(0, 64));
  std::sort(digests.begin(), digests.end());
  return digests;
}

Status CheckSameDigests(const Context& context, const Command& ours, const Command& peer) {
  ASSIGN_OR_RETURN(const auto mine, DigestsOf(context, ours));
  ASSIGN_OR_RETURN(const auto theirs, DigestsOf(context, peer));
  if (mine.empty() || mine != theirs) return IntegrityError("digests differ", peer[0]);
  return {};
}

// The CPU of ours over the CPU of the peer, after checking that both give the same digests.
Result<Measured> CpuRatio(const Context& context, const Command& ours, const Command& peer,
                          const std::string& name) {
  RETURN_IF_ERROR(CheckSameDigests(context, ours, peer));
  ASSIGN_OR_RETURN(const auto usages, Interleave({ours, peer}, context.rounds));
  const double peer_cpu = MedianCpu(usages[1]);
  const double own_cpu = MedianCpu(usages[0]);
  return Measured{own_cpu / peer_cpu, fmt::format("{:.3f} s", own_cpu),
                  fmt::format("{} {:.3f} s", name, peer_cpu), ""};
}

Result<Measured> OneFile(const Context& context) {
  ASSIGN_OR_RETURN(const auto paths, LargeFiles(context, 1));
  return CpuRatio(context, With({Harness(context), "hash"}, paths),
                  With({"openssl", "dgst", "-r", "-sha256"}, paths), "openssl");
}

Result<Measured> TwoFilesOneThread(const Context& context) {
  ASSIGN_OR_RETURN(const auto paths, LargeFiles(context, 2));
  ASSIGN_OR_RETURN(Measured measured,
                   CpuRatio(context, With({Harness(context), "hash", "--threads", "1"}, paths),
                            With({"openssl", "dgst", "-r", "-sha256"}, paths), "openssl"));
  measured.value = 1 / measured.value;  // the same bytes: a rate is the inverse of a time
  return measured;
}

Result<Measured> FilesOnCores(const Context& context) {
  constexpr std::size_t kMostFiles = 4;  // bounds the disk that the bench needs
  const std::size_t cores =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostFiles);
  ASSIGN_OR_RETURN(const auto paths, LargeFiles(context, cores));
  const std::string threads = std::to_string(cores);
  ASSIGN_OR_RETURN(const auto usages,
                   Interleave({With({Harness(context), "hash", "--threads", threads}, paths),
                               {Harness(context), "hash", "--threads", "1", paths[0]}},
                              context.rounds));
  const double all = ShortestWall(usages[0]);
  const double one = ShortestWall(usages[1]);
  // N times the bytes in `all`, against one file's in `one`.
  return Measured{static_cast<double>(cores) * one / all,
                  fmt::format("{} files on {} cores {:.3f} s", cores, cores, all),
                  fmt::format("one file {:.3f} s", one), "needs idle cores"};
}

// 100,000 files of 4 KiB in folders of 1,000; returns a list of their names for xargs --null.
Result<std::string> SmallFiles(const Context& context) {
  const fs::path list = context.scratch / "small.list";
  if (fs::exists(list)) return list.string();
  std::string names;
  std::string content(4096, 'x');
  for (std::size_t i = 0; i < kSmallFiles; ++i) {
    if (InterruptingSignal() != 0) return ProcessError("interrupted", context.scratch.string());
    const fs::path path = context.scratch / fmt::format("small{}", i / 1000) / std::to_string(i);
    if (i % 1000 == 0) RETURN_IF_ERROR(MakeDirectories(path.parent_path()));
    content.replace(0, 8, fmt::format("{:08}", i));
    std::ofstream file(path, std::ios::binary);
    file << content;
    file.close();
    if (!file) return IoError("cannot write", path.string());
    names += path.string();
    names.push_back('\0');
  }
  RETURN_IF_ERROR(WriteFileAtomic(list, names));
  return list.string();
}

Result<Measured> SmallFilesBeside(const Context& context, const Command& peer) {
  if (!HasProgram("xargs")) return Unsupported("needs xargs");
  ASSIGN_OR_RETURN(const std::string list, SmallFiles(context));
  const auto batches = [&](Command command) {
    return With({"xargs", "--null", "--arg-file=" + list, "-n5000"}, command);
  };
  return CpuRatio(context, batches({Harness(context), "hash", "--threads", "1"}), batches(peer),
                  peer[0]);
}

Result<Measured> SmallFilesBesideOpenssl(const Context& context) {
  return SmallFilesBeside(context, {"openssl", "dgst", "-r", "-sha256"});
}
Result<Measured> SmallFilesBesideSha256sum(const Context& context) {
  return SmallFilesBeside(context, {"sha256sum"});
}

// On two cores: openssl's one process beside two threads.
Result<Measured> SmallFilesOnTwoCores(const Context& context) {
  if (!HasProgram("xargs")) return Unsupported("needs xargs");
  if (std::thread::hardware_concurrency() < 2) return Unsupported("needs two cores");
  ASSIGN_OR_RETURN(const std::string list, SmallFiles(context));
  const Command batches = {"xargs", "--null", "--arg-file=" + list, "-n5000"};
  ASSIGN_OR_RETURN(const auto usages,
                   Interleave({With(batches, {Harness(context), "hash", "--threads", "2"}),
                               With(batches, {"openssl", "dgst", "-r", "-sha256"})},
                              context.rounds));
  const double ours = ShortestWall(usages[0]);
  const double peer = ShortestWall(usages[1]);
  return Measured{ours / peer, fmt::format("{:.3f} s", ours), fmt::format("openssl {:.3f} s", peer),
                  "needs idle cores"};
}

// The fraction of a file's pages that lie in the page cache.
Result<double> CachedFraction(const fs::path& path) {
  ASSIGN_OR_RETURN(const OpenedFile file, OpenRegularFile(path));
  void* pages = ::mmap(nullptr, file.size_bytes, PROT_READ, MAP_SHARED, file.descriptor.get(), 0);
  if (pages == MAP_FAILED) return IoErrorFromErrno("cannot map", errno, path.string());
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((file.size_bytes + page_bytes - 1) / page_bytes);
  const int failure = ::mincore(pages, file.size_bytes, resident.data());
  ::munmap(pages, file.size_bytes);
  if (failure != 0) return IoError("cannot ask for cached pages", path.string());
  const auto cached =
      std::count_if(resident.begin(), resident.end(), [](unsigned char c) { return c & 1; });
  return static_cast<double>(cached) / static_cast<double>(resident.size());
}

Status Evict(const fs::path& path) {
  ASSIGN_OR_RETURN(const OpenedFile file, OpenRegularFile(path));
  if (::fsync(file.descriptor.get()) != 0 ||
      ::posix_fadvise(file.descriptor.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) {
    return IoError("cannot drop from the page cache", path.string());
  }
  return {};
}

Result<Measured> ColdFile(const Context& context) {
  if (!HasProgram("dd")) return Unsupported("needs dd");
  ASSIGN_OR_RETURN(const auto paths, LargeFiles(context, 1));
  const Command hash = {Harness(context), "hash", paths[0]};
  double cached = 0;
  const auto evict_unless_warm = [&](std::size_t command) -> Status {
    if (command == 2) return {};  // reads what the cold read before it left in the cache
    RETURN_IF_ERROR(Evict(paths[0]));
    ASSIGN_OR_RETURN(const double left, CachedFraction(paths[0]));
    cached = std::max(cached, left);
    return {};
  };
  ASSIGN_OR_RETURN(
      const auto usages,
      Interleave({hash, {"dd", "if=" + paths[0], "of=/dev/null", "bs=4M", "status=none"}, hash},
                 context.rounds, evict_unless_warm));
  const double cold = ShortestWall(usages[0]);
  const double read = ShortestWall(usages[1]);
  const double warm = ShortestWall(usages[2]);
  constexpr double kDropped = 0.05;
  return Measured{cold / std::max(read, warm),
                  fmt::format("cold {:.3f} s, warm {:.3f} s", cold, warm),
                  fmt::format("dd {:.3f} s", read),
                  cached > kDropped
                      ? fmt::format("the cache could not be dropped: {:.0f} % stayed", cached * 100)
                      : ""};
}

}  // namespace

std::vector<Row> HashRows() {
  return {
      {"H1", "one file of 256 MiB, CPU", Goal::kAtMost, 1.0, "", OneFile},
      {"H2", "two files in one thread, rate per CPU", Goal::kAtLeast, TwoFilesGoal(), "",
       TwoFilesOneThread},
      {"H3", "N files on N cores, speed, wall", Goal::kAtLeast,
       0.85 * std::clamp(static_cast<double>(std::thread::hardware_concurrency()), 1.0, 4.0), "",
       FilesOnCores},
      {"H4a", "100,000 files of 4 KiB, CPU", Goal::kAtMost, 0.6, "", SmallFilesBesideOpenssl},
      {"H4b", "100,000 files of 4 KiB, CPU", Goal::kAtMost, 0.35, "", SmallFilesBesideSha256sum},
      {"H4c", "100,000 files of 4 KiB, 2 cores, wall", Goal::kAtMost, 0.4, "",
       SmallFilesOnTwoCores},
      {"H5", "cold file, wall / max(read, hash)", Goal::kAtMost, 1.15, "", ColdFile},
  };
}

}  // namespace rharness::bench
