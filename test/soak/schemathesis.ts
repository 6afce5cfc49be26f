// Generated requests against the server's own OpenAPI document. Schemathesis, an independent project, puts them together,
// follows the links of the document from one to the next, and holds every answer against the document.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { capture } from "../../scripts/base/child.mjs";
import { IAM, REGISTRY, shuffledIds, startServer, type TestServer } from "../harness/api-server.ts";
import { type Document, narrow, widen } from "./narrowed.ts";
import type { PartOptions, PartResult } from "./part.ts";
import { configurationFor } from "./schemathesis-configuration.ts";
import { type Report, readReport } from "./schemathesis-report.ts";

export interface SchemathesisOptions extends PartOptions {
  command: string;
  /** of the requests that stand alone: `coverage` goes through every boundary of every parameter, thousands of them */
  phases: readonly ("examples" | "coverage" | "fuzzing")[];
  /** requests that have to have been made */
  requestsMin: number;
  /** stateful scenarios that have to have been carried out */
  scenariosMin: number;
}

// A run ends by itself after some forty scenarios, however many it may make; the next one has the next seed.
const SCENARIOS_A_RUN = 40;
const runsOfScenariosMax = (scenariosMin: number) => Math.ceil(scenariosMin / 10);

/** `rounds`: examples of each operation. */
export const schemathesis = async (options: SchemathesisOptions): Promise<PartResult> => {
  const { command, seed, rounds, phases, log, requestsMin, scenariosMin } = options;
  const folder = mkdtempSync(join(tmpdir(), "irm-schemathesis-"));
  const api = await startServer({ ids: shuffledIds(seed) });
  try {
    const { token, ...words } = await prepare(api);
    api.log.length = 0;
    const document = (await api.call("GET", "/openapi.json", { token: null })).json as Document;
    const configuration = join(folder, "schemathesis.toml");
    writeFileSync(configuration, configurationFor(document));
    const failures: string[] = [];

    const run = async (name: string, own: Document, ownSeed: number, ...limits: string[]): Promise<Report> => {
      const reports = join(folder, name);
      const file = join(folder, `${name}.json`);
      writeFileSync(file, JSON.stringify(own));
      const args = [
        ...["--config-file", configuration, "run", file, "--url", api.baseUrl, "--seed", String(ownSeed), ...limits],
        ...["--header", `Authorization: Bearer ${token}`, "--generation-database", "none", "--no-color"],
        ...["--report", "ndjson", "--report-dir", reports],
      ];
      const { code, output } = await capture(command, args, { cwd: folder });
      if (code !== 0) failures.push(`requests ${name}, seed ${ownSeed}: exit code ${code}\n${tail(output)}`);
      const report = await readReport(reports);
      log?.(
        `${name}: ${report.requests} requests, ${report.scenarios} stateful scenarios, ${failures.length} failures`,
      );
      return report;
    };

    const alone = await run("alone", widen(document), seed, "--phases", phases.join(), "--max-examples", `${rounds}`);
    let together: Report = { requests: 0, scenarios: 0, links: [], failed: [] };
    const limits = ["--phases", "stateful", "--mode", "positive", "--max-examples"];
    for (let i = 0; i < runsOfScenariosMax(scenariosMin) && together.scenarios < scenariosMin; i += 1) {
      const count = Math.min(SCENARIOS_A_RUN, scenariosMin - together.scenarios);
      together = await run("scenarios", narrow(document, words), seed + i, ...limits, `${count}`);
    }

    const requests = alone.requests + together.requests;
    const statuses = statusesOf(api.log);
    const errors = statuses.filter((status) => status >= 500 && status !== 501).length;
    const faults = api.log.filter((line) => line.includes('"event":"internal error"')).slice(0, 5);
    const readsOfDeleted = together.links.filter((id) => /^DELETE .* -> GET /.test(id)).length;
    if (errors > 0) failures.push(`${errors} answers 5xx`, ...faults);
    if (requests < requestsMin) failures.push(`only ${requests} requests, of ${requestsMin}`);
    if (together.scenarios < scenariosMin) failures.push(`only ${together.scenarios} scenarios, of ${scenariosMin}`);
    if (readsOfDeleted === 0) failures.push("nothing was read that had been deleted");
    const failed = [...alone.failed, ...together.failed];
    const count = (name: RegExp) => failed.filter((check) => name.test(check)).length;
    return {
      figures: {
        "requests generated": requests,
        "of these answered 2xx": statuses.filter((status) => status < 300).length,
        "stateful scenarios": together.scenarios,
        "different links followed in them": new Set(together.links).size,
        "reads of what was deleted": readsOfDeleted,
        "answers 5xx other than 501": errors,
        "schema violations": count(/_conformance$/),
        "uses after free": count(/^use_after_free$/),
        "other checks failed": count(/^(?!use_after_free$)(?!.*_conformance$)/),
      },
      failures,
    };
  } finally {
    await api.close();
    rmSync(folder, { recursive: true, force: true });
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
  // A mapping is granted at the organization. With this role there the caller can give away this role, and nothing else.
  const mapped = await create(`${IAM}/roles/${api.organization}`, {
    name: "mapped",
    capabilities: ["CAP_IAM_ROLE_BINDINGS_CREATE"],
  });
  await create(`${IAM}/roleBindings/${api.organization}`, { identityUid: uid, roleUid: mapped });
  const viewer = await api.role("viewer");
  const oidc = { issuer: "https://idp.example", clientId: "c", pkceEnabled: true };
  const provider = await create(`${IAM}/identityProviders/${sandbox}`, { name: "sso", defaultRole: viewer, oidc });
  const repos: string[] = [];
  for (let i = 0; i < SPARE_REPOS; i += 1)
    repos.push(await create(`${REGISTRY}/repos/${sandbox}`, { name: `repo-${i}` }));
  for (let i = 0; i < SPARE_BINDINGS; i += 1)
    await create(`${IAM}/roleBindings/${sandbox}`, { identityUid: uid, roleUid: owner });
  const mapping = { provider, role: mapped, scope: api.organization };
  return { token, groups: [sandbox, below], identity, role: viewer, repos, mapping };
};

const statusesOf = (log: readonly string[]): number[] =>
  log
    .filter((line) => line.includes('"event":"request"'))
    .map((line) => (JSON.parse(line) as { status: number }).status);
