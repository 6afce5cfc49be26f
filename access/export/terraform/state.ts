// The state of Terraform: what `terraform state pull` prints, or `terraform show -json`.
// https://developer.hashicorp.com/terraform/internals/json-format
import { isObject, type Json } from "../../../schema/index.ts";
import { type Address, addressFrom } from "./address.ts";

/** A resource instance of the provider. */
export interface Instance {
  address: Address;
  /** the record's; undefined where the state has none */
  id: unknown;
  /** undefined: in a form that this version does not read */
  attributes: Json | undefined;
  /** Terraform would replace it */
  isTainted: boolean;
  /** an older object that Terraform has replaced and not destroyed yet */
  isDeposed: boolean;
}

/** Something that refers to resources. */
interface Dependent {
  address: Address;
  isData: boolean;
  /** resources without keys: `module.team.chainguard_group.platform` */
  dependsOn: readonly string[];
}

export interface TerraformState {
  /** absent in `show -json` */
  serial?: number;
  instances: readonly Instance[];
  /** resource instances of other providers */
  others: number;
  /** data sources of any provider */
  dataSources: number;
  dependents: readonly Dependent[];
}

/** Why a text is no state. It never quotes the text: a state holds secrets. */
export class StateError extends Error {
  override readonly name = "StateError";
}

const HOW_TO = "Give it what `terraform state pull` or `terraform show -json` prints";

export const parseState = (text: string): TerraformState => {
  const document = parseJson(text);
  if (!isObject(document)) throw new StateError(`is not a Terraform state file. ${HOW_TO}`);
  if ("format_version" in document) return shownState(document);
  if ("encrypted_data" in document) throw new StateError("is encrypted. Give it what `tofu state pull` prints");
  if (!("version" in document)) throw new StateError(`is not a Terraform state file. ${HOW_TO}`);
  if (document.version !== 4)
    throw new StateError(
      `is a state of version ${textOf(document.version)}, and only version 4 can be read. ${HOW_TO}, by Terraform 0.12 or later`,
    );
  return pulledState(document);
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    // The error of the parser quotes the text.
    throw new StateError(text.trim() === "" ? `is empty. ${HOW_TO}` : `is not JSON. ${HOW_TO}`);
  }
};

const textOf = (value: unknown): string =>
  typeof value === "number" || (typeof value === "string" && /^[\w.-]{1,20}$/.test(value)) ? String(value) : "unknown";

const listOf = (value: unknown, what: string): Json[] => {
  const list = value ?? [];
  if (!Array.isArray(list) || !list.every(isObject)) throw new StateError(`is damaged: ${what} is no list of objects`);
  return list;
};

const addressOf = (...parts: Parameters<typeof addressFrom>): Address => {
  const address = addressFrom(...parts);
  if (address === undefined) throw new StateError("is damaged: it has a resource whose address is none");
  return address;
};

const dependenciesOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

// On any host, since mirrors and OpenTofu have their own, and with any alias. A state of Terraform 0.12 has the bare name.
const PROVIDER = [
  /^(?:.*\.)?provider\["(?:[^"]+\/)?chainguard"\](?:\.[\w-]+)?$/s,
  /^(?:[^"[\]]+\/)?chainguard$/,
  /^provider\.chainguard(?:\.[\w-]+)?$/,
];

const isOurs = (provider: unknown): boolean =>
  typeof provider === "string" && PROVIDER.some((pattern) => pattern.test(provider));

/** Collects what both forms have. */
const collector = () => {
  const instances: Instance[] = [];
  const dependents: Dependent[] = [];
  const counts = { others: 0, dataSources: 0 };
  const add = (mode: unknown, isOfProvider: boolean, instance: Instance, dependsOn: string[]): void => {
    const isData = mode !== "managed";
    if (isData) counts.dataSources += 1;
    else if (isOfProvider) instances.push(instance);
    else counts.others += 1;
    if (dependsOn.length > 0) dependents.push({ address: instance.address, isData, dependsOn });
  };
  return { add, result: () => ({ instances, dependents, ...counts }) };
};

const pulledState = (document: Json): TerraformState => {
  const { add, result } = collector();
  for (const { module, mode, type, name, provider, instances } of listOf(document.resources, "resources"))
    for (const one of listOf(instances, "instances of a resource")) {
      const attributes = isObject(one.attributes) ? one.attributes : undefined;
      const instance = {
        address: addressOf(module, type, name, one.index_key),
        id: attributes?.id,
        attributes,
        isTainted: one.status === "tainted",
        isDeposed: one.deposed !== undefined && one.deposed !== "",
      };
      add(mode, isOurs(provider), instance, dependenciesOf(one.dependencies));
    }
  return { ...(typeof document.serial === "number" && { serial: document.serial }), ...result() };
};

const shownState = (document: Json): TerraformState => {
  if ("planned_values" in document || "resource_changes" in document)
    throw new StateError(`is a plan, not a state. ${HOW_TO} without the name of a plan`);
  if (typeof document.format_version !== "string" || !/^1\.\d+$/.test(document.format_version))
    throw new StateError(
      `has the format version ${textOf(document.format_version)}, and only 1.x can be read. Give it what \`terraform state pull\` prints`,
    );
  const { add, result } = collector();
  // A state without resources has no values.
  const { root_module: root = {} } = (document.values ?? {}) as Json;
  if (!isObject(root)) throw new StateError("is damaged: root_module is no object");
  const modules = [root];
  for (const { address: module, resources, child_modules: children } of modules) {
    for (const one of listOf(resources, "resources")) {
      const attributes = isObject(one.values) ? one.values : undefined;
      const instance = {
        address: addressOf(module, one.type, one.name, one.index),
        id: attributes?.id,
        attributes,
        isTainted: one.tainted === true,
        isDeposed: one.deposed_key !== undefined,
      };
      add(one.mode, isOurs(one.provider_name), instance, dependenciesOf(one.depends_on));
    }
    modules.push(...listOf(children, "child_modules"));
  }
  return result();
};
