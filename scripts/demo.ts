// The main job, on the root Pulumi.yaml: a real engine, a real server process, a token as CI gets one. Prints every step and
// its result, and fails when a step has another result than expected.
import { fetch } from "undici";
import { type SeenRequest, writesOf } from "../test/harness/api-process.ts";
import type { CommandResult } from "../test/harness/engine-stack.ts";
import { openPlace } from "./demo/place.ts";

const print = (text: string) => process.stdout.write(`${text}\n`);
const title = (text: string) => print(`\n=== ${text}`);
const quote = (text: string) => print(text.trimEnd().replace(/^/gm, "    "));

const expect = (happened: boolean, what: string) => {
  if (!happened) throw new Error(`this did not happen: ${what}`);
  print(`  ok: ${what}`);
};

const { server, stack, edit, irm, close } = await openPlace();

const requestLine = ({ method, path, query, fields, status }: SeenRequest): string => {
  const search = new URLSearchParams(query).toString();
  return `${method} ${path}${search && `?${search}`}${fields ? `   body: {${fields}}` : ""}   → ${status}`;
};

const writes = async () => writesOf(await server.takeRequests());

const account = async (step: string, ...args: string[]): Promise<CommandResult> => {
  title(step);
  const result = await stack.must(...args);
  quote(result.stdout);
  return result;
};

try {
  print(`The reference server listens at ${server.baseUrl} (process ${server.pid}).`);
  const preview = await account("pulumi preview", "preview");
  expect(/\+ \d+ to create/.test(preview.output), "the preview shows what will be created");
  expect(!(await writes()).length, "the preview sends no write");

  await account("pulumi up", "up", "--yes", "--skip-preview");
  const exchanges = (await server.takeRequests()).filter(({ operation }) => operation?.startsWith("Exchange"));
  expect(exchanges.length > 0, "the workload's token was exchanged for an API token");
  const managed = stack.state().resources.filter(({ id, type }) => id && type.startsWith("pulumi-nodejs:dynamic/irm:"));
  expect(managed.length > 0, `${managed.length} records are in the state`);

  await account("pulumi up, again", "up", "--yes", "--skip-preview", "--expect-no-changes");
  expect(!(await writes()).length, "a second up changes nothing and sends no write");

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
  expect(!(await writes()).length, "a review runs the update on a copy, and sends the service no write");
  await account("pulumi up of this edit", "up", "--yes", "--skip-preview");
  const sent = await writes();
  print("  as the server saw them:");
  quote(sent.map(requestLine).join("\n"));
  expect(
    sent
      .map(({ operation, query }) => `${operation} ${query?.updateMask ?? ""}`.trim())
      .sort()
      .join() === "CreateRoleBinding,UpdateGroup description,UpdateRoleBinding roleUid",
    "one POST request, and two PATCH requests, each with its one field in the mask",
  );

  title("a person changes a group by hand");
  const product = managed.find(({ urn }) => urn.endsWith("::product"));
  const url = `${server.baseUrl}/iam/v2beta1/groups/${product?.id}`;
  const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
  const change = { method: "PATCH", headers, body: JSON.stringify({ description: "changed by hand" }) };
  quote(
    `curl -X PATCH -H "authorization: Bearer $TOKEN" -H "content-type: application/json" ${url} -d '${change.body}'`,
  );
  await fetch(url, change);
  const refresh = await account("pulumi refresh", "refresh", "--yes", "--skip-preview", "--diff");
  expect(refresh.output.includes("changed by hand"), "refresh shows what was changed by hand");
  await server.takeRequests();
  await account("pulumi up, which repairs it", "up", "--yes", "--skip-preview");
  quote((await writes()).map(requestLine).join("\n"));
  const repaired = (await (await fetch(url, { headers })).json()) as { description: string };
  expect(repaired.description === product?.outputs?.description, "the description is what the program says again");

  await account("pulumi destroy", "destroy", "--yes", "--skip-preview");
  const deleted = (await writes())
    .filter(({ method, status }) => method === "DELETE" && status === 200)
    .map(({ path }) => path.replace(/^\/iam\/v2beta1\/\w+\//, ""));
  print("  the order in which they went:");
  quote(deleted.join("\n"));
  expect(
    deleted.every((uid, i) => deleted.slice(i + 1).every((later) => !later.startsWith(`${uid}/`))),
    "every group went after what is in it",
  );
  expect(
    managed.every(({ id }) => deleted.includes(id as string)),
    "all that the program made is gone",
  );

  print("\nAll of it happened.");
  title(
    "the review of the edit once more, as the comment on its pull request: npx pulumi-irm review --format markdown",
  );
  quote(comment);
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  await close();
}
