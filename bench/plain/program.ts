// The same access without this package, as Pulumi's documentation shows dynamic providers
// (https://www.pulumi.com/docs/iac/concepts/resources/dynamic-providers/): for each kind an object that calls the API by `fetch`, and
// a class that passes it on.
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

const groupProvider: pulumi.dynamic.ResourceProvider = {
  create: async ({ parent, ...group }) => {
    const outs = await call("POST", `groups/${parent}`, group);
    return { id: outs.uid as string, outs: { ...outs, parent } };
  },
  diff: async (_id, olds, news) => ({
    changes: olds.name !== news.name || olds.description !== news.description,
    replaces: olds.parent === news.parent ? [] : ["parent"],
  }),
  read: async (id, props) => ({ id, props: { ...props, ...(await call("GET", `groups/${id}`)) } }),
  update: async (id, olds, { parent, ...group }) => ({
    outs: { ...olds, ...(await call("PATCH", `groups/${id}`, group)) },
  }),
  delete: async (id) => {
    await call("DELETE", `groups/${id}`);
  },
};

class Group extends pulumi.dynamic.Resource {
  declare readonly uid: pulumi.Output<string>;
  constructor(name: string, args: pulumi.Inputs, opts?: pulumi.CustomResourceOptions) {
    super(groupProvider, name, { uid: undefined, ...args }, opts);
  }
}

const identityProvider: pulumi.dynamic.ResourceProvider = {
  create: async ({ parent, ...identity }) => {
    const outs = await call("POST", `identities/${parent}`, identity);
    return { id: outs.uid as string, outs: { ...outs, parent } };
  },
  diff: async (_id, olds, news) => ({
    changes: olds.name !== news.name || olds.description !== news.description,
    replaces: olds.parent === news.parent ? [] : ["parent"],
  }),
  read: async (id, props) => ({ id, props: { ...props, ...(await call("GET", `identities/${id}`)) } }),
  update: async (id, olds, { parent, ...identity }) => ({
    outs: { ...olds, ...(await call("PATCH", `identities/${id}`, identity)) },
  }),
  delete: async (id) => {
    await call("DELETE", `identities/${id}`);
  },
};

class Identity extends pulumi.dynamic.Resource {
  declare readonly uid: pulumi.Output<string>;
  constructor(name: string, args: pulumi.Inputs, opts?: pulumi.CustomResourceOptions) {
    super(identityProvider, name, { uid: undefined, ...args }, opts);
  }
}

const roleBindingProvider: pulumi.dynamic.ResourceProvider = {
  create: async ({ parent, ...binding }) => {
    const outs = await call("POST", `roleBindings/${parent}`, binding);
    return { id: outs.uid as string, outs: { ...outs, ...binding, parent } };
  },
  diff: async (_id, olds, news) => {
    const replaces = ["parent", "identityUid", "roleUid"].filter((name) => olds[name] !== news[name]);
    return { changes: replaces.length > 0, replaces };
  },
  read: async (id, props) => ({ id, props: { ...props, ...(await call("GET", `roleBindings/${id}`)) } }),
  delete: async (id) => {
    await call("DELETE", `roleBindings/${id}`);
  },
};

class RoleBinding extends pulumi.dynamic.Resource {
  declare readonly uid: pulumi.Output<string>;
  constructor(name: string, args: pulumi.Inputs, opts?: pulumi.CustomResourceOptions) {
    super(roleBindingProvider, name, { uid: undefined, ...args }, opts);
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
