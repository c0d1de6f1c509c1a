// The records of a TensorBoard event file: framing and checksums, and the scalars in them.
//
// Role: private to this folder; below tensorboard.h. Reads in one pass with a buffer of one record.
// Source: the TFRecord format (https://www.tensorflow.org/tutorials/load_data/tfrecord),
// event.proto and summary.proto of TensorFlow.
#ifndef RHARNESS_COMPARE_CURVES_EVENT_FILE_H_
#define RHARNESS_COMPARE_CURVES_EVENT_FILE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

// Larger records hold images and graphs; one that is larger still ends the reading.
inline constexpr std::uint64_t kMostEventBytes = std::uint64_t{256} << 20;

// Reads into `out` the next `size` bytes of a file; fewer at its end. Errors: io.
using ReadBytes = std::function<Result<std::size_t>(char* out, std::size_t size)>;

struct EventScalar {
  std::string_view tag;  // valid during the call
  std::int64_t step = 0;
  double value = 0.0;
};

// What became of a file.
struct EventFileEnd {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  // that were read, without an incomplete record
  std::string damage;       // why reading ended before the file did, with the offset; else empty
};

class EventFileReader {
 public:
  // `scalar_tags` is shared by the files of one writer's folder: the first event of a tag says what
  // it holds, and the others leave it out. Tags of histograms, images and texts are false there.
  explicit EventFileReader(std::map<std::string, bool, std::less<>>* scalar_tags)
      : scalar_tags_(*scalar_tags) {}

  // Calls take(scalar) for each scalar, in the order of the file. A record that is cut off at the
  // end (a killed run) ends the file without an error; one with a wrong checksum, or a length that
  // no record has, ends it as damage: nothing after it can be found. Errors: io, invalid_input for
  // a file whose first record is not whole, and those of `take`.
  Result<EventFileEnd> Read(const ReadBytes& read, std::string_view file,
                            const std::function<Status(const EventScalar&)>& take);

 private:
  Status ReadEvent(std::string_view event, const std::function<Status(const EventScalar&)>& take);

  std::map<std::string, bool, std::less<>>& scalar_tags_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_EVENT_FILE_H_
