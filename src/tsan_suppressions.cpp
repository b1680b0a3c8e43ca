// False reports of ThreadSanitizer; goes into every program built with it, and into no other.
//
// moodycamel 1.0.3 hands a block of slots back to its producers through a counter that is
// incremented with memory_order_release where it takes acq_rel (its issue 404). The order holds on
// x86-64 and arm64, whose stores become visible to all at once; by the letter of C++ it is a race,
// and reported as one between the reader of an old item and the writer of a new one in the same
// slot. Clang names an inlined function without its class.
//
// The others are libraries that are not built with the sanitizer, so that it does not see how they
// synchronize: OpenBLAS; OpenCV, which makes its table of codecs at first use under the lock of a
// local static, and has GDAL register its drivers when it looks for an encoder, always under one
// lock of its own; cpp-httplib, whose local statics the threads of its pool share.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:moodycamel::ConcurrentQueue*::ImplicitProducer::enqueue\n"
         "race:^enqueue<moodycamel::ConcurrentQueue\n"
         "race:libopenblas\n"
         "race:libopencv_imgcodecs\n"
         "race:libcpp-httplib\n"
         "deadlock:libgdal\n";
}
