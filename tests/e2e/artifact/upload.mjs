// actions/upload-artifact as far as the workflows here use it, with the official client.

import { existsSync } from "node:fs";
import { resolve } from "node:path";

import { DefaultArtifactClient } from "@actions/artifact";

import { filesBelow, input, output } from "./step.mjs";

const path = resolve(input("path"));
const hidden = input("include-hidden-files") === "true";
const { files, root } = existsSync(path) ? filesBelow(path, { hidden }) : { files: [], root: path };
if (files.length === 0) {
  console.log(`No files were found with the provided path: ${input("path")}`);
  process.exit(input("if-no-files-found") === "error" ? 1 : 0);
}
const uploaded = await new DefaultArtifactClient().uploadArtifact(input("name"), files, root);
output("artifact-id", uploaded.id);
output("artifact-digest", uploaded.digest);
