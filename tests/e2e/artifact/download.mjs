// actions/download-artifact with one of `artifact-ids`, with the official client.

import { DefaultArtifactClient } from "@actions/artifact";

import { input } from "./step.mjs";

await new DefaultArtifactClient().downloadArtifact(Number(input("artifact-ids")), { path: input("path") });
