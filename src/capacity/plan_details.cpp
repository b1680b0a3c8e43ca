// Sentences for engineers: the laws that the model uses, with their values.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "capacity/number_format.hpp"
#include "capacity/plan_phrases.hpp"
#include "capacity/plan_sentences.hpp"
#include "text/format_count.hpp"
#include "text/format_duration.hpp"
#include "text/format_number.hpp"

namespace eckart::capacity {
namespace {

std::string megabytes_per_s(double bytes) { return text::format_number(1e-6 * bytes) + " MB/s"; }

}  // namespace

std::string littles_law_sentence(const Plan& plan) {
  if (!plan.baseline.littles_law) return {};
  const double expected = plan.baseline.littles_law->expected_unfinished(),
               found = plan.baseline.littles_law->mean_unfinished;
  return fmt::format("{} x {} in the system = {} images; {} were measured",
                     format_images_per_s(plan.baseline.littles_law->rate_per_s),
                     text::format_duration(plan.baseline.littles_law->mean_in_system_s),
                     text::format_number(expected), text::format_number(found));
}

std::string concurrent_runs_sentence(const Plan& plan) {
  if (!plan.concurrent_runs) return {};
  const ConcurrentRuns& runs = *plan.concurrent_runs;
  return fmt::format(
      "together {} in {}: {} read and {} written, {} files/s; of {} at the same time, {} of the "
      "time was idle",
      format_images_per_s(runs.images_per_s()), text::format_duration(runs.elapsed_s),
      megabytes_per_s(runs.read_bytes_per_s), megabytes_per_s(runs.written_bytes_per_s),
      text::format_number(runs.files_per_s), text::format_count(runs.most_at_once, "run"),
      format_percent(runs.idle_share));
}

std::string amdahl_sentence(const Plan& plan) {
  const ScalingAnalysis& scaling = plan.scaling;
  if (!scaling.is_known) return {};
  const std::string found = scaling.measured
                                ? fmt::format("serial fraction {} (95 %: {})",
                                              format_percent(scaling.measured->ratio.value),
                                              format_percent_range(scaling.measured->ratio))
                                : "serial fraction not measurable";
  return fmt::format(
      "{} from {} at {} cores; predictions use {} ({}), which includes a prior of about 1.5 %",
      found, text::format_count(std::int64_t(plan.runs.size()), "run"),
      fmt::join(scaling.cores, ", "), format_percent(scaling.serial_fraction.value),
      format_percent_range(scaling.serial_fraction));
}

std::string gustafson_sentence(const Plan& plan) {
  const ScalingAnalysis& scaling = plan.scaling;
  if (!scaling.is_known) return {};
  if (!scaling.is_gustafson_known) return "serial share not measurable from these runs";
  const std::string share =
      fmt::format("serial share {} (95 %: {})",
                  format_percent(std::max(0.0, scaling.gustafson_serial_fraction.value)),
                  format_percent_range(scaling.gustafson_serial_fraction));
  if (scaling.gustafson_runs > 0) {
    return fmt::format("{}, from {} with images in proportion to cores", share,
                       text::format_count(scaling.gustafson_runs, "run"));
  }
  return fmt::format(
      "{} of a run on {}; derived from Amdahl's law, since no runs had images in proportion to "
      "cores",
      share, text::format_count(scaling.cores.back(), "core"));
}

}  // namespace eckart::capacity
