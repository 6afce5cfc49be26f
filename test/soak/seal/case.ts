// One case: a sealed stack, and what the server decides about it.

import { readLive } from "../../../access/graph/live.ts";
import type { Proposal } from "../../../access/review/proposal.ts";
import { differencesBetween } from "../../../access/seal/differences.ts";
import type { SealContent } from "../../../access/seal/seal.ts";
import { TOKEN_PREFIX, TYPE_PREFIX } from "../../../provider/record/kind.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { createStore, type Store } from "../../../server/store/store.ts";
import { type Adapter, typeOf } from "../../harness/small-engine/provider.ts";
import type { Engine } from "../../harness/small-engine/run.ts";
import { openSealed, type Sealed, STACK } from "../../harness/small-engine/sealed.ts";
import { readState } from "../../harness/small-engine/state.ts";
import { authorizationOf } from "../access/authorization.ts";
import { type Moment, type Shown, shownBy } from "./shown.ts";

export interface SealCase extends Omit<Sealed, "bound"> {
  /** under the seal of the file */
  bound: Engine;
  /** the same in a process, with another one for the plugin */
  killable: Engine;
  moment(): Promise<Moment>;
  shownBy(proposal: Proposal): Shown;
}

export const openCase = async (adapter: Adapter): Promise<SealCase> => {
  const store = createStore(openDatabase(":memory:"));
  const stack = await openSealed(adapter, { store, speed: 20 });
  const { testbed, file } = stack;
  const killable = testbed.engine(STACK, { env: { IRM_SEAL: file }, checkpoints: "on", pluginProcess: true });
  const idOf = (id: string): string => {
    const { resources } = readState(testbed.stateFile(STACK));
    const prefix = adapter === "native" ? TOKEN_PREFIX : TYPE_PREFIX;
    const urns = resources.flatMap((one) =>
      one.delete ? [] : [[`urn:pulumi:${STACK}::faults::${prefix}${typeOf(one.kind)}::${one.name}`, one.id] as const],
    );
    return new Map<string, string>(urns).get(id) ?? id;
  };
  return {
    ...stack,
    ...{ bound: stack.bound(), killable },
    moment: async () => ({
      live: await readLive(stack.client()),
      authorization: authorizationOf(organizationIn(store)),
    }),
    shownBy: (proposal) => shownBy(proposal, idOf),
    close: async () => {
      await killable.kill();
      await stack.close();
    },
  };
};

/** All that is in the store. */
const organizationIn = (store: Store): Parameters<typeof authorizationOf>[0] => {
  const uids = (table: string): string[] =>
    store
      .statement(`SELECT uid FROM ${table} ORDER BY rowid`)
      .all()
      .map(({ uid }) => uid as string);
  return { store, uids, identities: () => uids("identities") };
};

export const differs = (seal: SealContent, now: SealContent): string[] =>
  differencesBetween(seal, now).map(({ message }) => message);
