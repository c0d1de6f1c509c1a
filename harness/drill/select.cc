// The selection language: a recursive descent parser and an evaluator. No file, clock or database.
#include "harness/drill/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>
#include <variant>

#include "harness/base/digest.h"
#include "harness/base/glob.h"
#include "harness/drill/select_fields.h"
#include "harness/drill/select_time.h"

namespace rharness {
namespace {

enum class Op { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kGlob };

struct TextTest {
  TextField field;
  Op op;
  std::string value;
};
struct NumberTest {
  Op op;
  double value;
};
struct TimeTest {
  bool verified;  // else started
  Op op;
  When value;
};

struct ArtifactTest {
  std::string digest;
  std::vector<std::string> runs;  // that made it, sorted
};

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxLength = std::size_t{64} << 10;

template <class T>
bool Holds(Op op, const T& a, const T& b) {
  switch (op) {
    case Op::kEqual:
      return a == b;
    case Op::kNotEqual:
      return a != b;
    case Op::kLess:
      return a < b;
    case Op::kLessEqual:
      return a <= b;
    case Op::kGreater:
      return a > b;
    case Op::kGreaterEqual:
      return a >= b;
    case Op::kGlob:
      break;
  }
  Abort("a glob on something that is no text");
}

}  // namespace

struct Selection::Node {
  enum class Kind { kAll, kAny, kNot, kText, kNumber, kTime, kArtifact };
  Kind kind = Kind::kAll;
  std::vector<Node> children;
  std::variant<std::monostate, TextTest, NumberTest, TimeTest, ArtifactTest> test;

  bool Matches(const HistoryEntry& entry, WallTime now) const;
  void AppendNamedValues(std::vector<NamedValue>* out) const;
  void EachArtifact(const std::function<void(ArtifactTest*)>& take);
};

bool Selection::Node::Matches(const HistoryEntry& entry, WallTime now) const {
  switch (kind) {
    case Kind::kAll:
      return std::ranges::all_of(children, [&](const Node& n) { return n.Matches(entry, now); });
    case Kind::kAny:
      return std::ranges::any_of(children, [&](const Node& n) { return n.Matches(entry, now); });
    case Kind::kNot:
      return !children.front().Matches(entry, now);
    case Kind::kText: {
      const auto& [field, op, value] = std::get<TextTest>(test);
      return op == Op::kGlob ? GlobMatches(value, field(entry))
                             : Holds<std::string_view>(op, field(entry), value);
    }
    case Kind::kNumber: {
      const auto& [op, value] = std::get<NumberTest>(test);
      return Holds(op, entry.duration_seconds, value);
    }
    case Kind::kTime: {
      const auto& [verified, op, value] = std::get<TimeTest>(test);
      const std::optional<WallTime> at = verified ? entry.verified : entry.started;
      const std::optional<WallTime> limit = Resolve(value, now);
      return IsAge(value) ? Holds(op, limit, at) : Holds(op, at, limit);
    }
    case Kind::kArtifact: {
      return std::ranges::binary_search(std::get<ArtifactTest>(test).runs, entry.run_id);
    }
  }
  Abort("unknown kind of selection");
}

void Selection::Node::AppendNamedValues(std::vector<NamedValue>* out) const {
  for (const Node& child : children) child.AppendNamedValues(out);
  const auto* text = std::get_if<TextTest>(&test);
  if (text == nullptr || text->op == Op::kGlob) return;
  const auto row =
      std::ranges::find(kTextFields, text->field, &std::pair<std::string_view, TextField>::second);
  out->push_back({std::string(row->first), text->value});
}

void Selection::Node::EachArtifact(const std::function<void(ArtifactTest*)>& take) {
  for (Node& child : children) child.EachArtifact(take);
  if (auto* artifact = std::get_if<ArtifactTest>(&test)) take(artifact);
}

namespace {

using Node = Selection::Node;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Node> Parse() {
    if (text_.size() > kMaxLength) {
      return InvalidInput(
          fmt::format("the selection has {} bytes; at most {} are read", text_.size(), kMaxLength));
    }
    Next();
    if (AtEnd()) return Node{};
    ASSIGN_OR_RETURN(Node root, Expression(0));
    if (!AtEnd()) return Expected("'and', 'or' or the end");
    return root;
  }

 private:
  struct Token {
    std::string text;
    bool quoted = false;
    std::size_t column = 1;  // in bytes, from 1
  };

  static bool IsWord(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte > 0x20 && byte != 0x7F) &&
           std::string_view("()\"=!<>~").find(c) == std::string_view::npos;
  }
  void Next();
  bool AtEnd() const { return !token_.quoted && token_.text.empty(); }
  bool Is(std::string_view word) const { return !token_.quoted && token_.text == word; }
  Error Expected(std::string_view what) const { return Refuse(token_, what); }
  Error Refuse(const Token& token, std::string_view what) const;

  Result<Node> Expression(int depth) { return Chain("or", Node::Kind::kAny, depth); }
  Result<Node> Chain(std::string_view word, Node::Kind kind, int depth);
  Result<Node> Factor(int depth);
  Result<Node> Comparison();
  Result<Node> TextComparison(TextField field);
  Result<Node> NumberComparison();
  Result<Node> TimeComparison(bool verified);
  Result<Node> ArtifactComparison();
  Result<Op> Operator();
  Result<Token> Value();

  std::string_view text_;
  std::size_t at_ = 0;
  Token token_;
  bool unterminated_ = false;
};

// Reads the next token: a parenthesis, an operator, a quoted string, a bare word, or the end.
void Parser::Next() {
  while (at_ < text_.size() &&
         std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
    ++at_;
  token_ = Token{{}, false, at_ + 1};
  if (at_ == text_.size()) return;
  const char first = text_[at_];
  if (first == '"' || first == '\'') {
    token_.quoted = true;
    for (++at_; at_ < text_.size() && text_[at_] != first; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      token_.text += text_[at_];
    }
    unterminated_ = at_ == text_.size();
    if (!unterminated_) ++at_;
    return;
  }
  std::size_t end = at_;
  while (end < text_.size() && IsWord(text_[end])) ++end;
  if (end == at_) {
    const bool pair = (first == '!' || first == '<' || first == '>') && at_ + 1 < text_.size() &&
                      text_[at_ + 1] == '=';
    end += pair ? 2 : 1;
  }
  token_.text = text_.substr(at_, end - at_);
  at_ = end;
}

Error Parser::Refuse(const Token& token, std::string_view what) const {
  std::string found = fmt::format("'{}'", token.text);
  if (token.quoted) found = fmt::format("\"{}\"", token.text);
  if (token.quoted && unterminated_) found = "a string without its closing quote";
  if (!token.quoted && token.text.empty()) found = "the end";
  return InvalidInput(fmt::format("found {}; expected {}", found, what),
                      fmt::format("selection, column {}", token.column));
}

// Operands joined by `word`: terms by "or", factors by "and".
Result<Node> Parser::Chain(std::string_view word, Node::Kind kind, int depth) {
  Node node{kind, {}, {}};
  for (;;) {
    ASSIGN_OR_RETURN(Node operand, kind == Node::Kind::kAny ? Chain("and", Node::Kind::kAll, depth)
                                                            : Factor(depth));
    node.children.push_back(std::move(operand));
    if (!Is(word)) break;
    Next();
  }
  if (node.children.size() > 1) return node;
  Node only = std::move(node.children.front());
  return only;
}

Result<Node> Parser::Factor(int depth) {
  if (depth > kMaxDepth) {
    return Expected(fmt::format("at most {} levels of 'not' and parentheses", kMaxDepth));
  }
  if (Is("not")) {
    Next();
    ASSIGN_OR_RETURN(Node operand, Factor(depth + 1));
    Node node{Node::Kind::kNot, {}, {}};
    node.children.push_back(std::move(operand));
    return node;
  }
  if (!Is("(")) return Comparison();
  Next();
  ASSIGN_OR_RETURN(Node inner, Expression(depth + 1));
  if (!Is(")")) return Expected("'and', 'or' or ')'");
  Next();
  return inner;
}

Result<Op> Parser::Operator() {
  constexpr std::array<std::pair<std::string_view, Op>, 7> kOperators = {{{"=", Op::kEqual},
                                                                          {"!=", Op::kNotEqual},
                                                                          {"<", Op::kLess},
                                                                          {"<=", Op::kLessEqual},
                                                                          {">", Op::kGreater},
                                                                          {">=", Op::kGreaterEqual},
                                                                          {"~", Op::kGlob}}};
  for (const auto& [spelling, op] : kOperators) {
    if (!Is(spelling)) continue;
    Next();
    return op;
  }
  return Expected("=, !=, <, <=, >, >= or ~");
}

Result<Parser::Token> Parser::Value() {
  const bool word = !token_.quoted && !token_.text.empty() && IsWord(token_.text.front()) &&
                    !Is("and") && !Is("or") && !Is("not");
  if (!word && (!token_.quoted || unterminated_)) return Expected("a word or a \"quoted string\"");
  Token value = token_;
  Next();
  return value;
}

Result<Node> Parser::Comparison() {
  if (token_.quoted) return Expected(kFieldsExpected);
  for (const auto& [name, field] : kTextFields) {
    if (!Is(name)) continue;
    Next();
    return TextComparison(field);
  }
  const bool verified = Is("verified");
  if (Is("duration_seconds")) {
    Next();
    return NumberComparison();
  }
  if (Is("artifact")) {
    Next();
    return ArtifactComparison();
  }
  if (!verified && !Is("started")) return Expected(FieldExpected(token_.text));
  Next();
  return TimeComparison(verified);
}

Result<Node> Parser::TextComparison(TextField field) {
  const Token sign = token_;
  ASSIGN_OR_RETURN(const Op op, Operator());
  if (op != Op::kEqual && op != Op::kNotEqual && op != Op::kGlob) {
    return Refuse(sign, "=, != or ~, as the field is text");
  }
  ASSIGN_OR_RETURN(Token value, Value());
  return Node{Node::Kind::kText, {}, TextTest{field, op, std::move(value.text)}};
}

Result<Node> Parser::NumberComparison() {
  const Token sign = token_;
  ASSIGN_OR_RETURN(const Op op, Operator());
  if (op == Op::kGlob) return Refuse(sign, "=, !=, <, <=, > or >=, as the field is a number");
  ASSIGN_OR_RETURN(const Token value, Value());
  double number = 0.0;
  const char* last = value.text.data() + value.text.size();
  const auto [end, error] = std::from_chars(value.text.data(), last, number);
  if (error != std::errc() || end != last || !std::isfinite(number)) {
    return Refuse(value, "a number of seconds");
  }
  return Node{Node::Kind::kNumber, {}, NumberTest{op, number}};
}

Result<Node> Parser::ArtifactComparison() {
  const Token sign = token_;
  ASSIGN_OR_RETURN(const Op op, Operator());
  if (op != Op::kEqual) return Refuse(sign, "=, as a run may have made many files");
  ASSIGN_OR_RETURN(const Token value, Value());
  std::string digest = value.text;
  std::ranges::transform(digest, digest.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
  });
  if (!IsSha256Hex(digest)) {
    return Refuse(value, "the 64 hexadecimal digits of a SHA-256, as `rharness hash` prints them");
  }
  return Node{Node::Kind::kArtifact, {}, ArtifactTest{std::move(digest), {}}};
}

Result<Node> Parser::TimeComparison(bool verified) {
  const Token sign = token_;
  ASSIGN_OR_RETURN(const Op op, Operator());
  if (op == Op::kGlob) return Refuse(sign, "=, !=, <, <=, > or >=, as the field is a time");
  ASSIGN_OR_RETURN(const Token value, Value());
  if (verified && !value.quoted && value.text == "never") {
    if (op != Op::kEqual && op != Op::kNotEqual) return Refuse(sign, "= or != before never");
    return Node{Node::Kind::kTime, {}, TimeTest{verified, op, std::monostate()}};
  }
  if (const auto ago = ParseAgo(value.text)) {
    return Node{Node::Kind::kTime, {}, TimeTest{verified, op, *ago}};
  }
  const Result<WallTime> time = ParseTime(value.text);
  if (!time.ok()) {
    return Refuse(value, fmt::format("a time such as 2026-11-20T08:03:00Z, an age such as 30d, 12h "
                                     "or 90m{}",
                                     verified ? ", or never" : ""));
  }
  return Node{Node::Kind::kTime, {}, TimeTest{verified, op, *time}};
}

}  // namespace

Selection::Selection(std::unique_ptr<Node> root) : root_(std::move(root)) {}
Selection::Selection(Selection&&) noexcept = default;
Selection& Selection::operator=(Selection&&) noexcept = default;
Selection::~Selection() = default;

Result<Selection> Selection::Parse(std::string_view text) {
  ASSIGN_OR_RETURN(Node root, Parser(text).Parse());
  return Selection(std::make_unique<Node>(std::move(root)));
}

bool Selection::Matches(const HistoryEntry& entry, WallTime now) const {
  return root_->Matches(entry, now);
}

std::vector<NamedValue> Selection::NamedValues() const {
  std::vector<NamedValue> values;
  root_->AppendNamedValues(&values);
  return values;
}

std::vector<std::string> Selection::Artifacts() const {
  std::vector<std::string> digests;
  root_->EachArtifact([&](const ArtifactTest* one) { digests.push_back(one->digest); });
  return digests;
}

void Selection::TellRunsOf(const std::string& digest, const std::vector<std::string>& runs) {
  root_->EachArtifact([&](ArtifactTest* one) {
    if (one->digest == digest) one->runs = runs;
  });
}

}  // namespace rharness
