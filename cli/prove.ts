// Carries a path out on a copy of the organization: sends its requests, each as its caller, to a server in this process. For a cautious path,
// the copy lacks anti-escalation.
import type { Copy } from "../access/copy/copy.ts";
import { type Path, type Proof, type Proofs, workloadOf } from "../access/paths/path.ts";
import type { Step } from "../access/paths/reached.ts";
import { isAncestorOrSelf, isApiError, isObject, type Json } from "../schema/index.ts";
import { openDatabase } from "../server/store/database.ts";
import { takeSnapshot } from "../server/store/snapshot.ts";
import { createStore } from "../server/store/store.ts";
import { accessOf } from "./twin/access.ts";
import { startTwin, type Twin } from "./twin/twin.ts";

/** `address`: of the original. */
export const provePaths = async (paths: readonly Path[], copy: Copy, address: string): Promise<Proofs> => {
  const proofs = new Map<Path, Proof>();
  /** `restore` brings the copied records back. */
  const stages = new Map<Path["assumes"], { twin: Twin; restore(): void }>();
  try {
    for (const path of paths) {
      const message = personIn(path);
      if (message !== undefined) {
        proofs.set(path, { carriedOut: false, needsPerson: true, message });
        continue;
      }
      let stage = stages.get(path.assumes);
      if (stage === undefined) {
        const store = createStore(openDatabase(":memory:"));
        const twin = await startTwin(copy, address, { store, withoutAntiEscalation: path.assumes === "cautious" });
        stage = { twin, restore: takeSnapshot(store) };
        stages.set(path.assumes, stage);
      }
      proofs.set(path, await carryOut(path, stage.twin));
      stage.restore();
    }
    return proofs;
  } finally {
    for (const { twin } of stages.values()) await twin.close();
  }
};

/** The reason why a person must act: a step of a workload without an exchange for an identity, or an unknown workload. */
const personIn = (path: Path): string | undefined => {
  const step = path.steps.find((one) => one.as === "workload" && identityOf(one) === undefined);
  if (step !== undefined) return step.why;
  const isUnknown = JSON.stringify(path.steps).includes("<");
  return isUnknown && workloadOf(path) === undefined ? "it is not known which workload starts" : undefined;
};

/** The identity that a workload exchanges its token for. */
const identityOf = ({ path }: Step) =>
  path.startsWith("/sts/exchange?") ? /[?&]identity=([^&]*)/.exec(path)?.[1] : undefined;

const carryOut = async (path: Path, twin: Twin): Promise<Proof> => {
  const created: string[] = [];
  const filled = (text: string) =>
    text.replaceAll(/\$\{(\d+)\.uid\}/g, (_, number) => created[Number(number) - 1] ?? "");
  const assumed = new Map<string, string>();
  const tokenOf = async (identity: string) => assumed.get(identity) ?? (await twin.tokenOf(identity));
  for (const [i, step] of path.steps.entries()) {
    const identity = step.as === "workload" ? filled(identityOf(step) ?? "") : undefined;
    try {
      // Issuers sign no tokens for a copy. So the rule of the identity decides, without a signature.
      if (identity !== undefined) assumed.set(identity, await twin.tokenOf(identity, workloadOf(path)));
      else created[i] = await send(twin.url, await tokenOf(filled(step.as)), step, filled);
    } catch (error) {
      if (!(isApiError(error) || error instanceof StepError)) throw error;
      return { carriedOut: false, step: i + 1, message: error.message };
    }
  }
  const held = (await accessOf(twin, [path.end])).get(path.end);
  const holds = path.gains.filter(({ capability, group }) =>
    [...(held ?? [])].some(([at, own]) => isAncestorOrSelf(at, group) && own.has(capability)),
  );
  if (holds.length === path.gains.length) return { carriedOut: true, holds };
  const missing = path.gains.find((gain) => !holds.includes(gain));
  const message = `the last caller does not hold ${missing?.capability} at ${missing?.group}`;
  return { carriedOut: false, step: path.steps.length, message };
};

/** The copy refuses a request. */
class StepError extends Error {
  override readonly name = "StepError";
}

/** The uid of the record that the request creates. */
const send = async (
  url: string,
  token: string,
  { method, path, body }: Step,
  filled: (text: string) => string,
): Promise<string> => {
  const answer = await fetch(url + filled(path), {
    method,
    redirect: "error",
    headers: { authorization: `Bearer ${token}`, ...(body !== null && { "content-type": "application/json" }) },
    ...(body !== null && { body: filled(JSON.stringify(body)) }),
  });
  const text = await answer.text();
  const json: unknown = text === "" ? {} : JSON.parse(text);
  const record: Json = isObject(json) ? json : {};
  if (!answer.ok) throw new StepError(String(record.message ?? text));
  return String(record.uid ?? "");
};
