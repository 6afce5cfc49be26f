// Where the names of the schema live in protobuf: `iam.Identity.ClaimMatch` in `chainguard.platform.iam.<version>`,
// `iam.v1.Group` in `chainguard.platform.iam` (v1 has no version in its packages), `google.rpc.Status` where it says.
import { toSnake } from "../field.ts";
import type { Operation } from "../operation.ts";
import { operations, PACKAGE } from "../operations.ts";

export interface Place {
  package: string;
  /** names of the messages around it, then its own */
  path: string[];
}

const domain = (name: string): string => name.split(".", 1)[0] as string;

const versioned = new Set(
  Object.values(operations as Record<string, Operation>)
    .filter(({ path }) => path.includes("{version}"))
    .map(({ service }) => domain(service)),
);

export const placeOf = (name: string, version: string): Place => {
  const [own, ...path] = name.split(".") as [string, ...string[]];
  if (own === "google") return { package: `google.${path[0]}`, path: path.slice(1) };
  if (own === "capabilities") return { package: "chainguard.capabilities", path };
  if (path[0] === "v1") return { package: `${PACKAGE}.${own}`, path: path.slice(1) };
  return { package: versioned.has(own) ? `${PACKAGE}.${own}.${version}` : `${PACKAGE}.${own}`, path };
};

/** Full name of a message or an enum. */
export const fullName = (name: string, version: string): string => {
  const place = placeOf(name, version);
  return [place.package, ...place.path].join(".");
};

/** Its name in TypeScript and in Pulumi: `iam.Identity.ClaimMatch` is `IdentityClaimMatch`. */
export const typeName = (name: string): string => name.split(".").slice(1).join("");

/** Full name of a service: its package has the version that the path of its methods names, unless that is v1. */
export const serviceName = (service: string, path: string): string => {
  const [own, name] = service.split(".") as [string, string];
  const version = /^\/[^/]+\/(v2[^/]*)\//.exec(path)?.[1];
  return [PACKAGE, own, ...(version ? [version] : []), name].join(".");
};

/** One file a package; the names of google's files are fixed. */
export const fileOf = ({ package: name, path }: Place): string => {
  const folder = name.replaceAll(".", "/");
  if (name === "google.protobuf") return `${folder}/${toSnake(path[0] as string).slice(1)}.proto`;
  if (name === "google.rpc") return path[0] === "Status" ? `${folder}/status.proto` : `${folder}/error_details.proto`;
  const named = name.split(".").findLast((part) => !/^v\d/.test(part));
  return `${folder}/${named}.proto`;
};
