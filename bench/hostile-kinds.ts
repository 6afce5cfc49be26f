// Requests that cost a server more than they cost their sender: one of each way to write many small things into a megabyte.
import { fromJson, toBinary } from "@bufbuild/protobuf";
import { createGrpcRegistry, methodIn } from "../server/grpc/registry.ts";

export interface HostileRequest {
  wire: "rest" | "grpc";
  method?: string;
  path: string;
  type?: string;
  body: Buffer;
}

export interface HostileKind extends HostileRequest {
  name: string;
  /** the bytes that JSON.parse is given to compare with */
  json: string;
  isExchange: boolean;
}

const MB = 1_000_000;
const KB_64 = 64_000;

/** `piece` again and again, between `head` and `tail`, in about so many bytes. */
const fill = (size: number, piece: string | ((i: number) => string), head = "", tail = "", between = ","): string => {
  const pieces: string[] = [];
  for (let length = head.length + tail.length, i = 0; length < size; i += 1) {
    const own = typeof piece === "string" ? piece : piece(i);
    pieces.push(own);
    length += own.length + between.length;
  }
  return head + pieces.join(between) + tail;
};

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
};

/** A field whose content has a length. */
const field = (number: number, content: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);

export const hostileKinds = (organization: string): HostileKind[] => {
  const rest = (name: string, path: string, text: string, further: Partial<HostileKind> = {}): HostileKind => {
    const common = { wire: "rest", type: "application/json", isExchange: false } as const;
    return { name, path, body: Buffer.from(text), json: text, ...common, ...further };
  };
  const roles = `/iam/v2beta1/roles/${organization}`;
  const groups = `/iam/v2beta1/groups/${organization}`;
  const identities = `/iam/v2beta1/identities/${organization}`;
  const repos = `/registry/v2beta1/repos/${organization}`;
  const padding = (size: number) => fill(size, "0", '"padding":[', "]");
  const role = (list: string) => `{"name":"r","capabilities":[${list}]}`;
  const claims = '{"name":"i","claimMatch":{"issuer":"https://issuer.example","subject":"s",';
  const padded = (own: string) => `${own.slice(0, -1)},${padding(MB - own.length)}}`;

  const form = (name: string, piece: string, size: number) => {
    const text = fill(size, piece, "", "", "&");
    const type = "application/x-www-form-urlencoded";
    return rest(name, "/sts/exchange", text, { type, json: fill(size, '"k"', "[", "]"), isExchange: true });
  };
  const query = (name: string, piece: string) => {
    const path = `/iam/v2beta1/groups?${fill(30_000, piece, "", "", "&")}`;
    return rest(name, path, "", { method: "GET", json: fill(30_000, '"k"', "[", "]") });
  };

  const registry = createGrpcRegistry();
  const grpc = (name: string, service: string, method: string, body: Buffer): HostileKind => {
    const path = `/chainguard.platform.${service}/${method}`;
    return {
      name,
      wire: "grpc",
      path,
      body,
      json: fill(body.length, "1", "[", "]"),
      isExchange: path.includes("oidc"),
    };
  };
  const encoded = (service: string, method: string, json: object) => {
    const { input } = methodIn(registry, `chainguard.platform.${service}`, method);
    return Buffer.from(toBinary(input, fromJson(input, json as never)));
  };
  const ROLES = "iam.v2beta1.RolesService";
  const REPOS = "registry.v2beta1.ReposService";
  const parent = field(1, Buffer.from(organization));
  const many = (piece: Buffer, size = MB) => Buffer.alloc(Math.floor(size / piece.length) * piece.length, piece);

  return [
    rest("capabilities as numbers", roles, role(fill(MB, "1"))),
    rest("capabilities as numbers that are none", roles, role(fill(MB, "123456"))),
    rest("1,000 capabilities as numbers, and padding", roles, padded(role(Array(1000).fill("1").join()))),
    rest("1,000 unknown capabilities, and padding", roles, padded(role(Array(1000).fill("9999999").join()))),
    rest("1,000 capabilities that are no numbers, and padding", roles, padded(role(Array(1000).fill("[]").join()))),
    rest("capabilities as texts", roles, role(fill(MB, '"a"'))),
    rest(
      "unknown fields",
      groups,
      fill(MB, (i) => `"f${i}":0`, "{", "}"),
    ),
    rest("one field again and again", groups, fill(MB, '"name":""', "{", "}")),
    rest("a million brackets", groups, `{"name":${"[".repeat(MB / 2)}${"]".repeat(MB / 2)}}`),
    rest("a name of a megabyte", groups, `{"name":"${"a".repeat(MB)}"}`),
    rest("a name of escapes", groups, fill(MB, "\\u0061", '{"name":"', '"}', "")),
    rest("what is no JSON", groups, "x".repeat(MB)),
    rest(
      "claims",
      identities,
      fill(MB, (i) => `"c${i}":"v"`, `${claims}"claims":{`, "}}}"),
    ),
    rest(
      "1,000 claims, and padding",
      identities,
      padded(`${claims}"claims":{${Array.from({ length: 1000 }, (_, i) => `"c${i}":"v"`).join()}}}}`),
    ),
    rest(
      "patterns of claims",
      identities,
      fill(100_000, (i) => `"c${i}":"(a|b){20}"`, `${claims}"claimPatterns":{`, "}}}"),
    ),
    rest(
      "empty users of an overlay",
      repos,
      fill(MB, "{}", '{"name":"r","customOverlay":{"accounts":{"users":[', "]}}}"),
    ),
    rest(
      "1,000 empty users of an overlay, and padding",
      repos,
      padded(`{"name":"r","customOverlay":{"accounts":{"users":[${Array(1000).fill("{}").join()}]}}}`),
    ),
    rest("aliases", repos, fill(MB, '"a"', '{"name":"r","aliases":[', "]}")),
    rest("1,000 aliases, and padding", repos, padded(`{"name":"r","aliases":[${Array(1000).fill('"a"').join()}]}`)),
    rest("an update with a mask of 30 kB", `${groups}?updateMask=${fill(30_000, "a")}`, "{}", {
      method: "PATCH",
      json: fill(30_000, '"a"', "[", "]"),
    }),
    query("a query of short parameters", "k"),
    query("a query of filters", "uidp.ids=a"),
    query("a query of unknown filters", "uidp.x.y.z=a"),
    form("a form of short parameters, as large as it may be", "k", KB_64),
    form("a form of capabilities, as large as it may be", "cap=a", KB_64),
    form("a form of short parameters", "k", MB),
    grpc(
      "gRPC: numbers of an enum",
      ROLES,
      "CreateRole",
      Buffer.concat([parent, field(2, field(4, many(Buffer.of(1))))]),
    ),
    grpc(
      "gRPC: 1,000 numbers, and unknown fields",
      ROLES,
      "CreateRole",
      Buffer.concat([
        parent,
        field(2, Buffer.concat([field(4, many(Buffer.of(127), 1000)), many(Buffer.of(0x98, 0x06, 0x01), 300_000)])),
      ]),
    ),
    grpc("gRPC: unknown fields", ROLES, "CreateRole", Buffer.concat([parent, many(Buffer.of(0x98, 0x06, 0x01))])),
    grpc("gRPC: groups one in the other", ROLES, "CreateRole", Buffer.concat([parent, many(Buffer.of(0x9b, 0x06))])),
    grpc(
      "gRPC: empty texts in a list",
      REPOS,
      "CreateRepo",
      Buffer.concat([parent, field(2, many(Buffer.of(0x2a, 0)))]),
    ),
    grpc("gRPC: paths of a mask", REPOS, "UpdateRepo", field(2, many(field(1, Buffer.from("a"))))),
    grpc("gRPC: a path of a mask of a megabyte", REPOS, "UpdateRepo", field(2, field(1, Buffer.alloc(MB, "a.")))),
    grpc("gRPC: uids of a filter", ROLES, "ListRoles", field(1, many(field(5, Buffer.from("a"))))),
    grpc(
      "gRPC: a page token of a megabyte",
      ROLES,
      "ListRoles",
      encoded(ROLES, "ListRoles", { pageToken: "a".repeat(MB) }),
    ),
    grpc(
      "gRPC: capabilities of an exchange",
      "oidc.SecurityTokenService",
      "Exchange",
      many(field(5, Buffer.from("a")), KB_64),
    ),
  ];
};
