#include "reports/image_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "reports/report_format.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::reports {
namespace {

using ::testing::UnorderedElementsAre;

/// The same for JSON lines and CSV.
class ImageReportTest : public ::testing::TestWithParam<const char*> {
 protected:
  /// Adds records to the report in a run of their own.
  template <class AddRecords>
  void report(const AddRecords& add_records) {
    ImageReport report(file());
    add_records(report);
    report.close();
  }
  void measure(const std::string& input, const std::vector<std::string>& ranks,
               const std::string& color = "channels", const std::string& output = "") {
    report([&](ImageReport& to) {
      for (const std::string& rank : ranks)
        to.add(input, output.empty() ? "" : output + "/k" + rank + ".png",
               {.color = color, .rank_spec = rank});
    });
  }
  void fail(const std::string& input) {
    report([&](ImageReport& to) {
      to.add_failure(input, FailureReason::corrupt, Stage::load, "bad");
    });
  }
  std::vector<text::Json> json_records() const {
    ReportReader reader(report_format_of(file()));
    std::vector<text::Json> records;
    std::ifstream stream(file());
    for (std::string line; std::getline(stream, line);) {
      if (const auto record = reader.add_line(line)) records.push_back(record->json);
    }
    return records;
  }
  /// Kind, name of the input, rank and color of each record.
  std::vector<std::string> records() const {
    std::vector<std::string> texts;
    for (const text::Json& record : json_records()) {
      const std::filesystem::path input = record["input"].get<std::string>();
      std::string text = record["kind"].get<std::string>() + ' ' + input.filename().native() + ' ';
      for (const char* key : {"rank_spec", "color"})
        if (record.contains(key)) text += record[key].get<std::string>() + ' ';
      texts.push_back(text.substr(0, text.size() - 1));
    }
    return texts;
  }

  std::filesystem::path file() const { return folder_.path() / GetParam(); }

 private:
  const test::TempFolder folder_;
};

TEST_P(ImageReportTest, keeps_measurements_of_other_ranks_colors_and_runs) {
  measure("a.png", {"5", "10"});
  measure("a.png", {"20"});
  measure("a.png", {"20"}, "luma");
  measure("a.png", {"7"}, "channels", "out");
  EXPECT_THAT(records(), UnorderedElementsAre("output a.png 5 channels", "output a.png 10 channels",
                                              "output a.png 20 channels", "output a.png 20 luma",
                                              "output a.png 7 channels"));
}

TEST_P(ImageReportTest, replaces_a_measurement_that_is_repeated) {
  measure("a.png", {"5", "10"});
  measure("b.png", {"5"});
  measure("a.png", {"5"});
  EXPECT_THAT(records(), UnorderedElementsAre("output a.png 5 channels", "output a.png 10 channels",
                                              "output b.png 5 channels"));
}

/// As some editors leave a file.
TEST_P(ImageReportTest, keeps_a_record_whose_line_lost_its_newline) {
  measure("a.png", {"5", "10"});
  std::filesystem::resize_file(file(), std::filesystem::file_size(file()) - 1);
  measure("b.png", {"5"});
  EXPECT_THAT(records(), UnorderedElementsAre("output a.png 5 channels", "output a.png 10 channels",
                                              "output b.png 5 channels"));
}

TEST_P(ImageReportTest, drops_a_failure_when_its_input_is_measured) {
  fail("a.png");
  fail("b.png");
  measure("a.png", {"5"});
  EXPECT_THAT(records(), UnorderedElementsAre("failure b.png", "output a.png 5 channels"));
}

TEST_P(ImageReportTest, keeps_measurements_of_an_input_that_fails_later) {
  measure("a.png", {"5"});
  fail("a.png");
  fail("a.png");
  EXPECT_THAT(records(), UnorderedElementsAre("output a.png 5 channels", "failure a.png"));
}

TEST_P(ImageReportTest, tells_of_a_failure_its_input_and_reason_and_no_figures) {
  fail("/in/a, b.jpg");
  const text::Json expected{{"kind", "failure"},       {"schema", kReportSchema},
                            {"input", "/in/a, b.jpg"}, {"result", "failed"},
                            {"reason", "corrupt"},     {"stage", "load"},
                            {"detail", "bad"}};
  EXPECT_THAT(json_records(), ::testing::ElementsAre(expected));
}

/// So that reports of `eckart run` and `eckart status` can be joined.
TEST_P(ImageReportTest, tells_the_absolute_path_of_each_input) {
  const std::string folder = std::filesystem::current_path();
  measure("x/../a.png", {"5"});
  fail("./b.png");
  report([](ImageReport& to) { to.add_recorded("/in/c.png", "out/c.png", ItemResult::done, ""); });
  std::vector<std::string> inputs;
  for (const text::Json& record : json_records()) inputs.push_back(record["input"]);
  EXPECT_THAT(inputs, UnorderedElementsAre(folder + "/a.png", folder + "/b.png", "/in/c.png"));
}

INSTANTIATE_TEST_SUITE_P(Formats, ImageReportTest, ::testing::Values("r.jsonl", "r.csv"),
                         [](const auto& format) { return std::string(format.param).substr(2); });

}  // namespace
}  // namespace eckart::reports
