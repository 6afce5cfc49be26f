// The server's own OpenAPI document with other requests; answers are described as before. Narrowed: bodies that are accepted,
// parents that exist, lists that have rows, so that generated scenarios get somewhere: what comes after a create is reached at
// all. Widened: what the document leaves out of a request and the server takes.

export interface Words {
  /** groups to create in */
  groups: string[];
  /** an identity and a role to bind */
  identity: string;
  role: string;
  /** repos to create tags in */
  repos: string[];
  /** an identity provider whose groups are mapped, to which role, at which organization */
  mapping: { provider: string; role: string; scope: string };
}

type Json = Record<string, unknown>;
interface Operation {
  parameters?: { name: string; in: string; schema: Json }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Json }> };
}
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { enum?: string[] }> };
}

const object = (properties: Json, required = Object.keys(properties)): Json => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const oneOf = (...values: unknown[]): Json => ({ type: "string", enum: values });
const text = (pattern: string): Json => ({ type: "string", pattern: `^${pattern}$` });

const name = text("[a-z0-9][a-z0-9 ._-]{0,30}");
const description = text("[a-zA-Z0-9 .,]{0,60}");
const issuer = oneOf("https://issuer.example", "https://other.example");

const SUBJECT = text("[a-z0-9:/]{1,40}");
const DIGEST = text("sha256:[0-9a-f]{64}");
const CAPABILITIES = oneOf("CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST", "CAP_IAM_IDENTITY_LIST", "CAP_REPO_LIST");

/** Body of each create, by the collection of its path. */
const creates = ({ groups, identity, role, mapping }: Words): Record<string, Json> => ({
  "/iam/v2beta1/groups/{uid}": object({ name, description }, ["name"]),
  "/iam/v2beta1/identities/{uid}": object({ name, description, claimMatch: object({ issuer, subject: SUBJECT }) }, [
    "name",
    "claimMatch",
  ]),
  "/iam/v2beta1/roles/{uid}": object(
    { name, description, capabilities: { type: "array", items: CAPABILITIES, minItems: 1, maxItems: 3 } },
    ["name", "capabilities"],
  ),
  "/iam/v2beta1/roleBindings/{uid}": object({ identityUid: oneOf(identity), roleUid: oneOf(role) }),
  "/iam/v2beta1/roleBindings:batchCreate": object({
    parent: oneOf(...groups),
    roleUid: oneOf(role),
    requests: {
      type: "array",
      minItems: 1,
      maxItems: 3,
      items: object({ roleBinding: object({ identityUid: oneOf(identity) }) }),
    },
  }),
  "/iam/v2beta1/identityProviders/{uid}": object({
    name,
    defaultRole: oneOf(role),
    oidc: object({ issuer, clientId: SUBJECT, clientSecret: SUBJECT }),
  }),
  "/iam/v2beta1/externalGroupRoleMappings/{uid}": object({
    externalGroupId: text("[A-Za-z0-9=, -]{1,40}"),
    roleUid: oneOf(mapping.role),
    scope: oneOf(mapping.scope),
  }),
  "/iam/v2beta1/externalGroupRoleMappings:batchDelete": object({
    parent: oneOf(mapping.provider),
    names: { type: "array", minItems: 1, maxItems: 3, items: text(`${mapping.provider}/[0-9a-f]{16}`) },
  }),
  "/iam/v2beta1/accountAssociations/{uid}": object({
    name,
    google: object({ projectId: text("[a-z]{6,12}"), projectNumber: text("[1-9][0-9]{5,10}") }),
  }),
  "/iam/v2beta1/groupInvites/{uid}": object({ roleUid: oneOf(role), ttl: oneOf("3600s") }),
  "/registry/v2beta1/repos/{uid}": object({ name, description }, ["name"]),
  "/registry/v2beta1/tags/{uid}": object({ name: text("[a-z0-9]{1,12}"), digest: DIGEST }),
});

/** Of a list, what leaves rows; of an update, what the mask of its body says. */
const PARAMETERS: Record<string, Json> = {
  pageSize: { type: "integer", minimum: 1, maximum: 200 },
  orderBy: oneOf("uid", "uid desc", "create_time"),
  skip: { type: "integer", minimum: 0, maximum: 0 },
};

/** A query takes the numbers of an enum beside its names (docs/contract.md#json); an answer never has them. */
export const widen = (document: Document): Document => {
  const { paths } = structuredClone(document);
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
    for (const parameter of operation.parameters ?? []) parameter.schema = withNumbers(parameter.schema, document);
  return { ...document, paths };
};

const withNumbers = (schema: Json, document: Document): Json => {
  if (schema.items) return { ...schema, items: withNumbers(schema.items as Json, document) };
  const name = (schema.$ref as string | undefined)?.slice("#/components/schemas/".length);
  const names = name && document.components.schemas[name]?.enum;
  // No enum of a query has a gap in its numbers.
  return names ? { anyOf: [schema, { type: "integer", minimum: 0, maximum: names.length - 1 }] } : schema;
};

export const narrow = (document: Document, words: Words): Document => {
  const { paths } = structuredClone(document);
  const bodies = creates(words);
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const body = method === "post" ? bodies[path] : method === "patch" ? changeOf(path) : undefined;
      if (body) operation.requestBody = { required: true, content: { "application/json": { schema: body } } };
      operation.parameters = operation.parameters?.flatMap((parameter) => {
        if (parameter.in === "path") return [{ ...parameter, schema: pathOf(path, method, parameter.schema, words) }];
        const schema = path.includes(":") ? parameter.schema : PARAMETERS[parameter.name];
        return schema ? [{ ...parameter, schema }] : [];
      });
    }
  }
  return { ...document, paths };
};

const changeOf = (path: string): Json | undefined => {
  if (path.endsWith("/readme")) return object({ content: description });
  // Of what can be changed in a binding, nothing may be taken: the caller would lose its own grant.
  return path.includes("/roleBindings/") ? object({}) : object({ description });
};

// Where a link gives the uid, it wins.
const pathOf = (path: string, method: string, schema: Json, { groups, repos, mapping }: Words): Json => {
  if (method !== "post" || path.includes(":")) return schema;
  if (path.startsWith("/iam/v2beta1/externalGroupRoleMappings")) return oneOf(mapping.provider);
  return oneOf(...(path.startsWith("/registry/v2beta1/tags") ? repos : groups));
};
