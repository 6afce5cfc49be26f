// Changes of random organizations: random requests are sent to a twin, in every spelling and over both wires, and what was recorded of them is
// carried out on a fresh one. Then the records are the same, up to the uids that each server has made, and so is the access.
import { isDeepStrictEqual } from "node:util";
import { canonical } from "../../access/canonical.ts";
import { type ChangeContent, changeText, lifeFrom, parseChange } from "../../access/change/change.ts";
import type { Call } from "../../access/change/methods.ts";
import { changeRows, rowsApart } from "../../access/change/rows.ts";
import { type Normal, writesFrom } from "../../access/change/write.ts";
import { accessOf, rowsBetween } from "../../cli/twin/access.ts";
import { replay } from "../../cli/twin/replay.ts";
import { recordsOf, startTwin } from "../../cli/twin/twin.ts";
import {
  canonicalForm,
  isObject,
  type Json,
  type OperationName,
  type Resource,
  resources,
} from "../../schema/index.ts";
import { queryText, startServer, type TestServer } from "../harness/api-server.ts";
import { copyOfServer, listEverything } from "../harness/copy.ts";
import { temporaryFolder } from "../support/command.ts";
import { createGrpcClient } from "../support/grpc.ts";
import { type Body, createHttpClient } from "../support/http.ts";
import { createRandom, type Random } from "../support/random.ts";
import { WAYS, type Way } from "../support/way.ts";
import { type PartOptions, type PartResult, proveEach } from "./part.ts";
import { growOrganization, startGrown } from "./random-organization.ts";

/** `rounds`: organizations. */
export const replays = async (options: PartOptions): Promise<PartResult> => {
  const folder = temporaryFolder();
  const figures = {
    "organizations with random writes, replayed": options.rounds,
    "writes of these": 0,
    "rows of these": 0,
  };
  const failures = await proveEach(options, async (own, fail) => {
    const random = createRandom(own);
    const { original, place } = await startGrown(random, own);
    const { organization, identity, baseUrl } = original;
    const copy = await copyOfServer(original);
    await original.close();

    const [first, second] = [folder.path(`${own}-a.db`), folder.path(`${own}-b.db`)];
    const calls: Call[] = [];
    const onWrite = (call: Call): void => void calls.push(call);
    const twin = await startTwin(copy, baseUrl, { store: first, withoutAntiEscalation: true, onWrite });
    const identities = [...copy.named.identities, ...(copy.records.identities ?? [])].map(({ uid }) => uid);
    const before = await accessOf(twin, identities);
    const api = await clientAs(twin.url, await twin.tokenOf(identity));
    await growOrganization(random, api, { ...place, nowMs: Date.now(), tick: () => undefined });
    await edit(random, api, organization);
    api.grpc().close();
    const created = calls
      .filter(({ method }) => method === "CreateIdentity")
      .map(({ response }) => String(response.uid));
    const after = await accessOf(twin, [...identities, ...created]);
    const recordOf = recordsOf(new Map([[baseUrl, twin]]), baseUrl);
    await twin.close();

    const normal = writesFrom(calls, { recordOf });
    for (const [what, spelled] of otherWays(random, calls))
      if (!isDeepStrictEqual(writesFrom(spelled, { recordOf }).writes, normal.writes)) fail(`${what}: other writes`);
    const moved = { gains: rowsBetween(after, before), losses: rowsBetween(before, after) };
    const rows = changeRows(moved, normal.encodeText);
    const content: ChangeContent = {
      ...{ version: 1, operation: "up", arguments: [], stack: "a/b", services: [baseUrl], as: identity },
      ...{ ...lifeFrom(0), writes: normal.writes, rows, between: [], before: [], after: [], restored: [] },
    };
    const change = parseChange(changeText(content), "change.json");

    const [copies, actors] = [new Map([[baseUrl, copy]]), new Map([[baseUrl, identity]])];
    const again = await replay({ change, copies, actors, options: { store: second } });
    for (const { n, ok, message } of again.outcomes)
      if (!ok) fail(`${JSON.stringify(change.writes[n - 1])}: ${message}`);
    for (const one of rowsApart(rows, again.rows)) fail(JSON.stringify(one));
    const [made, remade] = [await recordsIn(first, normal.uids), await recordsIn(second, again.uids)];
    const apart = [...made.filter((one) => !remade.includes(one)), ...remade.filter((one) => !made.includes(one))];
    if (apart.length > 0) fail(`records differ: ${apart.join("\n")}`);
    figures["writes of these"] += normal.writes.length;
    figures["rows of these"] += rows.length;
  });
  folder.remove();
  return { figures, failures };
};

/** What the harness needs of a server, for a twin. */
const clientAs = async (baseUrl: string, token: string): Promise<TestServer> => {
  const http = createHttpClient(baseUrl);
  const call: TestServer["call"] = (method, path, { body, query = {} } = {}) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const target = path + queryText(query);
    return http.send({ method, target, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  };
  const ok: TestServer["ok"] = async (...request) => (await call(...request)).json;
  const wire = createGrpcClient(baseUrl);
  return { baseUrl, call, ok, owner: { uid: "", token }, grpc: () => wire } as Partial<TestServer> as TestServer;
};

/** Changes and deletes records, old and new ones, over each wire. What the API refuses is no write. */
const edit = async (random: Random, api: TestServer, organization: string): Promise<void> => {
  const lists = await listEverything(api, api.owner.token);
  const ways = Object.values(WAYS) as Way[];
  const send = (operation: OperationName, request: Json) =>
    random.pick(ways)(api, { operation, request, token: api.owner.token, version: random.pick(["v2", "v2beta1"]) });
  const some = (plural: string, most: number): Body[] =>
    random.shuffle(lists[plural] ?? []).slice(0, random.below(most + 1));
  const uids = Object.values(lists).flatMap((list) => list.map(({ uid }) => uid as string));
  const text = (): string =>
    random.pick(["", "plain", `$${"{1.uid}"}`, `at ${random.pick(uids)}, and ${random.pick(uids).slice(-16)}`]);
  const KINDS = { groups: "Group", roles: "Role", identities: "Identity", repos: "Repo" } as const;
  for (const [plural, type] of Object.entries(KINDS))
    for (const { uid, name } of some(plural, 3)) {
      const field = type.toLowerCase();
      const fields = { uid, description: text(), ...(random.below(2) === 0 && { name: String(name) }) };
      const updateMask = random.pick(["description", "name,description", "*", undefined]);
      const request = { [field]: fields, ...(updateMask !== undefined && { updateMask }) };
      await send(`Update${type}` as OperationName, request);
    }
  for (const { uid } of some("identities", 2)) {
    const [subject, claims] = [text() || "s", { $uid: text(), [text() || "k"]: "1" }];
    const claimMatch = { issuer: "https://issuer.example", subject, claims };
    const updateMask = random.pick(["claimMatch", "claimMatch.subject", "claim_match.claims,claimMatch.issuer"]);
    await send("UpdateIdentity", { identity: { uid, claimMatch }, updateMask });
  }
  const roles = (lists.roles ?? []).map(({ uid }) => uid as string);
  for (const { uid: parent } of some("groups", 2)) {
    const requests = some("identities", 3).map(({ uid: identityUid }) => ({ roleBinding: { identityUid } }));
    if (requests.length > 0) await send("BatchCreateRoleBindings", { parent, requests, roleUid: random.pick(roles) });
  }
  for (const { uid } of some("roleBindings", 3)) {
    await send("UpdateRoleBinding", { roleBinding: { uid, roleUid: random.pick(roles) }, updateMask: "roleUid" });
    if (random.below(2) === 0) for (let times = 2; times > 0; times -= 1) await send("DeleteRoleBinding", { uid });
  }
  const mappings = Map.groupBy(some("externalGroupRoleMappings", 3), (one): string => one.identityProviderUid);
  for (const [parent, own] of mappings)
    await send("BatchDeleteExternalGroupRoleMappings", { parent, names: own.map(({ uid }) => uid) });
  const { json } = await send("CreateGroup", { group: { name: "founded", description: organization } });
  await send("CreateGroup", { parent: json.uid, group: { name: "below" } });
  for (const plural of ["repos", "roles", "identities", "groupInvites", "tags"])
    for (const { uid } of some(plural, 1)) {
      const name = plural === "identities" ? "Identity" : `${plural.charAt(0).toUpperCase()}${plural.slice(1, -1)}`;
      await send(`Delete${name}` as OperationName, { uid });
    }
};

/** The same requests, as another client would have sent them. */
const otherWays = (random: Random, calls: readonly Call[]): [what: string, calls: Call[]][] => [
  ["members in another order", calls.map(({ request, ...call }) => ({ ...call, request: reversed(request) as Json }))],
  ["sent again", calls.flatMap((call) => (/^(Update|Delete)/.test(call.method) ? [call, call] : [call]))],
  ["in batches", calls.map((call) => (isBinding(call) && random.below(2) === 0 ? batchOf(call) : call))],
];

const isBinding = ({ method }: Call): boolean => method === "CreateRoleBinding";

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).toReversed();
  return Object.fromEntries(entries.map(([name, item]) => [name, reversed(item)]));
};

const batchOf = ({ request, response, ...call }: Call): Call => ({
  ...call,
  method: "BatchCreateRoleBindings",
  request: { parent: request.parent, requests: [{ roleBinding: request.roleBinding }] },
  response: { roleBindings: [response] },
});

/** What each server sets by itself. */
const OWN = ["createTime", "updateTime", "lastSeenTime", "expirationTime", "keyId"];

/** Each record as a text, with the number of the write in place of a new uid. */
const recordsIn = async (store: string, uids: Normal["uids"]): Promise<string[]> => {
  const server = await startServer({ store });
  const lists = await listEverything(server);
  await server.close();
  // The longest first: a uid begins with those above it.
  const numbered = [...uids].toSorted(([, a], [, b]) => b.length - a.length);
  return Object.entries(lists).flatMap(([plural, list]) =>
    list.map((record) => {
      // The order of a set means nothing, nor does that of members.
      const { schema } = Object.values(resources).find((one) => one.plural === plural) as Resource;
      const shown = JSON.stringify(canonicalForm(schema, record), (name, value) =>
        OWN.includes(name) ? undefined : name === "capabilities" ? value.toSorted() : value,
      );
      const text = canonical(JSON.parse(shown));
      const neutral = numbered.reduce((own, [n, uid]) => own.replaceAll(uid, `<${n}>`), text);
      const segments = numbered.reduce((own, [n, uid]) => own.replaceAll(uid.slice(-16), `<.${n}>`), neutral);
      return `${plural} ${segments}`;
    }),
  );
};
