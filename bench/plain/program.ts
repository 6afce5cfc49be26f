// The same access without this package, as Pulumi's documentation shows dynamic providers
// (https://www.pulumi.com/docs/iac/concepts/resources/dynamic-providers/): for each kind a class that calls the API by `fetch`, and a
// resource that passes on a new object of it.
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

class GroupProvider implements pulumi.dynamic.ResourceProvider {
  async create({ parent, ...group }: Json): Promise<pulumi.dynamic.CreateResult> {
    const outs = await call("POST", `groups/${parent}`, group);
    return { id: outs.uid as string, outs: { ...outs, parent } };
  }
  async diff(_id: string, olds: Json, news: Json): Promise<pulumi.dynamic.DiffResult> {
    return {
      changes: olds.name !== news.name || olds.description !== news.description,
      replaces: olds.parent === news.parent ? [] : ["parent"],
    };
  }
  async read(id: string, props: Json): Promise<pulumi.dynamic.ReadResult> {
    return { id, props: { ...props, ...(await call("GET", `groups/${id}`)) } };
  }
  async update(id: string, olds: Json, { parent, ...group }: Json): Promise<pulumi.dynamic.UpdateResult> {
    return { outs: { ...olds, ...(await call("PATCH", `groups/${id}`, group)), parent } };
  }
  async delete(id: string): Promise<void> {
    await call("DELETE", `groups/${id}`);
  }
}

class Group extends pulumi.dynamic.Resource {
  declare readonly uid: pulumi.Output<string>;
  constructor(name: string, args: pulumi.Inputs, opts?: pulumi.CustomResourceOptions) {
    super(new GroupProvider(), name, { uid: undefined, ...args }, opts);
  }
}

class IdentityProvider implements pulumi.dynamic.ResourceProvider {
  async create({ parent, ...identity }: Json): Promise<pulumi.dynamic.CreateResult> {
    const outs = await call("POST", `identities/${parent}`, identity);
    return { id: outs.uid as string, outs: { ...outs, parent } };
  }
  async diff(_id: string, olds: Json, news: Json): Promise<pulumi.dynamic.DiffResult> {
    return {
      changes: olds.name !== news.name || olds.description !== news.description,
      replaces: olds.parent === news.parent ? [] : ["parent"],
    };
  }
  async read(id: string, props: Json): Promise<pulumi.dynamic.ReadResult> {
    return { id, props: { ...props, ...(await call("GET", `identities/${id}`)) } };
  }
  async update(id: string, olds: Json, { parent, ...identity }: Json): Promise<pulumi.dynamic.UpdateResult> {
    return { outs: { ...olds, ...(await call("PATCH", `identities/${id}`, identity)), parent } };
  }
  async delete(id: string): Promise<void> {
    await call("DELETE", `identities/${id}`);
  }
}

class Identity extends pulumi.dynamic.Resource {
  declare readonly uid: pulumi.Output<string>;
  constructor(name: string, args: pulumi.Inputs, opts?: pulumi.CustomResourceOptions) {
    super(new IdentityProvider(), name, { uid: undefined, ...args }, opts);
  }
}

class RoleBindingProvider implements pulumi.dynamic.ResourceProvider {
  async create({ parent, ...binding }: Json): Promise<pulumi.dynamic.CreateResult> {
    const outs = await call("POST", `roleBindings/${parent}`, binding);
    return { id: outs.uid as string, outs: { ...outs, ...binding, parent } };
  }
  async diff(_id: string, olds: Json, news: Json): Promise<pulumi.dynamic.DiffResult> {
    const replaces = ["parent", "identityUid", "roleUid"].filter((name) => olds[name] !== news[name]);
    return { changes: replaces.length > 0, replaces };
  }
  async read(id: string, props: Json): Promise<pulumi.dynamic.ReadResult> {
    return { id, props: { ...props, ...(await call("GET", `roleBindings/${id}`)) } };
  }
  async delete(id: string): Promise<void> {
    await call("DELETE", `roleBindings/${id}`);
  }
}

class RoleBinding extends pulumi.dynamic.Resource {
  declare readonly uid: pulumi.Output<string>;
  constructor(name: string, args: pulumi.Inputs, opts?: pulumi.CustomResourceOptions) {
    super(new RoleBindingProvider(), name, { uid: undefined, ...args }, opts);
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
