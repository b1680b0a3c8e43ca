#include "cli/listing_progress.hpp"

#include <cstdio>

#include "logging/progress.hpp"
#include "text/format_count.hpp"

namespace eckart::cli {

ListingProgress::ListingProgress() : is_shown_(logging::stderr_is_terminal()) {}

ListingProgress::~ListingProgress() {
  if (is_shown_) std::fputs("\r\033[K", stderr);
}

void ListingProgress::show(std::int64_t images) const {
  if (!is_shown_) return;
  std::fprintf(stderr, "\r%s", text::format_count(images, "image").append(" listed").c_str());
}

}  // namespace eckart::cli
