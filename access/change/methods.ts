// The methods that a change may contain: one for each verb of each kind of record. A batch counts as the writes of its records.
import {
  type Json,
  type Message,
  type OperationName,
  RepoReadme,
  type Resource,
  resources,
} from "../../schema/index.ts";

export interface WriteMethod {
  verb: "create" | "update" | "delete";
  resource: Resource;
  /** field of the request that contains the record; absent: a delete */
  field?: string;
  /** the record, or the part of it that the method changes */
  schema: Message;
}

/** A request that was carried out, as the server reports it. */
export interface Call {
  method: OperationName;
  /** address of the service; absent: the first one of the change */
  service?: string;
  request: Json;
  response: Json;
}

const ofResources = Object.values<Resource>(resources).flatMap((resource) =>
  (["create", "update", "delete"] as const).flatMap((verb): [string, WriteMethod][] => {
    const { operations, field, schema } = resource;
    const name = operations[verb];
    return name ? [[name, { verb, resource, schema, ...(verb !== "delete" && { field }) }]] : [];
  }),
);

/** By name. */
export const METHODS: ReadonlyMap<string, WriteMethod> = new Map<string, WriteMethod>([
  ...ofResources,
  ["UpdateRepoReadme", { verb: "update", resource: resources.repo, field: "repoReadme", schema: RepoReadme }],
]);

const BATCHES: Partial<Record<OperationName, (call: Call) => Call[]>> = {
  BatchCreateRoleBindings: ({ request, response, ...call }) => {
    const { parent, roleUid, requests } = request as { parent: string; roleUid?: string; requests: Json[] };
    return requests.map(({ roleBinding }, i) => {
      const own = roleBinding as Json;
      return {
        ...call,
        method: "CreateRoleBinding",
        request: { parent, roleBinding: { ...own, roleUid: own.roleUid || roleUid } },
        response: (response.roleBindings as Json[])[i] as Json,
      };
    });
  },
  BatchDeleteExternalGroupRoleMappings: ({ request, ...call }) =>
    (request.names as string[]).map((uid) => ({
      ...call,
      method: "DeleteExternalGroupRoleMapping",
      request: { uid },
      response: {},
    })),
};

/** The writes of single records in a call. */
export const singleCalls = (call: Call): Call[] => BATCHES[call.method]?.(call) ?? [call];

export const isWrite = (name: OperationName): boolean => METHODS.has(name) || BATCHES[name] !== undefined;

/** Whether it makes a uid: a record that a group can have only once has the uid of the group. */
export const makesUid = ({ verb, resource }: WriteMethod): boolean => verb === "create" && !resource.list.sharesUid;

/** `name` is one of METHODS: each method that the server reports is one of them, or a batch of them. */
export const methodOf = (name: string): WriteMethod => METHODS.get(name) as WriteMethod;
