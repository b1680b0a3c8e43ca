#include "pipeline/output_quality.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/comparison.hpp"
#include "core/quality.hpp"
#include "core/rank_policy.hpp"
#include "core/rank_spec.hpp"

namespace eckart::pipeline {
namespace {

double psnr_db_of(const WorkItem& item, double squared_error) {
  return psnr_db(squared_error, item.image_shape.samples(), item.task.peak);
}

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// The share of the squared norm of all planes that is kept.
double total_energy(const std::vector<compute::PlaneResult>& planes) {
  double kept = 0, all = 0;
  for (const compute::PlaneResult& plane : planes) {
    kept += plane.energy * plane.squared_norm;
    all += plane.squared_norm;
  }
  return all > 0 ? kept / all : 1;  // black, or a copy at full rank
}

void add_planes(const std::vector<compute::PlaneResult>& planes, const ImageShape& shape,
                telemetry::OutputMeasurement& line) {
  for (const compute::PlaneResult& plane : planes) {
    line.rank = std::max(line.rank, plane.rank);
    line.channel_ranks.push_back(plane.rank);
    line.energy.push_back(plane.energy);
    line.sigma1.push_back(plane.sigma1);
    line.sigma_threshold.push_back(plane.sigma_threshold);
    if (plane.is_from_factors)
      line.solvers.emplace_back("factors");
    else if (plane.solver)
      line.solvers.push_back(to_string(*plane.solver));
    line.loss_estimate_db = std::max(line.loss_estimate_db, plane.loss_estimate_db);
    line.loss_bound_db = max_loss_bound_db(line.loss_bound_db, plane.loss_bound_db);
    line.planes_recomputed += plane.is_recomputed;
    line.factor_bytes += plane.rank * triplet_bytes(shape.rows, shape.cols);
  }
  line.total_energy = total_energy(planes);
  if (line.solvers.size() < planes.size()) line.solvers.clear();
}

void add_quality(const WorkItem& item, std::size_t output, telemetry::OutputMeasurement& line) {
  const double samples = double(item.image_shape.samples());
  const std::size_t rank = item.rank_index(output);
  const OutputErrors errors = output_errors(item, rank);
  const OutputQuality quality = quality_of(item, output);
  line.peak = item.task.peak;
  line.peak_source = item.peak_source;
  line.psnr_before_rounding_db = psnr_db_of(item, errors.residual);
  line.psnr_db = output_psnr_db(item, rank);
  line.rmse = std::sqrt(errors.squared_error / samples);
  line.relative_error = quality.relative_error;
  line.max_error = quality.max_error;
  line.file_psnr_db = file_psnr_db(item, output);
  line.file_rmse = std::sqrt(quality.file_squared_error / samples);
  line.ssim = quality.ssim;
  line.residual_gain = quality.residual_gain;
}

/// Samples of signed or inverted images were changed: see DicomValues.
void add_dicom_values(const WorkItem& item, telemetry::OutputMeasurement& line) {
  if (!item.metadata.dicom) return;
  const DicomValues& dicom = *item.metadata.dicom;
  const int white = (1 << dicom.bits_stored) - 1;
  line.rescale_slope = dicom.is_inverted ? -dicom.slope : dicom.slope;
  line.rescale_intercept =
      dicom.intercept + dicom.slope * ((dicom.is_inverted ? white : 0) - dicom.offset);
  line.window_center = dicom.window_center.value_or(telemetry::kUnknown);
  line.window_width = dicom.window_width.value_or(telemetry::kUnknown);
}

void add_costs(const WorkItem& item, std::size_t output, telemetry::OutputMeasurement& line) {
  line.raw_bytes = std::int64_t(item.image_shape.bytes());
  line.source_bytes = item.input_bytes;
  if (output < item.output_bytes.size()) line.written_bytes = item.output_bytes[output];
  line.load_ms = milliseconds(item.load_time);
  line.wait_ms = milliseconds(item.wait_time);
  line.compute_ms = milliseconds(item.compute_time);
  line.write_ms = milliseconds(quality_of(item, output).write_time);
}

}  // namespace

void set_peak(WorkItem& item, const PeakChoice& choice) {
  const Image& image = item.image.empty() ? item.task.input : item.image;
  const Peak peak = item.samples
                        ? analysis::resolve_peak(choice, image.shape().depth,
                                                 item.samples->max - item.samples->min)
                        : analysis::resolve_peak(choice, image, bits_stored(item.metadata.dicom));
  item.task.peak = peak.value * matrices_scale(item.image_shape, item.color);
  item.peak_source = peak.source;
}

OutputErrors output_errors(const WorkItem& item, std::size_t output) {
  return item.errors.empty() ? sum_errors(item.task.results[output]) : item.errors[output];
}

double output_psnr_db(const WorkItem& item, std::size_t output) {
  return psnr_db_of(item, output_errors(item, output).squared_error);
}

double file_psnr_db(const WorkItem& item, std::size_t output) {
  return psnr_db_of(item, quality_of(item, output).file_squared_error);
}

OutputQuality quality_of(const WorkItem& item, std::size_t output) {
  return output < item.qualities.size() ? item.qualities[output] : OutputQuality{};
}

std::string rank_spec_of(const WorkItem& item, std::size_t output) {
  if (item.is_factors(output))
    return to_string(largest_policies({item.output_ranks.begin(), item.output_ranks.end()}));
  return to_string(item.output_ranks[item.rank_index(output)]);
}

telemetry::OutputMeasurement output_measurement(const WorkItem& item, std::size_t output) {
  const ImageShape& shape = item.image_shape;
  const std::size_t rank = item.rank_index(output);
  telemetry::OutputMeasurement line{.rows = shape.rows,
                                    .cols = shape.cols,
                                    .channels = shape.channels,
                                    .bits = 8 * int(shape.depth),
                                    .color = to_string(item.color),
                                    .rank_spec = rank_spec_of(item, output)};
  add_planes(item.task.results[rank], item.matrices_shape, line);
  add_quality(item, output, line);
  add_dicom_values(item, line);
  add_costs(item, output, line);
  return line;
}

}  // namespace eckart::pipeline
