// The main job, on the root Pulumi.yaml: a real engine, a real server process, a token as CI gets one. Prints every step and
// its result, and fails when a step does not do what it should.
import { fetch } from "undici";
import { type SeenRequest, writesOf } from "../test/harness/api-process.ts";
import type { CommandResult } from "../test/harness/engine-stack.ts";
import { openPlace } from "./demo/place.ts";

const print = (text: string) => process.stdout.write(`${text}\n`);
const title = (text: string) => print(`\n=== ${text}`);
const quote = (text: string) => print(text.trimEnd().replace(/^/gm, "    "));

const expect = (happened: boolean, what: string): void => {
  if (!happened) throw new Error(`this did not happen: ${what}`);
  print(`  ok: ${what}`);
};

const { server, stack, edit, irm, close } = await openPlace();

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
  expect(!writesOf(await server.takeRequests()).length, "a second up changes nothing and sends no write");

  await edit();
  title("npx pulumi-irm review, after an edit: one description, one role, one more binding");
  const review = await irm("review");
  quote(review);
  const words = review.replaceAll(/\s+/g, " ");
  expect(
    /pull requests in \S+ \(the organization\) \S+ \+ gains at platform\/registry and below, through publisher manifest\.create,/.test(
      words,
    ),
    "the review shows who gains what",
  );
  expect(
    /release workflow in platform \S+ - loses at platform\/clusters and below, through editor /.test(words),
    "the review shows who loses what",
  );
  expect(words.includes("! pull-request-writes pull requests"), "a rule has a finding");
  const comment = await irm("review", "--format", "markdown");
  expect(
    !writesOf(await server.takeRequests()).length,
    "a review runs the update on a copy, and sends the service no write",
  );
  await account("pulumi up of this edit", () => stack.must("up", "--yes", "--skip-preview"));
  const sent = writesOf(await server.takeRequests());
  print("  as the server saw them:");
  quote(sent.map(requestLine).join("\n"));
  expect(
    sent
      .map(({ operation, query }) => `${operation} ${query?.updateMask ?? ""}`.trim())
      .sort()
      .join() === "CreateRoleBinding,UpdateGroup description,UpdateRoleBinding roleUid",
    "one POST request, and two PATCH requests, each with its one field in the mask",
  );

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
    writesOf(await server.takeRequests())
      .map(requestLine)
      .join("\n"),
  );
  const repaired = (await call("GET", `/iam/v2beta1/groups/${product.uid}`)) as Listed;
  expect(repaired.description === product.description, "the description is what the program says again");

  await account("pulumi destroy", () => stack.must("destroy", "--yes", "--skip-preview"));
  const deleted = writesOf(await server.takeRequests())
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

try {
  await main();
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  await close();
}
