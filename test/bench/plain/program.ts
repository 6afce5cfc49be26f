// The same access without this package, as Pulumi's documentation shows dynamic providers
// (https://www.pulumi.com/docs/iac/concepts/resources/dynamic-providers/): a class that calls the API by `fetch`, and for each kind a resource
// that passes on a new object of it.
import * as pulumi from "@pulumi/pulumi";

const { ORG: parent = "", GROUPS = "1" } = process.env;

type Json = Record<string, unknown>;

const call = async (method: string, path: string, body?: Json): Promise<Json> => {
  const response = await fetch(`${process.env.IRM_BASE_URL}/iam/v2beta1/${path}`, {
    method,
    headers: { authorization: `Bearer ${process.env.API_TOKEN}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  const text = await response.text();
  return text === "" ? {} : JSON.parse(text);
};

/** `changing` are the fields that an update changes, and `fixed` those that another record has. */
class RecordProvider implements pulumi.dynamic.ResourceProvider {
  readonly path: string;
  readonly changing: readonly string[];
  readonly fixed: readonly string[];

  constructor(path: string, changing: readonly string[], fixed: readonly string[]) {
    this.path = path;
    this.changing = changing;
    this.fixed = fixed;
  }
  async create({ parent, ...record }: Json): Promise<pulumi.dynamic.CreateResult> {
    const outs = await call("POST", `${this.path}/${parent}`, record);
    return { id: outs.uid as string, outs: { ...record, ...outs, parent } };
  }
  async diff(_id: string, olds: Json, news: Json): Promise<pulumi.dynamic.DiffResult> {
    const differs = (name: string) => olds[name] !== news[name];
    const replaces = this.fixed.filter(differs);
    return { changes: replaces.length > 0 || this.changing.some(differs), replaces };
  }
  async read(id: string, props: Json): Promise<pulumi.dynamic.ReadResult> {
    return { id, props: { ...props, ...(await call("GET", `${this.path}/${id}`)) } };
  }
  async update(id: string, olds: Json, { parent, ...record }: Json): Promise<pulumi.dynamic.UpdateResult> {
    return { outs: { ...olds, ...(await call("PATCH", `${this.path}/${id}`, record)), parent } };
  }
  async delete(id: string): Promise<void> {
    await call("DELETE", `${this.path}/${id}`);
  }
}

class Group extends pulumi.dynamic.Resource {
  declare readonly uid: pulumi.Output<string>;
  constructor(name: string, args: pulumi.Inputs, opts?: pulumi.CustomResourceOptions) {
    super(new RecordProvider("groups", ["name", "description"], ["parent"]), name, { uid: undefined, ...args }, opts);
  }
}

class Identity extends pulumi.dynamic.Resource {
  declare readonly uid: pulumi.Output<string>;
  constructor(name: string, args: pulumi.Inputs, opts?: pulumi.CustomResourceOptions) {
    const provider = new RecordProvider("identities", ["name", "description"], ["parent"]);
    super(provider, name, { uid: undefined, ...args }, opts);
  }
}

class RoleBinding extends pulumi.dynamic.Resource {
  constructor(name: string, args: pulumi.Inputs, opts?: pulumi.CustomResourceOptions) {
    const provider = new RecordProvider("roleBindings", [], ["parent", "identityUid", "roleUid"]);
    super(provider, name, { uid: undefined, ...args }, opts);
  }
}

const roleUid = async (name: string): Promise<string> => {
  const { roles } = await call("GET", `roles?name=${name}`);
  return (roles as { uid: string }[])[0]?.uid ?? "";
};
const roles = { viewer: await roleUid("viewer"), editor: await roleUid("editor") };

for (let g = 0; g < Number(GROUPS); g += 1) {
  const group = new Group(`g${g}`, { parent, name: `g${g}`, description: "a team" });
  for (let i = 0; i < 3; i += 1) {
    const name = `g${g}-i${i}`;
    const identity = new Identity(name, {
      parent: group.uid,
      name,
      description: "a workflow",
      claimMatch: { issuer: "https://ci.example.com", subject: `repo:acme/${name}` },
    });
    for (const [role, roleUid] of Object.entries(roles))
      new RoleBinding(`${name}-${role}`, { parent: group.uid, identityUid: identity.uid, roleUid });
  }
}
