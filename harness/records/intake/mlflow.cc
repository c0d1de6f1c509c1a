// MLflow: which way into its records a source is.
#include "harness/records/intake/mlflow.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "harness/base/log.h"
#include "harness/base/shell_word.h"
#include "harness/base/shown_url.h"
#include "harness/records/intake/importers.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

bool IsUrl(const std::string& source) {
  return source.starts_with("http://") || source.starts_with("https://");
}

struct Way {
  fs::path database, folder;  // one of them, or neither
};

// In a folder of MLflow, its database precedes the runs of older versions.
Way FindWay(const std::string& source) {
  std::error_code error;
  if (!fs::is_directory(source, error)) {
    return IsMlflowDatabase(source) ? Way{source, {}} : Way{};
  }
  if (const fs::path file = fs::path(source) / "mlflow.db"; IsMlflowDatabase(file)) {
    return {file, {}};
  }
  for (const fs::path& folder : {fs::path(source), fs::path(source) / "mlruns"}) {
    if (IsMlflowFolder(folder)) return {{}, folder};
  }
  return {};
}

}  // namespace

Status MlflowImport::Take(MlflowRun run) {
  RETURN_IF_ERROR(sink_.take(BuildMlflowRun(std::move(run), request_)));
  ++taken_;
  return {};
}

Status MlflowImport::Finish() const {
  if (deleted_ > 0) {
    LogInfo(fmt::format("{} deleted in MLflow {} left out",
                        deleted_ == 1 ? "a run" : fmt::format("{} runs", deleted_),
                        deleted_ == 1 ? "was" : "were"));
  }
  if (taken_ == 0 && !Cancelled()) {
    return NotFound(deleted_ > 0 ? "holds no such run that is not deleted" : "holds no such run",
                    WithoutCredentials(request_.source));
  }
  return {};
}

bool IsMlflow(const std::string& source) {
  if (IsUrl(source)) return true;
  const Way way = FindWay(source);
  // MLflow makes a folder with an empty experiment wherever it is imported.
  return !way.database.empty() || (!way.folder.empty() && HasMlflowRuns(way.folder));
}

Status ImportMlflow(const ImportRequest& request, const ImportSink& sink) {
  MlflowImport import(request, sink);
  if (IsUrl(request.source)) {
    RETURN_IF_ERROR(ImportMlflowServer(request.source, &import));
  } else if (const Way way = FindWay(request.source); !way.database.empty()) {
    const fs::path older = way.database.parent_path() / "mlruns";
    if (IsMlflowFolder(older) && HasMlflowRuns(older)) {
      LogInfo(fmt::format("{} holds runs of an older store, too: rharness import --from mlflow {}",
                          older.string(), ShellWord(older.string())));
    }
    RETURN_IF_ERROR(ImportMlflowDatabase(way.database, &import));
  } else if (!way.folder.empty()) {
    RETURN_IF_ERROR(ImportMlflowFolder(way.folder, &import));
  } else {
    return InvalidInput(
        "holds no records of MLflow; expected an SQLite file with its tables, a folder with "
        "EXPERIMENT/meta.yaml, or the URL of a server",
        request.source);
  }
  return import.Finish();
}

}  // namespace rharness
