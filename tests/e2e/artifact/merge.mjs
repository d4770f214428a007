// actions/upload-artifact/merge with `separate-directories: true`, with the official client.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { DefaultArtifactClient } from "@actions/artifact";

import { filesBelow, input, output } from "./step.mjs";

const client = new DefaultArtifactClient();
const [before, after] = input("pattern").split("*");
const { artifacts } = await client.listArtifacts({ latest: true });
const wanted = artifacts.filter(({ name }) => name.startsWith(before) && name.endsWith(after));
const folder = mkdtempSync(join(tmpdir(), "merge-"));
for (const { id, name } of wanted) {
  await client.downloadArtifact(id, { path: join(folder, name) });
}
const { files, root } = filesBelow(folder, { hidden: false });
const uploaded = await client.uploadArtifact(input("name"), files, root);
output("artifact-id", uploaded.id);
output("artifact-digest", uploaded.digest);
