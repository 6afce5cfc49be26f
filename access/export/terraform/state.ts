// The state of Terraform: the output of `terraform state pull`, or of `terraform show -json`.
// https://developer.hashicorp.com/terraform/internals/json-format
import { isObject, type Json, printable } from "../../../schema/index.ts";

// Addresses of Terraform: module.team["x"].chainguard_group.platform[0]

type Key = string | number;

/** A resource; with a key, one instance of it. */
export interface Address {
  /** as Terraform writes it: `module.team["x"]`; empty: the root module */
  module: string;
  type: string;
  name: string;
  key?: Key;
}

const IDENTIFIER = String.raw`[\p{ID_Start}_][\p{ID_Continue}-]*`;
const ESCAPE = String.raw`\\(?:[nrt"\\]|u[\da-fA-F]{4}|U(?:000[\da-fA-F]|0010)[\da-fA-F]{4})`;
const KEY = String.raw`\[(?:\d+|"(?:[^"\\]|${ESCAPE})*")\]`;
const MODULE = String.raw`module\.${IDENTIFIER}(?:${KEY})?`;
const isName = new RegExp(`^${IDENTIFIER}$`, "u");
const isModulePath = new RegExp(String.raw`^(?:${MODULE}(?:\.${MODULE})*)?$`, "su");
const keys = new RegExp(KEY, "gsu");

/** Undefined if a part of it is not a name. */
export const addressFrom = (module: unknown, type: unknown, name: unknown, key: unknown): Address | undefined => {
  const path = module ?? "";
  const isKey = key === undefined || key === null || typeof key === "string" || Number.isSafeInteger(key);
  if (typeof path !== "string" || !isModulePath.test(path) || !isIdentifier(type) || !isIdentifier(name) || !isKey)
    return undefined;
  return { module: path, type, name, ...(key != null && { key: key as Key }) };
};

const isIdentifier = (text: unknown): text is string => typeof text === "string" && isName.test(text);

/** A text of Terraform's language, with every invisible character escaped. */
const quoted = (text: string) => {
  const inner = [...text.replace(/([$%])\{/g, "$1$1{")].map((one) => {
    if (one === '"' || one === "\\") return `\\${one}`;
    if (one === "\n") return "\\n";
    if (one === "\r") return "\\r";
    if (one === "\t") return "\\t";
    if (printable(one) === one) return one;
    const code = (one.codePointAt(0) as number).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
  return `"${inner.join("")}"`;
};

const keyText = (key: Key | undefined) => {
  if (key === undefined) return "";
  return `[${typeof key === "number" ? key : quoted(key)}]`;
};

/** The address of the instance, as Terraform prints it. */
export const addressText = ({ module, type, name, key }: Address): string =>
  printable([...(module === "" ? [] : [module]), `${type}.${name}${keyText(key)}`].join("."));

/** The address of the resource in the configuration: without keys. */
export const resourceText = (address: Address): string => addressText(resourceOf(address));

export const resourceOf = ({ module, type, name }: Address): Address => ({
  module: module.replaceAll(keys, ""),
  type,
  name,
});

/** A text as one word of a POSIX shell. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A resource instance of the provider. */
export interface Instance {
  address: Address;
  /** the record's; undefined if the state has none */
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

/** Why a text is not a state. The message never quotes the text: a state contains secrets. */
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
      `is a state of version ${shownValue(document.version)}, and only version 4 can be read. ${HOW_TO}, by Terraform 0.12 or later`,
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

const shownValue = (value: unknown) =>
  typeof value === "number" || (typeof value === "string" && /^[\w.-]{1,20}$/.test(value)) ? String(value) : "unknown";

const listOf = (value: unknown, what: string) => {
  const list = value ?? [];
  if (!Array.isArray(list) || !list.every(isObject))
    throw new StateError(`is damaged: ${what} is not a list of objects`);
  return list;
};

const addressOf = (...parts: Parameters<typeof addressFrom>) => {
  const address = addressFrom(...parts);
  if (address === undefined) throw new StateError("is damaged: it has a resource whose address is none");
  return address;
};

// On any host, since mirrors and OpenTofu have their own hosts, and with any alias. A state of Terraform 0.12 has the bare name.
const PROVIDER = [
  /^(?:.*\.)?provider\["(?:[^"]+\/)?chainguard"\](?:\.[\w-]+)?$/s,
  /^(?:[^"[\]]+\/)?chainguard$/,
  /^provider\.chainguard(?:\.[\w-]+)?$/,
];

const isOurs = (provider: unknown) =>
  typeof provider === "string" && PROVIDER.some((pattern) => pattern.test(provider));

/** An instance in either form. */
interface Read extends Pick<Instance, "address" | "isTainted" | "isDeposed"> {
  mode: unknown;
  provider: unknown;
  values: unknown;
  dependencies: unknown;
}

/** Collects the parts that both forms share. */
const collector = () => {
  const instances: Instance[] = [];
  const dependents: Dependent[] = [];
  const counts = { others: 0, dataSources: 0 };
  const add = ({ mode, provider, values, dependencies, ...one }: Read) => {
    const attributes = isObject(values) ? values : undefined;
    const instance: Instance = { ...one, id: attributes?.id, attributes };
    const dependsOn = Array.isArray(dependencies) ? dependencies.filter((text) => typeof text === "string") : [];
    const isData = mode !== "managed";
    if (isData) counts.dataSources += 1;
    else if (isOurs(provider)) instances.push(instance);
    else counts.others += 1;
    if (dependsOn.length > 0) dependents.push({ address: instance.address, isData, dependsOn });
  };
  return { add, result: () => ({ instances, dependents, ...counts }) };
};

const pulledState = (document: Json): TerraformState => {
  const { add, result } = collector();
  for (const { module, mode, type, name, provider, instances } of listOf(document.resources, "resources"))
    for (const { index_key: key, attributes: values, status, deposed = "", dependencies } of listOf(
      instances,
      "instances of a resource",
    ))
      add({
        ...{ mode, provider, values, dependencies, address: addressOf(module, type, name, key) },
        ...{ isTainted: status === "tainted", isDeposed: deposed !== "" },
      });
  return { ...(typeof document.serial === "number" && { serial: document.serial }), ...result() };
};

const shownState = (document: Json): TerraformState => {
  if ("planned_values" in document || "resource_changes" in document)
    throw new StateError(`is a plan, not a state. ${HOW_TO} without the name of a plan`);
  if (typeof document.format_version !== "string" || !/^1\.\d+$/.test(document.format_version))
    throw new StateError(
      `has the format version ${shownValue(document.format_version)}, and only 1.x can be read. Give it what \`terraform state pull\` prints`,
    );
  const { add, result } = collector();
  // A state without resources has no values.
  const { root_module: root = {} } = (document.values ?? {}) as Json;
  if (!isObject(root)) throw new StateError("is damaged: root_module is not an object");
  const modules = [root];
  for (const { address: module, resources, child_modules: children } of modules) {
    for (const { mode, type, name, index, provider_name: provider, values, ...one } of listOf(resources, "resources"))
      add({
        ...{ mode, provider, values, dependencies: one.depends_on, address: addressOf(module, type, name, index) },
        ...{ isTainted: one.tainted === true, isDeposed: one.deposed_key !== undefined },
      });
    modules.push(...listOf(children, "child_modules"));
  }
  return result();
};
