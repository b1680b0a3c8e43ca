#include "pipeline/equal_outputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "analysis/comparison.hpp"
#include "codec/codec.hpp"
#include "core/error.hpp"
#include "core/quality.hpp"
#include "io/input_file.hpp"

namespace eckart::pipeline {
namespace {

constexpr double kMinPsnrDb = 40;
constexpr double kMaxRelativeDifference = 0.01;  // of singular values

Picture decode(const std::filesystem::path& path) {
  const io::InputFile file(path);
  const codec::Codec& codec = codec::detect_codec(file.bytes_on_demand());
  const ImageLimits limits;
  codec::admit(codec, file.bytes_on_demand(), limits);
  const ByteBuffer bytes = file.read_all(limits.file_mb);
  return codec.decode(bytes, limits);
}

bool have_equal_pixels(const Image& a, const Image& b) {
  if (a.shape() != b.shape() || a.empty() != b.empty()) return false;
  if (a.empty()) return true;
  const double squared_error = analysis::compare(a, b).squared_error;
  return squared_error == 0 ||
         psnr_db(squared_error, a.shape().samples(), analysis::sample_range(a)) >= kMinPsnrDb;
}

bool have_equal_values(const Factors& a, const Factors& b) {
  if (a.rows != b.rows || a.cols != b.cols || a.rank() != b.rank()) return false;
  const double largest = a.s.empty() ? 0 : std::max(a.s.front(), b.s.front());
  for (std::size_t i = 0; i < a.s.size(); ++i) {
    if (std::abs(a.s[i] - b.s[i]) > kMaxRelativeDifference * largest) return false;
  }
  return true;
}

}  // namespace

bool are_equal_outputs(const std::filesystem::path& a, const std::filesystem::path& b) try {
  const Picture first = decode(a), second = decode(b);
  if (first.factors.has_value() != second.factors.has_value()) return false;
  if (first.factors)
    return first.factors->color == second.factors->color &&
           std::ranges::equal(first.factors->matrices, second.factors->matrices, have_equal_values);
  return have_equal_pixels(first.pixels, second.pixels) &&
         have_equal_pixels(first.alpha, second.alpha);
} catch (const ItemError&) {
  return false;
}

}  // namespace eckart::pipeline
