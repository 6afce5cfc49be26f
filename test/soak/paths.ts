// Paths to more access: each one that requests find is in the paths, and each path is carried out, a cautious one without
// anti-escalation.
import { readLive } from "../../access/graph/live.ts";
import { findPaths } from "../../access/paths/find.ts";
import type { Path } from "../../access/paths/path.ts";
import { capabilityName, isAncestorOrSelf, isApiError, type OperationName, rootOf } from "../../schema/index.ts";
import { unlimited } from "../../server/base/rate-limit.ts";
import { type Authenticate, grantsOf, operator } from "../../server/caller/caller.ts";
import { createPipeline } from "../../server/pipeline/pipeline.ts";
import { decodeRest } from "../../server/rest/parameters.ts";
import { createRouter } from "../../server/rest/route.ts";
import type { ServiceContext } from "../../server/services/context.ts";
import { openDatabase } from "../../server/store/database.ts";
import { createPageTokens } from "../../server/store/list.ts";
import { createStore, type Store } from "../../server/store/store.ts";
import { clientOf } from "../access/client.ts";
import { IAM, sharedKeys, shuffledIds, startServer, type TestServer } from "../harness/api-server.ts";
import { createUid } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import { createRandom, type Random } from "../support/random.ts";
import { type PartOptions, type PartResult, proveEach } from "./part.ts";
import { restoreRecords, type Send, saveRecords, searchByRequests } from "./paths/search.ts";

/** A search that would send more is cut: the report counts such pairs. */
const REQUESTS_MAX = 50_000;

/** `rounds`: pairs of organizations. */
export const paths = async (options: PartOptions, requestsMax = REQUESTS_MAX): Promise<PartResult> => {
  const figures = {
    "pairs with a strict path": 0,
    "strict paths carried out": 0,
    "cautious paths carried out": 0,
    "requests of the searches": 0,
    "requests that the server accepted": 0,
    "states of the searches": 0,
    "capabilities that a search reached": 0,
    "searches that were cut": 0,
  };
  const store = createStore(openDatabase(":memory:"));
  // Between two requests over HTTP lies the whole search of a pair.
  const api = await startServer({ store, ids: shuffledIds(options.seed), idleTimeoutMs: 3_600_000 });
  const builtIn = await Promise.all(["owner", "viewer", "limited_owner"].map((name) => api.role(name)));
  const empty = saveRecords(store);
  const failures = await proveEach(options, async (own, failWith) => {
    const random = createRandom(own);
    const pair = await growPair(random, api);
    const attacker = random.pick(pair.identities);
    const fail = (text: string): void => void failWith(`from ${attacker}: ${text}`);
    const identityRules = { loopback: true, ownIssuer: api.authUrl, anyone: api.anyone };
    const rules = { identityRules, store, now: api.clock() };
    const strictly = openDoor({ ...rules, withoutAntiEscalation: false, seed: own });
    const freely = openDoor({ ...rules, withoutAntiEscalation: true, seed: own + 1 });
    const subject = pair.subjects.get(attacker) as string;
    const workload = await api.identityToken(subject);
    const mayAssume = async (identity: string): Promise<boolean> =>
      (await api.exchange(workload, { identity })).status === 200;
    const saved = saveRecords(store);

    const { graph, notVisible } = await readLive(clientOf(api));
    const about = { notVisible, audience: api.baseUrl, nowMs: api.clock() };
    const found = findPaths(graph, { from: { identity: attacker } }, about);
    for (const text of found.notSearched) fail(text);

    const controlled = pair.identities.filter((uid) => uid === attacker || pair.subjects.get(uid) === subject);
    const reach = await searchByRequests({
      ...{ store, send: strictly, mayAssume, claims: { issuer: api.issuer, subject } },
      ...{ start: controlled, organizations: pair.organizations, builtIn, requestsMax },
    });
    restoreRecords(store, saved);
    const before = heldBy(store, attacker);
    for (const one of reach.held) {
      if (isWithin(before, one)) continue;
      figures["capabilities that a search reached"] += 1;
      const leading = found.paths.filter(({ gains }) =>
        isWithin(new Set(gains.map((gain) => `${gain.capability} ${gain.group}`)), one),
      );
      if (leading.length === 0) fail(`no path to ${one}, which a search by requests reaches`);
      else if (!leading.some(({ assumes }) => assumes === "strict")) fail(`${one} is said to be out of strict reach`);
    }

    for (const path of found.paths) {
      const send = path.assumes === "strict" ? strictly : freely;
      const problem = await carryOut(path, { api, store, workload, send });
      restoreRecords(store, saved);
      if (problem !== undefined) fail(`${path.assumes} path ${JSON.stringify(path.steps).slice(0, 2_000)}: ${problem}`);
      figures[`${path.assumes} paths carried out`] += 1;
    }
    figures["pairs with a strict path"] += Number(found.paths.some(({ assumes }) => assumes === "strict"));
    figures["requests of the searches"] += reach.requests;
    figures["requests that the server accepted"] += reach.accepted;
    figures["states of the searches"] += reach.states;
    figures["searches that were cut"] += Number(reach.isCut);
    restoreRecords(store, empty);
  });
  await api.close();
  return { figures, failures };
};

/** `capability group` of each binding. */
const heldBy = (store: Store, uid: string): ReadonlySet<string> =>
  new Set(
    [...grantsOf(store, uid)].flatMap(([group, held]) => [...held].map((one) => `${capabilityName(one)} ${group}`)),
  );

const isWithin = (held: ReadonlySet<string>, one: string): boolean => {
  const [capability, group = ""] = one.split(" ");
  return [...held].some((other) => {
    const [name, at = ""] = other.split(" ");
    return name === capability && isAncestorOrSelf(at, group);
  });
};

/** Why a path does not lead where it says; undefined: it does. */
const carryOut = async (
  path: Path,
  { api, store, workload, send }: { api: TestServer; store: Store; workload: string; send: Send },
): Promise<string | undefined> => {
  const created: string[] = [];
  const filled = (text: string): string => text.replaceAll(/\$\{(\d+)\.uid\}/g, (_, n) => created[Number(n) - 1] ?? "");
  for (const [i, step] of path.steps.entries()) {
    const target = filled(step.path);
    const body = step.body === null ? undefined : JSON.parse(filled(JSON.stringify(step.body)));
    const answer = await sendStep(step.as, step.method, target, body);
    if (typeof answer === "string") return `step ${i + 1} is refused: ${answer}`;
    created.push(String(answer.uid ?? ""));
  }
  const held = heldBy(store, path.end);
  const missing = path.gains.find(({ capability, group }) => !isWithin(held, `${capability} ${group}`));
  return missing && `${path.end} does not hold ${missing.capability} at ${missing.group}`;

  async function sendStep(as: string, method: string, target: string, body: unknown): Promise<Body | string> {
    const token = as === "workload" ? workload : undefined;
    if (path.assumes === "cautious" && token === undefined) return send(filled(as), method, target, body);
    const bearer = token ?? (await api.exchange(workload, { identity: filled(as) })).json.token;
    const { status, json, text } = await api.call(method, target, { token: bearer, body });
    return status === 200 ? (json ?? {}) : text;
  }
};

type Rules = Pick<ServiceContext, "identityRules" | "withoutAntiEscalation">;

/** Any other answer is a defect of the server, and thrown. */
const openDoor = ({ seed, ...own }: Pick<ServiceContext, "store" | "now" | keyof Rules> & { seed: number }): Send => {
  const { store, now, ...rules } = own;
  const authenticate: Authenticate = {
    bearer: ([uid = ""]) => uid,
    token: async ([uid = ""]) => ({
      uid,
      callerNow: () => ({ uid, grants: grantsOf(store, uid), token: operator.token }),
    }),
  };
  const tokens = createPageTokens(sharedKeys().pageTokenKey, () => now)(operator);
  const [log, ids] = [() => undefined, shuffledIds(seed)];
  const pipeline = createPipeline({
    ...{ store, authenticate, sts: undefined as never, limit: unlimited, log },
    context: () => ({ store, tokens, log, ids, now, uniqueRoleBindings: false, ...rules }),
  });
  const router = createRouter("both");
  return async (as, method, target, body) => {
    const [path = "", query = ""] = target.split("?", 2);
    const match = router(method, path);
    if (match.kind !== "route") throw new Error(`there is no route for ${method} ${path}`);
    const bytes = body === undefined || body === null ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
    const message = { contentType: "application/json", query, body: bytes };
    const operation = match.route.operation as OperationName;
    try {
      return (await pipeline({
        ...{ operation, wire: "rest", authorization: [as], peer: "" },
        decode: async () => decodeRest(match, message, false),
      })) as Body;
    } catch (error) {
      if (isApiError(error) && error.code !== "INTERNAL" && error.code !== "UNKNOWN") return error.message;
      throw error;
    }
  };
};

const VOCABULARY = [
  ...["IDENTITY_UPDATE", "IDENTITY_UPDATE", "IDENTITY_LIST", "IDENTITY_CREATE"],
  ...["ROLE_BINDINGS_CREATE", "ROLE_BINDINGS_UPDATE", "ROLE_BINDINGS_DELETE", "ROLES_UPDATE", "ROLES_CREATE"],
  ...["GROUPS_LIST", "GROUPS_CREATE", "GROUP_INVITES_CREATE", "IDENTITY_PROVIDERS_CREATE", "IDENTITY_PROVIDERS_UPDATE"],
].map((name) => `CAP_IAM_${name}`);
const PAYLOAD = ["CAP_TAG_CREATE", "CAP_REPO_DELETE"];

/** At most 4 groups and 5 identities in each. */
const growPair = async (random: Random, api: TestServer) => {
  const organizations = [
    await createUid(api, "groups", "", { name: "one" }),
    await createUid(api, "groups", "", { name: "two" }),
  ] as const;
  const groups: string[] = [];
  const identities: string[] = [];
  const roles: string[] = [];
  /** `sub` of the workload of each identity, by uid */
  const subjects = new Map<string, string>();
  const chance = (percent: number): boolean => random.below(100) < percent;
  const inside = (all: readonly string[], organization: string): string[] =>
    all.filter((uid) => rootOf(uid) === organization);
  for (const [i, organization] of organizations.entries()) {
    groups.push(organization);
    for (let left = random.below(4); left > 0; left -= 1)
      groups.push(
        await createUid(api, "groups", random.pick(inside(groups, organization)), { name: `g${groups.length}` }),
      );
    const own = inside(groups, organization);
    for (let left = 2 + random.below(3); left > 0; left -= 1) {
      const size = 1 + random.below(3);
      const capabilities = Array.from({ length: size }, () => random.pick(VOCABULARY));
      if (chance(50)) capabilities.push(random.pick(PAYLOAD));
      const fields = { name: `r${roles.length}`, capabilities: [...new Set(capabilities)] };
      roles.push(await createUid(api, "roles", random.pick(own), fields));
    }
    for (let left = 1 + random.below(5); left > 0; left -= 1) {
      const number = identities.length;
      // Some workloads may be two identities.
      const subject = number > 0 && chance(12) ? `s${random.below(number)}` : `s${number}`;
      const claimMatch = { issuer: api.issuer, subject };
      const uid = await createUid(api, "identities", random.pick(own), { name: `i${i}-${number}`, claimMatch });
      identities.push(uid);
      subjects.set(uid, subject);
    }
  }
  const bind = async (identityUid: string, organization: string): Promise<void> => {
    const role = chance(8)
      ? await api.role(random.pick(["owner", "viewer", "limited_owner"]))
      : random.pick(inside(roles, organization));
    const group = random.pick(inside(groups, organization));
    // A role can be granted in its own group and below.
    await api.call("POST", `${IAM}/roleBindings/${group}`, { body: { identityUid, roleUid: role } });
  };
  for (const uid of identities) for (let left = random.below(4); left > 0; left -= 1) await bind(uid, rootOf(uid));
  const [one, two] = organizations;
  for (let left = 1 + random.below(3); left > 0; left -= 1) await bind(random.pick(inside(identities, two)), one);
  if (chance(40)) await bind(random.pick(inside(identities, one)), two);
  return { organizations, groups, identities, subjects };
};
