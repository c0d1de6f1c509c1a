// Reads a large file a few blocks ahead in a thread, so that reading overlaps the work on the
// blocks.
#ifndef RHARNESS_HARNESS_BASE_BLOCK_READER_H_
#define RHARNESS_HARNESS_BASE_BLOCK_READER_H_

#include <array>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

namespace rharness {

// One consumer. Memory: two blocks of 4 MiB.
class BlockReader {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{4} << 20;

  // `fd` must stay open while this lives; reading starts at its offset.
  explicit BlockReader(int fd) : fd_(fd) {}
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;
  ~BlockReader();

  // False when the system has no thread to give.
  bool Start();
  // The next block, valid until the next call; full but for the last. Empty at the end of the file
  // and after an error.
  std::span<const std::byte> Next();
  // The errno of the failed read; 0 when none failed. Ask after an empty block.
  int error_number();

 private:
  struct Slot {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
    bool full = false;
  };
  void ReadAll();
  // Reads until the slot is full or the file ends; false after an error.
  bool Fill(Slot& slot);

  const int fd_;
  std::array<Slot, 2> slots_;
  std::size_t next_ = 0;  // the slot of the consumer
  bool holding_ = false;  // the consumer has slots_[next_]
  bool stopped_ = false;  // the consumer has gone
  int error_number_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_BLOCK_READER_H_
