// The names that the published OpenAPI document gives to paths, their parameters, tags and operations.
import type { Operation } from "../operation.ts";
import { operations, VERSION } from "../operations.ts";

/** `/iam/v2beta1/groups/{uid}`: every wildcard is a uid, as in the published document. */
export const openapiPath = ({ path }: Pick<Operation, "path">): string =>
  path.replace("{version}", VERSION).replace(/\{([^}=]+)(=\*\*)?\}/g, (_, field: string) => `{${pathName(field)}}`);

export const pathName = (field: string): string => (field === "parent" ? "uid" : (field.split(".").at(-1) as string));

/** The fields of the request that the path holds. */
export const pathFields = ({ path }: Operation): string[] =>
  [...path.matchAll(/\{([^}=]+)(=\*\*)?\}/g)]
    .map(([, field]) => field as string)
    .filter((field) => field !== "version");

export const tagOf = ({ service }: Operation): string => service.split(".").at(-1) as string;

/** Id of an operation. As published, further bindings of a method are numbered. */
export const operationIdOf = (name: string, row: Operation): string => {
  const { rpc = name } = row;
  const first = (operations as Record<string, Operation>)[rpc];
  return `${tagOf(row)}_${rpc}${first !== row && first?.service === row.service ? "2" : ""}`;
};
