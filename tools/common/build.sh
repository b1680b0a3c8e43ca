# Functions for scripts that build eckart. A script sources this file after steps.sh.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true # clones of this repository share the cache of ccache

# Prints the CUDA architectures of the GPUs of this machine that eckart supports, as CMake takes them: "90-real",
# "75-real;80-real", "native" if the driver does not say which, or nothing if there is no GPU.
gpu_architectures() {
  local found
  found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -E '^[0-9]+\.[0-9]$' || true)
  if [[ $found ]]; then
    tr -d . <<<"$found" | sort -nu | awk '$1 >= 75 { printf "%s%s-real", separator, $1; separator = ";" }'
  elif [[ -e /dev/nvidia0 ]]; then
    printf native
  fi
}

has_nvcc() { command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; }

# Sets preset and options for this machine: CUDA for the GPU that is there, without one no CUDA.
# Sets cuda_note to a line about it.
choose_preset() {
  local architectures
  architectures=$(gpu_architectures)
  preset=cpu options=()
  if [[ -z $architectures ]]; then
    cuda_note="no supported NVIDIA GPU: building for the CPU; for CUDA on other machines: tools/make-packages"
  elif ! has_nvcc; then
    cuda_note="GPU, but no nvcc: building for the CPU; to use the GPU, install cuda-toolkit-13-0 from NVIDIA and run this again"
  else
    preset=cuda options=("-DCMAKE_CUDA_ARCHITECTURES=$architectures")
    cuda_note="building for the CPU and for the GPU of this machine: $architectures"
  fi
}

# configure PRESET LOG OPTION... [--new OPTION...]: the options after --new are for a new build folder only
configure() {
  local preset=$1 log=$2 new=false argument arguments=()
  shift 2
  for argument in "$@"; do
    if [[ $argument == --new ]]; then
      new=true
    elif [[ $new == false || ! -f build/$preset/CMakeCache.txt ]]; then
      arguments+=("$argument")
    fi
  done
  logged "$log" cmake --preset "$preset" "${arguments[@]}"
}
