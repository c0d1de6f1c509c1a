// Manifest to JSON: every member, in the order of the struct, doubles so that they read back the
// same bits.
#include "harness/records/manifest/fields.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {
namespace {

Json CodeToJson(const Code& code) {
  Json json = ObjectOf({{"repository", code.repository},
                        {"commit", code.commit},
                        {"dirty", code.dirty},
                        {"diff_sha256", code.diff_sha256},
                        {"files", ToJsonArray(code.files)}});
  // Here and below, unknown values are left out, so that an older record keeps its bytes.
  if (!code.kept_diff_sha256.empty()) {
    json.AppendMember("kept_diff_sha256", code.kept_diff_sha256);
  }
  return json;
}

Json ImageToJson(const Image& image) {
  Json json = ObjectOf({{"kind", image.kind},
                        {"registry", image.registry},
                        {"repository", image.repository},
                        {"tag", image.tag},
                        {"digest", image.digest},
                        {"platform", image.platform},
                        {"packages_sha256", image.packages_sha256}});
  if (!image.location.empty()) json.AppendMember("location", image.location);
  if (!image.layers.empty()) json.AppendMember("layers", ToJson(image.layers));
  if (!image.base_name.empty()) json.AppendMember("base_name", image.base_name);
  if (!image.base_digest.empty()) json.AppendMember("base_digest", image.base_digest);
  return json;
}

Json DeterminismToJson(const Determinism& determinism) {
  Json flags = Json::MakeObject();
  for (const auto& [name, value] : determinism.flags) flags.AppendMember(name, value);
  return ObjectOf({{"declared", determinism.declared},
                   {"scope", determinism.scope},
                   {"flags", std::move(flags)}});
}

}  // namespace

Json ToJson(const Manifest& manifest) {
  Json hyperparameters = Json::MakeObject();
  for (const auto& [name, value] : manifest.hyperparameters) {
    hyperparameters.AppendMember(name, value);
  }
  Json json = ObjectOf({{"schema", "rharness.manifest/v1"},
                        {"run_id", manifest.run_id},
                        {"family", manifest.family},
                        {"started", FormatTime(manifest.started)},
                        {"ended", FormatTime(manifest.ended)},
                        {"duration_seconds", manifest.duration_seconds},
                        {"code", CodeToJson(manifest.code)},
                        {"image", ImageToJson(manifest.image)},
                        {"data", ToJsonArray(manifest.data)},
                        {"command", ToJson(manifest.command)},
                        {"working_directory", manifest.working_directory},
                        {"hyperparameters", std::move(hyperparameters)},
                        {"seeds", ToJson(manifest.seeds)},
                        {"rng_sources", ToJson(manifest.rng_sources)},
                        {"environment", ToJson(manifest.environment)},
                        {"determinism", DeterminismToJson(manifest.determinism)},
                        {"metrics_path", manifest.metrics_path},
                        {"metrics", ToJsonArray(manifest.metrics)},
                        {"curves", ToJsonArray(manifest.curves)},
                        {"artifacts", ToJsonArray(manifest.artifacts)},
                        {"resources", ToJson(manifest.resources)},
                        {"notes", ToJson(manifest.notes)}});
  // Left out if not declared, so that an older record keeps its bytes, which identify it in a
  // history.
  if (!manifest.probe_families.empty()) {
    json.AppendMember("probe_families", ToJson(manifest.probe_families));
  }
  if (!manifest.properties.empty()) {
    json.AppendMember("properties", ToJsonArray(manifest.properties));
  }
  if (manifest.unread_metrics)
    json.AppendMember("unread_metrics", ToJson(*manifest.unread_metrics));
  if (manifest.observation) json.AppendMember("observation", ToJson(*manifest.observation));
  if (!manifest.kept.empty()) json.AppendMember("kept", manifest.kept);
  if (manifest.origin) json.AppendMember("origin", ToJson(*manifest.origin));
  return json;
}

}  // namespace rharness
