// Tests eckart plan from logs to output. tests/unit/capacity tests the numbers.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

using Json = nlohmann::json;
using ::testing::StartsWith;

class PlanCommandTest : public CliTest {
 protected:
  /// Returns the log of a run of eight intervals that is limited by its cores: 1 ms of CPU time per
  /// image, plus 4 % for each core; 20 J per second.
  static std::string log_of(int cores, const std::string& cpu = "a CPU") {
    const int rate = int(cores / (0.001 * (1 + 0.04 * (cores - 1))));
    const Json common = {{"schema", "eckart.throughput/1"},
                         {"run", "run-" + std::to_string(cores)}};
    Json head = common;
    head.update({{"kind", "run"},
                 {"time", "2026-11-22T10:00:00Z"},
                 {"command", "run"},
                 {"host", "here"},
                 {"cpu", cpu},
                 {"cores", cores},
                 {"backend", "cuda"},
                 {"device", "a GPU"},
                 {"gpus", {{{"name", "a GPU"}}}},
                 {"startup_s", 0.3}});
    std::string text = head.dump() + "\n";
    for (int second = 1; second <= 8; ++second) {
      Json line = common;
      line.update({{"kind", "interval"},
                   {"elapsed_s", second},
                   {"interval_s", 1},
                   {"done", rate},
                   {"pixels", rate * 65536},
                   {"input_bytes", rate * 12000},
                   {"unfinished", 100},
                   {"end_to_end_s", {{"mean", 100.0 / rate}, {"count", rate}}},
                   {"process", {{"cpu_s", cores}}},
                   {"stages", {{{"name", "write"}, {"workers", 2}, {"busy_s", 1}, {"cpu_s", 0.5}}}},
                   {"gpus", {{{"utilization", 0.1}, {"energy_j", 20}}}}});
      text += line.dump() + "\n";
    }
    return text;
  }
  /// Writes logs of runs on 2 and on 4 cores.
  void write_logs() {
    write("2.log", log_of(2));
    write("4.log", log_of(4));
  }
};

TEST_F(PlanCommandTest, prints_the_answer_first) {
  write_logs();
  const ProcessResult result = run({"plan", "2.log", "4.log", "--target", "50M/month", "--price",
                                    "core=0.04/h,gpu=3.50/h,kWh=0.30"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, StartsWith("Yes: 50M a month is 19.0 images/s; this machine does "));
  EXPECT_THAT(result.out, HasSubstr("Its 4 cores were busy 100 % of the time"));
  EXPECT_THAT(line_containing(result.out, "cost/month"), HasSubstr("per million"));
  EXPECT_THAT(line_containing(result.out, "energy "), HasSubstr("J an image"));

  const ProcessResult no = run(
      {"plan", "2.log", "4.log", "--images", "1,700,000", "--deadline", "2min", "--shift", "8h"});
  EXPECT_THAT(no.out, StartsWith("No: 1,700,000 images in 2 min are 14,167 "));
  EXPECT_EQ(run({"plan", "2.log", "--images", "9", "--target", "1/s"}).code, 64);
  const ProcessResult watts = run({"plan", "2.log", "--watts", "100", "--price", "core=1"});
  EXPECT_EQ(watts.code, 64);
  EXPECT_THAT(watts.err, HasSubstr("--watts needs a price of energy: --price kWh=0.30"));
}

TEST_F(PlanCommandTest, answers_without_logs_from_recorded_figures) {
  const ProcessResult result = run({"plan", "--reference", "h200", "--target", "50M/month"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("Yes: 50M a month is 19.0 images/s; a recorded machine "));
  EXPECT_THAT(result.out, HasSubstr("Not measured here"));
}

TEST_F(PlanCommandTest, prints_a_json_object_for_each_kind_of_work) {
  write_logs();
  write("other.log", log_of(1, "another CPU"));
  const ProcessResult result =
      run({"plan", "2.log", "4.log", "other.log", "--json", "--cores", "3,5"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::size_t newline = result.out.find('\n');
  const Json plan = Json::parse(result.out.substr(0, newline));
  EXPECT_EQ(Json::parse(result.out.substr(newline))["cpu"], "another CPU");
  EXPECT_EQ(result.out.find(R"({"kind":"plan",)"), 0U);
  EXPECT_EQ(plan["answer"]["kind"], "rate");
  EXPECT_EQ(plan["runs"].size(), 2U);
  EXPECT_EQ(plan["saturated"], "cores");
  std::set<int> cores;
  for (const Json& prediction : plan["predictions"]) cores.insert(int(prediction["cores"]));
  EXPECT_TRUE(cores.contains(3) && cores.contains(5) && cores.contains(64));
}

TEST_F(PlanCommandTest, names_machine_and_work_if_there_are_several_kinds) {
  write_logs();
  write("other.log", log_of(1, "another CPU"));
  EXPECT_THAT(run({"plan", "2.log", "4.log"}).out, StartsWith("This machine "));
  const std::vector<std::string> logs = {"plan", "2.log", "4.log", "other.log"};
  const std::string text = run(logs).out;
  EXPECT_THAT(text, StartsWith("This machine "));
  EXPECT_THAT(text, HasSubstr("\n1 of 2: here: a CPU, 4 cores and 1 GPU, backend cuda on a GPU; "));
  EXPECT_THAT(text, HasSubstr("\n2 of 2: here: another CPU, 1 core "));
  const std::string html = run({"plan", "2.log", "4.log", "other.log", "--html"}).out;
  EXPECT_THAT(html, HasSubstr("<h2>2 of 2: here: another CPU, 1 core "));
}

TEST_F(PlanCommandTest, shows_measurement_beside_prediction) {
  write_logs();
  write("8.log", log_of(8));
  const ProcessResult result = run({"plan", "2.log", "4.log", "8.log", "--fit-cores", "2,4"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::regex measured_at_8("\n +8 +1 [^\n]* 6,249 ");  // 8 / (1 ms x 1.28)
  EXPECT_TRUE(std::regex_search(result.out, measured_at_8)) << result.out;
  EXPECT_THAT(result.out, HasSubstr("1 run is on other numbers of cores"));
}

/// Collects every number in a JSON value, as text.
void collect(const Json& json, std::set<std::string>& numbers) {
  if (json.is_structured()) {
    for (const Json& part : json) collect(part, numbers);
  } else if (json.is_number()) {
    numbers.insert(Json(json.get<double>()).dump());
  }
}

TEST_F(PlanCommandTest, writes_self_contained_html_with_the_figures_of_the_json) {
  write("a.log", log_of(2, "<b>&'\"") + log_of(4, "<b>&'\""));
  const std::string html = run({"plan", "a.log", "--html", "--target", "1M/h"}).out;
  for (const char* outside : {"http", "<script", "url(", "@import", "src=", "href="}) {
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  }
  EXPECT_THAT(html, AllOf(HasSubstr("<!doctype html>"), HasSubstr("</html>"), Not(HasSubstr("<b>")),
                          HasSubstr("&lt;b&gt;&amp;&#39;&quot;")));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, HasSubstr("aria-label='How many times as fast as one core'"));
  EXPECT_LT(html.find("<p class='answer'>Yes: "), html.find("<h3>Options"));
  EXPECT_LT(html.find("<h3>Options"), html.find("<figure>"));

  std::set<std::string> numbers;
  collect(Json::parse(run({"plan", "a.log", "--json", "--target", "1M/h"}).out), numbers);
  static const std::regex value("<data value='([^']*)'>");
  int count = 0;
  for (auto at = std::sregex_iterator(html.begin(), html.end(), value);
       at != std::sregex_iterator(); ++at, ++count) {
    EXPECT_TRUE(numbers.contains(Json(std::strtod((*at)[1].str().c_str(), nullptr)).dump()))
        << (*at)[1];
  }
  EXPECT_GT(count, 50);
}

/// Collects the keys of all objects in a JSON value, without those of settings.
void collect_keys(const Json& json, std::set<std::string>& keys) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) keys.insert(key);
  }
  if (!json.is_structured()) return;
  for (const Json& part : json) collect_keys(part, keys);
}

TEST_F(PlanCommandTest, has_a_row_in_the_reference_for_each_json_key) {
  write_logs();
  const Json plan = Json::parse(
      run({"plan", "2.log", "4.log", "--json", "--target", "1M/h", "--price", "core=1/h"}).out);
  std::ifstream file(ECKART_ROOT "/docs/reference/plan.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  std::set<std::string> keys;
  for (const auto& [key, value] : plan.items()) {
    keys.insert(key);
    if (key != "scaling") collect_keys(value, keys);  // its speedups are a table of their own
  }
  for (const std::string& key : keys) {
    if (key == "value" || key == "low" || key == "high") continue;  // of every rate
    EXPECT_THAT(page, HasSubstr("`" + key + "`"));
  }
}

TEST_F(PlanCommandTest, reports_file_and_line_of_skipped_lines) {
  write("a.log", "nonsense\n" + log_of(2));
  const ProcessResult some = run({"plan", "a.log"});
  EXPECT_EQ(some.code, 0);
  EXPECT_THAT(some.err, HasSubstr("eckart: a.log:1: line ignored: it is not JSON"));

  write("b.log", std::string("nonsense\n"));
  const ProcessResult none = run({"plan", "b.log"});
  EXPECT_EQ(none.code, int(ExitCode::nothing_readable));
  EXPECT_THAT(none.err, HasSubstr("b.log:1: line ignored: it is not JSON"));
  EXPECT_EQ(none.out, "");
}

TEST_F(PlanCommandTest, rejects_invalid_arguments) {
  write_logs();
  const ProcessResult missing = run({"plan", "2.log", "no.log"});
  EXPECT_EQ(missing.code, int(ExitCode::no_input));
  EXPECT_THAT(missing.err, HasSubstr("no.log: No such file"));
  for (const Names& wrong :
       std::vector<Names>{{},
                          {"2.log", "--target", "fast"},
                          {"2.log", "--target", "1,70/day"},
                          {"2.log", "--shift", "25h"},
                          {"2.log", "--price", "core=0.04/day"},
                          {"2.log", "--watts", "0"},
                          {"2.log", "--reference", "b300"},
                          {"2.log", "--images", "5", "--deadline", "2020-01-01"},
                          {"2.log", "--images", "many"},
                          {"2.log", "--deadline", "6h"},
                          {"2.log", "--images", "5", "--deadline", "soon"},
                          {"2.log", "--cores", "0"},
                          {"2.log", "--gpus", "1025"},
                          {"2.log", "--fit-cores", "1"},
                          {"2.log", "--json", "--html"}}) {
    Names arguments = {"plan"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.code, int(ExitCode::usage)) << result.out;
    EXPECT_EQ(count_occurrences(result.err, "\n"), 1) << result.err;
  }
}

}  // namespace
}  // namespace eckart::test
