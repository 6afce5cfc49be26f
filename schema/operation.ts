// One row of the table of methods: its bindings to REST and gRPC, its messages, and who may call it.
import { classOf } from "./capability.ts";
import type { Message } from "./field.ts";

export type HttpMethod = "GET" | "POST" | "PATCH" | "DELETE" | "PUT";

/** How a method is called, and what its caller must hold: what programs see of it. */
export interface MethodDescription {
  /** gRPC service below `chainguard.platform`: `iam.GroupsService` */
  readonly service: string;
  /** gRPC method, where it is not the key of the table */
  readonly rpc?: string;
  readonly method: HttpMethod;
  /** path template (google.api.http), `{version}` where the path is versioned */
  readonly path: string;
  /** field of the request that the body holds; `*`: all fields that the path does not hold */
  readonly body?: string;
  /** names of the capabilities that the caller must all hold at the scope */
  readonly capabilities: readonly string[];
  /** field of the request that names the scope; absent: unscoped (docs/contract.md#authorization) */
  readonly scope?: string;
  /** default: a token of the API */
  readonly auth?: "token" | "none" | "workload";
}

export interface Operation extends MethodDescription {
  request: Message;
  response: Message;
}

interface OperationRow extends Omit<Operation, "service" | "method" | "path"> {
  /** `<method> <path template>`, the path below the prefix of the service */
  http: `${HttpMethod} /${string}`;
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
