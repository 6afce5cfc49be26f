// Cases that share what costs: a server that has their organizations, and a stack whose program is the programs of all of them. All names of a
// case begin with its prefix, so that it stays apart from the others in whatever a run says.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { mintDevToken } from "../../../cli/command/serve-token.ts";
import { rootOf } from "../../../schema/index.ts";
import { createWorkplace, type Workplace } from "../../harness/engine-workplace.ts";
import { type Owner, ownerOf } from "../../harness/small-engine/owner.ts";
import { createRandom, type Random } from "../../support/random.ts";
import { type HandMade, makeByHand } from "../program/hand-made.ts";
import { DESCRIPTION, type Described, sourceFor, together } from "./described.ts";
import { UIDS } from "./policy.ts";
import { type CaseProgram, caseProgram } from "./program.ts";

/** One case: an organization made by hand, and a program. */
export interface Case {
  /** what all its names begin with */
  prefix: string;
  seed: number;
  random: Random;
  made: HandMade;
  programs: CaseProgram;
  /** uid of its organization at each service */
  organizations: readonly string[];
  /** the part of the program that is written; undefined: none yet */
  described?: Described | undefined;
  /** what it was before */
  former?: Described | undefined;
}

export type Group = Awaited<ReturnType<typeof openGroup>>;

interface Options {
  /** folder of the provider */
  plugin: string;
  /** flags of the server */
  server?: readonly string[];
  /** the reviewer may see a part; default: true */
  mayBeInPart?: boolean;
  /** Resources may need what another provider makes in the same update; default: true. */
  mayWait?: boolean;
  /** default: that of the cases */
  sourceOf?(module: string): string;
  /** a process of its own runs the program, as on the command line */
  ownProcess?: boolean;
}

/** The group has the seed of its first case. */
export const openGroup = async (seeds: readonly number[], options: Options) => {
  const { plugin, server = [], mayBeInPart = true, mayWait = true, sourceOf = sourceFor, ownProcess = false } = options;
  const random = createRandom(seeds[0] as number);
  const isNative = random.below(2) === 0;
  const place = await createWorkplace(server);
  const second = isNative && random.below(5) === 0 ? await createWorkplace() : undefined;
  const close = async (): Promise<void> => void (await Promise.all([place.close(), second?.close()]));
  try {
    const owner = await ownerOf(place.server);
    const organizations = await organizationsOf(place, owner, seeds);
    const atSecond = second && (await organizationsOf(second, await ownerOf(second.server), seeds));
    const { baseUrl = "", authUrl = "" } = second?.server ?? {};
    const provider = { baseUrl, authUrl, tokenEnv: "SECOND_TOKEN" };
    const cases: Case[] = [];
    for (const [i, seed] of seeds.entries()) {
      const own = createRandom(seed);
      const [organization, other] = [organizations[i] as string, atSecond?.[i]];
      const prefix = prefixOf(i);
      const home = await owner.create(`groups/${organization}`, { name: "home" });
      const made = await makeByHand(own, { ...owner, home, organization, prefix });
      const atOther = other ? { provider, organization: other } : undefined;
      // One that fails keeps the steps of all others from running.
      const programs = caseProgram(own, made, { second: atOther, mayFail: seeds.length === 1, mayWait });
      cases.push({
        ...{ prefix, seed, random: own, made, programs },
        organizations: [organization, ...(other ? [other] : [])],
      });
    }
    const env = {
      // For the flag of the events of an update.
      PULUMI_DEBUG_COMMANDS: "true",
      ...(second && { SECOND_TOKEN: (await ownerOf(second.server)).token(), IRM_ALLOW_TOKEN_SOURCES: "SECOND_TOKEN" }),
    };
    const source = sourceOf(isNative ? "pulumi-irm/plugin" : "pulumi-irm");
    const program = await place.program("case", source, env, {
      ownProcess,
      ownHost: true,
      ...(isNative && { plugin }),
    });
    const flags = second ? ["--service", `${baseUrl}=SECOND_TOKEN`] : [];
    const isInPart = mayBeInPart && !second && random.below(4) === 0;
    const inPart = isInPart ? await readerOf(place, owner, cases, random) : undefined;
    // `inPart`: the review is that of one who sees a part. `second`: another service, which each program has resources at.
    return { place, owner, second, program, cases, random, inPart, flags, close };
  } catch (error) {
    await close();
    throw error;
  }
};

const prefixOf = (i: number): string => `o${i + 1}-`;

/** Whether a text of a run is about the case: it has a name of it, or a uid. */
export const isAbout = ({ prefix, organizations }: Case, text: string): boolean =>
  [...text.matchAll(/\bo\d+-/g)].some(([found]) => found === prefix) || organizations.some((uid) => text.includes(uid));

/** Whether a record with this uid is of the case. */
export const isOf = ({ organizations }: Case, uid: string): boolean => organizations.includes(rootOf(uid));

/** Uids of one for each: the first one is the server's own. */
const organizationsOf = async ({ server }: Workplace, { create, renewToken }: Owner, all: readonly unknown[]) => {
  const uids = [server.organization];
  for (const [i] of all.entries()) if (i > 0) uids.push(await create("groups", { name: `${prefixOf(i)}organization` }));
  await renewToken();
  return uids;
};

/** The environment of an identity that reads some of each organization, or some of the kinds. */
const readerOf = async (place: Workplace, owner: Owner, cases: readonly Case[], random: Random) => {
  const { organization, issuer } = place.server;
  const { create } = owner;
  const claimMatch = { issuer, subject: READER };
  const reader = await create(`identities/${organization}`, { name: READER, claimMatch });
  const [viewer] = place.rows("roles", "name = 'viewer' AND parent IS NULL");
  const all = viewer?.body.capabilities as string[];
  const hidden = random.pick([
    "CAP_IAM_IDENTITY_PROVIDERS_LIST",
    "CAP_IAM_GROUP_INVITES_LIST",
    "CAP_IAM_ROLE_BINDINGS_LIST",
  ]);
  for (const { made } of cases) {
    const isOfPlace = random.below(2) === 0;
    // Roles of the organization are named by all programs, and policies name it.
    const capabilities = isOfPlace
      ? ["CAP_IAM_ROLES_LIST", "CAP_IAM_GROUPS_LIST"]
      : all.filter((name) => name !== hidden);
    const role = await create(`roles/${made.organization}`, { name: "some", capabilities });
    if (isOfPlace) await create(`roleBindings/${made.home}`, { identityUid: reader, roleUid: viewer?.uid });
    await create(`roleBindings/${made.organization}`, { identityUid: reader, roleUid: role });
  }
  const file = join(place.folder, "reader-token");
  writeFileSync(file, await mintDevToken(issuer, { subject: READER }), { mode: 0o600 });
  return { IRM_IDENTITY: reader, IRM_IDENTITY_TOKEN_FILE: file };
};

/** An identity that no edit changes. */
export const READER = "reader";

/** Writes the program of all: what each of them has described. */
export const writeProgram = ({ program, cases }: Pick<Group, "program" | "cases">): void => {
  const described = cases.flatMap((one) => one.described ?? []);
  writeFileSync(join(program.folder, DESCRIPTION), JSON.stringify(together(described)));
  for (const { prefix, described: one } of cases) {
    const { uids } = one ?? {};
    if (uids) writeFileSync(join(program.folder, `${prefix}${UIDS}`), JSON.stringify(uids));
  }
};
