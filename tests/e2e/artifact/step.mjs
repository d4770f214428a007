// What the three actions share: the inputs and outputs of a step, the files of a folder.

import { appendFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

export function input(name) {
  return (process.env[`INPUT_${name.toUpperCase()}`] ?? "").trim();
}

export function output(name, value) {
  appendFileSync(process.env.GITHUB_OUTPUT, `${name}=${value}\n`);
}

// Every file below a folder, or the one file; hidden ones are left out as the official action does.
export function filesBelow(path, { hidden }) {
  if (!statSync(path).isDirectory()) {
    return { files: [path], root: dirname(path) };
  }
  const entries = readdirSync(path, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const shown = files.filter((file) => hidden || !file.slice(path.length).split("/").some((part) => part.startsWith(".")));
  return { files: shown, root: path };
}
