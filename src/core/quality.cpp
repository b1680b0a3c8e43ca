#include "core/quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eckart {
namespace {

constexpr double kExactPsnrDb = 99;
constexpr double kHalfLevel = 0.5;
constexpr double kNegligibleError = kHalfLevel * kHalfLevel;

}  // namespace

double psnr_db(double squared_error, std::size_t samples, double peak) {
  if (squared_error <= 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(peak * peak * double(samples) / squared_error);
}

double finite_psnr_db(double psnr_db) {
  return std::isinf(psnr_db) ? std::copysign(kExactPsnrDb, psnr_db) : psnr_db;
}

bool is_negligible(double squared_error) { return squared_error < kNegligibleError; }

bool is_exact_reconstruction(double squared_error, double residual) {
  return squared_error == 0 && std::isfinite(residual);
}

double max_loss_bound_db(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return std::max(a, b);
}

double loss_db(double squared_error, double optimal_error) {
  return 10 * std::log10(std::max(squared_error, kNegligibleError) /
                         std::max(optimal_error, kNegligibleError));
}

}  // namespace eckart
