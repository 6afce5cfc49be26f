// The facts of an OpenAPI document about an operation, one line each, so that two documents can be compared.
// Names of path variables are not facts: they are not on the wire.
import type { Body } from "./http.ts";

export type OpenapiOperation = ReturnType<typeof openapiOperations>[number];

/** A path has `{}` for every variable. */
export const openapiOperations = (document: Body) =>
  Object.entries(document.paths as Body).flatMap(([path, methods]) =>
    Object.entries(methods as Body).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.replace(/\{[^}]+\}/g, "{}"),
      id: operation.operationId as string,
      facts: new Set(factsOf(document, operation)),
    })),
  );

const factsOf = (document: Body, operation: Body): string[] => {
  const at = (reference: string): Body =>
    reference
      .slice(2)
      .split("/")
      .reduce((value, key) => value[key], document);
  const resolve = (schema: Body): Body => {
    if (schema.$ref) return resolve(at(schema.$ref));
    if (!schema.allOf) return schema;
    const parts = [...schema.allOf.map(resolve), { ...schema, allOf: undefined }] as Body[];
    return { ...Object.assign({}, ...parts), required: parts.flatMap(({ required = [] }) => required) };
  };
  const lines = (schema: Body | undefined, place: string, isRequired = false): string[] => {
    if (!schema) return [];
    const own = resolve(schema);
    const flags = [isRequired && "required", own.readOnly && "readOnly"].filter(Boolean).join(" ");
    const line = `${place}: ${typeOf(own)}${flags ? ` (${flags})` : ""}`;
    const below = Object.entries((own.properties ?? {}) as Body).flatMap(([name, field]) =>
      lines(field, `${place}.${name}`, (own.required ?? []).includes(name)),
    );
    const extra = own.additionalProperties;
    const map = extra && Object.keys(extra).length > 0 ? lines(extra, `${place}{}`) : [];
    return [line, ...below, ...map, ...lines(own.items, `${place}[]`)];
  };
  const content = (holder: Body | undefined): Body | undefined => {
    const [media] = Object.values((holder?.content ?? {}) as Body);
    return media?.schema;
  };
  const { requestBody, responses, parameters = [] } = operation;
  return [
    ...parameters.flatMap((own: Body, i: number) =>
      lines(own.schema, own.in === "path" ? `path ${i}` : `query ${own.name}`, own.required),
    ),
    ...lines(content(requestBody), "body"),
    ...lines(content(responses[200]), "answer"),
    ...lines(content(responses.default.$ref ? at(responses.default.$ref) : responses.default), "error"),
  ];
};

const typeOf = ({ type, format, enum: values }: Body): string =>
  values ? `enum ${values.toSorted().join(" ")}` : format ? `${type}/${format}` : type;
