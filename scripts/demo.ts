// The main job, on the root Pulumi.yaml: a real engine, a real server process, a token as CI gets one. Prints every step and
// its result, and fails when a step does not do what it should.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetch } from "undici";
import { mintDevToken } from "../cli/token.ts";
import { root, type SeenRequest, startServerProcess } from "../test/harness/api-process.ts";
import { type CommandResult, createStack } from "../test/harness/engine-stack.ts";

const print = (text: string) => process.stdout.write(`${text}\n`);
const title = (text: string) => print(`\n=== ${text}`);
const quote = (text: string) => print(text.trimEnd().replace(/^/gm, "    "));

const expect = (happened: boolean, what: string): void => {
  if (!happened) throw new Error(`this did not happen: ${what}`);
  print(`  ok: ${what}`);
};

// The configuration of the stack is beside the root Pulumi.yaml while the demo runs.
const STACK = `demo-${process.pid}`;

const folder = mkdtempSync(join(tmpdir(), "irm-demo-"));
const server = await startServerProcess(["--db", join(folder, "irm.db")]);

const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
  const answer = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return answer.json();
};

interface Listed {
  uid: string;
  name?: string;
  description?: string;
}

const list = async (kind: "groups" | "identities" | "roles" | "roleBindings"): Promise<Listed[]> => {
  const answer = (await call("GET", `/iam/v2beta1/${kind}?pageSize=200`)) as Record<string, Listed[]>;
  return answer[kind] as Listed[];
};

const inventory = async (): Promise<string[]> => {
  const kinds = ["groups", "identities", "roles", "roleBindings"] as const;
  const records = await Promise.all(kinds.map(list));
  return records.flat().map(({ uid }) => uid);
};

const requestLine = ({ method, path, query, fields, status }: SeenRequest): string => {
  const search = new URLSearchParams(query).toString();
  return `${method} ${path}${search && `?${search}`}${fields ? `   body: {${fields}}` : ""}   → ${status}`;
};

const account = async (step: string, run: () => Promise<CommandResult>): Promise<CommandResult> => {
  title(step);
  const result = await run();
  quote(result.stdout);
  return result;
};

const main = async (): Promise<void> => {
  print(`The reference server listens at ${server.baseUrl} (process ${server.pid}).`);
  // As in CI: the platform writes the workload's token to a file, and the provider exchanges it for an API token.
  const tokenFile = join(folder, "identity-token");
  writeFileSync(tokenFile, await mintDevToken(server.issuer, { subject: "owner" }), { mode: 0o600 });
  const env = {
    IRM_BASE_URL: server.baseUrl,
    IRM_AUTH_URL: server.authUrl,
    IRM_IDENTITY: server.identity,
    IRM_IDENTITY_TOKEN_FILE: tokenFile,
  };
  const stack = await createStack({ folder, program: root, name: STACK, env });
  const before = await inventory();

  const preview = await account("pulumi preview", () => stack.must("preview"));
  expect(/\+ \d+ to create/.test(preview.output), "the preview shows what will be created");
  expect((await inventory()).length === before.length, "the preview changed nothing on the server");

  await account("pulumi up", () => stack.must("up", "--yes", "--skip-preview"));
  const exchanges = (await server.takeRequests()).filter(({ operation }) => operation?.startsWith("Exchange"));
  expect(exchanges.length > 0, "the workload's token was exchanged for an API token");
  const managed = stack.state().resources.filter(({ id, type }) => id && type.startsWith("pulumi-nodejs:dynamic/irm:"));
  const made = new Set(await inventory());
  expect(
    managed.length > 0 && managed.every(({ id }) => made.has(id as string)),
    `${managed.length} records are on the server`,
  );

  await account("pulumi up, again", () => stack.must("up", "--yes", "--skip-preview", "--expect-no-changes"));
  expect(!writes(await server.takeRequests()).length, "a second up changes nothing and sends no write");

  await stack.must("config", "set", "platformDescription", "Builds and runs what every team builds on");
  await stack.must("config", "set", "deployRole", "editor");
  const pullRequest = join(folder, "preview.json");
  writeFileSync(pullRequest, (await stack.must("preview", "--json", "--show-sames", "--refresh")).stdout);
  title("npx pulumi-irm review, after an edit of one description and one role");
  const review = irm(env, "review", "--preview", pullRequest);
  quote(review);
  expect(/deploy workflow/.test(review) && /repo\.create/.test(review), "the review shows who gains what");
  const comment = irm(env, "review", "--preview", pullRequest, "--format", "markdown");
  await server.takeRequests();
  await account("pulumi up of this edit", () => stack.must("up", "--yes", "--skip-preview"));
  const patches = writes(await server.takeRequests());
  print("  as the server saw them:");
  quote(patches.map(requestLine).join("\n"));
  const masks = patches.map(({ method, query }) => `${method} ${query?.updateMask}`).sort();
  expect(masks.join() === "PATCH description,PATCH roleUid", "two PATCH requests, each with its one field in the mask");

  const product = (await list("groups")).find(({ name }) => name === "product") as Listed;
  title("a person changes a group by hand");
  quote(
    `curl -X PATCH -H "authorization: Bearer $TOKEN" -H "content-type: application/json" ` +
      `${server.baseUrl}/iam/v2beta1/groups/${product.uid} -d '{"description":"changed by hand"}'`,
  );
  await call("PATCH", `/iam/v2beta1/groups/${product.uid}`, { description: "changed by hand" });
  const refresh = await account("pulumi refresh", () => stack.must("refresh", "--yes", "--skip-preview", "--diff"));
  expect(refresh.output.includes("changed by hand"), "refresh shows what was changed by hand");
  await server.takeRequests();
  await account("pulumi up, which repairs it", () => stack.must("up", "--yes", "--skip-preview"));
  quote(
    writes(await server.takeRequests())
      .map(requestLine)
      .join("\n"),
  );
  const repaired = (await call("GET", `/iam/v2beta1/groups/${product.uid}`)) as Listed;
  expect(repaired.description === product.description, "the description is what the program says again");

  await account("pulumi destroy", () => stack.must("destroy", "--yes", "--skip-preview"));
  const deleted = writes(await server.takeRequests())
    .filter(({ operation, status }) => operation === "DeleteGroup" && status === 200)
    .map(({ path }) => path.replace("/iam/v2beta1/groups/", ""));
  print("  the order in which groups went:");
  quote(
    deleted
      .map(
        (uid) =>
          `${managed
            .find(({ id }) => id === uid)
            ?.urn.split("::")
            .at(-1)}   ${uid}`,
      )
      .join("\n"),
  );
  expect(
    deleted.every((uid, i) => deleted.slice(i + 1).every((later) => !later.startsWith(`${uid}/`))),
    "every group went after the groups below it",
  );
  expect(
    (await inventory()).sort().join() === before.sort().join(),
    "the server is empty of all that the program made",
  );

  print("\nAll of it happened.");
  title(
    "the review of the edit once more, as the comment on its pull request: npx pulumi-irm review --format markdown",
  );
  quote(comment);
};

const irm = (env: Readonly<Record<string, string>>, ...args: string[]): string =>
  execFileSync(process.execPath, [join(root, "cli", "main.ts"), ...args], {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });

const writes = (requests: SeenRequest[]): SeenRequest[] =>
  requests.filter(({ method, operation }) => method !== "GET" && operation !== "Exchange");

try {
  await main();
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  await server.stop();
  rmSync(join(root, `Pulumi.${STACK}.yaml`), { force: true });
  rmSync(folder, { recursive: true, force: true });
}
