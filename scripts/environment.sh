# Sourced by scripts that need Python packages or Debian's, in the root of the project.
export UV_PYTHON_DOWNLOADS=never

packages() {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# The installer of Python packages: pip takes several times as long.
uv() {
    if [ ! -x target/uv-venv/bin/uv ]; then
        # Debian splits venv from Python.
        if ! python3 -m venv target/uv-venv; then
            packages python3-venv
            python3 -m venv target/uv-venv
        fi
        target/uv-venv/bin/pip install --quiet --disable-pip-version-check uv==0.13.9
    fi
    target/uv-venv/bin/uv "$@"
}

# An environment of Python packages below target/: its name, and what is installed in it.
environment() {
    local venv=target/$1-venv
    [ -x "$venv/bin/python" ] || uv venv --quiet --seed --python "${PYTHON:-python3}" "$venv"
    uv pip install --quiet --python "$venv/bin/python" "${@:2}"
}
