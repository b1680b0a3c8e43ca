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

/// Writes text with a comma between two elements.
class ListWriter {
 public:
  void next() {
    if (!text_.empty()) text_ += ',';
  }
  std::string finish() { return std::move(text_); }

 protected:
  void write_string(std::string_view value) {
    const bool is_plain = std::ranges::all_of(
        value, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
    if (!is_plain) {
      text_ += text::Json(value).dump();
      return;
    }
    text_ += '"';
    text_ += value;
    text_ += '"';
  }

  std::string text_;
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
  ValueWriter() { text_.reserve(512); }  // a value of each color channel may need more
  template <class Value>
  void operator()(const char* /*key*/, const Value& value) {
    next();
    write(value);
  }

 private:
  void write(Finite number) {
    if (std::isfinite(number.value)) return write(number.value);
    text_ += "null";
  }
  void write(double number) {
    const std::size_t before = text_.size();
    write_number(number);
    // Otherwise it would be read as an integer.
    if (text_.find_first_of(".e", before) == std::string::npos) text_ += ".0";
  }
  void write(int number) { write_number(number); }
  void write(std::int64_t number) { write_number(number); }
  void write(std::string_view value) { write_string(value); }
  template <class Value>
  void write(const std::vector<Value>& values) {
    if (!is_known(values)) {
      text_ += "null";
      return;
    }
    char separator = '[';
    for (const Value& value : values) {
      text_ += std::exchange(separator, ',');
      write(value);
    }
    text_ += ']';
  }
  template <class Number>
  void write_number(Number number) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text_.append(digits.data(), end);
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
