// The protobuf packages of the schema's names: `iam.Identity.ClaimMatch` is in `chainguard.platform.iam.<version>`,
// `iam.v1.Group` in `chainguard.platform.iam` (packages of v1 have no version), `google.rpc.Status` in `google.rpc`.
import { toSnake } from "../field.ts";
import type { Operation } from "../operation.ts";
import { operations, PACKAGE } from "../operations.ts";

export interface Place {
  package: string;
  /** names of the messages around it, then its own name */
  path: string[];
}

const domain = (name: string): string => name.split(".", 1)[0] as string;

const versioned = new Set(
  Object.values(operations as Record<string, Operation>)
    .filter(({ path }) => path.includes("{version}"))
    .map(({ service }) => domain(service)),
);

export const placeOf = (name: string, version: string): Place => {
  const [domainName, ...path] = name.split(".") as [string, ...string[]];
  if (domainName === "google") return { package: `google.${path[0]}`, path: path.slice(1) };
  if (domainName === "capabilities") return { package: "chainguard.capabilities", path };
  if (path[0] === "v1") return { package: `${PACKAGE}.${domainName}`, path: path.slice(1) };
  return {
    package: versioned.has(domainName) ? `${PACKAGE}.${domainName}.${version}` : `${PACKAGE}.${domainName}`,
    path,
  };
};

/** Full name of a message or an enum. */
export const fullName = (name: string, version: string): string => {
  const place = placeOf(name, version);
  return [place.package, ...place.path].join(".");
};

/** Name of a type in TypeScript and in Pulumi: `iam.Identity.ClaimMatch` is `IdentityClaimMatch`. */
export const typeName = (name: string): string => name.split(".").slice(1).join("");

/** Full name of a service. Its package has the version in the paths of its methods, except v1. */
export const serviceName = (service: string, path: string): string => {
  const [domainName, name] = service.split(".") as [string, string];
  const version = /^\/[^/]+\/(v2[^/]*)\//.exec(path)?.[1];
  return [PACKAGE, domainName, ...(version ? [version] : []), name].join(".");
};

/** One file a package; the names of google's files are fixed. */
export const fileOf = ({ package: name, path }: Place): string => {
  const folder = name.replaceAll(".", "/");
  if (name === "google.protobuf") return `${folder}/${toSnake(path[0] as string).slice(1)}.proto`;
  if (name === "google.rpc") return path[0] === "Status" ? `${folder}/status.proto` : `${folder}/error_details.proto`;
  const named = name.split(".").findLast((part) => !/^v\d/.test(part));
  return `${folder}/${named}.proto`;
};
