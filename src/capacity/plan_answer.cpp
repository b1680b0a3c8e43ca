#include "capacity/plan_answer.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

#include "capacity/number_format.hpp"
#include "capacity/plan_phrases.hpp"
#include "text/format_count.hpp"
#include "text/format_duration.hpp"
#include "text/format_number.hpp"

namespace eckart::capacity {
namespace {

constexpr double kMinRunSeconds = 2;  // start and end dominate shorter runs
constexpr const char* kRepeatRuns = "stop other programs and run eckart bench scaling";
constexpr const char* kLogMore =
    "log a run of some minutes with more images, or run eckart bench scaling";
constexpr double kNoReserve = 0.9;  // a peak of this share of the capacity leaves no reserve

const Contradiction* worst_contradiction(const Plan& plan) {
  const auto ratio = [](const Contradiction& c) { return c.high_per_s / c.low_per_s; };
  const Contradiction* worst = nullptr;
  for (const Contradiction& c : plan.contradictions) {
    if (c.is_held_out || !c.is_of_runs()) continue;
    if (!worst || ratio(c) > ratio(*worst)) worst = &c;
  }
  return worst;
}

std::string machine_name(const Plan& plan) {
  if (!plan.is_recorded()) return "this machine";
  return "a recorded machine with " + machine_phrase(plan, plan.cores, plan.gpus);
}

/// "this machine does 567 images/s (95 %: 449–684)"
std::string rate_clause(const Plan& plan, const std::string& unit) {
  const char* verb = plan.is_recorded()                                     ? "did"
                     : plan.baseline.is_service && !plan.baseline.saturated ? "can do"
                                                                            : "does";
  const Estimate& rate = plan.current_capacity.rate_per_s;
  const std::string text = fmt::format("{} {} ", machine_name(plan), verb);
  const std::string value = text::format_number(rate.value) + unit;
  if (plan.is_inconclusive() && !plan.is_recorded()) return text + "at least " + value;
  return fmt::format("{}{} (95 %: {})", text, value, format_range(rate));
}

bool is_plural(const PlanRequest& request) { return request.images && *request.images != 1; }

/// "50M a month is 19.0 images/s"
std::string question_clause(const Plan& plan) {
  const std::string rate = format_images_per_s(plan.target->rate_per_s);
  const std::string& phrase = plan.request.target_phrase;
  return phrase.empty() ? "the target is " + rate
                        : phrase + (is_plural(plan.request) ? " are " : " is ") + rate;
}

/// A disk may do more with other settings.
const char* set_up_phrase(const Plan& plan) {
  const bool is_disk = plan.current_capacity.bottleneck == Resource::disk;
  return is_disk && !plan.baseline.has_cpu_contention() ? " as it is set up" : "";
}

Answer cannot_tell(const Plan& plan, const std::string& why, const std::string& remedy,
                   bool names_problem = false) {
  return {Answer::Kind::cannot_tell,
          fmt::format("Cannot tell: {}; {}{}, {}. What to do: {}", question_clause(plan),
                      rate_clause(plan, ""), set_up_phrase(plan), why, remedy),
          names_problem};
}

Answer no(const Plan& plan, bool is_rate_too_low) {
  const TargetResult& target = *plan.target;
  std::string need =
      fmt::format("{}{} machine{} like {}", is_rate_too_low ? "up to " : "",
                  format_large_count(target.machines), target.machines == 1 ? "" : "s",
                  plan.is_recorded() ? "the recorded one" : "this");
  if (target.conservative_machines > target.machines)
    need += fmt::format(" ({} to be safe)", format_large_count(target.conservative_machines));
  const std::string rate = format_images_per_s(target.rate_per_s);
  const std::string question =
      plan.request.target_phrase.empty() ? rate : question_clause(plan) + " and";
  const bool has_plural = is_plural(plan.request) && !plan.request.target_phrase.empty();
  return {Answer::Kind::no,
          fmt::format("No: {} {} {}; {}{}", question, has_plural ? "need" : "needs", need,
                      rate_clause(plan, ""), set_up_phrase(plan))};
}

Answer target_answer(const Plan& plan) {
  const double target = plan.target->rate_per_s;
  const Estimate& rate = plan.current_capacity.rate_per_s;
  const auto problem = plan.is_recorded() ? std::nullopt : data_problem(plan);
  if (rate.low >= target) {
    return {Answer::Kind::yes,
            fmt::format("Yes: {}; {}", question_clause(plan), rate_clause(plan, ""))};
  }
  const bool is_limit_unknown = plan.is_inconclusive() && !plan.is_recorded();
  const bool is_rate_too_low = is_limit_unknown || (problem && problem->is_rate_too_low);
  if (plan.is_above_hardware(target)) return no(plan, is_rate_too_low);
  if (problem && problem->is_rate_too_low)
    return cannot_tell(plan, "but " + problem->what, problem->remedy, true);
  if (is_limit_unknown) return cannot_tell(plan, "but was never fully busy", kLogMore);
  if (target > rate.high) return no(plan, false);
  const std::string more =
      fmt::format("plan {} machines, or {}",
                  format_large_count(std::max(2.0, plan.target->conservative_machines)),
                  problem ? problem->remedy : "narrow the interval with eckart bench scaling");
  return cannot_tell(plan, "which may just miss it", more);
}

std::string limit_clause(const Plan& plan) {
  return resource_with_count(plan.bounds.front()) +
         (is_plural(plan.bounds.front()) ? " are" : " is") + " the limit";
}

Answer rate_answer(const Plan& plan) {
  std::string text = rate_clause(plan, " images/s");
  if (plan.request.images) {
    text = fmt::format("{} {} {} of work: {}", plan.request.images_phrase,
                       is_plural(plan.request) ? "take" : "takes",
                       text::format_duration(*plan.images_duration_s), text);
  } else {
    text[0] = char(std::toupper(text[0]));
  }
  if (const auto problem = plan.is_recorded() ? std::nullopt : data_problem(plan)) {
    return {Answer::Kind::rate,
            fmt::format("{}, but {}. What to do: {}", text, problem->what, problem->remedy), true};
  }
  if (plan.is_recorded()) return {Answer::Kind::rate, text};
  if (plan.is_inconclusive())
    return {Answer::Kind::rate, text + "; it was never fully busy, so its limit is not known"};
  if (plan.baseline.saturated) return {Answer::Kind::rate, text + "; " + limit_clause(plan)};
  const double used = plan.peak_per_s / plan.current_capacity.rate_per_s.value;
  const std::string peak = text::format_number(plan.peak_per_s);
  return {
      Answer::Kind::rate,
      used < kNoReserve
          ? fmt::format("{}; its busiest interval needed {} of that", text, format_percent(used))
          : fmt::format("{}; its busiest interval had {}, so there is no reserve", text, peak)};
}

}  // namespace

std::optional<DataProblem> data_problem(const Plan& plan) {
  if (plan.baseline.has_cpu_contention())
    return DataProblem{"other programs used its cores", kRepeatRuns, true};
  if (const Contradiction* worst = worst_contradiction(plan)) {
    return DataProblem{
        fmt::format("runs on {} differ by {}", text::format_count(worst->cores, "core"),
                    format_percent(worst->high_per_s / worst->low_per_s - 1)),
        kRepeatRuns};
  }
  double longest_s = 0;
  for (const RunMeasurement& run : plan.runs) longest_s = std::max(longest_s, run.elapsed_s);
  if (longest_s < kMinRunSeconds) {
    return DataProblem{
        fmt::format("no run was longer than {:.0f} s, so start and end count", kMinRunSeconds),
        kLogMore, true};
  }
  for (const Contradiction& c : plan.contradictions) {
    if (c.cores == plan.cores && !c.is_of_runs() && !c.is_held_out)
      return DataProblem{"the runs do not fit together", kRepeatRuns};
  }
  return std::nullopt;
}

std::string_view to_string(Answer::Kind kind) {
  static constexpr std::array<std::string_view, 4> kNames = {"yes", "no", "cannot tell", "rate"};
  return kNames.at(std::size_t(kind));
}

Answer answer(const Plan& plan) {
  Answer answer = plan.target ? target_answer(plan) : rate_answer(plan);
  if (plan.is_recorded()) answer.text += ". Not measured here";
  return answer;
}

}  // namespace eckart::capacity
