// Blocks and parts of records.
#include "compare/curves/wandb_log.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace rharness {
namespace {

constexpr std::size_t kBlockBytes = 32768;
constexpr std::size_t kHeadBytes = 7;  // of the file, and of each part
constexpr std::string_view kMagic(":W&B\xe1\xbe\0", kHeadBytes);

enum PartType : unsigned { kPadding = 0, kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

struct LogPart {
  unsigned type = kPadding;
  std::string_view content;
};

unsigned ByteAt(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

std::uint32_t Crc(unsigned type, std::string_view content) {
  const auto byte = static_cast<Bytef>(type);
  const uLong crc = ::crc32(::crc32(0, nullptr, 0), &byte, 1);
  return static_cast<std::uint32_t>(::crc32(crc, reinterpret_cast<const Bytef*>(content.data()),
                                            static_cast<uInt>(content.size())));
}

// Puts parts together.
class WandbLogReader {
 public:
  WandbLogReader(std::string_view log,
                 const std::function<void(std::string_view, std::size_t)>& take,
                 const std::function<void(std::string)>& remark)
      : log_(log), take_(take), remark_(remark) {}

  void Read() {
    while (at_ < log_.size()) {
      const std::size_t block_end = std::min(log_.size(), (at_ / kBlockBytes + 1) * kBlockBytes);
      const std::size_t left = (at_ / kBlockBytes + 1) * kBlockBytes - at_;
      if (left < kHeadBytes) {
        at_ = block_end;
        continue;
      }
      const std::size_t start = at_;
      const auto part = ReadPart(block_end);
      if (part) {
        Add(*part, start);
      } else {
        Drop();
        at_ = block_end;
      }
    }
    if (record_) {
      remark_(fmt::format("byte {}: the log ends amid a record; what came before it is kept",
                          record_start_));
    }
  }

 private:
  // Nothing for a damaged part, which is reported, and for padding.
  std::optional<LogPart> ReadPart(std::size_t block_end) {
    const std::size_t start = at_;
    if (block_end - at_ < kHeadBytes) return Damaged(start, "ends amid a record's head", block_end);
    const std::string_view head = log_.substr(at_, kHeadBytes);
    const std::uint32_t crc = ByteAt(head, 0) | ByteAt(head, 1) << 8 | ByteAt(head, 2) << 16 |
                              static_cast<std::uint32_t>(ByteAt(head, 3)) << 24;
    const std::size_t length = ByteAt(head, 4) | ByteAt(head, 5) << 8;
    const unsigned type = ByteAt(head, 6);
    if (type == kPadding && length == 0 && crc == 0) {
      return record_ ? Damaged(start, "padding amid a record", block_end) : std::nullopt;
    }
    at_ += kHeadBytes;
    if (length > block_end - at_) return Damaged(start, "a record is cut off", block_end);
    const std::string_view content = log_.substr(at_, length);
    at_ += length;
    if (type < kWhole || type > kLast) {
      return Damaged(start, fmt::format("a record's part of type {}", type), block_end);
    }
    if (Crc(type, content) != crc) return Damaged(start, "a record's checksum is wrong", block_end);
    return LogPart{type, content};
  }

  std::optional<LogPart> Damaged(std::size_t start, std::string_view what, std::size_t block_end) {
    remark_(fmt::format("byte {}: {}; {}", start, what,
                        block_end == log_.size()
                            ? "what came before it is kept"
                            : fmt::format("reading went on at byte {}", block_end)));
    damaged_ = true;
    return std::nullopt;
  }

  void Drop() {
    record_ = false;
    text_.clear();
  }

  void Add(const LogPart& part, std::size_t start) {
    const bool begins = part.type == kWhole || part.type == kFirst;
    if (begins && record_) {
      remark_(fmt::format("byte {}: a record begins before that at byte {} has ended", start,
                          record_start_));
      Drop();
    }
    if (!begins && !record_) {
      // After damage its first part was lost.
      if (!damaged_) remark_(fmt::format("byte {}: a part of a record without its first", start));
      return;
    }
    damaged_ = false;
    if (part.type == kWhole) return take_(part.content, start);
    if (begins) {
      record_ = true;
      record_start_ = start;
    }
    if (text_.size() + part.content.size() > kMostWandbRecordBytes) {
      remark_(fmt::format("byte {}: a record of more than {} bytes was left out", record_start_,
                          kMostWandbRecordBytes));
      damaged_ = true;
      return Drop();
    }
    text_ += part.content;
    if (part.type != kLast) return;
    take_(text_, record_start_);
    Drop();
  }

  std::string_view log_;
  const std::function<void(std::string_view, std::size_t)>& take_;
  const std::function<void(std::string)>& remark_;
  std::size_t at_ = kHeadBytes;
  bool record_ = false;  // whether one has begun
  std::size_t record_start_ = 0;
  std::string text_;
  bool damaged_ = false;
};

}  // namespace

bool LooksLikeWandbLog(std::string_view head) { return head.starts_with(kMagic.substr(0, 4)); }

Status ReadWandbLog(std::string_view log, std::string_view where,
                    const std::function<void(std::string_view, std::size_t)>& take,
                    const std::function<void(std::string)>& remark) {
  if (!LooksLikeWandbLog(log)) {
    return InvalidInput("does not begin with ':W&B'; expected a transaction log of wandb",
                        std::string(where));
  }
  if (!log.starts_with(kMagic)) {
    return InvalidInput("another version of the log; expected 0xBEE1 and version 0",
                        std::string(where));
  }
  WandbLogReader(log, take, remark).Read();
  return {};
}

}  // namespace rharness
