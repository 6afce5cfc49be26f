// Two resources of one program that declare the same: the second one is reported when the engine checks it, in either form.
import { afterAll, beforeEach, expect, test } from "vitest";
import { systemTransport } from "../../../client/transport.ts";
import { type Methods, methodsWith } from "../../../provider/engine/methods.ts";
import type { StateKind } from "../../../provider/kind/index.ts";
import { PREVIEW } from "../../../provider/record/state.ts";
import type { Json } from "../../../schema/index.ts";
import { uidIn } from "../../access/graphs.ts";
import { startServer } from "../../harness/api-server.ts";
import { manualClock } from "../../harness/clock.ts";
import { type PluginClient, startPlugin, urnOf } from "../../harness/plugin.ts";
import { getter, keyOf, UNKNOWN, usedJournal } from "../../support/scripted.ts";

const api = await startServer();
afterAll(() => api.close());
const ISSUER = "https://issuer.example.com/secret";
const matchOf = (subject: string): Json => ({ issuer: ISSUER, subject });

/** A process that previews resources. */
interface Preview {
  messages: string[];
  check(kind: StateKind, name: string, args: Json, olds?: Json): Promise<void>;
}

const dynamicPreview = (): Preview => {
  const messages: string[] = [];
  const env = { IRM_JOURNAL: usedJournal(api.baseUrl) };
  const log = (text: string): void => void messages.push(text);
  const methods: Record<StateKind, Methods> = methodsWith({
    ...{ env, clock: manualClock(Date.now()), transport: systemTransport(), log },
  });
  for (const one of Object.values(methods)) one.configure({ config: { get: getter({ "irm:baseUrl": api.baseUrl }) } });
  return {
    messages,
    check: async (kind, name, args, olds = {}) => {
      const { failures } = await methods[kind].check(olds, { ...keyOf(name), ...args, [PREVIEW]: true });
      expect(failures).toEqual([]);
    },
  };
};

let plugin: PluginClient | undefined;
afterAll(() => plugin?.close());

const nativePreview = async (): Promise<Preview> => {
  plugin?.close();
  plugin = await startPlugin({ IRM_BASE_URL: api.baseUrl, IRM_JOURNAL: usedJournal(api.baseUrl) });
  await plugin.configure();
  const own = plugin;
  return {
    messages: own.messages,
    check: async (kind, name, args, olds = {}) => {
      const urn = urnOf(`${kind.charAt(0).toUpperCase()}${kind.slice(1)}`, name);
      const { failures } = await own.check(urn, args, olds);
      expect(failures).toEqual([]);
    },
  };
};

const reported = ({ messages }: Preview): string[] => messages.filter((text) => /duplicates|has the same/.test(text));

beforeEach(() => {
  plugin = undefined;
});

test.each([
  ["dynamic", dynamicPreview],
  ["native", nativePreview],
])("two %s resources that declare the same are reported, without their values", async (_, start) => {
  const preview = await start();
  const [group, other] = [uidIn(api.organization, 1), uidIn(api.organization, 2)];
  const identify = (name: string, subject: string) =>
    preview.check("identity", name, { parent: group, name, claimMatch: matchOf(subject) });
  const identity = uidIn(group, 3);
  await identify("one", "s");
  await identify("two", "t");
  await identify("three", "s");
  const bind = (name: string, parent: string, role: string) =>
    preview.check("roleBinding", name, { parent, identity, role });
  await bind("a", group, "viewer");
  await bind("b", group, "editor");
  await bind("c", other, "viewer");
  await bind("d", group, "viewer");
  expect(reported(preview)).toEqual([
    expect.stringMatching(/^warning: Identity three has the same issuer and subject as Identity one: a token exchange/),
    expect.stringMatching(/^warning: RoleBinding d duplicates RoleBinding a: the same role to the same identity/),
  ]);
  expect(reported(preview).join()).not.toContain(ISSUER);
});

test("what is not known, and a resource that is checked again for its replacement, are not compared", async () => {
  const preview = dynamicPreview();
  const args = { parent: api.organization, identity: UNKNOWN, role: "viewer" };
  await preview.check("roleBinding", "a", args);
  await preview.check("roleBinding", "b", args);
  const identity = { parent: api.organization, name: "one", claimMatch: matchOf("s") };
  await preview.check("identity", "one", identity, { ...identity, __key: "organization/project/stack/Identity::one" });
  await preview.check("identity", "one", identity);
  expect(reported(preview)).toEqual([]);
});
