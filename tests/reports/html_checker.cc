// A small HTML checker; see html_checker.h.
#include "tests/reports/html_checker.h"

#include <set>

namespace rharness {
namespace {

bool IsNameChar(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

class Checker {
 public:
  explicit Checker(std::string_view html) : html_(html) {}

  HtmlFacts Run() {
    while (facts_.error.empty() && at_ < html_.size()) Step();
    if (facts_.error.empty() && !open_.empty()) Fail("unclosed " + open_.back());
    return std::move(facts_);
  }

 private:
  void Fail(const std::string& what) {
    facts_.error = what + " at byte " + std::to_string(at_) + ": " +
                   std::string(html_.substr(at_ < 60 ? 0 : at_ - 60, 160));
  }

  void Step() {
    if (html_[at_] != '<') {
      if (html_[at_] == '>') return Fail("bare '>'");
      facts_.text.push_back(html_[at_++]);
      return;
    }
    if (html_.substr(at_).starts_with("<!doctype html>")) {
      at_ += 15;
    } else if (html_.substr(at_).starts_with("</")) {
      Close();
    } else {
      Open();
    }
  }

  std::string Name() {
    std::string name;
    constexpr std::string_view kOfSvg = "ABR";  // viewBox, preserveAspectRatio
    while (at_ < html_.size() &&
           (IsNameChar(html_[at_]) || kOfSvg.find(html_[at_]) != std::string_view::npos)) {
      name.push_back(html_[at_++]);
    }
    return name;
  }

  void Close() {
    at_ += 2;
    const std::string name = Name();
    if (open_.empty() || open_.back() != name) return Fail("unexpected end of " + name);
    if (at_ >= html_.size() || html_[at_] != '>') return Fail("malformed end tag");
    ++at_;
    open_.pop_back();
    if (name == "tr" && !tables_.empty()) EndRow();
    if (name == "thead" && !tables_.empty()) tables_.back().in_head = false;
    if (name == "table" && !tables_.empty()) tables_.pop_back();
  }

  // A head of numbers stands above numbers, and above nothing else.
  void EndRow() {
    Table& table = tables_.back();
    if (table.in_head) {
      table.heads = table.row;
    } else if (!table.spans && table.row.size() == table.heads.size() && table.row != table.heads) {
      Fail("cells that are not aligned like the heads of their columns");
    }
    table.row.clear();
    table.spans = false;
  }

  void Opened(const std::string& name, const std::string& kind, bool spans) {
    if (name == "table") tables_.emplace_back();
    if (tables_.empty()) return;
    if (name == "thead") tables_.back().in_head = true;
    if (name != "td" && name != "th") return;
    tables_.back().row.push_back((" " + kind + " ").find(" n ") != std::string::npos);
    tables_.back().spans = tables_.back().spans || spans;
  }

  void Open() {
    ++at_;
    const std::string name = Name();
    if (name.empty()) return Fail("'<' that opens nothing");
    ++facts_.elements[name];
    bool closed = false;
    class_.clear();
    spans_ = false;
    while (facts_.error.empty() && at_ < html_.size() && html_[at_] != '>') {
      if (html_[at_] == '/') {
        closed = true;
        ++at_;
      } else if (html_[at_] == ' ') {
        ++at_;
        if (html_[at_] != '/' && html_[at_] != '>') Attribute();
      } else {
        return Fail("malformed tag");
      }
    }
    ++at_;
    static const std::set<std::string> kVoid = {"meta", "wbr", "input", "br", "link"};
    if (closed || kVoid.contains(name)) return;
    open_.push_back(name);
    Opened(name, class_, spans_);
    if (name == "script" || name == "style") {
      at_ = html_.find("</" + name + ">", at_);
      if (at_ == std::string_view::npos) at_ = html_.size();
    }
  }

  void Attribute() {
    const std::string name = Name();
    if (name.empty()) return Fail("attribute without a name");
    facts_.attribute_names.push_back(name);
    if (html_[at_] != '=') return;
    if (html_[++at_] != '"') return Fail("unquoted attribute");
    const std::size_t end = html_.find('"', at_ + 1);
    if (end == std::string_view::npos) return Fail("endless attribute");
    const std::string value(html_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    if (name == "class") class_ = value;
    if (name == "colspan") spans_ = true;
    if (name == "id") facts_.ids.push_back(value);
    if (name == "href") facts_.hrefs.push_back(value);
  }

  struct Table {
    std::vector<bool> heads;  // whether it is of numbers, a column each
    std::vector<bool> row;    // the same of the cells read so far
    bool in_head = false;
    bool spans = false;
  };

  std::string_view html_;
  std::size_t at_ = 0;
  std::vector<Table> tables_;
  std::string class_;  // of the tag that was read last
  bool spans_ = false;
  std::vector<std::string> open_;
  HtmlFacts facts_;
};

}  // namespace

HtmlFacts CheckHtml(std::string_view html) { return Checker(html).Run(); }

}  // namespace rharness
