#include "capacity/plan_sentences.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "capacity/number_format.hpp"
#include "capacity/plan_phrases.hpp"
#include "text/format_count.hpp"
#include "text/format_duration.hpp"
#include "text/format_number.hpp"
#include "text/group_digits.hpp"
#include "text/printable.hpp"

namespace eckart::capacity {
namespace {

std::string format_large_count(double count) {
  return count < 1e15 ? text::group_digits(std::llround(count)) : text::format_number(count);
}

std::string requirement_sentence(const Requirement& requirement, const Plan& plan) {
  const std::string with =
      plan.gpus > 0 ? " with " + text::format_count(requirement.gpus, "GPU") : "";
  if (!requirement.cores) {
    return fmt::format("no number of cores is enough{}: {} would be the bottleneck", with,
                       requirement.bottleneck == Resource::cores ? "contention between cores"
                       : requirement.bottleneck == Resource::disk
                           ? "the disk, as far as observed,"
                           : bottleneck_phrase({.bottleneck = requirement.bottleneck}, plan));
  }
  const std::string conservative_text =
      !requirement.conservative_cores
          ? "; no number is enough at the lower end of the 95 % interval"
      : *requirement.conservative_cores == *requirement.cores
          ? ""
          : fmt::format("; {} at the lower end of the 95 % interval",
                        text::group_digits(*requirement.conservative_cores));
  const char* bound = !plan.scaling.is_known && *requirement.cores > plan.cores ? "at least " : "";
  return fmt::format("requires {}{}{}{}", bound, text::format_count(*requirement.cores, "core"),
                     with, conservative_text);
}

}  // namespace

std::string bottleneck_phrase(const Prediction& at, const Plan& plan) {
  if (!at.bottleneck) return "unknown";
  if (at.bottleneck == Resource::disk) return "the disk, as far as observed";
  const std::optional<Stage> stage = stage_of(*at.bottleneck);
  const auto fixed = stage ? plan.fixed_threads.find(*stage) : plan.fixed_threads.end();
  if (fixed == plan.fixed_threads.end()) return resource_phrase(*at.bottleneck);
  return fmt::format("{}={}", thread_setting_name(*stage), fixed->second);
}

std::string runs_sentence(const Plan& plan) {
  std::int64_t images = 0;
  double elapsed_s = 0;
  for (const RunMeasurement& run : plan.runs) {
    images += run.images;
    elapsed_s += run.elapsed_s;
  }
  std::string text =
      fmt::format("{} of {}, {} in {}", text::format_count(std::int64_t(plan.runs.size()), "run"),
                  plan.baseline.is_service ? "the service" : "eckart run",
                  text::format_count(images, "image"), text::format_duration(elapsed_s));
  if (!plan.first_time.empty()) {
    text += plan.first_time == plan.last_time
                ? ", " + text::printable(plan.first_time)
                : fmt::format(", {} to {}", text::printable(plan.first_time),
                              text::printable(plan.last_time));
  }
  return text;
}

std::string machine_sentence(const Plan& plan) {
  std::string text =
      fmt::format("{}: {}, {}", text::printable(plan.host), text::printable(plan.cpu),
                  machine_phrase(plan, plan.cores, plan.gpus));
  if (!plan.backend.empty()) text += ", backend " + text::printable(plan.backend);
  if (!plan.device.empty() && plan.gpus > 0) text += " on " + text::printable(plan.device);
  return text;
}

std::string work_sentence(const Plan& plan) {
  return fmt::format("images of {} pixels and {} kB{}{}",
                     text::format_number(plan.pixels_per_image),
                     text::format_number(1e-3 * plan.input_bytes_per_image),
                     plan.settings.empty() ? ", default settings" : "; ",
                     text::printable(fmt::format("{}", fmt::join(plan.settings, ", "))));
}

std::string bottleneck_sentence(const Plan& plan) {
  const std::string rate = format_images_per_s(plan.baseline.rate_per_s);
  if (plan.bounds.empty()) return "unknown: the log has no CPU times; at least " + rate;
  const Bound& first = plan.bounds.front();
  if (!plan.baseline.saturated) {
    return fmt::format("{}no resource was saturated at {}; the busiest, {}, was {} utilized",
                       plan.is_inconclusive() ? "unknown: " : "", rate,
                       resource_phrase(first.resource), format_percent(first.utilization));
  }
  const Resource bottleneck = first.resource;
  if (bottleneck == Resource::disk) {
    return fmt::format("the disk is the bottleneck: {} waited for it at {}; {}",
                       text::format_count(first.servers, "thread"), rate, kDiskLimitUnknown);
  }
  const bool is_one = bottleneck == Resource::gpu || bottleneck == Resource::source ||
                      bottleneck == Resource::batch;
  std::string text =
      fmt::format("{} {} the bottleneck: {} utilized at {}", resource_phrase(bottleneck),
                  is_one ? "is" : "are", format_percent(first.utilization), rate);
  if (has_thread_setting(bottleneck)) {
    const Stage stage = *stage_of(bottleneck);
    const auto fixed = plan.fixed_threads.find(stage);
    text += fixed == plan.fixed_threads.end()
                ? fmt::format("; there were {}; their number is a setting", first.servers)
                : fmt::format("; consider a higher {} than the current {}",
                              thread_setting_name(stage), fixed->second);
  }
  return text;
}

std::string next_bottleneck_sentence(const Plan& plan) {
  if (plan.bounds.size() < 2 || plan.is_inconclusive()) return {};
  const Bound& next = plan.bounds[1];
  if (next.utilization > 0.995) return resource_phrase(next.resource) + ", equally utilized";
  return fmt::format("{}, {} utilized: alone it allows {}{}, {} times the measured rate",
                     resource_phrase(next.resource), format_percent(next.utilization),
                     format_images_per_s(next.rate_per_s.value),
                     next.is_lower_bound ? " or more" : "",
                     text::format_number(1 / next.utilization));
}

std::string littles_law_sentence(const Plan& plan) {
  if (!plan.baseline.littles_law) return {};
  const double expected = plan.baseline.littles_law->expected_unfinished(),
               found = plan.baseline.littles_law->mean_unfinished;
  std::string text = fmt::format("{} x {} in the system = {} images; {} were measured",
                                 format_images_per_s(plan.baseline.littles_law->rate_per_s),
                                 text::format_duration(plan.baseline.littles_law->mean_in_system_s),
                                 text::format_number(expected), text::format_number(found));
  if (std::abs(found - expected) > 0.25 * std::max(found, expected)) {
    text += ": they differ, so the load was not steady";
  }
  return text;
}

std::string amdahl_sentence(const Plan& plan) {
  const ScalingAnalysis& scaling = plan.scaling;
  if (!scaling.is_known) {
    return fmt::format(
        "unknown from runs on {} only; rates for more cores are upper bounds that assume perfect "
        "scaling",
        text::format_count(plan.cores, "core"));
  }
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

std::string one_more_sentence(const Plan& plan) {
  if (plan.is_inconclusive()) return "unknown: no resource was saturated";
  const auto gain = [&](const Prediction& more) {
    const double per_s = plan.gain_per_s(more),
                 share = per_s / plan.current_capacity.rate_per_s.value;
    if (more.bottleneck == Resource::disk)
      return std::string("no observed gain; ") + kDiskLimitUnknown;
    if (share < 1e-3) return "nothing: the bottleneck is then " + bottleneck_phrase(more, plan);
    return fmt::format("{} ({})", format_images_per_s(per_s), format_percent(share));
  };
  std::string text = "one more core adds " + gain(plan.one_more_core);
  if (plan.one_more_gpu) text += "; one more GPU adds " + gain(*plan.one_more_gpu);
  return text;
}

std::vector<std::string> target_sentences(const Plan& plan) {
  std::vector<std::string> sentences;
  if (plan.images) {
    sentences.push_back(fmt::format("{} images take {} on this machine",
                                    format_large_count(*plan.images),
                                    text::format_duration(*plan.images_duration_s)));
  }
  if (!plan.target) return sentences;
  const TargetResult& target = *plan.target;
  sentences.push_back(
      fmt::format("{} ({} per day) {}: {} can reach {}, {}", format_images_per_s(target.rate_per_s),
                  format_large_count(86400 * target.rate_per_s),
                  target.headroom >= 0 ? "is possible"
                  : plan.is_inconclusive() || plan.current_capacity.bottleneck == Resource::disk
                      ? "is more than was observed"
                      : "is not possible on this machine",
                  machine_phrase(plan, plan.cores, plan.gpus),
                  format_images_per_s(plan.current_capacity.rate_per_s.value),
                  headroom_phrase(target.headroom)));
  if (plan.is_inconclusive() && target.headroom < 0) {
    sentences.push_back("the required machine is unknown, because no resource was saturated");
    return sentences;
  }
  for (const Requirement& requirement : target.requirements)
    sentences.push_back(requirement_sentence(requirement, plan));
  return sentences;
}

std::string peak_sentence(const Plan& plan) {
  const double headroom = plan.headroom();
  const std::string peak = fmt::format("best interval: {}", format_images_per_s(plan.peak_per_s));
  const std::string rate = format_images_per_s(plan.current_capacity.rate_per_s.value);
  if (plan.is_inconclusive()) return fmt::format("{}; the capacity is not known", peak);
  if (!plan.baseline.is_service) {
    return fmt::format("{}; sustained: {}", peak, rate);
  }
  return fmt::format("{}; the capacity is {}: {}", peak, rate,
                     headroom > 0.05 ? headroom_phrase(headroom) : "no headroom");
}

std::string energy_sentence(const Plan& plan) {
  if (!plan.baseline.joules_per_image) return {};
  return fmt::format("{} images per joule, {} J per image (GPU only)",
                     text::format_number(1 / *plan.baseline.joules_per_image),
                     text::format_number(*plan.baseline.joules_per_image));
}

}  // namespace eckart::capacity
