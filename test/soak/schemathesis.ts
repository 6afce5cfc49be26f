// Generated requests against the server's own OpenAPI document (spec/faults.md, section 1, goal c): Schemathesis, which this
// project did not write, puts them together, follows the links of the document from one to the next, and holds every answer
// against the document.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { capture } from "../../scripts/child.mjs";
import { IAM, REGISTRY, shuffledIds, startServer, type TestServer } from "../support/server.ts";
import { type Document, narrowed } from "./narrowed.ts";
import type { PartOptions, PartResult } from "./part.ts";

export interface SchemathesisOptions extends PartOptions {
  command: string;
  /** examples of the stateful phase */
  scenarios: number;
  /** requests that have to have been made */
  requestsMin: number;
  /** stateful scenarios that have to have been carried out */
  scenariosMin: number;
}

// Two checks ask for more than a document of this kind can say: that each request which fits it is accepted (a group that is
// not empty is not deleted), and that methods beside it are 405 (those that are published and not served are 501).
const EXCLUDED_CHECKS = "positive_data_acceptance,unsupported_method";

// 413 refuses as well as 400 does; the rest of the lists is the tool's own.
const CONFIGURATION = `
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 501]
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]
[phases.stateful]
max-steps = 12
`;

interface Run {
  name: string;
  /** address or file of the document */
  document: string;
  options: string[];
}

/** `rounds`: examples of each operation. */
export const schemathesis = async (options: SchemathesisOptions): Promise<PartResult> => {
  const { command, seed, rounds, scenarios, say, requestsMin, scenariosMin } = options;
  const folder = mkdtempSync(join(tmpdir(), "irm-schemathesis-"));
  const api = await startServer({ ids: shuffledIds(seed) });
  try {
    const { token, ...words } = await prepare(api);
    api.log.length = 0;
    const { json: document } = await api.call("GET", "/openapi.json", { token: null });
    const narrowedFile = join(folder, "narrowed.json");
    writeFileSync(narrowedFile, JSON.stringify(narrowed(document as Document, words)));
    writeFileSync(join(folder, "schemathesis.toml"), CONFIGURATION);
    const runs: Run[] = [
      {
        name: "alone",
        document: `${api.baseUrl}/openapi.json`,
        options: ["--phases", "examples,coverage,fuzzing", "--max-examples", String(rounds)],
      },
      {
        name: "in scenarios",
        document: narrowedFile,
        options: [
          "--url",
          api.baseUrl,
          "--phases",
          "stateful",
          "--mode",
          "positive",
          "--max-examples",
          String(scenarios),
        ],
      },
    ];
    const failures: string[] = [];
    for (const { name, document: location, options: own } of runs.filter((r) => !process.env.ST_OUT || r.name === process.env.ST_OUT)) {
      const args = [
        ...["--config-file", join(folder, "schemathesis.toml"), "run", location, ...own, "--seed", String(seed)],
        ...["--header", `Authorization: Bearer ${token}`, "--exclude-checks", EXCLUDED_CHECKS],
        ...["--report", "ndjson", "--report-dir", folder, "--generation-database", "none", "--no-color"],
      ];
      const { code, output } = await capture(command, args, { cwd: folder });
      if (process.env.ST_OUT) writeFileSync("/tmp/st.out", output); if (code !== 0) failures.push(`requests ${name}: exit code ${code}\n${tail(output)}`);
      say?.(`requests ${name}: ${statusesOf(api.log).length} requests in all, exit code ${code}`);
    }
    const stateful = scenariosOf(folder);
    const statuses = statusesOf(api.log);
    const errors = statuses.filter((status) => status >= 500 && status !== 501).length;
    const faults = api.log.filter((line) => line.includes('"event":"internal error"')).slice(0, 5);
    if (errors > 0) failures.push(`${errors} answers 5xx`, ...faults);
    if (statuses.length < requestsMin) failures.push(`only ${statuses.length} requests, of ${requestsMin}`);
    if (stateful.count < scenariosMin) failures.push(`only ${stateful.count} stateful scenarios, of ${scenariosMin}`);
    return {
      figures: {
        "requests generated": statuses.length,
        "of these answered 2xx": statuses.filter((status) => status < 300).length,
        "stateful scenarios": stateful.count,
        "links followed in them": stateful.links,
        "answers 5xx other than 501": errors,
      },
      failures,
    };
  } finally {
    await api.close();
    if (!process.env.ST_OUT) rmSync(folder, { recursive: true, force: true }); else console.log(folder);
  }
};

// Failures stand before the summary; a body among them may be a megabyte.
const tail = (output: string): string =>
  output
    .split("\n")
    .map((line) => line.slice(0, 500))
    .slice(-200)
    .join("\n");

// More than the requests delete.
const SPARE_BINDINGS = 300;
const SPARE_REPOS = 30;

/**
 * A caller that owns one group and nothing above it: no request can take its identity away, nor all of its bindings, or the
 * rest of the run would be refused.
 */
const prepare = async (api: TestServer) => {
  const create = async (target: string, body: object) => (await api.ok("POST", target, { body })).uid as string;
  const claimMatch = { issuer: "https://issuer.example", subject: "s" };
  const sandbox = await create(`${IAM}/groups/${api.organization}`, { name: "sandbox" });
  const below = await create(`${IAM}/groups/${sandbox}`, { name: "below" });
  const identity = await create(`${IAM}/identities/${api.organization}`, { name: "bound", claimMatch });
  const { uid, token } = await api.actor("fuzzer");
  const owner = await api.role("owner");
  const repos: string[] = [];
  for (let i = 0; i < SPARE_REPOS; i += 1)
    repos.push(await create(`${REGISTRY}/repos/${sandbox}`, { name: `repo-${i}` }));
  for (let i = 0; i < SPARE_BINDINGS; i += 1)
    await create(`${IAM}/roleBindings/${sandbox}`, { identityUid: uid, roleUid: owner });
  return { token, groups: [sandbox, below], identity, role: await api.role("viewer"), repos };
};

interface ScenarioFinished {
  phase: string;
  status: string;
  recorder: {
    interactions?: Record<string, unknown>;
    cases?: Record<string, { transition?: { id: string } | null }>;
  };
}

/** Scenarios of more than one request, and the different links that they followed. */
const scenariosOf = (folder: string): { count: number; links: number } => {
  const scenarios = readdirSync(folder)
    .filter((name) => name.endsWith(".ndjson"))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n"))
    .filter((line) => line.startsWith('{"ScenarioFinished"'))
    .map((line) => (JSON.parse(line) as { ScenarioFinished: ScenarioFinished }).ScenarioFinished)
    .filter(({ phase, status, recorder }) => {
      const requests = Object.keys(recorder.interactions ?? {}).length;
      return phase === "stateful" && status !== "skip" && requests > 1;
    });
  const links = scenarios.flatMap(({ recorder }) =>
    Object.values(recorder.cases ?? {}).flatMap(({ transition }) => (transition ? [transition.id] : [])),
  );
  return { count: scenarios.length, links: new Set(links).size };
};

const statusesOf = (log: readonly string[]): number[] =>
  log
    .filter((line) => line.includes('"event":"request"'))
    .map((line) => (JSON.parse(line) as { status: number }).status);
