#include "tests/support/overlap.hpp"

#include <algorithm>

namespace eckart::test {

Overlap measure_overlap(const std::vector<BusySpan>& spans, double begin, double end) {
  struct Edge {
    double at;
    BusySpan::Engine engine;
    int change;
  };
  std::vector<Edge> edges;
  for (const BusySpan& span : spans) {
    edges.push_back({std::clamp(span.begin, begin, end), span.engine, 1});
    edges.push_back({std::clamp(span.end, begin, end), span.engine, -1});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  edges.push_back({end, BusySpan::compute, 0});

  Overlap overlap;
  int active[BusySpan::kEngines] = {};
  double from = begin;
  for (const Edge& edge : edges) {
    const double share = (edge.at - from) / (end - begin);
    const bool in = active[BusySpan::copy_in] > 0, out = active[BusySpan::copy_out] > 0;
    const bool is_computing = active[BusySpan::compute] > 0;
    for (int engine = 0; engine < BusySpan::kEngines; ++engine) {
      if (active[engine] > 0) overlap.busy[engine] += share;
    }
    if (in && out && is_computing) overlap.all_busy += share;
    if (is_computing && (in || out)) overlap.copying_while_computing += share;
    if (!in && !out && !is_computing) overlap.idle += share;
    active[edge.engine] += edge.change;
    from = edge.at;
  }
  return overlap;
}

}  // namespace eckart::test
