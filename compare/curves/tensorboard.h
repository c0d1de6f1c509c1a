// TensorBoard's event files as curves: the scalars of all writers below one folder.
//
// Role: a reader of curves whose source is several binary files. Not here: which files a run wrote.
#ifndef RHARNESS_COMPARE_CURVES_TENSORBOARD_H_
#define RHARNESS_COMPARE_CURVES_TENSORBOARD_H_

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/curves/series.h"
#include "harness/base/descriptor.h"
#include "harness/base/result.h"

namespace rharness {

// "events.out.tfevents.1732770000.host.42.0", with or without a suffix: writers always name them
// so.
bool IsEventFileName(std::string_view name);
// By its first bytes.
bool LooksLikeEventFile(std::string_view head);

// Whether an event file lies below the folder, among its first 2,000 files.
bool HoldsEventFiles(const std::filesystem::path& folder);

struct EventCurves {
  std::vector<CurveSeries> curves;   // by name
  std::vector<std::string> remarks;  // one sentence each
};

// `files`: paths relative to their folder, which `open` opens. Scalars of both versions of
// summaries; histograms, images and texts are left out.
//
// - A curve is called as its tag. If the files lie in several folders, the folder below the one
// that
//   all share comes before it ("train/loss"), without parts that are a Unix time, which change from
//   run to run.
// - Files of one folder follow each other by the time in their names. Where a later one goes back
// to
//   an earlier step, as after a restart, the later writer wins from that step on; in one file the
//   last value of a step counts, or, where steps are there twice in a row, the second values are of
//   a curve "NAME #2". All are remarks.
// - A file that ends inside a record, or is damaged, yields the records before that, with a remark.
//
// Values keep the precision of a float or double; non-finite ones stay. Limits: those of
// curve_builder.h. Memory: the points, and the largest record. No scalar: no curve. Errors: io;
// invalid_input with file and byte for a file that is no event file, or holds too many curves or
// points.
Result<EventCurves> ReadEventFiles(
    std::vector<std::filesystem::path> files,
    const std::function<Result<OpenedFile>(const std::filesystem::path&)>& open);

// The event files below a folder, or the one that `path` is; follows no link below it. Errors: io,
// not_found, invalid_input without any scalar, and those of ReadEventFiles.
Result<EventCurves> LoadEventCurves(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_TENSORBOARD_H_
