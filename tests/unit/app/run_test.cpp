#include "app/run.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "codec/codec.hpp"
#include "core/instant.hpp"
#include "io/publication.hpp"
#include "ledger/ledger.hpp"
#include "reports/measurement_summary.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/wait_for.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::app {
namespace {

// Created before any thread: ThreadSanitizer cannot see the locks inside the spdlog library.
spdlog::logger* const logger = spdlog::default_logger_raw();

TEST(Run, has_total_before_the_first_image_is_done) {
  const test::TempFolder folder;
  for (const char* name : {"a.png", "b.png", "c.txt"}) std::ofstream(folder.path() / name) << "x";
  const test::TempFolder out;
  RunRequest request;
  request.inputs = {folder.path()};
  request.output = out.path();
  request.count_inputs = true;
  const app::Run run(std::move(request), std::chrono::steady_clock::now());
  EXPECT_TRUE(test::wait_for([&] { return run.progress().is_total_final; }));
  EXPECT_EQ(run.progress().total, 2);
  EXPECT_EQ(run.progress().done, 0);
}

/// Otherwise `prune` would look for its inputs where the text leads.
TEST(Run, records_the_place_of_inputs_whose_path_has_dots_after_a_link) {
  logger->set_level(spdlog::level::off);
  const test::TempFolder folder;
  const auto at = [&](const char* name) { return folder.path() / name; };
  for (const char* name : {"real/in", "real/sub", "in"})
    std::filesystem::create_directories(at(name));
  std::filesystem::create_directory_symlink(at("real/sub"), at("link"));
  io::publish_file(at("real/in/a.png"),
                   codec::codec_for(ImageFormat::png).encode(Image({8, 4, 1, Depth::u8}), {}));
  RunRequest request;
  request.settings.backend = settings::BackendChoice::cpu;
  request.inputs = {at("link/../in")};
  request.output = at("out");
  EXPECT_EQ(app::Run(std::move(request), Clock::now()).execute().done, 1);
  const auto ledger = ledger::Ledger::open_read_only(at("out/.eckart/ledger.db"));
  ASSERT_TRUE(ledger->find("a.png"));
  EXPECT_EQ(ledger->find("a.png")->input, std::filesystem::canonical(at("real/in/a.png")));
}

/// More images than the pipeline holds at a time, so that some are done before the last is found.
TEST(Run, does_not_report_more_done_than_total) {
  constexpr int kFiles = 1000;
  logger->set_level(spdlog::level::off);
  const test::TempFolder folder, out;
  RunRequest request;
  request.settings.backend = settings::BackendChoice::cpu;
  request.inputs = {folder.path()};
  request.output = out.path();
  request.count_inputs = true;
  app::Run run(std::move(request), std::chrono::steady_clock::now());
  EXPECT_TRUE(test::wait_for([&] { return run.progress().is_total_final; }));
  for (int i = 0; i < kFiles; ++i)
    std::ofstream(folder.path() / (std::to_string(i) + ".png")) << "no image";
  std::atomic<bool> ended = false;
  std::thread thread([&] {
    EXPECT_EQ(run.execute().failed, kFiles);
    ended = true;
  });
  while (!ended) {
    const telemetry::ProgressState progress = run.progress();
    EXPECT_LE(progress.done, progress.total);
    std::this_thread::yield();
  }
  thread.join();
  logger->set_level(spdlog::level::info);
  EXPECT_EQ(run.progress().total, kFiles);
}

telemetry::RunReport failed_for(const std::vector<FailureReason>& reasons) {
  telemetry::RunReport report;
  for (const FailureReason reason : reasons) {
    ++report.failed;
    ++report.failures[std::size_t(reason)];
  }
  return report;
}

TEST(RunExitCode, reflects_results_of_the_images) {
  using enum FailureReason;
  EXPECT_EQ(exit_code(failed_for({})), ExitCode::nothing_readable);
  EXPECT_EQ(exit_code(failed_for({not_found, not_found})), ExitCode::no_input);
  EXPECT_EQ(exit_code(failed_for({not_found, corrupt})), ExitCode::nothing_readable);
  EXPECT_EQ(exit_code(failed_for({corrupt, not_converged})), ExitCode::some_failed);
  EXPECT_EQ(exit_code(failed_for({corrupt, not_written})), ExitCode::io_error);
  telemetry::RunReport report = failed_for({corrupt});
  report.done = 1;
  EXPECT_EQ(exit_code(report), ExitCode::some_failed);
  report = failed_for({unsupported});
  report.partly_done = 1;
  EXPECT_EQ(exit_code(report), ExitCode::some_failed);
  report = {};
  report.skipped = 1;
  EXPECT_EQ(exit_code(report), ExitCode::ok);
}

TEST(RunExitCode, is_that_of_the_reason_if_all_images_failed_for_one) {
  using enum FailureReason;
  const std::pair<FailureReason, ExitCode> cases[] = {
      {not_found, ExitCode::no_input},           {unreadable, ExitCode::nothing_readable},
      {empty_file, ExitCode::nothing_readable},  {not_an_image, ExitCode::nothing_readable},
      {unsupported, ExitCode::nothing_readable}, {too_large, ExitCode::nothing_readable},
      {corrupt, ExitCode::nothing_readable},     {not_encodable, ExitCode::some_failed},
      {output_collision, ExitCode::some_failed}, {out_of_memory, ExitCode::some_failed},
      {not_converged, ExitCode::some_failed},    {compute_failed, ExitCode::some_failed},
      {not_written, ExitCode::io_error},         {internal, ExitCode::some_failed}};
  for (const auto& [reason, code] : cases) {
    telemetry::RunReport report = failed_for({reason, reason});
    EXPECT_EQ(exit_code(report), code) << to_string(reason);
    report.done = 1;
    EXPECT_EQ(exit_code(report),
              reason == not_written ? ExitCode::io_error : ExitCode::some_failed);
  }
  telemetry::RunReport report;
  report.done = 5;
  EXPECT_EQ(exit_code(report), ExitCode::ok);
  report.stopped_by = "the disk is full";
  EXPECT_EQ(exit_code(report), ExitCode::io_error);
}

/// Runs on two good images, a corrupt one, and a file that is no image.
class SmallRunTest : public testing::Test {
 protected:
  SmallRunTest() {
    logger->set_level(spdlog::level::off);
    request_.settings.backend = settings::BackendChoice::cpu;
    request_.settings.ranks = {2, 4};
    request_.inputs = {in_.path()};
    request_.output = out_.path();
    for (const char* name : {"a.png", "b.png"})
      io::publish_file(in_.path() / name,
                       codec::codec_for(ImageFormat::png)
                           .encode(test::gradient_image({20, 30, 1, Depth::u8}), {}));
    std::ofstream(in_.path() / "bad.png") << "bad";
    std::ofstream(in_.path() / "text.txt") << "text";
  }
  ~SmallRunTest() override { logger->set_level(spdlog::level::info); }
  SmallRunTest(const SmallRunTest&) = delete;
  SmallRunTest& operator=(const SmallRunTest&) = delete;

  telemetry::RunReport execute() {
    app::Run run(request_, Clock::now());
    telemetry::RunReport report = run.execute();
    run.close_report();
    return report;
  }
  std::string report_text() const {
    std::ifstream file(request_.report);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::ptrdiff_t count(const std::string& text, const std::string& part) {
    std::ptrdiff_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
  /// Returns the actions of a dry run by output.
  std::map<std::string, pipeline::OutputAction> planned(telemetry::RunReport& report) {
    std::map<std::string, pipeline::OutputAction> actions;
    app::Run run(request_, Clock::now());
    report = run.dry_run(
        [&](const pipeline::WorkItem& item, std::span<const pipeline::OutputDecision> decisions) {
          for (std::size_t i = 0; i < decisions.size(); ++i)
            actions[item.outputs[i].filename()] = decisions[i].action;
        });
    return actions;
  }

  const test::TempFolder in_, out_, reports_;
  RunRequest request_;
};

TEST_F(SmallRunTest, counts_and_reports_each_image_and_output) {
  request_.report = reports_.path() / "report.jsonl";
  const telemetry::RunReport report = execute();
  EXPECT_EQ(report.done, 2);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.outputs, 4);
  EXPECT_EQ(report.ignored, 1);
  EXPECT_EQ(report.failures[std::size_t(FailureReason::not_an_image)], 1);
  EXPECT_EQ(report.backend_reason, "requested");
  EXPECT_GT(report.wall_s, 0);
  EXPECT_GT(report.cpu_s, 0);
  EXPECT_GT(report.pipeline_s, 0);
  EXPECT_LE(report.pipeline_s, report.wall_s);
  EXPECT_TRUE(report.warnings.empty());
  EXPECT_EQ(count(report_text(), "\"failure\""), 1);
  EXPECT_EQ(count(report_text(), "\n"), 5);
  EXPECT_EQ(count(report_text(), "\"skipped\""), 0);
  request_.report = reports_.path() / "again.jsonl";
  const telemetry::RunReport again = execute();
  EXPECT_EQ(again.done, 0);
  EXPECT_EQ(again.skipped, 2);
  EXPECT_EQ(again.failed, 1);
  EXPECT_EQ(count(report_text(), "\"skipped\""), 4);
  EXPECT_EQ(count(report_text(), "\n"), 5);
}

TEST_F(SmallRunTest, plans_in_a_dry_run_what_it_would_do) {
  using enum pipeline::OutputAction;
  telemetry::RunReport report;
  EXPECT_EQ(planned(report)["a.k2.png"], create);
  EXPECT_EQ(report.done, 3) << "a dry run reads no file";
  EXPECT_EQ(report.input_bytes,
            std::int64_t(2 * std::filesystem::file_size(in_.path() / "a.png") + 3));
  EXPECT_EQ(report.ignored, 1);
  EXPECT_TRUE(std::filesystem::is_empty(out_.path())) << "nothing is written";
  execute();
  auto actions = planned(report);
  EXPECT_EQ(actions["a.k2.png"], skip);
  EXPECT_EQ(actions["b.k4.png"], skip);
  EXPECT_EQ(actions["bad.k2.png"], create);
  EXPECT_EQ(report.skipped, 2);
  EXPECT_EQ(report.done, 1);
  request_.settings.ranks = {2, 6};
  actions = planned(report);
  EXPECT_EQ(actions["a.k2.png"], skip);
  EXPECT_EQ(actions["a.k6.png"], create);
  request_.settings.ranks = {2, 4};
  request_.overwrite = true;
  actions = planned(report);
  EXPECT_EQ(actions["a.k2.png"], reprocess);
  request_.overwrite = false;
  std::ofstream(out_.path() / "bad.k2.png") << "foreign";
  actions = planned(report);
  EXPECT_EQ(actions["bad.k2.png"], compare);
  EXPECT_EQ(report.failures[std::size_t(FailureReason::output_collision)], 1);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.done, 0);
}

TEST_F(SmallRunTest, measures_outputs_that_are_not_written) {
  request_.settings.output.format = OutputFormat::none;
  request_.output.clear();
  reports::MeasurementSummary measurements({"2", "4"});
  request_.measurements = &measurements;
  const telemetry::RunReport report = execute();
  EXPECT_EQ(report.done, 2);
  const nlohmann::json json =
      nlohmann::json::parse(to_json(measurements, report.done, report.failed));
  EXPECT_EQ(json.dump().find("null,\"ssim"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(out_.path()));
}

TEST_F(SmallRunTest, warns_that_lossy_files_were_not_measured) {
  request_.settings.output.format = OutputFormat::jpeg;
  request_.settings.quality.measure = settings::MeasureChoice::fast;
  EXPECT_EQ(execute().warnings,
            std::vector<std::string>{
                "PSNR is that of the reconstructions; jpeg compression adds further loss"});
  EXPECT_TRUE(execute().warnings.empty()) << "all outputs exist";
}

TEST_F(SmallRunTest, warns_that_outputs_of_other_runs_are_inputs) {
  for (int i = 0; i < 5; ++i)
    std::filesystem::create_directories(in_.path() / std::to_string(i) / ".eckart");
  const std::vector<std::string> warnings = execute().warnings;
  ASSERT_EQ(warnings.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(warnings[i].ends_with(" is an output folder of eckart; its images are inputs"));
  EXPECT_EQ(warnings[3], "so are 2 other folders");
}

TEST_F(SmallRunTest, tells_after_a_restart_that_the_gpu_was_lost) {
  execute();
  request_.restarts = 2;
  request_.run_number = 1;
  EXPECT_EQ(
      execute().warnings,
      std::vector<std::string>{"the GPU was lost 2 times; images done before count as skipped"});
}

TEST_F(SmallRunTest, names_its_inputs) {
  EXPECT_EQ(app::Run(request_, Clock::now()).inputs_text(), in_.path().native());
  EXPECT_TRUE(app::Run(request_, Clock::now()).can_relist_inputs());
  EXPECT_FALSE(app::Run(request_, Clock::now()).can_restart()) << "there is no ledger yet";
  request_.files_from = reports_.path() / "list\n";
  std::ofstream(request_.files_from) << "a.png\n";
  EXPECT_EQ(app::Run(request_, Clock::now()).inputs_text(),
            "the list " + (reports_.path() / "list").native() + "\\n");
  EXPECT_TRUE(app::Run(request_, Clock::now()).can_relist_inputs());
  request_.files_from = "-";
  EXPECT_EQ(app::Run(request_, Clock::now()).inputs_text(), "the list on stdin");
  EXPECT_FALSE(app::Run(request_, Clock::now()).can_relist_inputs());
}

}  // namespace
}  // namespace eckart::app
