// Where MLflow's users keep what a server asks of them: never on a command line.
//
// Role: private to the files of MLflow's importer, and to what writes back.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_CREDENTIALS_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_CREDENTIALS_H_

#include <functional>
#include <string>

#include "harness/base/result.h"
#include "harness/net/http.h"

namespace rharness {

using ReadVariable = std::function<std::string(const char* name)>;  // empty: not set

// MLFLOW_TRACKING_TOKEN; MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD; else those members
// (in lower case) of "[mlflow]" in HOME/.mlflow/credentials. None of them: empty. Errors, which
// quote nothing: invalid_input for a user without a password and for a file that others may read.
// Source: mlflow/utils/credentials.py of MLflow 3.
Result<HttpCredentials> ReadMlflowCredentials(const ReadVariable& variable);

// A client for the server, its certificate checked by MLFLOW_TRACKING_SERVER_CERT_PATH where that
// is set. `url` may have the page's fragment ("#/experiments/1") and a '/' at its end.
Result<HttpClient> ConnectToMlflow(const std::string& url, const ReadVariable& variable,
                                   std::function<bool()> should_cancel,
                                   const HttpLimits& limits = {});

// Of this process.
std::string EnvironmentVariable(const char* name);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_CREDENTIALS_H_
