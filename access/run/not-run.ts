// Steps that a run on a copy leaves out, because they need an unknown value of another provider, and the facts that each may hide.

import type { Step } from "../../pulumi/preview.ts";
import { partsOfUrn } from "../../pulumi/urn.ts";
import { valuesIn } from "../../pulumi/value.ts";
import { isUidp, type Json, printable } from "../../schema/index.ts";
import type { AccessGraph } from "../graph/graph.ts";
import type { Hidden, UnknownPart } from "../review/proposal.ts";
import { kindOfUrn, type ResourceKind, wordOf } from "./stack.ts";

export interface NotRun {
  urn: string;
  op: string;
  why: string;
}

/** `steps`: the steps of the preview, with the known inputs. */
export const unknownOf = ({ urn, op, why }: NotRun, steps: readonly Step[], { roles }: AccessGraph): UnknownPart[] => {
  const kind = kindOfUrn(urn);
  const { name } = partsOfUrn(urn);
  const own = steps.filter((one) => one.urn === urn);
  const inputs = valuesIn(own.find(({ newState }) => newState)?.newState?.inputs);
  const id = own.find(({ oldState }) => oldState?.id)?.oldState?.id ?? urn;
  const message = `${kind === undefined ? "resource" : wordOf(kind)} ${printable(name)}: ${why}`;
  const hidden = kind === undefined || op.includes("delete") ? [] : hiddenBy(kind, inputs, id, roles);
  return hidden.length === 0
    ? [{ subject: name, message }]
    : hidden.map((hides) => ({ subject: name, message, hides }));
};

const hiddenBy = (kind: ResourceKind, inputs: Json, id: string, roles: AccessGraph["roles"]): Hidden[] => {
  const known = (value: unknown) => (isUidp(value) ? value : undefined);
  const part = (name: "identity" | "role" | "group", uid: string | undefined) =>
    uid === undefined ? {} : { [name]: uid };
  const group = part("group", known(inputs.parent));
  const isTakeover = inputs.adopt != null && known(inputs.adopt) === undefined;
  switch (kind) {
    case "roleBinding": {
      const named = [...roles.values()].filter(({ name }) => name === inputs.role);
      const role = known(inputs.role) ?? (named.length === 1 ? named[0]?.id : undefined);
      const binding: Hidden = {
        of: "binding",
        ...part("identity", known(inputs.identity)),
        ...part("role", role),
        ...group,
      };
      return isTakeover ? [binding, { of: "takeover", kind: "role binding", inputs }] : [binding];
    }
    case "roleBindingSet":
      return [{ of: "bindings", ...group }];
    case "group":
      return isTakeover ? [{ of: "takeover", kind, inputs }] : [];
    case "identity":
      return [isTakeover ? { of: "takeover", kind, inputs } : { of: "assumable", identity: id }];
    case "role":
      return [isTakeover ? { of: "takeover", kind, inputs } : { of: "capabilities", role: id }];
    case "identityProvider":
      return [{ of: "people", ...group }, { of: "issuer" }];
    case "groupInvite":
      return [{ of: "people", ...group }];
    case "externalGroupRoleMapping":
      return [{ of: "people" }];
  }
};
