// What a plan says in each situation: the first line, and which sentences must not be beside it.
#include "capacity/plan_answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capacity/plan_sentences.hpp"
#include "tests/unit/capacity/synthetic_log.hpp"

namespace eckart::capacity::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// 4 cores are the limit, at 8,000 images/s.
LoggedRun busy_run(const SyntheticRunOptions& options = {.cores = 4}) {
  return synthetic_run({}, options);
}

/// Nothing is busy: 1,000 images/s, and 4 cores allow 8,000.
LoggedRun idle_run(const std::string& command = "run") {
  return synthetic_run({}, {.cores = 4, .command = command, .arrival_per_s = 1000});
}

/// Sets the busy share of the write threads.
LoggedRun with_busy_writers(LoggedRun run, double share) {
  for (ThroughputSample& interval : run.intervals) {
    StageSample& write = interval.stages.at(2);
    write.busy_s = share * write.workers * interval.interval_s;
  }
  return run;
}

/// Threads wait for the disk, at 1,000 images/s.
LoggedRun disk_run(int cores = 4, double rate_per_s = 1000) {
  return with_busy_writers(
      synthetic_run({}, {.id = std::to_string(cores), .cores = cores, .arrival_per_s = rate_per_s}),
      1);
}

/// Nothing is busy, and threads waited for the disk for a third of the time.
LoggedRun partly_waiting_run() { return with_busy_writers(idle_run(), 0.33); }

/// Compute threads take four times their CPU time, though cores are free.
LoggedRun disturbed_run(double rate_per_s = 800) {
  LoggedRun run = synthetic_run(
      {}, {.id = std::to_string(rate_per_s), .cores = 2, .arrival_per_s = rate_per_s});
  for (ThroughputSample& interval : run.intervals) {
    for (StageSample& stage : interval.stages)
      stage.busy_s = std::min(4 * stage.cpu_s, stage.workers * interval.interval_s);
  }
  return run;
}

/// The same, and write threads wait all the time: for the disk, or for a core.
LoggedRun disturbed_disk_run(double rate_per_s = 800) {
  return with_busy_writers(disturbed_run(rate_per_s), 10);
}

/// A service whose busiest interval has 1.22 times the rate that its cores allow on average.
LoggedRun service_with_a_peak() {
  LoggedRun run = synthetic_run({}, {.cores = 4, .command = "watch", .arrival_per_s = 6500});
  run.intervals.front().done = 9800;
  return run;
}

LoggedRun gpu_run() {
  return synthetic_run(
      {.cpu_s = {{Stage::load, 1e-4}, {Stage::write, 3e-4}}, .gpu_s_per_image = 2e-4},
      {.cores = 8, .gpus = 1});
}

struct Situation {
  const char* name;
  std::vector<LoggedRun> runs;
  double target_per_s;  // 0: none
  const char* first;    // the answer begins so
  std::vector<const char*> says = {}, does_not_say = {};
};

const std::vector<Situation>& situations() {
  static const std::vector<Situation> kAll = {
      {"enough",
       {busy_run()},
       19,
       "Yes: the target is 19.0 images/s; this machine does 8,000 (95 %: 7,530–8,470)",
       {"Its 4 cores were busy 100 % of the time: they are the limit.", "1 core is enough."},
       {"as it is set up", "buy"}},
      {"too little",
       {busy_run()},
       60'000,
       "No: 60,000 images/s needs 8 machines like this; this machine does 8,000 (",
       {"One machine needs at least 30 cores"},
       {"is enough."}},
      {"within the interval",
       {busy_run()},
       8100,
       "Cannot tell: the target is 8,100 images/s; this machine does 8,000 (95 %: 7,530–8,470), "
       "which may just miss it. What to do: plan 2 machines, or narrow"},
      {"nothing busy, enough",
       {idle_run()},
       500,
       "Yes: the target is 500 images/s; this machine does at least 1,000",
       {"Nothing was fully busy."},
       {"limit."}},
      {"nothing busy, unknown",
       {idle_run()},
       3000,
       "Cannot tell: the target is 3,000 images/s; this machine does at least 1,000, but was never "
       "fully busy. What to do: log a run",
       {},
       {"machines like this;", "needs"}},
      {"nothing busy, beyond the cores",
       {idle_run()},
       20'000,
       "No: 20,000 images/s needs up to 20 machines like this",
       {"this machine            ≥ 1,000      no"},
       {"not sure"}},
      {"nothing busy, no target",
       {idle_run()},
       0,
       "This machine does at least 1,000 images/s; it was never fully busy, so its limit is not "
       "known",
       {},
       {"is the limit", "are the limit", "  disk\n"}},
      {"nothing busy, threads waited",
       {partly_waiting_run()},
       0,
       "This machine does at least 1,000 images/s; it was never fully busy",
       {"  about  ", "not known\n", "Rates marked 'about' follow"},
       {"  disk\n", "the limit."}},
      {"disk, too little",
       {disk_run()},
       4000,
       "No: 4,000 images/s needs 4 machines like this (5 to be safe); this machine does 1,000 (95 "
       "%: 941–1,059) as it is set up",
       {"The disk is the limit"},
       {"Nothing was fully busy"}},
      {"disk, no target",
       {disk_run(2), disk_run(4)},
       0,
       "This machine does 1,000 images/s (95 %: 941–1,059); its disk is the limit",
       {"More cores do not help."},
       {"Nothing was fully busy", "times as much", "all runs were on"}},
      {"disk, more on fewer cores",
       {disk_run(2, 1200), disk_run(4)},
       0,
       "This machine does 1,000 images/s (95 %: 941–1,059), but the runs do not fit together",
       {"      4     1,000    941–1,059  ", "On 4 cores the prediction is 1,200"},
       {"upper bounds", "      4     1,200"}},
      {"other programs, enough",
       {disturbed_run()},
       100,
       "Yes: the target is 100 images/s",
       {"The true rate may be higher: other programs used its cores."}},
      {"other programs, unknown",
       {disturbed_run()},
       2000,
       "Cannot tell: the target is 2,000 images/s; this machine does at least 800, but other "
       "programs used its cores. What to do: stop other programs",
       {},
       {"The true rate may be higher"}},
      {"other programs, perhaps the disk",
       {disturbed_disk_run()},
       0,
       "This machine does 800 images/s (95 %: 753–847), but other programs used its cores.",
       {"for the disk or for cores that other programs used", "  about  ", "not known\n",
        "Rates marked 'about' follow from how long threads waited.", "disk or cores"},
       {"The disk is the limit", "More cores do not help", "  disk\n"}},
      {"other programs, perhaps the disk, unknown",
       {disturbed_disk_run()},
       2000,
       "Cannot tell: the target is 2,000 images/s; this machine does 800 (95 %: 753–847), but "
       "other programs used its cores.",
       {},
       {"No number of cores is enough"}},
      {"other programs, runs that contradict each other",
       {disturbed_disk_run(), disturbed_disk_run(600)},
       2000,
       "Cannot tell: the target is 2,000 images/s; this machine does 700 (",
       {"Runs on 2 cores had 600–800 images/s"},
       {"No number of cores is enough"}},
      {"short runs",
       {synthetic_run({}, {.cores = 4, .seconds = 1})},
       7900,
       "Cannot tell: the target is 7,900 images/s; ",
       {"no run was longer than 2 s"},
       {"The runs were short"}},
      {"quiet service",
       {idle_run("watch")},
       0,
       "This machine can do 8,000 images/s (95 %: 7,530–8,470); its busiest interval needed 12 % "
       "of that",
       {},
       {"No new hardware"}},
      {"service above its capacity",
       {service_with_a_peak()},
       0,
       "This machine can do ",
       {"so there is no reserve"},
       {"No new hardware", "of that", "122 %"}},
      {"GPU",
       {gpu_run()},
       9000,
       "No: 9,000 images/s needs 2 machines like this; this machine does 5,000 (",
       {"the limit would be the GPU", "One machine with 2 GPUs needs 4 cores"}},
      {"one more core count, one busy core",
       {disk_run(1), disk_run(2)},
       0,
       "This machine does 1,000 images/s",
       {"the runs on 1, 2 cores kept about 1 core"},
       {"all runs were on"}},
  };
  return kAll;
}

std::string joined(std::string text) {
  std::string line;  // without the breaks of the 80 columns
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' && text.compare(i, 5, "\n    ") == 0 && text[i + 5] != ' ') {
      line += ' ';
      i += 4;
    } else {
      line += text[i];
    }
  }
  return line;
}

TEST(PlanAnswer, comes_first_and_nothing_contradicts_it) {
  for (const Situation& situation : situations()) {
    PlanRequest request;
    if (situation.target_per_s > 0) request.target_per_s = situation.target_per_s;
    const Plan plan = single_plan(situation.runs, request);
    EXPECT_THAT(answer(plan).text, StartsWith(situation.first)) << situation.name;
    const std::string text = joined(to_text(plan)) + answer(plan).text;
    for (const char* says : situation.says) EXPECT_THAT(text, HasSubstr(says)) << situation.name;
    for (const char* does_not_say : situation.does_not_say)
      EXPECT_THAT(text, Not(HasSubstr(does_not_say))) << situation.name;
  }
}

TEST(PlanAnswer, is_that_of_the_option_of_this_machine) {
  const auto options_for = [](double target_per_s) {
    return single_plan({disk_run(4)}, {.target_per_s = target_per_s, .cores = {16}}).options;
  };
  using Meets = PlanOption::Meets;
  EXPECT_EQ(options_for(500).at(0).meets_target, Meets::yes);
  EXPECT_EQ(options_for(4000).at(0).meets_target, Meets::no);
  const PlanOption other = options_for(12000).at(1);
  ASSERT_EQ(other.cores, 16);
  EXPECT_EQ(other.meets_target, Meets::unknown) << "4 cores would do 8,000: 16 cores may do more";
}

TEST(PlanText, says_each_sentence_once_and_fits_80_columns) {
  for (const Situation& situation : situations()) {
    PlanRequest request;
    if (situation.target_per_s > 0) request.target_per_s = situation.target_per_s;
    request.prices = Prices{.core_h = 0.04, .gpu_h = 3.5, .kwh = 0.3};
    const Plan plan = single_plan(situation.runs, request);
    std::vector<std::string> all = reasons(plan);
    const std::vector<std::string> more = caveats(plan);
    all.insert(all.end(), more.begin(), more.end());
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end()) << situation.name;
    std::istringstream lines(to_text(plan));
    for (std::string line; std::getline(lines, line);) {
      const auto width = std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(width, 80) << line;
    }
  }
}

TEST(PlanAnswer, repeats_the_target_as_it_was_asked) {
  PlanRequest request;
  set_target(request, parse_rate("50M/month"));
  EXPECT_THAT(answer(single_plan({busy_run()}, request)).text,
              StartsWith("Yes: 50M a month is 19.0 images/s; this machine does 8,000 "));
  request = {.images = 1.7e6, .images_phrase = "1,700,000 images"};
  set_target(request, parse_count("1,700,000"), parse_deadline("2min", 0));
  EXPECT_THAT(answer(single_plan({busy_run()}, request)).text,
              StartsWith("No: 1,700,000 images in 2 min are 14,167 images/s and need 2 machines"));
  request = {.images = 1, .images_phrase = "1 image"};
  set_target(request, parse_count("1"), parse_deadline("1s", 0));
  EXPECT_THAT(answer(single_plan({busy_run()}, request)).text,
              StartsWith("Yes: 1 image in 1 s is 1.00 images/s;"));
}

TEST(PlanAnswer, tells_how_long_images_take) {
  const PlanRequest request = {.images = 4.8e6, .images_phrase = "4.8M images"};
  EXPECT_THAT(answer(single_plan({busy_run()}, request)).text,
              StartsWith("4.8M images take 10 min 0 s of work: this machine does 8,000 images/s"));
  EXPECT_THAT(answer(single_plan({busy_run()}, {.images = 1, .images_phrase = "1 image"})).text,
              StartsWith("1 image takes "));
}

TEST(PlanRequest, repeats_the_question_with_the_shift) {
  const auto phrase_of_rate = [](const char* rate, double shift_h) {
    PlanRequest request{.shift_s = shift_h * 3600};
    set_target(request, parse_rate(rate));
    return request.target_phrase;
  };
  EXPECT_EQ(phrase_of_rate("250/s", 8), "") << "the rate says it";
  EXPECT_EQ(phrase_of_rate("30k/min", 8), "30k a minute");
  EXPECT_EQ(phrase_of_rate("2M/day", 24), "2M a day");
  EXPECT_EQ(phrase_of_rate("2M/week", 7.5), "2M a week in shifts of 7.50 h");
  const auto of_deadline = [](const char* deadline, double shift_h) {
    PlanRequest request{.shift_s = shift_h * 3600};
    set_target(request, parse_count("288k"), parse_deadline(deadline, 0));
    return request;
  };
  EXPECT_EQ(of_deadline("8h", 8).target_phrase, "288k images in 8 h");
  EXPECT_NEAR(of_deadline("8h", 8).target_per_s.value_or(0), 10, 1e-9);
  EXPECT_EQ(of_deadline("9h", 8).target_phrase, "288k images in 9 h in shifts of 8 h");
  EXPECT_NEAR(of_deadline("9h", 8).target_per_s.value_or(0), 10, 1e-9);
  EXPECT_NEAR(of_deadline("25h", 8).target_per_s.value_or(0), 288e3 / (9 * 3600), 1e-9);
  EXPECT_NEAR(of_deadline("2d", 24).target_per_s.value_or(0), 288e3 / (48 * 3600), 1e-9);
  EXPECT_EQ(of_deadline("2d", 24).target_phrase, "288k images in 2 days");
  PlanRequest request{.shift_s = 6 * 3600};
  EXPECT_NEAR(request.hours_per_month(), 6 * 365.25 / 12, 1e-9);
}

TEST(PlanRequest, has_to_do_a_day_of_images_within_the_shift) {
  PlanRequest request{.shift_s = 8 * 3600};
  set_target(request, parse_rate("864k/day"));
  EXPECT_NEAR(request.target_per_s.value_or(0), 30, 1e-9);
  EXPECT_EQ(request.target_phrase, "864k a day in shifts of 8 h");
  EXPECT_NEAR(request.images_per_month(30), 864e3 * 365.25 / 12, 1);
  set_target(request, parse_rate("3600/h"));
  EXPECT_NEAR(request.target_per_s.value_or(0), 1, 1e-9) << "while it works";
  set_target(request, parse_count("288k"), parse_deadline("36h", 0));
  EXPECT_NEAR(request.target_per_s.value_or(0), 5, 1e-9) << "8 h on each of two days";
}

}  // namespace
}  // namespace eckart::capacity::test
