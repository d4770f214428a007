// A proxy that holds every request and every answer against GitHub's published OpenAPI document, with Prism's own router
// and validators. Prism's command follows redirects by itself, which would hide the one that our client has to follow.
//
// Each line on standard input is the address to forward to from then on. Standard output has one line of JSON for the
// proxy's own address, then one for each exchange: method, path, status, the operation, and what is wrong with it.

import { createRequire } from "node:module";
import { createServer, request as send } from "node:http";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";

const require = createRequire(import.meta.url);
const { getHttpOperationsFromSpec } = require("@stoplight/prism-cli/dist/operations.js");
const { default: route } = require("@stoplight/prism-http/dist/router/index.js");
const { validateInput, validateOutput } = require("@stoplight/prism-http/dist/validator/index.js");
const spec = structuredClone(require("@octokit/openapi/generated/api.github.com.json"));

const USED = /^\/repos\/\{owner\}\/\{repo\}(\/(actions\/(artifacts|runs)|contents|issues|labels|pulls|commits)(\/.*)?)?$/;
spec.paths = Object.fromEntries(Object.entries(spec.paths).filter(([path]) => USED.test(path)));
const resources = await getHttpOperationsFromSpec(spec);

let upstream;
createInterface({ input: process.stdin }).on("line", (line) => (upstream = new URL(line)));

// OpenAPI has no parameter that spans segments; where GitHub's document says x-multi-segment, the router gets one segment.
// The root folder, which GitHub's own documentation lists by leaving the path out, is a segment too.
const routed = (path) => path.replace(/(\/contents\/)(.*)$/, (_, before, rest) => before + encodeURIComponent(rest || "/"));

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

// Prism only warns of an error status that the document does not list: GitHub does not list all that it answers with.
const WARNING = 1;
const wrong = (either) => (either._tag === "Left" ? either.left.filter(({ severity }) => severity !== WARNING) : []);

function judge(method, url, headers, body, answer) {
  const path = routed(url.pathname);
  const query = Object.fromEntries(url.searchParams);
  const element = { method, url: { path, query }, headers, body: body ? parsed(body) : undefined };
  const found = route({ resources, input: element });
  if (found._tag === "Left") {
    return { operation: null, problems: [{ message: found.left.message }] };
  }
  const resource = found.right;
  const seen = { statusCode: answer.status, headers: answer.headers, body: answer.body ? parsed(answer.body) : undefined };
  const problems = [...wrong(validateInput({ resource, element })), ...wrong(validateOutput({ resource, element: seen }))];
  return { operation: resource.iid, problems };
}

async function whole(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const server = createServer(async (incoming, outgoing) => {
  const body = await whole(incoming);
  const { method, url: path, headers } = incoming;
  const sent = send(new URL(path, upstream), { method, headers: { ...headers, host: upstream.host } }, async (answer) => {
    const answered = await whole(answer);
    const judged = judge(method.toLowerCase(), new URL(path, upstream), headers, body.toString(), {
      status: answer.statusCode,
      headers: answer.headers,
      body: (answer.headers["content-encoding"] === "gzip" ? gunzipSync(answered) : answered).toString(),
    });
    console.log(JSON.stringify({ method, path, status: answer.statusCode, ...judged }));
    outgoing.writeHead(answer.statusCode, answer.headers).end(answered);
  });
  sent.on("error", () => outgoing.destroy());
  sent.end(body);
});

server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })));
