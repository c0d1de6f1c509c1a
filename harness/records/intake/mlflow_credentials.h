// Credentials of MLflow's users for a server: never on a command line.
//
// Role: private to MLflow's importer, and to code that writes back.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_CREDENTIALS_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_CREDENTIALS_H_

#include <functional>
#include <string>

#include "harness/base/result.h"
#include "harness/net/http.h"

namespace rharness {

using ReadVariable = std::function<std::string(const char* name)>;  // empty: not set

// MLFLOW_TRACKING_TOKEN; MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD; else those members
// (in lower case) of "[mlflow]" in HOME/.mlflow/credentials. Empty if there are none. Errors, which
// quote no value: invalid_input for a user without a password and for a file that others may read.
// Source: mlflow/utils/credentials.py of MLflow 3.
Result<HttpCredentials> ReadMlflowCredentials(const ReadVariable& variable);

// A client for the server; MLFLOW_TRACKING_SERVER_CERT_PATH, if set, verifies its certificate.
// `url` may have the page's fragment ("#/experiments/1") and a trailing '/'.
Result<HttpClient> ConnectToMlflow(const std::string& url, const ReadVariable& variable,
                                   std::function<bool()> should_cancel,
                                   const HttpLimits& limits = {});

// Of this process.
std::string EnvironmentVariable(const char* name);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_CREDENTIALS_H_
