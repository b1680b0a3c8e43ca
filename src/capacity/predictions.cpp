#include "capacity/predictions.hpp"

#include <algorithm>
#include <set>

namespace eckart::capacity {
namespace {

std::optional<double> mean_rate_at(const std::vector<Measured>& runs, int cores, int gpus) {
  const std::vector<Measured> there = alike(runs, cores, gpus);
  if (there.empty() || there.front().is_service) return std::nullopt;
  return pooled(there).rate_per_s;
}

/// More cores do no less.
template <typename Predictions>
void let_rise(Predictions& predictions) {
  for (std::size_t i = 1; i < predictions.size(); ++i) {
    if (predictions[i].gpus != predictions[i - 1].gpus) continue;
    const Interval& before = predictions[i - 1].rate_per_s;
    Interval& rate = predictions[i].rate_per_s;
    rate = {std::max(rate.value, before.value), std::max(rate.low, before.low),
            std::max(rate.high, before.high)};
  }
}

std::vector<Predicted> predictions_of(const Plan& plan, const Model& model,
                                      const Question& question) {
  std::set<int> cores = {1, 2, 4, 8, 16, 32, 64}, gpus = {plan.gpus};
  cores.insert(question.cores.begin(), question.cores.end());
  for (const Measured& run : plan.runs) {
    cores.insert(run.cores);
    gpus.insert(run.gpus);
  }
  for (const Measured& run : plan.others) cores.insert(run.cores);
  if (plan.gpus > 0) {
    gpus.insert(question.gpus.begin(), question.gpus.end());
    if (model.predict(*cores.rbegin(), plan.gpus).limit == "GPU") gpus.insert(2 * plan.gpus);
  }
  std::vector<Predicted> predictions;
  for (const int m : gpus) {
    const bool is_wanted = m <= plan.gpus || std::ranges::count(question.gpus, m) > 0;
    for (const int n : cores) {
      Predicted at{model.predict(n, m), mean_rate_at(plan.runs, n, m)};
      const bool is_proportional = !plan.scaling.is_known && n > plan.cores;
      at.is_at_most = at.limit != "disk" && (plan.is_too_little() || is_proportional);
      if (at.is_at_most) {  // and no less than was seen
        at.rate_per_s.value = std::max(at.rate_per_s.value, at.measured_per_s.value_or(0));
        at.rate_per_s.high = std::max(at.rate_per_s.high, at.rate_per_s.value);
      }
      const double with_those_here = model.predict(n, plan.gpus).rate_per_s.value;
      if (is_wanted || at.rate_per_s.value > 1.01 * with_those_here) predictions.push_back(at);
    }
  }
  let_rise(predictions);
  for (Predicted& at : predictions) {
    if (!at.measured_per_s) at.measured_per_s = mean_rate_at(plan.others, at.cores, at.gpus);
  }
  return predictions;
}

TargetAnswer answer(double rate_per_s, const Plan& plan, const Model& model) {
  TargetAnswer answer{.rate_per_s = rate_per_s,
                      .headroom = plan.here.rate_per_s.value / rate_per_s - 1,
                      .needs = {model.need(rate_per_s, plan.gpus)}};
  for (int gpus = plan.gpus + 1; answer.needs.back().limit == "GPU" && gpus <= 64; ++gpus) {
    const Need more = model.need(rate_per_s, gpus);
    if (more.cores || more.limit != "GPU") answer.needs.push_back(more);
  }
  // What was measured here stands above what is predicted of it.
  std::optional<int>& cores = answer.needs.front().cores;
  if (cores && answer.headroom >= 0) cores = std::min(*cores, plan.cores);
  if (cores && answer.headroom < 0) cores = std::max(*cores, plan.cores + 1);
  std::optional<int>& sure = answer.needs.front().sure_cores;
  if (cores && sure) sure = std::max(*sure, *cores);
  return answer;
}

}  // namespace

Prediction capacity_of(const Model& model) {
  const Measured& present = model.present();
  Prediction here{present.cores, present.gpus, model.about(present.rate_per_s), present.saturated};
  if (!present.saturated.empty()) return here;
  const std::vector<Bound> bounds = model.present_bounds();
  if (present.is_service && present.is_steady() && !bounds.empty()) {
    here.rate_per_s = bounds.front().rate_per_s;
    here.limit = bounds.front().resource;
    return here;
  }
  here.limit = "unknown";
  if (!bounds.empty()) here.rate_per_s.high = bounds.front().rate_per_s.high;
  return here;
}

void answer_question(const Question& question, const Model& model, Plan& plan) {
  plan.predictions = predictions_of(plan, model, question);
  int most_cores = std::max(8, 4 * plan.cores);
  for (const Measured& run : plan.others) most_cores = std::max(most_cores, run.cores);
  const int step = (most_cores + 63) / 64;
  for (int n = 1; n <= most_cores; n += step) plan.curve.push_back(model.predict(n, plan.gpus));
  let_rise(plan.curve);
  plan.images = question.images;
  if (question.images) plan.images_take_s = *question.images / plan.here.rate_per_s.value;
  std::optional<double> target = question.target_per_s;
  if (question.images && question.deadline_s) target = *question.images / *question.deadline_s;
  if (target) plan.target = answer(*target, plan, model);
}

}  // namespace eckart::capacity
