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

std::string count_figure(double count) {
  return count < 1e15 ? grouped(std::llround(count)) : figure(count);
}

constexpr const char* kDiskUnknown =
    "whether the disk does more is not in these logs: try threads.write, durability, another disk";

/// The setting of a stage's threads.
std::string setting_of(const std::string& stage) {
  return stage == "compute" ? "cpu.lanes" : "threads." + stage;
}

bool is_auto_stage(const std::string& resource) {
  return resource == "load" || resource == "write" || resource == "compute";
}

/// Why these logs are not to be bought from; empty where they are sound.
std::string doubt_of(const Plan& plan) {
  const Contradiction* worst = nullptr;
  const auto is_of_runs = [](const Contradiction& c) { return c.predicted_per_s == 0; };
  const auto ratio = [](const Contradiction& c) { return c.high_per_s / c.low_per_s; };
  for (const Contradiction& c : plan.contradictions) {
    if (is_of_runs(c) && (!worst || ratio(c) > ratio(*worst))) worst = &c;
  }
  if (worst) {
    return fmt::format("runs on {} differ by {}", counted(worst->cores, "core"),
                       percent(ratio(*worst) - 1));
  }
  if (plan.present.has_others_on_cores()) {
    return fmt::format("lanes took {} times their CPU time, so something else had the cores",
                       figure(plan.present.core_wait));
  }
  for (const Contradiction& c : plan.contradictions) {
    if (c.cores == plan.cores && !is_of_runs(c))
      return "the predictions contradict what was measured";
  }
  return {};
}

std::string more_cores_verdict(const Plan& plan) {
  const double share = plan.gain_per_s(plan.twice_the_cores) / plan.here.rate_per_s.value;
  const std::string then = limit_in_words(plan.twice_the_cores, plan);
  if (share < 0.05) {
    return fmt::format("Buy no cores: with twice as many {} would limit, at {}", then,
                       images_per_s(plan.here.rate_per_s.value * (1 + share)));
  }
  return fmt::format("More cores help: {} do {}{} times what {} do", plan.twice_the_cores.cores,
                     plan.scaling.is_known ? "" : "at most ", figure(1 + share), plan.cores);
}

std::string verdict_of_limit(const Plan& plan) {
  const std::string& limit = plan.here.limit;
  const std::string rate = images_per_s(plan.here.rate_per_s.value);
  if (plan.is_too_little()) {
    return fmt::format(
        "Too little to tell: nothing was saturated; {} do at least {}. Log a longer run, of some "
        "minutes and many more images",
        machine_of(plan, plan.cores, plan.gpus), rate);
  }
  if (plan.present.saturated.empty()) {
    return fmt::format("Buy nothing yet: the peak of {} is {} of what {} can do, by {}",
                       images_per_s(plan.peak_per_s),
                       percent(plan.peak_per_s / plan.here.rate_per_s.value),
                       machine_of(plan, plan.cores, plan.gpus), in_words(limit));
  }
  if (limit == "disk")
    return fmt::format("Buy no cores: the disk limits, at {}; {}", rate, kDiskUnknown);
  if (limit == "cores") return more_cores_verdict(plan);
  if (limit == "GPU") {
    const double gain = plan.one_more_gpu ? plan.gain_per_s(*plan.one_more_gpu) : 0;
    return fmt::format("Buy no cores: the GPU limits, at {}; another brings {}", rate,
                       percent(gain / plan.here.rate_per_s.value));
  }
  if (is_auto_stage(limit)) {
    return fmt::format("Buy nothing yet: {} limit, at {}; raise {} first", in_words(limit), rate,
                       plan.gpus > 0 && limit == "compute" ? "their number" : setting_of(limit));
  }
  return fmt::format("Buy no cores: {} limits, at {}, and there is one alone", in_words(limit),
                     rate);
}

/// 12 % more, 30 % less, 5.2 times as much
std::string headroom_words(double headroom) {
  if (headroom >= 1) return figure(1 + headroom) + " times as much";
  return percent(std::abs(headroom)) + (headroom >= 0 ? " more" : " less");
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

std::string verdict_sentence(const Plan& plan) {
  const std::string doubt = doubt_of(plan);
  const std::string verdict = verdict_of_limit(plan);
  if (doubt.empty()) return verdict;
  return fmt::format("Do not buy from this: {}. {}", doubt, verdict);
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
                  machine_of(plan, plan.cores, plan.gpus), images_per_s(plan.here.rate_per_s.value),
                  headroom_words(target.headroom)));
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

std::vector<std::string> notes(const Plan& plan) {
  std::vector<std::string> notes;
  for (const Contradiction& c : plan.contradictions) {
    const std::string cores = counted(c.cores, "core");
    if (c.predicted_per_s == 0) {
      notes.push_back(fmt::format(
          "runs on {} had {} images/s, {} apart: something else worked on this machine, or the "
          "disk; do not buy from this",
          cores, between({0, c.low_per_s, c.high_per_s}), percent(c.high_per_s / c.low_per_s - 1)));
    } else {
      notes.push_back(fmt::format(
          "on {} {} are predicted, and {} were measured: what is said of other cores is in doubt",
          cores, images_per_s(c.predicted_per_s),
          c.low_per_s < c.high_per_s ? between({0, c.low_per_s, c.high_per_s})
                                     : figure(c.low_per_s)));
    }
  }
  if (plan.present.has_others_on_cores()) {
    notes.push_back(fmt::format(
        "lanes took {} times their CPU time while this process left {} of the cores' time: "
        "something else worked on this machine; do not buy from this",
        figure(plan.present.core_wait), percent(1 - plan.present.core_share)));
  }
  if (plan.noise > 1.01 * kRunSpread) {
    notes.push_back(
        fmt::format("runs on the same cores, or their parts, differ by {}, and the 95 % "
                    "intervals are as wide as that makes them",
                    percent(plan.noise)));
  }
  const bool has_disk =
      std::ranges::any_of(plan.predictions, [](const Predicted& at) { return at.limit == "disk"; });
  if (has_disk && plan.here.limit != "disk") notes.push_back(kDiskUnknown);
  const bool has_steps = std::ranges::any_of(plan.predictions, [&](const Predicted& at) {
    return is_auto_stage(at.limit) && !plan.fixed_threads.contains(at.limit);
  });
  if (has_steps) {
    notes.push_back(
        "where threads limit, the rates have steps, since there are whole threads; their number is "
        "a setting");
  }
  for (const auto& [stage, threads] : plan.fixed_threads) {
    const auto is_limit = [&](const Predicted& at) { return at.limit == stage; };
    if (std::ranges::none_of(plan.predictions, is_limit)) continue;
    notes.push_back(fmt::format("{}={} was set in all runs, and limits; it could be raised",
                                setting_of(stage), threads));
  }
  if (plan.has_useless_gpus) {
    notes.push_back("these runs used no GPU, so nothing can be said of rates with --gpus");
  }
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
