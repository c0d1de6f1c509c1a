// Looking in the workspace first, then in the caches; every byte is hashed by MD5 and SHA-256 at
// once.
#include "harness/records/intake/dvc_contents.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>

#include "harness/base/digest_md5.h"
#include "harness/base/trouble.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/dvc_ignore.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;  // as DVC reads
constexpr int kMostLevels = 64;

bool IsTextPiece(std::string_view piece) {
  const std::string_view head = piece.substr(0, 512);
  const auto is_text = [](char c) {
    return (c >= 32 && c < 127) || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == '\b';
  };
  if (head.find('\0') != head.npos) return false;
  const auto others = head.size() - static_cast<std::size_t>(std::ranges::count_if(head, is_text));
  return static_cast<double>(others) / static_cast<double>(head.size()) <= 0.30;
}

void UpdateAsUnix(std::string_view piece, Md5* md5) {
  while (!piece.empty()) {
    const std::size_t end = piece.find("\r\n");
    md5->Update(piece.substr(0, end));
    if (end == piece.npos) return;
    piece.remove_prefix(end + 1);
  }
}

// As much as fits, but at the end of the file.
Result<std::string_view> ReadPiece(int fd, std::string* buffer, const std::string& where) {
  std::size_t have = 0;
  while (have < buffer->size()) {
    const ssize_t got = ::read(fd, buffer->data() + have, buffer->size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return IoErrorFromErrno("cannot be read", errno, where);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  return std::string_view(*buffer).substr(0, have);
}

std::string FullName(const fs::path& folder, const std::string& path) {
  return (folder / path).lexically_normal().string();
}

Error AnotherOne(const DvcEntry& entry, const std::string& path, const std::string& md5) {
  return IntegrityError(fmt::format("differs today: its {} is {}, recorded is {}", entry.algorithm,
                                    md5, entry.Digest().substr(entry.algorithm.size() + 1)),
                        path);
}

// A link, as DVC makes them into its cache, is no sign of a change.
Error LinksAreNotRead(Error error) {
  if (error.code == ErrorCode::kIntegrity) error.code = ErrorCode::kUnsupported;
  return error;
}

Error Interrupted() { return ProcessError("was interrupted while contents were hashed"); }

}  // namespace

Result<DvcHashes> HashForDvc(const OpenedFile& file, bool dos2unix, std::string where) {
  ASSIGN_OR_RETURN(Md5 md5, Md5::Make());
  Sha256 sha256;
  DvcHashes hashes;
  std::string buffer(std::min<std::uint64_t>(kPieceBytes, file.size_bytes + 1), '\0');
  for (;;) {
    ASSIGN_OR_RETURN(const std::string_view piece,
                     ReadPiece(file.descriptor.get(), &buffer, where));
    if (piece.empty()) break;
    if (dos2unix && IsTextPiece(piece)) {
      hashes.text = true;
      UpdateAsUnix(piece, &md5);
    } else {
      md5.Update(piece);
    }
    sha256.Update(piece);
    hashes.size_bytes += piece.size();
    // A file that grew meanwhile is read as pieces of the right size all the same.
    if (piece.size() == buffer.size() && buffer.size() < kPieceBytes) {
      return IoError("grew while it was read", std::move(where));
    }
  }
  hashes.md5 = md5.FinishHex();
  hashes.sha256 = sha256.Finish();
  return hashes;
}

Result<std::string> DvcMd5Of(std::string_view text, bool dos2unix) {
  ASSIGN_OR_RETURN(Md5 md5, Md5::Make());
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), kPieceBytes))) {
    const std::string_view piece = text.substr(0, kPieceBytes);
    if (dos2unix && IsTextPiece(piece)) {
      UpdateAsUnix(piece, &md5);
    } else {
      md5.Update(piece);
    }
  }
  return md5.FinishHex();
}

std::string TreeDigestOf(std::vector<DvcFoundFile> files) {
  std::ranges::sort(files, {}, &DvcFoundFile::path);
  Sha256 hash;
  hash.Update(std::string_view("rharness.tree/v1\0", 17));
  for (const DvcFoundFile& file : files) {
    hash.UpdateU64(file.path.size());
    hash.Update(file.path);
    hash.UpdateU64(file.size_bytes);
    std::array<std::uint8_t, 32> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const auto digit = [&](std::size_t at) {
        const char c = file.sha256[at];
        return c <= '9' ? c - '0' : c - 'a' + 10;
      };
      bytes[i] = static_cast<std::uint8_t>(digit(2 * i) * 16 + digit(2 * i + 1));
    }
    hash.Update(std::as_bytes(std::span(bytes)));
  }
  return ToHex(hash.Finish());
}

std::vector<fs::path> DvcObjectPaths(const std::string& hash, bool directory) {
  if (hash.size() != 32) return {};
  const fs::path name = fs::path(hash.substr(0, 2)) / (hash.substr(2) + (directory ? ".dir" : ""));
  return {fs::path("files/md5") / name, name};
}

DvcContents::DvcContents(const HeldFolder& root, const std::vector<fs::path>& caches,
                         std::function<bool()> should_cancel)
    : root_(root), should_cancel_(std::move(should_cancel)) {
  for (const fs::path& path : caches) {
    auto cache = HeldFolder::Open(path);
    if (cache.ok()) caches_.push_back(std::move(*cache));
  }
}

const Result<DvcContent>& DvcContents::Find(const DvcEntry& entry, const std::string& path) {
  const std::pair key(entry.Digest(), path);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  return known_.emplace(key, Look(entry, path)).first->second;
}

Result<DvcContent> DvcContents::Look(const DvcEntry& entry, const std::string& path) {
  if (!entry.IsMd5()) return NotFound("no MD5 is recorded", entry.path);
  return entry.directory ? LookForDirectory(entry, path) : LookForFile(entry, path);
}

Result<DvcFoundFile> DvcContents::CachedFile(const std::string& md5, bool dos2unix,
                                             bool* text) const {
  if (Cancelled()) return Interrupted();
  Error why = NotFound("is in no cache", md5);
  for (const HeldFolder& cache : caches_) {
    for (const fs::path& name : DvcObjectPaths(md5, false)) {
      const auto file = cache.OpenFile(name);
      if (!file.ok()) continue;
      const fs::path at = cache.path() / name;
      ASSIGN_OR_RETURN(const DvcHashes hashes, HashForDvc(*file, dos2unix, at.string()));
      if (hashes.md5 == md5) {
        *text = *text || hashes.text;
        return DvcFoundFile{"", ToHex(hashes.sha256), hashes.size_bytes,
                            FullName(cache.path(), name.string())};
      }
      why = IntegrityError(fmt::format("the cache is damaged: md5 {}", hashes.md5), at.string());
    }
  }
  return why;
}

Result<DvcContent> DvcContents::LookForFile(const DvcEntry& entry, const std::string& path) {
  std::optional<Error> other;
  const bool dos2unix = IsDos2Unix(entry);
  const auto file = path.empty() ? NotFound("lies outside") : root_.OpenFile(path);
  if (file.ok()) {
    ASSIGN_OR_RETURN(const DvcHashes hashes, HashForDvc(*file, dos2unix, path));
    if (hashes.md5 == entry.hash) {
      const std::string sha256 = ToHex(hashes.sha256), at = FullName(root_.path(), path);
      return DvcContent{
          sha256, hashes.size_bytes, at, {{"", sha256, hashes.size_bytes, at}}, hashes.text, ""};
    }
    other = AnotherOne(entry, path, hashes.md5);
  }
  bool text = false;
  auto cached = CachedFile(entry.hash, dos2unix, &text);
  if (!cached.ok()) {
    if (cached.error().code != ErrorCode::kNotFound) return cached.error();
    if (other) return *other;
    return NotFound("is neither in the workspace nor in the cache", entry.path);
  }
  const std::string changed = other ? other->ToString() : "";
  return DvcContent{cached->sha256, cached->size_bytes, cached->at, {*cached}, text, changed};
}

Result<std::string> DvcContents::Read(const DvcEntry& entry, const std::string& path) const {
  Error why = NotFound("is neither in the workspace nor in the cache", entry.path);
  const auto take = [&](const HeldFolder& folder, const fs::path& name) {
    auto text = folder.ReadFile(name, kMostDvcBytes);
    if (!text.ok() && text.error().code != ErrorCode::kNotFound) why = text.error();
    if (!text.ok()) return std::optional<std::string>();
    const auto md5 = DvcMd5Of(*text, IsDos2Unix(entry));
    if (md5.ok() && *md5 == entry.hash) return std::optional(std::move(*text));
    why = md5.ok() ? AnotherOne(entry, name.string(), *md5) : md5.error();
    return std::optional<std::string>();
  };
  if (!entry.IsMd5() || entry.directory) return why;
  if (!path.empty()) {
    if (auto text = take(root_, path)) return std::move(*text);
  }
  for (const HeldFolder& cache : caches_) {
    for (const fs::path& name : DvcObjectPaths(entry.hash, false)) {
      if (auto text = take(cache, name)) return std::move(*text);
    }
  }
  return why;
}

struct DvcContents::Walk {
  DvcIgnore ignore;
  std::string top;  // of the directory, below the root
  bool dos2unix = false;
  std::size_t ignored = 0;
  bool text = false;
  std::vector<DvcFoundFile> files;
  std::vector<DvcListed> listing;
};

Status DvcContents::WalkFolder(const HeldFolder& folder, const std::string& below, int levels,
                               Walk* walk) {
  std::error_code error;
  fs::directory_iterator at(folder.through(), error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    const std::string relative = below + name;
    const fs::file_status status = at->symlink_status(error);
    if (error) break;
    if (walk->ignore.Ignores(walk->top + "/" + relative, fs::is_directory(status))) {
      ++walk->ignored;
      continue;
    }
    if (Cancelled()) return Interrupted();
    if (fs::is_directory(status)) {
      if (levels == 0) return Unsupported("more than 64 levels of folders", relative);
      ASSIGN_OR_RETURN(const HeldFolder inner, folder.OpenFolder(name));
      RETURN_IF_ERROR(WalkFolder(inner, relative + "/", levels - 1, walk));
      continue;
    }
    if (walk->files.size() >= kMostDvcListing) {
      return Unsupported(fmt::format("more than {} files", kMostDvcListing), walk->top);
    }
    ASSIGN_OR_RETURN(const OpenedFile file, folder.OpenFile(name));
    ASSIGN_OR_RETURN(const DvcHashes hashes, HashForDvc(file, walk->dos2unix, relative));
    walk->text = walk->text || hashes.text;
    walk->listing.push_back({relative, hashes.md5});
    walk->files.push_back({relative, ToHex(hashes.sha256), hashes.size_bytes,
                           FullName(root_.path(), walk->top + "/" + relative)});
  }
  if (error) return IoError("cannot be listed: " + error.message(), folder.path().string());
  return {};
}

Result<DvcContent> DvcContents::WorkspaceDirectory(const DvcEntry& entry, const std::string& path) {
  const auto folder = root_.OpenFolder(path);
  if (!folder.ok()) return LinksAreNotRead(folder.error());
  Walk walk;
  walk.top = path;
  walk.dos2unix = IsDos2Unix(entry);
  constexpr std::uint64_t kMostIgnoreBytes = std::uint64_t{1} << 20;
  fs::path around;
  for (const fs::path& part : fs::path(path)) {
    const auto text = root_.ReadFile(around / ".dvcignore", kMostIgnoreBytes);
    if (!text.ok() && IsTrouble(text.error())) return text.error();
    if (text.ok()) walk.ignore.Add(around.string(), *text);
    around /= part;
  }
  const Status walked = WalkFolder(*folder, "", kMostLevels, &walk);
  if (!walked.ok()) return LinksAreNotRead(walked.error());
  ASSIGN_OR_RETURN(const std::string md5, Md5HexOf(WriteDvcListing(walk.listing)));
  if (md5 != entry.hash) return AnotherOne(entry, path, md5 + ".dir");
  DvcContent content;
  content.sha256 = TreeDigestOf(walk.files);
  for (const DvcFoundFile& file : walk.files) content.size_bytes += file.size_bytes;
  // What is ignored would be there, too.
  if (walk.ignored == 0) content.at = FullName(root_.path(), path);
  content.files = std::move(walk.files);
  content.line_ends_open = walk.text;
  std::ranges::sort(content.files, {}, &DvcFoundFile::path);
  return content;
}

Result<std::vector<DvcListed>> DvcContents::CachedListing(const std::string& md5) const {
  for (const HeldFolder& cache : caches_) {
    for (const fs::path& name : DvcObjectPaths(md5, true)) {
      const auto text = cache.ReadFile(name, kMostDvcBytes);
      if (!text.ok() && text.error().code == ErrorCode::kNotFound) continue;
      if (!text.ok()) return text.error();
      const std::string at = (cache.path() / name).string();
      ASSIGN_OR_RETURN(const std::string found, Md5HexOf(*text));
      if (found != md5) return IntegrityError("the cache is damaged: md5 " + found, at);
      return ParseDvcListing(*text, at);
    }
  }
  return NotFound("is neither in the workspace nor in the cache", md5 + ".dir");
}

Result<DvcContent> DvcContents::LookForDirectory(const DvcEntry& entry, const std::string& path) {
  const auto there = path.empty() ? NotFound("lies outside") : WorkspaceDirectory(entry, path);
  if (there.ok() || there.error().code == ErrorCode::kProcess) return there;
  const bool another = there.error().code == ErrorCode::kIntegrity;
  const auto listing = CachedListing(entry.hash);
  if (!listing.ok()) {
    const bool absent = listing.error().code == ErrorCode::kNotFound;
    return absent && there.error().code != ErrorCode::kNotFound ? there.error() : listing.error();
  }
  DvcContent content;
  for (const DvcListed& listed : *listing) {
    auto file = CachedFile(listed.md5, IsDos2Unix(entry), &content.line_ends_open);
    if (!file.ok()) return another ? there.error() : file.error();
    file->path = listed.path;
    content.size_bytes += file->size_bytes;
    content.files.push_back(std::move(*file));
  }
  content.sha256 = TreeDigestOf(content.files);
  if (another) content.changed = there.error().ToString();
  return content;
}

}  // namespace rharness
