// Models as statements: names, order and root as Model Signing has them.
#include "harness/trust/attestation/model_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::size_t kMostResources = 1'000'000;
constexpr std::string_view kWholeModel = ".";

std::string AlgorithmOf(const ModelSerialization& serialization) {
  if (serialization.shard_bytes == 0) return "sha256";
  return fmt::format("sha256-sharded-{}", serialization.shard_bytes);
}

bool ParseBytes(std::string_view text, std::uint64_t* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  const bool plain = text == "0" || (!text.empty() && text[0] != '0');
  return plain && error == std::errc() && end == text.data() + text.size();
}

// "PATH:BEGIN:END"; a path with a colon cannot be written this way.
bool ParseShardName(std::string_view name, ModelResource* out) {
  const auto first = name.find(':');
  const auto second = first == name.npos ? first : name.find(':', first + 1);
  if (second == name.npos) return false;
  out->path = name.substr(0, first);
  return ParseBytes(name.substr(first + 1, second - first - 1), &out->begin) &&
         ParseBytes(name.substr(second + 1), &out->end) && out->begin < out->end;
}

bool IsPlainPath(const std::string& path) {
  if (path == kWholeModel) return true;
  const auto safe = SafeRelativePath(path, "");
  return safe.ok() && safe->native() == path;
}

void ReadSerialization(JsonReader& reader, ModelSerialization* out) {
  std::string method, hash;
  reader.Read("method", &method);
  reader.Read("hash_type", &hash);
  reader.Read("allow_symlinks", &out->allow_symlinks);
  reader.ReadArray("ignore_paths", &out->ignore_paths);
  if (!reader.ok()) return;
  if (hash != "sha256") {
    return reader.Fail(fmt::format("'{}'; of these, sha256 alone is read", Shown(hash)),
                       "hash_type");
  }
  if (method == "shards") {
    reader.Read("shard_size", &out->shard_bytes);
    if (reader.ok() && out->shard_bytes == 0) reader.Fail("expected at least one byte");
  } else if (method != "files") {
    reader.Fail(fmt::format("'{}'; expected files or shards", Shown(method)), "method");
  }
}

// The shards of a file begin at 0, are contiguous, and have one size except the last.
bool Follows(const ModelResource& one, const ModelResource* before,
             const ModelSerialization& serialization) {
  const std::uint64_t shard = serialization.shard_bytes;
  if (shard == 0) return before == nullptr || before->path != one.path;
  if (one.end - one.begin > shard || one.begin % shard != 0) return false;
  const bool same_file = before != nullptr && before->path == one.path;
  return same_file ? before->end == one.begin : one.begin == 0;
}

void CheckResource(JsonReader& reader, const SignedModel& model, const std::string& name) {
  const ModelResource& one = model.resources.back();
  const std::size_t count = model.resources.size();
  const ModelResource* before = count > 1 ? &model.resources[count - 2] : nullptr;
  if (!IsPlainPath(one.path)) {
    return reader.Fail(fmt::format("'{}'; expected a path below the model", Shown(name)), "name");
  }
  if (before != nullptr && !ModelOrder(*before, one)) {
    return reader.Fail(
        fmt::format("'{}' is there already, or not in the order of paths", Shown(name)), "name");
  }
  if (!Follows(one, before, model.serialization)) {
    return reader.Fail(fmt::format("'{}' does not follow the shard before it, of {} bytes each",
                                   Shown(name), model.serialization.shard_bytes),
                       "name");
  }
  if (one.path != kWholeModel && IsIgnored(model.serialization, one.path)) {
    return reader.Fail(fmt::format("'{}' is both signed and ignored", Shown(name)), "name");
  }
  if (before != nullptr && (before->path == kWholeModel) != (one.path == kWholeModel)) {
    reader.Fail("'.', a model of one file, is among other files", "name");
  }
}

void ReadResource(JsonReader& reader, SignedModel* model) {
  std::string name, algorithm;
  ModelResource resource;
  reader.Read("name", &name);
  reader.Read("algorithm", &algorithm);
  reader.Read("digest", &resource.sha256);
  if (!reader.ok()) return;
  const std::string expected = AlgorithmOf(model->serialization);
  if (algorithm != expected) {
    return reader.Fail(fmt::format("'{}'; expected {}", Shown(algorithm), expected), "algorithm");
  }
  if (!IsSha256Hex(resource.sha256)) {
    return reader.Fail("expected 64 lower-case hexadecimal digits", "digest");
  }
  if (model->serialization.shard_bytes == 0) {
    resource.path = name;
  } else if (!ParseShardName(name, &resource)) {
    return reader.Fail(fmt::format("'{}'; expected PATH:BEGIN:END", Shown(name)), "name");
  }
  if (model->resources.size() == kMostResources) {
    return reader.Fail(fmt::format("expected at most {} resources", kMostResources));
  }
  model->resources.push_back(std::move(resource));
  CheckResource(reader, *model, name);
}

void ReadTensors(JsonReader& reader, SignedTensors* out) {
  reader.Read("sha256", &out->sha256);
  reader.Read("tensors", &out->tensors);
  reader.Read("size_bytes", &out->size_bytes);
  if (reader.ok() && !IsSha256Hex(out->sha256)) {
    reader.Fail("expected 64 lower-case hexadecimal digits", "sha256");
  }
}

std::string BytesOfHex(std::string_view hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    unsigned value = 0;
    std::from_chars(hex.data() + at, hex.data() + at + 2, value, 16);
    bytes += static_cast<char>(value);
  }
  return bytes;
}

Json SerializationJson(const ModelSerialization& serialization) {
  Json json;
  json.Set("method", serialization.shard_bytes == 0 ? "files" : "shards");
  json.Set("hash_type", "sha256");
  if (serialization.shard_bytes != 0) json.Set("shard_size", serialization.shard_bytes);
  json.Set("allow_symlinks", serialization.allow_symlinks);
  if (serialization.ignore_paths.empty()) return json;
  Json ignored = Json::MakeArray();
  for (const std::string& path : serialization.ignore_paths) ignored.Append(path);
  return json.Set("ignore_paths", std::move(ignored));
}

}  // namespace

std::string ResourceName(const ModelResource& resource) {
  if (resource.end == 0) return resource.path;
  return fmt::format("{}:{}:{}", resource.path, resource.begin, resource.end);
}

bool ModelOrder(const ModelResource& a, const ModelResource& b) {
  // '/' before every other byte puts parts before longer parts. NUL is in no path.
  const auto rank = [](char c) {
    return c == '/' ? 0 : static_cast<int>(static_cast<unsigned char>(c));
  };
  const auto less = [&](char x, char y) { return rank(x) < rank(y); };
  if (a.path != b.path) return std::ranges::lexicographical_compare(a.path, b.path, less);
  return a.begin < b.begin;
}

bool IsIgnored(const ModelSerialization& serialization, std::string_view path) {
  return std::ranges::any_of(serialization.ignore_paths, [&](std::string_view one) {
    while (one.ends_with('/')) one.remove_suffix(1);
    return !one.empty() && path.starts_with(one) &&
           (path.size() == one.size() || path[one.size()] == '/');
  });
}

std::string ModelRoot(const std::vector<ModelResource>& resources) {
  Sha256 hash;
  for (const ModelResource& one : resources) hash.Update(BytesOfHex(one.sha256));
  return ToHex(hash.Finish());
}

Json TensorsJson(const SignedTensors& tensors) {
  return Json::MakeObject({{"sha256", tensors.sha256},
                           {"tensors", tensors.tensors},
                           {"size_bytes", tensors.size_bytes}});
}

SignedStatement ModelStatement(const SignedModel& model) {
  SignedStatement statement;
  statement.subjects = {{model.name, ModelRoot(model.resources)}};
  statement.predicate_type = kModelPredicate;
  Json resources = Json::MakeArray();
  const std::string algorithm = AlgorithmOf(model.serialization);
  for (const ModelResource& one : model.resources) {
    if (!IsSha256Hex(one.sha256)) Abort("a model's resource without its SHA-256");
    resources.Append(Json::MakeObject(
        {{"name", ResourceName(one)}, {"algorithm", algorithm}, {"digest", one.sha256}}));
  }
  statement.predicate.Set("serialization", SerializationJson(model.serialization));
  statement.predicate.Set("resources", std::move(resources));
  if (model.tensors) {
    statement.predicate.Set(kModelTensors, TensorsJson(*model.tensors));
  }
  return statement;
}

Result<SignedModel> ReadModelStatement(const SignedStatement& statement, std::string_view where) {
  const std::string place(where);
  if (statement.predicate_type != kModelPredicate || statement.subjects.size() != 1) {
    return IntegrityError(
        fmt::format("{} subjects of '{}'; expected one of {}", statement.subjects.size(),
                    Shown(statement.predicate_type), kModelPredicate),
        place);
  }
  SignedModel model;
  model.name = statement.subjects[0].name;
  JsonReader reader(statement.predicate, place, "$.predicate");
  reader.ReadObject("serialization", true,
                    [&](JsonReader& one) { ReadSerialization(one, &model.serialization); });
  reader.ForEach("resources", [&](JsonReader& one) { ReadResource(one, &model); });
  if (reader.ok() && model.resources.empty()) {
    reader.Fail("expected at least one resource", "resources");
  }
  reader.ReadObject(kModelTensors, false,
                    [&](JsonReader& one) { ReadTensors(one, &model.tensors.emplace()); });
  if (!reader.ok()) {
    const Status status = reader.status();
    return IntegrityError("is no model's signature: " + status.error().message,
                          status.error().where);
  }
  const std::string root = ModelRoot(model.resources);
  if (root == statement.subjects[0].sha256) return model;
  return IntegrityError(fmt::format("its resources have the root {}; its subject says {}", root,
                                    statement.subjects[0].sha256),
                        place);
}

}  // namespace rharness
