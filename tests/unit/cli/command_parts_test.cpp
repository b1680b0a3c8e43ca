// Parts of commands that need no process of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "cli/backend_check.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "cli/measure_costs.hpp"
#include "cli/restart_process.hpp"
#include "core/error.hpp"
#include "settings/calibration.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::cli {
namespace {

namespace fs = std::filesystem;

/// Returns the exit code and the message of the error.
std::pair<ExitCode, std::string> fatal_error(const std::function<void()>& work) {
  try {
    work();
  } catch (const FatalError& error) {
    return {error.code(), error.what()};
  }
  return {ExitCode::ok, ""};
}

TEST(ExistingPath, is_a_file_a_folder_or_a_broken_link) {
  const test::TempFolder folder;
  const fs::path link = folder.path() / "link", none = folder.path() / "none\n";
  fs::create_symlink("nowhere", link);
  EXPECT_EQ(fatal_error([&] { check_exists(folder.path()); }).second, "");
  EXPECT_EQ(fatal_error([&] { check_exists(link); }).second, "");
  EXPECT_EQ(fatal_error([&] { check_exists(none, "; hint"); }),
            std::pair(ExitCode::no_input,
                      folder.path().native() + "/none\\n: no such file or folder; hint"));
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_EQ(fatal_error([&] { check_exists(folder.path() / "file/below"); }).first,
            ExitCode::no_input);
}

TEST(ExistingPath, is_not_overwritten_if_it_has_the_name_of_an_image) {
  for (const char* name : {"a.png", "a.JPG", "dir/b.tiff", "c.webp", "d.dcm"})
    EXPECT_EQ(
        fatal_error([&] { check_not_image("--report", name); }),
        std::pair(ExitCode::usage, "--report " + std::string(name) + " would overwrite an image"));
  for (const char* name : {"a.csv", "png", "a.png.jsonl", ""})
    EXPECT_EQ(fatal_error([&] { check_not_image("--report", name); }).second, "") << name;
}

TEST(Flag, is_named_in_the_message_about_its_value) {
  settings::Settings settings;
  const auto error = [&](const char* flag, const char* key, const char* value) {
    return fatal_error([&] { apply_flag(settings, flag, key, value); });
  };
  EXPECT_EQ(error("--size", "input.size", "5"),
            std::pair(ExitCode::usage,
                      std::string("--size 5: input.size: '5' is not WIDTHxHEIGHT or max:N with "
                                  "sides from 1 to 65535, or \"\"")));
  EXPECT_EQ(error("--size", "input.size", "max:5").second, "");
  EXPECT_EQ(settings.input.size, TargetSize::at_most(5));
  EXPECT_EQ(error("--name", "output.name", "{stem}: \"x\\y\".{ext}").second, "");
  EXPECT_EQ(settings.output.name, "{stem}: \"x\\y\".{ext}") << "no YAML";
  apply_flag(settings, "--size", "input.size", std::nullopt);
  EXPECT_EQ(settings.input.size, TargetSize::at_most(5)) << "it was not given";
  try {
    apply_flag(settings, "--chroma-rank", "chroma_rank", "5x");
    FAIL();
  } catch (const RankOptionError& wrong) {
    EXPECT_EQ(wrong.flag(), "--chroma-rank");
    EXPECT_EQ(wrong.error().text(), "5x");
  }
  try {
    apply_rank_option(settings, "0");
    FAIL();
  } catch (const RankOptionError& wrong) {
    EXPECT_EQ(wrong.flag(), "--rank");
  }
}

TEST(Flag, sets_each_part_of_the_preparation) {
  settings::Settings settings;
  apply_preparation_flags(settings, {});
  EXPECT_TRUE(changed(settings).empty());
  apply_preparation_flags(
      settings,
      {.gray = true, .color = "ycbcr", .chroma_rank = "7", .size = "30x40", .normalize = "minmax"});
  const std::vector<std::pair<std::string, std::string>> expected = {{"color", "ycbcr"},
                                                                     {"chroma_rank", "\"7\""},
                                                                     {"input.gray", "true"},
                                                                     {"input.size", "\"30x40\""},
                                                                     {"input.normalize", "minmax"}};
  EXPECT_EQ(changed(settings), expected);
}

TEST(ConfigurationSource, must_exist_if_it_is_named) {
  const test::TempFolder folder;
  ConfigArgs args;
  args.file = folder.path() / "none.yaml";
  EXPECT_EQ(fatal_error([&] { read_configuration(args, "/none"); }).first, ExitCode::no_input);
  args.file.clear();
  args.assignments = {"rank=5", "rank=7"};
  EXPECT_EQ(read_configuration(args, "/none").settings.ranks, std::vector<RankPolicy>{7})
      << "the last one counts";
}

TEST(LedgerOption, is_auto_or_a_file) {
  const auto choice_of = [](const char* value) {
    CLI::App app;
    settings::FileChoice ledger = settings::FileChoice::none();
    add_ledger_option(app, ledger);
    app.parse(std::vector<std::string>{value, "--ledger"});
    return ledger;
  };
  EXPECT_TRUE(choice_of("auto").is_auto());
  EXPECT_EQ(choice_of("l.db"), settings::FileChoice::at("l.db"));
  EXPECT_THROW(choice_of("none"), CLI::ValidationError);
}

TEST(ExitCodeText, differs_for_every_code) {
  std::string all;
  for (const ExitCode code :
       {ExitCode::ok, ExitCode::some_failed, ExitCode::usage, ExitCode::nothing_readable,
        ExitCode::no_input, ExitCode::unavailable, ExitCode::internal, ExitCode::cannot_create,
        ExitCode::io_error, ExitCode::temporary, ExitCode::no_permission, ExitCode::configuration,
        ExitCode::hung_up, ExitCode::interrupted, ExitCode::terminated})
    all += std::to_string(int(code)) + " " + exit_code_text(code) + "\n";
  EXPECT_EQ(all,
            "0 the command succeeded\n"
            "3 finished, but some inputs failed\n"
            "64 the command line is wrong\n"
            "65 the data of the input cannot be used\n"
            "66 the input does not exist\n"
            "69 the requested backend, or the process to connect to, is not available\n"
            "70 a bug: please report it\n"
            "73 an output cannot be created\n"
            "74 an output cannot be written\n"
            "75 temporary failure: start the same command again\n"
            "77 permission denied\n"
            "78 the configuration is wrong\n"
            "129 ended by SIGHUP\n"
            "130 ended by SIGINT\n"
            "143 ended by SIGTERM\n");
}

TEST(RestartInfo, is_that_of_this_process) {
  const auto info = [](const std::string& value) {
    ::setenv("ECKART_RESTARTS", value.c_str(), 1);
    const RestartInfo found = restart_info();
    ::unsetenv("ECKART_RESTARTS");
    return std::pair(found.count, found.run_number);
  };
  const std::string own = std::to_string(::getpid());
  EXPECT_EQ(info(own + ":2:5000000000"), std::pair(2, std::int64_t(5000000000)));
  EXPECT_EQ(info("1:2:5"), std::pair(0, std::int64_t(0))) << "of another process";
  EXPECT_EQ(info(own + ":2"), std::pair(0, std::int64_t(0)));
  EXPECT_EQ(restart_info().count, 0);
}

TEST(RestartProcess, gives_up_after_three_times) {
  ::setenv("ECKART_RESTARTS", (std::to_string(::getpid()) + ":3:1").c_str(), 1);
  EXPECT_EQ(fatal_error([] { restart_process("CUDA error 719", 1, {}); }),
            std::pair(ExitCode::temporary,
                      std::string("CUDA error 719; the GPU was lost 4 times; run the same command "
                                  "again to finish")));
  ::unsetenv("ECKART_RESTARTS");
}

TEST(OpenDescriptor, is_in_the_list_while_it_is_open) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  EXPECT_EQ(open_descriptors().count(pipe[0]) + open_descriptors().count(pipe[1]), 2U);
  const auto before = open_descriptors();
  ::close(pipe[0]);
  ::close(pipe[1]);
  EXPECT_EQ(open_descriptors().size(), before.size() - 2);
}

TEST(DescriptorLimit, is_raised_as_far_as_allowed) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few{100, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  raise_descriptor_limit();
  rlimit raised{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &raised), 0);
  EXPECT_EQ(raised.rlim_cur, std::min<rlim_t>(65536, before.rlim_max));
  EXPECT_EQ(raised.rlim_max, before.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(StoredCosts, replaces_those_of_the_same_device_only) {
  const test::TempFolder folder;
  const fs::path file = folder.path() / "c.yaml";
  EXPECT_TRUE(read_stored_costs(file).empty());
  const auto costs_of = [](CostBackend backend, const char* device, const char* date) {
    return MeasuredCosts{backend, device, date, {}};
  };
  using enum CostBackend;
  store_costs(file, {costs_of(cpu, "a", "1"), costs_of(cuda, "a", "2")});
  store_costs(file, {costs_of(cpu, "b", "3")});
  store_costs(file, {costs_of(cpu, "a", "4")});
  std::string dates;
  for (const MeasuredCosts& costs : read_stored_costs(file)) dates += costs.date;
  EXPECT_EQ(dates, "432") << "the newest first";
}

TEST(BackendCheck, tells_in_json_whether_it_passed) {
  BackendCheck check{.name = "cpu",
                     .description = "a CPU",
                     .details = {"d"},
                     .warnings = {},
                     .devices = 1,
                     .lanes = 3,
                     .lanes_checked = 1,
                     .difference = {.samples = 5, .levels = 1, .loss_db = 0.002},
                     .first_batch_ms = 7.5};
  EXPECT_EQ(to_json(check), text::Json::parse(R"({
      "name": "cpu", "result": "ok", "description": "a CPU", "properties": ["d"], "warnings": [],
      "devices": 1, "lanes": 3, "lanes_checked": 1, "converged": true, "different_samples": 5,
      "max_difference_levels": 1, "loss_db": 0.002, "first_batch_ms": 7.5})"));
  check.warnings = {"w"};
  EXPECT_EQ(to_json(check)["result"], "warning");
  check.difference.failed = true;
  EXPECT_EQ(to_json(check)["result"], "failed");
  EXPECT_EQ(to_json(check)["converged"], false);
  check.difference = {.loss_db = std::numeric_limits<double>::infinity()};
  EXPECT_EQ(to_json(check)["result"], "failed");
  EXPECT_TRUE(to_json(check)["loss_db"].is_null());
  check.difference = {.levels = 1, .loss_db = 0.0101};
  EXPECT_FALSE(check.difference.is_acceptable());
  check.difference = {.levels = 1, .loss_db = 0.01};
  EXPECT_TRUE(check.difference.is_acceptable());
}

}  // namespace
}  // namespace eckart::cli
