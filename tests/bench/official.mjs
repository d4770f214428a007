// What the official client takes to list a run's artifacts and to download the two: the reference for the whole gate.

import { DefaultArtifactClient } from "@actions/artifact";

async function main() {
  const [repositoryOwner, repositoryName] = process.env.GITHUB_REPOSITORY.split("/");
  const workflowRunId = Number(process.env.GITHUB_RUN_ID);
  const findBy = { token: process.env["INPUT_GITHUB-TOKEN"], workflowRunId, repositoryOwner, repositoryName };
  const client = new DefaultArtifactClient();
  const { artifacts } = await client.listArtifacts({ findBy });
  const path = process.argv[2];
  await Promise.all(artifacts.map(({ id, name }) => client.downloadArtifact(id, { path: `${path}/${name}`, findBy })));
}

main();
