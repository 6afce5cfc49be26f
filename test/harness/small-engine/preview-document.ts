// The document that `pulumi preview --json --show-sames --refresh` prints, made with the provider's own methods.
import { TOKEN_PREFIX, TYPE_PREFIX } from "../../../provider/record/kind.ts";
import type { Json } from "../../../schema/index.ts";
import { type Declared, type Program, resolve } from "./program.ts";
import { type Adapter, type Provider, typeOf } from "./provider.ts";
import type { State, Stored } from "./state.ts";

interface Parts {
  provider: Provider;
  adapter: Adapter;
  state: State;
  /** organization/project/stack */
  stack: string;
}

type Named = Pick<Declared, "kind" | "name">;

interface Step extends Json {
  op: string;
}

/** `program` declares each resource after those that it refers to. Throws where the preview would fail. */
export const previewDocumentOf = async (
  { provider, adapter, state, stack }: Parts,
  program: Program,
): Promise<{ steps: Step[] } & Json> => {
  const [, project, own] = stack.split("/");
  const tokenOf = ({ kind }: Named): string => `${adapter === "native" ? TOKEN_PREFIX : TYPE_PREFIX}${typeOf(kind)}`;
  const urnOf = (one: Named): string => `urn:pulumi:${own}::${project}::${tokenOf(one)}::${one.name}`;
  const stateOf = (one: Named, members: { id?: string; inputs: Json; outputs?: Json }): Json => ({
    ...{ urn: urnOf(one), custom: true, type: tokenOf(one) },
    ...members,
  });

  const refreshed: Stored[] = [];
  const refreshes: Step[] = [];
  for (const stored of state.resources) {
    const live = await provider.read(stored, stored);
    const oldState = { ...stateOf(stored, shown(stored)), ...(stored.delete && { delete: true }) };
    refreshes.push({ op: "refresh", urn: urnOf(stored), oldState, ...(live && { newState: stateOf(stored, live) }) });
    if (live) refreshed.push({ ...stored, ...live });
  }

  const uids = new Map<string, string>();
  const steps: Step[] = [];
  for (const declared of program) {
    const { name, kind, inputs: given } = declared;
    const before = refreshed.find((one) => one.name === name && one.kind === kind && !one.delete);
    const news = resolve(given, uids);
    const check = async (olds: Json): Promise<Json> => {
      const { inputs, failures } = await provider.check(declared, olds, news, true);
      if (failures.length > 0)
        throw new Error(`${name}: ${failures.map(({ property, reason }) => `${property}: ${reason}`).join()}`);
      return inputs;
    };
    const add = (op: string, inputs: Json): void => {
      const newState = stateOf(declared, { ...(before && op !== "replace" && { id: before.id }), inputs });
      const oldState = before && stateOf(before, shown(before));
      steps.push({ op, urn: urnOf(declared), ...(oldState && { oldState }), newState });
    };
    const plan = async (op: string): Promise<void> => {
      const inputs = await check({});
      const outputs = await provider.preview(declared, inputs);
      const uid = outputs?.uid ?? inputs.uid;
      if (typeof uid === "string") uids.set(name, uid);
      add(op, inputs);
    };
    if (!before) {
      await plan("create");
      continue;
    }
    const inputs = await check(before.inputs);
    const { changes, replaces } = await provider.diff(declared, before, inputs);
    if (replaces.length > 0) {
      await plan("replace");
      continue;
    }
    if (changes) await provider.preview(declared, inputs, before);
    add(changes || before.initErrors ? "update" : "same", inputs);
    uids.set(name, before.id);
  }

  const isDeclared = (one: Stored): boolean =>
    program.some(({ name, kind }) => name === one.name && kind === one.kind) && !one.delete;
  const leaving = refreshed.filter((one) => !isDeclared(one));
  // The engine shows no step for what a killed replacement has left.
  const deleted = leaving.filter((one) => !one.delete);
  steps.push(...deleted.map((one) => ({ op: "delete", urn: urnOf(one), oldState: stateOf(one, shown(one)) })));
  const changeSummary = Object.fromEntries(
    [...Map.groupBy(steps, ({ op }) => op)].map(([op, some]) => [op, some.length]),
  );
  return { steps: [...refreshes, ...steps], diagnostics: [], duration: 1, changeSummary };
};

const shown = ({ id, inputs, outputs }: Stored) => ({ id, inputs, outputs });
