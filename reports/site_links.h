// The addresses of the site's pages and of their style sheet.
#ifndef RHARNESS_REPORTS_SITE_LINKS_H_
#define RHARNESS_REPORTS_SITE_LINKS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rharness {

// The style sheet of all pages, and its address: a name that changes with its content.
std::string_view SiteStyle();
std::string SiteStylePath();  // "/style-1f2e3d4c5b6a.css"

// An address of the site: a path of ours, and percent-encoded values.
using SiteQuery = std::vector<std::pair<std::string_view, std::string>>;
std::string SiteHref(std::string_view path, const SiteQuery& query = {});
// "/run/ID" or "/family/NAME". Names that no path can contain, "." and "..", are "/run?id=.".
std::string SiteRunHref(const std::string& run_id, const SiteQuery& query = {});
std::string SiteFamilyHref(const std::string& family, const SiteQuery& query = {});

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SITE_LINKS_H_
