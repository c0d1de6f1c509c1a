// JSON to fingerprint: strict, so that a misspelled member never passes for a missing behaviour.
#include "compare/fingerprints/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "compare/fingerprints/canonical_tree.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

constexpr std::string_view kSchema = "rharness.fingerprint";
constexpr int kMostDepth = 16;
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;

void RefuseUnknown(JsonReader& reader, std::initializer_list<std::string_view> known) {
  if (!reader.json().IsObject()) return;
  for (const auto& [name, value] : reader.json().AsObject()) {
    if (name.starts_with("x-") || std::ranges::find(known, name) != known.end()) continue;
    reader.Fail("unknown member; expected one of " + fmt::format("{}", fmt::join(known, ", ")),
                name);
  }
}

std::string ScalarText(const Json& value) {
  return value.kind() == Json::Kind::kString ? value.AsString() : value.Dump();
}

void Flatten(const std::string& key, const Json& value, int depth,
             std::map<std::string, std::string>* stack) {
  const auto below = [&](const std::string& name, const Json& member) {
    Flatten(key.empty() ? name : key + "." + name, member, depth + 1, stack);
  };
  if (value.IsObject() && depth < kMostDepth) {
    for (const auto& [name, member] : value.AsObject()) below(name, member);
  } else if (value.IsArray() && depth < kMostDepth) {
    int index = 0;
    for (const Json& element : value.AsArray()) below(std::to_string(index++), element);
  } else {
    (*stack)[key] = ScalarText(value);
  }
}

// Members in order of names, so that the order in which a library lists them is no change. Written
// without a sorted copy, which would double the memory of an untrusted document.
void AppendSorted(const Json& value, std::string* text) {
  std::string_view separator;
  if (value.IsArray()) {
    *text += '[';
    for (const Json& element : value.AsArray()) {
      *text += std::exchange(separator, ",");
      AppendSorted(element, text);
    }
    *text += ']';
  } else if (value.IsObject()) {
    std::vector<const Json::Member*> members;
    for (const Json::Member& member : value.AsObject()) members.push_back(&member);
    std::ranges::sort(members, {},
                      [](const auto* member) { return std::string_view(member->first); });
    *text += '{';
    for (const Json::Member* member : members) {
      *text += std::exchange(separator, ",");
      *text += Json(member->first).Dump() + ":";
      AppendSorted(member->second, text);
    }
    *text += '}';
  } else {
    *text += value.Dump();
  }
}

std::string SortedText(const Json& value) {
  std::string text;
  AppendSorted(value, &text);
  return text;
}

// The first value whose key has one of `parts` and ends in a model's name.
std::string ModelIn(const std::map<std::string, std::string>& stack,
                    std::initializer_list<std::string_view> parts) {
  for (const auto& fact : stack) {
    const auto& [key, value] = fact;
    const std::string_view last = std::string_view(key).substr(key.rfind('.') + 1);
    const bool model =
        last.ends_with("model") || last == "name" || last == "product" || last == "model_name";
    const bool part = std::ranges::any_of(
        parts, [&](std::string_view word) { return fact.first.find(word) != std::string::npos; });
    const auto first = value.find_first_not_of(' '), last_letter = value.find_last_not_of(' ');
    if (model && part && first != value.npos) {
      return value.substr(first, last_letter - first + 1);
    }
  }
  return "";
}

std::string HardwareClass(const std::map<std::string, std::string>& stack) {
  const std::string gpu = ModelIn(stack, {"gpu", "cuda", "accelerator"});
  return gpu.empty() ? ModelIn(stack, {"cpu", "processor"}) : gpu;
}

void ReadDigest(JsonReader& reader, std::string* out) {
  reader.Get(out);
  if (reader.ok() && !IsSha256Hex(*out)) reader.Fail("expected a SHA-256 as 64 hex digits");
}

void ReadTree(JsonReader& reader, FingerprintTree* out, bool region);

// The data on sums of products beside their order.
void ReadProducts(JsonReader& reader, FingerprintTree* out, bool region) {
  reader.ReadObject("arithmetic", false, [&](JsonReader& arithmetic) {
    RefuseUnknown(arithmetic, {"name", "products", "sums"});
    std::string products, sums;
    arithmetic.Read("name", &out->arithmetic);
    arithmetic.ReadOptional("products", &products);
    arithmetic.Read("sums", &sums);
    out->rounding = fmt::format("{}; {}", products, sums);
  });
  reader.ReadObject("replayed", false, [&](JsonReader& replayed) {
    RefuseUnknown(replayed, {"inputs", "predicted"});
    replayed.Read("inputs", &out->inputs);
    replayed.Read("predicted", &out->predicted);
    const bool share = out->inputs >= 1 && out->predicted >= 0 && out->predicted <= out->inputs;
    if (replayed.ok() && !share) replayed.Fail("expected no more predicted than inputs");
  });
  reader.ReadOptional("outputs", &out->outputs);
  reader.ReadOptional("row", &out->row);
  reader.ReadOptional("column", &out->column);
  if (region) return;
  reader.ReadOptional("all_outputs", &out->all_outputs);
  reader.ReadOptional("regions_sha256", &out->regions_sha256);
  if (reader.ok() && !out->regions_sha256.empty() && !IsSha256Hex(out->regions_sha256)) {
    return reader.Fail("expected a SHA-256", "regions_sha256");
  }
  reader.ForEach("regions", [&](JsonReader& one) {
    if (!one.json().IsObject()) return one.Fail("expected an object");
    ReadTree(one, &out->regions.emplace_back(), true);
  });
}

void ReadTree(JsonReader& reader, FingerprintTree* out, bool region) {
  if (region) {
    RefuseUnknown(reader, {"row", "column", "name", "leaves", "sha256", "canonical", "arithmetic",
                           "replayed", "outputs"});
  } else {
    RefuseUnknown(reader, {"name", "leaves", "sha256", "canonical", "arithmetic", "replayed",
                           "outputs", "all_outputs", "regions_sha256", "regions"});
  }
  ReadProducts(reader, out, region);
  reader.Read("name", &out->name);
  reader.Read("leaves", &out->leaves);
  reader.Read("sha256", &out->sha256);
  std::string canonical;
  reader.ReadOptional("canonical", &canonical);
  if (!reader.ok()) return;
  if (!IsSha256Hex(out->sha256)) return reader.Fail("expected a SHA-256", "sha256");
  if (out->leaves < 1) return reader.Fail("expected a summand or more", "leaves");
  if (canonical.empty()) return;
  if (Sha256HexOf(canonical) != out->sha256) {
    return reader.Fail("is not the digest of the canonical text", "sha256");
  }
  auto tree = ParseCanonicalTree(canonical);
  if (!tree.ok()) return reader.Fail(tree.error().message, "canonical");
  if (tree->leaves() != out->leaves) {
    return reader.Fail(fmt::format("the canonical text has {} leaves", tree->leaves()), "leaves");
  }
  out->tree = std::move(*tree);
}

void ReadBehaviour(JsonReader& reader, FingerprintProbe* out) {
  reader.ForEachMember("choice", [&](const std::string& name, JsonReader& value) {
    const Json* why = value.json().IsObject() ? value.json().Find("failed") : nullptr;
    if (why == nullptr) {
      out->choices[name] = SortedText(value.json());
    } else {
      const bool is_text = why->kind() == Json::Kind::kString;
      out->failed[name] = TerminalSafe(is_text ? why->AsString() : why->Dump());
    }
  });
  reader.ForEachMember("tree", [&](const std::string& name, JsonReader& value) {
    if (!value.json().IsObject()) return value.Fail("expected an object");
    ReadTree(value, &out->trees[name], false);
  });
  reader.ForEachMember("bits", [&](const std::string& name, JsonReader& value) {
    ReadDigest(value, &out->bits[name]);
  });
  reader.ReadOptional("deterministic", &out->deterministic);
  reader.ReadArray("unstable", &out->unstable);
  std::ranges::sort(out->unstable);
  for (const auto& [name, why] : out->failed) {
    out->trees.erase(name);
    out->bits.erase(name);
    std::erase(out->unstable, name);
  }
}

void ReadProbe(JsonReader& reader, FingerprintProbe* out) {
  RefuseUnknown(reader, {"name", "family", "device", "status", "message", "parameters", "choice",
                         "tree", "bits", "deterministic", "unstable", "counts", "notes"});
  reader.Read("name", &out->name);
  reader.Read("family", &out->family);
  reader.ReadOptional("device", &out->device);
  std::string status;
  reader.Read("status", &status);
  reader.ReadOptional("message", &out->message);
  reader.ForEachMember("parameters", [&](const std::string& name, JsonReader& value) {
    out->parameters[name] = SortedText(value.json());
  });
  if (reader.ok() && out->name.empty()) reader.Fail("expected a name", "name");
  if (reader.ok()) {
    const auto known = ParseProbeStatus(status);
    if (!known.ok()) return reader.Fail(known.error().message, "status");
    out->status = *known;
  }
  ReadBehaviour(reader, out);
}

// What a probe of the stack's identity found is a fact of the stack, not a behaviour of it.
void MoveIdentity(FingerprintProbe* probe, std::map<std::string, std::string>* stack) {
  if (probe->family != kIdentityFamily || !probe->Ok()) return;
  for (const auto& [name, text] : probe->choices) {
    const auto json = ParseJson(text, "choice");
    if (json.ok()) Flatten(fmt::format("{}.{}", probe->name, name), *json, 0, stack);
  }
  probe->choices.clear();
}

// "unsupported" for a schema of this name with a higher number; nothing for anything else.
Status CheckVersion(const Json& json, std::string_view file) {
  const Json* schema = json.Find("schema");
  if (schema == nullptr || schema->kind() != Json::Kind::kString) return {};
  const std::string prefix = fmt::format("{}/v", kSchema);
  const std::string& text = schema->AsString();
  if (!text.starts_with(prefix)) return {};
  int version = 0;
  const char* begin = text.data() + prefix.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), version);
  const bool number = error == std::errc() && end == text.data() + text.size();
  if (!number || version <= kFingerprintVersion) return {};
  return Unsupported(fmt::format("'{}' is newer than {}{}, the newest that this program reads",
                                 text, prefix, kFingerprintVersion),
                     fmt::format("{}: $.schema", file));
}

// What rharness writes beside fingerprints, by its schema.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kDocuments = {
    {{"rharness.manifest", "the manifest of a run"},
     {"rharness.evidence", "the evidence of a rerun"},
     {"rharness.report", "the report of a drill"},
     {"rharness.drill", "the settings of a drill"},
     {"rharness.plan", "the plan of a drill"},
     {"rharness.comparison", "a comparison"},
     {"rharness.gate", "the decision of a gate"},
     {"rharness.fleet", "a fleet"},
     {"rharness.fingerprint_diff", "the difference of two fingerprints"},
     {"rharness.baseline", "the record of a baseline"},
     {"rharness.probes", "a list of probes"},
     {"rharness.history", "a list of runs"}}};

// "the manifest of a run (rharness.manifest/v1)"; empty for a fingerprint and for foreign
// documents.
std::string OtherDocument(const Json& json) {
  const Json* schema = json.Find("schema");
  if (schema == nullptr || schema->kind() != Json::Kind::kString) return "";
  const std::string& text = schema->AsString();
  const std::string_view name = std::string_view(text).substr(0, text.find('/'));
  if (name == kSchema || !name.starts_with("rharness.")) return "";
  const auto known = std::ranges::find(kDocuments, name, &decltype(kDocuments)::value_type::first);
  return fmt::format("{} ({})", known == kDocuments.end() ? "another document" : known->second,
                     TerminalSafe(text.substr(0, 80)));
}

Status CheckDocument(const Json& json, std::string_view file) {
  const std::string other = OtherDocument(json);
  if (other.empty()) return {};
  return InvalidInput(fmt::format("this is {}; expected a fingerprint ({}/v{}), which rharness "
                                  "probe run --out FILE writes",
                                  other, kSchema, kFingerprintVersion),
                      fmt::format("{}: $.schema", file));
}

}  // namespace

bool FingerprintProbe::IsUnstable(const std::string& name) const {
  if (unstable.empty()) return !deterministic;
  return std::ranges::binary_search(unstable, name);
}

bool FingerprintProbe::Shows() const {
  if (!Ok() || family == kIdentityFamily) return Ok();
  const auto repeats = [this](const auto& cases) {
    return std::ranges::any_of(cases, [this](const auto& one) { return !IsUnstable(one.first); });
  };
  return repeats(choices) || repeats(trees) || repeats(bits);
}

Result<Fingerprint> ParseFingerprint(const Json& json, std::string_view file) {
  RETURN_IF_ERROR(CheckDocument(json, file));
  RETURN_IF_ERROR(CheckVersion(json, file));
  JsonReader reader(json, std::string(file));
  Fingerprint out;
  out.file = file;
  reader.ReadSchema(kSchema, kFingerprintVersion);
  RefuseUnknown(reader, {"schema", "stack", "suite", "repeats", "context", "probes"});
  reader.ReadObject("context", false, [&](JsonReader& context) {
    context.ReadOptional("host", &out.node);
    context.ReadOptional("made", &out.made);
    context.ReadArray("by_name", &out.by_name);
  });
  reader.ReadObject("stack", true,
                    [&](JsonReader& stack) { Flatten("", stack.json(), 0, &out.stack); });
  reader.Read("suite", &out.suite);
  reader.ReadObject("repeats", false, [&](JsonReader& repeats) {
    RefuseUnknown(repeats, {"in_process", "processes"});
    repeats.Read("in_process", &out.repeats);
    repeats.Read("processes", &out.processes);
    if (repeats.ok() && (out.repeats < 1 || out.processes < 1)) repeats.Fail("expected 1 or more");
  });
  if (reader.ok() && !reader.Has("probes")) reader.Fail("missing; expected an array", "probes");
  std::set<std::string> names;
  reader.ForEach("probes", [&](JsonReader& probe) {
    ReadProbe(probe, &out.probes.emplace_back());
    if (!names.insert(out.probes.back().name).second) {
      probe.Fail(fmt::format("a second probe named '{}'", out.probes.back().name), "name");
    }
  });
  RETURN_IF_ERROR(reader.status());
  std::ranges::sort(out.probes, {}, &FingerprintProbe::name);
  out.hardware_class = HardwareClass(out.stack);
  for (FingerprintProbe& probe : out.probes) MoveIdentity(&probe, &out.stack);
  return out;
}

Result<Fingerprint> LoadFingerprint(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path, kMostBytes));
  return ParseFingerprint(json, path.string());
}

Fingerprint UnreadableFingerprint(std::string_view file, const Error& error) {
  Fingerprint fingerprint;
  fingerprint.file = file;
  fingerprint.suite = "unreadable: " + error.ToString();
  return fingerprint;
}

Result<Fingerprint> LoadAsEvidence(const std::filesystem::path& path, std::string* sha256) {
  const auto unreadable = [&path](const Error& error) -> Result<Fingerprint> {
    const bool understood =
        error.code != ErrorCode::kInvalidInput && error.code != ErrorCode::kUnsupported;
    if (understood) return error;
    return UnreadableFingerprint(path.string(), error);
  };
  const auto text = ReadFile(path, kMostBytes);
  if (!text.ok()) return unreadable(text.error());
  if (sha256 != nullptr) *sha256 = Sha256HexOf(*text);
  const auto json = ParseJson(*text, path.string());
  if (!json.ok()) return unreadable(json.error());
  RETURN_IF_ERROR(CheckDocument(*json, path.string()));
  auto fingerprint = ParseFingerprint(*json, path.string());
  return fingerprint.ok() ? std::move(fingerprint) : unreadable(fingerprint.error());
}

Layer LayerOfStack(std::string_view key) {
  for (const std::string_view word : {"gpu", "cpu", "device", "driver", "hardware", "memory"}) {
    if (key.find(word) != key.npos) return Layer::kHardware;
  }
  return Layer::kEnvironment;
}

}  // namespace rharness
