// What the API publishes, as its protobuf files have it (docs/internals/contract.md) and not derived from schema/, so that the schema can be compared with
// it: methods, messages and enums. `name=number type (flags)`; REQ, OPT, OUT: field behaviour; presence: proto3 optional.
import { readFileSync } from "node:fs";

/** Published in prose only. */
const PROSE = `
auth.WhoAmI: issuer=1 string; subject=2 string; audience=3 []string; expiry=4 Timestamp; issued_at=5 Timestamp; capabilities=101 []WhoAmI.Capability; email=102 string
auth.WhoAmI.Capability: group=1 Group; role=2 Role; capabilities=3 []string
oidc.ExchangeRefreshTokenRequest: aud=1 []string; scope=2 string; cap=3 []string; scopes=4 []string
oidc.TokenPair: token=1 RawToken; refresh_token=2 RawToken
`;

export type PublishedField = ReturnType<typeof fieldFrom>;

/** `iam.Group`, and `iam.v1.Group` of the first version. */
const nameOf = (packageName: string, name: string): string => {
  const [domain = "", version] = packageName.replace("chainguard.platform.", "").split(".");
  return version === undefined && ["iam", "registry"].includes(domain) ? `${domain}.v1.${name}` : `${domain}.${name}`;
};

const linesOf = (fixture: string): string[] =>
  readFileSync(new URL(`../contract/fixtures/${fixture}.txt`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

/** The lines of messages, and of enums with "enum " before their names. */
const texts = new Map([
  ...linesOf("published-messages").map((line): [string, string] => {
    const [, packageName = "", kind = "", name = "", text = ""] = /^(\S+) (enum )?([\w.]+): (.*)$/.exec(line) ?? [];
    return [nameOf(packageName, kind + name), text];
  }),
  ...PROSE.trim()
    .split("\n")
    .map((line) => line.split(/: (.*)/s) as [string, string]),
]);

/** `name`: in the package, with "enum " before that of an enum. */
export const publishedText = (packageName: string, name: string) => texts.get(nameOf(packageName, name));

const fieldFrom = (text: string) => {
  const [, name, number, type, flags] = /^(\w+)=(\d+) (\S+)(?: \(([^)]*)\))?/.exec(text) as unknown as string[];
  return { name: name as string, number: Number(number), type: type as string, flags: flags?.split(/[,/]/) ?? [] };
};

const fieldsFrom = (text: string): PublishedField[] => text.split("; ").map(fieldFrom);

export const publishedMessages: ReadonlyMap<string, readonly PublishedField[]> = new Map(
  [...texts]
    .filter(([name]) => !name.includes("enum "))
    .map(([name, text]) => [name, text === "(empty)" ? [] : fieldsFrom(text.split(" — ")[0] as string)]),
);

/** `body`: proto name of the field that the body holds; "-" = none. */
export const publishedMethods = linesOf("published-methods").map((line) => {
  const [service = "", name = "", method = "", path = "", body = "", capabilities = "-", scope = ""] = line.split(" ");
  const own = { service, name, method, path, body, scope };
  return { ...own, capabilities: capabilities === "-" ? [] : capabilities.split("+") };
});
