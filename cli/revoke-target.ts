// What `irm revoke` removes: all role bindings of an identity, one role binding, or one mapping of an external group.
import { existsSync } from "node:fs";
import { hiddenLines } from "../access/format/words.ts";
import { type AccessGraph, type IdentityNode, type NodeId, placesIn } from "../access/graph/graph.ts";
import { type Live, readLive } from "../access/graph/live.ts";
import { PolicyEditError } from "../access/policy/edit/document.ts";
import { isComplete } from "../access/query/answer.ts";
import { resolveQuestion } from "../access/query/question.ts";
import type { Holder } from "../access/revoke/holder.ts";
import { bindingsOf, type HeldBinding, heldFrom } from "../access/revoke/holder.ts";
import { mappingIn, type PolicyRevocation, revocationIn } from "../access/revoke/policy.ts";
import { POLICY } from "../access/test/file.ts";
import { quote } from "../access/text.ts";
import type { Client } from "../client/client.ts";
import { printable, UserError } from "../schema/index.ts";

/** One of them. */
export interface Wanted {
  /** uid or name */
  identity?: string;
  /** uid of a role binding */
  binding?: string;
  /** uid of a mapping of an external group */
  externalGroup?: string;
}

export interface Target {
  graph: AccessGraph;
  holder: Holder;
  /** path of the group of the holder */
  place: string;
  /** the caller's */
  isOwn: boolean;
  /** one grant, and not all that the holder has */
  isOne: boolean;
  held: HeldBinding[];
  policy: PolicyRevocation | { problem: string };
  /** where role bindings cannot be listed */
  hidden: string[];
}

export const findTarget = async (client: Client, { identity, binding, externalGroup }: Wanted): Promise<Target> => {
  const live = await readLive(client);
  const { graph, notVisible } = live;
  if (externalGroup !== undefined) return mappingTarget(graph, externalGroup);
  const one = binding === undefined ? undefined : bindingWith(live, binding);
  const { holder, held } = one ?? allOf(live, identity as string);
  const only = one?.held[0];
  return {
    graph,
    holder: { uid: holder.id, name: holder.name },
    place: placesIn(graph)(holder.group),
    isOwn: (await client.identity()) === holder.id,
    isOne: one !== undefined,
    held,
    policy: existsSync(POLICY) ? revocationIn(POLICY, graph, holder, only) : NO_POLICY,
    hidden: one
      ? []
      : hiddenLines(
          graph,
          notVisible.filter(({ kind }) => kind === "roleBinding"),
        ),
  };
};

const NO_POLICY: PolicyRevocation = { edit: { entries: [], files: [] }, rows: [], declared: new Set() };

interface Found {
  holder: IdentityNode;
  held: HeldBinding[];
}

const allOf = ({ graph, notVisible }: Live, text: string): Found => {
  const { identity } = resolveQuestion(graph, { identity: text }, isComplete(notVisible)) as { identity: IdentityNode };
  return { holder: identity, held: bindingsOf(graph, identity.id) };
};

// A role binding shows its identity, which is in the graph with it.
const bindingWith = ({ graph }: Live, uid: string): Found => {
  const node = graph.bindings.get(uid) ?? refuse(graph, uid, "role binding", "--binding");
  return { holder: graph.identities.get(node.identity) as IdentityNode, held: [heldFrom(graph)(node)] };
};

const mappingTarget = (graph: AccessGraph, uid: string): Target => {
  const node = graph.externalGroups.get(uid) ?? refuse(graph, uid, "external group role mapping", "--external-group");
  const { provider, externalGroupId } = node;
  const { name = provider, group = provider } = graph.providers.get(provider) ?? {};
  return {
    graph,
    holder: { uid: provider, name, externalGroup: externalGroupId },
    place: placesIn(graph)(group),
    isOwn: false,
    isOne: true,
    held: [heldFrom(graph)(node)],
    policy: existsSync(POLICY) ? mappingPolicy(graph, uid) : NO_POLICY,
    hidden: [],
  };
};

/** An edit takes out role bindings only. */
const mappingPolicy = (graph: AccessGraph, uid: NodeId): Target["policy"] => {
  try {
    const entry = mappingIn(POLICY, graph, uid);
    return entry === undefined ? NO_POLICY : { problem: `take out ${printable(entry)}` };
  } catch (error) {
    if (!(error instanceof PolicyEditError)) throw error;
    return { problem: error.message };
  }
};

const refuse = (graph: AccessGraph, uid: string, what: string, flag: string): never => {
  const other = graph.bindings.has(uid)
    ? "; it is a role binding: give --binding"
    : graph.externalGroups.has(uid)
      ? "; it is an external group role mapping: give --external-group"
      : graph.identities.has(uid)
        ? "; it is an identity: --identity removes all its access"
        : "; `npx pulumi-irm drift` prints the uids of grants that nothing declares";
  throw new UserError(`${flag}: you can see no ${what} with the uid ${quote(uid)}${other}`);
};
