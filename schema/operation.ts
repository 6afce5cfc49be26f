// One row of the table of methods: its bindings to REST and gRPC, its messages, and who may call it.
import { classOf } from "./capability.ts";
import type { Message } from "./field.ts";

export type HttpMethod = "GET" | "POST" | "PATCH" | "DELETE" | "PUT";

export interface OperationRow {
  /** `<method> <path template>`, the path below the prefix of the service (google.api.http) */
  http: `${HttpMethod} /${string}`;
  /** field of the request that the body holds; `*` = every field that the path does not hold */
  body?: string;
  request: Message;
  response: Message;
  /** friendly names; the caller must hold all of them at the scope */
  capabilities: readonly string[];
  /** field of the request that names the scope; absent = unscoped (docs/contract.md#authorization) */
  scope?: string;
  /** gRPC method, if it differs from the key of the row */
  rpc?: string;
  /** `none`: the method needs no token */
  auth?: "token" | "none" | "workload";
}

export interface Operation extends OperationRow {
  /** service below `chainguard.platform`, e.g. `iam.GroupsService` */
  service: string;
  method: HttpMethod;
  /** whole path template, `{version}` where the path is versioned */
  path: string;
}

/** Whether a method changes records. An exchange needs no capability, and a check by POST only that of a read. */
export const isWrite = ({ method, capabilities }: Pick<Operation, "method" | "capabilities">): boolean =>
  method !== "GET" && capabilities.some((name) => classOf(name) !== "read");

export type Operations = Readonly<Record<string, Operation>>;

/** Rows of one service: the key is the method's name. */
export const rows = <const R extends Record<string, OperationRow>>(service: string, prefix: string, table: R) =>
  Object.fromEntries(
    Object.entries(table).map(([name, row]) => {
      const [method, path] = row.http.split(" ") as [HttpMethod, string];
      return [name, { ...row, service, method, path: prefix + path }];
    }),
  ) as unknown as { readonly [K in keyof R]: R[K] & Pick<Operation, "service" | "method" | "path"> };
