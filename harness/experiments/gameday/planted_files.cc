// Copies of files with something wrong in them.
#include "harness/experiments/gameday/planted_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compare/weights/input_file.h"
#include "compare/weights/safetensors.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::mt19937_64 DrawsOf(std::string_view key) {
  return std::mt19937_64(std::stoull(Sha256HexOf(key).substr(0, 16), nullptr, 16));
}

// From 0 up to, and without, `below`; the bias is negligible for so few.
std::size_t Draw(std::mt19937_64& draws, std::size_t below) {
  return static_cast<std::size_t>(draws() % below);
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end == text.npos ? text.npos : end - begin + 1));
    begin = end == text.npos ? text.size() : end + 1;
  }
  if (!lines.empty() && !lines.back().ends_with('\n')) lines.back() += '\n';
  return lines;
}

// A tensor's place in its file.
struct Extent {
  TensorInfo info;
  std::uint64_t offset = 0;
};

Result<std::vector<Extent>> ExtentsOf(const fs::path& path) {
  auto opened = InputFile::Open(path);
  if (!opened.ok()) return opened.error();
  const InputFile& file = *opened;
  std::uint64_t length = 0;
  const auto none = [&] { return Unsupported("is no safetensors file", path.string()); };
  if (file.size_bytes() < sizeof length) return none();
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(&length, 1))));
  if (length > kMaxSafetensorsHeaderBytes || length + sizeof length > file.size_bytes()) {
    return none();
  }
  std::string header(length, ' ');
  RETURN_IF_ERROR(file.ReadAt(sizeof length, std::as_writable_bytes(std::span(header))));
  const std::uint64_t begin = sizeof length + length;
  const auto parsed = ParseSafetensorsHeader(header, file.size_bytes() - begin, path.string());
  if (!parsed.ok()) return none();
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < parsed->tensors.size(); ++i) {
    if (parsed->tensors[i].size_bytes == 0) continue;
    extents.push_back({parsed->tensors[i], begin + parsed->offsets[i]});
  }
  return extents;
}

class Edited {
 public:
  explicit Edited(const fs::path& path) : path_(path), file_(path, kMode) {}

  std::string Read(std::uint64_t offset, std::size_t bytes) {
    std::string text(bytes, '\0');
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(text.data(), static_cast<std::streamsize>(bytes));
    return text;
  }
  void Write(std::uint64_t offset, const std::string& text) {
    file_.seekp(static_cast<std::streamoff>(offset));
    file_.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  Status Close() {
    file_.close();
    return file_.fail() ? Status(IoError("cannot be written", path_.string())) : Status();
  }

 private:
  static constexpr auto kMode = std::ios::in | std::ios::out | std::ios::binary;
  const fs::path path_;
  std::fstream file_;
};

// Calls `change` on pieces of a tensor; returns whether any of them changed something.
template <class F>
bool Rewrite(const Extent& extent, Edited* file, F change) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
  bool changed = false;
  for (std::uint64_t done = 0; done < extent.info.size_bytes; done += kPiece) {
    const std::uint64_t bytes = std::min(kPiece, extent.info.size_bytes - done);
    std::string piece = file->Read(extent.offset + done, bytes);
    if (!change(&piece)) continue;
    changed = true;
    file->Write(extent.offset + done, piece);
  }
  return changed;
}

bool Zero(std::string* piece) {
  const bool changed = std::ranges::any_of(*piece, [](char c) { return c != 0; });
  std::ranges::fill(*piece, '\0');
  return changed;
}

// Source: bfloat16 is the upper half of binary32; rounding by adding half of the lower one, and the
// last bit that stays for ties. What is not finite stays.
bool RoundToBf16(std::string* piece) {
  bool changed = false;
  for (std::size_t at = 0; at + 4 <= piece->size(); at += 4) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, piece->data() + at, sizeof bits);
    if ((bits & 0x7f800000U) == 0x7f800000U) continue;
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) & 0xffff0000U;
    changed |= rounded != bits;
    std::memcpy(piece->data() + at, &rounded, sizeof rounded);
  }
  return changed;
}

bool FlipBit(const std::vector<Extent>& extents, std::mt19937_64& draws, Edited* file) {
  if (extents.empty()) return false;
  const Extent& extent = extents[Draw(draws, extents.size())];
  const std::uint64_t offset = extent.offset + Draw(draws, extent.info.size_bytes);
  std::string byte = file->Read(offset, 1);
  byte[0] = static_cast<char>(static_cast<unsigned char>(byte[0]) ^ (1U << Draw(draws, 8)));
  file->Write(offset, byte);
  return true;
}

bool ZeroOne(const std::vector<Extent>& extents, std::mt19937_64& draws, Edited* file) {
  if (extents.empty()) return false;
  const std::size_t first = Draw(draws, extents.size());
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (Rewrite(extents[(first + i) % extents.size()], file, Zero)) return true;
  }
  return false;
}

bool RoundAll(const std::vector<Extent>& extents, Edited* file) {
  bool changed = false;
  for (const Extent& extent : extents) {
    if (extent.info.dtype == DType::kF32) changed |= Rewrite(extent, file, RoundToBf16);
  }
  return changed;
}

}  // namespace

Status PlantInRows(FaultKind kind, const fs::path& from, const fs::path& to, std::string_view key) {
  const auto text = ReadFile(from, kMostDataBytes);
  if (!text.ok()) {
    if (text.error().code != ErrorCode::kInvalidInput) return text.error();
    return Unsupported(fmt::format("has more than {} MiB", kMostDataBytes >> 20), from.string());
  }
  if (text->find('\0') != text->npos) return Unsupported("is no text", from.string());
  std::vector<std::string> lines = LinesOf(*text);
  if (lines.size() < 5) return Unsupported("has fewer than 4 rows", from.string());
  std::mt19937_64 draws = DrawsOf(key);
  const std::vector<std::string> before = lines;
  const std::size_t rows = lines.size() - 1;
  if (kind == FaultKind::kDataOrder) {
    for (std::size_t i = rows; i > 1; --i) std::swap(lines[i], lines[1 + Draw(draws, i)]);
  } else {
    const std::size_t row = 1 + Draw(draws, rows);
    for (std::size_t i = 1; i < rows && lines == before; ++i) {
      lines[row] = before[1 + (row - 1 + i) % rows];
    }
  }
  if (lines == before) return Unsupported("has rows that are all alike", from.string());
  std::string planted;
  for (const std::string& line : lines) planted += line;
  return WriteFileAtomic(to, planted);
}

Status PlantInTensors(FaultKind kind, const fs::path& from, const fs::path& to,
                      std::string_view key) {
  ASSIGN_OR_RETURN(const std::vector<Extent> extents, ExtentsOf(from));
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (!error) fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, error);
  if (error) return IoError("cannot be copied: " + error.message(), from.string());
  std::mt19937_64 draws = DrawsOf(key);
  Edited file(to);
  const bool changed = kind == FaultKind::kTensorBit    ? FlipBit(extents, draws, &file)
                       : kind == FaultKind::kTensorZero ? ZeroOne(extents, draws, &file)
                                                        : RoundAll(extents, &file);
  RETURN_IF_ERROR(file.Close());
  if (changed) return {};
  return Unsupported(kind == FaultKind::kTensorBf16 ? "has no fp32 values that rounding changes"
                                                    : "has no tensor that could be changed",
                     from.string());
}

}  // namespace rharness
