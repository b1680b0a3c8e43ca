#include "reports/measurement_summary.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/knee.hpp"
#include "analysis/squared_errors.hpp"
#include "core/quality.hpp"

namespace eckart::reports {
namespace {

constexpr int kSpectrumRanks[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000};

void add_if_known(telemetry::Statistic& statistic, double value) {
  if (std::isfinite(value)) statistic.add(value);
}

/// The squared errors of all channels together, at the same rank in each.
std::vector<double> sum_of_squared_errors(std::span<const std::vector<double>> singular_values) {
  std::vector<double> sum(singular_values.front().size() + 1);
  for (const std::vector<double>& values : singular_values) {
    const std::vector<double> errors = analysis::squared_errors(values);
    std::ranges::transform(sum, errors, sum.begin(), std::plus<>());
  }
  return sum;
}

}  // namespace

MeasurementSummary::MeasurementSummary(const std::vector<std::string>& specs) {
  for (const std::string& spec : specs) specs_.push_back({.spec = spec});
  for (const int rank : kSpectrumRanks) spectrum_.push_back({.rank = rank});
}

void MeasurementSummary::add(const telemetry::OutputMeasurement& output) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(specs_, output.rank_spec, &SpecSummary::spec);
  if (found == specs_.end()) return;
  found->rank.add(output.rank);
  found->psnr_db.add(finite_psnr_db(output.psnr_db));
  add_if_known(found->ssim, output.ssim);
  found->factor_bytes.add(double(output.factor_bytes));
  add_if_known(found->energy, output.total_energy);
}

void MeasurementSummary::add_spectra(std::span<const std::vector<double>> singular_values,
                                     std::size_t samples, double peak) {
  const std::vector<double> errors = sum_of_squared_errors(singular_values);
  std::vector<double> energy;
  for (std::size_t k = 1; k < errors.size(); ++k)
    energy.push_back(errors.front() > 0 ? 1 - errors[k] / errors.front() : 1);
  if (energy.empty()) return;
  const std::lock_guard lock(mutex_);
  knee_.add(analysis::knee_rank(energy));
  for (SpectrumRank& at : spectrum_) {
    const auto rank = std::size_t(at.rank);
    if (rank >= energy.size()) break;
    at.energy.add(energy[rank - 1]);
    at.psnr_db.add(finite_psnr_db(psnr_db(errors[rank], samples, peak)));
  }
}

std::vector<MeasurementSummary::SpectrumRank> MeasurementSummary::spectrum() const {
  std::vector<SpectrumRank> ranks;
  std::ranges::copy_if(spectrum_, std::back_inserter(ranks),
                       [](const SpectrumRank& at) { return at.energy.count() > 0; });
  return ranks;
}

}  // namespace eckart::reports
