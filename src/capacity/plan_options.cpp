#include "capacity/plan_options.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "capacity/plan_answer.hpp"
#include "capacity/plan_phrases.hpp"
#include "text/format_count.hpp"

namespace eckart::capacity {
namespace {

/// The power of a core and of a GPU.
struct Power {
  double core_w = kDefaultCoreWatts, gpu_w = kDefaultGpuWatts;
};

Power power_of(const Plan& plan) {
  Power power;
  if (plan.gpus > 0 && plan.baseline.joules_per_image)
    power.gpu_w = *plan.baseline.joules_per_image * plan.baseline.rate_per_s / plan.gpus;
  if (!plan.request.watts) return power;
  if (plan.gpus > 0) power.gpu_w = std::min(power.gpu_w, *plan.request.watts / plan.gpus);
  power.core_w = (*plan.request.watts - power.gpu_w * plan.gpus) / plan.cores;
  return power;
}

/// Returns whether the prices have the one that counts: of a GPU-hour, or without a GPU of a
/// core-hour. If there is only a price of energy, that counts.
bool has_price(const PlanOption& option, const Prices& prices) {
  if (prices.core_h == 0 && prices.gpu_h == 0) return true;
  return (option.gpus > 0 ? prices.gpu_h : prices.core_h) > 0;
}

/// Sets what follows from rate, target and prices.
void complete(PlanOption& option, const Plan& plan) {
  const PlanRequest& request = plan.request;
  const Estimate& rate = option.rate_per_s;
  double rate_of_month = rate.value;
  if (plan.target) {
    using Meets = PlanOption::Meets;
    const double target = plan.target->rate_per_s;
    const bool is_less = option.cores <= plan.cores && option.gpus <= plan.gpus;
    const bool may_do_more =
        option.is_lower_bound && !(is_less && plan.is_above_hardware(target / option.machines));
    // More cores or GPUs than here do at least as much as this machine.
    const bool is_more = option.cores >= plan.cores && option.gpus >= plan.gpus;
    const double certain = !option.is_upper_bound ? rate.low
                           : is_more              ? plan.current_capacity.rate_per_s.low
                                                  : 0;
    option.meets_target = certain >= target                    ? Meets::yes
                          : rate.high < target && !may_do_more ? Meets::no
                                                               : Meets::unknown;
    option.utilization = target / rate.value;
    rate_of_month = std::min(rate_of_month, target);
  }
  if (!request.prices || !has_price(option, *request.prices)) return;
  const Power power = power_of(plan);
  const Prices& prices = *request.prices;
  double per_h = option.cores * prices.core_h + option.gpus * prices.gpu_h;
  if (prices.kwh > 0) {
    option.watts = option.machines * (option.cores * power.core_w + option.gpus * power.gpu_w);
    per_h += *option.watts / option.machines / 1000 * prices.kwh;
  }
  option.cost_per_month = option.machines * per_h * request.hours_per_month();
  option.cost_per_million_images =
      *option.cost_per_month / (request.images_per_month(rate_of_month) / 1e6);
}

/// Returns the option of one machine with other hardware: the prediction, as in the rates. If the
/// limit is not known, the rate of more hardware is an upper bound, and less hardware may do more
/// than this machine did, but need not.
PlanOption other_machine(const Plan& plan, const Model& model, int cores, int gpus) {
  Prediction at = model.predict(cores, gpus);
  const bool is_more = cores > plan.cores || gpus > plan.gpus;
  const bool is_limit_unknown = plan.is_inconclusive() && !plan.is_recorded();
  const bool is_disk = at.bottleneck == Resource::disk;
  const bool is_proportional = !plan.scaling.is_known && cores > plan.cores && !is_disk;
  const bool may_do_more =
      is_limit_unknown && !is_more && !plan.is_within_measured(cores, gpus, at.rate_per_s.value);
  if (may_do_more) at.rate_per_s = plan.current_capacity.rate_per_s;
  return {.name = machine_phrase(plan, cores, gpus),
          .cores = cores,
          .gpus = gpus,
          .rate_per_s = at.rate_per_s,
          .is_lower_bound = is_limit_unknown ? may_do_more : is_disk,
          .is_upper_bound = (is_limit_unknown && is_more) || is_proportional};
}

PlanOption::Meets meets(Answer::Kind answer) {
  using Meets = PlanOption::Meets;
  return answer == Answer::Kind::yes  ? Meets::yes
         : answer == Answer::Kind::no ? Meets::no
                                      : Meets::unknown;
}

bool has_similar_images(const Plan& a, const Plan& b) {
  constexpr double kMaxRatio = 2;
  const double ratio = a.pixels_per_image / b.pixels_per_image;
  return ratio <= kMaxRatio && ratio >= 1 / kMaxRatio;
}

/// The number of cores that a planner would compare with: the fewest that meet the target, or twice
/// as many; none if another number does not help.
std::optional<int> other_cores(const Plan& plan) {
  if (plan.target) {
    const Requirement& requirement = plan.target->requirements.front();
    const std::optional<int> cores =
        requirement.conservative_cores ? requirement.conservative_cores : requirement.cores;
    if (cores && *cores < plan.cores) return cores;
    if (plan.is_inconclusive()) return std::nullopt;
    if (cores && *cores > plan.cores) return cores;
    return std::nullopt;
  }
  if (plan.is_inconclusive() || plan.gain_per_s(plan.doubled_cores) == 0) return std::nullopt;
  return 2 * plan.cores;
}

}  // namespace

std::vector<PlanOption> make_options(const Plan& plan, const Model& model) {
  std::vector<PlanOption> options;
  const PlanOption here{.name = plan.is_recorded() ? "recorded machine" : "this machine",
                        .cores = plan.cores,
                        .gpus = plan.gpus,
                        .rate_per_s = plan.current_capacity.rate_per_s,
                        .is_lower_bound = plan.is_lower_bound() && !plan.is_recorded()};
  options.push_back(here);
  std::set<int> cores(plan.request.cores.begin(), plan.request.cores.end());
  if (const auto compared = other_cores(plan)) cores.insert(*compared);
  cores.erase(plan.cores);
  for (const int count : cores) options.push_back(other_machine(plan, model, count, plan.gpus));
  if (plan.gpus > 0 && plan.current_capacity.bottleneck == Resource::gpu)
    options.push_back(other_machine(plan, model, plan.cores, plan.gpus + 1));
  constexpr double kMaxMachines = 1e6;  // more are not a plan
  const double machines =
      plan.target ? std::min(kMaxMachines, plan.target->conservative_machines) : 2;
  if (machines > 1) {
    PlanOption more = here;
    more.name = text::format_count(std::llround(machines), "machine") + " like this";
    more.machines = machines;
    for (double* rate : {&more.rate_per_s.value, &more.rate_per_s.low, &more.rate_per_s.high})
      *rate *= machines;
    options.push_back(more);
  }
  for (PlanOption& option : options) {
    option.is_measured_here = !plan.is_recorded();
    complete(option, plan);
  }
  if (plan.target) options.front().meets_target = meets(answer(plan).kind);
  return options;
}

void add_recorded_options(Plan& plan, const std::vector<Plan>& recorded) {
  plan.has_unlike_reference = !recorded.empty();
  for (const Plan& other : recorded) {
    if (!has_similar_images(plan, other)) continue;
    plan.has_unlike_reference = false;
    const std::string device = other.device.substr(other.device.starts_with("NVIDIA ") ? 7 : 0);
    PlanOption option{.name = text::format_count(other.cores, "core") + " and " +
                              text::format_count(other.gpus, device),
                      .cores = other.cores,
                      .gpus = other.gpus,
                      .rate_per_s = other.current_capacity.rate_per_s,
                      .is_measured_here = false,
                      .recorded_work = other.recorded_work};
    complete(option, plan);
    plan.options.push_back(option);
  }
}

}  // namespace eckart::capacity
