#pragma once

#include <string>
#include <vector>

#include "capacity/plan.hpp"

namespace eckart::capacity {

/// The parts of a plan as plain text, for all formats. Empty if there is nothing to report.

/// Returns why the answer is as it is: the limit, the next limit, what the target needs, growth.
std::vector<std::string> reasons(const Plan& plan);
/// Returns what weakens the figures, and what to do; nothing that the answer or a reason says.
std::vector<std::string> caveats(const Plan& plan);

/// Returns the answer with cost and output: one paragraph for a reader who decides.
std::string manager_paragraph(const Plan& plan);

/// Returns the title of a plan among several: "1 of 2: vm: a CPU, 2 cores; images of …".
std::string plan_title(const std::vector<Plan>& plans, std::size_t index);

/// A line of what the plan is based on.
struct BasisLine {
  std::string label, text;
};
std::vector<BasisLine> basis(const Plan& plan);

/// Returns the rates of all nodes together and of their storage, and how evenly they worked; empty
/// if runs were one after another.
std::string concurrent_runs_sentence(const Plan& plan);

/// Details for engineers (docs/explanation/capacity-model.md).
std::string littles_law_sentence(const Plan& plan);
std::string amdahl_sentence(const Plan& plan);
std::string gustafson_sentence(const Plan& plan);

}  // namespace eckart::capacity
