// Other providers in a review: the real one answers what a preview asks, and no change reaches it.
import { join } from "node:path";
import { expect, it } from "vitest";
import { openWorkplace } from "../harness/engine-workplace.ts";
import { reportOf } from "../harness/irm-command.ts";
import { writeOtherProvider } from "../harness/other-provider.ts";

const first = `
import * as pulumi from "@pulumi/pulumi";
import { Group } from "pulumi-irm";
class Thing extends pulumi.CustomResource {
  declare readonly made: pulumi.Output<string>;
  constructor(name: string, text: string | undefined, opts: pulumi.CustomResourceOptions = {}) {
    super("other:index:Thing", name, { text, made: undefined }, { version: "1.2.3", ...opts });
  }
}
class Remote extends pulumi.ComponentResource {
  declare readonly label: pulumi.Output<string>;
  constructor(name: string) {
    super("other:index:Remote", name, { label: undefined }, { version: "1.2.3" }, true);
  }
}
const look = (name: string) => pulumi.runtime.invoke("other:index:look", { name }, { version: "1.2.3" });
const { value } = await look("looked");
const stays = new Thing("stays", "stays");
new Group("of-function", { parent: process.env.ORG!, name: value });
new Group("of-thing", { parent: process.env.ORG!, name: stays.made });
const read = new Thing("read", undefined, { id: "exists" });
new Group("of-read", { parent: process.env.ORG!, name: read.made });
new Group("of-component", { parent: process.env.ORG!, name: new Remote("remote").label });
new Group("goes", { parent: process.env.ORG!, name: "goes" });
`;

const edited = `${first.replace(/new Group\("goes".*/, "").replace('Thing("stays", "stays")', 'Thing("stays", "changed")')}
new Group("now", { parent: process.env.ORG!, name: (await look("now")).value });
const fresh = new Thing("fresh", "fresh");
new Group("of-fresh", { parent: process.env.ORG!, name: fresh.made });
const other = new Thing("new", undefined, { id: "new" });
new Group("of-new", { parent: process.env.ORG!, name: other.made });
`;

const named = (list: readonly { urn: string; op: string }[]) =>
  list.map(({ urn, op }) => `${op} ${urn.split("::").at(-1)}`).toSorted();

const place = openWorkplace();

it("a review answers functions by the real provider, keeps what was read, and sends it no change", async () => {
  const program = await place.program("dynamic", first, { ORG: place.server.organization });
  const provider = writeOtherProvider(join(program.folder, "home", "plugins", "resource-other-v1.2.3"));
  await program.must("up", "--yes", "--skip-preview");
  program.write(edited);
  provider.takeReviewed();
  await place.server.takeRequests();
  const earlier = provider.environments().length;
  const own = { OTHER_CLOUD: "a credential" };
  const { steps, others, unknown, errors } = await reportOf(program, [], { own });
  expect({ errors, failed: steps.filter(({ ok }) => !ok) }).toEqual({ errors: [], failed: [] });
  expect(named(steps)).toEqual(["create now", "delete goes"]);
  expect(named(others)).toEqual(["create fresh", "read new", "update stays"]);
  expect(unknown.map(({ message }) => message).toSorted()).toEqual([
    "group of-fresh: it waits for fresh, which another provider changes",
    "group of-new: it waits for new, which another provider reads",
    "group of-thing: it waits for stays, which another provider changes",
  ]);
  expect(await place.writes()).toEqual([]);
  expect(provider.takeReviewed()).toEqual(["check", "construct remote", "look looked", "look now"]);
  // It has its own credentials, and in the run on the copy none of ours.
  const { IRM_IDENTITY_TOKEN_FILE, PULUMI_HOME } = program.env;
  const reviewed = { OTHER_CLOUD: "a credential", PULUMI_HOME };
  const environments = provider.environments().slice(earlier);
  expect(new Set(environments.map((one) => JSON.stringify(one)))).toEqual(
    new Set([{ IRM_IDENTITY_TOKEN_FILE, ...reviewed }, reviewed].map((one) => JSON.stringify(one))),
  );
  expect(provider.running()).toEqual([]);
});
