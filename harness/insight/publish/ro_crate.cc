// The entities of a drill's crate.
#include "harness/insight/publish/ro_crate.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "harness/net/http.h"
#include "reports/summary.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr char kProfile[] = "https://w3id.org/ro/wfrun/process/0.5";
constexpr char kSha256Term[] = "https://w3id.org/ro/terms/workflow-run#sha256";
constexpr char kRharnessId[] = "#rharness";

Json Reference(std::string_view id) { return Json::MakeObject({{"@id", id}}); }

// A list of one as its element, as the specification recommends; an empty one unchanged.
Json Unwrapped(Json list) { return list.AsArray().size() == 1 ? Json(list.AsArray()[0]) : list; }

// With the offset that the profile's validator asks for.
std::string CrateTime(WallTime time) {
  std::string text = FormatTime(time);
  text.pop_back();
  return text + "+00:00";
}

// A path as an identifier: its parts escaped.
std::string IdOfPath(const std::string& path) {
  std::string id;
  for (const auto& part : std::filesystem::path(path)) {
    id += (id.empty() ? "" : "/") + EscapedForUrl(part.string());
  }
  return id;
}

std::string IdOfFile(const CrateFile& file) {
  return file.left_out.empty() ? IdOfPath(file.path) : "#left-out/" + IdOfPath(file.path);
}

Json FileEntity(const CrateFile& file) {
  Json entity = Json::MakeObject({{"@id", IdOfFile(file)},
                                  {"@type", file.left_out.empty() ? "File" : "CreativeWork"},
                                  {"name", SafeText(file.name, 400)},
                                  {"encodingFormat", file.media},
                                  {"contentSize", std::to_string(file.size_bytes)}});
  if (!file.sha256.empty()) entity.Set("sha256", file.sha256);
  if (!file.left_out.empty()) entity.Set("description", SafeText(file.left_out, 400));
  return entity;
}

class CrateBuilder {
 public:
  explicit CrateBuilder(const Report& report) : report_(report) {}

  Json Build(const std::vector<CrateFile>& files, const std::vector<CrateRerun>& reruns) {
    for (const CrateFile& file : files) AddFile(file);
    for (const CrateRerun& rerun : reruns) AddRerun(rerun);
    Json graph = Json::MakeArray({Descriptor(), Root(), Profile(), Rharness()});
    for (Json& entity : entities_) graph.Append(std::move(entity));
    Json terms = Json::MakeObject({{"sha256", kSha256Term}});
    Json context =
        Json::MakeArray({Json("https://w3id.org/ro/crate/1.1/context"), std::move(terms)});
    return Json::MakeObject({{"@context", std::move(context)}, {"@graph", std::move(graph)}});
  }

 private:
  static Json Descriptor() {
    return Json::MakeObject({{"@id", "ro-crate-metadata.json"},
                             {"@type", "CreativeWork"},
                             {"conformsTo", Reference("https://w3id.org/ro/crate/1.1")},
                             {"about", Reference("./")}});
  }

  Json Root() {
    return Json::MakeObject({{"@id", "./"},
                             {"@type", "Dataset"},
                             {"name", SafeText(report_.title, 200)},
                             {"description", SafeText(Summarize(report_).answer, 1000)},
                             {"datePublished", CrateTime(report_.ended)},
                             {"license", "No license was stated with the drill."},
                             {"identifier", SafeText(report_.drill_id, 200)},
                             {"conformsTo", Reference(kProfile)},
                             {"hasPart", Unwrapped(std::move(parts_))},
                             {"mentions", Unwrapped(std::move(mentions_))}});
  }

  static Json Profile() {
    return Json::MakeObject({{"@id", kProfile},
                             {"@type", "CreativeWork"},
                             {"name", "Process Run Crate"},
                             {"version", "0.5"}});
  }

  Json Rharness() const {
    return Json::MakeObject({{"@id", kRharnessId},
                             {"@type", "SoftwareApplication"},
                             {"name", "rharness"},
                             {"softwareVersion", SafeText(report_.version, 100)}});
  }

  bool IsNew(const std::string& id) { return seen_.insert(id).second; }
  void Add(Json entity) { entities_.push_back(std::move(entity)); }

  std::string AddFile(const CrateFile& file) {
    std::string id = IdOfFile(file);
    if (!IsNew(id)) return id;
    if (file.left_out.empty()) parts_.Append(Reference(id));
    Add(FileEntity(file));
    return id;
  }

  void AddRerun(const CrateRerun& one) {
    const std::string run = EscapedForUrl(one.run->run_id);
    const std::string id = fmt::format("#rerun/{}/{}", run, one.rerun->index);
    if (!IsNew(id)) return;
    mentions_.Append(Reference(id));
    Json objects = Json::MakeArray();
    for (const DataItem& item : one.evidence.data) objects.Append(Reference(AddData(item)));
    Json results = Json::MakeArray();
    for (const CrateFile& file : one.files) results.Append(Reference(AddFile(file)));
    results.Append(Reference(AddVerdict(*one.run)));
    const bool failed =
        one.rerun->state == RerunEnd::State::kFailed || one.rerun->state == RerunEnd::State::kInfra;
    Json action = Json::MakeObject(
        {{"@id", id},
         {"@type", "CreateAction"},
         {"name", fmt::format("Rerun {} of {}", one.rerun->index, SafeText(one.run->run_id, 200))},
         {"description",
          SafeText(fmt::format("{}; {}", one.rerun->outcome, one.run->headline), 1000)},
         {"instrument", Reference(AddProgram(one))},
         {"agent", Reference(kRharnessId)},
         {"object", Unwrapped(std::move(objects))},
         {"result", Unwrapped(std::move(results))},
         {"actionStatus", failed ? "http://schema.org/FailedActionStatus"
                                 : "http://schema.org/CompletedActionStatus"}});
    if (one.evidence.started != WallTime{}) {
      action.Set("startTime", CrateTime(one.evidence.started));
      action.Set("endTime", CrateTime(one.evidence.ended));
    }
    if (failed) action.Set("error", SafeText(one.rerun->reason, 1000));
    Add(std::move(action));
  }

  std::string AddData(const DataItem& item) {
    const std::string id =
        item.sha256.empty() ? "#data/" + EscapedForUrl(item.name) : "#data/sha256:" + item.sha256;
    if (!IsNew(id)) return id;
    Json entity = Json::MakeObject({{"@id", id},
                                    {"@type", "CreativeWork"},
                                    {"name", SafeText(item.name, 200)},
                                    {"contentSize", std::to_string(item.size_bytes)}});
    if (!item.sha256.empty()) entity.Set("sha256", item.sha256);
    Add(std::move(entity));
    return id;
  }

  // A run has one, for any number of reruns.
  std::string AddVerdict(const ReportRun& run) {
    std::string id = "#verdict/" + EscapedForUrl(run.run_id);
    if (!IsNew(id)) return id;
    Add(Json::MakeObject({{"@id", id},
                          {"@type", "PropertyValue"},
                          {"name", "rharness.verdict of " + SafeText(run.run_id, 200)},
                          {"propertyID", "rharness.verdict"},
                          {"value", VerdictName(run.verdict)},
                          {"description", SafeText(run.headline, 1000)}}));
    return id;
  }

  // What ran: the sources by their hashes, or the commit, or the image.
  std::string AddProgram(const CrateRerun& one) {
    std::string id = "#program/" + EscapedForUrl(one.run->run_id);
    if (!IsNew(id)) return id;
    std::string what;
    for (const CodeFile& file : one.evidence.code_files) {
      what += fmt::format("{}{} sha256:{}", what.empty() ? "" : ", ", file.path, file.sha256);
    }
    if (!one.evidence.image_digest.empty()) {
      what += fmt::format("{}image {}", what.empty() ? "" : ", ", one.evidence.image_digest);
    }
    const std::string& commit = one.evidence.code_commit;
    Json entity = Json::MakeObject(
        {{"@id", id},
         {"@type", "SoftwareApplication"},
         {"name", "training program of " + SafeText(one.run->run_id, 200)},
         {"softwareVersion", commit.empty() ? "as its files' hashes say" : SafeText(commit, 100)}});
    if (!what.empty()) entity.Set("description", SafeText(what, 4000));
    Add(std::move(entity));
    return id;
  }

  const Report& report_;
  std::set<std::string> seen_;
  std::vector<Json> entities_;
  Json parts_ = Json::MakeArray();
  Json mentions_ = Json::MakeArray();
};

}  // namespace

Json BuildRoCrate(const Report& report, const std::vector<CrateFile>& files,
                  const std::vector<CrateRerun>& reruns) {
  return CrateBuilder(report).Build(files, reruns);
}

}  // namespace rharness
