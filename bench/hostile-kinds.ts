// Requests that cost a server more than their sender: one for each way to put many small values into a megabyte.
import { gzipSync } from "node:zlib";
import { fromJson, toBinary } from "@bufbuild/protobuf";
import { methodIn } from "../server/grpc/registry.ts";
import { frame, type HostileRequest } from "./hostile-send.ts";

export interface HostileKind extends HostileRequest {
  name: string;
  /** the bytes for JSON.parse, as a comparison */
  json: string;
  isExchange: boolean;
}

/** `piece` repeated between `head` and `tail`, to about this many bytes. */
const fill = (size: number, piece: string | ((i: number) => string), head = "", tail = "", between = ","): string => {
  const pieces: string[] = [];
  for (let length = head.length + tail.length, i = 0; length < size; i += 1) {
    const text = typeof piece === "string" ? piece : piece(i);
    pieces.push(text);
    length += text.length + between.length;
  }
  return head + pieces.join(between) + tail;
};

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
};

/** A length-delimited field. */
const field = (number: number, content: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);

/** `MB` is the largest body. Requests with a smaller limit shrink in proportion. */
export const hostileKinds = (organization: string, MB = 1_000_000): HostileKind[] => {
  const part = (size: number) => Math.floor((size * MB) / 1_000_000);
  const KB_64 = part(64_000);
  const HEAD = part(30_000);
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
  const pad = (own: string) => `${own.slice(0, -1)},${padding(MB - own.length)}}`;

  const form = (name: string, piece: string, size: number) => {
    const text = fill(size, piece, "", "", "&");
    const type = "application/x-www-form-urlencoded";
    return rest(name, "/sts/exchange", text, { type, json: fill(size, '"k"', "[", "]"), isExchange: true });
  };
  const query = (name: string, piece: string) => {
    const path = `/iam/v2beta1/groups?${fill(HEAD, piece, "", "", "&")}`;
    return rest(name, path, "", { method: "GET", json: fill(HEAD, '"k"', "[", "]") });
  };

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
  const encode = (service: string, method: string, json: object) => {
    const { input } = methodIn(`chainguard.platform.${service}`, method);
    return Buffer.from(toBinary(input, fromJson(input, json as never)));
  };
  const ROLES = "iam.v2beta1.RolesService";
  const REPOS = "registry.v2beta1.ReposService";
  const parent = field(1, Buffer.from(organization));
  const many = (piece: Buffer, size = MB) => Buffer.alloc(Math.floor(size / piece.length) * piece.length, piece);

  // file_containing_symbol
  const question = field(4, Buffer.from("chainguard.platform.iam.v2beta1.RolesService"));

  return [
    rest("capabilities as numbers", roles, role(fill(MB, "1"))),
    rest("capabilities as numbers that are none", roles, role(fill(MB, "123456"))),
    rest("1,000 capabilities as numbers, and padding", roles, pad(role(Array(1000).fill("1").join()))),
    rest("1,000 unknown capabilities, and padding", roles, pad(role(Array(1000).fill("9999999").join()))),
    rest("1,000 capabilities that are no numbers, and padding", roles, pad(role(Array(1000).fill("[]").join()))),
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
      pad(`${claims}"claims":{${Array.from({ length: 1000 }, (_, i) => `"c${i}":"v"`).join()}}}}`),
    ),
    rest(
      "patterns of claims",
      identities,
      fill(part(100_000), (i) => `"c${i}":"(a|b){20}"`, `${claims}"claimPatterns":{`, "}}}"),
    ),
    rest(
      "patterns that compile slowest, as many as there may be",
      identities,
      `${claims}"claimPatterns":{${Array.from({ length: part(20) }, (_, i) => `"c${i}":"${"\\\\pL".repeat(19)}(x{0,99}x{0,99}x{0,99}){3}"`).join()}}}}`,
    ),
    rest(
      "objects one in the other",
      groups,
      `{"name":${'{"name":'.repeat(part(100_000))}0${"}".repeat(part(100_000))}}`,
    ),
    rest(
      "names that appear twice, among others",
      groups,
      fill(MB, (i) => `"f${i >> 1}":0`, "{", "}"),
    ),
    rest("chunks of one byte", groups, fill(part(200_000), "0", '{"padding":[', "]}"), { inBytes: true }),
    rest(
      "empty users of an overlay",
      repos,
      fill(MB, "{}", '{"name":"r","customOverlay":{"accounts":{"users":[', "]}}}"),
    ),
    rest(
      "1,000 empty users of an overlay, and padding",
      repos,
      pad(`{"name":"r","customOverlay":{"accounts":{"users":[${Array(1000).fill("{}").join()}]}}}`),
    ),
    rest("aliases", repos, fill(MB, '"a"', '{"name":"r","aliases":[', "]}")),
    rest("1,000 aliases, and padding", repos, pad(`{"name":"r","aliases":[${Array(1000).fill('"a"').join()}]}`)),
    rest("an update with a mask of 30 kB", `${groups}?updateMask=${fill(HEAD, "a")}`, "{}", {
      method: "PATCH",
      json: fill(HEAD, '"a"', "[", "]"),
    }),
    query("a query of short parameters", "k"),
    query("a query of filters", "uidp.ids=a"),
    query("a query of filters by uid", `uidp.ids=${organization}`),
    rest(
      "a path of a uid of many levels",
      `/iam/v2beta1/groups/${organization}${"/0123456789abcdef".repeat(HEAD / 17)}`,
      "",
      {
        method: "GET",
        json: fill(HEAD, '"k"', "[", "]"),
      },
    ),
    rest("a path of slashes", `/${"/".repeat(HEAD)}`, "", { method: "GET", json: fill(HEAD, '"k"', "[", "]") }),
    rest("many headers", "/iam/v2beta1/groups", "", {
      method: "GET",
      headers: Object.fromEntries(Array.from({ length: HEAD / 20 }, (_, i) => [`x-${i}`, "a"])),
      json: fill(HEAD, '"k"', "[", "]"),
    }),
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
        field(
          2,
          Buffer.concat([field(4, many(Buffer.of(127), 1000)), many(Buffer.of(0x98, 0x06, 0x01), part(300_000))]),
        ),
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
      encode(ROLES, "ListRoles", { pageToken: "a".repeat(MB) }),
    ),
    {
      ...grpc("gRPC: frames of one byte", ROLES, "CreateRole", many(Buffer.of(0x98, 0x06, 0x01), part(10_000))),
      inBytes: true,
    },
    {
      ...grpc("gRPC: a megabyte of zeros, compressed", ROLES, "CreateRole", gzipSync(Buffer.alloc(MB))),
      headers: { "grpc-encoding": "gzip" },
    },
    {
      ...grpc("gRPC: questions of reflection", "", "", Buffer.concat(Array(part(1000)).fill(frame(question)))),
      path: "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      isFramed: true,
    },
    grpc(
      "gRPC: capabilities of an exchange",
      "oidc.SecurityTokenService",
      "Exchange",
      many(field(5, Buffer.from("a")), KB_64),
    ),
  ];
};
