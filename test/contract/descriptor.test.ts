// The descriptors that the server uses for gRPC, compared with the published ones: names, numbers, types, oneofs, presence,
// JSON names, reserved fields, enums and their nesting.
import { readFileSync } from "node:fs";
import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { describe, expect, test } from "vitest";
import { VERSIONS } from "../../schema/index.ts";
import { grpcRegistry } from "../../server/grpc/registry.ts";
import { publishedMethods } from "../support/published.ts";

const registry = grpcRegistry();

/** `chainguard.platform.iam.v2beta1.Group` to its line. */
const published = new Map(
  readFileSync(new URL("./fixtures/published-messages.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, packageName, kind, name, text] = /^(\S+) (enum )?([\w.]+): (.*)$/.exec(line) as unknown as string[];
      return [`${kind ?? ""}${packageName}.${name}`, text as string];
    }),
);

// v2 is v2beta1, field for field (docs/contract.md#wire).
const publishedText = (name: string): string | undefined => published.get(name.replace(".v2.", ".v2beta1."));

const types = [...registry.files]
  .filter(({ proto }) => proto.name.startsWith("chainguard/platform/"))
  .flatMap((file) => [...nestedTypes(file)]);
const messages = types.filter((type): type is DescMessage => type.kind === "message" && !type.proto.options?.mapEntry);
const enums = types.filter((type): type is DescEnum => type.kind === "enum");

// Published in prose only, or fields that are not served.
const NOT_IN_TABLES = [
  "chainguard.platform.auth.WhoAmI.Capability",
  "chainguard.platform.oidc.ExchangeRefreshTokenRequest",
  "chainguard.platform.oidc.TokenPair",
];
const LEFT_OUT: Record<string, string> = {
  "chainguard.platform.registry.Repo": "custom_overlay=7 CustomOverlay",
};
const MORE: Record<string, string> = {
  "chainguard.platform.auth.WhoAmI": "capabilities=101 []WhoAmI.Capability",
};

const nameIn = (holder: DescMessage, name: string): string =>
  name.startsWith(`${holder.file.proto.package}.`)
    ? name.slice(holder.file.proto.package.length + 1)
    : (name.split(".").at(-1) as string);

const valueType = (field: DescField): string =>
  field.scalar === undefined
    ? nameIn(field.parent, ((field.enum ?? field.message) as DescEnum | DescMessage).typeName)
    : ScalarType[field.scalar].toLowerCase();

const typeOf = (field: DescField): string => {
  if (field.fieldKind === "list") return `[]${valueType(field)}`;
  return field.fieldKind === "map"
    ? `map<${ScalarType[field.mapKey].toLowerCase()},${valueType(field)}>`
    : valueType(field);
};

const lineOf = (field: DescField): string => {
  const flags = [field.oneof && `oneof:${field.oneof.name}`, field.proto.proto3Optional && "presence"].filter(Boolean);
  const usual = field.name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const json = field.jsonName === usual ? "" : ` [json: ${field.jsonName}]`;
  return `${field.name}=${field.number} ${typeOf(field)}${flags.length > 0 ? ` (${flags.join(",")})` : ""}${json}`;
};

// Another test covers behaviours.
const publishedLines = (text: string): string[] => {
  const [fields = ""] = text.split(" — ");
  if (fields === "(empty)") return [];
  return fields.split("; ").map((line) =>
    line.replace(/ \(([^)]*)\)/, (_, flags: string) => {
      const kept = flags.split(/[,/]/).filter((flag) => flag.startsWith("oneof:") || flag === "presence");
      return kept.length > 0 ? ` (${kept.join(",")})` : "";
    }),
  );
};

const reservedOf = ({ proto }: DescMessage): string[] => [
  ...proto.reservedRange.map(({ start }) => String(start)),
  ...proto.reservedName,
];

const inTables = messages.filter(({ typeName }) => publishedText(typeName) !== undefined);

test("every message is in the tables, except for those that are published in prose only", () => {
  const others = messages.filter((message) => !inTables.includes(message)).map(({ typeName }) => typeName);
  expect(others.toSorted()).toEqual(NOT_IN_TABLES);
});

describe.each(inTables.map((message) => [message.typeName, message] as const))("%s", (name, message) => {
  const text = publishedText(name) as string;

  test("has the published fields alone", () => {
    const expected = [...publishedLines(text), MORE[name]].filter((line) => line && line !== LEFT_OUT[name]);
    expect(message.fields.map(lineOf).toSorted()).toEqual(expected.toSorted());
  });

  test("reserves the published names and numbers", () => {
    const expected = text.split(" — reserved: ")[1]?.split(", ") ?? [];
    const left = LEFT_OUT[name]?.split(/[= ]/, 2) ?? [];
    expect(reservedOf(message).toSorted()).toEqual([...expected, ...left].toSorted());
  });
});

describe.each(enums.map((own) => [own.typeName, own] as const))("the enum %s", (name, own) => {
  test("has the published values", () => {
    const values = own.values.map((value) => `${value.name}=${value.number}`);
    expect(values.join(", ")).toBe(publishedText(`enum ${name}`));
  });
});

// The services in scope (docs/contract.md#where-each-rule-is).
const IN_SCOPE = [
  /^iam\.\w+Service\//,
  /^registry\.(ReposService|TagsService)\//,
  /^vulnerabilities\./,
  /^oidc\.SecurityTokenService\//,
  /^auth\.Auth\/Validate$/,
  /^ping\./,
  /^iam\.(Groups|Roles|Identities|RoleBindings|GroupInvites|GroupAccountAssociations)\/List$/,
  /^(iam\.Identities\/Lookup|registry\.Registry\/ListRepos)$/,
];
const OUT_OF_SCOPE = [
  /^iam\.IdentityProvidersService\/.*Scim/i,
  /^iam\.TermsService\//,
  /^iam\.IdentitiesService\/.*Metadata/,
  /^iam\.GroupsService\/(RequestGroupAccess|CheckEligibility)$/,
];

test("every published method in scope is served under every version, and no other", () => {
  const served = [...registry.files]
    .filter(({ proto }) => proto.package.startsWith("chainguard.platform"))
    .flatMap(({ services }) =>
      services.flatMap(({ typeName, methods }) => methods.map(({ name }) => `${typeName}/${name}`)),
    );
  const inScope = publishedMethods.filter(({ service, name }) => {
    const matches = (own: RegExp) => own.test(`${service}/${name}`);
    return IN_SCOPE.some(matches) && !OUT_OF_SCOPE.some(matches);
  });
  const expected = inScope.flatMap(({ service, name, path }) => {
    const [domain, own] = service.split(".");
    const versions = path.includes("{version}") ? VERSIONS.map((version) => `.${version}`) : [""];
    return versions.map((version) => `chainguard.platform.${domain}${version}.${own}/${name}`);
  });
  expect([...new Set(served)].toSorted()).toEqual([...new Set(expected)].toSorted());
});

test("the walk saw every package", () => {
  expect(new Set(types.map((type) => type.file.proto.package))).toEqual(
    new Set([
      ...["iam", "registry", "vulnerabilities", "ping"].flatMap((domain) =>
        VERSIONS.map((version) => `chainguard.platform.${domain}.${version}`),
      ),
      ...["auth", "common", "iam", "oidc", "registry"].map((domain) => `chainguard.platform.${domain}`),
    ]),
  );
});
