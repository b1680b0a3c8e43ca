#pragma once

#include <string>
#include <vector>

#include "simulation/simulate.hpp"

namespace eckart::simulation {

/// A scenario and its result.
struct Simulated {
  Scenario scenario = {};
  Result result = {};
};

/// Says what limits, from which number of nodes on, and what helps: a sentence for each limit.
/// `by_nodes`: the same scenario on growing numbers of nodes, at least one.
std::vector<std::string> limit_sentences(const std::vector<Simulated>& by_nodes);

/// Formats the simulations as a table with limit_sentences().
std::string to_text(const std::vector<Simulated>& by_nodes);
/// Formats a simulation as one line of JSON, of kind `simulate`.
std::string to_json(const Simulated& simulated);

}  // namespace eckart::simulation
