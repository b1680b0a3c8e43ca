#include <spdlog/fmt/fmt.h>

#include "capacity/number_format.hpp"
#include "capacity/plan_answer.hpp"
#include "capacity/plan_phrases.hpp"
#include "capacity/plan_sentences.hpp"
#include "text/format_count.hpp"
#include "text/format_duration.hpp"
#include "text/format_number.hpp"
#include "text/printable.hpp"

namespace eckart::capacity {
namespace {

std::string runs_sentence(const Plan& plan) {
  if (plan.is_recorded()) return plan.recorded_source + ", not measured here";
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
  const auto minute = [](const std::string& time) {  // 2026-11-22T10:00
    return text::printable(time.substr(0, 16));
  };
  if (plan.first_time.empty()) return text;
  text += ", " + minute(plan.first_time);
  if (minute(plan.first_time) != minute(plan.last_time)) text += " to " + minute(plan.last_time);
  return text;
}

std::string machine_sentence(const Plan& plan) {
  std::string text =
      fmt::format("{}, {}", text::printable(plan.cpu), machine_phrase(plan, plan.cores, plan.gpus));
  if (!plan.host.empty()) text = text::printable(plan.host) + ": " + text;
  if (!plan.backend.empty()) text += ", backend " + text::printable(plan.backend);
  if (!plan.device.empty() && plan.gpus > 0) text += " on " + text::printable(plan.device);
  return text;
}

std::string work_sentence(const Plan& plan) {
  if (plan.is_recorded()) return plan.recorded_work;
  return fmt::format("images of {} pixels and {} kB{}{}",
                     text::format_number(plan.pixels_per_image),
                     text::format_number(1e-3 * plan.input_bytes_per_image),
                     plan.settings.empty() ? ", default settings" : "; ",
                     text::printable(fmt::format("{}", fmt::join(plan.settings, ", "))));
}

/// "10.0 GB", of all images that were asked for, or "0.862 TB a month"; empty if unknown.
std::string output_size(const Plan& plan) {
  if (!plan.output_bytes_per_image) return {};
  if (!plan.request.images)
    return text::format_number(plan.output_tb_per_month().value_or(0)) + " TB a month";
  const double bytes = *plan.output_bytes_per_image * *plan.request.images;
  return bytes < 1e12 ? text::format_number(1e-9 * bytes) + " GB"
                      : text::format_number(1e-12 * bytes) + " TB";
}

std::string output_sentence(const Plan& plan) {
  if (!plan.output_bytes_per_image) return {};
  const std::string of = plan.request.images ? " in all"
                         : plan.target
                             ? " at the target"
                             : " at " + format_images_per_s(plan.current_capacity.rate_per_s.value);
  return fmt::format("{} kB an image, {}{}",
                     text::format_number(1e-3 * *plan.output_bytes_per_image), output_size(plan),
                     of);
}

const PlanOption* cheapest_option(const Plan& plan) {
  const PlanOption* cheapest = nullptr;
  for (const PlanOption& option : plan.options) {
    if (option.meets_target.value_or(PlanOption::Meets::yes) != PlanOption::Meets::yes) continue;
    if (!option.cost_per_month) continue;
    if (!cheapest || *option.cost_per_million_images < *cheapest->cost_per_million_images)
      cheapest = &option;
  }
  return cheapest;
}

std::string cost_sentence(const Plan& plan) {
  const PlanOption* const cheapest = cheapest_option(plan);
  if (!cheapest) return {};
  const double per_million = *cheapest->cost_per_million_images;
  const std::string cost =
      plan.request.images
          ? text::format_number(per_million * *plan.request.images / 1e6) + " for all images"
          : text::format_number(*cheapest->cost_per_month) + " a month";
  return fmt::format(" The cheapest option{} is {}{}: {}, {} per million images.",
                     plan.target ? " that is enough" : "", cheapest->name,
                     cheapest->recorded_work.empty() ? "" : " (recorded, not measured here)", cost,
                     text::format_number(per_million));
}

std::string energy_sentence(const Plan& plan) {
  if (!plan.baseline.joules_per_image) return {};
  return fmt::format("{} J an image (GPU only)",
                     text::format_number(*plan.baseline.joules_per_image));
}

}  // namespace

std::string manager_paragraph(const Plan& plan) {
  std::string text = answer(plan).text + "." + cost_sentence(plan);
  if (plan.output_bytes_per_image) text += " The output is " + output_size(plan) + ".";
  return text;
}

std::string plan_title(const std::vector<Plan>& plans, std::size_t index) {
  const Plan& plan = plans.at(index);
  return fmt::format("{} of {}: {}; {}", index + 1, plans.size(), machine_sentence(plan),
                     work_sentence(plan));
}

std::vector<BasisLine> basis(const Plan& plan) {
  std::vector<BasisLine> lines = {{plan.is_recorded() ? "source" : "logs", runs_sentence(plan)},
                                  {"machine", machine_sentence(plan)},
                                  {"work", work_sentence(plan)},
                                  {"output", output_sentence(plan)},
                                  {"energy", energy_sentence(plan)}};
  std::erase_if(lines, [](const BasisLine& line) { return line.text.empty(); });
  return lines;
}

}  // namespace eckart::capacity
