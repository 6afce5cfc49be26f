// The messages that the plugin answers with, as bytes (github.com/pulumi/pulumi/blob/master/proto/pulumi/provider.proto).
import type { CheckFailure } from "../provider/reconcile/check.ts";
import { type Change, type DetailedDiff, memberIn } from "./detailed-diff.ts";
import { type Fields, messageOf } from "./wire-format.ts";

export const EMPTY = messageOf({});

export const handshakeResponse = () => messageOf({ 1: true });

export const configureResponse = () => messageOf({ 1: true, 2: true });

export const pluginInfo = (version: string) => messageOf({ 1: version });

export const schemaResponse = (schema: string) => messageOf({ 1: schema });

export const checkResponse = (inputs: Fields, failures: readonly CheckFailure[]) =>
  messageOf({ 1: inputs, 2: failures.map(({ property, reason }) => ({ 1: property, 2: reason })) });

export const createResponse = (id: string, properties: Fields) => messageOf({ 1: id, 2: properties });

export const readResponse = (id: string, properties?: Fields, inputs?: Fields) =>
  messageOf({ 1: id, 2: properties, 3: inputs });

export const updateResponse = (properties: Fields) => messageOf({ 1: properties });

export const invokeResponse = (result: Fields) => messageOf({ 1: result });

/** `dependencies` are the URNs that each member of `state` comes from. */
export const constructResponse = (
  urn: string,
  state: Fields,
  dependencies: readonly (readonly [name: string, urns: readonly string[]])[],
) => messageOf({ 1: urn, 2: state, 3: dependencies.map(([name, urns]) => ({ 1: name, 2: { 1: urns } })) });

/** Without and with a replacement. */
const KINDS: Readonly<Record<Change, readonly [bigint, bigint]>> = {
  add: [0n, 1n],
  delete: [2n, 3n],
  update: [4n, 5n],
};

const [DIFF_NONE, DIFF_SOME] = [1n, 2n];

export const diffResponse = (
  hasChanges: boolean,
  detailed: DetailedDiff,
  { replaces = [], deleteBeforeReplace = false }: { replaces?: readonly string[]; deleteBeforeReplace?: boolean } = {},
) =>
  messageOf({
    1: replaces,
    3: deleteBeforeReplace,
    4: hasChanges ? DIFF_SOME : DIFF_NONE,
    5: [...new Set([...detailed.keys()].map(memberIn))],
    6: [...detailed].map(([path, { change, isReplacement, isInput }]) => ({
      1: path,
      2: { 1: KINDS[change][isReplacement ? 1 : 0], 2: isInput },
    })),
    7: true,
  });
