#include "capacity/sentences.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "capacity/figures.hpp"
#include "capacity/phrases.hpp"
#include "core/grouped.hpp"
#include "core/printable.hpp"

namespace eckart::capacity {
namespace {

std::string count_figure(double count) {
  return count < 1e15 ? grouped(std::llround(count)) : figure(count);
}

std::string need_sentence(const Need& need, const Plan& plan) {
  const std::string with = plan.gpus > 0 ? " with " + counted(need.gpus, "GPU") : "";
  if (!need.cores) {
    return fmt::format("no number of cores does{}: {} would limit it", with,
                       need.limit == "cores"  ? "what cores wait for each other for"
                       : need.limit == "disk" ? "the disk, as far as these logs have seen it,"
                                              : limit_in_words({.limit = need.limit}, plan));
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

std::string limit_in_words(const Prediction& at, const Plan& plan) {
  if (at.limit == "disk") return "the disk, as far as seen";
  const auto fixed = plan.fixed_threads.find(at.limit);
  if (fixed == plan.fixed_threads.end()) return in_words(at.limit);
  return fmt::format("{}={}", setting_of(at.limit), fixed->second);
}

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
                                 machine_in_words(plan, plan.cores, plan.gpus));
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
  const std::string rate = images_per_s(plan.present.rate_per_s);
  if (plan.bounds.empty()) return "not known: the log has no CPU time; at least " + rate;
  const Bound& first = plan.bounds.front();
  if (plan.present.saturated.empty()) {
    return fmt::format("{}nothing was saturated at {}; the busiest, {}, had {} of the time to do",
                       plan.is_too_little() ? "not known: " : "", rate, in_words(first.resource),
                       percent(first.busy));
  }
  const std::string& limit = first.resource;
  if (limit == "disk") {
    return fmt::format("the disk is the limit: {} waited for it at {}; {}",
                       counted(first.servers, "thread"), rate, kDiskUnknown);
  }
  const bool is_one = limit == "GPU" || limit == "source" || limit == "batch";
  std::string text = fmt::format("{} {} the limit: {} busy at {}", in_words(limit),
                                 is_one ? "is" : "are", percent(first.busy), rate);
  if (is_auto_stage(limit)) {
    const auto fixed = plan.fixed_threads.find(limit);
    text += fixed == plan.fixed_threads.end()
                ? fmt::format("; there were {}, and their number is a setting", first.servers)
                : fmt::format("; {}={} is a setting, which could be raised", setting_of(limit),
                              fixed->second);
  }
  return text;
}

std::string next_sentence(const Plan& plan) {
  if (plan.bounds.size() < 2 || plan.is_too_little()) return {};
  const Bound& next = plan.bounds[1];
  if (next.busy > 0.995) return in_words(next.resource) + ", which was as busy";
  return fmt::format("{}, {} busy: alone at {}{}, {} times what was measured",
                     in_words(next.resource), percent(next.busy),
                     images_per_s(next.rate_per_s.value), next.is_at_least ? " or more" : "",
                     figure(1 / next.busy));
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
  const std::string found = scaling.measured ? fmt::format("serial fraction {} (95 %: {})",
                                                           percent(scaling.measured->ratio.value),
                                                           percent_between(scaling.measured->ratio))
                                             : "serial fraction not measurable";
  return fmt::format(
      "{} from {} at {} cores; the predictions take {} ({}), since such work has about 1.5 % and a "
      "few runs tell little",
      found, counted(std::int64_t(plan.runs.size()), "run"), fmt::join(scaling.cores, ", "),
      percent(scaling.serial.value), percent_between(scaling.serial));
}

std::string gustafson_sentence(const Plan& plan) {
  const Scaling& scaling = plan.scaling;
  if (!scaling.is_known) return {};
  if (!scaling.is_scaled_known) return "serial share not measurable from these runs";
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
  if (plan.is_too_little()) return "not known: nothing was saturated";
  const auto gain = [&](const Prediction& more) {
    const double per_s = plan.gain_per_s(more), share = per_s / plan.here.rate_per_s.value;
    if (more.limit == "disk") return std::string("nothing that was seen; ") + kDiskUnknown;
    if (share < 1e-3) return "nothing, since the limit is then " + limit_in_words(more, plan);
    return fmt::format("{} ({})", images_per_s(per_s), percent(share));
  };
  std::string text = "a core more brings " + gain(plan.one_more_core);
  if (plan.one_more_gpu) text += "; a GPU more brings " + gain(*plan.one_more_gpu);
  return text;
}

std::vector<std::string> target_sentences(const Plan& plan) {
  std::vector<std::string> sentences;
  if (plan.images) {
    sentences.push_back(fmt::format("{} images take {} here", count_figure(*plan.images),
                                    duration(*plan.images_take_s)));
  }
  if (!plan.target) return sentences;
  const TargetAnswer& target = *plan.target;
  sentences.push_back(
      fmt::format("{} ({} a day) {}: {} can do {}, {}", images_per_s(target.rate_per_s),
                  count_figure(86400 * target.rate_per_s),
                  target.headroom >= 0                                ? "is within reach"
                  : plan.is_too_little() || plan.here.limit == "disk" ? "is more than was seen here"
                                                                      : "is too much here",
                  machine_in_words(plan, plan.cores, plan.gpus),
                  images_per_s(plan.here.rate_per_s.value), headroom_words(target.headroom)));
  if (plan.is_too_little() && target.headroom < 0) {
    sentences.push_back("what it takes is not known: nothing was saturated");
    return sentences;
  }
  for (const Need& need : target.needs) sentences.push_back(need_sentence(need, plan));
  return sentences;
}

std::string peak_sentence(const Plan& plan) {
  const double headroom = plan.headroom();
  const std::string peak = fmt::format("the best interval had {}", images_per_s(plan.peak_per_s));
  const std::string rate = images_per_s(plan.here.rate_per_s.value);
  if (plan.is_too_little()) return fmt::format("{}; the capacity is not known", peak);
  if (!plan.present.is_service) {
    return fmt::format("{}; {} is what lasts", peak, rate);
  }
  return fmt::format("{}; the capacity is {}: {}", peak, rate,
                     headroom > 0.05 ? headroom_words(headroom) : "no room above it");
}

std::string energy_sentence(const Plan& plan) {
  if (!plan.present.joules_per_image) return {};
  return fmt::format("{} images per joule, {} J an image; of the GPU alone",
                     figure(1 / *plan.present.joules_per_image),
                     figure(*plan.present.joules_per_image));
}

}  // namespace eckart::capacity
