// Functions: the look-ups and lists of the TypeScript programs. They return the API's messages.

import type { KindName } from "../../provider/kind/index.ts";
import type { Kind } from "../../provider/record/kind.ts";
import { argumentOf } from "../../provider/record/state.ts";
import { messageInfo, type Operation } from "../../schema/index.ts";
import { describeOutputs } from "./resource.ts";
import type { Descriptions, FunctionSpec, ObjectSpec, Properties, TypeSpec } from "./spec.ts";
import { type Describe, propertySpec, type Types, token } from "./types.ts";

interface LookUp {
  /** name of its arguments in provider/program */
  declaration: string;
  names: readonly string[];
  required?: readonly string[];
}

const atRoot: LookUp = { declaration: "GetArgs", names: ["name", "parent"], required: ["name"] };
const inGroup = (declaration: string): LookUp => ({ declaration, names: ["uid", "name", "parent"] });

/** The arguments of each look-up, all of them texts. Nothing looks for a single role binding. */
const LOOK_UPS: Readonly<Record<Exclude<KindName, "roleBinding">, LookUp>> = {
  group: atRoot,
  identity: atRoot,
  role: atRoot,
  repo: inGroup("GetRepoArgs"),
  identityProvider: inGroup("GetIdentityProviderArgs"),
  tag: { declaration: "GetTagArgs", names: ["uid", "name", "repo"] },
  groupInvite: { declaration: "GetByUidArgs", names: ["uid"], required: ["uid"] },
  accountAssociation: { declaration: "GetAccountAssociationArgs", names: ["group"], required: ["group"] },
};

/** Fields of a list request that page through it: the plugin reads all pages. */
const PAGING = ["pageToken", "skip"];

export const functionSpecs = (kind: Kind, types: Types, descriptions: Descriptions): Record<string, FunctionSpec> => {
  const { type, list } = kind;
  const found = (LOOK_UPS as Partial<Record<string, LookUp>>)[kind.field];
  return {
    ...(found && { [token(`get${type}`)]: lookUpSpec(kind, found, types, descriptions) }),
    [token(`list${list.operation.slice("List".length)}`)]: listSpec(kind, types, descriptions),
  };
};

const lookUpSpec = (
  kind: Kind,
  { declaration, names, required = [] }: LookUp,
  types: Types,
  descriptions: Descriptions,
): FunctionSpec => {
  const { member } = descriptions;
  const properties: Properties = Object.fromEntries(
    names.map((name) => [name, propertySpec({ type: "string" }, member(declaration, name))]),
  );
  return {
    description: member(`get${kind.type}`) ?? "",
    inputs: { type: "object", properties, ...(required.length > 0 && { required: [...required] }) } as ObjectSpec,
    outputs: types.object(kind.schema, "output", describeRecord(kind, descriptions)),
  };
};

const listSpec = (kind: Kind, types: Types, descriptions: Descriptions): FunctionSpec => {
  const { operation, plural } = kind.list;
  const { request, response } = kind.methods[operation] as Operation;
  const inputs = types.object(request, "input", () => undefined);
  for (const name of PAGING) delete inputs.properties[name];
  inputs.properties.pageSize = propertySpec({ type: "integer" }, "Records of one request; default and most: 200");
  const description = descriptions.member(operation.charAt(0).toLowerCase() + operation.slice(1));
  const field = response.shape[plural];
  if (field === undefined || description === undefined)
    throw new TypeError(`${operation} has no ${plural}, or no doc comment`);
  const items: TypeSpec = types.of(field, "output", describeRecord(kind, descriptions));
  return {
    description,
    inputs,
    outputs: {
      type: "object",
      properties: { [plural]: propertySpec(items, `The ${kind.words} that were found`) },
      required: [plural],
    },
  };
};

/** In the API's words, which do not speak of arguments. */
const describeRecord =
  (kind: Kind, { member, field }: Descriptions): Describe =>
  (name = "", ...path) => {
    const own = path.length === 0 ? field(messageInfo(kind.schema)?.message ?? "", name) : undefined;
    return own ?? describeOutputs(kind.type, member)(argumentOf(kind, name), ...path);
  };
