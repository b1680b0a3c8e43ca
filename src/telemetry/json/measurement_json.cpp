#include "telemetry/json/measurement_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace eckart::telemetry {
namespace {

/// A number that is null if it is infinite or NaN.
struct Finite {
  double value;
};

/// Calls add(key, value) for each key, in order. A vector is null if it is empty or has a number
/// that is not finite.
template <class Add>
void add_fields(const OutputMeasurement& output, Add&& add) {
  add("rows", output.rows);
  add("cols", output.cols);
  add("channels", output.channels);
  add("bits", output.bits);
  add("color", output.color);
  add("rank_spec", output.rank_spec);
  add("rank", output.rank);
  add("channel_ranks", output.channel_ranks);
  add("energy", output.energy);
  add("sigma1", output.sigma1);
  add("sigma_threshold", output.sigma_threshold);
  add("solvers", output.solvers);
  add("peak", output.peak);
  add("peak_source", to_string(output.peak_source));
  add("psnr_before_rounding_db", Finite{output.psnr_before_rounding_db});
  add("psnr_db", Finite{output.psnr_db});
  add("rmse", Finite{output.rmse});
  add("relative_error", Finite{output.relative_error});
  add("max_error", Finite{output.max_error});
  add("file_psnr_db", Finite{output.file_psnr_db});
  add("file_rmse", Finite{output.file_rmse});
  add("ssim", Finite{output.ssim});
  add("residual_gain", Finite{output.residual_gain});
  add("loss_estimate_db", Finite{output.loss_estimate_db});
  add("loss_bound_db", Finite{output.loss_bound_db});
  add("planes_recomputed", output.planes_recomputed);
  add("rescale_slope", Finite{output.rescale_slope});
  add("rescale_intercept", Finite{output.rescale_intercept});
  add("window_center", Finite{output.window_center});
  add("window_width", Finite{output.window_width});
  add("raw_bytes", output.raw_bytes);
  add("source_bytes", output.source_bytes);
  add("factor_bytes", output.factor_bytes);
  add("written_bytes", output.written_bytes);
  add("load_ms", output.load_ms);
  add("wait_ms", output.wait_ms);
  add("compute_ms", output.compute_ms);
  add("write_ms", output.write_ms);
}

bool is_known(const std::vector<double>& numbers) {
  return !numbers.empty() &&
         std::ranges::all_of(numbers, [](double n) { return std::isfinite(n); });
}
template <class Value>
bool is_known(const std::vector<Value>& values) {
  return !values.empty();
}

struct AddToJson {
  text::Json& json;
  void operator()(const char* key, Finite number) const {
    json.emplace(key, text::finite_or_null(number.value));
  }
  template <class Value>
  void operator()(const char* key, const std::vector<Value>& values) const {
    json.emplace(key, is_known(values) ? text::Json(values) : text::Json());
  }
  template <class Value>
  void operator()(const char* key, const Value& value) const {
    json.emplace(key, value);
  }
};

/// Text that grows in a buffer on the stack: most additions are a few characters, and a string
/// takes longer for each.
class TextBuffer {
 public:
  bool empty() const { return size_ == 0 && text_.empty(); }
  void add(char c) {
    reserve(1);
    buffer_[size_++] = c;
  }
  void add(std::string_view text) {
    if (text.size() > buffer_.size()) {
      flush();
      text_ += text;
      return;
    }
    reserve(text.size());
    std::ranges::copy(text, buffer_.data() + size_);
    size_ += text.size();
  }
  template <class Number>
  std::string_view add_number(Number number) {
    reserve(32);
    char* const begin = buffer_.data() + size_;
    char* const end = std::to_chars(begin, buffer_.data() + buffer_.size(), number).ptr;
    size_ = std::size_t(end - buffer_.data());
    return {begin, end};
  }
  std::string finish() {
    flush();
    return std::move(text_);
  }

 private:
  void reserve(std::size_t size) {
    if (buffer_.size() - size_ < size) flush();
  }
  void flush() {
    text_.append(buffer_.data(), size_);
    size_ = 0;
  }

  std::string text_;
  std::size_t size_ = 0;
  std::array<char, 1024> buffer_;
};

/// Writes text with a comma between two elements.
class ListWriter {
 public:
  void next() {
    if (!text_.empty()) text_.add(',');
  }
  std::string finish() { return text_.finish(); }

 protected:
  void write_string(std::string_view value) {
    const bool is_plain = std::ranges::all_of(
        value, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
    if (!is_plain) return text_.add(text::Json(value).dump());
    text_.add('"');
    text_.add(value);
    text_.add('"');
  }

  TextBuffer text_;
};

class KeyWriter : public ListWriter {
 public:
  template <class Value>
  void operator()(const char* key, const Value& /*value*/) {
    next();
    write_string(key);
  }
};

/// Writes the values, without a tree of allocated values.
class ValueWriter : public ListWriter {
 public:
  template <class Value>
  void operator()(const char* /*key*/, const Value& value) {
    next();
    write(value);
  }

 private:
  void write(Finite number) {
    if (std::isfinite(number.value)) return write(number.value);
    text_.add("null");
  }
  void write(double number) {
    const std::string_view digits = text_.add_number(number);
    // Otherwise it would be read as an integer.
    if (digits.find_first_of(".e") == digits.npos) text_.add(".0");
  }
  void write(int number) { text_.add_number(number); }
  void write(std::int64_t number) { text_.add_number(number); }
  void write(std::string_view value) { write_string(value); }
  template <class Value>
  void write(const std::vector<Value>& values) {
    if (!is_known(values)) {
      text_.add("null");
      return;
    }
    char separator = '[';
    for (const Value& value : values) {
      text_.add(std::exchange(separator, ','));
      write(value);
    }
    text_.add(']');
  }
};

}  // namespace

text::Json to_json(const OutputMeasurement& output) {
  text::Json json = text::Json::object();
  add_fields(output, AddToJson{json});
  return json;
}

const std::string& json_keys() {
  static const std::string keys = [] {
    KeyWriter writer;
    add_fields(OutputMeasurement(), writer);
    return writer.finish();
  }();
  return keys;
}

std::string json_values(const OutputMeasurement& output) {
  ValueWriter writer;
  add_fields(output, writer);
  return writer.finish();
}

double loss_estimate_db_of(const std::string& json) {
  const text::Json parsed = text::Json::parse(json, nullptr, /*allow_exceptions=*/false);
  const auto found = parsed.find("loss_estimate_db");
  return found != parsed.end() && found->is_number() ? found->get<double>()
                                                     : std::numeric_limits<double>::infinity();
}

}  // namespace eckart::telemetry
