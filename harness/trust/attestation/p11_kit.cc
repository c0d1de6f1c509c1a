// Loading libp11-kit, by its name alone, and modules through it.
#include "harness/trust/attestation/p11_kit.h"

#include <fmt/format.h>

#include "harness/base/shared_library.h"

namespace rharness {
namespace {

Result<P11Kit> LoadFunctions() {
  ASSIGN_OR_RETURN(SharedLibrary library,
                   SharedLibrary::Load("a key on a token", "libp11-kit0", {"libp11-kit.so.0"}));
  P11Kit kit;
  library.Find("p11_kit_be_quiet", &kit.be_quiet);
  library.Find("p11_kit_message", &kit.message);
  library.Find("p11_kit_strerror", &kit.strerror);
  library.Find("p11_kit_module_load", &kit.module_load);
  library.Find("p11_kit_module_initialize", &kit.module_initialize);
  library.Find("p11_kit_module_finalize", &kit.module_finalize);
  library.Find("p11_kit_module_release", &kit.module_release);
  library.Find("p11_kit_module_get_name", &kit.module_get_name);
  library.Find("p11_kit_modules_load_and_initialize", &kit.modules_load);
  library.Find("p11_kit_modules_finalize_and_release", &kit.modules_release);
  library.Find("p11_kit_uri_new", &kit.uri_new);
  library.Find("p11_kit_uri_free", &kit.uri_free);
  library.Find("p11_kit_uri_parse", &kit.uri_parse);
  library.Find("p11_kit_uri_message", &kit.uri_message);
  library.Find("p11_kit_uri_any_unrecognized", &kit.uri_any_unrecognized);
  library.Find("p11_kit_uri_get_attribute", &kit.uri_attribute);
  library.Find("p11_kit_uri_get_pin_value", &kit.uri_pin_value);
  library.Find("p11_kit_uri_get_pin_source", &kit.uri_pin_source);
  library.Find("p11_kit_uri_get_module_path", &kit.uri_module_path);
  library.Find("p11_kit_uri_get_module_name", &kit.uri_module_name);
  library.Find("p11_kit_uri_get_slot_id", &kit.uri_slot_id);
  library.Find("p11_kit_uri_match_module_info", &kit.match_module);
  library.Find("p11_kit_uri_match_slot_info", &kit.match_slot);
  library.Find("p11_kit_uri_match_token_info", &kit.match_token);
  RETURN_IF_ERROR(library.status());
  kit.be_quiet();
  return kit;
}

std::string MessageOf(const P11Kit& kit) {
  const char* message = kit.message();
  return message == nullptr ? "p11-kit does not say why" : message;
}

}  // namespace

Result<const P11Kit*> LoadP11Kit() {
  static const Result<P11Kit> kit = LoadFunctions();
  if (!kit.ok()) return kit.error();
  return &*kit;
}

Result<std::unique_ptr<P11Modules>> P11Modules::Load(const P11Kit* kit, const std::string& path) {
  std::unique_ptr<P11Modules> modules(new P11Modules(kit));
  if (path.empty()) {
    modules->registered_ = kit->modules_load(0);
    if (modules->registered_ == nullptr) {
      return IoError(fmt::format("the modules of p11-kit cannot be loaded: {}", MessageOf(*kit)));
    }
    for (CK_FUNCTION_LIST** one = modules->registered_; *one != nullptr; ++one) {
      modules->all_.push_back(*one);
    }
    return modules;
  }
  CK_FUNCTION_LIST* module = kit->module_load(path.c_str(), 0);
  if (module == nullptr) {
    return NotFound(fmt::format("is no module of PKCS#11: {}", MessageOf(*kit)), path);
  }
  if (const CK_RV code = kit->module_initialize(module); code != CKR_OK) {
    kit->module_release(module);
    return IoError(fmt::format("the module cannot be started: {}", kit->strerror(code)), path);
  }
  modules->one_ = module;
  modules->all_.push_back(module);
  return modules;
}

P11Modules::~P11Modules() {
  if (registered_ != nullptr) kit_->modules_release(registered_);
  if (one_ == nullptr) return;
  kit_->module_finalize(one_);
  kit_->module_release(one_);
}

}  // namespace rharness
