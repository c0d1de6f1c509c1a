// Two versions of one description; see zarr.h.
#include "compare/weights/zarr.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compare/weights/names.h"
#include "compare/weights/npy_header.h"
#include "compare/weights/numpy_names.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

// Members that are absent or of another kind read as null, an empty text or an empty object.
const Json& ZarrMember(const Json& parent, std::string_view key) {
  static const Json kNull;
  const Json* member = parent.Find(key);
  return member == nullptr ? kNull : *member;
}

std::string ZarrText(const Json& parent, std::string_view key, std::string_view otherwise = "") {
  const Json& member = ZarrMember(parent, key);
  if (member.IsNull()) return std::string(otherwise);
  return member.kind() == Json::Kind::kString ? member.AsString() : member.Dump();
}

bool IsZero(const Json& number) {
  return number.kind() != Json::Kind::kString && number.ToDouble() == 0.0;
}

class ZarrParser {
 public:
  ZarrParser(const Json& json, const std::string& where) : json_(json), where_(where) {}

  Result<ZarrArray> Parse() {
    if (!json_.IsObject()) return Wrong("expected an object");
    const Json& format = ZarrMember(json_, "zarr_format");
    if (format.IsNull()) return Wrong("expected a zarr_format");
    if (format.ToUint64() == 2U) {
      RETURN_IF_ERROR(ParseSecond());
    } else if (format.ToUint64() == 3U) {
      RETURN_IF_ERROR(ParseThird());
    } else {
      return Other(fmt::format("zarr_format {}", format.Dump()));
    }
    return Checked();
  }

 private:
  Error Wrong(std::string_view what) const {
    return InvalidInput(fmt::format("the description of a zarr array: {}", what), where_);
  }
  Error Other(std::string_view what) const {
    return Unsupported(fmt::format("a zarr array with {}; expected what TensorStore writes for "
                                   "Orbax",
                                   what),
                       where_);
  }

  Result<std::vector<std::uint64_t>> Sizes(const Json& parent, const char* key) const {
    const Json& list = ZarrMember(parent, key);
    std::vector<std::uint64_t> sizes;
    if (list.IsArray()) {
      for (const Json& size : list.AsArray()) {
        if (size.ToUint64()) sizes.push_back(*size.ToUint64());
      }
    }
    if (list.IsArray() && sizes.size() == list.AsArray().size() && sizes.size() <= kMaxZarrRank) {
      return sizes;
    }
    return Wrong(fmt::format("{}: expected a list of at most {} numbers", key, kMaxZarrRank));
  }

  void SetFill() {
    const Json& fill = ZarrMember(json_, "fill_value");
    const bool no = fill.kind() == Json::Kind::kBool && !fill.AsBool();
    // A complex number has two parts.
    array_.zero_fill = fill.IsNull() || no || IsZero(fill) ||
                       (fill.IsArray() && std::ranges::all_of(fill.AsArray(), IsZero));
  }

  Status SetType(std::string_view key, bool codes) {
    const std::string name = ZarrText(json_, key);
    std::optional<DType> dtype = DTypeOfNumpyName(name);
    // Version 2 writes numpy's codes; types that numpy lacks, such as bfloat16, stand by name.
    const bool code = codes && (name.starts_with('<') || name.starts_with('|'));
    if (code) dtype = DTypeOfNpyFormat(std::string_view(name).substr(1));
    if (!dtype) return Other(fmt::format("elements of the type {}", Quoted(name)));
    array_.dtype = *dtype;
    return {};
  }

  Status SetSeparator(const Json& parent, std::string_view key, std::string_view standard) {
    const std::string separator = ZarrText(parent, key, standard);
    if (separator != "." && separator != "/") return Other("an unknown separator of keys");
    array_.separator = separator[0];
    return {};
  }

  Status SetCompression(const std::string& name) {
    if (array_.coding != ChunkCoding::kPlain) return Other("two compressions of one chunk");
    if (name == "zstd") {
      array_.coding = ChunkCoding::kZstd;
    } else if (name == "gzip") {
      array_.coding = ChunkCoding::kGzip;
    } else {
      return Other(fmt::format("the codec {}", Quoted(name)));
    }
    return {};
  }

  Status ParseSecond() {
    ASSIGN_OR_RETURN(array_.shape, Sizes(json_, "shape"));
    ASSIGN_OR_RETURN(array_.cell, Sizes(json_, "chunks"));
    array_.chunk = array_.cell;
    RETURN_IF_ERROR(SetType("dtype", true));
    SetFill();
    RETURN_IF_ERROR(SetSeparator(json_, "dimension_separator", "."));
    if (ZarrText(json_, "order", "C") != "C" && array_.shape.size() > 1)
      return Other("Fortran order");
    if (!ZarrMember(json_, "filters").IsNull()) return Other("filters");
    const Json& compressor = ZarrMember(json_, "compressor");
    return compressor.IsNull() ? Status() : SetCompression(ZarrText(compressor, "id"));
  }

  Status ParseThird() {
    if (ZarrText(json_, "node_type") != "array") return Other("no array");
    ASSIGN_OR_RETURN(array_.shape, Sizes(json_, "shape"));
    RETURN_IF_ERROR(SetType("data_type", false));
    SetFill();
    const Json& grid = ZarrMember(json_, "chunk_grid");
    if (ZarrText(grid, "name") != "regular") return Other("an irregular grid");
    ASSIGN_OR_RETURN(array_.cell, Sizes(ZarrMember(grid, "configuration"), "chunk_shape"));
    array_.chunk = array_.cell;
    const Json& keys = ZarrMember(json_, "chunk_key_encoding");
    const bool standard = ZarrText(keys, "name", "default") == "default";
    if (!standard && ZarrText(keys, "name") != "v2") return Other("an unknown encoding of keys");
    RETURN_IF_ERROR(
        SetSeparator(ZarrMember(keys, "configuration"), "separator", standard ? "/" : "."));
    if (standard) array_.key_start = "c";
    const Json& transformers = ZarrMember(json_, "storage_transformers");
    if (transformers.IsArray() && !transformers.AsArray().empty()) {
      return Other("storage transformers");
    }
    return AddCodecs(ZarrMember(json_, "codecs"));
  }

  Status AddCodecs(const Json& codecs) {
    if (!codecs.IsArray()) return Wrong("codecs: expected a list");
    for (const Json& codec : codecs.AsArray()) {
      const std::string name = ZarrText(codec, "name");
      const Json& settings = ZarrMember(codec, "configuration");
      if (array_.chunk_checked) return Other("a codec after a checksum");
      if (name == "bytes") {
        if (ZarrText(settings, "endian", "little") != "little") return Other("big-endian numbers");
      } else if (name == "crc32c") {
        array_.chunk_checked = true;
      } else if (name == "sharding_indexed" && !array_.sharded && codecs.AsArray().size() == 1) {
        RETURN_IF_ERROR(SetShards(settings));
      } else {
        RETURN_IF_ERROR(SetCompression(name));
      }
    }
    return {};
  }

  Status SetShards(const Json& settings) {
    array_.sharded = true;
    ASSIGN_OR_RETURN(array_.chunk, Sizes(settings, "chunk_shape"));
    array_.index_first = ZarrText(settings, "index_location", "end") == "start";
    const Json& codecs = ZarrMember(settings, "index_codecs");
    if (!codecs.IsArray()) return Wrong("index_codecs: expected a list");
    for (const Json& codec : codecs.AsArray()) {
      const std::string name = ZarrText(codec, "name");
      if (name == "crc32c") {
        array_.index_checked = true;
      } else if (name != "bytes" ||
                 ZarrText(ZarrMember(codec, "configuration"), "endian", "little") != "little") {
        return Other(fmt::format("an index through the codec {}", Quoted(name)));
      }
    }
    return AddCodecs(ZarrMember(settings, "codecs"));
  }

  Result<ZarrArray> Checked() {
    if (array_.cell.size() != array_.shape.size() || array_.chunk.size() != array_.shape.size()) {
      return Wrong("the grid has another number of dimensions than the shape");
    }
    for (std::size_t i = 0; i < array_.cell.size(); ++i) {
      if (array_.cell[i] == 0 || array_.chunk[i] == 0 || array_.cell[i] % array_.chunk[i] != 0) {
        return Wrong("the grid has a chunk of no element, or one that does not divide its shard");
      }
    }
    return std::move(array_);
  }

  const Json& json_;
  const std::string& where_;
  ZarrArray array_;
};

}  // namespace

Result<ZarrArray> ParseZarr(std::string_view text, const std::string& where) {
  if (text.size() > kMaxZarrText) {
    return Unsupported(fmt::format("{} bytes; expected at most {}", text.size(), kMaxZarrText),
                       where);
  }
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, where));
  return ZarrParser(json, where).Parse();
}

std::string CellKey(const ZarrArray& array, const std::vector<std::uint64_t>& cell) {
  std::string key = array.key_start;
  if (cell.empty()) return key.empty() ? "0" : key;
  for (const std::uint64_t number : cell) {
    if (!key.empty()) key += array.separator;
    key += std::to_string(number);
  }
  return key;
}

}  // namespace rharness
