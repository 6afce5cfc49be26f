// Generated requests against the server's own OpenAPI document. Schemathesis, an independent project, puts them together,
// follows the links of the document from one to the next, and holds every answer against the document.
import { createReadStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { capture } from "../../scripts/base/child.mjs";
import { shuffledIds, startServer, type TestServer } from "../harness/api-server.ts";
import { createUid } from "../harness/records.ts";
import { temporaryFolder } from "../support/command.ts";
import { installPythonPackages } from "../support/python-environment.ts";
import type { PartOptions, PartResult } from "./part.ts";

const VERSION = "4.32.5";

/** From the Python package index: its folder, or the reason why it is missing. */
export const installSchemathesis = () =>
  installPythonPackages({
    name: `schemathesis-${VERSION}`,
    title: `Schemathesis ${VERSION}`,
    packages: [`schemathesis==${VERSION}`],
  });

interface Options extends PartOptions {
  /** of the requests that stand alone: `coverage` goes through every boundary of every parameter, thousands of them */
  phases: readonly ("examples" | "coverage" | "fuzzing")[];
  /** requests that have to have been made */
  requestsMin: number;
  /** stateful scenarios that have to have been carried out */
  scenariosMin: number;
}

// A run ends by itself after some forty scenarios, however many it may make; the next one has the next seed.
const SCENARIOS_A_RUN = 40;

/** `rounds`: examples of each operation. */
export const schemathesis = async (options: Options): Promise<PartResult> => {
  const { seed, rounds, phases, log, requestsMin, scenariosMin } = options;
  const { folder: python, reason } = await installSchemathesis();
  if (python === undefined) return { figures: {}, failures: [reason] };
  const folder = temporaryFolder();
  const api = await startServer({ ids: shuffledIds(seed) });
  try {
    const { token, ...words } = await prepare(api);
    api.log.length = 0;
    const document = (await api.call("GET", "/openapi.json", { token: null })).json as Document;
    const configuration = folder.write("schemathesis.toml", configurationFor(document));
    const failures: string[] = [];

    const run = async (name: string, own: Document, ownSeed: number, ...limits: string[]) => {
      const file = folder.write(`${name}.json`, JSON.stringify(own));
      const args = [
        ...["--config-file", configuration, "run", file, "--url", api.baseUrl, "--seed", String(ownSeed), ...limits],
        ...["--header", `Authorization: Bearer ${token}`, "--generation-database", "none", "--no-color"],
        ...["--report", "ndjson", "--report-dir", folder.path(name)],
      ];
      const { code, output } = await capture(join(python, "bin", "schemathesis"), args, { cwd: folder.path(".") });
      if (code !== 0) failures.push(`requests ${name}, seed ${ownSeed}: exit code ${code}\n${tail(output)}`);
      const report = await readReport(folder.path(name));
      log?.(`${name}: ${report.requests} requests, ${report.scenarios} scenarios, ${failures.length} failures`);
      return report;
    };

    const alone = await run("alone", widen(document), seed, "--phases", phases.join(), "--max-examples", `${rounds}`);
    let together = newReport();
    const limits = ["--phases", "stateful", "--mode", "positive", "--max-examples"];
    for (let i = 0; i < scenariosMin / 10 && together.scenarios < scenariosMin; i += 1) {
      const count = Math.min(SCENARIOS_A_RUN, scenariosMin - together.scenarios);
      together = await run("scenarios", narrow(document, words), seed + i, ...limits, `${count}`);
    }

    const requests = alone.requests + together.requests;
    const answered = api.log.filter((line) => line.includes('"event":"request"'));
    const statuses = answered.map((line): number => JSON.parse(line).status);
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
      },
      failures,
    };
  } finally {
    await api.close();
    folder.remove();
  }
};

// Failures stand before the summary; a body among them may be a megabyte.
const tail = (output: string): string => (output.match(/^.{0,500}/gm) ?? []).slice(-200).join("\n");

// More than the requests delete.
const SPARE_BINDINGS = 300;
const SPARE_REPOS = 30;

/**
 * A caller that owns one group and nothing above it: no request can take its identity away, nor all of its bindings, or the
 * rest of the run would be refused.
 */
const prepare = async (api: TestServer) => {
  const claimMatch = { issuer: "https://issuer.example", subject: "s" };
  const sandbox = await createUid(api, "groups", api.organization, { name: "sandbox" });
  const below = await createUid(api, "groups", sandbox, { name: "below" });
  const identity = await createUid(api, "identities", api.organization, { name: "bound", claimMatch });
  const { uid, token } = await api.actor("fuzzer");
  const owner = await api.role("owner");
  // A mapping is granted at the organization. With this role there the caller can give away this role, and nothing else.
  const mapped = await createUid(api, "roles", api.organization, {
    name: "mapped",
    capabilities: ["CAP_IAM_ROLE_BINDINGS_CREATE"],
  });
  await createUid(api, "roleBindings", api.organization, { identityUid: uid, roleUid: mapped });
  const viewer = await api.role("viewer");
  const oidc = { issuer: "https://idp.example", clientId: "c", pkceEnabled: true };
  const provider = await createUid(api, "identityProviders", sandbox, { name: "sso", defaultRole: viewer, oidc });
  const repos: string[] = [];
  for (let i = 0; i < SPARE_REPOS; i += 1) repos.push(await createUid(api, "repos", sandbox, { name: `repo-${i}` }));
  for (let i = 0; i < SPARE_BINDINGS; i += 1)
    await createUid(api, "roleBindings", sandbox, { identityUid: uid, roleUid: owner });
  const mapping = { provider, role: mapped, scope: api.organization };
  // What requests may name: groups to create in, what is bound, repos for tags, and a provider whose groups are mapped.
  return { token, groups: [sandbox, below], identity, role: viewer, repos, mapping };
};

interface Scenario {
  phase: string;
  recorder: {
    interactions?: Record<string, unknown>;
    cases?: Record<string, { transition?: { id: string } | null; is_transition_applied?: boolean }>;
    checks?: Record<string, { name: string; status: string }[]>;
  };
}

const newReport = () => ({
  requests: 0,
  /** stateful ones in which a link was followed */
  scenarios: 0,
  /** those that were followed, each as often as it was */
  links: [] as string[],
  /** names of the checks that failed, each as often as it did */
  failed: [] as string[],
});

/** The events that it writes, a line of JSON each. `folder`: where any number of runs have written to. */
const readReport = async (folder: string) => {
  const report = newReport();
  for await (const { phase, recorder } of scenariosIn(folder)) {
    report.requests += Object.keys(recorder.interactions ?? {}).length;
    const checks = Object.values(recorder.checks ?? {}).flat();
    report.failed.push(...checks.filter(({ status }) => status === "failure").map(({ name }) => name));
    if (phase !== "stateful") continue;
    const cases = Object.values(recorder.cases ?? {}).filter((one) => one.is_transition_applied);
    const followed = cases.flatMap(({ transition }) => transition?.id ?? []);
    report.links.push(...followed);
    if (followed.length > 0) report.scenarios += 1;
  }
  return report;
};

// Line by line: a long run writes hundreds of megabytes.
async function* scenariosIn(folder: string): AsyncGenerator<Scenario> {
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".ndjson"))) {
    for await (const line of createInterface({ input: createReadStream(join(folder, name)) }))
      if (line.startsWith('{"ScenarioFinished"')) yield JSON.parse(line).ScenarioFinished;
  }
}

// All checks of responses but `positive_data_acceptance`, whether each request that fits the document is accepted: more than a document of this
// kind can say (a group that is not empty is not deleted; a caller grants nothing that it does not hold). 413 refuses as well as 400
// does; the rest of the lists is the tool's own. Its health checks judge the generator and how fast the machine is, not the server.
const configurationFor = (document: Document): string => `
suppress-health-check = ["all"]
warnings = false
[checks.positive_data_acceptance]
enabled = false
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 501]
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]
[phases.stateful]
max-steps = 12

${withHiddenMethod(document).map(operationOf).join("\n")}`;

const operationOf = (path: string): string => `[[operations]]
include-path = "${path}"
[operations.checks.unsupported_method]
enabled = false
[operations.checks.allow_header_conformance]
enabled = false
`;

// Paths with a method that the document cannot show: the POST of a create whose parent is empty (no path parameter of OpenAPI
// may be), and those of v1, which are answered 501. test/contract/transport.test.ts holds the answers of both.
const withHiddenMethod = ({ paths }: Document): string[] =>
  Object.keys(paths).filter((path) => /^\/(iam|registry)\/v1\//.test(path) || paths[`${path}/{uid}`]?.post);

type Words = Omit<Awaited<ReturnType<typeof prepare>>, "token">;

type Json = Record<string, unknown>;
interface Operation {
  parameters?: { name: string; in: string; schema: Json }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Json }> };
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { enum?: string[] }> };
}

const object = (properties: Json, required = Object.keys(properties)): Json => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const oneOf = (...values: unknown[]): Json => ({ type: "string", enum: values });
const text = (pattern: string): Json => ({ type: "string", pattern: `^${pattern}$` });

const name = text("[a-z0-9][a-z0-9 ._-]{0,30}");
const description = text("[a-zA-Z0-9 .,]{0,60}");
const issuer = oneOf("https://issuer.example", "https://other.example");

const SUBJECT = text("[a-z0-9:/]{1,40}");
const DIGEST = text("sha256:[0-9a-f]{64}");
const CAPABILITIES = oneOf("CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST", "CAP_IAM_IDENTITY_LIST", "CAP_REPO_LIST");

/** Body of each create, by the collection of its path. */
const creates = ({ groups, identity, role, mapping }: Words): Record<string, Json> => ({
  "/iam/v2beta1/groups/{uid}": object({ name, description }, ["name"]),
  "/iam/v2beta1/identities/{uid}": object({ name, description, claimMatch: object({ issuer, subject: SUBJECT }) }, [
    "name",
    "claimMatch",
  ]),
  "/iam/v2beta1/roles/{uid}": object(
    { name, description, capabilities: { type: "array", items: CAPABILITIES, minItems: 1, maxItems: 3 } },
    ["name", "capabilities"],
  ),
  "/iam/v2beta1/roleBindings/{uid}": object({ identityUid: oneOf(identity), roleUid: oneOf(role) }),
  "/iam/v2beta1/roleBindings:batchCreate": object({
    parent: oneOf(...groups),
    roleUid: oneOf(role),
    requests: {
      type: "array",
      minItems: 1,
      maxItems: 3,
      items: object({ roleBinding: object({ identityUid: oneOf(identity) }) }),
    },
  }),
  "/iam/v2beta1/identityProviders/{uid}": object({
    name,
    defaultRole: oneOf(role),
    oidc: object({ issuer, clientId: SUBJECT, clientSecret: SUBJECT }),
  }),
  "/iam/v2beta1/externalGroupRoleMappings/{uid}": object({
    externalGroupId: text("[A-Za-z0-9=, -]{1,40}"),
    roleUid: oneOf(mapping.role),
    scope: oneOf(mapping.scope),
  }),
  "/iam/v2beta1/externalGroupRoleMappings:batchDelete": object({
    parent: oneOf(mapping.provider),
    names: { type: "array", minItems: 1, maxItems: 3, items: text(`${mapping.provider}/[0-9a-f]{16}`) },
  }),
  "/iam/v2beta1/accountAssociations/{uid}": object({
    name,
    google: object({ projectId: text("[a-z]{6,12}"), projectNumber: text("[1-9][0-9]{5,10}") }),
  }),
  "/iam/v2beta1/groupInvites/{uid}": object({ roleUid: oneOf(role), ttl: oneOf("3600s") }),
  "/registry/v2beta1/repos/{uid}": object({ name, description }, ["name"]),
  "/registry/v2beta1/tags/{uid}": object({ name: text("[a-z0-9]{1,12}"), digest: DIGEST }),
});

/** Of a list, what leaves rows; of an update, what the mask of its body says. */
const PARAMETERS: Record<string, Json> = {
  pageSize: { type: "integer", minimum: 1, maximum: 200 },
  orderBy: oneOf("uid", "uid desc", "create_time"),
  skip: { type: "integer", minimum: 0, maximum: 0 },
};

/** A query takes the numbers of an enum beside its names (docs/internals/contract.md#json); an answer never has them. */
const widen = (document: Document): Document => {
  const { paths } = structuredClone(document);
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
    for (const parameter of operation.parameters ?? []) parameter.schema = withNumbers(parameter.schema, document);
  return { ...document, paths };
};

const withNumbers = (schema: Json, document: Document): Json => {
  if (schema.items) return { ...schema, items: withNumbers(schema.items as Json, document) };
  const name = (schema.$ref as string | undefined)?.slice("#/components/schemas/".length);
  const names = name && document.components.schemas[name]?.enum;
  // No enum of a query has a gap in its numbers.
  return names ? { anyOf: [schema, { type: "integer", minimum: 0, maximum: names.length - 1 }] } : schema;
};

const narrow = (document: Document, words: Words): Document => {
  const { paths } = structuredClone(document);
  const bodies = creates(words);
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const body = method === "post" ? bodies[path] : method === "patch" ? changeOf(path) : undefined;
      if (body) operation.requestBody = { required: true, content: { "application/json": { schema: body } } };
      operation.parameters = operation.parameters?.flatMap((parameter) => {
        if (parameter.in === "path") return [{ ...parameter, schema: pathOf(path, method, parameter.schema, words) }];
        const schema = path.includes(":") ? parameter.schema : PARAMETERS[parameter.name];
        return schema ? [{ ...parameter, schema }] : [];
      });
    }
  }
  return { ...document, paths };
};

const changeOf = (path: string): Json | undefined => {
  if (path.endsWith("/readme")) return object({ content: description });
  // Of what can be changed in a binding, nothing may be taken: the caller would lose its own grant.
  return path.includes("/roleBindings/") ? object({}) : object({ description });
};

// Where a link gives the uid, it wins.
const pathOf = (path: string, method: string, schema: Json, { groups, repos, mapping }: Words): Json => {
  if (method !== "post" || path.includes(":")) return schema;
  if (path.startsWith("/iam/v2beta1/externalGroupRoleMappings")) return oneOf(mapping.provider);
  return oneOf(...(path.startsWith("/registry/v2beta1/tags") ? repos : groups));
};
