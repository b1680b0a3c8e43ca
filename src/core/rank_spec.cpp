#include "core/rank_spec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace eckart {
namespace {

using Kind = RankPolicy::Kind;

constexpr int kMaxRank = std::numeric_limits<int>::max();
constexpr int kMaxOutputs = 1000;  // of one range

/// SPECs of the form NAME:NUMBER.
struct NamedValue {
  std::string_view name;
  Kind kind;
  bool is_percent;  ///< the number is followed by a percent sign
  double min, max;  ///< the number is above min and at most max
  std::string_view expected;
};
constexpr auto kNamedValues = std::to_array<NamedValue>(
    {{"energy", Kind::energy, false, 0, 1, "a share of the energy, above 0 and at most 1"},
     {"psnr", Kind::psnr, false, 0, 1000, "a PSNR in dB, above 0 and at most 1000"},
     {"rmse", Kind::rmse, false, 0, 1e6, "an error in levels, above 0 and at most 1000000"},
     {"bytes", Kind::bytes, true, 0, 1e6, "a share of the bytes of the pixels, such as 50%"}});

/// SPECs of one word.
struct Word {
  std::string_view name;
  Kind kind;
};
constexpr auto kWords = std::to_array<Word>(
    {{"gd", Kind::gavish_donoho}, {"mp", Kind::marchenko_pastur}, {"full", Kind::full}});
constexpr std::string_view kNoisePrefix = "gd:sigma=";
constexpr double kMaxNoise = 1e6;

/// Reads one list of SPECs from left to right.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<RankPolicy> parse() {
    do {
      skip_spaces();
      const std::size_t begin = at_;
      const std::vector<RankPolicy> policies = spec();
      skip_spaces();
      if (at_ < text_.size() && text_[at_] != ',')
        fail(at_, "expected a comma or the end of the list");
      for (const RankPolicy& policy : policies) append(policy, begin);
    } while (accept(","));
    return std::move(all_);
  }

 private:
  [[noreturn]] void fail(std::size_t position, const std::string& reason) const {
    throw RankSpecError(text_, position, reason);
  }

  std::vector<RankPolicy> spec() {
    for (const NamedValue& form : kNamedValues) {
      if (accept(std::string(form.name) + ':')) return {named_value(form)};
    }
    if (accept("gd:")) return {known_noise()};
    for (const Word& word : kWords) {
      if (accept_word(word.name)) return {RankPolicy(word.kind, 0)};
    }
    return rank_or_range();
  }

  RankPolicy known_noise() {
    constexpr std::string_view kName = "sigma=";
    for (const char c : kName) {
      if (!accept({&c, 1})) fail(at_, "expected " + std::string(kNoisePrefix) + "3");
    }
    return {Kind::gavish_donoho,
            number(0, kMaxNoise, "the standard deviation of the noise in levels, above 0")};
  }

  RankPolicy named_value(const NamedValue& form) {
    const double value = number(form.min, form.max, std::string(form.expected));
    if (form.is_percent && !accept("%")) fail(at_, "expected a percent sign");
    return {form.kind, value};
  }

  std::vector<RankPolicy> rank_or_range() {
    const std::size_t begin = at_;
    if (at_ == text_.size() || text_[at_] == ',') fail(at_, "a rank is missing");
    const double value = number(-1, kMaxRank, "a rank");
    if (accept("%")) {
      if (value == 0 || value > 100) fail(begin, "expected more than 0% and at most 100%");
      return {RankPolicy(Kind::percent, value)};
    }
    if (value == 0) fail(begin, "ranks begin at 1");
    if (value != int(value)) fail(begin, "expected a whole number, or a percent sign after it");
    return accept(":") ? range(int(value)) : std::vector{RankPolicy(int(value))};
  }

  std::vector<RankPolicy> range(int first) {
    const std::size_t last_begin = at_;
    const int last = whole_number("the last rank of the range");
    if (last < first) fail(last_begin, "the last rank of the range is below the first");
    if (!accept(":")) fail(at_, "expected a colon and the step of the range");
    const int step = whole_number("the step of the range");
    if ((last - first) / step >= kMaxOutputs)
      fail(last_begin, "the range has more than " + std::to_string(kMaxOutputs) + " ranks");
    std::vector<RankPolicy> policies;
    for (int count = (last - first) / step, i = 0; i <= count; ++i)
      policies.emplace_back(first + i * step);
    return policies;
  }

  int whole_number(const std::string& what) {
    const std::size_t begin = at_;
    const double value = number(0, kMaxRank, what);
    if (value != int(value)) fail(begin, "expected a whole number: " + what);
    return int(value);
  }

  /// Reads a decimal number without a sign, above `min` and at most `max`.
  double number(double min, double max, const std::string& what) {
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    double value = 0;
    const auto [rest, error] = std::from_chars(begin, end, value);
    const bool has_digit = begin != end && *begin >= '0' && *begin <= '9';
    if (error != std::errc{} || !has_digit || !(value > min && value <= max))
      fail(at_, "expected " + what);
    at_ += std::size_t(rest - begin);
    return value;
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  /// Like accept(), if the token ends with the SPEC.
  bool accept_word(std::string_view token) {
    const std::string_view rest = text_.substr(at_);
    const bool is_whole =
        rest.starts_with(token) &&
        (rest.size() == token.size() || rest[token.size()] == ',' || rest[token.size()] == ' ');
    return is_whole && accept(token);
  }

  void append(const RankPolicy& policy, std::size_t begin) {
    if (std::ranges::find(all_, policy) != all_.end())
      fail(begin, "'" + to_string(policy) + "' is listed twice");
    all_.push_back(policy);
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::vector<RankPolicy> all_;
};

/// The shortest text that is parsed to this number; with an exponent if it is small.
std::string number_text(double value) {
  constexpr double kMinFixed = 1e-4;
  const auto format =
      value == 0 || value >= kMinFixed ? std::chars_format::fixed : std::chars_format::scientific;
  std::array<char, 64> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format);
  std::string text(buffer.data(), end);
  constexpr std::string_view kPaddedExponent = "e-0";
  if (const std::size_t at = text.find(kPaddedExponent); at != text.npos)
    text.erase(at + kPaddedExponent.size() - 1, 1);
  return text;
}

}  // namespace

RankSpecError::RankSpecError(std::string_view text, std::size_t position, const std::string& reason)
    : std::invalid_argument("'" + std::string(text) + "': at character " +
                            std::to_string(position + 1) + ": " + reason + "; a rank is one of " +
                            std::string(kRankGrammar)),
      text_(text),
      reason_(reason),
      position_(position) {}

std::vector<RankPolicy> parse_ranks(std::string_view specs) { return Parser(specs).parse(); }

std::string to_string(const RankPolicy& policy) {
  std::string value = number_text(policy.value);
  switch (policy.kind) {
    case Kind::rank:
      return value;
    case Kind::percent:
      return value + "%";
    case Kind::gavish_donoho:
      if (policy.value > 0) return std::string(kNoisePrefix) + value;
      break;
    default:
      break;
  }
  for (const NamedValue& form : kNamedValues) {
    if (form.kind == policy.kind)
      return std::string(form.name) + ":" + value + (form.is_percent ? "%" : "");
  }
  return std::string(std::ranges::find(kWords, policy.kind, &Word::kind)->name);
}

std::string to_string(const std::vector<RankPolicy>& policies) {
  std::string list;
  for (const RankPolicy& policy : policies) list += (list.empty() ? "" : ",") + to_string(policy);
  return list;
}

std::string file_name_label(const RankPolicy& policy) {
  std::string label;
  for (const char c : to_string(policy)) {
    if (c == '%') {
      label += "pct";
    } else {
      label += c == ':' || c == '=' ? '-' : c;
    }
  }
  return label;
}

}  // namespace eckart
