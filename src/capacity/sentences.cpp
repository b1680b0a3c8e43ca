#include "capacity/sentences.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "capacity/figures.hpp"
#include "core/printable.hpp"

namespace eckart::capacity {
namespace {

std::string machine_of(const Plan& plan, int cores, int gpus) {
  std::string text = counted(cores, "core");
  if (plan.gpus > 0) text += " and " + counted(gpus, "GPU");
  return text;
}

std::string images_per_s(double rate) { return figure(rate) + " images/s"; }

/// 12 % more, 30 % less, 5.2 times as much
std::string headroom_words(double headroom) {
  if (headroom >= 1) return figure(1 + headroom) + " times as much";
  return percent(std::abs(headroom)) + (headroom >= 0 ? " more" : " less");
}

std::string need_sentence(const Need& need, const Plan& plan) {
  const std::string with = plan.gpus > 0 ? " with " + counted(need.gpus, "GPU") : "";
  if (!need.cores) {
    return fmt::format(
        "no number of cores does{}: {} would limit it", with,
        need.limit == "cores" ? "what cores wait for each other for" : in_words(need.limit));
  }
  const std::string sure =
      !need.sure_cores ? "; no number of them is sure to"
      : *need.sure_cores == *need.cores
          ? ""
          : fmt::format("; {} to be sure, as the interval has it", grouped(*need.sure_cores));
  const char* bound = !plan.scaling.is_known && *need.cores > plan.cores ? "at least " : "";
  return fmt::format("it takes {}{}{}{}", bound, counted(*need.cores, "core"), with, sure);
}

}  // namespace

std::string runs_sentence(const Plan& plan) {
  std::int64_t images = 0;
  double elapsed_s = 0;
  for (const Measured& run : plan.runs) {
    images += run.images;
    elapsed_s += run.elapsed_s;
  }
  std::string text =
      fmt::format("{} of {}, {} in {}", counted(std::int64_t(plan.runs.size()), "run"),
                  plan.command == "watch" ? "the service" : "eckart run", counted(images, "image"),
                  duration(elapsed_s));
  if (!plan.first_time.empty()) {
    text += plan.first_time == plan.last_time
                ? ", " + printable(plan.first_time)
                : fmt::format(", {} to {}", printable(plan.first_time), printable(plan.last_time));
  }
  return text;
}

std::string machine_sentence(const Plan& plan) {
  std::string text = fmt::format("{}: {}, {}", printable(plan.host), printable(plan.cpu),
                                 machine_of(plan, plan.cores, plan.gpus));
  if (!plan.backend.empty()) text += ", backend " + printable(plan.backend);
  if (!plan.device.empty() && plan.gpus > 0) text += " on " + printable(plan.device);
  return text;
}

std::string work_sentence(const Plan& plan) {
  return fmt::format("images of {} pixels and {} kB{}{}", figure(plan.pixels_per_image),
                     figure(1e-3 * plan.input_bytes_per_image),
                     plan.settings.empty() ? ", default settings" : "; ",
                     printable(fmt::format("{}", fmt::join(plan.settings, ", "))));
}

std::string limit_sentence(const Plan& plan) {
  if (plan.present.saturated.empty()) {
    const Bound& first = plan.bounds.front();
    return fmt::format("nothing was saturated at {}; {} would limit first, at {}",
                       images_per_s(plan.present.rate_per_s), in_words(first.resource),
                       images_per_s(first.rate_per_s.value));
  }
  const bool is_one = plan.present.saturated == "GPU" || plan.present.saturated == "source" ||
                      plan.present.saturated == "batch";
  return fmt::format("{} {} the limit: {} busy at {}", in_words(plan.present.saturated),
                     is_one ? "is" : "are", percent(plan.present.busy(plan.present.saturated)),
                     images_per_s(plan.present.rate_per_s));
}

std::string next_sentence(const Plan& plan) {
  const std::string limit =
      plan.present.saturated.empty() ? plan.bounds.front().resource : plan.present.saturated;
  const auto next = std::ranges::find_if(
      plan.bounds, [&](const Bound& bound) { return bound.resource != limit; });
  if (next == plan.bounds.end()) return {};
  const double factor = next->rate_per_s.value / plan.here.rate_per_s.value;
  return fmt::format("{} at {}{}, {} times the capacity", in_words(next->resource),
                     images_per_s(next->rate_per_s.value), next->is_at_least ? " or more" : "",
                     figure(std::max(1.0, factor)));
}

std::string littles_law_sentence(const Plan& plan) {
  if (!plan.present.little) return {};
  const double expected = plan.present.little->expected_unfinished(),
               found = plan.present.little->mean_unfinished;
  std::string text =
      fmt::format("{} x {} in the system = {} images; {} were there",
                  images_per_s(plan.present.little->rate_per_s),
                  duration(plan.present.little->mean_in_system_s), figure(expected), figure(found));
  if (std::abs(found - expected) > 0.25 * std::max(found, expected)) {
    text += ": they don't agree, so the work came or went unevenly";
  }
  return text;
}

std::string amdahl_sentence(const Plan& plan) {
  const Scaling& scaling = plan.scaling;
  if (!scaling.is_known) {
    return fmt::format(
        "not known from runs at {} alone; what is said of more is an upper bound, "
        "as if no core waited for another",
        counted(plan.cores, "core"));
  }
  const Interval& measured = scaling.measured->ratio;
  const std::string found =
      measured.high > 0
          ? fmt::format("serial fraction {} (95 %: {})", percent(std::max(0.0, measured.value)),
                        percent_between(measured))
          : "no serial fraction: more cores did better than in proportion,";
  return fmt::format(
      "{} from {} at {} cores; the predictions take {} ({}), since such work has about 1.5 % and a "
      "few runs tell little",
      found, counted(std::int64_t(plan.runs.size()), "run"), fmt::join(scaling.cores, ", "),
      percent(scaling.serial.value), percent_between(scaling.serial));
}

std::string gustafson_sentence(const Plan& plan) {
  const Scaling& scaling = plan.scaling;
  if (!scaling.is_known) return {};
  const std::string share =
      fmt::format("serial share {} (95 %: {})", percent(std::max(0.0, scaling.scaled_serial.value)),
                  percent_between(scaling.scaled_serial));
  if (scaling.scaled_runs > 0) {
    return fmt::format("{}, from {} whose images grew with their cores", share,
                       counted(scaling.scaled_runs, "run"));
  }
  return fmt::format(
      "{} of a run on {}; it follows from Amdahl's, since no runs had images in "
      "proportion to their cores",
      share, counted(scaling.cores.back(), "core"));
}

std::string one_more_sentence(const Plan& plan) {
  const auto gain = [&](const Prediction& more) {
    const double per_s = plan.gain_per_s(more), share = per_s / plan.here.rate_per_s.value;
    if (share < 1e-3) return "nothing, since the limit is then " + in_words(more.limit);
    return fmt::format("{} ({})", images_per_s(per_s), percent(share));
  };
  std::string text = "a core more brings " + gain(plan.one_more_core);
  if (plan.one_more_gpu) text += "; a GPU more brings " + gain(*plan.one_more_gpu);
  return text;
}

std::vector<std::string> target_sentences(const Plan& plan) {
  std::vector<std::string> sentences;
  if (plan.images) {
    sentences.push_back(fmt::format("{} images take {} here", grouped(std::llround(*plan.images)),
                                    duration(*plan.images_take_s)));
  }
  if (!plan.target) return sentences;
  const TargetAnswer& target = *plan.target;
  sentences.push_back(
      fmt::format("{} ({} a day) {}: {} can do {}, {}", images_per_s(target.rate_per_s),
                  grouped(std::llround(86400 * target.rate_per_s)),
                  target.headroom >= 0 ? "is within reach" : "is too much here",
                  machine_of(plan, plan.cores, plan.gpus), images_per_s(plan.here.rate_per_s.value),
                  headroom_words(target.headroom)));
  for (const Need& need : target.needs) sentences.push_back(need_sentence(need, plan));
  return sentences;
}

std::string peak_sentence(const Plan& plan) {
  const double headroom = plan.headroom();
  const std::string peak =
      fmt::format("the best interval had {}; the capacity is {}", images_per_s(plan.peak_per_s),
                  images_per_s(plan.here.rate_per_s.value));
  return fmt::format("{}: {}", peak,
                     headroom > 0.05 ? headroom_words(headroom) : "no room above it");
}

std::string energy_sentence(const Plan& plan) {
  if (!plan.present.joules_per_image) return {};
  return fmt::format("{} images per joule, {} J an image; of the GPU alone",
                     figure(1 / *plan.present.joules_per_image),
                     figure(*plan.present.joules_per_image));
}

std::vector<std::string> notes(const Plan& plan) {
  std::vector<std::string> notes;
  for (const Bound& bound : plan.bounds) {
    if (!bound.is_at_least) continue;
    notes.push_back(
        "what the GPU could do is a lower bound: NVML calls it busy when a kernel runs, however "
        "little of it that fills");
  }
  if (plan.varies_threads) {
    notes.push_back(
        "the runs set their threads differently; the rates are for as many as auto has for the "
        "cores");
  }
  const bool is_short =
      std::ranges::all_of(plan.runs, [](const Measured& run) { return run.intervals == 0; });
  if (is_short) {
    notes.push_back(
        "the runs were too short for their intervals: the rates have their beginning and end in "
        "them; a few minutes tell more");
  }
  return notes;
}

}  // namespace eckart::capacity
