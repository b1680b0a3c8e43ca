# The layers of src/: what each component is, and what it may include and link. The only place that defines this.
#   src/components.cmake   links a component with what is listed here, and nothing else
#   src/check_layer.cmake   fails the build at an #include that is not allowed here
#   docs/explanation/architecture.md   contains this table; tests/layers compares the two
# A component may use only components that are listed above it.

# eckart_library(NAME HEADERS regex LINK target ...): a third-party library. HEADERS matches the full name of an included header.
eckart_library(cuda          HEADERS "((cuda|cublas|cusolver|cusparse|curand|cuComplex|nvtx|nvToolsExt|nvml|cub/|thrust/|cooperative_groups).*)"
               LINK CUDA::cudart_static CUDA::cublas CUDA::cusolver)
eckart_library(opencv        HEADERS "opencv2/.*"                        LINK opencv_headers)
eckart_library(libjpeg-turbo HEADERS "(turbojpeg|jpeglib|jerror).*"      LINK PkgConfig::jpeg)
eckart_library(libspng       HEADERS "(png|spng).*"                      LINK PkgConfig::spng)
eckart_library(libtiff       HEADERS "tiff.*"                            LINK PkgConfig::tiff)
eckart_library(libwebp       HEADERS "webp/.*"                           LINK PkgConfig::webp)
eckart_library(dcmtk         HEADERS "dcmtk/.*"                          LINK dcmtk)
eckart_library(zlib          HEADERS "zlib.*"                            LINK ZLIB::ZLIB)
eckart_library(libdeflate    HEADERS "libdeflate.*"                      LINK PkgConfig::libdeflate)
eckart_library(openblas      HEADERS "(.*/)?(lapack|lapacke|cblas|openblas_config).*" LINK PkgConfig::openblas PkgConfig::lapacke)
eckart_library(moodycamel    HEADERS "concurrentqueue/.*"                LINK moodycamel)
eckart_library(yaml-cpp      HEADERS "yaml-cpp/.*"                       LINK yaml-cpp)
eckart_library(cpp-httplib   HEADERS "httplib.*"                         LINK PkgConfig::httplib Threads::Threads)
eckart_library(prometheus    HEADERS "prometheus/.*"                     LINK PkgConfig::prometheus)
eckart_library(libsystemd    HEADERS "systemd/.*"                        LINK PkgConfig::systemd)
eckart_library(sqlite        HEADERS "sqlite3.*"                         LINK SQLite::SQLite3)
eckart_library(cli11         HEADERS "CLI/.*"                            LINK CLI11::CLI11)
eckart_library(nlohmann-json HEADERS "nlohmann/.*"                       LINK nlohmann_json::nlohmann_json)
eckart_library(spdlog        HEADERS "(spdlog|fmt)/.*"                   LINK spdlog::spdlog)
eckart_library(librabbitmq   HEADERS "amqp.*"                            LINK PkgConfig::rabbitmq)
eckart_library(libmd         HEADERS "sha2\\.h"                          LINK PkgConfig::libmd)
eckart_library(libarchive    HEADERS "(archive|archive_entry)\\.h")
eckart_library(dl            HEADERS "dlfcn\\.h"                         LINK ${CMAKE_DL_LIBS})
eckart_library(threads       HEADERS ""                                  LINK Threads::Threads)
eckart_library(googletest    HEADERS "(gtest|gmock)/.*")

# eckart_layer(FOLDER ABOUT text [USES folder ...] [LIBRARIES name ...] [PUBLIC_LIBRARIES name ...]): PUBLIC_LIBRARIES are
# libraries that its own headers include.
eckart_layer(build_id ABOUT "build ID, and modules: libraries of the same build that the program loads when it needs them" LIBRARIES dl)
eckart_layer(text ABOUT "printable names, numbers, durations, words of a shell, paths in URIs, hexadecimal digits, JSON" PUBLIC_LIBRARIES nlohmann-json spdlog)
eckart_layer(hash ABOUT "SHA-256, SipHash, FNV-1a, hashes of names" USES text LIBRARIES libmd)
eckart_layer(core ABOUT "image, matrix view, rank policy, quality, outcome, resources, errors, names of enums, shared limits and defaults, quantiles")
eckart_layer(files ABOUT "file descriptor, state of a file, links, names of outputs" USES core)
eckart_layer(flow ABOUT "channel, budget, workers and stage clock, independent of images" PUBLIC_LIBRARIES moodycamel threads)
eckart_layer(machine ABOUT "cores, memory, clock and GPUs of this machine (NVML is loaded at run time)" LIBRARIES spdlog dl)
eckart_layer(analysis ABOUT "quality of a reconstruction: SSIM, differences, peak" USES core)
eckart_layer(synth ABOUT "synthetic images" USES core)
eckart_layer(preparation ABOUT "gray, size and normalization of images before the decomposition" USES core)
eckart_layer(codec/jpeg ABOUT "baseline JPEG decoding and encoding for CPU and GPU from the same source" USES core)
eckart_layer(codec/png ABOUT "PNG filters, compression and decompression for CPU and GPU from the same source" USES core LIBRARIES libdeflate)
eckart_layer(codec ABOUT "images of all formats from and to bytes in memory"
             USES codec/jpeg codec/png core text build_id LIBRARIES opencv libjpeg-turbo libspng libtiff libwebp dcmtk zlib libdeflate)
eckart_layer(tar ABOUT "members of tar archives: their names and places; archives from files" USES build_id core files text LIBRARIES libarchive)
eckart_layer(io ABOUT "sources, output tree, publishing: all access to image files" USES tar codec core files text hash LIBRARIES nlohmann-json)
eckart_layer(io/watch ABOUT "files that arrive in watched folders: events, scans, stability" USES io codec flow files text core)
eckart_layer(ledger ABOUT "database of the results of all inputs" USES core files text hash LIBRARIES sqlite)
eckart_layer(compute ABOUT "the backend interface, cost model, solver choice, certificate" USES codec/jpeg codec/png preparation core text)
eckart_layer(compute/cpu ABOUT "float64 LAPACK, the reference, a certified float32 iteration" USES compute core machine LIBRARIES openblas dl)
eckart_layer(compute/cuda/layout ABOUT "shapes, sizes, offsets and thread indices of kernels (compiles without CUDA)" USES compute preparation codec/jpeg codec/png core)
eckart_layer(compute/cuda/plan ABOUT "what is decided for a batch: solvers, ranks, columns, capacities, iterations, decoding rates (compiles without CUDA)"
             USES compute/cuda/layout compute core)
eckart_layer(compute/cuda ABOUT "lanes, slots, solvers, kernels, codecs"
             USES compute/cuda/layout compute/cuda/plan compute preparation codec/jpeg codec/png core build_id PUBLIC_LIBRARIES cuda)
eckart_layer(compute/checked ABOUT "runs two backends and compares them" USES compute core text)
eckart_layer(compute/fallback ABOUT "smaller batches, then another backend, if GPU memory runs out" USES compute core text)
eckart_layer(telemetry ABOUT "model of a run: counts, stages, snapshot, report" USES core machine)
eckart_layer(telemetry/json ABOUT "measurements of an output as JSON, for reports and the ledger" USES telemetry text LIBRARIES nlohmann-json)
eckart_layer(trace ABOUT "timeline of a run, as Chrome trace events" USES core files text LIBRARIES spdlog nlohmann-json)
eckart_layer(logging ABOUT "log, journal, progress line" USES telemetry core text LIBRARIES spdlog libsystemd)
eckart_layer(reports ABOUT "summary, --json, --report, throughput log" USES telemetry telemetry/json analysis machine core files text hash LIBRARIES spdlog nlohmann-json)
eckart_layer(status_server/page ABOUT "the status page in HTML, CSS and JavaScript, as one C++ string")
eckart_layer(status_server ABOUT "status page, status.json, metrics, health checks over HTTP"
             USES status_server/page reports telemetry machine core files text LIBRARIES spdlog nlohmann-json cpp-httplib prometheus)
eckart_layer(html ABOUT "pages that need no other file: style, tables, plots as SVG" LIBRARIES spdlog)
eckart_layer(inspection ABOUT "what an image comes to at each rank, as text, JSON and page"
             USES compute compute/cpu analysis preparation html core text LIBRARIES spdlog nlohmann-json)
eckart_layer(capacity ABOUT "from throughput logs to a plan" USES html core text LIBRARIES nlohmann-json spdlog)
eckart_layer(simulation ABOUT "many nodes that process a batch on shared storage, event by event" USES capacity core text LIBRARIES nlohmann-json spdlog)
eckart_layer(settings ABOUT "settings with defaults, one schema for reading, printing and errors" USES core files text LIBRARIES yaml-cpp)
eckart_layer(pipeline ABOUT "the stages and their flow"
             USES flow io io/watch codec preparation compute ledger telemetry telemetry/json trace logging analysis machine core files text LIBRARIES spdlog)
eckart_layer(broker ABOUT "queues of RabbitMQ: messages that name images, their publisher and their consumer" USES flow core files text
             LIBRARIES spdlog librabbitmq nlohmann-json)
eckart_layer(app ABOUT "composition root: run, service, supervisor, backend, ledger commands"
             USES settings pipeline broker flow io io/watch tar codec preparation inspection analysis compute compute/cpu compute/checked compute/fallback ledger telemetry
                  trace logging reports status_server synth machine build_id core files text hash
             LIBRARIES spdlog libsystemd dl)
eckart_layer(bench/report ABOUT "medians with intervals, sampling in rounds, tables as text, JSON and page" USES html core text LIBRARIES spdlog PUBLIC_LIBRARIES nlohmann-json)
eckart_layer(bench/operation ABOUT "what these experiments compute: shapes, work, errors, batches, interface of devices" USES machine synth core LIBRARIES threads)
eckart_layer(bench/cpu ABOUT "these operations on the CPU: loops, OpenBLAS" USES bench/operation compute/cpu synth core LIBRARIES openblas PUBLIC_LIBRARIES threads)
eckart_layer(bench/cuda ABOUT "these operations on the GPU: cuBLAS, and kernels to learn from, which runs do not use"
             USES bench/operation compute/cuda compute synth build_id core PUBLIC_LIBRARIES cuda)
eckart_layer(bench/peers ABOUT "these operations by libraries of Python, in a process of its own" USES bench/operation files text LIBRARIES nlohmann-json)
eckart_layer(bench/experiments ABOUT "experiments of eckart bench without inputs, on the CPU and a GPU, and their tables"
             USES bench/report bench/operation bench/cpu bench/peers compute html machine synth build_id core text LIBRARIES spdlog dl)
eckart_layer(bench ABOUT "experiments of eckart bench: whole runs of this program on some of the cores, and its parts alone"
             USES bench/report app settings pipeline flow io codec compute ledger telemetry telemetry/json capacity machine build_id core files text LIBRARIES nlohmann-json spdlog)
eckart_layer(cluster ABOUT "job arrays of Slurm: their scripts, and the commands of Slurm" USES core files text LIBRARIES spdlog)
eckart_layer(cli ABOUT "a file for each subcommand, exit codes, signals"
             USES app cluster broker settings flow io codec compute logging reports status_server inspection capacity simulation bench bench/experiments bench/report synth machine
                  build_id core files text hash
             LIBRARIES cli11 spdlog nlohmann-json)
