#include <spdlog/fmt/fmt.h>

#include "capacity/number_format.hpp"
#include "capacity/plan.hpp"
#include "capacity/plan_answer.hpp"
#include "capacity/plan_phrases.hpp"
#include "capacity/plan_sentences.hpp"
#include "capacity/plan_tables.hpp"
#include "capacity/text_layout.hpp"
#include "text/format_number.hpp"

namespace eckart::capacity {
namespace {

std::string text_list(const std::string& title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return {};
  std::string text = "\n" + title + "\n";
  for (const std::string& sentence : sentences) text += wrap("  - ", sentence);
  return text;
}

/// `title` is below the answer, and may be empty.
std::string titled_text(const std::string& title, const Plan& plan) {
  std::string text = wrap("", answer(plan).text);
  if (!title.empty()) text += wrap("", title);
  text += text_list("Why", reasons(plan));
  text += text_table(options_table(plan));
  text += text_list("Caveats", caveats(plan));
  text += text_table(rates_table(plan));
  text += text_table(busy_table(plan));
  text += text_table(nodes_table(plan));
  if (plan.concurrent_runs) text += wrap("  ", concurrent_runs_sentence(plan));
  text += "\nBased on\n";
  for (const BasisLine& line : basis(plan))
    text += wrap(fmt::format("  {:<9}", line.label), line.text);
  return text;
}

}  // namespace

std::string to_text(const Plan& plan) { return titled_text("", plan); }

std::string to_text(const std::vector<Plan>& plans) {
  if (plans.size() == 1) return to_text(plans.front());
  std::string text;
  for (std::size_t i = 0; i < plans.size(); ++i)
    text += (i > 0 ? "\n\n" : "") + titled_text(plan_title(plans, i), plans[i]);
  return text;
}

}  // namespace eckart::capacity
