#include "settings/calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

#include "settings/settings.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::settings {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kCosts =
    "{batch_s: 1e-4, sample_s: 0, flop_s: 1e-13, vector_s: 2e-12, cube_s: 3e-12}";

/// Returns a file as eckart doctor writes it, with `from` replaced by `to`.
std::string file_with(const std::string& from = "", const std::string& to = "") {
  std::string yaml = "- backend: cpu\n  device: \"a CPU\"\n  date: 2026-11-21\n  subspace: " +
                     std::string(kCosts) + "\n  gram: " + kCosts + "\n";
  const std::size_t place = yaml.rfind(from);
  return yaml.replace(place, from.size(), to);
}

/// Sets its own home folder, so that no file of the current user is read.
class CalibrationTest : public ::testing::Test {
 protected:
  CalibrationTest() {
    setenv("HOME", folder_.path().c_str(), 1);
    unsetenv("XDG_CONFIG_HOME");
  }
  fs::path write(const fs::path& relative, const std::string& text) const {
    fs::create_directories((folder_.path() / relative).parent_path());
    std::ofstream(folder_.path() / relative) << text;
    return folder_.path() / relative;
  }
  /// Returns the error of such a file, without the folder's name.
  std::string error_of(const std::string& yaml) const {
    try {
      read_calibration(write("c.yaml", yaml));
    } catch (const SettingsError& error) {
      return std::string(error.what()).substr(folder_.path().native().size() + 1);
    }
    return "none";
  }

  const test::TempFolder folder_;
};

TEST_F(CalibrationTest, is_read_back_unchanged) {
  const Calibration before = {
      {CostBackend::cpu, "\"A\" CPU: 3 # GHz", "2026-11-21", {{1e-4, 0, 1.0 / 3}, {}}},
      {CostBackend::cuda, "NVIDIA H200", "2026-11-22", {{}, {0, 2, 3, 4, 5e-20}}}};
  const Calibration after = read_calibration(write("c.yaml", to_yaml(before)));
  ASSERT_EQ(after.size(), 2U);
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].backend, before[i].backend);
    EXPECT_EQ(after[i].device, before[i].device);
    EXPECT_EQ(after[i].date, before[i].date);
    for (const auto& [name, coefficient] : kCostTerms) {
      EXPECT_EQ(after[i].costs.subspace.*coefficient, before[i].costs.subspace.*coefficient)
          << name;
      EXPECT_EQ(after[i].costs.gram.*coefficient, before[i].costs.gram.*coefficient) << name;
    }
  }
}

TEST_F(CalibrationTest, may_be_empty) {
  EXPECT_THAT(read_calibration(write("c.yaml", to_yaml(Calibration{}))), IsEmpty());
}

TEST_F(CalibrationTest, is_not_read_from_a_pipe) {
  const auto pipe = write("c.yaml", "");
  std::filesystem::remove(pipe);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(read_calibration(pipe), SettingsError);
}

TEST_F(CalibrationTest, names_file_line_and_key_in_an_error) {
  EXPECT_EQ(error_of(file_with()), "none");
  EXPECT_EQ(error_of(file_with("3e-12", "fast")),
            "c.yaml:5: gram.cube_s: 'fast' is not a number from 0 to 1000");
  EXPECT_EQ(error_of(file_with("3e-12", "-1")),
            "c.yaml:5: gram.cube_s: '-1' is not a number from 0 to 1000");
  EXPECT_EQ(error_of(file_with("3e-12", "[1]")),
            "c.yaml:5: gram.cube_s: a list is not a number from 0 to 1000");
  EXPECT_EQ(error_of(file_with(", cube_s: 3e-12", "")), "c.yaml:5: gram.cube_s: is missing");
  EXPECT_EQ(error_of(file_with("cube_s", "cub_s")), "c.yaml:5: gram.cub_s: unknown key");
  EXPECT_EQ(error_of(file_with("cube_s", "batch_s")),
            "c.yaml:5: gram.batch_s: is given more than once");
  EXPECT_EQ(error_of(file_with(kCosts, "7")), "c.yaml:5: gram: '7' is not a map of keys");
  EXPECT_EQ(error_of(file_with("backend: cpu", "backend: tpu")),
            "c.yaml:1: backend: 'tpu' is not one of cpu, cuda");
  EXPECT_EQ(error_of(file_with("  date: 2026-11-21\n", "")), "c.yaml:1: date: is missing");
  EXPECT_EQ(error_of("a: 1\n"), "c.yaml:1: a map is not a list of measured costs");
  EXPECT_THAT(error_of("- {\n"), HasSubstr("not valid YAML"));
}

TEST_F(CalibrationTest, is_found_in_the_xdg_config_folder) {
  EXPECT_EQ(user_calibration_file(), folder_.path() / ".config/eckart/calibration.yaml");
  setenv("XDG_CONFIG_HOME", "/etc/xdg", 1);
  EXPECT_EQ(user_calibration_file(), "/etc/xdg/eckart/calibration.yaml");
  setenv("XDG_CONFIG_HOME", "relative", 1);
  EXPECT_EQ(user_calibration_file(), folder_.path() / ".config/eckart/calibration.yaml");
  unsetenv("HOME");
  EXPECT_EQ(user_calibration_file(), "");
}

TEST_F(CalibrationTest, is_loaded_unless_the_setting_is_none) {
  write(".config/eckart/calibration.yaml", file_with());
  ASSERT_FALSE(load_calibration({}).costs.empty());
  EXPECT_EQ(load_calibration({}).costs[0].device, "a CPU");
  EXPECT_THAT(load_calibration(FileChoice::none()).costs, IsEmpty());
}

TEST_F(CalibrationTest, has_a_line_for_each_solver_in_the_file) {
  EXPECT_EQ(
      to_yaml(Calibration{
          {CostBackend::cuda, "a GPU", "2026-11-21", {{1, 2, 3, 4, 5}, {0.5, 0, 1e-13, 7, 8}}}}),
      "# Measured solver costs in seconds. Written by eckart doctor --calibrate.\n"
      "- backend: cuda\n"
      "  device: \"a GPU\"\n"
      "  date: \"2026-11-21\"\n"
      "  subspace: {batch_s: 1, sample_s: 2, flop_s: 3, vector_s: 4, cube_s: 5}\n"
      "  gram: {batch_s: 0.5, sample_s: 0, flop_s: 1e-13, vector_s: 7, cube_s: 8}\n");
}

TEST_F(CalibrationTest, is_that_of_the_named_file_alone) {
  write(".config/eckart/calibration.yaml", file_with());
  const fs::path named =
      write("c.yaml", file_with("a CPU", "another") + file_with("a CPU", "third"));
  const LoadedCalibration loaded = load_calibration(FileChoice::at(named));
  ASSERT_EQ(loaded.costs.size(), 2U);
  EXPECT_EQ(loaded.costs[0].device, "another");
  EXPECT_EQ(loaded.costs[1].device, "third");
  EXPECT_THAT(loaded.warnings, IsEmpty());
}

TEST_F(CalibrationTest, is_a_warning_if_damaged_or_an_error_if_named) {
  const fs::path file = write(".config/eckart/calibration.yaml", "- 7\n");
  const LoadedCalibration loaded = load_calibration({});
  ASSERT_FALSE(loaded.warnings.empty());
  EXPECT_THAT(
      loaded.warnings[0],
      HasSubstr("calibration.yaml:1: '7' is not a map of keys; this calibration file is ignored"));
  EXPECT_THAT(loaded.costs, IsEmpty());
  EXPECT_THROW(load_calibration(FileChoice::at(file)), SettingsError);
  EXPECT_THROW(load_calibration(FileChoice::at("nowhere.yaml")), SettingsError);
}

}  // namespace
}  // namespace eckart::settings
