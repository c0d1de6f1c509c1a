// Hashes many files: every worker keeps two files in flight and feeds them to a Sha256Pair.
#include "harness/base/digest_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

#include "harness/base/block_reader.h"
#include "harness/base/descriptor.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Two buffers of this size stay in a core's second-level cache.
constexpr std::size_t kBufferBytes = std::size_t{128} << 10;
// From this size on the kernel is asked to read further ahead.
constexpr std::uint64_t kSequentialBytes = std::uint64_t{1} << 20;
// From this size on a file alone in its worker gets a reader thread of its own.
constexpr std::uint64_t kReaderThreadBytes = std::uint64_t{16} << 20;

// What the workers of one call share.
struct Job {
  std::span<const fs::path> paths;
  LinkPolicy links;
  PairEngine engine;
  std::vector<Result<ContentDigest>>* results;
  std::atomic<std::size_t> next{0};
};

// One file in flight.
struct Lane {
  std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(kBufferBytes);
  std::size_t begin = 0;  // of the bytes not hashed yet
  std::size_t end = 0;
  std::size_t index = 0;  // into Job::paths
  OpenedFile file;
  std::uint64_t read_bytes = 0;
  bool at_end = false;
};

class Worker {
 public:
  Worker(Job* job, std::size_t lanes) : job_(job), pair_(job->engine), lanes_(lanes) {}

  void Run() {
    for (;;) {
      const bool first = Feed(0);
      const bool second = lanes_.size() > 1 && Feed(1);
      if (!first && !second) return;
      if (first && second) {
        const std::size_t blocks = std::min(Blocks(0), Blocks(1));
        pair_.UpdateBoth(Data(0), Data(1), blocks);
        Consume(0, blocks);
        Consume(1, blocks);
      } else {
        const int lane = first ? 0 : 1;
        const std::size_t blocks = Blocks(lane);
        pair_.UpdateOne(lane, Data(lane), blocks);
        Consume(lane, blocks);
      }
    }
  }

 private:
  Lane& At(int lane) { return lanes_[static_cast<std::size_t>(lane)]; }
  const std::byte* Data(int lane) { return At(lane).buffer.get() + At(lane).begin; }
  std::size_t Blocks(int lane) { return (At(lane).end - At(lane).begin) / Sha256Pair::kBlockBytes; }
  void Consume(int lane, std::size_t blocks) { At(lane).begin += blocks * Sha256Pair::kBlockBytes; }

  // Makes at least one block of the lane ready, finishing its file and opening the next ones as
  // needed. False when no file is left.
  bool Feed(int lane_index) {
    Lane& lane = At(lane_index);
    for (;;) {
      if (!lane.file.descriptor.valid()) {
        lane.index = job_->next.fetch_add(1, std::memory_order_relaxed);
        if (lane.index >= job_->paths.size()) return false;
        Open(lane_index);
      } else if (Blocks(lane_index) > 0) {
        return true;
      } else if (lane.at_end) {
        const std::span rest(Data(lane_index), lane.end - lane.begin);
        Record(lane, ContentDigest{pair_.Finish(lane_index, rest), lane.read_bytes});
      } else {
        Fill(lane_index);
      }
    }
  }

  void Open(int lane_index) {
    Lane& lane = At(lane_index);
    auto file = OpenRegularFile(job_->paths[lane.index], job_->links == LinkPolicy::kFollow);
    if (!file.ok()) return Record(lane, file.error());
    lane.file = std::move(*file);
    lane.begin = lane.end = 0;
    lane.read_bytes = 0;
    lane.at_end = false;
    const int fd = lane.file.descriptor.get();
    if (lane.file.size_bytes >= kSequentialBytes) {
      ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);  // a hint: failure changes nothing
    }
    if (lanes_.size() == 1 && lane.file.size_bytes >= kReaderThreadBytes) ReadAhead(lane_index);
  }

  // Hashes the whole file from a reader thread; leaves it alone when there is no thread to have.
  void ReadAhead(int lane_index) {
    Lane& lane = At(lane_index);
    BlockReader reader(lane.file.descriptor.get());
    if (!reader.Start()) return;
    for (;;) {
      const std::span<const std::byte> block = reader.Next();
      if (block.empty()) break;
      lane.read_bytes += block.size();
      const std::size_t whole = block.size() / Sha256Pair::kBlockBytes;
      pair_.UpdateOne(lane_index, block.data(), whole);
      const auto rest = block.subspan(whole * Sha256Pair::kBlockBytes);
      if (rest.empty()) continue;
      // Only the last block of a file is no multiple of 64 bytes.
      std::memcpy(lane.buffer.get(), rest.data(), rest.size());
      lane.end = rest.size();
    }
    if (reader.error_number() != 0) return FailRead(lane_index, reader.error_number());
    lane.at_end = true;
  }

  void Fill(int lane_index) {
    Lane& lane = At(lane_index);
    const std::size_t rest = lane.end - lane.begin;
    std::memmove(lane.buffer.get(), lane.buffer.get() + lane.begin, rest);
    lane.begin = 0;
    lane.end = rest;
    const std::size_t wanted = kBufferBytes - rest;
    const ssize_t count = ::read(lane.file.descriptor.get(), lane.buffer.get() + rest, wanted);
    if (count < 0 && errno == EINTR) return;
    if (count < 0) return FailRead(lane_index, errno);
    const auto got = static_cast<std::size_t>(count);
    lane.end += got;
    lane.read_bytes += got;
    // A short read at the promised size is the end; asking again would cost a call a small file.
    lane.at_end = got == 0 || (got < wanted && lane.read_bytes == lane.file.size_bytes);
  }

  void FailRead(int lane_index, int error_number) {
    Lane& lane = At(lane_index);
    pair_.Finish(lane_index, {});  // resets the lane
    Record(lane, IoErrorFromErrno("cannot read", error_number, job_->paths[lane.index].string()));
  }

  void Record(Lane& lane, Result<ContentDigest> result) {
    (*job_->results)[lane.index] = std::move(result);
    lane.file.descriptor.Close();
  }

  Job* job_;
  Sha256Pair pair_;
  std::vector<Lane> lanes_;
};

std::size_t WorkerCount(int threads, std::size_t files) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t wanted = threads > 0 ? static_cast<std::size_t>(threads) : cores;
  return std::min(wanted, std::max<std::size_t>(files, 1));
}

}  // namespace

std::vector<Result<ContentDigest>> HashFileContents(std::span<const fs::path> paths, int threads,
                                                    LinkPolicy links, PairEngine engine) {
  std::vector<Result<ContentDigest>> results(paths.size(), ContentDigest{});
  Job job{paths, links, engine, &results};
  const std::size_t workers = WorkerCount(threads, paths.size());
  // With a core for every file, two files on one core would leave another core idle.
  const std::size_t lanes = paths.size() > workers ? 2 : 1;
  std::vector<std::thread> helpers;
  try {
    while (helpers.size() + 1 < workers) {
      helpers.emplace_back([&job, lanes] { Worker(&job, lanes).Run(); });
    }
  } catch (const std::system_error&) {
    // Fewer threads than wanted do the same work.
  }
  Worker(&job, lanes).Run();
  for (std::thread& helper : helpers) helper.join();
  return results;
}

std::vector<Result<FileDigest>> HashFiles(std::span<const fs::path> paths, int threads) {
  std::vector<Result<FileDigest>> digests;
  digests.reserve(paths.size());
  for (auto& content : HashFileContents(paths, threads, LinkPolicy::kFollow)) {
    if (content.ok()) {
      digests.emplace_back(FileDigest{ToHex(content->sha256), content->size_bytes});
    } else {
      digests.emplace_back(content.error());
    }
  }
  return digests;
}

Result<FileDigest> HashFile(const fs::path& path) {
  return std::move(HashFiles(std::span(&path, 1), 1).front());
}

}  // namespace rharness
