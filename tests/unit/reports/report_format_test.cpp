#include "reports/report_format.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "reports/csv.hpp"

namespace eckart::reports {
namespace {

const text::Json kRecord = {{"kind", "output"},
                            {"schema", kReportSchema},
                            {"input", "a,\"b\"\nc"},
                            {"output", "out/a.png"},
                            {"result", "done"},
                            {"energy", {0.5, 1e-7}},
                            {"psnr_db", 34.123456789012345},
                            {"ssim", nullptr}};

/// The records of a file.
std::vector<ReportReader::Record> read(ReportFormat format, const std::string& text) {
  std::vector<ReportReader::Record> records;
  ReportReader reader(format);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (auto record = reader.add_line(line)) records.push_back(std::move(*record));
  }
  return records;
}

TEST(ReportFormat, follows_from_the_name) {
  EXPECT_EQ(report_format_of("dir/r.csv"), ReportFormat::csv);
  EXPECT_EQ(report_format_of("r.CSV"), ReportFormat::csv);
  for (const char* file : {"r.jsonl", "r", "-", "csv", "r.csv.txt", "/dev/stdout"})
    EXPECT_EQ(report_format_of(file), ReportFormat::json_lines) << file;
}

TEST(ReportFormat, has_a_csv_column_for_each_key) {
  const std::string header = report_header(ReportFormat::csv);
  const std::vector<std::string> columns = csv_values(header.substr(0, header.size() - 1));
  ReportReader reader(ReportFormat::csv);
  EXPECT_FALSE(reader.add_line(header.substr(0, header.size() - 1)).has_value());
  const std::string row = report_record(ReportFormat::csv, kRecord);
  const std::vector<std::string> values = csv_values(row.substr(0, row.size() - 1));
  ASSERT_EQ(values.size(), columns.size());
  const auto value = [&](const std::string& column) {
    return values[std::size_t(std::ranges::find(columns, column) - columns.begin())];
  };
  EXPECT_EQ(value("input"), "a,\"b\"\nc");
  EXPECT_EQ(value("energy"), "0.5;1e-07");
  EXPECT_EQ(std::stod(value("psnr_db")), 34.123456789012345) << "in full precision";
  EXPECT_EQ(value("ssim"), "");
  EXPECT_EQ(value("reason"), "");
}

TEST(ReportReader, returns_what_was_written) {
  for (const ReportFormat format : {ReportFormat::json_lines, ReportFormat::csv}) {
    const std::string record = report_record(format, kRecord);
    const auto records = read(format, report_header(format) + record + record);
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[1].text, record);
    EXPECT_EQ(records[1].json.at("input"), "a,\"b\"\nc");
  }
}

/// A table of another version has other columns.
TEST(ReportReader, finds_columns_by_their_names) {
  const auto records = read(ReportFormat::csv,
                            "kind,schema,input,output,result,reason,stage,detail,newer,rank\r\n"
                            "output,eckart.report/9,a,b,done,,,,1,20\r\n");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].json.at("rank"), "20");
  EXPECT_EQ(records[0].text, report_record(ReportFormat::csv, {{"kind", "output"},
                                                               {"schema", "eckart.report/9"},
                                                               {"input", "a"},
                                                               {"output", "b"},
                                                               {"result", "done"},
                                                               {"rank", 20}}));
}

TEST(ReportFormat, knows_its_first_line) {
  const std::string header = report_header(ReportFormat::csv);
  EXPECT_TRUE(is_report_line(ReportFormat::csv, header));
  EXPECT_FALSE(is_report_line(ReportFormat::csv, "kind,schema,input\n"));
  EXPECT_FALSE(is_report_line(ReportFormat::csv, "{\"kind\":\"output\"}\n"));
  EXPECT_FALSE(is_report_line(ReportFormat::json_lines, header));
  EXPECT_TRUE(is_truncated_report_line(ReportFormat::csv, header.substr(0, 9)));
  EXPECT_TRUE(is_truncated_report_line(ReportFormat::csv, header.substr(0, 90)));
  EXPECT_FALSE(is_truncated_report_line(ReportFormat::csv, "kind of a table"));
}

/// As in JSON lines.
TEST(CsvReport, replaces_bytes_that_are_not_utf8) {
  const std::string row =
      report_record(ReportFormat::csv, {{"kind", "failure"}, {"input", "caf\xe9"}});
  EXPECT_EQ(row.substr(0, row.find(",,,")), "failure,,caf\xEF\xBF\xBD");
}

TEST(CsvReport, ignores_values_without_a_column) {
  ReportReader reader(ReportFormat::csv);
  EXPECT_FALSE(reader.add_line("kind,schema,input"));
  const auto record = reader.add_line("failure,1,/a.png,more,values");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->json.size(), 3U);
}

}  // namespace
}  // namespace eckart::reports
