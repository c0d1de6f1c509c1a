// How lists of texts and maps by names are read, and packages written; see record_map_kinds.h.
#include "harness/records/manifest/record_map_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/strict_member_reader.h"
#include "harness/records/manifest/result_members.h"

namespace rharness {
namespace {

constexpr NameTable<PackageUse, 3> kUseNames = {{{PackageUse::kUsed, "used"},
                                                 {PackageUse::kNotUsed, "not_used"},
                                                 {PackageUse::kNotKnown, "not_known"}}};

constexpr std::string_view kExpectedName =
    "expected a name of 1 to 256 bytes without control characters";

bool IsPackageDigest(std::string_view text) {
  const std::string_view hex = text.substr(std::min(text.size(), text.find(':') + 1));
  const bool is_hex = hex.find_first_not_of("0123456789abcdef") == hex.npos;
  return is_hex && ((text.starts_with("sha256:") && hex.size() == 64) ||
                    (text.starts_with("md5:") && hex.size() == 32));
}

void ReadOneName(JsonReader& element, std::string* name) {
  element.Get(name);
  if (!IsName(*name)) element.Fail(std::string(kExpectedName));
}

void ReadPackageList(JsonReader& reader, PackageList* out) {
  PackageMap packages;
  RefuseUnknownMembers(reader, {"used", "not_used", "not_known", "digests"});
  for (const auto& [use, key] : kUseNames) {
    reader.ForEachMember(key, [&, use = use](const std::string& name, JsonReader& value) {
      if (!IsName(name)) value.Fail(std::string(kExpectedName));
      Package& package = packages[name];
      package.use = use;
      value.Get(&package.version);
    });
  }
  reader.ForEachMember("digests", [&](const std::string& name, JsonReader& value) {
    const auto package = packages.find(name);
    if (package == packages.end()) return value.Fail("expected the name of a package of the list");
    value.Get(&package->second.digest);
    if (!IsPackageDigest(package->second.digest)) {
      value.Fail("expected \"sha256:\" and 64 hex digits, or \"md5:\" and 32");
    }
  });
  *out = PackageList(std::move(packages));
}

Json PackageListToJson(const PackageList& list) {
  Json by_use = Json::MakeObject();
  for (const auto& [use, key] : kUseNames) {
    Json versions = Json::MakeObject();
    for (const auto& [name, package] : list) {
      if (package.use == use) versions.AppendMember(name, package.version);
    }
    if (!versions.AsObject().empty()) by_use.AppendMember(std::string(key), std::move(versions));
  }
  Json digests = Json::MakeObject();
  for (const auto& [name, package] : list) {
    if (!package.digest.empty()) digests.AppendMember(name, package.digest);
  }
  if (!digests.AsObject().empty()) by_use.AppendMember("digests", std::move(digests));
  return by_use;
}

}  // namespace

void NamesKind::Read(JsonReader& reader, std::string_view key, bool,
                     std::vector<std::string>* out) {
  reader.ReadEach(key, out, ReadOneName);
}

void NamesKind::Read(JsonReader& reader, std::string_view key, bool, std::set<std::string>* out) {
  reader.ForEach(key, [&](JsonReader& element) {
    std::string name;
    ReadOneName(element, &name);
    out->insert(std::move(name));
  });
}

void CommandKind::Read(JsonReader& reader, std::string_view key, bool,
                       std::vector<std::string>* out) {
  if (!reader.Has(key)) return reader.Fail("missing; expected an array of strings", key);
  reader.ReadEach(key, out, [](JsonReader& element, std::string* argument) {
    element.Get(argument);
    if (argument->find('\0') != std::string::npos) element.Fail("contains a NUL byte");
  });
  if (reader.ok() && !out->empty() && out->front().empty()) {
    reader.Fail("expected a program and its arguments; the program's name is empty", key);
  }
}

void VariablesKind::Read(JsonReader& reader, std::string_view key, bool, Variables* out) {
  reader.ReadEachMember(key, out, [](const std::string& name, JsonReader& json, auto* value) {
    const bool valid = IsName(name) && name.find('=') == std::string::npos;
    if (!valid) return json.Fail("expected a variable's name, without '=' or control characters");
    if (!json.json().IsNull()) json.Get(&value->emplace());
    if (*value && (*value)->find('\0') != std::string::npos) json.Fail("contains a NUL byte");
  });
}

void LockFilesKind::Read(JsonReader& reader, std::string_view key, bool,
                         std::map<std::string, std::string>* out) {
  reader.ReadEachMember(key, out, [](const std::string& path, JsonReader& value, auto* sha256) {
    const auto safe = SafeRelativePath(path, "");
    if (!safe.ok()) return value.Fail(safe.error().message);
    value.Get(sha256);
    if (!IsSha256Hex(*sha256)) value.Fail("expected 64 hex digits");
  });
}

void UnreadKind::Read(JsonReader& reader, std::string_view key, bool, UnreadMembers* out) {
  reader.ReadEachMember(key, out, [](const std::string& name, JsonReader& value, auto* text) {
    value.Get(text);
    if (name.size() > kUnreadNameBytes || text->size() > kUnreadTextBytes) {
      value.Fail(fmt::format("expected a name of at most {} bytes and a text of at most {}",
                             kUnreadNameBytes, kUnreadTextBytes));
    }
  });
}

void PackagesKind::Read(JsonReader& reader, std::string_view key, bool, Packages* out) {
  if (reader.over_values()) return;  // see CheckManifest
  reader.ReadObject(key, false, [&](JsonReader& packages) {
    for (const auto& [manager, list] : packages.json().AsObject()) {
      if (!IsName(manager)) return packages.Fail("expected the name of a package manager");
      packages.ReadObject(manager, true, [&, list_of = &(*out)[manager]](JsonReader& r) {
        ReadPackageList(r, list_of);
      });
    }
  });
}

Json PackagesKind::Write(const Packages& packages) {
  Json json = Json::MakeObject();
  for (const auto& [manager, list] : packages) json.AppendMember(manager, PackageListToJson(list));
  return json;
}

void CurvesKind::Read(JsonReader& reader, std::string_view key, bool, std::vector<Curve>* out) {
  reader.ForEachMember(key, [&](const std::string& name, JsonReader& value) {
    if (!IsName(name)) value.Fail(std::string(kExpectedName));
    CurvePoints points{{.name = name}};
    StrictReader::ReadInto(value, points);
    out->push_back(std::move(points.curve));
  });
}

// A name that is there twice is written once.
Json CurvesKind::Write(const std::vector<Curve>& curves) {
  Json json = Json::MakeObject();
  for (const Curve& curve : curves) {
    json.Set(curve.name, StrictWriter::Written(CurvePoints{curve}));
  }
  return json;
}

}  // namespace rharness
