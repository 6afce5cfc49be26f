// The common behaviour of every kind, over the table of cases, against the reference server.
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Transport } from "../../../client/transport.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import { Incomplete } from "../../../provider/reconcile/incomplete.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Session } from "../../../provider/run/session.ts";
import type { Json, OperationName } from "../../../schema/index.ts";
import { noAnswer, startSharedService } from "../../harness/provider.ts";
import { journalFolder, keyOf } from "../../support/scripted.ts";
import { cases, type KindCase, type Place } from "./case.ts";

let place: Place;
let journal: string;
let messages: string[];
let count = 0;
const service = await startSharedService();

const { call } = service;
// A new parent for each test: a group can have only one record of some kinds.
beforeEach(async () => {
  count += 1;
  const parent = service.organization as string;
  const { uid: group } = await call("CreateGroup", { parent, group: { name: `g${count}` } });
  const { uid: repo } = await call("CreateRepo", { parent: group, repo: { name: "images" } });
  const oidc = { issuer: "https://login.example.com", clientId: "sso", pkceEnabled: true };
  const sso = { name: "sso", defaultRole: await service.role("viewer"), oidc };
  const { uid: provider } = await call("CreateIdentityProvider", { parent, identityProvider: sso });
  place = { organization: parent, provider, group, repo, identity: service.identity as string };
  journal = mkdtempSync(join(journalFolder, "kinds-"));
  messages = [];
  service.requests.length = 0;
});

/** A process of this machine. The first `lost` of its POSTs lose their responses, after the service has carried them out. */
const processWith = (lost = 0): Session => {
  let left = lost;
  const transport: Transport = async (request) => {
    const answer = await service.transport(request);
    const isCreate = request.method === "POST" && !request.url.pathname.startsWith("/sts");
    if (isCreate && left-- > 0) throw noAnswer(true);
    return answer;
  };
  const { clock } = service;
  return service.start({ env: { IRM_JOURNAL: journal }, clock, transport, log: (text) => void messages.push(text) });
};

const writes = () =>
  service.requests
    .filter(({ method, url }) => method !== "GET" && !url.pathname.startsWith("/sts"))
    .map(({ method, url, json: body }) => ({ method, mask: url.searchParams.get("updateMask"), body: body as Json }));

describe.each(cases)("$kind", (own: KindCase) => {
  const kind = kindRecords[own.kind];
  const checkInputs = (further: Json = {}, olds: Json = {}): Json => {
    const { inputs, failures } = reconcile.check(kind, olds, { ...own.inputs(place), ...further, ...keyOf(own.kind) });
    expect(failures).toEqual([]);
    return inputs;
  };
  const create = async (further: Json = {}, session = processWith()) => {
    const inputs = checkInputs(further);
    const { id, outs } = await reconcile.create(kind, session, inputs);
    return { id, inputs, outs: outs as Json };
  };
  const records = async (): Promise<Json[]> => {
    const { operation, plural, always } = kind.list;
    const uidp = kind.list.sharesUid ? { ids: [place.group] } : { childrenOf: own.inputs(place).parent };
    return ((await call(operation, { ...always, uidp }))[plural] ?? []) as Json[];
  };

  it("is created once, and neither a second diff, a refresh nor another spelling is a change", async () => {
    const { id, inputs, outs } = await create();
    expect(writes()).toHaveLength(1);
    expect(Object.keys(outs)[0]).toBe("uid");
    expect(outs).toMatchObject({ uid: id, parent: own.inputs(place).parent });
    expect(await reconcile.update(kind, processWith(), id, outs, inputs)).toEqual({ outs });
    expect(writes()).toHaveLength(1);
    expect(reconcile.diff(kind, id, outs, inputs)).toEqual({ changes: false, replaces: [] });
    const read = await reconcile.read(kind, processWith(), id, outs);
    expect(read.props).toEqual(outs);
    const { __key, ...asWritten } = inputs;
    // The constructor of a role binding adds the other outputs.
    const { names: _, ...readInputs } = read.inputs as Json;
    expect(readInputs).toEqual(asWritten);
    expect(reconcile.diff(kind, id, read.props, inputs)).toEqual({ changes: false, replaces: [] });
    expect(reconcile.diff(kind, id, outs, checkInputs(own.restated, inputs))).toEqual({ changes: false, replaces: [] });
  });

  it("is changed by one request with the changed paths, or replaced where it cannot change", async () => {
    const { id, inputs, outs } = await create();
    const changed = checkInputs(own.change, inputs);
    if (!own.update) {
      expect(reconcile.diff(kind, id, outs, changed)).toEqual({ changes: true, replaces: Object.keys(own.change) });
      return;
    }
    expect(reconcile.diff(kind, id, outs, changed)).toEqual({ changes: true, replaces: [] });
    service.requests.length = 0;
    const after = (await reconcile.update(kind, processWith(), id, outs, changed)).outs;
    const [write, ...others] = writes();
    expect(others).toEqual([]);
    if ("upsert" in own.update) expect(write).toMatchObject({ method: "POST", body: own.change });
    else expect(write).toMatchObject({ method: "PATCH", mask: own.update.mask, body: own.update.body ?? {} });
    expect(after.uid).toBe(id);
    expect(reconcile.diff(kind, id, after, changed)).toEqual({ changes: false, replaces: [] });
    expect(await records()).toHaveLength(own.kind === "repo" ? 2 : 1);
  });

  it("shows a change by hand, and is repaired", async () => {
    if (!own.byHand) return;
    const { id, inputs, outs } = await create();
    const { fields, repairedBy } = own.byHand;
    if (kind.upsert)
      await call(kind.operations.create, { parent: inputs.parent, [kind.field]: { name: inputs.name, ...fields } });
    else
      await call(kind.operations.update as OperationName, {
        [kind.field]: { uid: id, ...fields },
        updateMask: Object.keys(fields).join(),
      });
    const read = await reconcile.read(kind, processWith(), id, outs);
    expect(reconcile.diff(kind, id, read.props, inputs)).toEqual({ changes: true, replaces: [] });
    service.requests.length = 0;
    const repaired = (await reconcile.update(kind, processWith(), id, read.props, inputs)).outs;
    expect(writes()).toHaveLength(1);
    if (!kind.upsert) expect(writes()[0]?.mask).toBe(repairedBy);
    expect(reconcile.diff(kind, id, repaired, inputs)).toEqual({ changes: false, replaces: [] });
  });

  it("is adopted, kept when its resource is deleted, and deleted with it on request; then a read finds nothing", async () => {
    const { id, outs } = await create();
    const session = processWith();
    const adopted = (await reconcile.create(kind, session, checkInputs({ adopt: id }))).outs as Json;
    expect(adopted).toMatchObject({ uid: id, adopted: true });
    expect(reconcile.diff(kind, id, adopted, checkInputs())).toEqual({ changes: false, replaces: [] });
    messages.length = 0;
    await reconcile.remove(kind, processWith(), id, adopted);
    expect(messages).toEqual([
      expect.stringMatching(
        `^${kind.word} ${id} .*was adopted and is left in place; deleteAdopted: true deletes it with the resource$`,
      ),
    ]);
    expect((await records()).map(({ uid }) => uid)).toContain(id);
    await reconcile.remove(kind, processWith(), id, { ...adopted, deleteAdopted: true });
    expect((await records()).map(({ uid }) => uid)).not.toContain(id);
    // Again, as a run does that continues a killed one.
    await reconcile.remove(kind, processWith(), id, outs);
    service.clock.advance(6_000);
    expect(await reconcile.read(kind, processWith(), id, outs)).toEqual({ id: "", props: {} });
  });

  it("that exists already is never adopted silently", async () => {
    if (own.isRepeatable) return;
    const { id } = await create();
    // With another value of a field that makes it unique, it would be another record.
    const unique = kind.unique?.map((field) => kind.arguments[field] ?? field);
    const isAnother = Object.keys(own.change).some((name) => unique?.includes(name));
    const inputs = checkInputs(isAnother ? {} : own.change);
    const again = reconcile.create(kind, processWith(), { ...inputs, ...keyOf("another") });
    await expect(again).rejects.toThrow('adopt it with adopt: "match" (or its uid)');
    expect((await records()).filter(({ uid }) => uid === id)).toHaveLength(1);
  });

  it("whose response is lost is found, and exists once", async () => {
    const session = processWith(1);
    const creating = create({}, session);
    if (own.kind === "groupInvite") await expect(creating).rejects.toThrow(Incomplete);
    else expect((await creating).outs.parent).toBe(own.inputs(place).parent);
    expect(await records()).toHaveLength(own.kind === "repo" ? 2 : 1);
    expect(writes()).toHaveLength(1);
  });

  it("has its secrets in no journal, line or error", async () => {
    const { id, inputs, outs } = await create();
    const changed = checkInputs(own.change, inputs);
    const texts = [JSON.stringify(reconcile.diff(kind, id, outs, changed))];
    if (own.update) await reconcile.update(kind, processWith(), id, outs, changed);
    await create({}, processWith(9)).catch((error: Error) => texts.push(error.message));
    const { parent, ...rest } = inputs;
    const wrong = reconcile.check(kind, {}, { ...rest, parent: "x", oidc: { ...(rest.oidc as Json), issuer: "x" } });
    texts.push(JSON.stringify(wrong.failures), ...messages);
    for (const name of readdirSync(journal)) texts.push(readFileSync(join(journal, name), "utf8"));
    for (const secret of own.secrets) for (const text of texts) expect(text).not.toContain(secret);
    expect(parent).toBeDefined();
  });
});
