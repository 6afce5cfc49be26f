// Records that an update takes over by the uids beside a policy, and that the API does not show where the policy has them.
import { printable } from "../../schema/index.ts";
import type { Adoption } from "../policy/adoption.ts";
import type { PolicyGraph } from "../policy/graph.ts";
import type { UnknownPart } from "./proposal.ts";

const KINDS = { groups: "group", identities: "identity", roles: "role" } as const;

export const unseenTakeovers = (wanted: PolicyGraph, adoptions: readonly Adoption[]): UnknownPart[] =>
  adoptions
    .filter(({ section, key, uid }) => wanted[section].get(key) !== uid)
    .map(({ section, key, uid }): UnknownPart => {
      const kind = KINDS[section];
      const { capabilities = [] } = wanted.graph.roles.get(wanted.roles.get(key) ?? "") ?? {};
      return {
        subject: key,
        hides: { of: "takeover", kind, inputs: kind === "role" ? { capabilities } : {} },
        message: `${kind} ${printable(key)}: the update takes over ${uid}, by adopt.json, and the API does not show that where the policy has it`,
      };
    });
