// The frames of a transaction log of Weights & Biases, run-ID.wandb: the bytes of each record.
//
// Role: under the readers of what a run logged (wandb_metrics.h) and of whole runs. Pure. Not here:
// the meaning of a record.
#ifndef RHARNESS_COMPARE_CURVES_WANDB_LOG_H_
#define RHARNESS_COMPARE_CURVES_WANDB_LOG_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

inline constexpr std::size_t kMostWandbRecordBytes = std::size_t{256} << 20;

// By its first bytes.
bool LooksLikeWandbLog(std::string_view head);

// Calls take(record, offset) for each complete record, in order, and remark(sentence) for each
// damaged place, with its offset. A damaged block loses the records that touch it from there on;
// reading continues at the next block. A log that ends inside a record, as after a crash, yields
// all records before it.
//
// Layout: ":W&B", u16 0xBEE1, u8 0; then blocks of 32768 bytes from the file's beginning on, in
// which each record, or part of one, is u32 CRC, u16 length, u8 type (1 whole, 2 first, 3 middle, 4
// last) and content, integers little-endian. No header begins in the last 6 bytes of a block. The
// CRC is the plain one of zlib, over type and content: not that of LevelDB, whose layout it is.
// Errors: invalid_input for another beginning.
// Source: LevelDB, doc/log_format.md; the CRC and the head as wandb 0.31 writes them.
Status ReadWandbLog(std::string_view log, std::string_view where,
                    const std::function<void(std::string_view record, std::size_t offset)>& take,
                    const std::function<void(std::string sentence)>& remark);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_WANDB_LOG_H_
