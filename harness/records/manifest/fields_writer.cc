// The writers of the records that manifests and evidence share.
#include "harness/records/manifest/fields.h"

namespace rharness {

Json ObjectOf(std::initializer_list<JsonField> fields) {
  Json::Members members;
  members.reserve(fields.size());
  for (const JsonField& field : fields) {
    members.emplace_back(field.key, std::move(field.value));
  }
  return Json::MakeObject(std::move(members));
}

Json ToJson(const TensorRecord& tensor) {
  Json shape = Json::MakeArray();
  for (const std::uint64_t size : tensor.shape) shape.Append(size);
  Json json = ObjectOf({{"name", tensor.name},
                        {"dtype", tensor.dtype},
                        {"shape", std::move(shape)},
                        {"sha256", tensor.sha256}});
  if (tensor.non_finite > 0) json.AppendMember("non_finite", tensor.non_finite);
  return json;
}

Json ToJson(const Metric& metric) {
  Json json = ObjectOf({{"name", metric.name},
                        {"value", metric.value},
                        {"unit", metric.unit},
                        {"direction", MetricDirectionName(metric.direction)},
                        {"primary", metric.primary}});
  if (metric.margin) json.Set("margin", *metric.margin);
  json.Set("quantum", metric.quantum);
  if (!metric.evaluated_on.empty()) json.AppendMember("evaluated_on", metric.evaluated_on);
  return json;
}

Json ToJson(const Curve& curve) {
  Json json = ObjectOf({{"name", curve.name}});
  AppendCurvePoints(curve, &json);
  return json;
}

Json ToJson(const CodeFile& file) {
  return ObjectOf({{"path", file.path}, {"sha256", file.sha256}});
}

Json ToJson(const MadeBy& made_by) {
  Json json = Json::MakeObject();
  if (!made_by.repository.empty()) json.AppendMember("repository", made_by.repository);
  if (!made_by.commit.empty()) json.AppendMember("commit", made_by.commit);
  if (!made_by.version.empty()) json.AppendMember("version", made_by.version);
  return json;
}

Json ToJson(const DataItem& item) {
  Json json = ObjectOf({{"name", item.name},
                        {"location", item.location},
                        {"path", item.path},
                        {"kind", item.kind},
                        {"sha256", item.sha256},
                        {"size_bytes", item.size_bytes}});
  if (!item.other_digest.empty()) json.AppendMember("other_digest", item.other_digest);
  if (!item.source.empty()) json.AppendMember("source", item.source);
  if (item.made_by) json.AppendMember("made_by", ToJson(*item.made_by));
  return json;
}

Json ToJson(const ArtifactPart& part) {
  return ObjectOf({{"path", part.path}, {"size_bytes", part.size_bytes}, {"sha256", part.sha256}});
}

Json ToJson(const Artifact& artifact) {
  Json json = ObjectOf({{"role", artifact.role},
                        {"path", artifact.path},
                        {"location", artifact.location},
                        {"size_bytes", artifact.size_bytes},
                        {"sha256", artifact.sha256},
                        {"tensor_digest", artifact.tensor_digest},
                        {"tensors", ToJsonArray(artifact.tensors)}});
  if (!artifact.parts.empty()) json.AppendMember("parts", ToJsonArray(artifact.parts));
  return json;
}

Json ToJson(const RunMetrics& metrics) {
  Json values = Json::MakeObject();
  for (const auto& [name, value] : metrics.metrics) values.AppendMember(name, value);
  Json curves = Json::MakeObject();
  for (const Curve& curve : metrics.curves) {
    Json points = Json::MakeObject();
    AppendCurvePoints(curve, &points);
    curves.Set(curve.name, std::move(points));
  }
  Json software = Json::MakeObject();
  for (const auto& [name, version] : metrics.software) software.AppendMember(name, version);
  return ObjectOf({{"metrics", std::move(values)},
                   {"curves", std::move(curves)},
                   {"software", std::move(software)}});
}

Json ToJson(const std::map<std::string, std::int64_t>& seeds) {
  Json object = Json::MakeObject();
  for (const auto& [name, seed] : seeds) object.AppendMember(name, seed);
  return object;
}

Json ToJson(const UnreadMembers& members) {
  Json object = Json::MakeObject();
  for (const auto& [name, text] : members) object.AppendMember(name, text);
  return object;
}

Json ToJson(const std::vector<std::string>& texts) {
  Json array = Json::MakeArray();
  for (const std::string& text : texts) array.Append(text);
  return array;
}

void AppendCurvePoints(const Curve& curve, Json* object) {
  Json steps = Json::MakeArray();
  for (const std::int64_t step : curve.steps) steps.Append(step);
  Json values = Json::MakeArray();
  for (const double value : curve.values) values.Append(value);
  object->Set("steps", std::move(steps));
  object->Set("values", std::move(values));
}

Json ToJson(const Resources& resources) {
  return ObjectOf({{"cpus", resources.cpus},
                   {"gpus", resources.gpus},
                   {"memory_bytes", resources.memory_bytes},
                   {"disk_bytes", resources.disk_bytes},
                   {"timeout_seconds", resources.timeout_seconds}});
}

}  // namespace rharness
