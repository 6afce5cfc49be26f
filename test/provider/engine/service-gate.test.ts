// A state whose records are at another service or in another organization; and a run without the service.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { serviceOf } from "../../../client/config.ts";
import { SessionError } from "../../../client/errors.ts";
import { systemTransport, type Transport } from "../../../client/transport.ts";
import type { Methods } from "../../../provider/engine/methods.ts";
import { offlineWith } from "../../../provider/engine/service-gate.ts";
import { UNKNOWN } from "../../../pulumi/value.ts";
import { manualClock } from "../../harness/clock.ts";
import { startSharedService, workloadToken } from "../../harness/provider.ts";
import { keyOf, lostAnswer, ORG, refusal } from "../../support/scripted.ts";

beforeEach(() => {
  requests = [];
  messages = [];
});

let requests: string[];
let messages: string[];

const group = async (own: Record<string, string> = {}, answer?: Transport): Promise<Methods> => {
  const send = answer ?? systemTransport();
  const transport: Transport = (request) => {
    const { method, url } = request;
    const path = url.pathname.replace("/iam/v2beta1/", "");
    if (!path.startsWith("/sts/")) requests.push(`${method} ${path}${url.search}`);
    return send(request);
  };
  return (await service.methods({ env: own, transport, log: (text) => void messages.push(text) })).group;
};

const at = (address: string, parent = organization) => ({
  inputs: { __provider: "text", ...keyOf("team"), parent, name: "team", __service: address },
  outputs: { __provider: "text", ...keyOf("team"), uid: team, name: "team", __service: address },
});
const news = (parent = organization, name = "team") => ({ __provider: "text", ...keyOf("team"), parent, name });
const preview = (parent = organization) => ({ ...news(parent), __preview: true });
const here = () => serviceOf(service.baseUrl);
const token = { IRM_TOKEN: "api-token", IRM_IDENTITY_TOKEN: "", IRM_BASE_URL: "https://api.example.com" };
const unreachable: Transport = () => Promise.reject(lostAnswer(false));
const short = "failed for the same reason as Test::team";
const OTHER_SERVICE = "http://127.0.0.1:1";

const service = await startSharedService();
const organization: string = service.organization as string;
const { uid: team } = await service.call("CreateGroup", { parent: organization, group: { name: "team" } });

it.each([
  ["http://LOCALHOST:8080/", "http://127.0.0.1:8080"],
  ["http://[::1]:8080", "http://127.0.0.1:8080"],
  ["https://API.example.com:443//", "https://api.example.com"],
  ["https://api.example.com/irm/", "https://api.example.com/irm"],
])("an address %s is %s", (address, service) => expect(serviceOf(address)).toBe(service));

describe("a state whose records are at another address", () => {
  const message = (now: string) =>
    `wrong service? The records of this stack are at ${OTHER_SERVICE}, as of its last up, and this run is for ${now}. ` +
    "Nothing is created, changed or deleted.\n" +
    `  - If the service has moved there with its records: pulumi config set irm:movedFrom ${OTHER_SERVICE}`;

  it("is refused in the check before any problem of the inputs, and nothing is created afterwards", async () => {
    const own = await group();
    await expect(own.check(at(OTHER_SERVICE).inputs, news(ORG, "WRONG"))).rejects.toThrow(message(here()));
    await expect(own.create(news())).rejects.toThrow(short);
    expect(requests).toEqual([]);
  });

  it("is refused in time for a create that has already begun, and the journal has no entry of it", async () => {
    const held = Promise.withResolvers<void>();
    const listing = Promise.withResolvers<void>();
    const send = systemTransport();
    const own = await group({}, async (request) => {
      if (request.url.pathname.endsWith("/groups")) {
        listing.resolve();
        await held.promise;
      }
      return send(request);
    });
    const { __key } = keyOf("new");
    const create = own.create({ ...news(), __key });
    await listing.promise;
    await expect(own.check(at(OTHER_SERVICE).inputs, news())).rejects.toThrow(message(here()));
    held.resolve();
    await expect(create).rejects.toThrow(short);
    expect(requests.filter((request) => request.startsWith("POST"))).toEqual([]);
    const folder = service.env.IRM_JOURNAL as string;
    const journal = readdirSync(folder).find((name) => name.endsWith(".jsonl")) as string;
    const [begun, last] = readFileSync(join(folder, journal), "utf8")
      .trim()
      .split("\n")
      .slice(-2)
      .map((line) => JSON.parse(line));
    expect(last).toEqual({ closed: begun.intent });
  });

  it("is refused once, before a refresh, a diff or a delete sends a request", async () => {
    const own = await group();
    const { outputs } = at(OTHER_SERVICE);
    await expect(own.read(team, outputs)).rejects.toThrow(message(here()));
    await expect(own.diff(team, outputs, news())).rejects.toThrow(short);
    await expect(own.delete(team, outputs)).rejects.toThrow(short);
    expect(requests).toEqual([]);
  });

  it("is refused without credentials too", async () => {
    const own = await group({ IRM_IDENTITY_TOKEN: "", IRM_BASE_URL: "https://api.example.com" });
    await expect(own.check(at(OTHER_SERVICE).inputs, news())).rejects.toThrow(message("https://api.example.com"));
  });

  it("is accepted once the move is confirmed, in any spelling, and then has the new address, without a PATCH", async () => {
    const own = await group({ IRM_MOVED_FROM: "http://LOCALHOST:1/" });
    const { inputs, outputs } = at(OTHER_SERVICE);
    const checked = await own.check(inputs, preview());
    expect(checked).toEqual({ inputs: { ...news(), __service: here() }, failures: [] });
    expect(await own.diff(team, outputs, checked.inputs)).toEqual({ changes: true, replaces: [] });
    const { outs } = await own.update(team, outputs, checked.inputs);
    expect(outs).toMatchObject({ uid: team, __service: here() });
    expect(await own.diff(team, { ...outs, __provider: "text" }, checked.inputs)).toEqual({
      changes: false,
      replaces: [],
    });
    expect(requests).toEqual([`GET groups/${organization}`]);
  });
});

describe("a state whose organization is not behind the address", () => {
  const other = `${ORG}/1111111111111111`;
  const head = () =>
    `wrong service? The records of this stack are in the organization ${ORG}, and it is not at ${here()}: `;

  it("is refused once for all records when the caller sees only another organization", async () => {
    const own = await group();
    const { inputs } = at(here(), ORG);
    const error = await own.check(inputs, news()).catch((thrown: Error) => thrown);
    expect(String(error)).toContain(`${head()}these credentials see nothing of it, but ${organization}. Nothing is`);
    expect(String(error)).toContain("started with --db FILE. To start over: pulumi state delete --all");
    await expect(own.diff(other, at(here()).outputs, news())).rejects.toThrow(short);
    expect(requests).toHaveLength(3);
  });

  it("explains a denied delete", async () => {
    const own = await group();
    await expect(own.delete(other, { ...at(here()).outputs, uid: other })).rejects.toThrow(head());
  });

  it("is accepted when the move is confirmed", async () => {
    const own = await group({ IRM_MOVED_FROM: ORG });
    await own.check(at(here(), ORG).inputs, preview(ORG));
    expect(requests).toEqual([]);
  });

  it("is refused when the service reports that the organization does not exist", async () => {
    const own = await group({ ...token, IRM_BASE_URL: service.baseUrl }, async () => refusal("NOT_FOUND", "no"));
    await expect(own.check(at(here(), ORG).inputs, news())).rejects.toThrow(`${head()}the service does not know it.`);
  });
});

const narrowed = async (subject: string, role?: string): Promise<Record<string, string>> => {
  const claimMatch = { issuer: service.issuer as string, subject };
  const { uid } = await service.call("CreateIdentity", { parent: team, identity: { name: subject, claimMatch } });
  const roleBinding = role && { identityUid: uid, roleUid: await service.role(role) };
  if (roleBinding) await service.call("CreateRoleBinding", { parent: team, roleBinding });
  return { IRM_IDENTITY: uid, IRM_IDENTITY_TOKEN: await workloadToken(service, subject) };
};

it.each([
  ["a part of the organization", "viewer", [`GET groups/${organization}`, "GET groups"]],
  ["no group", undefined, [`GET groups/${organization}`, "GET groups", "GET groups"]],
])("a preview continues for a caller that sees %s", async (what, role, asked) => {
  const own = await group(await narrowed(what, role));
  await own.check(at(here()).inputs, preview());
  await own.diff(team, at(here()).outputs, news());
  expect(requests.map((request) => request.split("?")[0])).toEqual(asked);
  expect(messages).toEqual([]);
});

it("a preview continues without credentials, and sends no request", async () => {
  const own = await group({ IRM_IDENTITY_TOKEN: "" });
  await own.check(at(here()).inputs, preview());
  expect(requests).toEqual([]);
});

it("a preview continues with a warning when the service does not answer or refuses the credentials", async () => {
  const closed = await group(token, unreachable);
  await closed.check(at("https://api.example.com").inputs, preview());
  const refused = await group(token, async () => refusal("UNAUTHENTICATED", "no"));
  await refused.check(at("https://api.example.com").inputs, preview());
  expect(messages).toEqual([
    expect.stringContaining(`the organization ${organization} of this stack cannot be checked: UNAVAILABLE`),
    expect.stringContaining(`the organization ${organization} of this stack cannot be checked: UNAUTHENTICATED`),
  ]);
});

it("a preview ends when a server on this machine refuses the credentials: it may have restarted", async () => {
  const own = await group({ IRM_IDENTITY: `${ORG}/1111111111111111` });
  const error = await own.check(at(here()).inputs, news()).catch((thrown: Error) => thrown);
  expect(String(error)).toContain("cannot be checked: PERMISSION_DENIED: exchanging the token of");
  expect(String(error)).toContain("Was this server restarted without --db?");
});

const keys = ["one", "two", "three"].map((name) => ({ ...news(), ...keyOf(name) }));
const errorsOf = async (methods: Methods, bags: readonly object[]): Promise<string[]> => {
  const done = await Promise.allSettled(bags.map((bag) => methods.check({}, bag as never)));
  return done.map((one) => (one.status === "rejected" ? (one.reason as Error).message : ""));
};

it.each<[string, Transport, string]>([
  [
    "the service does not answer",
    unreachable,
    "UNAVAILABLE: connect ECONNREFUSED\nIs the service running, and is irm:baseUrl (or IRM_BASE_URL) its address?\nSee docs/troubleshooting.md#unreachable",
  ],
  [
    "the token is refused",
    async () => refusal("UNAUTHENTICATED", "no"),
    "UNAUTHENTICATED: Unauthenticated: no\nThe API token was refused: it may have expired, or be for another audience than irm:baseUrl. It comes from IRM_TOKEN.\nSee docs/troubleshooting.md#sign-in",
  ],
])("an update ends in the check, before any step, where %s", async (_, answer, text) => {
  const [first, ...others] = await errorsOf(await group(token, answer), keys);
  expect(first).toBe(text);
  expect(others).toEqual(keys.slice(1).map(() => "failed for the same reason as Test::one"));
  const { parent: _parent, ...root } = keys[0] as (typeof keys)[0];
  expect(await errorsOf(await group(token, answer), [{ ...root, root: true }])).toEqual([text]);
  expect(messages).toEqual([]);
});

it("an update of an organization that the caller does not see ends with those that it sees", async () => {
  const text =
    `the organization ${ORG} is not visible to you at ${here()}; you can see:\n  - ${organization} "dev"\n` +
    `Set one that you can see as parent, or use credentials that may see ${ORG}.\nSee docs/troubleshooting.md#not-visible`;
  for (const one of [{}, { __preview: true }]) {
    const [first, ...others] = await errorsOf(
      await group(),
      keys.map((bag) => ({ ...bag, parent: ORG, ...one })),
    );
    expect(first).toBe(text);
    expect(others).toEqual(keys.slice(1).map(() => "failed for the same reason as Test::one"));
  }
});

it("an update of an organization that the same update creates is previewed: nobody sees it yet", async () => {
  const methods = await group();
  const { inputs, failures } = await methods.check({}, { ...keys[0], parent: UNKNOWN, name: "new", __preview: true });
  expect(failures).toEqual([]);
  // The SDK takes what the check does not give for unknown.
  expect(inputs).not.toHaveProperty("uid");
});

const REASON = new SessionError("no connection");
const WARNING = "warning: the service is not asked, and this shows what is known without it: no connection";

const startOffline = () => {
  const clock = manualClock();
  const messages: string[] = [];
  return { clock, messages, offline: offlineWith(clock, (text) => messages.push(text)) };
};

it("a run with the service waits for nothing, and says nothing", async () => {
  const { clock, messages, offline } = startOffline();
  offline.expectStep();
  await offline.hold();
  offline.noteShown();
  offline.carriedOut();
  expect([clock.sleeps, messages, offline.reason]).toEqual([[], [], undefined]);
});

it("a preview warns once, also one in which nothing changes, and its checks wait no longer", async () => {
  const { clock, messages, offline } = startOffline();
  offline.begin(REASON);
  offline.expectStep();
  offline.noteShown();
  offline.noteShown();
  await offline.hold();
  offline.expectNone();
  expect([clock.sleeps, messages, offline.reason]).toEqual([[], [WARNING], REASON]);
  const unchanged = startOffline();
  unchanged.offline.begin(REASON);
  unchanged.offline.expectNone();
  expect(unchanged.messages).toEqual([WARNING]);
});

it("an update ends with the reason, and the checks that follow wait until the engine has seen it", async () => {
  const { clock, messages, offline } = startOffline();
  offline.begin(REASON);
  await offline.hold();
  offline.expectStep();
  expect(() => offline.carriedOut()).toThrow(REASON);
  clock.advance(400);
  expect(() => offline.carriedOut()).toThrow(REASON);
  await offline.hold();
  await offline.hold();
  expect([clock.sleeps, messages]).toEqual([[600], []]);
});

it("where no step comes, it counts as a preview", async () => {
  const { clock, messages, offline } = startOffline();
  offline.begin(REASON);
  offline.expectStep();
  await offline.hold();
  await offline.hold();
  expect([clock.sleeps, messages]).toEqual([[2_000], [WARNING]]);
});
