#include "bench/report/table.hpp"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>

namespace eckart::bench {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

Report small_report() {
  Table table{.name = "speeds",
              .title = "Speeds",
              .columns = {{"size", "size", ""},
                          {"time_us", "time", "us", true},
                          {"speedup", "speedup", "× CPU"},
                          {"error", "error", ""}},
              .rows = {},
              .notes = {"measured on a <quiet> machine"},
              .lesson = "Large is slow. Small is fast."};
  table.add_row({"1 × 1", Estimate{.median = 2, .low = 1.9, .high = 2.1, .samples = 10},
                 Estimate{.median = 3, .low = 2, .high = 4, .samples = 10}, 1.5e-7});
  table.add_row({"2 × 2", NotMeasured{"its result is wrong"}, Cell(), 0.25});
  return {.experiment = "speeds",
          .time = "2026-11-28T12:00:00Z",
          .version = "1.2.3",
          .build_id = "0123",
          .cpu = "a CPU",
          .cores = 4,
          .no_gpu_reason = "no driver",
          .warnings = {"the fan is loud"},
          .tables = {table}};
}

TEST(TableText, aligns_columns_and_separates_sizes) {
  EXPECT_EQ(to_text(small_report()),
            "time       2026-11-28T12:00:00Z\n"
            "eckart     1.2.3, build 0123\n"
            "CPU        a CPU, 4 cores\n"
            "GPU        none: no driver\n"
            "warning: the fan is loud\n"
            "\nSpeeds\n\n"
            "size                  time     speedup    error\n"
            "                                 × CPU\n"
            "1 × 1         2.00 us ±5 %  3.00 ±33 %  1.5e-07\n"
            "\n"
            "2 × 2  its result is wrong           -    0.250\n"
            "\n- measured on a <quiet> machine\n"
            "\nLarge is slow. Small is fast.\n");
}

TEST(TableText, shows_an_interval_as_its_size_needs) {
  const Column time{"time_us", "time", "us", true}, speedup{"speedup", "speedup", "× CPU"};
  const auto text = [](double low, double high, const Column& column) {
    return to_text(Estimate{.median = 10, .low = low, .high = high, .samples = 10}, column);
  };
  EXPECT_EQ(text(9.8, 10.1, time), "10.0 us ±2 %");
  EXPECT_EQ(text(9.8, 10.1, speedup), "10.0");
  EXPECT_EQ(text(9.8, 15, speedup), "10.0 ±50 %");
  EXPECT_EQ(text(8, 2550, time), "10.0 us (8.00 us to 2.55 ms)");
  EXPECT_EQ(text(0, 30, speedup), "10.0 (0 to 30.0)");
}

TEST(TableText, has_no_line_of_units_if_no_column_has_one) {
  Report report = small_report();
  report.tables[0].columns[2].unit = "";
  EXPECT_THAT(to_text(report), HasSubstr("error\n1 × 1"));
}

TEST(TableJson, has_all_numbers_in_full) {
  const text::Json json = to_json(small_report());
  EXPECT_EQ(json.begin().key(), "kind");
  EXPECT_EQ(json["kind"], "bench");
  EXPECT_EQ(json["cpu"], "a CPU");
  EXPECT_EQ(json["cores"], 4);
  EXPECT_TRUE(json["gpu"].is_null());
  EXPECT_EQ(json["no_gpu_reason"], "no driver");
  EXPECT_EQ(json["warnings"], text::Json::array({"the fan is loud"}));
  const text::Json& table = json["tables"][0];
  EXPECT_EQ(table["columns"][1]["key"], "time_us");
  EXPECT_EQ(table["columns"][1]["unit"], "us");
  EXPECT_EQ(table["rows"][0]["time_us"]["low"], 1.9);
  EXPECT_EQ(table["rows"][0]["speedup"]["samples"], 10);
  EXPECT_EQ(table["rows"][0]["error"], 1.5e-7);
  EXPECT_TRUE(table["rows"][1]["time_us"].is_null());
  EXPECT_EQ(table["rows"][1]["not_measured"]["time_us"], "its result is wrong");
  EXPECT_FALSE(table["rows"][0].contains("not_measured"));
  EXPECT_TRUE(table["rows"][1]["speedup"].is_null());
  EXPECT_EQ(table["lesson"], "Large is slow. Small is fast.");
}

TEST(Report, names_the_gpu_and_what_throttled_it) {
  Report report = small_report();
  report.gpu = MeasuredGpu{.name = "a GPU",
                           .driver = "580",
                           .min_mhz = 1200,
                           .max_mhz = 1980,
                           .throttled = {{"power", 3}}};
  EXPECT_THAT(to_text(report), HasSubstr("GPU        a GPU, driver 580\n"
                                         "GPU clock  1200 to 1980 MHz during the measurements\n"
                                         "throttled  power in 3 readings\n"));
  const text::Json json = to_json(report);
  EXPECT_EQ(json["gpu"], "a GPU");
  EXPECT_EQ(json["gpu_min_mhz"], 1200);
  EXPECT_EQ(json["gpu_throttled"]["power"], 3);
}

TEST(Report, names_the_libraries_of_python_and_those_that_are_missing) {
  Report report = small_report();
  report.peers = {{"NumPy", "1.24.2"}, {"PyTorch", "2.1"}};
  EXPECT_THAT(to_text(report),
              HasSubstr("peers      NumPy 1.24.2, PyTorch 2.1; python3 has no CuPy, JAX, Numba\n"));
}

TEST(Report, warns_of_other_work_if_many_numbers_are_not_known_well) {
  Report report = small_report();
  EXPECT_EQ(noise_warning(report), "");
  for (std::vector<Cell>& row : report.tables[0].rows)
    row[1] = Estimate{.median = 2, .low = 1, .high = 3, .samples = 10};
  EXPECT_EQ(noise_warning(report),
            "2 of 2 measured numbers are not known within 10 %: other work disturbs the "
            "measurement");
  for (std::vector<Cell>& row : report.tables[0].rows)
    row[1] = Estimate{.median = 2, .low = 1, .high = 3, .samples = 10, .resolution = 0.9};
  EXPECT_EQ(noise_warning(report), "") << "by the resolution of the clock, not by other work";
}

TEST(TableHtml, has_plots_and_intervals_and_escapes_text) {
  Report report = small_report();
  report.tables[0].plots.push_back(
      {.title = "Speed", .x = {.label = "side"}, .y = {.label = "GFLOP/s"}, .series = {}});
  const std::string html = to_html(report);
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr("1.90 us to 2.10 us, 10 samples"));
  EXPECT_THAT(html, HasSubstr("a &lt;quiet&gt; machine"));
  EXPECT_THAT(html, HasSubstr("speedup, × CPU"));
}

TEST(Report, says_once_what_several_tables_have_in_common) {
  Report report = small_report();
  report.tables.push_back(report.tables[0]);
  report.tables[1].name = "more";
  report.tables[1].title = "More speeds";
  report.tables[1].notes.emplace_back("measured twice");
  const std::string text = to_text(report);
  EXPECT_THAT(text, EndsWith("\nNotes on several tables\n\n- measured on a <quiet> machine\n"));
  EXPECT_EQ(text.find("quiet"), text.rfind("quiet"));
  EXPECT_THAT(text, HasSubstr("- measured twice\n\nLarge is slow."));
  const std::string html = to_html(report);
  EXPECT_EQ(html.find("quiet"), html.rfind("quiet"));
  EXPECT_THAT(html, HasSubstr("<a href='#more'>More speeds</a>"));
  EXPECT_THAT(html, HasSubstr("id='more'>\n<h2>More speeds</h2>"));
}

TEST(Table, refuses_rows_of_another_width) {
  Table table{.name = "t", .title = "", .columns = {{"a", "a", ""}}, .rows = {}};
  EXPECT_THROW(table.add_row({1.0, 2.0}), std::invalid_argument);
}

TEST(Table, removes_columns_without_values) {
  Table table{.name = "t", .title = "", .columns = {{"a", "a", ""}, {"b", "b", ""}}, .rows = {}};
  table.add_row({Cell(), 1.0});
  table.add_row({Cell(), Cell()});
  table.remove_empty_columns();
  ASSERT_EQ(table.columns.size(), 1U);
  EXPECT_EQ(table.columns[0].key, "b");
  EXPECT_EQ(std::get<double>(table.rows[0][0]), 1);
}

}  // namespace
}  // namespace eckart::bench
