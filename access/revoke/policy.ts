// What a policy grants to an identity, and the edit that takes it out.
import { type AccessGraph, type IdentityNode, type NodeId, pathOf } from "../graph/graph.ts";
import { PolicyEditError } from "../policy/edit/document.ts";
import { openPolicy, type PolicyEdit, stackOf } from "../policy/edit/open.ts";
import { removalOf } from "../policy/edit/remove.ts";
import { policyGraph } from "../policy/index.ts";
import { bindingsOf } from "./held.ts";

export interface PolicyRevocation {
  /** empty where the policy does not give the identity a role */
  edit: PolicyEdit;
  /** uids of the live role bindings that it declares */
  declared: ReadonlySet<NodeId>;
}

/** Or why the policy has to be edited by hand. */
export const revocationIn = (
  file: string,
  graph: AccessGraph,
  identity: IdentityNode,
): PolicyRevocation | { problem: string } => {
  try {
    const opened = openPolicy(file);
    const twins = [...graph.identities.values()].filter(
      ({ group, name }) => group === identity.group && name === identity.name,
    );
    const stack = stackOf(opened);
    const { identities, graph: wanted } = policyGraph(opened.policy, graph, stack);
    // A name may be that of any of them. A uid is not.
    const doubtful = [...identities].find(
      ([key, id]) => twins.some((twin) => twin.id === id) && stack?.identities.get(key) !== id,
    );
    if (doubtful && twins.length > 1) {
      const where = `${pathOf(graph, identity.group)} has ${twins.length} identities of the name ${identity.name}`;
      return { problem: `${file}: identities.${doubtful[0]} may be another one: ${where}` };
    }
    const keys = [...identities].flatMap(([key, id]) => (id === identity.id ? key : []));
    const bindings = opened.policy.bindings.filter((one) => keys.includes(one.identity));
    const declared = bindingsOf(wanted, identity.id).map(({ binding }) => binding);
    return { edit: removalOf(opened, { bindings }), declared: new Set(keys.length > 0 ? declared : []) };
  } catch (error) {
    if (!(error instanceof PolicyEditError)) throw error;
    return { problem: error.message };
  }
};
