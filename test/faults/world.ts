// A server with a group that is somebody else's home: foreign records of every kind, in which programs make theirs. Whoever
// asks here is the owner, with nothing between it and the server.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, OperationName } from "../../schema/index.ts";
import { createServer, type RunningServer, type ServerOptions } from "../../server/index.ts";
import { createLog } from "../../server/log.ts";
import { workloadToken } from "../provider/double.ts";
import { sharedKeys } from "../support/server.ts";
import type { ChildOptions } from "./child.ts";
import { type Pace, timeAt } from "./fast-clock.ts";
import { type Engine, engineIn } from "./run.ts";
import { readState } from "./state.ts";

/** What every record of the API has. */
export type LiveRecord = Json & { uid: string };

const COLLECTIONS = {
  groups: "ListGroups",
  identities: "ListIdentities",
  roles: "ListRoles",
  roleBindings: "ListRoleBindings",
};

export interface World {
  server: RunningServer;
  organization: string;
  /** uid of the foreign group in which programs make their records */
  home: string;
  foreign: { identity: string; role: string };
  pace: Pace;
  folder: string;
  /** an engine with a state, a journal and a token of its own, unless they are named */
  engine(name: string, own?: Partial<ChildOptions> & { env?: Record<string, string> }): Engine;
  stateFile(name: string): string;
  stateText(name: string): string;
  /** uid of a resource in a state */
  uid(name: string, resource: string): string;
  /** all that is in the organisation, and groups at the root, by uid */
  records(): Promise<Map<string, LiveRecord>>;
  call(method: string, path: string, body?: Json): Promise<Json>;
  /** resolves when so many attempts of the operation have come; `carriedOut`: and are committed */
  came(operation: OperationName, count?: number, carriedOut?: boolean): Promise<void>;
  /** attempts of an operation since the script was set */
  attempts(operation: OperationName): { timeMs: number; carriedOut: boolean }[];
  /** everything that was written down: logs, journals, states */
  texts(): string[];
  tokens: string[];
  close(): Promise<void>;
}

const POLL_MS = 5;

export const IAM = "/iam/v2beta1";

export const startWorld = async (options: ServerOptions & { speed?: number } = {}): Promise<World> => {
  const pace: Pace = { startMs: Date.now(), speed: options.speed ?? 10 };
  const folder = mkdtempSync(join(tmpdir(), "irm-faults-"));
  const log: string[] = [];
  const waiting = new Set<() => void>();
  const server = await createServer({
    dev: true,
    keys: sharedKeys(),
    faults: {},
    ...options,
    clock: () => timeAt(pace),
    log: createLog({
      level: "debug",
      json: true,
      clock: () => timeAt(pace),
      write: (line) => {
        log.push(line);
        for (const look of [...waiting]) look();
      },
    }),
  });
  const { baseUrl, authUrl, identity = "", organization = "" } = server;
  const faults = server.faults as NonNullable<RunningServer["faults"]>;
  const tokens: string[] = [];
  const minted = async (): Promise<string> => {
    const token = await workloadToken(server, "owner");
    tokens.push(token);
    return token;
  };
  const exchanged = async (): Promise<string> => {
    const query = new URLSearchParams({ aud: baseUrl, identity });
    const answer = await fetch(`${authUrl}/sts/exchange?${query}`, {
      headers: { authorization: `Bearer ${await minted()}` },
    });
    const { token } = (await answer.json()) as { token: string };
    tokens.push(token);
    return token;
  };
  let token = await exchanged();
  const call: World["call"] = async (method, path, body) => {
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text || "{}") as Json;
  };
  const uidOf = async (path: string, body: Json): Promise<string> => (await call("POST", path, body)).uid as string;

  const listed = async (plural: string): Promise<LiveRecord[]> => {
    const found: LiveRecord[] = [];
    let pageToken = "";
    do {
      const page = await call("GET", `${IAM}/${plural}?pageSize=200&pageToken=${encodeURIComponent(pageToken)}`);
      found.push(...((page[plural] ?? []) as LiveRecord[]));
      pageToken = (page.nextPageToken ?? "") as string;
    } while (pageToken !== "");
    return found;
  };

  const home = await uidOf(`${IAM}/groups/${organization}`, { name: "home", description: "of others" });
  const foreignGroup = await uidOf(`${IAM}/groups/${home}`, { name: "sibling", description: "of others" });
  const foreign = {
    identity: await uidOf(`${IAM}/identities/${foreignGroup}`, {
      name: "foreigner",
      claimMatch: { issuer: "https://issuer.example.com", subject: "foreigner" },
    }),
    role: await uidOf(`${IAM}/roles/${home}`, { name: "foreign", capabilities: ["CAP_IAM_GROUPS_LIST"] }),
  };
  await uidOf(`${IAM}/roleBindings/${home}`, { identityUid: foreign.identity, roleUid: foreign.role });

  const attempts: World["attempts"] = (operation) => faults.attempts().filter((one) => one.operation === operation);
  const settled = (look: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = () => {
        if (!look()) return false;
        waiting.delete(check);
        resolve();
        return true;
      };
      waiting.add(check);
      check();
    });

  return {
    server,
    organization,
    home,
    foreign,
    pace,
    folder,
    tokens,
    stateFile: (name) => join(folder, `${name}.state.json`),
    stateText: (name) => readFileSync(join(folder, `${name}.state.json`), "utf8"),
    uid: (name, resource) => {
      const found = readState(join(folder, `${name}.state.json`)).resources.find((one) => one.name === resource);
      if (!found) throw new Error(`the state has no ${resource}`);
      return found.id;
    },
    engine: (name, { env = {}, ...own } = {}) =>
      engineIn(
        { stateFile: join(folder, `${name}.state.json`), stack: `organization/faults/${name}`, pace, ...own },
        async () => ({
          IRM_BASE_URL: baseUrl,
          IRM_AUTH_URL: authUrl,
          IRM_IDENTITY: identity,
          IRM_IDENTITY_TOKEN: await minted(),
          IRM_JOURNAL: join(folder, `${name}.journal`),
          IRM_REQUEST_TIMEOUT: "20",
          PULUMI_BACKEND_URL: `file://${folder}`,
          ...env,
        }),
      ),
    records: async () => {
      // New roots are known to new tokens only.
      token = await exchanged();
      const all = await Promise.all(Object.keys(COLLECTIONS).map(listed));
      return new Map(all.flat().map((record) => [record.uid, record]));
    },
    call,
    came: async (operation, count = 1, carriedOut = false) => {
      await settled(() => attempts(operation).length >= count);
      if (!carriedOut) return;
      while (!attempts(operation)[count - 1]?.carriedOut) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    },
    attempts,
    texts: () => [...log, ...filesBelow(folder)],
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(jsonl?|state)/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
