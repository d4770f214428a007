# The image of the action. Nothing here needs BuildKit: the runner of a self-hosted machine may be old.
ARG BASE_IMAGE=python:3.13-slim-trixie@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285

FROM ${BASE_IMAGE} AS build
COPY requirements/runtime.txt /build/
RUN python -m venv --without-pip /opt/freeze-gate \
 && python -m pip --python /opt/freeze-gate/bin/python install --no-cache-dir --no-compile --only-binary :all: \
    --require-hashes --requirement /build/runtime.txt
COPY src/freeze_gate /build/freeze_gate
# Hash-based bytecode is never compared with its source: nothing is compiled or looked up when the gate starts.
RUN site=$(/opt/freeze-gate/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
 && cp -R /build/freeze_gate "$site/" \
 && rm -rf "$site"/*/tests /opt/freeze-gate/bin/[Aa]ctivate* \
 && /opt/freeze-gate/bin/python -m compileall -q --invalidation-mode unchecked-hash "$site"

FROM ${BASE_IMAGE}
COPY --from=build /opt/freeze-gate /opt/freeze-gate
# Root, as the runner requires: the files that it mounts belong to another user. Isolated mode keeps the working
# directory, which is the patch's checkout, and every PYTHON* variable out of the import path.
ENTRYPOINT ["/opt/freeze-gate/bin/python", "-I", "-u", "-m", "freeze_gate", "gate"]
