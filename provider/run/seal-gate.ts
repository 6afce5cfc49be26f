// A run under a seal (access/seal/): the provider sends nothing that the review did not show. Every request that writes passes this gate,
// whatever step sends it, and so does every create and update of a resource, with its inputs.
import { factsWith, UnreadableFact } from "../../access/seal/facts.ts";
import { type Judge, judgeWith } from "../../access/seal/judge.ts";
import type { Seal } from "../../access/seal/seal.ts";
import { writesOf } from "../../access/seal/writes.ts";
import type { Call, Client } from "../../client/client.ts";
import type { Config, Env } from "../../client/config.ts";
import { withSection } from "../../client/recovery.ts";
import { runIn } from "../../client/run-file.ts";
import { type Json, type OperationName, operations, printable } from "../../schema/index.ts";
import { uidIn } from "../record/id.ts";
import { KEY } from "../record/state.ts";
import { stackOf } from "./journal.ts";
import type { Ownership } from "./ownership.ts";
import { stackSetting } from "./project-file.ts";
import { openSeal, RunRefused, refused, VARIABLES } from "./seal-file.ts";
import { recordsIn, resourceOf, type SealRecords, withoutOrganization } from "./seal-records.ts";
import { createSealTurns } from "./seal-turns.ts";
import type { StoredStacks } from "./stored-stack.ts";

export interface SealGate {
  /** Throws where the seal does not contain the create or update of a resource with these inputs. */
  step(op: "create" | "update", inputs: Json): Promise<void>;
  /** Throws where the seal does not bind this run. `outputs`: of the resource; `isDeclared`: a program runs. */
  removal(outputs: Json, isDeclared: boolean): Promise<void>;
  /** Throws where the seal does not show that the run takes over this record, or where others control it now. */
  adoption(kind: string, uid: string): Promise<void>;
  /** Throws where the seal does not contain one of these deletions, so that none of them begins. */
  deletions(records: readonly { operation: OperationName; uid: string }[]): Promise<void>;
  /** Throws, before anything is sent, where the seal does not contain the request. */
  call: Call;
}

interface Parts {
  settings: Pick<Config, "seal" | "provider">;
  /** no program has declared anything yet */
  isDestroy: boolean;
  env: Env;
  cwd: string;
  client: Client;
  service: string;
  ownership: Pick<Ownership, "ownerOf" | "originOf" | "inStateOf">;
  engineState: StoredStacks["engineState"];
}

/** One step is refused: the others of the run may be in the seal. */
export class SealRefusal extends Error {
  override readonly name = "SealRefusal";
}

/** Undefined where no seal is given, and none is required. */
export const sealGate = (parts: Parts): SealGate | undefined => {
  const { settings, env, cwd, client, service, ownership, engineState, isDestroy } = parts;
  const { IRM_SEAL_REQUIRED: required, IRM_SEAL_DIGEST: digest } = env;
  const isRequired = Object.keys(VARIABLES).some((name) => env[name] !== undefined);
  let file = settings.seal;
  const isBound = (): boolean => isRequired || file !== undefined;
  // The engine gives a destroy the configuration of the last update. The first deletion reads that of now.
  let isRemembered = isDestroy && !env.IRM_SEAL && settings.provider === undefined && runIn(env) === undefined;
  if (!isBound() && !isRemembered) return undefined;
  const turns = createSealTurns();
  let opened: Promise<Opened> | undefined;
  /** organization/project/stack, from the first resource */
  let stack: string | undefined;
  const note = ({ [KEY]: key }: Json): void => {
    stack ??= typeof key === "string" ? stackOf(key) : undefined;
  };
  const open = (): Promise<Opened> => {
    opened ??= openSeal({ file, digest, required, env, cwd, client, service }).then((seal) => {
      const records = recordsIn(seal, { ownership, engineState, client });
      return { seal, records, judge: judgeWith(seal, factsWith(client, seal.unlisted), records, resourceOf) };
    });
    // The service may not have answered.
    opened.catch((error) => {
      if (!(error instanceof RunRefused)) opened = undefined;
    });
    return opened;
  };
  const require = async (ask: (judge: Judge) => readonly string[] | Promise<readonly string[]>): Promise<void> => {
    if (!isBound()) return;
    const { judge, records } = await open();
    const known = records.count();
    const judged = await problemsBy(judge, ask);
    if (judged.problems.length === 0) return;
    await records.learn(stack);
    const isMore = records.count() > known;
    // Learning takes its time.
    if (isMore) judge.forget();
    const { problems, isRead } = isMore ? await problemsBy(judge, ask) : judged;
    if (problems.length === 0) return;
    const head = `the seal ${file} does not contain this, and nothing is sent:`;
    const lines = [...new Set(problems)].map(printable);
    const text = [head, ...lines].join("\n  - ");
    throw new SealRefusal(withSection(isRead ? `${text}\n${ADVICE}` : text, "seal"));
  };
  const requireStack = async (resource: string | undefined): Promise<void> => {
    if (!isBound()) return;
    const { stack } = (await open()).seal.origin;
    if (resource !== undefined && !resource.startsWith(`${stack}/`))
      throw refused(`the seal ${file} is of stack ${stack}, and this is another one`);
  };
  return {
    step: async (op, inputs) => {
      note(inputs);
      const resource = resourceIn(inputs);
      await requireStack(resource);
      const replaced = (): string[] => (op === "create" ? ownership.inStateOf(String(inputs[KEY])).map(uidIn) : []);
      await require((judge) => judge.step(resource ?? "", op, inputs, replaced()));
    },
    removal: async (outputs, isDeclared) => {
      note(outputs);
      const resource = resourceIn(outputs);
      if (!isDeclared && isRemembered && resource !== undefined) {
        file = sealNow(cwd, resource) ?? file;
        isRemembered = false;
      }
      await requireStack(resource);
    },
    adoption: (kind, uid) => require((judge) => judge.adoption(kind, uid)),
    deletions: (records) =>
      require(async (judge) => {
        const verdicts = records.map(({ operation, uid }) => judge.request(operation, { uid }));
        return (await Promise.all(verdicts)).flatMap(({ problems }) => problems);
      }),
    call: (operation, request, options = {}) => {
      if (!isBound() || operations[operation].method === "GET") return client.call(operation, request, options);
      let attempts = 0;
      let keep = (): void => undefined;
      const forget = async (): Promise<void> => (await open()).judge.forget();
      const send = () =>
        client.call(operation, request, {
          ...options,
          // Right before the request, so that the facts are of this moment. An attempt after another one may come minutes later.
          beforeSend: async () => {
            if (attempts > 0) await forget();
            attempts += 1;
            await require(async (judge) => {
              const verdict = await judge.request(operation, request as Json);
              ({ keep } = verdict);
              return verdict.problems;
            });
            await options.beforeSend?.();
          },
        });
      const role = roleOf(operation, request as Json);
      const sent = role === undefined ? turns.beside(send) : turns.alone(send);
      return sent.then(
        async (response) => {
          keep();
          if (role !== undefined) (await open()).judge.forget({ kind: "role", uid: role });
          return response;
        },
        async (error: unknown) => {
          if (attempts > 0 && !(error instanceof SealRefusal)) await forget();
          throw error;
        },
      );
    },
  };
};

/** uid of the role that the request changes */
const roleOf = (operation: OperationName, request: Json): string | undefined => {
  const writes = writesOf(operation, request);
  if (writes === undefined || writes === "unknown") return undefined;
  return writes.find(({ kind, verb }) => kind === "role" && verb === "update")?.uid;
};

interface Opened {
  seal: Seal;
  records: SealRecords;
  judge: Judge;
}

const ADVICE = `Review the change again, as it is now, and apply it under the new seal.
If that seal refuses it too, the program does in its update what its preview does not show.`;

const problemsBy = async (judge: Judge, ask: (judge: Judge) => readonly string[] | Promise<readonly string[]>) => {
  try {
    return { problems: await ask(judge), isRead: true };
  } catch (error) {
    if (error instanceof UnreadableFact) return { problems: [error.message], isRead: false };
    throw error;
  }
};

/** The seal that the configuration of the resource's stack names now. */
const sealNow = (cwd: string, resource: string): string | undefined => {
  const value = stackSetting(cwd, resource.split("/")[1] as string, "irm:seal");
  if (value === undefined || typeof value === "string") return value || undefined;
  throw refused("irm:seal of the stack's configuration is a secret; set it as plain text, or set IRM_SEAL");
};

/** `project/stack/type::name` */
const resourceIn = ({ [KEY]: key }: Json): string | undefined =>
  typeof key === "string" ? withoutOrganization(key) : undefined;
