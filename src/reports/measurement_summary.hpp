#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "telemetry/output_measurement.hpp"
#include "telemetry/statistic.hpp"

namespace eckart::reports {

/// What the images of a folder come to, by rank. Exact reconstructions count as 99 dB. Memory does
/// not depend on the number of images. Thread-safe; read it when all are added.
class MeasurementSummary {
 public:
  /// The percentiles that are shown.
  static constexpr double kLow = 0.05, kHigh = 0.95, kAlmostAll = 0.99;

  /// All images at one rank SPEC.
  struct SpecSummary {
    std::string spec;
    telemetry::Statistic rank{1}, psnr_db{0.01}, ssim{0.0001}, energy{0.00001}, factor_bytes{1};
  };

  /// All images whose full rank is above `rank`, at this rank in each channel, before rounding.
  struct SpectrumRank {
    int rank = 0;
    telemetry::Statistic psnr_db{0.01}, energy{0.00001};
  };

  /// `specs`: the values of OutputMeasurement::rank_spec, in the order of the tables.
  explicit MeasurementSummary(const std::vector<std::string>& specs);

  void add(const telemetry::OutputMeasurement& output);
  /// `singular_values`: of each matrix of an image, descending, equally many; in levels. `samples`:
  /// of all these matrices.
  void add_spectra(std::span<const std::vector<double>> singular_values, std::size_t samples,
                   double peak);

  const std::vector<SpecSummary>& specs() const { return specs_; }
  /// Only ranks with images.
  std::vector<SpectrumRank> spectrum() const;
  /// Knees of the energy of each image, see analysis::knee_rank().
  const telemetry::Statistic& knee() const { return knee_; }

 private:
  std::mutex mutex_;
  std::vector<SpecSummary> specs_;
  std::vector<SpectrumRank> spectrum_;
  telemetry::Statistic knee_{1};
};

/// Returns tables for people.
std::string to_text(const MeasurementSummary& summary);

/// Returns one JSON object, of kind `measurement`.
std::string to_json(const MeasurementSummary& summary, std::int64_t done, std::int64_t failed);

}  // namespace eckart::reports
