// Marks of formats that are not read: first bytes, last bytes, members, endings.
#include "compare/weights/foreign_formats.h"

#include <algorithm>
#include <array>
#include <string>

namespace rharness {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT: used in literals, unseen by clang-tidy

constexpr std::string_view kOcdbt =
    "a part of an OCDBT database, which is read as a whole, by the name of its folder";
constexpr std::string_view kSavedModel =
    "the graph of a TensorFlow SavedModel, which is read by the name of its folder";
constexpr std::string_view kTfIndex = "the index of a TensorFlow checkpoint";
constexpr std::string_view kTfData =
    "the data of a TensorFlow checkpoint, which is read by the name of its .index";
constexpr std::string_view kTflite = "a TensorFlow Lite model";

struct Mark {
  std::size_t offset = 0;
  std::string_view bytes;
  std::string_view format;
};
constexpr auto kMarks = std::to_array<Mark>({
    {0, "PK\x05\x06"sv, "an empty zip archive"},
    {0, "\x0c\xdb\x3a\x2a"sv, kOcdbt},  // a manifest
    {0, "\x0c\xdb\x20\xde"sv, kOcdbt},  // a node of the tree
    {0, "\x0c\xdb\x12\x34"sv, kOcdbt},  // a node of versions
    {4, "TFL3"sv, kTflite},
    {0, "\x08\x01\x12"sv, kSavedModel},  // saved_model_schema_version 1, then meta_graphs
    {0, "version https://"sv, "a pointer of Git LFS, which stands for a file that was not fetched"},
    {0, "\x1f\x8b"sv, "a gzip file"},
    {0, "BZh"sv, "a bzip2 file"},
    {0,
     "\xfd"
     "7zXZ"sv,
     "an xz file"},
    {0, "\x04\x22\x4d\x18"sv, "an lz4 file"},
    {0, "\x28\xb5\x2f\xfd"sv, "a zstd file"},
});

struct Ending {
  std::string_view of_name;
  std::string_view format;
};
constexpr auto kEndings = std::to_array<Ending>({
    {".ocdbt", kOcdbt},
    {".pb", kSavedModel},
    {".index", kTfIndex},
    {".tflite", kTflite},
    {".mlmodel", "a Core ML model"},
    {".params", "an MXNet file"},
    {".pdparams", "a PaddlePaddle file"},
    {kDistributedEnding,
     "a part of a distributed checkpoint, which means nothing but to its .metadata"},
});

}  // namespace

Result<std::string_view> ForeignFormatOf(const InputFile& file, std::string_view head) {
  const auto mark = std::ranges::find_if(kMarks, [&](const Mark& candidate) {
    return head.size() >= candidate.offset &&
           head.substr(candidate.offset).starts_with(candidate.bytes);
  });
  if (mark != kMarks.end()) return mark->format;
  // A sorted table of LevelDB's format ends in this number.
  constexpr std::string_view kTableEnd = "\x57\xfb\x80\x8b\x24\x75\x47\xdb"sv;
  constexpr std::uint64_t kFooterBytes = 48;
  if (file.size_bytes() < kFooterBytes) return std::string_view();
  std::string tail(kTableEnd.size(), '\0');
  RETURN_IF_ERROR(
      file.ReadAt(file.size_bytes() - tail.size(), std::as_writable_bytes(std::span(tail))));
  return tail == kTableEnd ? kTfIndex : std::string_view();
}

std::string_view ForeignFormatByName(std::string_view name) {
  if (name.find(".data-0") != std::string_view::npos) return kTfData;
  const auto row = std::ranges::find_if(
      kEndings, [&](const Ending& candidate) { return name.ends_with(candidate.of_name); });
  return row == kEndings.end() ? std::string_view() : row->format;
}

}  // namespace rharness
