// Whether `eckart doctor` says what it finds, and what it measures is what runs go by.
#include <map>
#include <nlohmann/json.hpp>

#include "app/backends.hpp"
#include "settings/calibration.hpp"
#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

using ::testing::AnyOf;

class Doctor : public CliTest {
 protected:
  Finished calibrate(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"doctor",      "--backend", "cpu",
                                          "--calibrate", "--seconds", "0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  nlohmann::json solver_of_a_run(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"run",       "in",  "-o",     "out", "-k",         "5",
                                          "--backend", "cpu", "--json", "-q",  "--overwrite"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished result = run(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out).at("solvers").at(0);
  }
  /// So many times what is stored.
  void price_subspace(double factor) {
    Calibration costs = settings::read_calibration(at(kStored));
    for (const auto& [name, price] : kCostTerms) costs.at(0).costs.subspace.*price *= factor;
    write(kStored, settings::to_yaml(costs));
  }

  static constexpr const char* kStored = "config/eckart/calibration.yaml";
};

TEST_F(Doctor, says_that_costs_are_built_in) {
  const Finished result = run({"doctor"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("solver costs: built in"));
  EXPECT_THAT(files("config"), IsEmpty());
}

TEST_F(Doctor, examines_the_backend_asked_for_alone) {
  const Finished cpu = run({"doctor", "--backend", "cpu"});
  EXPECT_EQ(cpu.code, 0) << cpu.err;
  EXPECT_THAT(cpu.out, Not(HasSubstr("cuda ")));
  const Finished cuda = run({"doctor", "--backend", "cuda"});
  EXPECT_THAT(cuda.out, Not(HasSubstr("cpu ")));
  EXPECT_THAT(cuda.code, AnyOf(0, int(ExitCode::unavailable)));
}

TEST_F(Doctor, measures_costs_that_runs_go_by) {
  const Finished result = calibrate();
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("solver costs measured; the model is"));
  EXPECT_THAT(result.out, HasSubstr("gram      1024"));
  ASSERT_THAT(files("config"), ElementsAre("eckart/calibration.yaml"));
  EXPECT_THAT(run({"doctor"}).out, HasSubstr("solver costs: measured here on 20"));

  // What was measured is this machine's affair; far from it the choice is plain.
  write("in/a.png", encoded("png", 96, 96));
  price_subspace(1e-3);
  EXPECT_EQ(solver_of_a_run().at("solver"), "subspace");
  price_subspace(1e6);
  EXPECT_EQ(solver_of_a_run().at("solver"), "gram");
  EXPECT_EQ(solver_of_a_run({"--set", "calibration=none"}).at("solver"), "subspace");
  const auto asked = solver_of_a_run({"--solver", "subspace"});
  EXPECT_EQ(asked.at("solver"), "subspace");
  EXPECT_EQ(asked.at("reason"), "asked for");
}

TEST_F(Doctor, replaces_what_was_measured_here_and_keeps_the_rest) {
  const std::string here = app::make_backend("cpu", {}, 1).backend->device();
  const SolverCosts costs = {{1}, {2}};
  write("c.yaml", settings::to_yaml(Calibration{{"cpu", "another CPU", "2020-01-01", costs},
                                                {"cpu", here, "2020-01-01", costs}}));
  ASSERT_EQ(calibrate({"--calibration", "c.yaml"}).code, 0);
  const Calibration stored = settings::read_calibration(at("c.yaml"));
  std::map<std::string, std::string> dates;
  for (const MeasuredCosts& measured : stored) {
    if (measured.backend != "cpu") continue;
    EXPECT_TRUE(dates.emplace(measured.device, measured.date).second) << measured.device;
  }
  EXPECT_EQ(dates.at("another CPU"), "2020-01-01");
  EXPECT_GT(dates.at(here), "2020-01-01");
  EXPECT_THAT(files("config"), IsEmpty());
}

TEST_F(Doctor, measures_nothing_where_it_could_not_be_stored) {
  write("c.yaml", "- 7\n");
  const Finished broken = run({"doctor", "--calibrate", "--calibration", "c.yaml"});
  EXPECT_EQ(broken.code, int(ExitCode::configuration));
  EXPECT_THAT(broken.err, HasSubstr("c.yaml:1: '7' is not a map of keys"));
  EXPECT_EQ(broken.out, "");
}

TEST_F(Doctor, a_broken_calibration_costs_a_run_a_warning_unless_it_was_named) {
  write_png("in/a.png");
  write("config/eckart/calibration.yaml", "- 7\n");
  const Finished warned = run({"run", "in", "-o", "out", "-k", "2"});
  EXPECT_EQ(warned.code, 0);
  EXPECT_THAT(warned.err, HasSubstr("calibration.yaml:1: '7' is not a map of keys"));
  write("c.yaml", "- 7\n");
  const Finished refused = run({"run", "in", "-o", "out", "--set", "calibration=c.yaml"});
  EXPECT_EQ(refused.code, int(ExitCode::configuration));
  EXPECT_THAT(refused.err, HasSubstr("c.yaml:1: '7' is not a map of keys"));
}

}  // namespace
}  // namespace eckart::test
