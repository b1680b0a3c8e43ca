# Functions for scripts that build eckart. A script sources this file after steps.sh.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true # clones of this repository share the cache of ccache

# Prints the CUDA architectures of the GPUs of this machine that eckart supports, as CMake takes them: "90-real",
# "75-real;80-real", "native" if there is a GPU but no nvidia-smi, or nothing if no GPU answers.
gpu_architectures() {
  if ! command -v nvidia-smi >/dev/null; then
    if [[ -e /dev/nvidia0 ]]; then printf native; fi
    return
  fi
  local found
  found=$(timeout 60 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -E '^[0-9]+\.[0-9]$' || true)
  tr -d . <<<"$found" | sort -nu | awk '$1 >= 75 { printf "%s%s-real", separator, $1; separator = ";" }'
}

nvcc_path() { command -v nvcc || { [[ -x /usr/local/cuda/bin/nvcc ]] && echo /usr/local/cuda/bin/nvcc; }; }
has_nvcc() { nvcc_path >/dev/null; }
# Prints the architectures that nvcc compiles for, one a line: 75, 80, …
nvcc_architectures() { "$(nvcc_path)" --list-gpu-arch | sed 's/^compute_//'; }

# Prints the first of the given architectures that nvcc does not compile for, or nothing.
architecture_unknown_to_nvcc() { # 75-real;90-real
  local known each
  known=$(nvcc_architectures)
  for each in ${1//;/ }; do
    if [[ $each != native ]] && ! grep -qx "${each%-real}" <<<"$known"; then
      printf '%s' "${each%-real}"
      return
    fi
  done
}

# Sets preset and options for this machine: CUDA for the GPU that is there, without one no CUDA.
# Sets cuda_note to a line about it.
choose_preset() {
  local architectures unknown
  architectures=$(gpu_architectures)
  preset=cpu options=()
  if [[ -z $architectures && -e /dev/nvidia0 ]]; then
    cuda_note="the GPU is too old, or its driver does not answer (see nvidia-smi): building for the CPU"
  elif [[ -z $architectures ]]; then
    cuda_note="no supported NVIDIA GPU: building for the CPU; for CUDA on other machines: tools/make-packages"
  elif ! has_nvcc; then
    cuda_note="GPU, but no nvcc: building for the CPU; to use the GPU, install cuda-toolkit-13-0 from NVIDIA and run this again"
  elif unknown=$(architecture_unknown_to_nvcc "$architectures") && [[ $unknown ]]; then
    cuda_note="nvcc does not know the GPU architecture $unknown: building for the CPU; to use the GPU, install a newer CUDA toolkit"
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
