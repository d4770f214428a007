# A hosted runner as far as the workflows need one: git and Node.js for the runner, Python and pytest for the jobs.
ARG BASE_IMAGE
FROM ${BASE_IMAGE}
RUN apt-get update \
 && apt-get install -y --no-install-recommends curl git jq nodejs python3-hypothesis python3-pytest python3-venv \
 && rm -rf /var/lib/apt/lists/*
