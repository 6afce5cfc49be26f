// One row of the table of methods: its bindings to REST and gRPC, its messages, and who may call it.
import { classOf } from "./capability.ts";
import {
  capitalize,
  fieldMask,
  type Message,
  type MessageInfo,
  message,
  messageInfo,
  plain,
  required,
  type Shape,
} from "./field.ts";
import { Empty, listRequest, listResponse } from "./list.ts";
import { uidp } from "./uidp.ts";

export type HttpMethod = "GET" | "POST" | "PATCH" | "DELETE" | "PUT";

/** The address of a method, and the capabilities that its caller must hold. Programs see these properties. */
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
  /** field of the request that names the scope; absent: unscoped (docs/internals/contract.md#authorization) */
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

// The standard methods of a resource (AIP-131 to AIP-135) as rows. Their paths and messages follow from the names of the resource.

/** Get and delete: by uid. */
export const getRequest = (name: string) => message(name, { uid: required(1, uidp, "uid of the record") });

/** PATCH: the resource has its own uid; `updateMask` names the fields that change (AIP-134). */
export const updateRequest = <F extends string, T extends Message>(name: string, field: F, resource: T) =>
  message(name, {
    ...({ [field]: required(1, resource, "The record: its uid, and what changes") } as { [K in F]: T }),
    updateMask: plain(
      2,
      fieldMask,
      "Paths of the fields that change, separated by commas; absent: the fields in the body",
    ),
  });

/** Each method takes the capabilities that its caller needs. */
export const standardMethods = <T extends Message, const F extends string, const P extends string>(
  schema: T,
  field: F,
  plural: P,
) => {
  const [domain, type] = (messageInfo(schema)?.message ?? "").split(".");
  return {
    get: (...capabilities: string[]) => ({
      http: `GET /${plural}/{uid=**}` as const,
      request: getRequest(`${domain}.Get${type}Request`),
      response: schema,
      capabilities,
      scope: "uid",
    }),
    create: (...capabilities: string[]) => ({
      http: `POST /${plural}/{parent=**}` as const,
      body: field,
      request: message(`${domain}.Create${type}Request`, {
        parent: required(1, uidp, "uid of the record that holds the new one"),
        ...({ [field]: required(2, schema, "The new record") } as { [K in F]: T }),
      }),
      response: schema,
      capabilities,
      scope: "parent",
    }),
    update: (...capabilities: string[]) => ({
      http: `PATCH /${plural}/{${field}.uid=**}` as const,
      body: field,
      request: updateRequest(`${domain}.Update${type}Request`, field, schema),
      response: schema,
      capabilities,
      scope: `${field}.uid`,
    }),
    delete: (...capabilities: string[]) => ({
      http: `DELETE /${plural}/{uid=**}` as const,
      request: getRequest(`${domain}.Delete${type}Request`),
      response: Empty,
      capabilities,
      scope: "uid",
    }),
    /** `paging` and `skip`: field numbers (`listRequest`) */
    list: <S extends Shape>(
      capability: string,
      filters: S,
      paging: number,
      skip?: number,
      info?: Omit<MessageInfo, "message">,
    ) => {
      const name = `${domain}.List${capitalize(plural)}`;
      return {
        http: `GET /${plural}` as const,
        request: listRequest(`${name}Request`, filters, paging, skip, info),
        response: listResponse(`${name}Response`, plural, schema),
        capabilities: [capability],
      };
    },
  };
};
